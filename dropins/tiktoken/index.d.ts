/**
 * The API of the npm package `tiktoken` 1.0 over tokenlane, for code that is written for it. Nothing has to be freed: the
 * collector does. docs/drop-ins.md says what is different.
 *
 * Errors have the original's messages where it has some, and a stable `code` that starts with `ERR_TOKENLANE_`.
 *
 * @module tokenlane/tiktoken
 */
import type { TiktokenModel } from './models.js'

export type { TiktokenModel } from './models.js'

/** The names of the bundled encodings that the original knows. */
export type TiktokenEncoding = 'gpt2' | 'r50k_base' | 'p50k_base' | 'p50k_edit' | 'cl100k_base' | 'o200k_base'

/**
 * An encoder of one of the bundled encodings. Throws `ERR_TOKENLANE_UNKNOWN_ENCODING`.
 *
 * @param extend_special_tokens more special tokens, and their ids. Default none
 */
export function get_encoding(encoding: TiktokenEncoding, extend_special_tokens?: Record<string, number>): Tiktoken

/** The encoder of a model. Throws `ERR_TOKENLANE_UNKNOWN_MODEL` for a name that the original does not know. */
export function encoding_for_model(model: TiktokenModel, extend_special_tokens?: Record<string, number>): Tiktoken

/** The name of a model's encoding. Throws as {@link encoding_for_model}. */
export function get_encoding_name_for_model(model: TiktokenModel): TiktokenEncoding

/** An encoder. Texts are strings, ids are in `Uint32Array`s; all calls work on the thread that makes them. */
export class Tiktoken {
  /**
   * An encoder of ranks of your own. Throws where they contradict themselves: `ERR_TOKENLANE_RANK_LINE`,
   * `ERR_TOKENLANE_DUPLICATE_ID`, `ERR_TOKENLANE_PATTERN`.
   *
   * @param tiktoken_bfe ranks: lines of base64 and rank, or as the original's files under `encoders` have them
   * @param special_tokens special tokens and their ids
   * @param pat_str the regular expression whose matches are the words
   */
  constructor(tiktoken_bfe: string, special_tokens: Record<string, number>, pat_str: string)
  /** The name of a bundled encoding; `undefined` for ranks of your own. */
  readonly name: string | undefined
  /**
   * The ids of a text.
   *
   * @param allowed_special special tokens that become their token. Default none
   * @param disallowed_special texts that are refused with `ERR_TOKENLANE_SPECIAL_TOKEN`. Default all special tokens that are
   *   not allowed. What is neither is encoded as any other text
   */
  encode(text: string, allowed_special?: 'all' | string[], disallowed_special?: 'all' | string[]): Uint32Array
  /** The ids of a text in which special tokens are text like any other. */
  encode_ordinary(text: string): Uint32Array
  /** The ids that more text cannot change, and every sequence of ids that the rest could become the start of. */
  encode_with_unstable(
    text: string,
    allowed_special?: 'all' | string[],
    disallowed_special?: 'all' | string[],
  ): [stable: number[], completions: number[][]]
  /** The id of a token, by its bytes. Throws `ERR_TOKENLANE_NO_SUCH_TOKEN`. */
  encode_single_token(bytes: Uint8Array): number
  /** The bytes of ids. Throws `ERR_TOKENLANE_UNKNOWN_ID`. */
  decode(tokens: Uint32Array): Uint8Array
  /** The bytes of one id. Throws as {@link decode}. */
  decode_single_token_bytes(token: number): Uint8Array
  /** The bytes of all tokens but the special ones, in their order. */
  token_byte_values(): Array<Array<number>>
  /** Lets go of the tokenizer: calls throw `ERR_TOKENLANE_DISPOSED` afterwards. Not needed. */
  free(): void
}
