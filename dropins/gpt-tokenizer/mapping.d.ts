/**
 * Models and their encodings.
 *
 * @module tokenlane/gpt-tokenizer/mapping
 */

/** The names of the encodings. */
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
/** The name of a model that chats. */
export type ChatModelName = ModelName

/** How the messages of a model are written. */
export interface ChatParameters {
  /** What stands between messages. */
  messageSeparator: string
  /** What stands between a message's role and its content. */
  roleSeparator: string
}

/** The name of an encoding. */
export const cl100k_base: 'cl100k_base'
/** The name of an encoding. */
export const gpt2: 'gpt2'
/** The name of an encoding. */
export const p50k_base: 'p50k_base'
/** The name of an encoding. */
export const p50k_edit: 'p50k_edit'
/** The name of an encoding. */
export const r50k_base: 'r50k_base'
/** The name of an encoding. */
export const o200k_base: 'o200k_base'
/** The name of an encoding. */
export const o200k_harmony: 'o200k_harmony'
/** The encoding of models that are in no list. */
export const DEFAULT_ENCODING: 'o200k_base'
/** The names of all encodings. */
export const encodingNames: readonly EncodingName[]
/** The encodings of models that do not use the newest one. */
export const modelToEncodingMap: Record<ModelName, EncodingName>
/** The models that chat, and how their messages are written. */
export const chatModelParams: Record<ChatModelName, ChatParameters>
/** All models that have an entry of their own under `model`. */
export const modelNames: readonly ModelName[]
/** Those whose requests can have functions. */
export const functionCallingModels: ReadonlySet<ModelName>
