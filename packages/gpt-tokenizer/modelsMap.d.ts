/**
 * The models of each encoding. A model that is not listed uses the newest encoding.
 *
 * @module @tokenlane/gpt-tokenizer/modelsMap
 */

/** The models that use `gpt2`. */
export const gpt2: readonly string[]
/** The models that use `p50k_base`. */
export const p50k_base: readonly string[]
/** The models that use `r50k_base`. */
export const r50k_base: readonly string[]
/** The models that use `p50k_edit`. */
export const p50k_edit: readonly string[]
/** The models that use `cl100k_base`. */
export const cl100k_base: readonly string[]
/** The models that use `o200k_base`. */
export const o200k_base: readonly string[]
/** The models that use `o200k_harmony`. */
export const o200k_harmony: readonly string[]
/** All of them by encoding. */
export const modelsMap_exports: Readonly<Record<string, readonly string[]>>
