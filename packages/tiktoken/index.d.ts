/**
 * The API of the npm package `tiktoken` 1.0, implemented with tokenlane, for code that is written
 * for that package. `free()` is optional: the garbage collector releases encoders. docs/drop-ins.md
 * lists the differences.
 *
 * Errors have the original's messages where the original has them, and a stable `code` that starts
 * with `ERR_TOKENLANE_`.
 *
 * @module @tokenlane/tiktoken
 */
import type { TiktokenModel } from './internal/models.js'

export type { TiktokenModel } from './internal/models.js'

/** The names of the original's encodings. All of them are bundled. */
export type TiktokenEncoding = 'gpt2' | 'r50k_base' | 'p50k_base' | 'p50k_edit' | 'cl100k_base' | 'o200k_base'

/**
 * Returns an encoder for a bundled encoding. Throws `ERR_TOKENLANE_UNKNOWN_ENCODING` for any other
 * name.
 *
 * @param extend_special_tokens additional special tokens and their ids. Default: none
 */
export function get_encoding(encoding: TiktokenEncoding, extend_special_tokens?: Record<string, number>): Tiktoken

/**
 * Returns an encoder for the encoding of a model. Throws `ERR_TOKENLANE_UNKNOWN_MODEL` for a name
 * that is not in the original's list.
 *
 * @param extend_special_tokens additional special tokens and their ids. Default: none
 */
export function encoding_for_model(model: TiktokenModel, extend_special_tokens?: Record<string, number>): Tiktoken

/** Returns the name of a model's encoding. Throws the same errors as {@link encoding_for_model}. */
export function get_encoding_name_for_model(model: TiktokenModel): TiktokenEncoding

/** Encodes and decodes texts with one encoding. All calls are synchronous. */
export class Tiktoken {
  /**
   * Creates an encoder from ranks. Throws `ERR_TOKENLANE_RANK_LINE` for a line that is not base64
   * and rank, `ERR_TOKENLANE_DUPLICATE_ID` if two tokens have the same id, and
   * `ERR_TOKENLANE_PATTERN` for an invalid regular expression.
   *
   * @param tiktoken_bfe the ranks: one line of base64 and rank for each token, or the compressed
   *   form of the original's files under `encoders`
   * @param special_tokens the ids of the special tokens, by token text
   * @param pat_str the regular expression whose matches are the words (pre-tokens)
   */
  constructor(tiktoken_bfe: string, special_tokens: Record<string, number>, pat_str: string)
  /** The name of the bundled encoding; `undefined` if the encoder was created from ranks. */
  readonly name: string | undefined
  /**
   * Returns the ids of a text. A special token that is neither allowed nor disallowed is encoded as
   * ordinary text.
   *
   * @param allowed_special special tokens that are encoded as one id. Default: none
   * @param disallowed_special tokens that make the call throw `ERR_TOKENLANE_SPECIAL_TOKEN` if the
   *   text contains them. Default: all special tokens that are not allowed
   */
  encode(text: string, allowed_special?: 'all' | string[], disallowed_special?: 'all' | string[]): Uint32Array
  /** Returns the ids of a text. Special tokens are encoded as ordinary text. */
  encode_ordinary(text: string): Uint32Array
  /**
   * Returns the ids that appended text cannot change, and every sequence of ids that can follow
   * them when text is appended. The options are those of `encode`.
   */
  encode_with_unstable(
    text: string,
    allowed_special?: 'all' | string[],
    disallowed_special?: 'all' | string[],
  ): [stable: number[], completions: number[][]]
  /**
   * Returns the id of the token with exactly these bytes. Throws `ERR_TOKENLANE_NO_SUCH_TOKEN` if
   * there is none.
   */
  encode_single_token(bytes: Uint8Array): number
  /** Returns the bytes of ids. Throws `ERR_TOKENLANE_UNKNOWN_ID` for an id without a token. */
  decode(tokens: Uint32Array): Uint8Array
  /** Returns the bytes of one id. Throws `ERR_TOKENLANE_UNKNOWN_ID` for an id without a token. */
  decode_single_token_bytes(token: number): Uint8Array
  /** Returns the bytes of every token except the special ones, sorted by bytes. */
  token_byte_values(): Array<Array<number>>
  /** Releases the tokenizer. Later calls throw `ERR_TOKENLANE_DISPOSED`. Calling it is optional. */
  free(): void
}
