/**
 * Turns text into the token ids of any tokenizer, exactly, one text at a time or in batches off the
 * event loop.
 *
 * ```js
 * import { Tokenizer } from 'tokenlane' // or: const { Tokenizer } = require('tokenlane')
 * ```
 *
 * Every error is an `Error`, `TypeError` or `RangeError` with a stable `code` that starts with
 * `ERR_TOKENLANE_`. An error of one row of a batch has the row's index in `row`. If a message also
 * has a place or advice, `reason` is the message without them. Asynchronous calls never throw, they
 * reject. An unknown option is a `TypeError` that names it
 * (`ERR_TOKENLANE_UNKNOWN_OPTION`).
 *
 * @module tokenlane
 */
import type { ChatEntry, ChatIdsOptions, ChatPiece, ChatTextOptions, CountChatOptions } from './lib/chat-types.js'
import type {
  BatchSizeOptions,
  BlockSplitAsyncOptions,
  BlockSplitOptions,
  Changes,
  Column,
  CountOptions,
  DecodedWithOffsets,
  DecodeOptions,
  EncodeBatchOptions,
  EncodeOneOptions,
  EncodedInto,
  EncodingName,
  EncodingOptions,
  EncodingSyncOptions,
  FileOptions,
  Ids,
  Input,
  LoadOptions,
  MarkdownPiece,
  MarkdownSplitAsyncOptions,
  MarkdownSplitOptions,
  Piece,
  PretrainedOptions,
  RunOptions,
  SignalOptions,
  Source,
  SequenceRange,
  SplitAsyncOptions,
  SplitOptions,
  TensorData,
  Text,
  ThreadOptions,
  TokenizerSource,
  TokenizerStats,
  TruncateOptions,
} from './lib/option-types.js'
import type { ErrorCodes } from './lib/error-codes.js'
import type { TokenizerJson } from './lib/file-types.js'
import type { ModelName } from './lib/model-names.js'

export * from './lib/error-codes.js'
export * from './lib/file-types.js'
export * from './lib/model-names.js'
export * from './lib/chat-types.js'
export * from './lib/option-types.js'
export * from './lib/service.js'

// Repeats the declaration of @types/node for projects without it, whose libraries may lack the
// symbol.
declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol
  }
}

/**
 * A tokenizer. Its static methods load it. It is immutable and shared: loading the same bytes
 * again, in any worker thread, gives the same tokenizer in memory.
 *
 * ```js
 * const tokenizer = await Tokenizer.fromEncoding('o200k_base')
 * tokenizer.encode('Hello, world!').ids // Uint32Array(4) [ 13225, 11, 2375, 0 ]
 * ```
 */
export class Tokenizer {
  private constructor()

  /**
   * Loads a tokenizer.json, a tekken.json, a SentencePiece model (`tokenizer.model`,
   * `spiece.model`, `*.spm`; exact against PyPI `sentencepiece` 0.2.3), a GGUF file of llama.cpp
   * or, with `options`, a rank file. Reading and loading run off the event loop. Of a GGUF file
   * only the metadata are read, which takes a few tenths of a second of the event loop.
   *
   * From a folder, loads the tokenizer that `AutoTokenizer` of transformers 5.24 makes of it, from
   * the first of `tokenizer.json` (with the configs beside it), `tekken.json`, a SentencePiece
   * model, `vocab.json` with `merges.txt` (GPT-2, RoBERTa, CLIP), `vocab.txt` (BERT),
   * `tiktoken.model` (Kimi), `qwen.tiktoken`. A file is what Hugging Face tokenizers makes of it,
   * without configs. {@link source} says what was loaded.
   * A folder without any of these rejects with `ERR_TOKENLANE_FILE_NOT_FOUND`, which lists them.
   * See docs/guide/loading.md.
   *
   * Rejects with `ERR_TOKENLANE_FILE_NOT_FOUND`, `ERR_TOKENLANE_NOT_A_FILE` or `ERR_TOKENLANE_FILE`
   * if the file cannot be read, and with an error that names the fault and its place if it is not a
   * tokenizer: see docs/guide/errors.md.
   *
   * @param file a path of a file or folder, or a `file:` URL, also one of another realm
   */
  static fromFile(file: string | URL, options?: FileOptions): Promise<Tokenizer>
  /** Like {@link fromFile}, on this thread. */
  static fromFileSync(file: string | URL, options?: FileOptions): Tokenizer

  /**
   * Loads a tokenizer of the Hugging Face Hub, or of the hub in the environment variable
   * `HF_ENDPOINT`, by the name of its repository: as `AutoTokenizer` of transformers 5.24 makes it,
   * like a folder ({@link fromFile}), or with `file`, that file alone. It needs the package
   * `@huggingface/hub` (`npm install @huggingface/hub`) and otherwise rejects with
   * `ERR_TOKENLANE_PACKAGE_MISSING`.
   *
   * Files are kept in the cache of Python's `huggingface_hub`. A branch or a tag costs one request
   * per call, a cached commit none. If the hub is out of reach, the cache is used. Interrupted
   * downloads resume, in this call and in the next one; concurrent calls share a download.
   *
   * Rejects with `ERR_TOKENLANE_HUB_REPO_NOT_FOUND` (also for a private repository without the
   * right token), `…_HUB_REVISION_NOT_FOUND`, `…_HUB_FILE_NOT_FOUND`, `…_HUB_GATED`,
   * `…_HUB_ACCESS`, `…_HUB_RATE_LIMIT` (`retryAfter`: seconds to wait, if the hub sent it),
   * `…_HUB_SERVER` (`status`), `…_HUB_NETWORK`, `…_HUB_CORRUPT`, `…_HUB_NOT_CACHED`, `…_HUB_CACHE`,
   * `…_HUB_LIMIT` (the hub sent more than `maxFileBytes` or `maxTemplates`, 20 pages of a listing,
   * 8 MiB of JSON, 32 MiB of config and chat templates, or 10 redirects),
   * `ERR_TOKENLANE_TOO_MANY_FILES` (the process has no file descriptors left), and like
   * {@link fromFile}.
   *
   * ```js
   * const model = 'Qwen/Qwen2.5-7B-Instruct'
   * const tokenizer = await Tokenizer.fromPretrained(model, { revision: 'main' })
   * ```
   *
   * @param repo `'organization/name'`
   */
  static fromPretrained(repo: string, options?: PretrainedOptions): Promise<Tokenizer>

  /**
   * Loads an encoding that is bundled with this package; {@link encodings} lists them.
   *
   * Rejects with a `RangeError`, `ERR_TOKENLANE_UNKNOWN_ENCODING`, for any other name. For the
   * compiler, a literal that is no encoding is an error; a name of the type `string` is not.
   */
  static fromEncoding(name: EncodingName, options?: EncodingOptions): Promise<Tokenizer>
  /** As above, for a name that is known at run time. */
  static fromEncoding<Name extends string>(
    name: string extends Name ? Name : never,
    options?: EncodingOptions,
  ): Promise<Tokenizer>
  /** Like {@link fromEncoding}, on this thread. */
  static fromEncodingSync(name: EncodingName, options?: EncodingSyncOptions): Tokenizer
  /** As above, for a name that is known at run time. */
  static fromEncodingSync<Name extends string>(
    name: string extends Name ? Name : never,
    options?: EncodingSyncOptions,
  ): Tokenizer

  /**
   * Loads the encoding of a model of OpenAI, see {@link encodingForModel}.
   *
   * Rejects with a `RangeError`, `ERR_TOKENLANE_UNKNOWN_MODEL`, for any other name.
   *
   * ```js
   * const tokenizer = await Tokenizer.forModel('gpt-4o')
   * ```
   *
   * @param name such as `'gpt-4o'`, `'gpt-oss-120b'` or `'ft:gpt-4o:organization::id'`
   */
  static forModel(name: ModelName | (string & {}), options?: EncodingOptions): Promise<Tokenizer>
  /** Like {@link forModel}, on this thread. */
  static forModelSync(name: ModelName | (string & {}), options?: EncodingSyncOptions): Tokenizer

  /** Like {@link fromFile}, from the bytes of the file. They are copied before the call returns. */
  static fromBuffer(bytes: Uint8Array, options?: LoadOptions): Promise<Tokenizer>
  /** Like {@link fromBuffer}, on this thread. */
  static fromBufferSync(bytes: Uint8Array, options?: LoadOptions): Tokenizer

  /**
   * Encodes one text on this thread. Use it for short texts: a batch of one is slower.
   *
   * Throws a `TypeError` if the argument is not a text (`ERR_TOKENLANE_ARGUMENT_TYPE`) or lies in a
   * detached, resizable or shared buffer (`ERR_TOKENLANE_BUFFER`), and an `Error` for invalid UTF-8
   * (`ERR_TOKENLANE_INVALID_UTF8`) or a special token that is not allowed here
   * (`ERR_TOKENLANE_SPECIAL_TOKEN`).
   */
  encode(text: Text, options?: EncodeOneOptions): Encoding
  /** The same, for a text that is already split into words. */
  encode(words: readonly Text[], options: EncodeOneOptions & { pretokenized: true }): Encoding

  /**
   * Encodes many texts on several threads while the event loop goes on. The texts of a large batch
   * are copied in slices of half a millisecond, between which the loop turns. The first 65,536 rows
   * are those at the time of the call, bytes included, whatever changes later; do not change rows
   * behind them before the promise settles. At most two batches run at a time in the process; later
   * ones wait in order. The array of texts may be a Proxy of one.
   *
   * Rejects with the errors of {@link encode}; the error of the first failed row has its index in
   * `row`.
   */
  encodeBatch(texts: readonly Input[], options?: EncodeBatchOptions & RunOptions): Promise<Batch>
  /** Like {@link encodeBatch}, but blocks this thread: for scripts and worker threads. */
  encodeBatchSync(texts: readonly Input[], options?: EncodeBatchOptions & ThreadOptions): Batch

  /**
   * The number of ids that {@link encode} returns without truncation and padding. Throws the same
   * errors.
   */
  count(text: Text, options?: CountOptions): number
  /**
   * Whether a text has at most `limit` ids, as {@link count} counts them. It stops as soon as the
   * answer is certain, mostly long before the end of a long text; errors in the rest of the text
   * are not found then.
   *
   * @param limit 0 to 4294967295, else a `RangeError` (`ERR_TOKENLANE_ARGUMENT_VALUE`)
   */
  isWithin(text: Text, limit: number, options?: CountOptions): boolean
  /**
   * Writes the ids of the start of a text to an array that you have, and creates no object but the
   * result. The start is the one that {@link truncate} returns for as many ids as the array has,
   * and its ids are those of that start encoded alone, without truncation and padding. `read` is
   * its length: all of the text exactly if all ids fit. So a loop that goes on at `read` encodes
   * all of a text, in parts. If not even the first character or the special tokens fit, nothing is
   * written and `read` is 0. The ids of an empty text are special tokens: all or none are written.
   *
   * Throws as {@link encode}, for the part that is read, and a `TypeError` for an array that is
   * detached, resizable or shared.
   */
  encodeInto(text: Text, ids: Uint32Array, options?: CountOptions): EncodedInto
  /**
   * The start of a text that has at most `maxTokens` ids when it is encoded alone, special tokens
   * included. It ends where a token of the text ends, between two characters: at the last such
   * place within the limit that fits, of those that are tried. They are, from the limit backwards:
   * the last one; if that start has `k` ids too many when it is encoded alone, the one `k` tokens
   * before (or half of the tokens, if that is more); then each time half of the tokens. If even the
   * first token does not fit, its bytes are halved in the same way, down to one character; if that
   * does not fit either, the result is empty. For bytes: a view of their start.
   *
   * The tokens of a long text are those of its first section: 4,096 bytes of UTF-8 and 32 bytes
   * more for each id of `maxTokens`, four times as many as long as they have no more tokens than
   * fit. No start ends in the last 1,024 bytes of a section, unless the text ends there.
   *
   * With the direction `'left'` it is the end of the text that is kept, by the same rule from the
   * other side: it starts where a token starts, and no section is read before it is needed.
   *
   * Throws the errors of {@link count} for the part that is read, and a `RangeError`
   * (`ERR_TOKENLANE_LIMIT_TOO_SMALL`) if the special tokens alone are more.
   */
  truncate(text: string, maxTokens: number, options?: TruncateOptions): string
  /** As above, of UTF-8. */
  truncate(text: Uint8Array, maxTokens: number, options?: TruncateOptions): Uint8Array
  /**
   * Splits a text into pieces of at most `maxTokens` ids each. Without overlap, the joined pieces
   * are the text.
   *
   * ```js
   * const options = { maxTokens: 512, overlap: 64, boundary: 'sentence' }
   * for (const { text, start, end, count } of tokenizer.split(document, options)) …
   * ```
   *
   * A piece ends as {@link truncate} ends a text: where a token of the text ends, at the last place
   * tried that fits when the piece is encoded alone. The next section of a long text starts with
   * the first piece that the section before does not contain. After a piece that is shorter than
   * half of the first part that was tried, the next part tried is at most twice as long as that
   * piece, until the limit is reached again; so the call is linear.
   *
   * Throws the errors of {@link count}, and a `RangeError` (`ERR_TOKENLANE_LIMIT_TOO_SMALL`) if a
   * single character has more ids. Blocks this thread; {@link splitAsync} does not.
   */
  split(text: string, options: SplitOptions): Piece[]
  /** The same, for blocks of Markdown: each piece has its headings. */
  split(text: string, options: MarkdownSplitOptions): MarkdownPiece[]
  /** The same, for pieces of whole paragraphs or blocks of Markdown. */
  split(text: string, options: BlockSplitOptions): Piece[]
  /**
   * Like {@link split}, but off the event loop, for long texts. The text is copied when the call
   * starts; calls wait in the same queue as batches ({@link encodeBatch}). Rejects with the errors
   * of {@link split}, and with `signal.reason` when the signal aborts. Paragraphs and blocks of
   * Markdown are found on this thread, in steps between which the event loop has its turn.
   */
  splitAsync(text: string, options: MarkdownSplitAsyncOptions): Promise<MarkdownPiece[]>
  /** As above, with other boundaries. */
  splitAsync(text: string, options: SplitAsyncOptions | BlockSplitAsyncOptions): Promise<Piece[]>
  /**
   * {@link split} for text that arrives in parts of any size:
   * `texts.pipeThrough(tokenizer.splitStream(options))`. The pieces are those of `split`. They come
   * when the section that contains them has arrived. Bytes are UTF-8; a character may arrive in two
   * parts (`ERR_TOKENLANE_INVALID_UTF8` if they are not).
   */
  splitStream(options: MarkdownSplitAsyncOptions): TransformStream<Text, MarkdownPiece>
  /** As above, with other boundaries. */
  splitStream(options: SplitAsyncOptions | BlockSplitAsyncOptions): TransformStream<Text, Piece>
  /**
   * The same for a source, such as `fs.createReadStream(file)`:
   * `for await (const piece of tokenizer.splitStream(source, options)) …`
   */
  splitStream(source: Source<Text>, options: MarkdownSplitAsyncOptions): AsyncGenerator<MarkdownPiece, void>
  /** As above, with other boundaries. */
  splitStream(source: Source<Text>, options: SplitAsyncOptions | BlockSplitAsyncOptions): AsyncGenerator<Piece, void>
  /**
   * The number of ids of each text, in order. Runs and rejects like {@link encodeBatch}.
   * `JSON.stringify` writes a `Uint32Array` as an object with numeric keys; for an answer in JSON,
   * pass `as: 'array'`.
   */
  countBatch(
    texts: readonly Text[],
    options?: CountOptions & RunOptions & { as?: 'typed' | undefined },
  ): Promise<Uint32Array>
  /** As above, as a plain array. */
  countBatch(texts: readonly Text[], options: CountOptions & RunOptions & { as: 'array' }): Promise<number[]>
  /** Like {@link countBatch}, but blocks this thread: for scripts and worker threads. */
  countBatchSync(
    texts: readonly Text[],
    options?: CountOptions & ThreadOptions & { as?: 'typed' | undefined },
  ): Uint32Array
  /** As above, as a plain array. */
  countBatchSync(texts: readonly Text[], options: CountOptions & ThreadOptions & { as: 'array' }): number[]

  /**
   * A text that changes: an editor's, or a prompt that grows. It keeps its ids, and an edit encodes
   * only what it touches, about a thousand units of text; see {@link LiveText}.
   *
   * ```js
   * const live = tokenizer.live(editor.value)
   * live.replace(120, 125, 'words')
   * console.log(live.count())
   * ```
   *
   * Throws the errors of {@link count}, here and in each edit; the text is then unchanged.
   */
  live(text?: string, options?: CountOptions): LiveText
  /**
   * The ids of one text that arrives in parts of any size, cut anywhere, also within characters:
   * `texts.pipeThrough(tokenizer.encodeChunks(options))`. The joined ids are those of
   * {@link encode} without truncation and padding. They come as soon as what follows cannot change
   * them: up to the last space between two letters so far. What is kept is the text after it. With
   * a tokenizer that proves no such place ({@link LiveText.isIncremental}), they come at the end.
   * Bytes are UTF-8 (`ERR_TOKENLANE_INVALID_UTF8` if they are not).
   */
  encodeChunks(options?: CountOptions & SignalOptions): TransformStream<Text, Uint32Array>
  /**
   * The same for a source, such as `fs.createReadStream(file)`:
   * `for await (const ids of tokenizer.encodeChunks(source, options)) …`
   */
  encodeChunks(source: Source<Text>, options?: CountOptions & SignalOptions): AsyncGenerator<Uint32Array, void>
  /**
   * Encodes the texts of a source of any length in batches: rows of a database, lines of a file.
   * While your code works on a batch, the next texts are read, and no more. Ends the source if the
   * loop ends early.
   *
   * ```js
   * for await (const batch of tokenizer.encodeStream(texts)) await write(batch.ids)
   * ```
   *
   * Fails with the errors of {@link encodeBatch}; `row` counts from the start of the source.
   */
  encodeStream(
    texts: Source<Input>,
    options?: Omit<EncodeBatchOptions, 'pairs'> & RunOptions & BatchSizeOptions,
  ): AsyncGenerator<Batch, void>
  /** Like {@link encodeStream}, for the numbers of ids of each batch, as {@link countBatch}. */
  countStream(
    texts: Source<Text>,
    options?: CountOptions & RunOptions & BatchSizeOptions & { as?: 'typed' | undefined },
  ): AsyncGenerator<Uint32Array, void>
  /** As above, as plain arrays. */
  countStream(
    texts: Source<Text>,
    options: CountOptions & RunOptions & BatchSizeOptions & { as: 'array' },
  ): AsyncGenerator<number[], void>

  /**
   * The ids of a conversation, as `apply_chat_template` of Python's transformers returns them: a
   * Jinja template renders it to text, whose special tokens are parsed and to which nothing is
   * added. Other than in transformers, special tokens in messages, tools, documents and variables
   * are text; `content: 'parse'` parses them.
   *
   * `o200k_harmony` (gpt-oss) needs no template: messages of chat completions become the text of
   * the template that OpenAI published with gpt-oss, with its variables `model_identity`,
   * `reasoning_effort`, `builtin_tools` and `strftime_now`; messages with a `channel`, or other
   * fields of OpenAI's library openai-harmony, become the text of that library.
   *
   * Throws an `Error`: `ERR_TOKENLANE_CHAT_TEMPLATE_MISSING` without a template, as for the other
   * encodings of OpenAI; `ERR_TOKENLANE_CHAT_REFUSED` if the template rejects the messages or the
   * last message cannot be continued; `ERR_TOKENLANE_CHAT_TEMPLATE` for a template that is faulty
   * or uses an unsupported feature; `ERR_TOKENLANE_CHAT_LIMIT` for a template that takes more work,
   * memory or output than {@link limits} allow (the error's `limit` names the option, `allowed` is
   * its value), has more than 524,288 characters or is nested too deeply.
   *
   * ```js
   * const messages = [{ role: 'user', content: 'Hello!' }]
   * const { ids } = tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true })
   * ```
   */
  applyChatTemplate(
    messages: readonly ChatEntry[],
    options: ChatIdsOptions & { returnAssistantMask: true | object },
  ): ChatEncoding
  /** As above, without masks. */
  applyChatTemplate(messages: readonly ChatEntry[], options?: ChatIdsOptions): Encoding
  /** The same, but returns the text in pieces, which say where they come from. */
  applyChatTemplate(messages: readonly ChatEntry[], options: ChatTextOptions & { pieces: true }): ChatPiece[]
  /** The same, but returns the text instead of its ids. */
  applyChatTemplate(messages: readonly ChatEntry[], options: ChatTextOptions): string
  /**
   * The number of ids that {@link applyChatTemplate} returns; throws the same errors.
   *
   * For `cl100k_base` and `o200k_base`: the number of tokens of a chat completion, including the
   * first three of the answer, by the rules that OpenAI documents for messages, simple functions
   * and images. The options are `tools`, `model` and `imageSize` then; `addGenerationPrompt: true`
   * and `content: 'text'` hold always, and other values are refused. What OpenAI does not document,
   * such as calls of tools, is `ERR_TOKENLANE_CHAT_UNDOCUMENTED` with its place; `countRequest` of
   * `@tokenlane/requests` estimates it. An image whose size is not known is
   * `ERR_TOKENLANE_CHAT_IMAGE_SIZE`.
   */
  countChat(messages: readonly ChatEntry[], options?: CountChatOptions): number

  /**
   * The text of ids. Bytes that are not UTF-8, such as half a character, become U+FFFD.
   *
   * Throws a `RangeError` for a number that is not an id (`ERR_TOKENLANE_ARGUMENT_VALUE`). An
   * unknown id is a `RangeError` for a rank file (`ERR_TOKENLANE_UNKNOWN_ID`), as in tiktoken, and
   * is skipped for a tokenizer.json, as in tokenizers.
   */
  decode(ids: Ids, options?: DecodeOptions): string
  /** The bytes of ids, unchanged. Throws the errors of {@link decode}. */
  decodeBytes(ids: Ids, options?: DecodeOptions): Uint8Array
  /**
   * The text of each row. Runs like {@link encodeBatch}, rejects with the errors of {@link decode}.
   */
  decodeBatch(rows: Batch | readonly Ids[], options?: DecodeOptions & RunOptions): Promise<string[]>
  /**
   * The text of ids, and which part of it each id stands for. Throws the errors of {@link decode}.
   *
   * ```js
   * const { text, offsets } = tokenizer.decodeWithOffsets(ids)
   * text.slice(offsets[2 * i], offsets[2 * i + 1]) // the part of ids[i]
   * ```
   */
  decodeWithOffsets(ids: Ids, options?: DecodeOptions): DecodedWithOffsets
  /** A stream that decodes ids as they arrive, for the answer of a model. */
  decodeStream(options?: DecodeOptions): DecodeStream
  /**
   * The same for a source of ids: `for await (const text of tokenizer.decodeStream(answer)) …`. No
   * text is empty.
   */
  decodeStream(ids: Source<number | Ids>, options?: DecodeOptions & SignalOptions): AsyncGenerator<string, void>

  /**
   * The id of a token as the vocabulary writes it (`'Ġhello'` in a byte-level tokenizer.json), or
   * `undefined`.
   */
  tokenToId(token: string): number | undefined
  /** The token of an id as the vocabulary writes it, or `undefined`. */
  idToToken(id: number): string | undefined
  /** All ids with their tokens as the vocabulary writes them, in the order of the ids. */
  tokens(): Generator<[id: number, token: string], void>
  /** The special tokens with their ids. A new Map on each access. */
  get specialTokens(): Map<string, number>
  /**
   * The id of the token that begins a text, or `undefined`: `bos_token` of the class and the
   * configs in the folder. If neither names any token, the first special token of `<s>`, `<bos>`,
   * `<|begin_of_text|>`, `<|startoftext|>`.
   */
  get bosId(): number | undefined
  /** Like {@link bosId}, for the end: `</s>`, `<eos>`, `<|end_of_text|>`, `<|endoftext|>`. */
  get eosId(): number | undefined
  /**
   * Like {@link bosId}, for padding: the token of the file's own padding, `<pad>`, `[PAD]`,
   * `<|pad|>`.
   */
  get padId(): number | undefined
  /** The id of the token for text that the vocabulary cannot spell, or `undefined`. */
  get unkId(): number | undefined
  /** The number of ids that the model takes: `model_max_length` of the tokenizer_config.json. */
  get modelMaxLength(): number | undefined
  /** The largest id; `undefined` without tokens. Ids can have gaps: see {@link vocabSize}. */
  get maxId(): number | undefined
  /** Where the tokenizer was loaded from, and what it equals. A new object on each access. */
  get source(): TokenizerSource
  /** Memory of tables and word caches, and hits and misses of the caches. */
  stats(): TokenizerStats
  /**
   * The number of tokens. `addedTokens: false` counts the model's vocabulary only. Default: `true`.
   */
  vocabSize(options?: { addedTokens?: boolean | undefined }): number

  /**
   * A tokenizer like this one with the given changes; this one stays unchanged. It is fast and
   * small: both share vocabulary, merges and chat templates.
   *
   * Throws the errors of loading a tokenizer.json with these components. Of a tokenizer from ranks
   * only added tokens, the post-processor, truncation and padding can be changed
   * (`ERR_TOKENLANE_UNSUPPORTED`); load the result of {@link toBuffer} to change more.
   *
   * ```js
   * const addedTokens = [{ content: '<|user|>', special: true }]
   * tokenizer.with({ addedTokens, normalizer: { type: 'NFC' } })
   * ```
   */
  with(changes: Changes): Tokenizer

  /**
   * The bytes of a tokenizer.json that loads again with the same behaviour, here and in Hugging
   * Face's library: `fs.writeFile('tokenizer.json', tokenizer.toBuffer())`. The same tokenizer
   * gives the same bytes. It runs on this thread and takes some tenths of a second for 200,000
   * tokens. Chat templates are not part of the file.
   *
   * A tokenizer that was loaded from a tokenizer.json can always be saved. Ranks (an encoding, a
   * rank file, a tekken.json) become merges that give the same ids for every text. The format
   * cannot express the rest; after loading it again: special tokens are parsed by default; decoding
   * skips unknown ids; tokens are written in the printable characters of ByteLevel; special tokens
   * whose ids do not follow the ranks count as part of the vocabulary; and among overlapping
   * special tokens in a text, one that is to be ordinary text hides the others. Where ids or text
   * would differ, it throws `ERR_TOKENLANE_SAVE`: for a pattern that Oniguruma reads differently,
   * two special tokens with one id, a special token that equals another token, ranks without a
   * token for each byte.
   */
  toBuffer(): Uint8Array
  /**
   * The same as an object, so that `JSON.stringify(tokenizer)` is a tokenizer.json. Slower than
   * {@link toBuffer}.
   */
  toJSON(): TokenizerJson
}

/**
 * Decodes ids as they arrive; made by {@link Tokenizer.decodeStream}. Text is returned as soon as
 * it is certain, never half a character. The joined texts equal {@link Tokenizer.decode} of all
 * ids.
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
   * The text that becomes certain with one or more further ids; often `''`. Throws the errors of
   * {@link Tokenizer.decode}; the stream is then unchanged.
   */
  push(ids: number | Ids): string
  /** The rest of the text; an incomplete character becomes U+FFFD. Resets the stream. */
  end(): string
  /**
   * A WHATWG stream from ids to text:
   * `ids.pipeThrough(tokenizer.decodeStream().toTransformStream())`.
   */
  toTransformStream(): TransformStream<number | Ids, string>
}

/**
 * A text that changes, with its ids; made by {@link Tokenizer.live}. After any edits `ids()` equals
 * the ids of {@link Tokenizer.encode} of the whole text, without truncation and padding. Positions
 * are UTF-16 units, as in strings.
 *
 * An edit encodes the text between the nearest places that no token crosses, whatever is around
 * them: spaces between two letters, with the common tokenizers ({@link isIncremental}). In a text
 * without such places, an edit encodes all of it.
 */
export interface LiveText {
  /** Adds text at the end. */
  append(text: string): void
  /**
   * Replaces the text between two positions. Throws a `RangeError` (`ERR_TOKENLANE_ARGUMENT_VALUE`)
   * for positions that are not in the text, or not in order.
   */
  replace(start: number, end: number, text: string): void
  /** The number of ids, special tokens included. */
  count(): number
  /**
   * The number of tokens that start between two positions, without special tokens around the text.
   * The counts of adjacent ranges add up. Encodes the two chunks at its ends.
   */
  count(start: number, end: number): number
  /** A copy of all ids. */
  ids(): Uint32Array
  /** The length of the text. */
  get length(): number
  /** The text, joined on each access. */
  get text(): string
  /**
   * Whether this tokenizer proves places that no token crosses, so that edits encode only a part of
   * the text. True for the bundled encodings, for files with the patterns of GPT-2, GPT-4, Llama 3,
   * Qwen and DeepSeek, for BERT and T5, and for BPE of SentencePiece; false for other patterns and
   * normalizers, and for Unigram models of SentencePiece files. Each edit then encodes the whole.
   */
  get isIncremental(): boolean
}

/**
 * The encoding of one text. `ids` is available at once. Every other column has one entry per id and
 * is computed on first access by encoding the text again; the second access computes all numeric
 * columns.
 */
export class Encoding implements Iterable<number> {
  private constructor()

  /** The token ids. */
  readonly ids: Uint32Array
  /** The number of ids. */
  readonly length: number
  /**
   * Start and end of each id in the text, `[start0, end0, start1, …]`, in the requested unit;
   * `undefined` without one. They are those of the reference. In a SentencePiece model a piece ends
   * where the next one starts, so of several pieces of one character only the last has text.
   */
  readonly offsets: Uint32Array | undefined
  /** Each token as the vocabulary writes it. */
  readonly tokens: string[]
  /** 1 for tokens that the tokenizer added, 0 for tokens of the text. */
  readonly specialTokensMask: Uint8Array
  /** The type id of each token. */
  readonly typeIds: Uint32Array
  /** 1 for each token, 0 for padding. */
  readonly attentionMask: Uint8Array
  /** The index of the word that each token belongs to, -1 for none. */
  readonly wordIds: Int32Array
  /** 0 for tokens of the text, 1 for tokens of the pair, -1 for added tokens. */
  readonly sequenceIds: Int32Array
  /**
   * What truncation cut off, in parts with their own special tokens and padding. For a pair: every
   * combination of the parts of both texts. As in Hugging Face's library, a part may overflow
   * itself; its parts are in this list too.
   */
  readonly overflowing: readonly Encoding[]
  /** Which tokens belong to which text. If empty, all belong to the first. */
  readonly sequenceRanges: readonly SequenceRange[];

  /** The ids, in order. */
  [Symbol.iterator](): IterableIterator<number>

  /**
   * The ids as a plain array, so that `JSON.stringify(encoding)` has them. Throws a `RangeError`
   * (`ERR_TOKENLANE_BATCH_TOO_LARGE`) for more than 67,108,864.
   */
  toJSON(): {
    /** The ids. */
    ids: number[]
  }

  // Positions are in the unit of the offsets. The methods return `undefined` if there is no such
  // token, word or position. `sequence` is 0 for the text, the default, and 1 for the pair.

  /** The sequence of a token. */
  tokenToSequence(token: number): number | undefined
  /** The position of a token in its text. */
  tokenToChars(token: number): [start: number, end: number] | undefined
  /** The index of a token's word. */
  tokenToWord(token: number): number | undefined
  /** The tokens of a word: the first, and one past the last. */
  wordToTokens(word: number, sequence?: number): [start: number, end: number] | undefined
  /** The position of a word in its text. */
  wordToChars(word: number, sequence?: number): [start: number, end: number] | undefined
  /** The first token that covers a position of the text. */
  charToToken(place: number, sequence?: number): number | undefined
  /** The index of the word at a position of the text. */
  charToWord(place: number, sequence?: number): number | undefined
}

/** The encoding of a conversation with masks. */
export interface ChatEncoding extends Encoding {
  /** 1 for each token that the assistant writes, else 0. */
  readonly assistantMask: Uint8Array
  /**
   * The index of the message that each token came from; -1 for text of the template, tools,
   * documents and variables. A token with text of several messages has the index of the first.
   */
  readonly messageIds: Int32Array
}

/**
 * Rows of ids, end to end in one block of memory; each other column of numbers has a block of its
 * own. Blocks above 16 KiB lie outside V8's heap. Rows and `ids` are views of their block, which
 * lives as long as any of them: `batch.row(i).slice()` keeps one row without the others.
 * {@link dispose} frees all blocks at once; all views are empty afterwards.
 */
export class Batch implements Iterable<Uint32Array> {
  private constructor()

  /** The number of rows; 0 after {@link dispose}. */
  readonly length: number
  /** The ids of all rows, end to end. */
  readonly ids: Uint32Array
  /** The start of each row in `ids`, and the end of the last: `length + 1` numbers. */
  readonly rowOffsets: Uint32Array
  /**
   * Start and end of each id in its text, `[start0, end0, start1, …]`; `undefined` unless `offsets`
   * were requested.
   */
  readonly offsets: Uint32Array | undefined
  /**
   * The text of each row; `undefined` unless `overflow` was requested, because row `i` belongs to
   * text `i` then. The first row of a text is the part that truncation kept.
   */
  readonly rowTexts: Uint32Array | undefined
  /** The token of each id; this and the columns below are `undefined` unless requested. */
  readonly tokens: string[] | undefined
  /** 1 for tokens that the tokenizer added, padding included, 0 for tokens of the text. */
  readonly specialTokensMask: Uint8Array | undefined
  /** The type id of each id. */
  readonly typeIds: Uint32Array | undefined
  /** 1 for each id, 0 for padding. Always available. */
  readonly attentionMask: Uint8Array
  /** The index of the word that each id belongs to, -1 for none. */
  readonly wordIds: Int32Array | undefined
  /** 0 for ids of the text, 1 for ids of the pair, -1 for added ids. */
  readonly sequenceIds: Int32Array | undefined
  /**
   * All rows as a rectangle: of the ids, or of a requested column. Shorter rows are filled with
   * zeros on the right; use the option `padding` for anything else.
   */
  tensor<Type extends 'int64' | 'int32'>(type: Type, column?: 'ids' | Exclude<Column, 'tokens'>): TensorData<Type>
  /**
   * The ids of row `index`, from 0. Throws a `RangeError` (`ERR_TOKENLANE_ARGUMENT_VALUE`) if there
   * is no such row, an `Error` (`ERR_TOKENLANE_DISPOSED`) after {@link dispose}.
   */
  row(index: number): Uint32Array
  /** The `offsets` of one row. Throws the errors of {@link row}. */
  offsetsOf(index: number): Uint32Array | undefined
  /** The rows, in order. */
  [Symbol.iterator](): IterableIterator<Uint32Array>
  /**
   * Frees the memory now instead of at the next garbage collection. A second call has no effect.
   */
  dispose(): void
  /**
   * For each row a plain array of its ids, and of the values of each column that the call asked for
   * (`offsets`: pairs of start and end). Throws `ERR_TOKENLANE_DISPOSED` after {@link dispose}, and
   * a `RangeError` (`ERR_TOKENLANE_BATCH_TOO_LARGE`) for more than 67,108,864 ids.
   */
  toJSON(): {
    /** The ids of each row. */
    ids: number[][]
    /** The values of each row, for each column of the call. */
    [column: string]: unknown[][]
  }
  /**
   * Like {@link dispose}: `using batch = await …` disposes of the batch at the end of the block.
   */
  [Symbol.dispose](): void
}

/**
 * The name of the bundled encoding of a model of OpenAI: of a name, a dated name
 * (`'gpt-4o-2024-05-13'`), a fine-tuned one (`'ft:gpt-4o:organization::id'`), or one of a family
 * that OpenAI's tiktoken knows (`'gpt-5…'`). `'r50k_base'` for GPT-2, whose tokens are the same.
 *
 * Throws a `RangeError`, `ERR_TOKENLANE_UNKNOWN_MODEL`, for any other name.
 */
export function encodingForModel(name: ModelName | (string & {})): EncodingName

/** An error of this package, of any realm or copy of it. */
export interface TokenlaneError extends Error {
  /** Stable, for code that handles the error: {@link ErrorCodes} has the meaning of each. */
  code: keyof ErrorCodes
  /** The index of the text or pair of a batch that the error is about, if it is about one. */
  row?: number
  /** The message without place and advice, if it has them. */
  reason?: string
}

/**
 * Whether something that was caught is an error of this package: an `Error` whose `code` starts
 * with `ERR_TOKENLANE_`. False for the reason of an aborted signal. Never throws.
 */
export function isTokenlaneError(value: unknown): value is TokenlaneError

/** The names of the bundled encodings, for {@link Tokenizer.fromEncoding}. */
export function encodings(): EncodingName[]
