export type EncodingName =
  | 'gpt2'
  | 'p50k_base'
  | 'r50k_base'
  | 'p50k_edit'
  | 'cl100k_base'
  | 'o200k_base'
  | 'o200k_harmony'
/** The name of a model of OpenAI; one that is not listed uses the newest encoding. */
export type ModelName = string & {}
export type ChatModelName = ModelName

export interface ChatParameters {
  messageSeparator: string
  roleSeparator: string
}

export const cl100k_base: 'cl100k_base'
export const gpt2: 'gpt2'
export const p50k_base: 'p50k_base'
export const p50k_edit: 'p50k_edit'
export const r50k_base: 'r50k_base'
export const o200k_base: 'o200k_base'
export const o200k_harmony: 'o200k_harmony'
export const DEFAULT_ENCODING: 'o200k_base'
export const encodingNames: readonly EncodingName[]
/** The encodings of models that do not use the newest one. */
export const modelToEncodingMap: Record<ModelName, EncodingName>
/** The models that chat, and how their messages are written. */
export const chatModelParams: Record<ChatModelName, ChatParameters>
/** All models that have an entry of their own under `model`. */
export const modelNames: readonly ModelName[]
/** Those whose requests can have functions. */
export const functionCallingModels: ReadonlySet<ModelName>
