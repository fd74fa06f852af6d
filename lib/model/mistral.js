'use strict'

// The pattern that transformers 5 gives to tokenizers of Mistral whose config has
// `fix_mistral_regex`: files that were written before transformers 5 have another one.

const { preTokenizers } = require('./components.js')

const PATTERN =
  '[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+'
const MODEL_TYPES = ['mistral', 'mistral3', 'voxtral', 'ministral', 'pixtral']
/** Smaller vocabularies are left as they are. */
const MIN_VOCABULARY = 100_001
/** Versions before 5.0.0, which its pre-releases are too. */
const BEFORE_5 = /^v?(?:[0-4](?![0-9])|5(?:\.0)*[.\-_]?(?:dev|a|b|c|rc|alpha|beta|pre))/i

/**
 * Whether the pattern is replaced. Without a config.json, it is not.
 *
 * @param {{ fixes: boolean, model: Record<string, any>, vocabSize: number }} folder
 */
function needsPattern({ fixes, model, vocabSize }) {
  if (!fixes || vocabSize < MIN_VOCABULARY || Object.keys(model).length === 0) return false
  const { transformers_version: version, model_type: type } = model
  if (version && !BEFORE_5.test(version)) return false
  return type === undefined || type === null || MODEL_TYPES.includes(type)
}

/** The pre-tokenizer with the pattern, which takes the place of the first part of a sequence. */
function withPattern(preTokenizer) {
  const split = preTokenizers.splitRegex(PATTERN, 'Isolated')
  if (preTokenizer.type === 'Sequence') return preTokenizers.sequence([split, ...preTokenizer.pretokenizers.slice(1)])
  const isMetaspace = preTokenizer.type === 'Metaspace'
  return preTokenizers.sequence([
    split,
    isMetaspace ? preTokenizers.byteLevel(false, { use_regex: false }) : preTokenizer,
  ])
}

module.exports = { needsPattern, withPattern }
