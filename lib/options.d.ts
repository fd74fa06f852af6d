// What the calls of index.d.ts take: texts and options.

/** One text: a string, or UTF-8 as bytes. A surrogate without its partner counts as U+FFFD; invalid UTF-8 is an error. */
export type Text = string | Uint8Array

/** The ids of one text. */
export type Ids = Uint32Array | readonly number[]

/**
 * What becomes of special tokens that the text itself spells out, such as `<|endoftext|>`:
 * - `'parse'`: they become the token. Only for text that you wrote yourself.
 * - `'text'`: they are encoded like any other text. Right for what users send.
 * - `'throw'`: they are refused with `ERR_TOKENLANE_SPECIAL_TOKEN`.
 * - an array: those listed become the token, the others are text. A name that is no special token is a `RangeError`,
 *   `ERR_TOKENLANE_NO_SUCH_SPECIAL_TOKEN`.
 */
export type SpecialTokens = 'parse' | 'text' | 'throw' | readonly string[]

/**
 * What offsets count: UTF-16 units as JavaScript strings do, Unicode code points as Python does, or bytes of UTF-8.
 */
export type OffsetUnit = 'utf16' | 'codepoint' | 'byte'

/** How a text is read. */
export interface CountOptions {
  /** Add what the tokenizer puts around a text, such as a begin token. Encodings of tiktoken add nothing. Default `true`. */
  addSpecialTokens?: boolean | undefined
  /** Default as where the file comes from: `'parse'` for a tokenizer.json, `'throw'` for a rank file. */
  specialTokens?: SpecialTokens | undefined
}

/** From which end: truncation to the left keeps the end of a text, padding to the left comes before it. */
export type Direction = 'left' | 'right'

/** What texts are cut to. */
export interface Truncation {
  /**
   * How many ids an encoding has at most, special tokens included. When those alone are more, nothing is cut, as in Hugging
   * Face's library.
   */
  maxLength: number
  /**
   * How many ids the part that is kept and the parts that overflow have in common with their neighbours. Default 0. It must
   * be less than what is left of `maxLength` for a text: a `RangeError`, `ERR_TOKENLANE_TRUNCATION_STRIDE`.
   */
  stride?: number | undefined
  /**
   * Which text of a pair gets shorter. Default `'longest_first'`. A text that is too short for it is a `RangeError`,
   * `ERR_TOKENLANE_TRUNCATION_TOO_SHORT`; `'only_second'` without one `ERR_TOKENLANE_TRUNCATION_NO_SECOND_TEXT`.
   */
  strategy?: 'longest_first' | 'only_first' | 'only_second' | undefined
  /** Default `'right'`. */
  direction?: Direction | undefined
}

/** What encodings are filled up to. */
export interface Padding {
  /** The longest row of the batch, or so many ids; what is longer stays as it is. Default `'longest'`. */
  to?: 'longest' | number | undefined
  /** The length is rounded up to a multiple of this. Default 1. */
  multipleOf?: number | undefined
  /** Default `'right'`. */
  direction?: Direction | undefined
  /** The id of the padding. Default 0. */
  padId?: number | undefined
  /** Its type id. Default 0. */
  padTypeId?: number | undefined
  /** Its token. Default `'[PAD]'`. */
  padToken?: string | undefined
}

/** What a batch can have beside ids and offsets. */
export type Column = 'tokens' | 'specialTokensMask' | 'typeIds' | 'attentionMask' | 'wordIds' | 'sequenceIds'

/** A text, or with `pretokenized` its words. */
export type Input = Text | readonly Text[]

/** A tensor as onnxruntime-node takes it: `new ort.Tensor(type, data, dims)`. */
export interface TensorData<Type extends 'int64' | 'int32'> {
  /** What `data` holds. */
  type: Type
  /** The rows, end to end. */
  data: Type extends 'int64' ? BigInt64Array : Int32Array
  /** Rows, and ids in each. */
  dims: [number, number]
}

/** How texts are encoded, one or many. */
export interface EncodeOptions extends CountOptions {
  /**
   * The unit of `offsets`, or `false` for none. Default `'utf16'` for one text, where they are computed when asked for, and
   * `false` for a batch, where they cost time and memory.
   */
  offsets?: OffsetUnit | false | undefined
  /**
   * The texts are arrays of words: each word is encoded by itself, its offsets are its own, and its place in the array is
   * the word id of its tokens. Default `false`.
   */
  pretokenized?: boolean | undefined
  /** Default as the file says, which is mostly `false`: not at all. */
  truncation?: Truncation | false | undefined
  /** Default as the file says, which is mostly `false`: not at all. */
  padding?: Padding | false | undefined
}

/** How {@link Tokenizer.encode} encodes its text. */
export interface EncodeOneOptions extends EncodeOptions {
  /** A second text that is encoded together with the first. Default none. */
  pair?: Input | undefined
}

/** How {@link Tokenizer.encodeBatch} encodes its texts, and what it gives beside ids. */
export interface EncodeBatchOptions extends EncodeOptions {
  /** For each text the one that is encoded together with it. Default none. */
  pairs?: readonly Input[] | undefined
  /** What is wanted beside ids and offsets. Default none; with padding there is always an attention mask. */
  columns?: readonly Column[] | undefined
  /** What truncation cuts off is wanted too, as rows behind the row of their text. Default `false`. */
  overflow?: boolean | undefined
}

/** How many threads a call of many texts may use. */
export interface ThreadOptions {
  /**
   * The most threads that work on this call, 1 to 256. Default: the environment variable `RAYON_NUM_THREADS`, else as many
   * as the machine or the container has.
   */
  threads?: number | undefined
}

/** How a call off the event loop runs, and what stops it. */
export interface RunOptions extends ThreadOptions {
  /**
   * Stops the call, whether it waits or runs: the promise is rejected with `signal.reason` at once, the threads stop soon
   * after. Default none.
   */
  signal?: AbortSignal | undefined
}

/** What becomes text when ids are decoded. */
export interface DecodeOptions {
  /** Leave special tokens out of the text. Default `false`: nothing is hidden. */
  skipSpecialTokens?: boolean | undefined
}

/** How far {@link Tokenizer.encodeInto} came. */
export interface EncodedInto {
  /** How much of the text the ids stand for: UTF-16 units of a string, bytes of a Uint8Array. */
  read: number
  /** How many ids were written. */
  written: number
}

/** How {@link Tokenizer.split} cuts a text. */
export interface SplitOptions extends CountOptions {
  /** How many ids a piece has at most when it is encoded by itself, special tokens included. At least 1. */
  maxTokens: number
  /**
   * How many ids at the end of a piece come again at the start of the next, at most, special tokens not counted. Less than
   * `maxTokens`. Whole sentences or lines where those are the boundary: none, if not one is that short. Default 0.
   */
  overlap?: number | undefined
  /**
   * Where pieces end: `'token'` when they are as long as they can be, `'sentence'` behind the last sentence that fits (by
   * Unicode's rules, `Intl.Segmenter`; in a Node without it behind `.`, `!`, `?` and white space), `'line'` behind the last line
   * that fits. A sentence or a line that is longer than a piece is cut as with `'token'`. Default `'token'`.
   */
  boundary?: 'token' | 'sentence' | 'line' | undefined
}

/** A part of a text. */
export interface Piece {
  /** The part itself: `whole.slice(start, end)`. */
  text: string
  /** Where it starts, in UTF-16 units of the whole text. */
  start: number
  /** Where it ends. */
  end: number
  /** How many ids it has when it is encoded by itself. */
  count: number
}

/** What a file does not say itself: of a rank file (`*.tiktoken`) how texts are cut, of any how chats go. */
export interface LoadOptions {
  /** Read the file as the bundled encoding of this name. Default: the file says what it is. */
  encoding?: string | undefined
  /** The regular expression whose matches are the words that are merged. Excludes `encoding`. Default none. */
  pattern?: string | undefined
  /** Special tokens and their ids. Only beside `pattern`. Default none. */
  specialTokens?: Readonly<Record<string, number>> | undefined
  /**
   * A chat template in Jinja, or several by their names. Default: what lies beside the file, as in a folder of the hub:
   * `chat_template.jinja` and `additional_chat_templates/`, else the `chat_template` of `tokenizer_config.json`. Of bytes: none.
   */
  chatTemplate?: string | Readonly<Record<string, string>> | undefined
  /**
   * What a tokenizer_config.json holds, for the tokens that templates use (`bos_token` and its like), and for its templates.
   * Nothing beside the file is read then. Default: the one that lies beside the file. Of bytes: none.
   */
  config?: Readonly<Record<string, unknown>> | undefined
}

/** One message of a conversation. Fields that are `null` are as if they were not there; templates may use others. */
export interface ChatMessage {
  /** Mostly `'system'`, `'user'`, `'assistant'` or `'tool'`. */
  role: string
  /** What is said: text, or parts as the template knows them, such as `{ type: 'text', text: '…' }`. */
  content?: string | readonly Readonly<Record<string, unknown>>[] | Readonly<Record<string, unknown>> | null | undefined
  [field: string]: unknown
}

/** What a template gets beside the messages. */
export interface ChatOptions {
  /** Functions that a model may call, as JSON Schema. Default none. */
  tools?: readonly Readonly<Record<string, unknown>>[] | null | undefined
  /** Documents that a model may use. Default none. */
  documents?: readonly Readonly<Record<string, unknown>>[] | null | undefined
  /**
   * A template in Jinja, or the name of one where the tokenizer has several. Default: the one it has; of several, `tool_use`
   * if there are tools, else `default`.
   */
  chatTemplate?: string | undefined
  /** End with what an answer begins with. Default `false`. */
  addGenerationPrompt?: boolean | undefined
  /**
   * End within the last message, so that a model goes on with it; or within another field of it than `content`. Excludes
   * `addGenerationPrompt`. Default `false`.
   */
  continueFinalMessage?: boolean | string | undefined
  /** More variables for the template, such as `enable_thinking`; a function is one that the template can call. Default none. */
  variables?: Readonly<Record<string, unknown>> | undefined
  /**
   * What becomes of special tokens that messages, tools, documents and variables spell out, each string by itself: `'parse'`, they
   * become the token, or `'throw'`, they are refused (`ERR_TOKENLANE_SPECIAL_TOKEN`, with their place). Default `'parse'`, as
   * transformers does.
   */
  specialTokens?: 'parse' | 'throw' | undefined
}

/** How far a download is. */
export interface DownloadProgress {
  /** The path of the file in its repository. */
  file: string
  /** Bytes that are here, those of an earlier attempt included. */
  loaded: number
  /** Bytes that it has. */
  total: number
}

/** Which files of the Hugging Face Hub {@link Tokenizer.fromPretrained} takes, and how. */
export interface PretrainedOptions extends LoadOptions {
  /** A branch, a tag or a commit. Default `'main'`. */
  revision?: string | undefined
  /** The path of the tokenizer in the repository. Default `'tokenizer.json'`, and where there is none `'tekken.json'`. */
  file?: string | undefined
  /**
   * An access token of the hub, or `false` to send none. Default: the environment variable `HF_TOKEN`, else what `hf auth login`
   * saved (`HF_TOKEN_PATH`, or `token` in `HF_HOME`).
   */
  token?: string | false | undefined
  /**
   * The folder of cached repositories, a path or a `file:` URL. Default: the environment variable `HF_HUB_CACHE`, else `hub` in
   * `HF_HOME`, else `huggingface/hub` in `XDG_CACHE_HOME`, else `~/.cache/huggingface/hub`.
   */
  cacheDir?: string | URL | undefined
  /** Take what the cache has and ask nobody. Default `false`, with the environment variable `HF_HUB_OFFLINE=1` `true`. */
  localFilesOnly?: boolean | undefined
  /** Stops it: the promise is rejected with `signal.reason`. What came so far is kept for the next call. Default none. */
  signal?: AbortSignal | undefined
  /** Called while files are downloaded, at the start, after each piece and at the end; never for what is cached. Default none. */
  onProgress?: ((progress: DownloadProgress) => void) | undefined
}

/** A token that a tokenizer gets in addition to its own. */
export interface AddedToken {
  /** Its text. One without text is left out, as in Hugging Face's library. */
  content: string
  /**
   * The id that it has to get; by default any. In a tokenizer.json the id is that of the vocabulary's token of this name, else
   * the next free one, and another wish is a `RangeError` (`ERR_TOKENLANE_ARGUMENT_VALUE`). Beside ranks it may be any free id.
   */
  id?: number | undefined
  /** Left out by `skipSpecialTokens`, and subject to the option `specialTokens`. Default `false`. */
  special?: boolean | undefined
  /** Found only where no letter or digit stands beside it. Default `false`. */
  singleWord?: boolean | undefined
  /** Takes the white space before it. Default `false`. */
  lstrip?: boolean | undefined
  /** Takes the white space behind it. Default `false`. */
  rstrip?: boolean | undefined
  /** Sought in its normalized form in the normalized text. Default `true`, for special tokens `false`. */
  normalized?: boolean | undefined
}

/** A component of a tokenizer.json, as the file has it: `{ type: 'Lowercase' }`. */
export type Component = Readonly<Record<string, unknown>>

/** What {@link Tokenizer.with} makes different. What is not named stays. */
export interface Changes {
  /** Tokens to add; a string is its content. One that is there already takes what is said of it here; special it stays. */
  addedTokens?: readonly (string | AddedToken)[] | undefined
  /** What a text goes through first; `null` takes it away. */
  normalizer?: Component | null | undefined
  /** What cuts a text into words; `null` takes it away. */
  preTokenizer?: Component | null | undefined
  /** What is put around a text; `null` takes it away. */
  postProcessor?: Component | null | undefined
  /** What makes text of tokens; `null` takes it away. */
  decoder?: Component | null | undefined
  /** Settings of the model. */
  model?: ModelChanges | undefined
  /** What calls truncate to that do not say otherwise; `false` or `null`: not at all. */
  truncation?: Truncation | false | null | undefined
  /** What calls pad to that do not say otherwise; `false` or `null`: not at all. */
  padding?: Padding | false | null | undefined
}

/** Settings of a tokenizer.json's model that can be changed. What is not named stays. */
export interface ModelChanges {
  /** The probability with which a merge is passed over; 0 or `null` for none. */
  dropout?: number | null | undefined
  /** The token for characters that have none; `null`: they are left out. */
  unkToken?: string | null | undefined
  /** Unknown tokens in a row become one. */
  fuseUnk?: boolean | undefined
  /** Characters that have no token become those of their bytes, `<0x00>` to `<0xFF>`. */
  byteFallback?: boolean | undefined
  /** A word that is a token itself is not merged. */
  ignoreMerges?: boolean | undefined
}

/** What {@link Tokenizer.stats} tells. All threads that have the tokenizer share it, and its figures. */
export interface TokenizerStats {
  /** Bytes of the vocabulary, the merges and the other tables, about. */
  tableBytes: number
  /** Bytes of the word caches, one for each worker that waits for work at the moment; of those at work nothing is told. */
  cacheBytes: number
  /** How many words these caches knew. */
  cacheHits: number
  /** How many they did not, so that the word was merged. */
  cacheMisses: number
}
