/**
 * The API of the npm package `tokenizers` 0.23, implemented with tokenlane, for code that is
 * written for that package. docs/drop-ins.md lists the differences. Training throws an `Error` with
 * the code `ERR_TOKENLANE_UNSUPPORTED`.
 *
 * @module @tokenlane/tokenizers
 */

// Without this line every declaration of this file would be exported.
export {}

/** A text. */
export type TextInputSequence = string
/** A text that is already split into words. */
export type PreTokenizedInputSequence = string[]
/** A text, or with `isPretokenized` an array of its words. */
export type InputSequence = TextInputSequence | PreTokenizedInputSequence
/** One text, or a pair of texts. */
export type EncodeInput = InputSequence | [InputSequence, InputSequence]

/** Options of {@link Tokenizer.encode} and {@link Tokenizer.encodeBatch}. */
export interface EncodeOptions {
  /** Accept arrays of words in place of texts. Default: `false`. */
  isPretokenized?: boolean
  /** Add the special tokens of the post-processor, such as `[CLS]`. Default: `true`. */
  addSpecialTokens?: boolean
}

/** Selects the text of a pair that is truncated. */
export const TruncationStrategy: {
  /** Truncate the longer text first, then both. */
  LongestFirst: 'LongestFirst'
  /** Truncate only the first text. */
  OnlyFirst: 'OnlyFirst'
  /** Truncate only the second text. */
  OnlySecond: 'OnlySecond'
}
/** Selects the text of a pair that is truncated. */
export type TruncationStrategy = 'LongestFirst' | 'OnlyFirst' | 'OnlySecond'
/** The side at which tokens are removed. */
export const TruncationDirection: {
  /** Remove tokens at the start; keep the end. */
  Left: 'Left'
  /** Remove tokens at the end; keep the start. */
  Right: 'Right'
}
/** The side at which tokens are removed. */
export type TruncationDirection = 'Left' | 'Right'
/** The side at which padding is added. */
export const PaddingDirection: {
  /** Padding precedes the text. */
  Left: 0
  /** Padding follows the text. */
  Right: 1
}
/** The side at which padding is added. */
export type PaddingDirection = 0 | 1
/** The values of {@link SplitBehavior}. */
export const JsSplitDelimiterBehavior: Record<SplitBehavior, SplitBehavior>
/** How a splitter treats what it matched. */
export type JsSplitDelimiterBehavior = SplitBehavior

/** Arguments that no call has, as in the original. */
export interface JsFromPretrainedParameters {
  /** The version of a repository. Default: none. */
  revision?: string
  /** The token of an account. Default: none. */
  authToken?: string
}
/**
 * Handling of a delimiter. `Removed`: dropped. `Isolated`: a word of its own. `MergedWithPrevious`
 * and `MergedWithNext`: appended to the previous word, or prepended to the next. `Contiguous`:
 * adjacent delimiters form one word.
 */
export type SplitBehavior = 'Removed' | 'Isolated' | 'MergedWithPrevious' | 'MergedWithNext' | 'Contiguous'
export { TruncationDirection as JsTruncationDirection, TruncationStrategy as JsTruncationStrategy }

/** Options of {@link Tokenizer.setTruncation}. */
export interface TruncationOptions {
  /**
   * Ignored, as in the original. Default: the first argument of {@link Tokenizer.setTruncation}.
   */
  maxLength?: number
  /** The text of a pair that is truncated. Default: `'LongestFirst'`. */
  strategy?: TruncationStrategy
  /**
   * The side at which tokens are removed, `'left'` or `'right'`. Other values throw
   * `ERR_TOKENLANE_ARGUMENT_VALUE`. Default: `'right'`.
   */
  direction?: string
  /** The number of tokens that adjacent parts share. Default: 0. */
  stride?: number
}

/** Options of {@link Tokenizer.setPadding} and {@link Encoding.pad}. */
export interface PaddingOptions {
  /**
   * The padded length, in tokens. {@link Encoding.pad} ignores it. Default: the length of the
   * longest row of a batch.
   */
  maxLength?: number
  /**
   * The side at which padding is added, `'left'` or `'right'`. Other values throw
   * `ERR_TOKENLANE_ARGUMENT_VALUE`. Default: `'right'`.
   */
  direction?: string | PaddingDirection
  /** Round the length up to a multiple of this. {@link Encoding.pad} ignores it. Default: 1. */
  padToMultipleOf?: number
  /** The id of the padding token. Default: 0. */
  padId?: number
  /** The type id of the padding token. Default: 0. */
  padTypeId?: number
  /** The text of the padding token. Default: `'[PAD]'`. */
  padToken?: string
}

/** Matching options of an {@link AddedToken}. */
export interface AddedTokenOptions {
  /** Match only if no letter or digit is adjacent to the match. Default: `false`. */
  singleWord?: boolean
  /** Include white space before the match. Default: `false`. */
  leftStrip?: boolean
  /** Include white space after the match. Default: `false`. */
  rightStrip?: boolean
  /** Match in the normalized text. Default: `true`, for special tokens `false`. */
  normalized?: boolean
}

/** A token that can be added to a tokenizer with {@link Tokenizer.addAddedTokens}. */
export class AddedToken {
  /**
   * Throws a `TypeError` (`ERR_TOKENLANE_ARGUMENT_TYPE`) if `token` is not a string or `isSpecial`
   * is not a boolean.
   */
  constructor(token: string, isSpecial: boolean, options?: AddedTokenOptions | null)
  /** Returns the text of the token. */
  getContent(): string
}

/** A tokenizer, loaded from a tokenizer.json or assembled from components. */
export class Tokenizer {
  /** Creates a tokenizer that has only a model. */
  constructor(model: Model)
  /** Loads the content of a tokenizer.json. Throws the errors of `Tokenizer.fromBufferSync`. */
  static fromString(s: string): Tokenizer
  /** Loads a tokenizer.json file. Throws the errors of `Tokenizer.fromFileSync`. */
  static fromFile(file: string): Tokenizer

  /**
   * Encodes one text or a pair. The work is done synchronously on the calling thread, because a
   * queue costs more than one text; the returned promise is already resolved.
   */
  encode(sentence: InputSequence, pair?: InputSequence | null, encodeOptions?: EncodeOptions | null): Promise<Encoding>
  /** Encodes many texts or pairs on background threads. */
  encodeBatch(sentences: EncodeInput[], encodeOptions?: EncodeOptions | null): Promise<Encoding[]>
  /** Returns the text of ids. Invalid UTF-8 becomes U+FFFD. */
  decode(ids: number[], skipSpecialTokens: boolean): Promise<string>
  /** Returns the text of each list of ids, decoded on background threads. */
  decodeBatch(ids: number[][], skipSpecialTokens: boolean): Promise<string[]>

  /** Adds tokens that are not special. Returns the number of new tokens. */
  addTokens(tokens: string[]): number
  /** Adds special tokens. */
  addSpecialTokens(tokens: string[]): void
  /** Adds tokens with options. Returns the number of tokens that are new or have other options. */
  addAddedTokens(tokens: AddedToken[]): number

  /** Truncates later encodings to at most `maxLength` tokens, special tokens included. */
  setTruncation(maxLength: number, options?: TruncationOptions | null): void
  /** Disables truncation for later encodings. */
  disableTruncation(): void
  /** Pads later encodings. */
  setPadding(options?: PaddingOptions | null): void
  /** Disables padding for later encodings. */
  disablePadding(): void

  /** Replaces the vocabulary and the merges. Takes as long as loading a tokenizer.json. */
  setModel(model: Model): void
  /** Sets the normalizer. */
  setNormalizer(normalizer: Normalizer): void
  /** Sets the pre-tokenizer. */
  setPreTokenizer(preTokenizer: PreTokenizer): void
  /** Sets the post-processor. */
  setPostProcessor(postProcessor: Processor): void
  /** Sets the decoder. */
  setDecoder(decoder: Decoder): void
  /** Returns the normalizer, or `null`. */
  getNormalizer(): Normalizer | null
  /** Returns the pre-tokenizer, or `null`. */
  getPreTokenizer(): PreTokenizer | null
  /** Returns the post-processor, or `null`. */
  getPostProcessor(): Processor | null
  /** Returns the decoder, or `null`. */
  getDecoder(): Decoder | null

  /**
   * Returns all tokens and their ids.
   *
   * @param withAddedTokens include added tokens. Default: `true`
   */
  getVocab(withAddedTokens?: boolean | null): Record<string, number>
  /**
   * Returns the number of tokens.
   *
   * @param withAddedTokens include added tokens. Default: `true`
   */
  getVocabSize(withAddedTokens?: boolean | null): number
  /** Returns the token of an id in the vocabulary's spelling, or `null`. */
  idToToken(id: number): string | null
  /** Returns the id of a token in the vocabulary's spelling, or `null`. */
  tokenToId(token: string): number | null

  /**
   * Truncates, merges and pads one or two encodings with the tokenizer's settings. Throws
   * `ERR_TOKENLANE_UNSUPPORTED` if the tokenizer has a post-processor.
   */
  postProcess(encoding: Encoding, pair?: Encoding | null, addSpecialTokens?: boolean | null): Encoding
  /**
   * Writes a tokenizer.json.
   *
   * @param pretty indent the JSON. Default: `false`
   */
  save(path: string, pretty?: boolean | null): void
  /** Returns the number of batch calls that run or wait. */
  runningTasks(): number
  /**
   * Trains the model on the lines of files, with its default trainer: 30,000 tokens, 8,000 for
   * Unigram, and no special tokens. Runs on the calling thread; `trainTokenizer` of
   * `@tokenlane/corpus` has all options and does not block.
   */
  train(files: string[]): void
}

/** The tokens of one text or a pair. Offsets are in code points. */
export class Encoding {
  /** Creates an empty encoding, for merging. */
  constructor()
  /** Returns the number of tokens. */
  getLength(): number
  /** Returns the number of texts: 1 or 2. */
  getNSequences(): number
  /** Returns the id of each token. */
  getIds(): number[]
  /** Returns the type id of each token. */
  getTypeIds(): number[]
  /** Returns 0 for padding and 1 for every other token. */
  getAttentionMask(): number[]
  /** Returns 1 for tokens that the tokenizer added, and 0 for tokens of the text. */
  getSpecialTokensMask(): number[]
  /** Returns each token in the vocabulary's spelling. */
  getTokens(): string[]
  /**
   * Returns the start and the end (exclusive) of each token in its text, in code points; `[0, 0]`
   * for tokens that the tokenizer added.
   */
  getOffsets(): [start: number, end: number][]
  /** Returns the index of each token's word; `null` for tokens that the tokenizer added. */
  getWordIds(): (number | null)[]
  /**
   * Returns 0 for tokens of the first text, 1 for tokens of the second, and `null` for tokens that
   * the tokenizer added.
   */
  getSequenceIds(): (number | null)[]
  /** Returns the parts that truncation removed, each at most as long as this encoding. */
  getOverflowing(): Encoding[]
  /**
   * Returns the index of the token at a code point, or `null`.
   *
   * @param seqId the text: 0, the default, or 1 for the second text of a pair
   */
  charToToken(pos: number, seqId?: number | null): number | null
  /** Returns the index of the word at a code point, or `null`. */
  charToWord(pos: number, seqId?: number | null): number | null
  /** Returns the token range of a word (end exclusive), or `null`. */
  wordToTokens(word: number, seqId?: number | null): [number, number] | null
  /** Returns the offsets of a word in its text, in code points, or `null`. */
  wordToChars(word: number, seqId?: number | null): [number, number] | null
  /** Returns the offsets of a token in its text, in code points, or `null`. */
  tokenToChars(token: number): [number, number] | null
  /** Returns the index of a token's word, or `null`. */
  tokenToWord(token: number): number | null
  /** Returns the index of a token's text, 0 or 1, or `null`. */
  tokenToSequence(token: number): number | null
  /**
   * Pads this encoding to `length` tokens. Throws `ERR_TOKENLANE_PADDING_TOO_LONG` for more than
   * 4,194,304 tokens.
   */
  pad(length: number, options?: PaddingOptions | null): void
  /**
   * Truncates this encoding to `length` tokens. The removed tokens become overflowing parts. Throws
   * `ERR_TOKENLANE_TRUNCATION_STRIDE` if the stride is not less than the length, and
   * `ERR_TOKENLANE_ARGUMENT_VALUE` for a direction other than `'left'` and `'right'`.
   *
   * @param stride the number of tokens that adjacent parts share. Default: 0
   * @param direction the side at which tokens are removed. Default: `'left'`, as in the original
   */
  truncate(length: number, stride?: number | null, direction?: string | null): void
}
export { Encoding as JsEncoding }

/**
 * Concatenates encodings.
 *
 * @param growingOffsets shift the offsets of each encoding by the end of the previous one. Default:
 *   `false`
 */
export function mergeEncodings(encodings: Encoding[], growingOffsets?: boolean | null): Encoding
/**
 * Returns the code points from `beginIndex` to `endIndex` (exclusive). Negative indices count from
 * the end. Default: the whole text. Throws `ERR_TOKENLANE_ARGUMENT_VALUE` if the range is empty or
 * outside of the text.
 */
export function slice(s: string, beginIndex?: number | null, endIndex?: number | null): string
/** Returns the characters to which ByteLevel maps the bytes 0 to 255. */
export function byteLevelAlphabet(): string[]

/** A model: vocabulary and merges. */
export class Model {
  protected constructor()
}

/** Options of a {@link BPE} model. */
export interface BpeOptions {
  /** Ignored: tokenlane's word cache has a fixed size and changes no result. Default: that size. */
  cacheCapacity?: number
  /** The probability with which a merge is skipped. Default: 0. */
  dropout?: number
  /** The token for unknown characters. Default: none, unknown characters produce no token. */
  unkToken?: string
  /** The prefix of tokens that do not start a word, such as `##`. Default: none. */
  continuingSubwordPrefix?: string
  /** The suffix of tokens that end a word, such as `</w>`. Default: none. */
  endOfWordSuffix?: string
  /** Fuse adjacent unknown tokens to one. Default: `false`. */
  fuseUnk?: boolean
  /** Encode unknown characters as byte tokens, `<0x00>` to `<0xFF>`. Default: `false`. */
  byteFallback?: boolean
}

/** Byte pair encoding. */
export class BPE extends Model {
  /** Creates a model with an empty vocabulary. */
  static empty(): BPE
  /** Creates a model from a vocabulary (token to id) and merges, in the order of their ranks. */
  static init(vocab: Record<string, number>, merges: [string, string][], options?: BpeOptions | null): BPE
  /** Loads a model from a vocab.json and a merges.txt. */
  static fromFile(vocab: string, merges: string, options?: BpeOptions | null): Promise<BPE>
}
export { BPE as Bpe }

/** Options of a {@link WordPiece} model. */
export interface WordPieceOptions {
  /** The token for words that cannot be split into tokens. Default: `[UNK]`. */
  unkToken?: string
  /** The prefix of tokens that do not start a word. Default: `##`. */
  continuingSubwordPrefix?: string
  /** Words of more code points are unknown. Default: 100. */
  maxInputCharsPerWord?: number
}

/** WordPiece, the model of BERT: greedy longest match from the start of a word. */
export class WordPiece extends Model {
  /** Creates a model with an empty vocabulary. */
  static empty(): WordPiece
  /** Creates a model from a vocabulary (token to id). */
  static init(vocab: Record<string, number>, options?: WordPieceOptions | null): WordPiece
  /** Loads a model from a vocab.txt: one token per line; the number of the line is the id. */
  static fromFile(vocab: string, options?: WordPieceOptions | null): Promise<WordPiece>
}

/** Options of a {@link WordLevel} model. */
export interface WordLevelOptions {
  /** The token for words that are not tokens. Default: `<unk>`. */
  unkToken?: string
}

/** WordLevel: each word is one token. */
export class WordLevel extends Model {
  /** Creates a model with an empty vocabulary. */
  static empty(): WordLevel
  /** Creates a model from a vocabulary (token to id). */
  static init(vocab: Record<string, number>, options?: WordLevelOptions | null): WordLevel
  /** Loads a model from a vocab.json. */
  static fromFile(vocab: string, options?: WordLevelOptions | null): Promise<WordLevel>
}

/** Options of a {@link Unigram} model. */
export interface UnigramOptions {
  /** The id of the unknown token. Default: none, text that no piece covers is an error. */
  unkId?: number
  /** Encode unknown text as byte tokens, `<0x00>` to `<0xFF>`. Default: `false`. */
  byteFallback?: boolean
}

/** Unigram, a model of SentencePiece: the pieces with the greatest sum of scores. */
export class Unigram extends Model {
  /** Creates a model that has only `<unk>`. */
  static empty(): Unigram
  /** Creates a model from pieces with their scores. The id of a piece is its index. */
  static init(vocab: [string, number][], options?: UnigramOptions | null): Unigram
}

/**
 * Cannot be made, as in the original: {@link Tokenizer.train} uses the default trainer of the
 * model.
 */
export class Trainer {}

/** A normalizer, created by one of the functions below or returned by a {@link Tokenizer}. */
export class Normalizer {
  private constructor()
  /** Returns the normalized text. */
  normalizeString(sequence: string): string
}
/** A pre-tokenizer: splits a text into words. */
export class PreTokenizer {
  private constructor()
  /** Returns the words with their offsets, in code points. */
  preTokenizeString(sequence: string): [word: string, place: [start: number, end: number]][]
}
/** A post-processor: adds special tokens around a text. */
export class Processor {
  private constructor()
}
/** A decoder: converts tokens to text. */
export class Decoder {
  private constructor()
  /** Returns the text of tokens. */
  decode(tokens: string[]): string
}

/** Options of {@link bertNormalizer}. */
export interface BertNormalizerOptions {
  /** Remove control characters and replace white space by spaces. Default: `true`. */
  cleanText?: boolean
  /** Insert spaces around Chinese characters. Default: `true`. */
  handleChineseChars?: boolean
  /** Remove accents. Default: the value of `lowercase`. */
  stripAccents?: boolean
  /** Convert to lower case. Default: `true`. */
  lowercase?: boolean
}
/** The normalizer of BERT. */
export function bertNormalizer(options?: BertNormalizerOptions | null): Normalizer
/** Unicode normalization form C. */
export function nfcNormalizer(): Normalizer
/** Unicode normalization form D. */
export function nfdNormalizer(): Normalizer
/** Unicode normalization form KC. */
export function nfkcNormalizer(): Normalizer
/** Unicode normalization form KD. */
export function nfkdNormalizer(): Normalizer
/** Removes white space at the start and at the end. Default: `true` for both. */
export function stripNormalizer(left?: boolean | null, right?: boolean | null): Normalizer
/** Prepends a string to each text. */
export function prependNormalizer(prepend: string): Normalizer
/** Removes combining marks. Needs a text in normalization form D or KD. */
export function stripAccentsNormalizer(): Normalizer
/** Converts to lower case. */
export function lowercase(): Normalizer
/**
 * The normalizer of Google's NMT: removes some control characters, and replaces others by spaces.
 */
export function nmt(): Normalizer
/** Replaces every occurrence of `pattern`, which is a plain string and not a regular expression. */
export function replace(pattern: string, content: string): Normalizer
/** Applies the precompiled character map of a SentencePiece model. */
export function precompiled(bytes: number[]): Normalizer
/** Applies normalizers in order. */
export function sequenceNormalizer(normalizers: Normalizer[]): Normalizer

/** Splits at white space, and isolates punctuation. */
export function bertPreTokenizer(): PreTokenizer
/**
 * Splits with GPT-2's regular expression, and maps bytes to characters.
 *
 * @param addPrefixSpace insert a space before the text. Default: `true`
 * @param useRegex split with the regular expression. Default: `true`
 */
export function byteLevelPreTokenizer(addPrefixSpace?: boolean | null, useRegex?: boolean | null): PreTokenizer
/** Splits at a character, and removes it. */
export function charDelimiterSplit(delimiter: string): PreTokenizer
/**
 * Splits between digits and other characters.
 *
 * @param individualDigits make each digit a word. Default: `false`
 */
export function digitsPreTokenizer(individualDigits?: boolean | null): PreTokenizer
/**
 * Replaces spaces by `replacement`, and splits before it.
 *
 * @param replacement one character. Default: `'▁'`
 * @param prependScheme when to insert `replacement` before the text. Default: `'always'`
 * @param split split the text. Default: `true`
 */
export function metaspacePreTokenizer(
  replacement?: string | null,
  prependScheme?: 'always' | 'first' | 'never' | null,
  split?: boolean | null,
): PreTokenizer
/**
 * Splits at punctuation.
 *
 * @param behavior handling of the punctuation. Default: `'isolated'`
 */
export function punctuationPreTokenizer(behavior?: string | null): PreTokenizer
/** Applies pre-tokenizers in order. */
export function sequencePreTokenizer(preTokenizers: PreTokenizer[]): PreTokenizer
/**
 * Splits at every occurrence of `pattern`, which is a plain string and not a regular expression.
 *
 * @param invert treat the text between the occurrences as delimiters. Default: `false`
 */
export function splitPreTokenizer(pattern: string, behavior: string, invert?: boolean | null): PreTokenizer
/** Splits with `\w+|[^\w\s]+`, and removes white space. */
export function whitespacePreTokenizer(): PreTokenizer
/** Splits at white space, and removes it. */
export function whitespaceSplitPreTokenizer(): PreTokenizer

/** Produces `[CLS] text [SEP]`. The arguments are pairs of token and id. */
export function bertProcessing(sep: [string, number], cls: [string, number]): Processor
/**
 * Adjusts offsets; adds no tokens.
 *
 * @param trimOffsets exclude white space from the offsets of a token. Default: `true`
 */
export function byteLevelProcessing(trimOffsets?: boolean | null): Processor
/**
 * Produces `<s> text </s>`. `sep` and `cls` are pairs of token and id.
 *
 * @param trimOffsets exclude white space from the offsets of a token. Default: `true`
 * @param addPrefixSpace whether the pre-tokenizer inserts a space before the text. Default: `true`
 */
export function robertaProcessing(
  sep: [string, number],
  cls: [string, number],
  trimOffsets?: boolean | null,
  addPrefixSpace?: boolean | null,
): Processor
/** Applies post-processors in order. */
export function sequenceProcessing(processors: Processor[]): Processor
/**
 * Adds special tokens by templates such as `'[CLS] $A [SEP] $B:1 [SEP]:1'`. Throws
 * `ERR_TOKENLANE_TEMPLATE` for an invalid template, or for a special token without an id.
 *
 * @param pair the template for two texts. Default: `'$A:0 $B:1'`
 * @param specialTokens the special tokens of the templates, as pairs of token and id. Default: none
 */
export function templateProcessing(
  single: string,
  pair?: string | null,
  specialTokens?: [string, number][] | null,
): Processor

/** Replaces the suffix of tokens by a space. Default: `'</w>'`. */
export function bpeDecoder(suffix?: string | null): Decoder
/** Converts the tokens `<0x00>` to `<0xFF>` to bytes. */
export function byteFallbackDecoder(): Decoder
/**
 * Decodes the output of a CTC speech model: collapses repeated tokens and removes padding.
 *
 * @param padToken the padding token. Default: `'<pad>'`
 * @param wordDelimiterToken the token that becomes a space. Default: `'|'`
 * @param cleanup remove spaces before punctuation. Default: `true`
 */
export function ctcDecoder(padToken?: string, wordDelimiterToken?: string | null, cleanup?: boolean | null): Decoder
/** Joins all tokens to one. */
export function fuseDecoder(): Decoder
/** Replaces `replacement` by a space. Defaults: those of {@link metaspacePreTokenizer}. */
export function metaspaceDecoder(
  replacement?: string | null,
  prependScheme?: 'always' | 'first' | 'never' | null,
  split?: boolean | null,
): Decoder
/** Replaces every occurrence of a string. */
export function replaceDecoder(pattern: string, content: string): Decoder
/** Applies decoders in order. */
export function sequenceDecoder(decoders: Decoder[]): Decoder
/**
 * Removes a character from the start (at most `left` times) and the end (at most `right` times) of
 * tokens.
 */
export function stripDecoder(content: string, left: number, right: number): Decoder
/**
 * Joins WordPiece tokens. A token without the prefix starts a new word.
 *
 * @param prefix the prefix of tokens that continue a word. Default: `'##'`
 * @param cleanup remove spaces before punctuation. Default: `true`
 */
export function wordPieceDecoder(prefix?: string, cleanup?: boolean): Decoder
