/**
 * Downloads rank files from the URLs of the original's registry, for encodings that are not
 * bundled.
 *
 * @module @tokenlane/tiktoken/load
 */

/** The arguments of `new Tiktoken(bpe_ranks, special_tokens, pat_str)`. */
export interface LoadedEncoding {
  /** The number of tokens that the registry states. */
  explicit_n_vocab: number | undefined
  /** The regular expression whose matches are the words (pre-tokens). */
  pat_str: string
  /** The ids of the special tokens, by token text. */
  special_tokens: Record<string, number>
  /** The ranks: one line of base64 and rank for each token. */
  bpe_ranks: string
}

/** An entry of the original's registry. */
export type RegistryEntry = (RanksOfTiktoken | RanksOfGpt2) & RegistrySettings

/** A registry entry whose ranks are in one file. */
export interface RanksOfTiktoken {
  /** The URL of the rank file. */
  load_tiktoken_bpe: string
}

/** A registry entry whose ranks are in the two files of GPT-2. */
export interface RanksOfGpt2 {
  /** The URLs of the two files. */
  data_gym_to_mergeable_bpe_ranks: Gpt2Files
}

/** The URLs of GPT-2's two files. */
export interface Gpt2Files {
  /** The URL of the merges. */
  vocab_bpe_file: string
  /** The URL of the vocabulary: tokens and their ids. */
  encoder_json_file: string
}

/** The fields that every registry entry has. */
export interface RegistrySettings {
  /** The number of tokens. Default: not stated. */
  explicit_n_vocab?: number
  /** The regular expression whose matches are the words (pre-tokens). */
  pat_str: string
  /** The ids of the special tokens, by token text. */
  special_tokens: Record<string, number>
}

/**
 * Downloads the ranks of a registry entry. Rejects with `ERR_TOKENLANE_DOWNLOAD` if the server
 * answers with an error status, and with `ERR_TOKENLANE_DUPLICATE_ID` if GPT-2's two files
 * contradict each other.
 *
 * @param customFetch returns the text of a URL. Default: the global `fetch`
 */
export function load(registry: RegistryEntry, customFetch?: (url: string) => Promise<string>): Promise<LoadedEncoding>
