/**
 * The models that support chats.
 *
 * @module @tokenlane/gpt-tokenizer/modelsChatEnabled.gen
 */

/** The names of the models that support chats. */
export const chatEnabledModels: readonly [string, ...string[]]
