/**
 * The API of the npm package `tokenizers` 0.23 over tokenlane, for code that is written for it. docs/drop-ins.md says what is
 * different and what is not there: models other than BPE, and training, are an `Error` with the code
 * `ERR_TOKENLANE_UNSUPPORTED`.
 *
 * @module tokenlane/huggingface
 */

// Only what is marked as exported is.
export {}

/** A text. */
export type TextInputSequence = string
/** A text that is cut into words already. */
export type PreTokenizedInputSequence = string[]
/** A text, or with `isPretokenized` its words. */
export type InputSequence = TextInputSequence | PreTokenizedInputSequence
/** A text or two. */
export type EncodeInput = InputSequence | [InputSequence, InputSequence]

/** How texts are encoded. */
export interface EncodeOptions {
  /** The texts are arrays of words. Default `false`. */
  isPretokenized?: boolean
  /** Add what the tokenizer puts around a text. Default `true`. */
  addSpecialTokens?: boolean
}

/** Which text of a pair gets shorter. */
export const TruncationStrategy: {
  /** The longer one, then both. */
  LongestFirst: 'LongestFirst'
  /** The first one. */
  OnlyFirst: 'OnlyFirst'
  /** The second one. */
  OnlySecond: 'OnlySecond'
}
/** Which text of a pair gets shorter. */
export type TruncationStrategy = 'LongestFirst' | 'OnlyFirst' | 'OnlySecond'
/** From which end a text is cut. */
export const TruncationDirection: {
  /** Its end is kept. */
  Left: 'Left'
  /** Its start is kept. */
  Right: 'Right'
}
/** From which end a text is cut. */
export type TruncationDirection = 'Left' | 'Right'
/** On which side padding stands. */
export const PaddingDirection: {
  /** Before the text. */
  Left: 0
  /** Behind the text. */
  Right: 1
}
/** On which side padding stands. */
export type PaddingDirection = 0 | 1
/** What becomes of the text between words. */
export const JsSplitDelimiterBehavior: Record<SplitBehavior, SplitBehavior>
/** What becomes of the text between words: it goes, is a word, or is part of the word before or behind; `Contiguous`: it is a word, with what follows of its kind. */
export type SplitBehavior = 'Removed' | 'Isolated' | 'MergedWithPrevious' | 'MergedWithNext' | 'Contiguous'
export { TruncationDirection as JsTruncationDirection, TruncationStrategy as JsTruncationStrategy }

/** How {@link Tokenizer.setTruncation} cuts. */
export interface TruncationOptions {
  /** Not looked at. Default, always: the first argument of {@link Tokenizer.setTruncation}. */
  maxLength?: number
  /** Which text of a pair gets shorter. Default `'LongestFirst'`. */
  strategy?: TruncationStrategy
  /** From which end, `'left'` or `'right'`; anything else throws `ERR_TOKENLANE_ARGUMENT_VALUE`. Default `'right'`. */
  direction?: string
  /** How many tokens neighbouring parts have in common. Default 0. */
  stride?: number
}

/** How {@link Tokenizer.setPadding} and {@link Encoding.pad} fill up. */
export interface PaddingOptions {
  /** To how many tokens. Default those of the longest text of a batch. Of {@link Encoding.pad}: not looked at. */
  maxLength?: number
  /** On which side, `'left'` or `'right'`; anything else throws `ERR_TOKENLANE_ARGUMENT_VALUE`. Default `'right'`. */
  direction?: string | PaddingDirection
  /** The length is rounded up to a multiple of this. Default 1. Of {@link Encoding.pad}: not looked at. */
  padToMultipleOf?: number
  /** The id of the padding. Default 0. */
  padId?: number
  /** Its type id. Default 0. */
  padTypeId?: number
  /** Its token. Default `'[PAD]'`. */
  padToken?: string
}

/** How an {@link AddedToken} is found in a text. */
export interface AddedTokenOptions {
  /** Only where no letter or digit stands beside it. Default `false`. */
  singleWord?: boolean
  /** With the white space before it. Default `false`. */
  leftStrip?: boolean
  /** With the white space behind it. Default `false`. */
  rightStrip?: boolean
  /** In the normalized text. Default `true`, for special tokens `false`. */
  normalized?: boolean
}

/** A token that a tokenizer gets in addition to its own. */
export class AddedToken {
  /** Throws a `TypeError` (`ERR_TOKENLANE_ARGUMENT_TYPE`) if `token` is no string or `isSpecial` no boolean. */
  constructor(token: string, isSpecial: boolean, options?: AddedTokenOptions | null)
  /** Its text. */
  getContent(): string
}

/** A tokenizer.json, or one put together from its parts. */
export class Tokenizer {
  /** A tokenizer that has a model and nothing else. */
  constructor(model: Model)
  /** From the content of a tokenizer.json. Throws as the loaders of `tokenlane` do. */
  static fromString(s: string): Tokenizer
  /** From a tokenizer.json. Throws as the loaders of `tokenlane` do. */
  static fromFile(file: string): Tokenizer

  /** Encodes one text or two, on this thread; the promise is resolved at once. */
  encode(sentence: InputSequence, pair?: InputSequence | null, encodeOptions?: EncodeOptions | null): Promise<Encoding>
  /** Encodes many, on several threads. */
  encodeBatch(sentences: EncodeInput[], encodeOptions?: EncodeOptions | null): Promise<Encoding[]>
  /** The text of ids. Bytes that are no UTF-8 become U+FFFD. */
  decode(ids: number[], skipSpecialTokens: boolean): Promise<string>
  /** The text of each list of ids, on several threads. */
  decodeBatch(ids: number[][], skipSpecialTokens: boolean): Promise<string[]>

  /** Adds tokens that are not special. Gives how many of them were new. */
  addTokens(tokens: string[]): number
  /** Adds special tokens. */
  addSpecialTokens(tokens: string[]): void
  /** Adds tokens with their settings. Gives how many of them were new or had other settings. */
  addAddedTokens(tokens: AddedToken[]): number

  /** From now on encodings have at most `maxLength` tokens, special tokens included. */
  setTruncation(maxLength: number, options?: TruncationOptions | null): void
  /** Nothing is cut from now on. */
  disableTruncation(): void
  /** From now on encodings are filled up. */
  setPadding(options?: PaddingOptions | null): void
  /** Nothing is filled up from now on. */
  disablePadding(): void

  /** Takes another vocabulary and other merges. As slow as loading, the first time after a change. */
  setModel(model: Model): void
  /** Sets what a text goes through first. */
  setNormalizer(normalizer: Normalizer): void
  /** Sets what cuts a text into words. */
  setPreTokenizer(preTokenizer: PreTokenizer): void
  /** Sets what is put around a text. */
  setPostProcessor(postProcessor: Processor): void
  /** Sets what makes text of tokens. */
  setDecoder(decoder: Decoder): void
  /** What a text goes through first, if anything. */
  getNormalizer(): Normalizer | null
  /** What cuts a text into words, if anything. */
  getPreTokenizer(): PreTokenizer | null
  /** What is put around a text, if anything. */
  getPostProcessor(): Processor | null
  /** What makes text of tokens, if it is set. */
  getDecoder(): Decoder | null

  /** All tokens and their ids; with `false` without those beside the model's vocabulary. Default `true`. */
  getVocab(withAddedTokens?: boolean | null): Record<string, number>
  /** How many tokens there are; with `false` without those beside the model's vocabulary. Default `true`. */
  getVocabSize(withAddedTokens?: boolean | null): number
  /** The token of an id, as the vocabulary writes it. */
  idToToken(id: number): string | null
  /** The id of a token, as the vocabulary writes it. */
  tokenToId(token: string): number | null

  /** Truncates, joins and pads, as it was set. Throws `ERR_TOKENLANE_UNSUPPORTED` where there is a post-processor. */
  postProcess(encoding: Encoding, pair?: Encoding | null, addSpecialTokens?: boolean | null): Encoding
  /** Writes a tokenizer.json; `pretty` is for people to read. Default `false`. */
  save(path: string, pretty?: boolean | null): void
  /** How many batches run or wait. */
  runningTasks(): number
  /** Throws: tokenlane does not train. */
  train(files: string[]): never
}

/** What one text or two became. Offsets are in code points. */
export class Encoding {
  /** One without tokens, to be merged with others. */
  constructor()
  /** How many tokens there are. */
  getLength(): number
  /** How many texts there are: 1 or 2. */
  getNSequences(): number
  /** The token ids. */
  getIds(): number[]
  /** The type id of each token. */
  getTypeIds(): number[]
  /** 1 for each token, 0 for padding. */
  getAttentionMask(): number[]
  /** 1 for what the tokenizer added, 0 for what stands in the text. */
  getSpecialTokensMask(): number[]
  /** Each token as the vocabulary writes it. */
  getTokens(): string[]
  /** Where each token stands in its text, in code points; `[0, 0]` for what was added. */
  getOffsets(): [start: number, end: number][]
  /** The number of the word that each token is of; `null` for what was added. */
  getWordIds(): (number | null)[]
  /** 0 for tokens of the first text, 1 for those of the second; `null` for what was added. */
  getSequenceIds(): (number | null)[]
  /** What truncation cut off, in parts of the same length. */
  getOverflowing(): Encoding[]
  /** The token at a place of a text, in code points. `seqId` is 0, the default, or 1 for the second text. */
  charToToken(pos: number, seqId?: number | null): number | null
  /** The number of the word at a place of a text, in code points. */
  charToWord(pos: number, seqId?: number | null): number | null
  /** The tokens of a word: the first, and the one behind the last. */
  wordToTokens(word: number, seqId?: number | null): [number, number] | null
  /** Where a word stands in its text, in code points. */
  wordToChars(word: number, seqId?: number | null): [number, number] | null
  /** Where a token stands in its text, in code points. */
  tokenToChars(token: number): [number, number] | null
  /** The number of the word that a token is of. */
  tokenToWord(token: number): number | null
  /** The number of the text that a token is of, 0 or 1. */
  tokenToSequence(token: number): number | null
  /** Fills this encoding up. Throws `ERR_TOKENLANE_PADDING_TOO_LONG` for more than 4,194,304 tokens. */
  pad(length: number, options?: PaddingOptions | null): void
  /**
   * Cuts this encoding; what is cut off overflows. The direction is `'left'` unless it is given, as in the original. Default stride 0.
   * Throws `ERR_TOKENLANE_TRUNCATION_STRIDE` for a stride that is not less than the length, `ERR_TOKENLANE_ARGUMENT_VALUE` for a direction
   * that is neither `'left'` nor `'right'`.
   */
  truncate(length: number, stride?: number | null, direction?: string | null): void
}
export { Encoding as JsEncoding }

/** Encodings as one; with `growingOffsets` those of the second go on where the first ends. Default `false`. */
export function mergeEncodings(encodings: Encoding[], growingOffsets?: boolean | null): Encoding
/**
 * Code points `beginIndex` to `endIndex` of a text; negative ones count from its end. Default all of it. Throws
 * `ERR_TOKENLANE_ARGUMENT_VALUE` where there are none.
 */
export function slice(s: string, beginIndex?: number | null, endIndex?: number | null): string
/** The characters that ByteLevel writes bytes as. */
export function byteLevelAlphabet(): string[]

/** Vocabulary and merges. */
export class Model {
  protected constructor()
}

/** Settings of a {@link BPE}. */
export interface BpeOptions {
  /** Not looked at: the cache of words has a bound of its own, and changes no result. Default, always: that. */
  cacheCapacity?: number
  /** The probability with which a merge is passed over. Default 0. */
  dropout?: number
  /** The token for characters that have none. Default none: they are left out. */
  unkToken?: string
  /** What tokens start with that do not start a word. Default none. */
  continuingSubwordPrefix?: string
  /** What tokens end with that end a word. Default none. */
  endOfWordSuffix?: string
  /** Unknown tokens in a row become one. Default `false`. */
  fuseUnk?: boolean
  /** Characters that have no token become those of their bytes, `<0x00>` to `<0xFF>`. Default `false`. */
  byteFallback?: boolean
}

/** The one model that tokenlane has. */
export class BPE extends Model {
  /** One without tokens. */
  static empty(): BPE
  /** From tokens with their ids, and pairs of tokens that become one, the first of them first. */
  static init(vocab: Record<string, number>, merges: [string, string][], options?: BpeOptions | null): BPE
  /** From a vocab.json and a merges.txt. */
  static fromFile(vocab: string, merges: string, options?: BpeOptions | null): Promise<BPE>
}
export { BPE as Bpe }

/** Not there: every call throws `ERR_TOKENLANE_UNSUPPORTED`. */
declare class MissingModel extends Model {
  /** Throws `ERR_TOKENLANE_UNSUPPORTED`. */
  static empty(): never
  /** Throws `ERR_TOKENLANE_UNSUPPORTED`. */
  static init(...args: unknown[]): never
  /** Throws `ERR_TOKENLANE_UNSUPPORTED`. */
  static fromFile(...args: unknown[]): never
}
export { MissingModel as Unigram, MissingModel as WordLevel, MissingModel as WordPiece }

/** Not there: throws `ERR_TOKENLANE_UNSUPPORTED`. */
export class Trainer {}

/** What a text goes through first. Made by the functions below, or taken from a {@link Tokenizer}. */
export class Normalizer {
  private constructor()
  /** What becomes of a text. */
  normalizeString(sequence: string): string
}
/** What cuts a text into words. */
export class PreTokenizer {
  private constructor()
  /** The words, with their places in code points. */
  preTokenizeString(sequence: string): [word: string, place: [start: number, end: number]][]
}
/** What is put around a text. */
export class Processor {
  private constructor()
}
/** What makes text of tokens. */
export class Decoder {
  private constructor()
  /** The text of tokens. */
  decode(tokens: string[]): string
}

/** What {@link bertNormalizer} does. */
export interface BertNormalizerOptions {
  /** Take control characters out, and make all white space spaces. Default `true`. */
  cleanText?: boolean
  /** Put spaces around Chinese characters. Default `true`. */
  handleChineseChars?: boolean
  /** Take accents away. Default as `lowercase`. */
  stripAccents?: boolean
  /** Make all letters small. Default `true`. */
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
/** Takes white space away at the start and at the end. Default `true`, both. */
export function stripNormalizer(left?: boolean | null, right?: boolean | null): Normalizer
/** Puts something before a text. */
export function prependNormalizer(prepend: string): Normalizer
/** Takes accents away; wants form D or KD first. */
export function stripAccentsNormalizer(): Normalizer
/** Makes all letters small. */
export function lowercase(): Normalizer
/** The normalizer of Google's NMT: some control characters go, others become spaces. */
export function nmt(): Normalizer
/** Writes something else wherever a text stands; `pattern` is that text and no regular expression. */
export function replace(pattern: string, content: string): Normalizer
/** The character map of a SentencePiece model, as bytes. */
export function precompiled(bytes: number[]): Normalizer
/** One normalizer after the other. */
export function sequenceNormalizer(normalizers: Normalizer[]): Normalizer

/** Cuts at white space and around punctuation. */
export function bertPreTokenizer(): PreTokenizer
/** Cuts as GPT-2 does, and writes bytes as characters. Default a space before the text, and the regular expression. */
export function byteLevelPreTokenizer(addPrefixSpace?: boolean | null, useRegex?: boolean | null): PreTokenizer
/** Cuts at a character, which goes. */
export function charDelimiterSplit(delimiter: string): PreTokenizer
/** Cuts between digits and other characters; with `true` each digit is a word. Default `false`. */
export function digitsPreTokenizer(individualDigits?: boolean | null): PreTokenizer
/** Writes spaces as `replacement` and cuts there. Default `'▁'`, `'always'` one before the text, and cuts. */
export function metaspacePreTokenizer(
  replacement?: string | null,
  prependScheme?: 'always' | 'first' | 'never' | null,
  split?: boolean | null,
): PreTokenizer
/** Cuts around punctuation. Default `'isolated'`. */
export function punctuationPreTokenizer(behavior?: string | null): PreTokenizer
/** One after the other. */
export function sequencePreTokenizer(preTokenizers: PreTokenizer[]): PreTokenizer
/** Cuts where a text stands, which is no regular expression; with `invert` what is not that text. Default `false`. */
export function splitPreTokenizer(pattern: string, behavior: string, invert?: boolean | null): PreTokenizer
/** Words are letters, digits and underscores in a row, or other characters in a row; white space goes. */
export function whitespacePreTokenizer(): PreTokenizer
/** Cuts at white space, which goes. */
export function whitespaceSplitPreTokenizer(): PreTokenizer

/** `[CLS] text [SEP]`; each token with its id. */
export function bertProcessing(sep: [string, number], cls: [string, number]): Processor
/** Takes spaces out of offsets. Default `true`. */
export function byteLevelProcessing(trimOffsets?: boolean | null): Processor
/** `<s> text </s>`; each token with its id. Default spaces are taken out of offsets, and one stands before the text. */
export function robertaProcessing(
  sep: [string, number],
  cls: [string, number],
  trimOffsets?: boolean | null,
  addPrefixSpace?: boolean | null,
): Processor
/** One after the other. */
export function sequenceProcessing(processors: Processor[]): Processor
/**
 * Templates such as `'[CLS] $A [SEP] $B:1 [SEP]:1'`, and the ids of the special tokens in them. Default for a pair `'$A:0 $B:1'`. Throws
 * `ERR_TOKENLANE_TEMPLATE` for one that cannot be read, or a special token without its id.
 */
export function templateProcessing(
  single: string,
  pair?: string | null,
  specialTokens?: [string, number][] | null,
): Processor

/** A suffix becomes a space. Default `'</w>'`. */
export function bpeDecoder(suffix?: string | null): Decoder
/** `<0x00>` to `<0xFF>` become the bytes. */
export function byteFallbackDecoder(): Decoder
/** What a model of speech gives: the same token in a row is one. Default `'<pad>'`, `'|'`, and spaces before punctuation go. */
export function ctcDecoder(padToken?: string, wordDelimiterToken?: string | null, cleanup?: boolean | null): Decoder
/** All tokens become one. */
export function fuseDecoder(): Decoder
/** `replacement` becomes a space. Default as of {@link metaspacePreTokenizer}. */
export function metaspaceDecoder(
  replacement?: string | null,
  prependScheme?: 'always' | 'first' | 'never' | null,
  split?: boolean | null,
): Decoder
/** Writes something else wherever a text stands. */
export function replaceDecoder(pattern: string, content: string): Decoder
/** One after the other. */
export function sequenceDecoder(decoders: Decoder[]): Decoder
/** Takes a character away at the start and at the end of tokens, at most so many times. */
export function stripDecoder(content: string, left: number, right: number): Decoder
/** A token starts a new word unless it has the prefix. Default `'##'`, and spaces before punctuation go. */
export function wordPieceDecoder(prefix?: string, cleanup?: boolean): Decoder
