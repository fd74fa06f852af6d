/**
 * The tokenizers of the npm package @huggingface/transformers 4, implemented with tokenlane: change
 * the import of `AutoTokenizer` and keep the rest.
 *
 * ```js
 * import { AutoTokenizer } from '@tokenlane/transformers' // was: '@huggingface/transformers'
 * const tokenizer = await AutoTokenizer.from_pretrained('sentence-transformers/all-MiniLM-L6-v2')
 * const inputs = tokenizer(['a text', 'another one'], { padding: true, truncation: true })
 * ```
 *
 * Ids, tokens and decoded text are those of Hugging Face's tokenizers, even where the JavaScript
 * package differs from it. docs/drop-ins/transformers.md lists these differences.
 *
 * @module @tokenlane/transformers
 */

import type { Env, PreTrainedTokenizer, PretrainedTokenizerOptions } from './tokenizer-types.js'

export * from './classes.js'
export * from './tokenizer-types.js'

/** Settings of all tokenizers. Fields can be assigned. */
export const env: Env

/** Another name of {@link PreTrainedTokenizer}. */
export const TokenizersBackend: typeof PreTrainedTokenizer

/** Loads tokenizers. */
// biome-ignore lint/complexity/noStaticOnlyClass: as in the package.
export class AutoTokenizer {
  /**
   * Loads a tokenizer from a folder, or by the name of its repository on the Hugging Face Hub, as
   * the class that `tokenizer_class` of its config names.
   *
   * A folder has a tokenizer.json, or other files from which `Tokenizer.fromFile` makes a
   * tokenizer; tokenizer_config.json and chat templates are read from the same folder. A repository
   * needs the package `@huggingface/hub`. The errors are those of `Tokenizer.fromFile` and
   * `Tokenizer.fromPretrained`.
   */
  static from_pretrained(
    pretrained_model_name_or_path: string,
    options?: PretrainedTokenizerOptions,
  ): Promise<PreTrainedTokenizer>
}
