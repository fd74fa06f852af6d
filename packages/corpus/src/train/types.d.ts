// The types of training.

import type { Tokenizer } from 'tokenlane'
import type { CorpusEvent } from '../event-types.js'

/** A token that is found in texts before the model, and that decoding can skip. */
export interface SpecialToken {
  /** The text of the token. */
  content: string
  /** Whether it matches whole words only. Default: `false`. */
  singleWord?: boolean | undefined
  /** Whether it takes the whitespace before it. Default: `false`. */
  lstrip?: boolean | undefined
  /** Whether it takes the whitespace after it. Default: `false`. */
  rstrip?: boolean | undefined
  /** Whether it is found in normalized text. Default: `false`. */
  normalized?: boolean | undefined
}

/** A part of a tokenizer.json, such as `{ type: 'Whitespace' }`. */
export interface TokenizerPart {
  /** The type of the part. */
  type: string
  [setting: string]: unknown
}

/** The model of a tokenizer. */
export type TrainedModel = 'bpe' | 'wordpiece' | 'wordlevel' | 'unigram'

/** Options of what words are counted in, and how. Give `inputs`, `filesFrom` or `texts`. */
export interface CountOptions {
  /**
   * Files, folders and patterns (`*`, `?`, `**`, `[a-z]`, `{md,txt}`), as in corpus jobs: text,
   * JSON Lines and Parquet, also compressed by gzip or Zstandard, `s3://bucket/prefix/`, and
   * `hf://datasets/OWNER/NAME`.
   * Default: none.
   */
  inputs?: string | readonly string[] | undefined
  /** A file with one more input per line. Default: none. */
  filesFrom?: string | undefined
  /**
   * Strings, instead of inputs. The next ones are requested when there is room for them: at most
   * some megabytes are in memory. Default: none.
   */
  texts?: Iterable<string> | AsyncIterable<string> | undefined
  /**
   * What a text is: a field of a line of JSON, a line with its line end, or a file. Words do not go
   * across texts. Default: `'json'` for names that end in .jsonl, .ndjson or .json (also .gz,
   * .zst), else `'lines'`. In a Parquet file, a text is always a field of a row.
   */
  rows?: 'json' | 'lines' | 'files' | undefined
  /**
   * The field with the text. Dots separate the names of nested fields, 32 at most. Default:
   * `'text'`.
   */
  field?: string | undefined
  /**
   * `'skip'` leaves out rows and texts that cannot be read or cut into words. Default: `'fail'`.
   */
  onError?: 'fail' | 'skip' | undefined
  /** The maximum size of a row in bytes. Default: 16 MiB, and 256 MiB for a whole file. */
  maxRow?: number | undefined
  /** The maximum number of bytes per compressed byte, beyond the first 64 MiB. Default: 100. */
  maxRatio?: number | undefined
  /**
   * Bytes of memory for the tables of words while they are counted, at least 1 MiB for each
   * processor. Full tables are written to files in the temporary folder (`TMPDIR`). At the end the
   * distinct words have to fit into memory once. Default: 2 GiB, at most half of the memory of the
   * container or the machine.
   */
  memory?: number | undefined
  /**
   * Counts the words as a corpus job: in shards, whose counts are kept in this folder, a path or
   * `s3://bucket/prefix/`. After a crash the same call counts only what is missing, and a call with
   * other options of the vocabulary uses the same counts. The result is the same as without. The
   * folder must be new, empty or that of the same job: of the same inputs, and of a tokenizer that
   * cuts texts into the same words. Not with `texts`. Default: none.
   */
  workDir?: string | undefined
  /** The approximate bytes of text of a shard. Needs `workDir`. Default: 256 MiB. */
  shardSize?: number | undefined
  /**
   * Number of shards that are counted at a time on this machine, 1 to 256; they share `memory`.
   * Needs `workDir`. Default: half of the processors, from 2 to 4.
   */
  concurrency?: number | undefined
  /**
   * How the files of an earlier run are compared with their records. Needs `workDir`. Default:
   * `'sha256'`.
   */
  resumeCheck?: 'sha256' | 'size' | undefined
  /**
   * Lets the workers of a queue count the shards: the URL of a Redis server. All machines have to
   * reach the inputs and `workDir` by the same names. Merging the counts and training run here.
   * Needs `workDir`. Default: none.
   */
  queue?: string | undefined
  /** The name of the queue. Default: `'tokenlane-corpus'`. */
  queueName?: string | undefined
  /**
   * With a queue: seconds without a worker that has a shard, after which the training fails; a
   * silent Redis has two seconds more. Default: it waits.
   */
  giveUpSeconds?: number | undefined
  /**
   * Called with the events of the job, as in {@link CorpusOptions.onEvent}. Needs `workDir`.
   * Default: none.
   */
  onEvent?: ((event: CorpusEvent) => void) | undefined
  /**
   * Called about five times per second. An error that it throws ends the training. Default: none.
   */
  onProgress?: ((progress: TrainProgress) => void) | undefined
  /**
   * Ends the training; the promise rejects with `signal.reason`, after 5 seconds at the latest.
   * Default: none.
   */
  signal?: AbortSignal | undefined
}

/** Options of {@link trainTokenizer}. */
export interface TrainOptions extends CountOptions {
  /** The model. Default: that of `like`, else `'bpe'`. */
  model?: TrainedModel | undefined
  /**
   * The tokenizer that the new one is like: it gets the same normalizer, pre-tokenizer, decoder,
   * post-processor and special tokens, and if the model is the same, its settings. A Tokenizer, or
   * the name of one: a file, a folder, an encoding, a model of OpenAI, or `owner/name[@revision]`
   * on the Hugging Face Hub. SentencePiece models are refused (`ERR_TOKENLANE_SAVE`). If neither
   * this nor a part is given, the parts are those of o200k_base for BPE, those of cased BERT for
   * WordPiece, Whitespace for WordLevel, and NFKC with Metaspace for Unigram. Default: none.
   */
  like?: string | Tokenizer | undefined
  /** The normalizer, as in a tokenizer.json; `null` for none. Default: that of `like`. */
  normalizer?: TokenizerPart | null | undefined
  /** The pre-tokenizer; `null` for none: then a text is one word. Default: that of `like`. */
  preTokenizer?: TokenizerPart | null | undefined
  /** The decoder; `null` for none. Default: that of `like`. */
  decoder?: TokenizerPart | null | undefined
  /** The post-processor; `null` for none. Default: that of `like`. */
  postProcessor?: TokenizerPart | null | undefined
  /**
   * The number of tokens, special tokens included. BPE and WordPiece have more if the alphabet and
   * the special tokens are more; all have fewer if the texts do not have enough. Default: 30,000,
   * for Unigram 8,000.
   */
  vocabSize?: number | undefined
  /**
   * The smallest count of a pair that BPE and WordPiece merge, or of a word of WordLevel. Default:
   * 0.
   */
  minFrequency?: number | undefined
  /**
   * The tokens with the first ids. Default: those of `like`, else none. `unkToken` joins them as
   * the first one if it is not among them.
   */
  specialTokens?: readonly (string | SpecialToken)[] | undefined
  /**
   * For BPE and WordPiece: the maximum number of characters of the alphabet. The most frequent ones
   * stay. Default: no limit.
   */
  limitAlphabet?: number | undefined
  /**
   * Characters of the alphabet, whether they occur or not; of each string the first character. Not
   * for WordLevel. Default: the 256 characters of bytes if the pre-tokenizer has ByteLevel, else
   * none.
   */
  initialAlphabet?: readonly string[] | undefined
  /**
   * For BPE and WordPiece: the start of tokens that continue a word. Default: that of `like`, else
   * `'##'` for WordPiece and none for BPE.
   */
  continuingSubwordPrefix?: string | undefined
  /**
   * For BPE and WordPiece: the end of tokens that end a word. Default: that of `like`, else none.
   */
  endOfWordSuffix?: string | undefined
  /** For BPE: the maximum number of characters of a token. Default: no limit. */
  maxTokenLength?: number | undefined
  /** For Unigram: the part of the pieces that each round keeps, between 0 and 1. Default: 0.75. */
  shrinkingFactor?: number | undefined
  /** For Unigram: the maximum number of characters of a piece, 1 to 256. Default: 16. */
  maxPieceLength?: number | undefined
  /** For Unigram: the number of estimates of each round, 1 to 1,000. Default: 2. */
  nSubIterations?: number | undefined
  /** For Unigram: the number of pieces to begin with. Default: 1,000,000. */
  seedSize?: number | undefined
  /**
   * The token for what the vocabulary does not have. Default: that of `like`, else `'[UNK]'` for
   * WordPiece and WordLevel, `'<unk>'` for Unigram, and none for BPE.
   */
  unkToken?: string | undefined
}

/** How far a training is. */
export type TrainProgress = CountProgress | VocabularyProgress

/** The words of the texts are counted. */
export interface CountProgress {
  /** The phase. */
  phase: 'count'
  /** Bytes that were read: of inputs as they are stored, of texts in UTF-8. */
  bytes: number
  /** Bytes of all inputs; `undefined` for texts. */
  allBytes: number | undefined
  /** Texts that were counted. */
  texts: number
  /** Texts and inputs that were skipped. */
  skipped: number
  /** Seconds since the start. */
  seconds: number
  /** Estimated seconds until the end of this phase; `undefined` for texts. */
  left: number | undefined
}

/** The vocabulary is made of the counts. */
export interface VocabularyProgress {
  /**
   * The phase: `'words'` sorts the words; BPE and WordPiece then count `'pairs'` and do `'merges'`;
   * Unigram looks for `'seeds'`, and repeats `'estimate'` and `'prune'`. `'encode'` encodes the
   * words, for extending and pruning.
   */
  phase: 'words' | 'pairs' | 'merges' | 'seeds' | 'estimate' | 'prune' | 'encode'
  /** How much of the phase is done, in a unit of its own. */
  done: number
  /** How much there is to do in the phase at most. */
  total: number
  /** The number of tokens that the vocabulary has now. */
  tokens: number
  /** Seconds since the start. */
  seconds: number
}

/**
 * Trains a tokenizer. Counting and training run on other threads. The result depends only on the
 * texts and the options: not on the order of the texts, nor on the machine. While the vocabulary is
 * made, the training takes the place of one of the two batches that run at a time.
 *
 * @returns the tokenizer; `toBuffer()` is its tokenizer.json
 * @throws `ERR_TOKENLANE_UNKNOWN_OPTION`, `ERR_TOKENLANE_ARGUMENT_TYPE` and
 *   `ERR_TOKENLANE_ARGUMENT_VALUE` for options; `ERR_TOKENLANE_TRAIN_NO_WORDS` if the texts have no
 *   words; `ERR_TOKENLANE_TRAIN_VOCABULARY` if Unigram's vocabulary is smaller than its alphabet
 *   and special tokens; `ERR_TOKENLANE_CORPUS_INPUT_CHANGED` if an input changes meanwhile;
 *   `ERR_TOKENLANE_CORPUS_MISMATCH` if `workDir` holds another job; the errors of reading inputs
 */
export function trainTokenizer(options: TrainOptions): Promise<Tokenizer>

/** Options of {@link extendTokenizer}. */
export interface ExtendOptions extends CountOptions {
  /**
   * The number of tokens to add. There are fewer if the texts do not have enough. Default: 1,000.
   */
  newTokens?: number | undefined
  /** The smallest count of a new character, and for BPE of a pair that is merged. Default: 2. */
  minFrequency?: number | undefined
  /**
   * The maximum number of characters of a new token, for Unigram at most 256. Default: no limit for
   * BPE, 16 for Unigram.
   */
  maxTokenLength?: number | undefined
}

/** What a change of the vocabulary does to the texts. */
export interface VocabularyEffect {
  /** Bytes of all words, normalized. */
  bytes: number
  /** Tokens of all words with the old vocabulary. */
  tokensBefore: number
  /** Tokens of all words with the new vocabulary. */
  tokensAfter: number
  /** Tokens of the old vocabulary. */
  vocabularyBefore: number
  /** Tokens of the new vocabulary. */
  vocabularyAfter: number
}

/** A token that was added. */
export interface NewToken {
  /** Its id. */
  id: number
  /** The token in the spelling of the vocabulary. */
  token: string
}

/** A tokenizer with more tokens. */
export interface ExtendedTokenizer {
  /** The tokenizer. */
  tokenizer: Tokenizer
  /** The new tokens, in the spelling of the vocabulary. */
  newTokens: NewToken[]
  /** What the texts gain. */
  effect: VocabularyEffect
}

/** A tokenizer with fewer tokens. */
export interface PrunedTokenizer {
  /** The tokenizer. */
  tokenizer: Tokenizer
  /** The new id of each old one that is left, in rising order. */
  ids: Map<number, number>
  /** What is left: the texts have the same tokens as before. */
  effect: VocabularyEffect
}

/**
 * Adds tokens that texts need to a tokenizer with a BPE or Unigram model. The ids that exist stay,
 * so a model keeps its embeddings and gets new rows behind them.
 *
 * @param base a Tokenizer, or the name of one, as for `like`
 * @throws `ERR_TOKENLANE_UNSUPPORTED` for other models, and the errors of {@link trainTokenizer}
 */
export function extendTokenizer(base: string | Tokenizer, options: ExtendOptions): Promise<ExtendedTokenizer>

/**
 * Keeps the tokens that texts use, and those that these need: parts of tokens of BPE, single bytes,
 * added tokens. The texts have the same tokens as before, with new ids; other texts may have more
 * tokens.
 *
 * @param base a Tokenizer, or the name of one, as for `like`
 * @throws `ERR_TOKENLANE_UNSUPPORTED` if the texts would have other tokens, and the errors of
 *   {@link trainTokenizer}
 */
export function pruneTokenizer(base: string | Tokenizer, options: CountOptions): Promise<PrunedTokenizer>
