/** What the entry point of a model that calls functions exports. */
import { GptEncoding } from '../GptEncoding.js'

export * from '../main.js'
export { default } from '../main.js'

/**
 * Returns the number of ids of a request, functions included:
 * {@link GptEncoding.countChatCompletionTokens}.
 */
export const countChatCompletionTokens: NonNullable<GptEncoding['countChatCompletionTokens']>
