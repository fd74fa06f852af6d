/**
 * Text to the token ids of any BPE tokenizer, exactly, in batches, off the event loop.
 *
 * ```js
 * import { Tokenizer } from 'tokenlane' // or: const { Tokenizer } = require('tokenlane')
 * ```
 *
 * Every error is an `Error`, `TypeError` or `RangeError` with a stable `code` that starts with `ERR_TOKENLANE_`; an error
 * of one row of a batch has its number in `row`. Asynchronous calls never throw, they reject. An option that a call does
 * not have is a `TypeError` that names it (`ERR_TOKENLANE_UNKNOWN_OPTION`).
 *
 * @module tokenlane
 */
import type {
  Changes,
  ChatMessage,
  ChatOptions,
  Column,
  Component,
  CountOptions,
  DecodeOptions,
  EncodeBatchOptions,
  EncodeOneOptions,
  EncodedInto,
  Ids,
  Input,
  LoadOptions,
  Piece,
  PretrainedOptions,
  RunOptions,
  SplitOptions,
  TensorData,
  Text,
  ThreadOptions,
  TokenizerStats,
} from './lib/options.js'

export * from './lib/options.js'
export * from './lib/service.js'

// As @types/node says it too: for projects without it, whose libraries may not know the symbol.
declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol
  }
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
  /** The version of the format, `'1.0'`. */
  version: string
  /** What texts are cut to; `null`: they are not. */
  truncation: Record<string, unknown> | null
  /** What encodings are filled up to; `null`: they are not. */
  padding: Record<string, unknown> | null
  /** The tokens beside the model's vocabulary, and those of it that are sought before anything else. */
  added_tokens: AddedTokenJson[]
  /** What a text goes through first; `null`: nothing. */
  normalizer: Component | null
  /** What cuts a text into words; `null`: nothing. */
  pre_tokenizer: Component | null
  /** What is put around a text; `null`: nothing. */
  post_processor: Component | null
  /** What makes text of tokens; `null`: they are joined with spaces. */
  decoder: Component | null
  /** Vocabulary, merges and settings. */
  model: ModelJson
}

/** A token as a tokenizer.json has it. {@link AddedToken} says what its settings do. */
export interface AddedTokenJson {
  /** Its id. */
  id: number
  /** Its text. */
  content: string
  /** Found only where no letter or digit stands beside it. */
  single_word: boolean
  /** Takes the white space before it. */
  lstrip: boolean
  /** Takes the white space behind it. */
  rstrip: boolean
  /** Sought in its normalized form in the normalized text. */
  normalized: boolean
  /** Left out by `skipSpecialTokens`, and subject to the option `specialTokens`. */
  special: boolean
}

/** A model as a tokenizer.json has it. What else it says (`dropout`, `unk_token`, …) stands beside these. */
export type ModelJson = Record<string, unknown> & {
  /** The only kind that tokenlane has. */
  type: 'BPE'
  /** Tokens and their ids. */
  vocab: Record<string, number>
  /** Pairs of tokens that become one, the first of them first. */
  merges: [string, string][]
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

/** Which tokens of an {@link Encoding} are of one text. */
export interface SequenceRange {
  /** 0 for the text, 1 for the pair. */
  sequence: number
  /** The first token. */
  start: number
  /** The one behind the last. */
  end: number
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
  readonly sequenceRanges: readonly SequenceRange[]

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
  /** As {@link dispose}: `using batch = await …` disposes of the batch at the end of the block. */
  [Symbol.dispose](): void
}

/** The names of the encodings that ship with this package, as {@link Tokenizer.fromEncoding} takes them. */
export function encodings(): string[]
