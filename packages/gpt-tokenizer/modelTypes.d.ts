/**
 * The types of descriptions of models.
 *
 * @module @tokenlane/gpt-tokenizer/modelTypes
 */

/**
 * Prices of a million tokens, or the cost of a number of tokens. Missing prices are `undefined`.
 */
export interface Prices {
  /** For the tokens of a request. */
  input?: number | undefined
  /** For the tokens of an answer. */
  output?: number | undefined
  /** For the tokens of a request that the provider has cached. */
  cached_input?: number | undefined
  /** For the tokens of an answer that the provider has cached. */
  cached_output?: number | undefined
}

/** Prices by type of request. */
export interface PriceData {
  /** Requests that are answered immediately. */
  main?: Prices
  /** Requests of the batch API. */
  batch?: Prices
}

/** What a model takes or gives. */
export type Modality = 'audio' | 'image' | 'text' | 'video'

/** What a model takes and gives. */
export interface Modalities {
  /** What a model takes. */
  input: Modality[]
  /** What a model gives. */
  output: Modality[]
}

/** An endpoint of OpenAI's API. */
export type Endpoint = string
/** A feature of a model, such as `'function_calling'`. */
export type Feature = string
/** A feature of a model, such as `'function_calling'`. */
export type SupportedFeature = Feature
/** A tool that a model can use, such as `'web_search'`. */
export type SupportedTool = string
/** The kind of a model. */
export type ModelKind = 'chat' | 'other' | 'reasoning'

/** The description of a model. tokenlane has no price list, so the caller provides the prices. */
export interface ModelSpec {
  /** The name of the model. */
  name: string
  /** The prices of its tokens. */
  price_data?: PriceData
  /**
   * The features of the model. `countChatCompletionTokens` exists if they include
   * `'function_calling'`. Default: derived from the name of the model.
   */
  supported_features?: readonly Feature[]
  /** The name in URLs. Not used. */
  slug?: string
  /** The rank of its performance. Not used. */
  performance?: number
  /** The rank of its speed. Not used. */
  latency?: number
  /** What it takes and gives. Not used. */
  modalities?: Modalities
  /** The maximum number of tokens of request and answer. Not used. */
  context_window?: number
  /** The maximum number of tokens of a request. Not used. */
  max_input_tokens?: number
  /** The maximum number of tokens of an answer. Not used. */
  max_output_tokens?: number
  /** The date of its newest data. Not used. */
  knowledge_cutoff?: Date
  /** The endpoints that have it. Not used. */
  supported_endpoints?: readonly Endpoint[]
  /** The tools that it can use. Not used. */
  supported_tools?: readonly SupportedTool[]
  /** Whether it reasons. Not used. */
  reasoning_tokens?: boolean
  /** The name of its current version. Not used. */
  current_snapshot?: string
  /** Whether it is deprecated. Not used. */
  deprecated?: boolean
}

/** A mark beside the name of a model. */
export interface ModelBadge {
  /** The text. */
  label: string
  /** The color. */
  color: string
  /** The form. */
  variant: string
}

/** A level of use that OpenAI gives limits to. */
export type RateLimitTier = 'free' | 'tier_free' | 'tier_1' | 'tier_2' | 'tier_3' | 'tier_4' | 'tier_5'

/** The limits of one level. */
export interface RateLimit {
  /** Requests a minute. Default: no limit. */
  rpm?: number | string
  /** Requests a day. Default: no limit. */
  rpd?: number
  /** Tokens a minute. Default: no limit. */
  tpm?: number | string
  /** Images a minute. Default: no limit. */
  ipm?: number | string
  /** Minutes of sound a minute. Default: no limit. */
  audio_min_per_min?: number | string
  /** Tokens in the queue of the batch API. Default: no limit. */
  batch_queue_limit?: number
}

/** Limits under a name. */
export interface RateLimitGroup {
  /** The name. */
  name: string
  /** An explanation. Default: none. */
  tooltip?: string
  /** The limits by level. */
  rate_limits: Partial<Record<RateLimitTier, RateLimit>>
}

/** All limits of a model. */
export type RateLimits = Partial<Record<RateLimitTier, RateLimit | null>> | RateLimitGroup[]

/** A model, as OpenAI's pages describe it. No call uses it. */
export interface ModelConfig {
  /** The name. */
  name: string
  /** The kind. */
  type: ModelKind
  /** The name of its current version. */
  current_snapshot: string
  /** The names of its versions. */
  snapshots: string[]
  /** The name in URLs. Default: none. */
  slug?: string
  /** The name on pages. Default: none. */
  display_name?: string
  /** The name of its picture. Default: none. */
  img_slug?: string
  /** The name of its icon. Default: none. */
  icon_name?: string
  /** Whether the picture has a label. Default: none. */
  art_has_label?: boolean
  /** One line about it. Default: none. */
  tagline?: string
  /** A description. Default: none. */
  description?: string
  /** The tools that it can use. Default: none. */
  supported_tools?: SupportedTool[]
  /** Its features. Default: none. */
  supported_features?: SupportedFeature[]
  /** The endpoints that have it. Default: none. */
  supported_endpoints?: Endpoint[]
  /** Models whose prices are compared with its own. Default: none. */
  compare_prices?: string[]
  /** The columns of that comparison. Default: none. */
  compare_prices_columns?: string[]
  /** The model that replaces it. Default: none. */
  point_to?: string
  /** Examples of its use. Default: none. */
  examples?: string[] | null
  /** Models on the same page. Default: none. */
  grouped_models?: string[] | null
  /** A page to try it. Default: none. */
  playground_url?: string
  /** A film about it. Default: none. */
  video_url?: string
  /** The picture of that film. Default: none. */
  video_thumbnail?: string
  /** Whether its price is hidden. Default: none. */
  hide_pricing?: boolean
  /** Notes about its price. Default: none. */
  pricing_notes?: string[]
  /** A mark beside its name. Default: none. */
  badge?: ModelBadge
  /** Its limits. Default: none. */
  rate_limits?: RateLimits
  /** Whether it is deprecated. Default: none. */
  deprecated?: boolean
}
