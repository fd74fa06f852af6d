'use strict'

// Special tokens whose id another token has, or that is no id. The originals encode them all the
// same. Here each of them has a stand-in, an id that no token has, and the face of the original
// replaces stand-ins in results.

const { typeError } = require('./errors.js')

const isId = (id) => id >>> 0 === id

/**
 * Creates a tokenizer with special tokens of any ids. As in the originals, an id is decoded as the
 * ordinary token that has it, else as the last special token.
 *
 * @template {{ idToToken(id: number): any, vocabSize(): number }} T
 * @param {(specialTokens: Record<string, number>) => T} create
 * @param {Record<string, any>} specialTokens
 * @returns {{ tokenizer: T, standIns: Map<number, number> }} `standIns` has the ids of tokens by
 *   their stand-ins
 */
function withAnyIds(create, specialTokens) {
  const entries = Object.entries(specialTokens)
  const wrong = entries.find(([, id]) => typeof id !== 'number')
  if (wrong !== undefined) throw typeError(`the id of the special token ${JSON.stringify(wrong[0])} must be a number`)
  const last = new Map(entries.map(([token, id]) => [id, token]))
  if (entries.every(([token, id]) => isId(id) && last.get(id) === token)) {
    try {
      return { tokenizer: create(specialTokens), standIns: new Map() }
    } catch (error) {
      if (error.code !== 'ERR_TOKENLANE_DUPLICATE_ID') throw error
    }
  }
  const ordinary = create({})
  const isTaken = (id) => ordinary.idToToken(id) !== undefined
  const standIns = new Map()
  let free = ordinary.vocabSize()
  const own = entries.map(([token, id]) => {
    if (isId(id) && last.get(id) === token && !isTaken(id)) return [token, id]
    while (last.has(free) || isTaken(free)) free += 1
    standIns.set(free, id)
    return [token, free++]
  })
  return { tokenizer: create(Object.fromEntries(own)), standIns }
}

module.exports = { isId, withAnyIds }
