/**
 * Ranks from where the original's registry says that they are, for encodings that are not bundled.
 *
 * @module tokenlane/tiktoken/load
 */

/** The arguments of `new Tiktoken(bpe_ranks, special_tokens, pat_str)`. */
export interface LoadedEncoding {
  /** How many tokens there are, as the registry says it. */
  explicit_n_vocab: number | undefined
  /** The regular expression whose matches are the words. */
  pat_str: string
  /** Special tokens and their ids. */
  special_tokens: Record<string, number>
  /** Lines of base64 and rank. */
  bpe_ranks: string
}

/** An entry of the original's registry. */
export type RegistryEntry = (RanksOfTiktoken | RanksOfGpt2) & RegistrySettings

/** Ranks in one file. */
export interface RanksOfTiktoken {
  /** Its URL. */
  load_tiktoken_bpe: string
}

/** Ranks in the two files of GPT-2. */
export interface RanksOfGpt2 {
  /** Their URLs. */
  data_gym_to_mergeable_bpe_ranks: Gpt2Files
}

/** The URLs of GPT-2's two files. */
export interface Gpt2Files {
  /** The merges. */
  vocab_bpe_file: string
  /** The tokens and their ids. */
  encoder_json_file: string
}

/** What a registry says beside the ranks. */
export interface RegistrySettings {
  /** How many tokens there are. Default: nothing is said. */
  explicit_n_vocab?: number
  /** The regular expression whose matches are the words. */
  pat_str: string
  /** Special tokens and their ids. */
  special_tokens: Record<string, number>
}

/**
 * Fetches the ranks that an entry of the original's registry names. Rejects with `ERR_TOKENLANE_DOWNLOAD` where the server answers
 * with an error, and with `ERR_TOKENLANE_DUPLICATE_ID` where GPT-2's two files disagree.
 *
 * @param customFetch gives the text of a URL. Default `fetch`
 */
export function load(
  registry: RegistryEntry,
  customFetch?: (url: string) => Promise<string>,
): Promise<LoadedEncoding>
