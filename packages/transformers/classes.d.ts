import { PreTrainedTokenizer } from './tokenizer-types.js'

/** A tokenizer that returns `token_type_ids` by default. */
export const AlbertTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type AlbertTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const BartTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type BartTokenizer = PreTrainedTokenizer

/** A tokenizer that returns `token_type_ids` by default. */
export const BertTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type BertTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const BlenderbotSmallTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type BlenderbotSmallTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const BlenderbotTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type BlenderbotTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const BloomTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type BloomTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const CLIPTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type CLIPTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const CamembertTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type CamembertTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const CodeGenTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type CodeGenTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const CodeLlamaTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type CodeLlamaTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const CohereAsrTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type CohereAsrTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const CohereTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type CohereTokenizer = PreTrainedTokenizer

/** A tokenizer that returns `token_type_ids` by default. */
export const ConvBertTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type ConvBertTokenizer = PreTrainedTokenizer

/** A tokenizer that returns `token_type_ids` by default. */
export const DebertaTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type DebertaTokenizer = PreTrainedTokenizer

/** A tokenizer that returns `token_type_ids` by default. */
export const DebertaV2Tokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type DebertaV2Tokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const DistilBertTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type DistilBertTokenizer = PreTrainedTokenizer

/** A tokenizer that returns `token_type_ids` by default. */
export const ElectraTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type ElectraTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const EsmTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type EsmTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const FalconTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type FalconTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const GPT2Tokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type GPT2Tokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const GPTNeoXTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type GPTNeoXTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const GemmaTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type GemmaTokenizer = PreTrainedTokenizer

/** A tokenizer that returns `token_type_ids` by default. */
export const HerbertTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type HerbertTokenizer = PreTrainedTokenizer

/** A tokenizer that pads on the left. */
export const LlamaTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type LlamaTokenizer = PreTrainedTokenizer

/** A tokenizer of translation models, with the methods for their languages. */
export class M2M100Tokenizer extends PreTrainedTokenizer {
  /** Matches the tokens of languages. */
  languageRegex: RegExp
  /** The codes of the languages. */
  readonly language_codes: string[]
  /** Returns the token of a language. */
  lang_to_token: (code: string) => string
}

/** A tokenizer of translation models, with the methods for their languages. */
export class MBart50Tokenizer extends PreTrainedTokenizer {
  /** Matches the tokens of languages. */
  languageRegex: RegExp
  /** The codes of the languages. */
  readonly language_codes: string[]
  /** Returns the token of a language. */
  lang_to_token: (code: string) => string
}

/** A tokenizer of translation models, with the methods for their languages. */
export class MBartTokenizer extends PreTrainedTokenizer {
  /** Matches the tokens of languages. */
  languageRegex: RegExp
  /** The codes of the languages. */
  readonly language_codes: string[]
  /** Returns the token of a language. */
  lang_to_token: (code: string) => string
}

/** A tokenizer without further defaults. */
export const MPNetTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type MPNetTokenizer = PreTrainedTokenizer

/** The tokenizer of Marian. */
export class MarianTokenizer extends PreTrainedTokenizer {
  /** Matches the language token at the start of a text. */
  languageRegex: RegExp
  /** The language tokens of the vocabulary. */
  readonly supported_language_codes: string[]
}

/** A tokenizer without further defaults. */
export const MgpstrTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type MgpstrTokenizer = PreTrainedTokenizer

/** A tokenizer that returns `token_type_ids` by default. */
export const MobileBertTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type MobileBertTokenizer = PreTrainedTokenizer

/** A tokenizer of translation models, with the methods for their languages. */
export class NllbTokenizer extends PreTrainedTokenizer {
  /** Matches the tokens of languages. */
  languageRegex: RegExp
  /** The codes of the languages. */
  readonly language_codes: string[]
  /** Returns the token of a language. */
  lang_to_token: (code: string) => string
}

/** A tokenizer without further defaults. */
export const NougatTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type NougatTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const Qwen2Tokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type Qwen2Tokenizer = PreTrainedTokenizer

/** A tokenizer that returns `token_type_ids` by default. */
export const RoFormerTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type RoFormerTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const RobertaTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type RobertaTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const SiglipTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type SiglipTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const SpeechT5Tokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type SpeechT5Tokenizer = PreTrainedTokenizer

/** A tokenizer that returns `token_type_ids` by default. */
export const SqueezeBertTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type SqueezeBertTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const T5Tokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type T5Tokenizer = PreTrainedTokenizer

/** The tokenizer of VITS, which decodes without pauses. */
export const VitsTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type VitsTokenizer = PreTrainedTokenizer

/** A tokenizer without further defaults. */
export const Wav2Vec2CTCTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type Wav2Vec2CTCTokenizer = PreTrainedTokenizer

/**
 * The tokenizer of Whisper. `decode` takes `decode_with_timestamps`; `_decode_asr` is unsupported.
 */
export class WhisperTokenizer extends PreTrainedTokenizer {
  /** The id of the first timestamp. */
  readonly timestamp_begin: number
}

/** A tokenizer without further defaults. */
export const XLMRobertaTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type XLMRobertaTokenizer = PreTrainedTokenizer

/** A tokenizer that returns `token_type_ids` by default. */
export const XLMTokenizer: typeof PreTrainedTokenizer
/** An instance of the class of this name. */
export type XLMTokenizer = PreTrainedTokenizer
