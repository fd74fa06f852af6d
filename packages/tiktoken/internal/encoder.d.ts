/**
 * One module for each bundled encoding, with the same names as the original's `encoders/NAME` and
 * `encoders/NAME.json`: the arguments of the `Tiktoken` constructor.
 *
 * @module @tokenlane/tiktoken/encoders
 */

/** The ranks of an encoding, as the original's modules under `encoders` have them. */
declare const encoder: {
  /** The number of tokens. Only older encodings have it. */
  explicit_n_vocab?: number
  /** The regular expression whose matches are the words (pre-tokens). */
  pat_str: string
  /** The ids of the special tokens, by token text. */
  special_tokens: Record<string, number>
  /** The ranks: lines `! RANK TOKEN TOKEN …` with tokens in base64, for consecutive ranks. */
  bpe_ranks: string
}

export = encoder
