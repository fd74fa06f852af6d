/**
 * The number of tokens of a request with functions, as OpenAI counts them.
 *
 * @module @tokenlane/gpt-tokenizer/functionCalling
 */

/** A function call in a message. */
export interface ChatMessageFunctionCall {
  /** The name of the function. */
  name?: string
  /** The arguments, as JSON. */
  arguments?: string
}

/** The token that ends a message in the harmony format. */
export type HarmonyTerminator = '<|end|>' | '<|return|>' | '<|call|>'

/** A message of a chat. The last five fields apply to the harmony format only. */
export interface ChatMessage {
  /**
   * The role, such as `'system'`, `'user'` or `'assistant'`. Default: `'system'`, in the harmony
   * format `'user'`.
   */
  role?: string
  /** The name of the author, which replaces the role. Default: the role. */
  name?: string
  /** The text of the message. */
  content: string
  /**
   * The function that the assistant called. Only `countChatCompletionTokens` uses it.
   */
  function_call?: ChatMessageFunctionCall
  /** The channel of the answer, such as `'analysis'` or `'final'`. Default: none. */
  channel?: string
  /** The recipient of the message, such as `'functions.weather'`. Default: none. */
  recipient?: string
  /**
   * The position of the recipient. Default: after the channel, or after the role without a channel.
   */
  recipientPlacement?: 'role' | 'channel'
  /** The format of the content, such as `'json'`. Default: none. */
  constraint?: string
  /** The token that ends the message. Default: `'<|end|>'`. */
  terminator?: HarmonyTerminator
}

/** Options for the end of a chat. */
export interface EncodeChatOptions {
  /**
   * The role with which the answer starts; `''` for no start of an answer. Default: `'assistant'`.
   */
  primeWithAssistantResponse?: string
}

/** A function that a model can call, described with JSON Schema. */
export interface ChatCompletionFunctionDefinition {
  /** The name of the function. */
  name: string
  /** The description of the function. Default: none. */
  description?: string
  /** The parameters of the function. Default: none. */
  parameters?: ChatCompletionFunctionParameters
}

/** The parameters of a function, as the properties of an object. */
export interface ChatCompletionFunctionParameters extends ChatCompletionObjectProperty {}

/** The types of JSON Schema. */
export type ChatCompletionFunctionType = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object'

/** The JSON Schema of a parameter. */
export type ChatCompletionFunctionProperty =
  | ChatCompletionStringProperty
  | ChatCompletionNumberProperty
  | ChatCompletionBooleanProperty
  | ChatCompletionNullProperty
  | ChatCompletionArrayProperty
  | ChatCompletionObjectProperty

/** The schema of a string. */
export interface ChatCompletionStringProperty {
  /** The type. */
  type: 'string'
  /** The description. Default: none. */
  description?: string
  /** The allowed values. Default: all. */
  enum?: string[]
}

/** The schema of a number. */
export interface ChatCompletionNumberProperty {
  /** The type. */
  type: 'integer' | 'number'
  /** The description. Default: none. */
  description?: string
  /** The smallest allowed value. It is not part of the prompt. Default: none. */
  minimum?: number
  /** The largest allowed value. It is not part of the prompt. Default: none. */
  maximum?: number
  /** The allowed values. Default: all. */
  enum?: (number | string)[]
}

/** The schema of a boolean. */
export interface ChatCompletionBooleanProperty {
  /** The type. */
  type: 'boolean'
  /** The description. Default: none. */
  description?: string
}

/** The schema of `null`. */
export interface ChatCompletionNullProperty {
  /** The type. */
  type: 'null'
  /** The description. Default: none. */
  description?: string
}

/** The schema of an array. */
export interface ChatCompletionArrayProperty {
  /** The type. */
  type: 'array'
  /** The description. Default: none. */
  description?: string
  /** The schema of the elements. Default: any value. */
  items?: ChatCompletionFunctionProperty
}

/** The schema of an object. */
export interface ChatCompletionObjectProperty {
  /** The type. */
  type: 'object'
  /** The description. Default: none. */
  description?: string
  /** The names of the required properties. Default: none. */
  required?: string[]
  /** The schemas of the properties, by name. Default: none. */
  properties?: Record<string, ChatCompletionFunctionProperty>
}

/** Whether the model can call functions, cannot, or must call the named function. */
export type ChatCompletionFunctionCallOption = 'auto' | 'none' | FunctionChoice

/** The function that the model must call. */
export interface FunctionChoice {
  /** The name of the function. */
  name: string
}

/** A request to OpenAI's chat completions API. */
export interface ChatCompletionRequest {
  /** The conversation. */
  messages: readonly ChatMessage[]
  /** The functions that the model can call. Default: none. */
  functions?: readonly ChatCompletionFunctionDefinition[]
  /** Whether the model can call functions, cannot, or must call this one. Default: `'auto'`. */
  function_call?: ChatCompletionFunctionCallOption
}

/** Returns the number of tokens of a text. */
export type CountStringTokens = (text: string) => number

/** Additional tokens of each message. */
export const MESSAGE_TOKEN_OVERHEAD: 3
/** Additional tokens of a message with a name. */
export const MESSAGE_NAME_TOKEN_OVERHEAD: 1
/** Tokens that the answer of a function saves. */
export const FUNCTION_ROLE_TOKEN_DISCOUNT: 2
/** Additional tokens of a message that calls a function. */
export const FUNCTION_CALL_METADATA_TOKEN_OVERHEAD: 3
/** Additional tokens of the definitions of functions. */
export const FUNCTION_DEFINITION_TOKEN_OVERHEAD: 9
/** Additional tokens of a request. */
export const COMPLETION_REQUEST_TOKEN_OVERHEAD: 3
/** Additional tokens of a request that names the function to call. */
export const FUNCTION_CALL_NAME_TOKEN_OVERHEAD: 4
/** Additional tokens of a request that permits no call. */
export const FUNCTION_CALL_NONE_TOKEN_OVERHEAD: 1
/** Tokens that definitions save if there is a system message. */
export const SYSTEM_FUNCTION_TOKEN_DEDUCTION: 4

/** Returns the number of tokens of a request. */
export function computeChatCompletionTokenCount(
  request: ChatCompletionRequest,
  countStringTokens: CountStringTokens,
): number
/** Returns the number of tokens of a message. */
export function countMessageTokens(message: ChatMessage, countStringTokens: CountStringTokens): number
/** Returns the number of tokens of the definitions of functions. */
export function estimateTokensInFunctions(
  functions: readonly ChatCompletionFunctionDefinition[],
  countStringTokens: CountStringTokens,
): number
/** Returns the declarations of functions, as the model receives them. */
export function formatFunctionDefinitions(functions: readonly ChatCompletionFunctionDefinition[]): string
/** Returns the type of a parameter, as the model receives it. */
export function formatFunctionType(param: ChatCompletionFunctionProperty, indent: number): string
/** Returns the properties of an object, one in each line. */
export function formatObjectProperties(
  obj: ChatCompletionObjectProperty,
  indent: number,
  formatType: (param: ChatCompletionFunctionProperty, indent: number) => string,
): string
/** Returns the message with a line end if it is the first system message before functions. */
export function padSystemMessage(message: ChatMessage, hasFunctions: boolean, isSystemPadded: boolean): ChatMessage
