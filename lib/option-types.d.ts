// Arguments and options of the calls in index.d.ts.

/** The name of a bundled encoding. */
export type EncodingName = 'r50k_base' | 'p50k_base' | 'p50k_edit' | 'cl100k_base' | 'o200k_base' | 'o200k_harmony'

/**
 * One text: a string, or bytes of UTF-8, also of another realm (`node:vm`, jest). A lone surrogate
 * counts as U+FFFD; invalid UTF-8 is an error.
 */
export type Text = string | Uint8Array

/** The ids of one text. The array may be a Proxy of one, or of another realm (`node:vm`, jest). */
export type Ids = Uint32Array | readonly number[]

/**
 * How special tokens spelled out in the text, such as `<|endoftext|>`, are encoded:
 * - `'parse'`: as the special token. Only for text that you wrote yourself.
 * - `'text'`: as ordinary text. For text that users send.
 * - `'throw'`: not at all: the call throws `ERR_TOKENLANE_SPECIAL_TOKEN`.
 * - an array: the listed tokens as special tokens, all others as ordinary text. A name that is not
 *   a special token is a `RangeError`, `ERR_TOKENLANE_NO_SUCH_SPECIAL_TOKEN`.
 */
export type SpecialTokens = 'parse' | 'text' | 'throw' | readonly string[]

/** How special tokens in a text are treated by calls that do not say: see {@link SpecialTokens}. */
export type DefaultSpecialTokens = 'parse' | 'text' | 'throw'

/**
 * The unit of offsets: UTF-16 units as in JavaScript strings, Unicode code points as in Python, or
 * bytes of UTF-8.
 */
export type OffsetUnit = 'utf16' | 'codepoint' | 'byte'

/** Options of calls that encode or count. */
export interface CountOptions {
  /**
   * Add the special tokens that the tokenizer puts around a text. Rank files add none. Default:
   * `true`.
   */
  addSpecialTokens?: boolean | undefined
  /**
   * Default: as in the reference library: `'parse'` for a tokenizer.json, `'throw'` for a rank
   * file.
   */
  specialTokens?: SpecialTokens | undefined
}

/** A side: truncation on the left keeps the end of a text, padding on the left comes before it. */
export type Direction = 'left' | 'right'

/** Truncation: the maximum length of an encoding, and how texts are shortened to it. */
export interface Truncation {
  /**
   * The maximum number of ids of an encoding, special tokens included. If the special tokens alone
   * exceed it, nothing is truncated, as in Hugging Face's library.
   */
  maxLength: number
  /**
   * The number of ids that neighbouring parts have in common. Default: 0. It must be less than the
   * part of `maxLength` that is left for a text, else a `RangeError`,
   * `ERR_TOKENLANE_TRUNCATION_STRIDE`.
   */
  stride?: number | undefined
  /**
   * Which text of a pair is shortened. Default: `'longest_first'`. A text that is too short for the
   * strategy is a `RangeError`, `ERR_TOKENLANE_TRUNCATION_TOO_SHORT`; `'only_second'` without a
   * second text is `ERR_TOKENLANE_TRUNCATION_NO_SECOND_TEXT`.
   */
  strategy?: 'longest_first' | 'only_first' | 'only_second' | undefined
  /** Default: `'right'`. */
  direction?: Direction | undefined
}

/** Padding: the length that encodings are filled up to, and with what. */
export interface Padding {
  /**
   * The length of the longest row of the batch, or a number of ids; longer rows are unchanged.
   * Default: `'longest'`.
   */
  to?: 'longest' | number | undefined
  /** The length is rounded up to a multiple of this. Default: 1. */
  multipleOf?: number | undefined
  /** Default: `'right'`. */
  direction?: Direction | undefined
  /** The id of the padding. Default: 0. */
  padId?: number | undefined
  /** Its type id. Default: 0. */
  padTypeId?: number | undefined
  /** Its token. Default: `'[PAD]'`. */
  padToken?: string | undefined
}

/** A column that a batch can have beside ids and offsets. */
export type Column = 'tokens' | 'specialTokensMask' | 'typeIds' | 'attentionMask' | 'wordIds' | 'sequenceIds'

/** A text or, with `pretokenized`, an array of its words. */
export type Input = Text | readonly Text[]

/** The arguments of a tensor of onnxruntime-node: `new ort.Tensor(type, data, dims)`. */
export interface TensorData<Type extends 'int64' | 'int32'> {
  /** The element type of `data`. */
  type: Type
  /** The rows, end to end. */
  data: Type extends 'int64' ? BigInt64Array : Int32Array
  /** Number of rows, and of ids per row. */
  dims: [number, number]
}

/** Options of {@link Tokenizer.encode} and {@link Tokenizer.encodeBatch}. */
export interface EncodeOptions extends CountOptions {
  /**
   * The unit of `offsets`, or `false` for none. Default: `'utf16'` for one text, where they are
   * computed on first access, and `false` for a batch, where they cost time and memory.
   */
  offsets?: OffsetUnit | false | undefined
  /**
   * Each text is an array of words. Each word is encoded alone, offsets are relative to the word,
   * and the index of the word is the word id of its tokens. Default: `false`.
   */
  pretokenized?: boolean | undefined
  /** Default: as in the file, mostly `false`: none. */
  truncation?: Truncation | false | undefined
  /**
   * Default: as in the file, mostly `false`: none. `true` fills up with the tokenizer's own token
   * ({@link Tokenizer.padId}), on the side that its config names, and is a `RangeError`
   * (`ERR_TOKENLANE_ARGUMENT_VALUE`) if there is none.
   */
  padding?: Padding | boolean | undefined
}

/** Options of {@link Tokenizer.encode}. */
export interface EncodeOneOptions extends EncodeOptions {
  /** A second text, encoded together with the first. Default: none. */
  pair?: Input | undefined
}

/** Options of {@link Tokenizer.encodeBatch}. */
export interface EncodeBatchOptions extends EncodeOptions {
  /** For each text a second one, encoded together with it. Default: none. */
  pairs?: readonly Input[] | undefined
  /** Columns beside ids and offsets. Default: none; the attention mask is always available. */
  columns?: readonly Column[] | undefined
  /**
   * Return what truncation cut off as further rows, after the row of their text. Default: `false`.
   */
  overflow?: boolean | undefined
}

/** The number of threads of a batch. */
export interface ThreadOptions {
  /**
   * The maximum number of threads for this call, 1 to 256. Default: the environment variable
   * `RAYON_NUM_THREADS`, else the number of processors of the machine or container.
   */
  threads?: number | undefined
}

/** Options of calls that run off the event loop. */
export interface RunOptions extends ThreadOptions {
  /**
   * Stops the call, whether it waits or runs: the promise rejects with `signal.reason` at once, the
   * threads stop soon after. Default: none.
   */
  signal?: AbortSignal | undefined
}

/** Options of {@link Tokenizer.encodeStream} and {@link Tokenizer.countStream}. */
export interface BatchSizeOptions {
  /**
   * The maximum number of texts of a batch. A batch also ends with the text that makes it longer
   * than 4,194,304 UTF-16 units. Default: 1,024.
   */
  batchSize?: number | undefined
}

/** What {@link Tokenizer.encodeStream} and others read: an iterable, or an asynchronous one. */
export type Source<Value> = Iterable<Value> | AsyncIterable<Value>

/** Options of calls that read a {@link Source}, and of streams. */
export interface SignalOptions {
  /** Stops the call or the stream with `signal.reason` as its error. Default: none. */
  signal?: AbortSignal | undefined
}

/** Options of {@link Tokenizer.truncate}. */
export interface TruncateOptions extends CountOptions {
  /** Which end of the text goes: `'left'` keeps its end. Default: `'right'`. */
  direction?: Direction | undefined
}

/** The result of {@link Tokenizer.decodeWithOffsets}. */
export interface DecodedWithOffsets {
  /** The text. */
  text: string
  /**
   * Start and end of each id in the text, `[start0, end0, start1, …]`, in UTF-16 units. Each id of
   * a character that several ids spell stands for the whole character; a special token that is
   * skipped stands for nothing.
   */
  offsets: Uint32Array
}

/** Options of calls that decode. */
export interface DecodeOptions {
  /** Leave special tokens out of the text. Default: `false`. */
  skipSpecialTokens?: boolean | undefined
}

/** Options of {@link Tokenizer.stopStream}. */
export interface StopOptions extends DecodeOptions {
  /** Strings that end the text, at most 10,000. Default: none. */
  stop?: string | readonly string[] | undefined
  /** Ids that end the text, such as `eosId`. They need not be in the vocabulary. Default: none. */
  stopIds?: Ids | undefined
  /** The number of ids after which the text ends. Default: no limit. */
  maxTokens?: number | undefined
  /** Whether the stop that ends the text is a part of it. Default: `false`. */
  includeStop?: boolean | undefined
}

/** What a {@link StopStream} releases. */
export interface Stopped {
  /** The text that is in no stop, whatever follows; often `''`. */
  text: string
  /**
   * The ids that belong to it, in their order, for usage and log-probabilities: an id comes with
   * the first character that it is a part of, and an id without text with the text behind it.
   */
  ids: Uint32Array
  /** How the stream has ended. Missing before. */
  finish?: StopFinish
}

/** How a {@link StopStream} has ended. */
export interface StopFinish {
  /**
   * A string of `stop`, an id of `stopIds`, or `maxTokens`. Where several hold after the same id, a
   * string counts before the length, and an id before both unless a string ends in front of it.
   */
  reason: 'stop' | 'id' | 'length'
  /** The string or the id; `undefined` for `'length'`. */
  stop: string | number | undefined
  /** The number of ids that were read: the last of them ended the stream. */
  count: number
  /** What these ids have beside all that was released. */
  cut: StopCut
}

/** What the end of a {@link StopStream} has cut. */
export interface StopCut {
  /**
   * For `'stop'` the text from the stop on, or behind it with `includeStop`; for `'id'` without
   * `includeStop` the text of that id alone; else `''`.
   */
  text: string
  /** The ids that have no part of the released text. */
  ids: Uint32Array
}

/** The result of {@link Tokenizer.tokenBytes}. */
export interface TokenBytes {
  /** The bytes of all tokens, in the order of the ids. */
  bytes: Uint8Array
  /** Those of `id` are `bytes.subarray(offsets[id], offsets[id + 1])`. Has `maxId + 2` elements. */
  offsets: Uint32Array
  /** For each id 1 if its token is an added one, such as a special token, else 0. */
  added: Uint8Array
}

/** The result of {@link Tokenizer.heal}. */
export interface Healed {
  /** The ids that stay. */
  ids: Uint32Array
  /** The bytes of the ids that were removed. Empty if no longer token starts with them. */
  prefix: Uint8Array
}

/** The result of {@link Tokenizer.encodeInto}. */
export interface EncodedInto {
  /**
   * The length of the text that the ids cover: in UTF-16 units of a string, in bytes of a
   * Uint8Array.
   */
  read: number
  /** The number of ids written. */
  written: number
}

/** Options of {@link Tokenizer.split}. */
export interface SplitOptions extends CountOptions {
  /**
   * The maximum number of ids of a piece when it is encoded alone, special tokens included. At
   * least 1.
   */
  maxTokens: number
  /**
   * The maximum number of ids at the end of a piece that the next piece repeats, without special
   * tokens. Less than `maxTokens`. With sentences or lines as the boundary, whole ones are
   * repeated: none, if each is longer. Default: 0.
   */
  overlap?: number | undefined
  /**
   * Where pieces end: `'token'`: where a token ends; `'sentence'`: after the last sentence that
   * fits, by Unicode's rules (UAX #29, which `Intl.Segmenter` follows too), but not after an
   * initial, as in `J. R. R. Tolkien`; `'line'`: after the last line that fits; `'word'`: after the
   * last word that fits (UAX #29), before the space behind it. A sentence or line that is longer
   * than a piece is split as with `'word'`, and a word as with `'token'`. Default: `'token'`.
   */
  boundary?: 'token' | 'word' | 'sentence' | 'line' | undefined
  /** The unit of `start` and `end` of the pieces. Default: `'utf16'`. */
  offsets?: 'utf16' | 'codepoint' | 'byte' | undefined
}

/** Options of {@link Tokenizer.split} for paragraphs, or for blocks of code or Markdown. */
export interface BlockSplitOptions extends Omit<SplitOptions, 'boundary'> {
  /**
   * Where pieces end. `'paragraph'`: at blank lines. `'markdown'`: between the blocks of Markdown
   * (CommonMark, and GitHub's tables): a heading starts a piece, with the headings right before it;
   * fenced code, tables, lists and their items stay whole where they fit. What does not fit is
   * split: lists at items, code and tables at lines, text at sentences. {@link
   * Tokenizer.splitStream} keeps the block that is not complete, and a section as long as it fits
   * into a piece. `'code'`: between blocks of source code, which start behind a blank line, or with
   * a line that deeper ones follow (comments and decorators before it included); what does not fit
   * is split at the blocks within it, and then at lines. No default.
   */
  boundary: 'paragraph' | 'markdown' | 'code'
}

/** Options of {@link Tokenizer.split} for pieces of whole blocks of Markdown. */
export interface MarkdownSplitOptions extends BlockSplitOptions {
  /** Between the blocks of Markdown, see {@link BlockSplitOptions}. */
  boundary: 'markdown'
  /**
   * Begin each further piece of a table that does not fit with the head of the table, which is in
   * `text` and `count` then, but not between `start` and `end`. Not for a head of more than half of
   * `maxTokens`. Default: `false`.
   */
  repeatTableHeaders?: boolean | undefined
  /**
   * `'include'`: the `text` of each piece starts with its `headings`, as in `Guide > Install` and a
   * blank line, in place of the headings before its text. They are in `count`, so that `text` has
   * at most `maxTokens`, but not between `start` and `end`. Headings that would take more than half
   * of `maxTokens` stay where they are; headings without a text are a piece of their own. Default:
   * headings are text of the piece that they start.
   */
  headings?: 'include' | undefined
  /**
   * Whether sections below one heading share a piece if they fit as a whole, with those below them;
   * the `headings` of such a piece are those above all of its sections. Default: `false`.
   */
  join?: boolean | undefined
}

/** Options of {@link Tokenizer.splitAsync} for blocks of Markdown. */
export interface MarkdownSplitAsyncOptions extends MarkdownSplitOptions {
  /** Stops the call: the promise rejects with `signal.reason`. Default: none. */
  signal?: AbortSignal | undefined
}

/** Options of {@link Tokenizer.splitAsync}. */
export interface SplitAsyncOptions extends SplitOptions {
  /**
   * Stops the call, whether it waits or runs: the promise rejects with `signal.reason` at once, the
   * thread stops soon after. Default: none.
   */
  signal?: AbortSignal | undefined
}

/** Options of {@link Tokenizer.splitAsync} for paragraphs or blocks of code or Markdown. */
export interface BlockSplitAsyncOptions extends BlockSplitOptions {
  /** Stops the call: the promise rejects with `signal.reason`. Default: none. */
  signal?: AbortSignal | undefined
}

/** A part of a text. */
export interface Piece {
  /** The text of the piece: `whole.slice(start, end)`, behind what options put in front. */
  text: string
  /** Start in the whole text, in the unit of the option `offsets`: UTF-16 units by default. */
  start: number
  /** End in the whole text, in the same unit. */
  end: number
  /** The number of ids when the piece is encoded alone. */
  count: number
  /**
   * The titles of the headings that the end of the piece is below, outermost first; only with the
   * boundary `'markdown'`.
   */
  headings?: string[]
}

/** A part of a Markdown text. */
export interface MarkdownPiece extends Piece {
  /** The titles of the headings that the end of the piece is below, outermost first. */
  headings: string[]
}

/** Options of {@link Tokenizer.fromEncodingSync} and {@link Tokenizer.forModelSync}. */
export interface EncodingSyncOptions {
  /**
   * How special tokens in a text are treated by calls that do not say: `'text'` for text of users.
   * Default: `'throw'`.
   */
  specialTokens?: DefaultSpecialTokens | undefined
}

/** Options of {@link Tokenizer.fromEncoding} and {@link Tokenizer.forModel}. */
export interface EncodingOptions extends EncodingSyncOptions {
  /** Stops the call: the promise rejects with `signal.reason`. Default: none. */
  signal?: AbortSignal | undefined
}

/**
 * Options of the loaders: what a rank file (`*.tiktoken`) does not contain, and chat templates. A
 * rank file is read as tiktoken reads it: it may have a byte order mark, lines that end with CR, an
 * empty token, and repeated tokens, of which the last rank counts.
 */
export interface LoadOptions {
  /**
   * Read the file as the ranks of the bundled encoding of this name. Default: recognised by its
   * content.
   */
  encoding?: string | undefined
  /** The regular expression whose matches are the words. Excludes `encoding`. Default: none. */
  pattern?: string | undefined
  /**
   * What all calls do by default with special tokens that a text spells out: `'text'` where users
   * write the texts. Or, for a rank file with a `pattern`, its special tokens and their ids.
   * Default: `'throw'` for ranks, else `'parse'`; no special tokens.
   */
  specialTokens?: DefaultSpecialTokens | Readonly<Record<string, number>> | undefined
  /**
   * A chat template in Jinja, or several by name. Default: from the folder of the file, as on the
   * hub: `chat_template.jinja` and `additional_chat_templates/`, else `chat_template` in
   * `tokenizer_config.json`. For bytes: none. For a GGUF file: its own.
   */
  chatTemplate?: string | Readonly<Record<string, string>> | undefined
  /**
   * The content of a tokenizer_config.json: special tokens that templates use (`bos_token`, …), and
   * chat templates. With it, chats read no file in the folder. Default: the one in the folder of
   * the file. For bytes: none. For a GGUF file, what is not given is that of the file.
   */
  config?: Readonly<Record<string, unknown>> | undefined
}

/** Options of {@link Tokenizer.fromFile}. */
export interface FileOptions extends LoadOptions {
  /**
   * Use the configs beside the tokenizer.json of a folder, as `AutoTokenizer` of transformers does;
   * `false` loads the tokenizer.json alone. Default: `true`. A file is always loaded alone.
   */
  configs?: boolean | undefined
}

/** Where a tokenizer was loaded from, and what it equals. */
export interface TokenizerSource {
  /** The path of the file or folder, or the name of the encoding or model, that was loaded. */
  from?: string
  /**
   * For a folder whose files determine it: the class of transformers, or of Python code in the
   * repository, whose tokenizer this is. The class `TokenizersBackend` (`PreTrainedTokenizerFast`)
   * uses the tokenizer.json as it is.
   */
  class?: string
  /**
   * What differs from the tokenizer of that class, in one sentence; not there if nothing does. Then
   * the tokenizer is that of the file, with the tokens of the configs if these can be used. For a
   * GGUF file: what it does not say, and what is done instead.
   */
  note?: string
  /** There if special tokens in a text are text by default (`split_special_tokens` of a config). */
  splitsSpecialTokens?: true
}

/** The progress of a download. */
export interface DownloadProgress {
  /** The path of the file in its repository. */
  file: string
  /** Bytes received, including those of an earlier attempt. */
  loaded: number
  /** Size of the file in bytes. */
  total: number
}

/** Options of {@link Tokenizer.fromPretrained}. */
export interface PretrainedOptions extends FileOptions {
  /** A branch, a tag or a commit. Default: `'main'`. */
  revision?: string | undefined
  /**
   * The path of the tokenizer in the repository, which is loaded alone, without configs. Default:
   * the first of `tokenizer.json`, `tekken.json`, a SentencePiece model, `vocab.json`, `vocab.txt`,
   * `tiktoken.model` and `qwen.tiktoken` that is there.
   */
  file?: string | undefined
  /**
   * An access token of the hub, or `false` to send none. Default: the environment variable
   * `HF_TOKEN`, else what `hf auth login` saved (`HF_TOKEN_PATH`, or `token` in `HF_HOME`).
   */
  token?: string | false | undefined
  /**
   * The folder of cached repositories, a path or a `file:` URL. Default: the environment variable
   * `HF_HUB_CACHE`, else `hub` in `HF_HOME`, else `huggingface/hub` in `XDG_CACHE_HOME`, else
   * `~/.cache/huggingface/hub`.
   */
  cacheDir?: string | URL | undefined
  /**
   * Use the cache only, without requests. Default: `false`; `true` with the environment variable
   * `HF_HUB_OFFLINE=1`.
   */
  localFilesOnly?: boolean | undefined
  /**
   * The maximum size of a downloaded file in bytes. Default: 536,870,912 (512 MiB). A larger file
   * is `ERR_TOKENLANE_HUB_LIMIT`.
   */
  maxFileBytes?: number | undefined
  /**
   * The maximum number of chat templates in separate files, from 0 to 1,000. Default: 100. More are
   * `ERR_TOKENLANE_HUB_LIMIT`.
   */
  maxTemplates?: number | undefined
  /**
   * Stops the download: the promise rejects with `signal.reason`. The next call resumes it.
   * Default: none.
   */
  signal?: AbortSignal | undefined
  /**
   * Called at the start of a download, after each part and at the end; never for cached files.
   * Default: none.
   */
  onProgress?: ((progress: DownloadProgress) => void) | undefined
}

/** A token to add to a tokenizer. */
export interface AddedToken {
  /** The text. An empty one is ignored, as in Hugging Face's library. */
  content: string
  /**
   * The required id; by default any. In a tokenizer.json, a token of the vocabulary keeps its id;
   * the others get consecutive ids after the largest one of the tokens added before, or after the
   * number of tokens in the vocabulary if that is larger, as in Hugging Face's library. Another id
   * is a `RangeError` (`ERR_TOKENLANE_ARGUMENT_VALUE`). With ranks it may be any free id, and the
   * default is one more than any id in use.
   */
  id?: number | undefined
  /**
   * Skipped by `skipSpecialTokens`, and subject to the option `specialTokens`. Default: `false`.
   */
  special?: boolean | undefined
  /** Matches only if no letter or digit is next to it. Default: `false`. */
  singleWord?: boolean | undefined
  /** Includes the white space before it. Default: `false`. */
  lstrip?: boolean | undefined
  /** Includes the white space after it. Default: `false`. */
  rstrip?: boolean | undefined
  /**
   * Matches in the normalized text, in its own normalized form. Default: `true`, for special tokens
   * `false`.
   */
  normalized?: boolean | undefined
}

/** A component of a tokenizer.json, in the form of the file: `{ type: 'Lowercase' }`. */
export type Component = Readonly<Record<string, unknown>>

/** Changes of {@link Tokenizer.with}. Components that are not given stay as they are. */
export interface Changes {
  /**
   * Tokens to add; a string is the content. An existing added token takes these settings. If it was
   * special, calls continue to treat it as special, but {@link Tokenizer.toBuffer} writes the new
   * setting, as in Hugging Face's library.
   */
  addedTokens?: readonly (string | AddedToken)[] | undefined
  /** The normalizer; `null` removes it. */
  normalizer?: Component | null | undefined
  /** The pre-tokenizer; `null` removes it. */
  preTokenizer?: Component | null | undefined
  /** The post-processor; `null` removes it. */
  postProcessor?: Component | null | undefined
  /** The decoder; `null` removes it. */
  decoder?: Component | null | undefined
  /** Settings of the model. */
  model?: ModelChanges | undefined
  /**
   * How special tokens in a text are treated by calls that do not say; {@link Tokenizer.toBuffer}
   * does not write it. Chat templates go on to write special tokens.
   */
  specialTokens?: DefaultSpecialTokens | undefined
  /** The default truncation; `false` or `null` removes it. */
  truncation?: Truncation | false | null | undefined
  /** The default padding, `true` for the tokenizer's own token; `false` or `null` removes it. */
  padding?: Padding | boolean | null | undefined
}

/**
 * Settings of a tokenizer.json's model that can be changed. Settings that are not given stay. A
 * setting that the kind of model does not have throws `ERR_TOKENLANE_UNSUPPORTED`.
 */
export interface ModelChanges {
  /** BPE: the probability that a merge is skipped; 0 or `null` for none. */
  dropout?: number | null | undefined
  /**
   * BPE: the token for unknown characters; `null`: they are dropped. WordPiece and WordLevel: the
   * token for unknown words, a string.
   */
  unkToken?: string | null | undefined
  /** BPE: merge consecutive unknown tokens into one. */
  fuseUnk?: boolean | undefined
  /**
   * BPE and Unigram: encode unknown characters as the tokens of their bytes, `<0x00>` to `<0xFF>`.
   */
  byteFallback?: boolean | undefined
  /** BPE: a word that is itself a token is not merged. */
  ignoreMerges?: boolean | undefined
  /** WordPiece: the start of tokens that continue a word. */
  continuingSubwordPrefix?: string | undefined
  /** WordPiece: a word of more code points is unknown. */
  maxInputCharsPerWord?: number | undefined
  /** Unigram: the id of the unknown token; `null`: unknown characters are an error. */
  unkId?: number | null | undefined
}

/** The result of {@link Tokenizer.stats}. All threads share the tokenizer and its figures. */
export interface TokenizerStats {
  /** Approximate bytes of the vocabulary, the merges and the other tables. */
  tableBytes: number
  /** Bytes of the word caches of idle workers; caches in use are not counted. */
  cacheBytes: number
  /** Words found in these caches. */
  cacheHits: number
  /** Words not found, which the model had to encode. */
  cacheMisses: number
  /** Bytes of text that idle encoders have encoded, in all their calls. */
  encodedBytes: number
}

/** The tokens of an {@link Encoding} that belong to one text. */
export interface SequenceRange {
  /** 0 for the text, 1 for the pair. */
  sequence: number
  /** The first token. */
  start: number
  /** One past the last token. */
  end: number
}
