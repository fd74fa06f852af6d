/**
 * The API of the npm package `tokenizers` 0.23 over tokenlane, for code that is written for it. docs/drop-ins.md says what is
 * different and what is not there: models other than BPE, and training, are an `Error` with the code
 * `ERR_TOKENLANE_UNSUPPORTED`.
 */

// Only what is marked as exported is.
export {}

export type TextInputSequence = string
export type PreTokenizedInputSequence = string[]
/** A text, or with `isPretokenized` its words. */
export type InputSequence = TextInputSequence | PreTokenizedInputSequence
/** A text or two. */
export type EncodeInput = InputSequence | [InputSequence, InputSequence]

export interface EncodeOptions {
  /** The texts are arrays of words. Default `false`. */
  isPretokenized?: boolean
  /** Add what the tokenizer puts around a text. Default `true`. */
  addSpecialTokens?: boolean
}

export const TruncationStrategy: { LongestFirst: 'LongestFirst'; OnlyFirst: 'OnlyFirst'; OnlySecond: 'OnlySecond' }
export type TruncationStrategy = 'LongestFirst' | 'OnlyFirst' | 'OnlySecond'
export const TruncationDirection: { Left: 'Left'; Right: 'Right' }
export type TruncationDirection = 'Left' | 'Right'
export const PaddingDirection: { Left: 0; Right: 1 }
export type PaddingDirection = 0 | 1
export const JsSplitDelimiterBehavior: Record<SplitBehavior, SplitBehavior>
export type SplitBehavior = 'Removed' | 'Isolated' | 'MergedWithPrevious' | 'MergedWithNext' | 'Contiguous'
export { TruncationDirection as JsTruncationDirection, TruncationStrategy as JsTruncationStrategy }

export interface TruncationOptions {
  maxLength?: number
  /** Default `'LongestFirst'`. */
  strategy?: TruncationStrategy
  /** Default `'right'`. */
  direction?: TruncationDirection | 'left' | 'right'
  /** Default 0. */
  stride?: number
}

export interface PaddingOptions {
  /** Default the longest of a batch. */
  maxLength?: number
  /** Default `'right'`. */
  direction?: PaddingDirection | 'left' | 'right'
  padToMultipleOf?: number
  /** Default 0. */
  padId?: number
  /** Default 0. */
  padTypeId?: number
  /** Default `'[PAD]'`. */
  padToken?: string
}

export interface AddedTokenOptions {
  singleWord?: boolean
  leftStrip?: boolean
  rightStrip?: boolean
  /** Default for tokens that are not special. */
  normalized?: boolean
}

export class AddedToken {
  constructor(token: string, isSpecial: boolean, options?: AddedTokenOptions | null)
  getContent(): string
}

/** A tokenizer.json, or one put together from its parts. */
export class Tokenizer {
  constructor(model: Model)
  /** From the content of a tokenizer.json. */
  static fromString(s: string): Tokenizer
  /** From a tokenizer.json. */
  static fromFile(file: string): Tokenizer

  /** Encodes one text or two, on this thread. */
  encode(sentence: InputSequence, pair?: InputSequence | null, encodeOptions?: EncodeOptions | null): Promise<Encoding>
  /** Encodes many, on several threads. */
  encodeBatch(sentences: EncodeInput[], encodeOptions?: EncodeOptions | null): Promise<Encoding[]>
  decode(ids: number[], skipSpecialTokens: boolean): Promise<string>
  decodeBatch(ids: number[][], skipSpecialTokens: boolean): Promise<string[]>

  /** How many of the tokens were new. */
  addTokens(tokens: string[]): number
  addSpecialTokens(tokens: string[]): void
  addAddedTokens(tokens: AddedToken[]): number

  setTruncation(maxLength: number, options?: TruncationOptions | null): void
  disableTruncation(): void
  setPadding(options?: PaddingOptions | null): void
  disablePadding(): void

  setModel(model: Model): void
  setNormalizer(normalizer: Normalizer): void
  setPreTokenizer(preTokenizer: PreTokenizer): void
  setPostProcessor(postProcessor: Processor): void
  setDecoder(decoder: Decoder): void
  getNormalizer(): Normalizer | null
  getPreTokenizer(): PreTokenizer | null
  getPostProcessor(): Processor | null
  getDecoder(): Decoder | null

  getVocab(withAddedTokens?: boolean | null): Record<string, number>
  getVocabSize(withAddedTokens?: boolean | null): number
  idToToken(id: number): string | null
  tokenToId(token: string): number | null

  /** Truncates, joins and pads. Only without a post-processor. */
  postProcess(encoding: Encoding, pair?: Encoding | null, addSpecialTokens?: boolean | null): Encoding
  /** Writes a tokenizer.json. */
  save(path: string, pretty?: boolean | null): void
  /** How many batches run or wait. */
  runningTasks(): number
  /** Throws: tokenlane does not train. */
  train(files: string[]): never
}

/** What one text or two became. Offsets are in code points. */
export class Encoding {
  constructor()
  getLength(): number
  getNSequences(): number
  getIds(): number[]
  getTypeIds(): number[]
  getAttentionMask(): number[]
  getSpecialTokensMask(): number[]
  getTokens(): string[]
  getOffsets(): [start: number, end: number][]
  getWordIds(): (number | null)[]
  getSequenceIds(): (number | null)[]
  getOverflowing(): Encoding[]
  charToToken(pos: number, seqId?: number | null): number | null
  charToWord(pos: number, seqId?: number | null): number | null
  wordToTokens(word: number, seqId?: number | null): [number, number] | null
  wordToChars(word: number, seqId?: number | null): [number, number] | null
  tokenToChars(token: number): [number, number] | null
  tokenToWord(token: number): number | null
  tokenToSequence(token: number): number | null
  /** Fills this encoding up. */
  pad(length: number, options?: PaddingOptions | null): void
  /** Cuts this encoding. The direction is `'left'` unless it is given, as in the original. */
  truncate(length: number, stride?: number | null, direction?: TruncationDirection | 'left' | 'right' | null): void
}
export { Encoding as JsEncoding }

/** Encodings as one; with `growingOffsets` those of the second go on where the first ends. Default `false`. */
export function mergeEncodings(encodings: Encoding[], growingOffsets?: boolean | null): Encoding
/** Code points `beginIndex` to `endIndex` of a text; negative ones count from its end. */
export function slice(s: string, beginIndex?: number | null, endIndex?: number | null): string
/** The characters that ByteLevel writes bytes as. */
export function byteLevelAlphabet(): string[]

export class Model {
  protected constructor()
}

export interface BpeOptions {
  dropout?: number
  unkToken?: string
  continuingSubwordPrefix?: string
  endOfWordSuffix?: string
  fuseUnk?: boolean
  byteFallback?: boolean
}

export class BPE extends Model {
  static empty(): BPE
  static init(vocab: Record<string, number>, merges: [string, string][], options?: BpeOptions | null): BPE
  static fromFile(vocab: string, merges: string, options?: BpeOptions | null): Promise<BPE>
}
export { BPE as Bpe }

/** Not there: every call throws `ERR_TOKENLANE_UNSUPPORTED`. */
declare class MissingModel extends Model {
  static empty(): never
  static init(...args: unknown[]): never
  static fromFile(...args: unknown[]): never
}
export { MissingModel as Unigram, MissingModel as WordLevel, MissingModel as WordPiece }

/** Not there: throws `ERR_TOKENLANE_UNSUPPORTED`. */
export class Trainer {}

export class Normalizer {
  private constructor()
  normalizeString(sequence: string): string
}
export class PreTokenizer {
  private constructor()
  /** The words, with their places in code points. */
  preTokenizeString(sequence: string): [word: string, place: [start: number, end: number]][]
}
export class Processor {
  private constructor()
}
export class Decoder {
  private constructor()
  decode(tokens: string[]): string
}

export interface BertNormalizerOptions {
  cleanText?: boolean
  handleChineseChars?: boolean
  stripAccents?: boolean
  lowercase?: boolean
}
export function bertNormalizer(options?: BertNormalizerOptions | null): Normalizer
export function nfcNormalizer(): Normalizer
export function nfdNormalizer(): Normalizer
export function nfkcNormalizer(): Normalizer
export function nfkdNormalizer(): Normalizer
export function stripNormalizer(left?: boolean | null, right?: boolean | null): Normalizer
export function prependNormalizer(prepend: string): Normalizer
export function stripAccentsNormalizer(): Normalizer
export function lowercase(): Normalizer
export function nmt(): Normalizer
export function replace(pattern: string, content: string): Normalizer
export function precompiled(bytes: number[]): Normalizer
export function sequenceNormalizer(normalizers: Normalizer[]): Normalizer

export function bertPreTokenizer(): PreTokenizer
export function byteLevelPreTokenizer(addPrefixSpace?: boolean | null, useRegex?: boolean | null): PreTokenizer
export function charDelimiterSplit(delimiter: string): PreTokenizer
export function digitsPreTokenizer(individualDigits?: boolean | null): PreTokenizer
export function metaspacePreTokenizer(
  replacement?: string | null,
  prependScheme?: 'always' | 'first' | 'never' | null,
  split?: boolean | null,
): PreTokenizer
export function punctuationPreTokenizer(behavior?: string | null): PreTokenizer
export function sequencePreTokenizer(preTokenizers: PreTokenizer[]): PreTokenizer
export function splitPreTokenizer(pattern: string, behavior: string, invert?: boolean | null): PreTokenizer
export function whitespacePreTokenizer(): PreTokenizer
export function whitespaceSplitPreTokenizer(): PreTokenizer

export function bertProcessing(sep: [string, number], cls: [string, number]): Processor
export function byteLevelProcessing(trimOffsets?: boolean | null): Processor
export function robertaProcessing(
  sep: [string, number],
  cls: [string, number],
  trimOffsets?: boolean | null,
  addPrefixSpace?: boolean | null,
): Processor
export function sequenceProcessing(processors: Processor[]): Processor
/** Templates such as `'[CLS] $A [SEP] $B:1 [SEP]:1'`. */
export function templateProcessing(
  single: string,
  pair?: string | null,
  specialTokens?: [string, number][] | null,
): Processor

export function bpeDecoder(suffix?: string | null): Decoder
export function byteFallbackDecoder(): Decoder
export function ctcDecoder(padToken?: string, wordDelimiterToken?: string | null, cleanup?: boolean | null): Decoder
export function fuseDecoder(): Decoder
export function metaspaceDecoder(
  replacement?: string | null,
  prependScheme?: 'always' | 'first' | 'never' | null,
  split?: boolean | null,
): Decoder
export function replaceDecoder(pattern: string, content: string): Decoder
export function sequenceDecoder(decoders: Decoder[]): Decoder
export function stripDecoder(content: string, left: number, right: number): Decoder
export function wordPieceDecoder(prefix?: string, cleanup?: boolean): Decoder
