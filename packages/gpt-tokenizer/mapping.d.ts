/**
 * Models and their encodings.
 *
 * @module @tokenlane/gpt-tokenizer/mapping
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
/** The name of an OpenAI model. A model that is not listed uses the newest encoding. */
export type ModelName = string & {}
/** The name of a model that supports chats. */
export type ChatModelName = ModelName

/** The chat format of a model. */
export interface ChatParameters {
  /** The text between messages. */
  messageSeparator: string
  /** The text between the role and the content of a message. */
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
/** The encoding of models that are not listed. */
export const DEFAULT_ENCODING: 'o200k_base'
/** The names of all encodings. */
export const encodingNames: [
  'gpt2',
  'p50k_base',
  'r50k_base',
  'p50k_edit',
  'cl100k_base',
  'o200k_base',
  'o200k_harmony',
]
/** The encodings of models that do not use {@link DEFAULT_ENCODING}. */
export const modelToEncodingMap: Record<ModelName, EncodingName>
/** The models that support chats, with their chat formats. */
export const chatModelParams: Record<ChatModelName, ChatParameters>
