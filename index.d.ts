/**
 * Text to the token ids of any BPE tokenizer, exactly, in batches, off the event loop.
 *
 * Every error is an `Error`, `TypeError` or `RangeError` with a stable `code` that starts with `ERR_TOKENLANE_`; an error
 * of one row of a batch has its number in `row`. Asynchronous calls never throw, they reject. An option that a call does
 * not have is a `TypeError` that names it (`ERR_TOKENLANE_UNKNOWN_OPTION`).
 */

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
  type: Type
  data: Type extends 'int64' ? BigInt64Array : Int32Array
  /** Rows, and ids in each. */
  dims: [number, number]
}

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

export interface EncodeOneOptions extends EncodeOptions {
  /** A second text that is encoded together with the first. Default none. */
  pair?: Input | undefined
}

export interface EncodeBatchOptions extends EncodeOptions {
  /** For each text the one that is encoded together with it. Default none. */
  pairs?: readonly Input[] | undefined
  /** What is wanted beside ids and offsets. Default none; with padding there is always an attention mask. */
  columns?: readonly Column[] | undefined
  /** What truncation cuts off is wanted too, as rows behind the row of their text. Default `false`. */
  overflow?: boolean | undefined
}

export interface ThreadOptions {
  /**
   * The most threads that work on this call, 1 to 256. Default: the environment variable `RAYON_NUM_THREADS`, else as many
   * as the machine or the container has.
   */
  threads?: number | undefined
}

export interface RunOptions extends ThreadOptions {
  /**
   * Stops the call, whether it waits or runs: the promise is rejected with `signal.reason` at once, the threads stop soon
   * after.
   */
  signal?: AbortSignal | undefined
}

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
  /** The regular expression whose matches are the words that are merged. Excludes `encoding`. */
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
  /** More variables for the template, such as `enable_thinking`; a function is one that the template can call. */
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
  /** Stops it: the promise is rejected with `signal.reason`. What came so far is kept for the next call. */
  signal?: AbortSignal | undefined
  /** Called while files are downloaded, at the start, after each piece and at the end; never for what is cached. */
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
  /** `null` takes it away; so it is with the next three. */
  normalizer?: Component | null | undefined
  preTokenizer?: Component | null | undefined
  postProcessor?: Component | null | undefined
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

/**
 * A tokenizer. Made by its loaders, immutable, and shared: the same bytes loaded again, in any worker thread, are the same
 * tokenizer in memory.
 *
 * ```js
 * const tokenizer = await Tokenizer.fromEncoding('o200k_base')
 * tokenizer.encode('Hello, world!').ids // Uint32Array(4) [ 13225, 11, 2375, 0 ]
 * ```
 */
export class Tokenizer {
  private constructor()

  /**
   * Loads a tokenizer.json or, with `options`, a rank file. Reading and loading happen off the event loop.
   *
   * Rejects with `ERR_TOKENLANE_FILE_NOT_FOUND`, `ERR_TOKENLANE_NOT_A_FILE`, `ERR_TOKENLANE_FILE` when it cannot be read,
   * and with what was wrong in it and where otherwise: see the table in the README.
   *
   * @param file a path, or a `file:` URL
   */
  static fromFile(file: string | URL, options?: LoadOptions): Promise<Tokenizer>
  /** As {@link fromFile}, on this thread. */
  static fromFileSync(file: string | URL, options?: LoadOptions): Tokenizer

  /**
   * Loads a tokenizer of the Hugging Face Hub, or of the hub that the environment variable `HF_ENDPOINT` names, by the name of
   * its repository. The package `@huggingface/hub` has to be installed (`npm install @huggingface/hub`), else it rejects with
   * `ERR_TOKENLANE_PACKAGE_MISSING`.
   *
   * Files are kept in the cache that Python's `huggingface_hub` has too. A branch or a tag is looked up at every call, with one
   * request; a commit that the cache has needs none. Where the hub is out of reach, the cache is used. Downloads that are cut
   * go on where they were, now and in the next call; calls at the same time share one.
   *
   * Rejects with `ERR_TOKENLANE_HUB_REPO_NOT_FOUND` (or a private one, without the right token), `…_HUB_REVISION_NOT_FOUND`,
   * `…_HUB_FILE_NOT_FOUND`, `…_HUB_GATED`, `…_HUB_ACCESS`, `…_HUB_RATE_LIMIT` (`retryAfter` has the seconds to wait, if the hub
   * said so), `…_HUB_SERVER` (`status`), `…_HUB_NETWORK`, `…_HUB_CORRUPT`, `…_HUB_NOT_CACHED`, `…_HUB_CACHE`, and as
   * {@link fromFile} does.
   *
   * ```js
   * const tokenizer = await Tokenizer.fromPretrained('Qwen/Qwen2.5-7B-Instruct', { revision: 'main' })
   * ```
   *
   * @param repo `'organization/name'`
   */
  static fromPretrained(repo: string, options?: PretrainedOptions): Promise<Tokenizer>

  /**
   * Loads an encoding that ships with this package; {@link encodings} lists them.
   *
   * Rejects with a `RangeError`, `ERR_TOKENLANE_UNKNOWN_ENCODING`, that lists them too.
   */
  static fromEncoding(name: string): Promise<Tokenizer>
  /** As {@link fromEncoding}, on this thread. */
  static fromEncodingSync(name: string): Tokenizer

  /** As {@link fromFile}, from the bytes of the file. They are copied before the call returns. */
  static fromBuffer(bytes: Uint8Array, options?: LoadOptions): Promise<Tokenizer>
  /** As {@link fromBuffer}, on this thread. */
  static fromBufferSync(bytes: Uint8Array, options?: LoadOptions): Tokenizer

  /**
   * Encodes one text, on this thread. The right call for short texts: a batch of one is slower.
   *
   * Throws a `TypeError` for what is no text or lies in a detached, resizable or shared buffer
   * (`ERR_TOKENLANE_ARGUMENT_TYPE`, `ERR_TOKENLANE_BUFFER`), and an `Error` for invalid UTF-8
   * (`ERR_TOKENLANE_INVALID_UTF8`) or a special token that is refused (`ERR_TOKENLANE_SPECIAL_TOKEN`).
   */
  encode(text: Text, options?: EncodeOneOptions): Encoding
  /** As above, of words that were cut before. */
  encode(words: readonly Text[], options: EncodeOneOptions & { pretokenized: true }): Encoding

  /**
   * Encodes many texts on several threads while the event loop goes on. Strings are copied when the batch starts, bytes
   * before the call returns. At most two batches run at a time in the process; later ones wait in order.
   *
   * Rejects as {@link encode} throws; the error of the first row that failed has its number in `row`.
   */
  encodeBatch(texts: readonly Input[], options?: EncodeBatchOptions & RunOptions): Promise<Batch>
  /** As {@link encodeBatch}, but this thread waits: for scripts, and for worker threads that have nothing else to do. */
  encodeBatchSync(texts: readonly Input[], options?: EncodeBatchOptions & ThreadOptions): Batch

  /** How many ids {@link encode} would give without truncation and padding. Throws as it does. */
  count(text: Text, options?: CountOptions): number
  /**
   * Whether a text has at most `limit` ids, as {@link count} counts them. It stops as soon as that is known, for a long text
   * mostly without looking at it; what would be an error further on goes unnoticed then.
   *
   * @param limit 0 to 4294967295, else a `RangeError` (`ERR_TOKENLANE_ARGUMENT_VALUE`)
   */
  isWithin(text: Text, limit: number, options?: CountOptions): boolean
  /**
   * Writes the ids of a text into an array that you have, from its start, and leaves nothing for the garbage collector
   * but the answer. They are those that {@link encode} gives without truncation and padding, as many as fit without cutting
   * a character in two. All was written exactly when all of the text was read; special tokens behind a text are only
   * written together with its last one. (To encode the rest by itself, from `read` on, can give other ids: words are whole
   * only in the whole text.)
   *
   * Throws as {@link encode}, and a `TypeError` for an array that is detached, resizable or shared.
   */
  encodeInto(text: Text, ids: Uint32Array, options?: CountOptions): EncodedInto
  /**
   * The longest start of a text that has at most `maxTokens` ids when it is encoded by itself, special tokens included; it
   * ends with a whole character. Where a start is one word of many thousand characters, one that is nearly the longest. Of
   * bytes: a view of their start.
   *
   * A `RangeError` (`ERR_TOKENLANE_LIMIT_TOO_SMALL`) if the special tokens alone are more.
   */
  truncate(text: string, maxTokens: number, options?: CountOptions): string
  /** As above, of UTF-8. */
  truncate(text: Uint8Array, maxTokens: number, options?: CountOptions): Uint8Array
  /**
   * Cuts a text into pieces of at most `maxTokens` ids each. Without overlap the pieces, joined, are the text.
   *
   * ```js
   * for (const { text, start, end, count } of tokenizer.split(document, { maxTokens: 512, overlap: 64, boundary: 'sentence' })) …
   * ```
   *
   * Throws as {@link count}, and a `RangeError` (`ERR_TOKENLANE_LIMIT_TOO_SMALL`) if a single character has more ids.
   */
  split(text: string, options: SplitOptions): Piece[]
  /** {@link split} for text that comes bit by bit, however it is cut: `texts.pipeThrough(tokenizer.splitStream(options))`. */
  splitStream(options: SplitOptions): TransformStream<string, Piece>
  /** How many ids each text has, in order. Runs and rejects as {@link encodeBatch}. */
  countBatch(texts: readonly Text[], options?: CountOptions & RunOptions): Promise<Uint32Array>

  /**
   * The ids of a conversation, as transformers' `apply_chat_template` gives them: a template in Jinja makes a text of it, in which
   * special tokens are parsed and to which nothing is added. For what users write there is `specialTokens: 'throw'`.
   *
   * Throws an `Error`: `ERR_TOKENLANE_CHAT_TEMPLATE_MISSING` without a template, of encodings of OpenAI always;
   * `ERR_TOKENLANE_CHAT_REFUSED` for what the template refuses or a last message that cannot be continued;
   * `ERR_TOKENLANE_CHAT_TEMPLATE` for a template that is wrong, uses what is not supported, or does not end.
   *
   * ```js
   * const { ids } = tokenizer.applyChatTemplate([{ role: 'user', content: 'Hello!' }], { addGenerationPrompt: true })
   * ```
   */
  applyChatTemplate(messages: readonly ChatMessage[], options?: ChatOptions & { tokenize?: true | undefined }): Encoding
  /** As above, but the text and not its ids. */
  applyChatTemplate(messages: readonly ChatMessage[], options: ChatOptions & { tokenize: false }): string
  /**
   * How many ids {@link applyChatTemplate} gives; throws as it does. Of `cl100k_base` and `o200k_base`: how many tokens OpenAI's
   * chat completions count for messages of text, an answer's first three included, by the rule that OpenAI documents. It is
   * for gpt-3.5-turbo, gpt-4, gpt-4o and gpt-4.1; there are no options then, and what is no text is a `TypeError`
   * (`ERR_TOKENLANE_ARGUMENT_TYPE`).
   */
  countChat(messages: readonly ChatMessage[], options?: ChatOptions): number

  /**
   * The text of ids. Bytes that are no UTF-8, such as half a character, become U+FFFD.
   *
   * Throws a `RangeError` for what can be no id (`ERR_TOKENLANE_ARGUMENT_VALUE`). An id that the vocabulary does not have is a
   * `RangeError` too for a rank file (`ERR_TOKENLANE_UNKNOWN_ID`) and left out for a tokenizer.json, as their references do.
   */
  decode(ids: Ids, options?: DecodeOptions): string
  /** The bytes of ids, unchanged. Throws as {@link decode}. */
  decodeBytes(ids: Ids, options?: DecodeOptions): Uint8Array
  /** The text of each row. Runs as {@link encodeBatch}, rejects as {@link decode} throws. */
  decodeBatch(rows: Batch | readonly Ids[], options?: DecodeOptions & RunOptions): Promise<string[]>
  /** A stream that decodes ids as they come, for the answer of a model. */
  decodeStream(options?: DecodeOptions): DecodeStream

  /** The id of a token as the vocabulary writes it (`'Ġhello'` in a byte-level tokenizer.json), or `undefined`. */
  tokenToId(token: string): number | undefined
  /** The token of an id as the vocabulary writes it, or `undefined`. */
  idToToken(id: number): string | undefined
  /** What it holds in memory, and how often a word was seen before. */
  stats(): TokenizerStats
  /** How many tokens there are. `addedTokens: false` leaves out those beside the model's vocabulary. Default `true`. */
  vocabSize(options?: { addedTokens?: boolean | undefined }): number

  /**
   * A tokenizer like this one with some things changed; this one stays as it is. Quick, and small: vocabulary and merges are
   * shared between the two, and so are chat templates.
   *
   * Throws what loading a tokenizer.json with these components would. Of a tokenizer of ranks only added tokens, the
   * post-processor, truncation and padding can be changed (`ERR_TOKENLANE_UNSUPPORTED`); load what {@link toBuffer} gives to
   * change more.
   *
   * ```js
   * tokenizer.with({ addedTokens: [{ content: '<|user|>', special: true }], normalizer: { type: 'NFC' } })
   * ```
   */
  with(changes: Changes): Tokenizer

  /**
   * The bytes of a tokenizer.json that loads again, here and in Hugging Face's library, to the same behaviour:
   * `fs.writeFile('tokenizer.json', tokenizer.toBuffer())`. The same tokenizer gives the same bytes. This thread writes them;
   * 200,000 tokens take some tenths of a second at most. Chat templates are not part of it.
   *
   * What was loaded from a tokenizer.json can always be written. Ranks (an encoding, a rank file, a tekken.json) become
   * merges that give the same ids for every text. The format cannot say the rest: read back, special tokens are parsed unless
   * a call says otherwise; decoding leaves out ids that no token has; tokens are written in the printable characters of
   * ByteLevel; special tokens whose ids do not follow the ranks count as part of the vocabulary; and of special tokens that
   * overlap in a text, one that is to be text hides the others. What would give other ids or other text is an `Error` that
   * names it, `ERR_TOKENLANE_SAVE`: a pattern that Oniguruma does not read alike, two special tokens of one id, one that
   * looks like another token, ranks that lack a byte.
   */
  toBuffer(): Uint8Array
  /**
   * The same as an object, so that `JSON.stringify(tokenizer)` is a tokenizer.json. Slower and larger than {@link toBuffer}.
   */
  toJSON(): TokenizerJson
}

/** What a tokenizer.json holds, as {@link Tokenizer.toJSON} gives it. */
export interface TokenizerJson {
  version: string
  truncation: Record<string, unknown> | null
  padding: Record<string, unknown> | null
  added_tokens: {
    id: number
    content: string
    single_word: boolean
    lstrip: boolean
    rstrip: boolean
    normalized: boolean
    special: boolean
  }[]
  normalizer: Component | null
  pre_tokenizer: Component | null
  post_processor: Component | null
  decoder: Component | null
  model: Record<string, unknown> & { type: 'BPE'; vocab: Record<string, number>; merges: [string, string][] }
}

/**
 * Text of ids that come one after the other, made by {@link Tokenizer.decodeStream}. Text is given as soon as it is certain,
 * and never half a character; the pieces, joined, are what {@link Tokenizer.decode} makes of all the ids.
 *
 * ```js
 * const stream = tokenizer.decodeStream()
 * for await (const id of answer) process.stdout.write(stream.push(id))
 * process.stdout.write(stream.end())
 * ```
 */
export class DecodeStream {
  private constructor()
  /**
   * The text that becomes certain with one more id, or with some more; often `''`. Throws as {@link Tokenizer.decode}, and
   * then has taken none of the ids.
   */
  push(ids: number | Ids): string
  /** The rest of the text; what is left of a character becomes U+FFFD. The stream is as new afterwards. */
  end(): string
  /** A WHATWG stream of ids to text, over this one: `ids.pipeThrough(tokenizer.decodeStream().toTransformStream())`. */
  toTransformStream(): TransformStream<number | Ids, string>
}

/**
 * What one text became. `ids` is there at once. Every other column holds one entry an id and is computed when it is first
 * asked for, from the text, which is encoded again; with the second one come all columns of numbers.
 */
export class Encoding {
  private constructor()

  /** The token ids. */
  readonly ids: Uint32Array
  /** How many there are. */
  readonly length: number
  /** Start and end of each id in the text, `[start0, end0, start1, …]`, in the unit asked for; `undefined` if none was. */
  readonly offsets: Uint32Array | undefined
  /** Each token as the vocabulary writes it. */
  readonly tokens: string[]
  /** 1 for what the tokenizer added, 0 for what stands in the text. */
  readonly specialTokensMask: Uint8Array
  /** The type id of each token. */
  readonly typeIds: Uint32Array
  /** 1 for each token, 0 for padding. */
  readonly attentionMask: Uint8Array
  /** The number of the word that each token is of, -1 for none. */
  readonly wordIds: Int32Array
  /** 0 for tokens of the text, 1 for those of the pair, -1 for those that were added. */
  readonly sequenceIds: Int32Array
  /**
   * What truncation cut off, in parts with their own special tokens and padding. Of a pair: every combination of the parts
   * of one text with those of the other. A part may overflow itself then, as in Hugging Face's library: into parts that
   * stand in this list as well.
   */
  readonly overflowing: readonly Encoding[]
  /** Which tokens are of which text. Where nothing is noted all of them are of the first. */
  readonly sequenceRanges: readonly { sequence: number; start: number; end: number }[]

  // Places and spans are in the unit of the offsets; `undefined` where there is no such token, word or place. `sequence`
  // is 0 for the text, the default, and 1 for the pair.

  /** The text that a token is of. */
  tokenToSequence(token: number): number | undefined
  /** Where a token stands in its text. */
  tokenToChars(token: number): [start: number, end: number] | undefined
  /** The number of the word that a token is of. */
  tokenToWord(token: number): number | undefined
  /** The tokens of a word: the first, and the one behind the last. */
  wordToTokens(word: number, sequence?: number): [start: number, end: number] | undefined
  /** Where a word stands in its text. */
  wordToChars(word: number, sequence?: number): [start: number, end: number] | undefined
  /** The first token that covers a place of the text. */
  charToToken(place: number, sequence?: number): number | undefined
  /** The number of the word at a place of the text. */
  charToWord(place: number, sequence?: number): number | undefined
}

/**
 * Rows of ids in one block of memory. Whatever it hands out is a view of that block, not a copy, and lives as long as
 * anyone holds it. {@link dispose} frees the block at once instead: then every view is empty.
 */
export class Batch implements Iterable<Uint32Array> {
  private constructor()

  /** How many rows there are; 0 after {@link dispose}. */
  readonly length: number
  /** The ids of all rows, end to end. */
  readonly ids: Uint32Array
  /** Where each row starts in `ids`, and last where they end: `length + 1` numbers. */
  readonly rowOffsets: Uint32Array
  /** Start and end of each id in its text, `[start0, end0, start1, …]`; `undefined` if no `offsets` were asked for. */
  readonly offsets: Uint32Array | undefined
  /**
   * Which text each row is of; `undefined` unless `overflow` was asked for, because then row `i` is of text `i`. The first
   * row of a text is the part that was kept.
   */
  readonly rowTexts: Uint32Array | undefined
  /** The token of each id; this and the columns below are `undefined` if they were not asked for. */
  readonly tokens: string[] | undefined
  /** 1 for what the tokenizer added, padding included, and 0 for what stands in the text. */
  readonly specialTokensMask: Uint8Array | undefined
  /** The type id of each id. */
  readonly typeIds: Uint32Array | undefined
  /** 1 for each id, 0 for padding. Always there. */
  readonly attentionMask: Uint8Array
  /** The number of the word that each id is of, -1 for none. */
  readonly wordIds: Int32Array | undefined
  /** 0 for ids of the text, 1 for those of the pair, -1 for those that were added. */
  readonly sequenceIds: Int32Array | undefined
  /**
   * All rows as a rectangle, of the ids or of a column that the batch has. Rows that are not of one length are filled up with
   * zeros on the right; pad the batch for anything else.
   */
  tensor<Type extends 'int64' | 'int32'>(type: Type, column?: 'ids' | Exclude<Column, 'tokens'>): TensorData<Type>
  /**
   * The ids of one row, counted from 0. A `RangeError` (`ERR_TOKENLANE_ARGUMENT_VALUE`) if there is no such row; an `Error`
   * (`ERR_TOKENLANE_DISPOSED`) if the batch was disposed of.
   */
  row(index: number): Uint32Array
  /** The part of `offsets` that belongs to one row. Throws as {@link row}. */
  offsetsOf(index: number): Uint32Array | undefined
  /** The rows, in order. */
  [Symbol.iterator](): IterableIterator<Uint32Array>
  /** Frees the memory now instead of with the next garbage collection. A second call does nothing. */
  dispose(): void
  /** `using batch = await …` disposes of the batch at the end of the block. */
  [Symbol.dispose](): void
}

/** What a service does not take on. For each JS thread its own; at first there are no limits. */
export interface Limits {
  /**
   * The most bytes of UTF-8 that one call encodes, counts, truncates or splits, all its texts together; of a text that comes in a
   * stream, nothing is said. More is a `RangeError`, `ERR_TOKENLANE_INPUT_TOO_LARGE`, before anything is done. Default `Infinity`.
   */
  readonly maxInputBytes: number
  /**
   * The most batches and loads that may wait for their turn. One more is rejected at once, with `ERR_TOKENLANE_QUEUE_FULL`: for
   * a service that would rather refuse than come too late. Default `Infinity`.
   */
  readonly maxQueuedBatches: number
  /**
   * Sets one or both, from the next call on. What is no whole number from 0 on, and not `Infinity` either, is an error
   * (`ERR_TOKENLANE_ARGUMENT_TYPE`, `ERR_TOKENLANE_ARGUMENT_VALUE`), and then none is set.
   */
  configure(limits: { maxInputBytes?: number | undefined; maxQueuedBatches?: number | undefined }): void
}

/**
 * Limits of this thread. How long a batch may take is said by its signal, `{ signal: AbortSignal.timeout(500) }`: then it is rejected with
 * the signal's `TimeoutError`.
 */
export const limits: Limits

/** The names of the encodings that ship with this package. */
export function encodings(): string[]

/** How often a step was taken, how often it gave what was wanted, and the milliseconds that it took in all. */
export interface MemoryStep {
  count: number
  helped: number
  ms: number
}

/** The pool that results lie in, at the moment. All sizes are in bytes, and `free + lent + cached === mapped`. */
export interface MemoryStats {
  pool: 'split' | 'binned' | 'off'
  madvise: 'free' | 'dontneed' | 'off'
  collect: boolean
  /** What the pool has from the system. */
  mapped: number
  /** What is in use: texts and ids on their way, and results that JS holds. */
  lent: number
  /** What was handed back and not taken in yet; the next batch that needs it does that. */
  free: number
  /** What the next batch can have. */
  cached: number
  /** What of that keeps its pages, blocks of less than 64 KiB left aside. */
  warm: number
  /** The most that was in use at any time since the pool was chosen. */
  mostLent: number
  /** What the pool may have from the system. */
  cap: number
  /** Results that JS holds, or that it let go of and the event loop has not come round to yet. */
  external: number
  /**
   * The steps of an allocation, in the order in which they are tried: look among free blocks, merge what was handed back,
   * map new memory, reclaim what is not in use, ask for a quick and for a full garbage collection, and give up, after which
   * the result is copied into memory of V8's own.
   */
  steps: Record<
    'scan' | 'merge' | 'map' | 'reclaim' | 'quickCollection' | 'fullCollection' | 'copy',
    MemoryStep
  >
}

export interface MemoryOptions {
  /**
   * `'split'` cuts and merges blocks of memory; `'binned'` keeps blocks of powers of two; `'off'` keeps nothing. Default:
   * the environment variable `TOKENLANE_POOL`, else `'split'`.
   */
  pool?: 'split' | 'binned' | 'off' | undefined
  /**
   * Bytes that the pool has from the system, at most: from 1 MiB to the memory of the machine or container. Results take half
   * of it at most. Past it results are copied into memory of V8's own. Default 256 MiB.
   */
  cap?: number | undefined
  /**
   * What becomes of pages that are neither in use nor kept warm: `'free'` lets the kernel take them when memory is short,
   * `'dontneed'` gives them back at once, `'off'` keeps them. Default: the environment variable `TOKENLANE_MADVISE`, else `'free'`.
   */
  madvise?: 'free' | 'dontneed' | 'off' | undefined
  /**
   * Whether V8 is made to collect when many results may have become garbage, so that their memory is used again. Default
   * `true`.
   */
  collect?: boolean | undefined
}

/** The memory that the results of batches lie in; one for all threads of the process. */
export const memory: {
  /** What it has and did. */
  stats(): MemoryStats
  /**
   * Sets what is named; the rest stays. What is in use stays where it is, batches that run go on, and the next allocation
   * keeps to it: a lower cap is reached as results are freed.
   *
   * Throws a `RangeError` for an unknown name and for a cap outside its bounds (`ERR_TOKENLANE_ARGUMENT_VALUE`), a
   * `TypeError` for a value of the wrong kind (`ERR_TOKENLANE_ARGUMENT_TYPE`) or an option that there is not.
   */
  configure(options: MemoryOptions): void
  /**
   * Gives back to the system, at once, what is not in use. It is done by itself when a worker thread ends that loaded the
   * package.
   */
  trim(): void
}
