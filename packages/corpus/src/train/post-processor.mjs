// The tokens of a post-processor. Their ids belong to the vocabulary of another tokenizer until
// they are looked up in the new one.

import { contradiction } from '../errors.mjs'

/** Throws if the new vocabulary will not have the tokens of a post-processor. */
export function checkTokens(part, specialTokens) {
  const known = new Set(specialTokens.map(({ content }) => content))
  withIds(part, (token) => {
    if (known.has(token)) return 0
    throw contradiction(
      `the post-processor adds '${token}', which is not among the special tokens: name it in specialTokens, or set postProcessor to null`,
    )
  })
}

/**
 * Returns a post-processor with the ids that `idOf` gives to its tokens.
 *
 * @param {any} part of a tokenizer.json
 * @param {(token: string) => number | undefined} idOf
 */
export function withIds(part, idOf) {
  switch (part?.type) {
    case 'Sequence':
      return { ...part, processors: part.processors?.map((one) => withIds(one, idOf)) }
    case 'BertProcessing':
    case 'RobertaProcessing':
      return { ...part, ...pairOf('sep', part, idOf), ...pairOf('cls', part, idOf) }
    case 'TemplateProcessing':
      return { ...part, special_tokens: template(part.special_tokens ?? {}, idOf) }
    default:
      return part
  }
}

/** The token and the id of an end of BERT's processors. */
const pairOf = (name, part, idOf) =>
  Array.isArray(part[name]) && typeof part[name][0] === 'string' ? { [name]: [part[name][0], idOf(part[name][0])] } : {}

const template = (tokens, idOf) =>
  Object.fromEntries(
    Object.entries(tokens).map(([name, entry]) => [
      name,
      Array.isArray(entry?.tokens) ? { ...entry, ids: entry.tokens.map((token) => idOf(token)) } : entry,
    ]),
  )
