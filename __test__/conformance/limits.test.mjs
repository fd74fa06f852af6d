// Limits and pieces, for every tokenizer and every text of the golden data.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import * as adapter from './adapter.mjs'
import { goldenNames, locate, readGolden, readTexts } from './golden-data.mjs'

const texts = [...readTexts().values()].filter((text) => text.length < 2000)
const BOUNDARIES = ['token', 'sentence', 'line']

/** Some texts have characters with more tokens than a small piece can have. */
const TOO_SMALL = 'ERR_TOKENLANE_LIMIT_TOO_SMALL'

for (const name of goldenNames) {
  const { meta } = readGolden(name)

  test(`${name}: isWithin, encodeInto, truncate and split hold what they promise`, async () => {
    const subject = await adapter.load(...(await locate(meta)))
    const { tokenizer } = subject
    const { specialTokens } = subject.options({ addSpecialTokens: true })
    const options = { specialTokens }
    let pieces = 0
    for (const [index, text] of texts.entries()) {
      const { ids } = tokenizer.encode(text, { ...options, truncation: false, padding: false })
      const limit = [0, 1, 3, 8, ids.length - 1, ids.length, 40][index % 7]
      const room = Math.max(0, limit)
      const context = `${JSON.stringify(text)}, ${room}`
      assert.equal(tokenizer.isWithin(text, room, options), ids.length <= room, context)
      const into = new Uint32Array(room)
      const { read, written } = tokenizer.encodeInto(text, into, options)
      if (read > 0) {
        const alone = tokenizer.encode(text.slice(0, read), { ...options, truncation: false, padding: false }).ids
        assert.deepEqual(into.subarray(0, written), alone, context)
      } else if (text !== '') assert.equal(written, 0, context)
      if (text !== '') assert.equal(read === text.length, ids.length <= room, context)
      assert.ok(isEdge(text, read), context)
      try {
        const start = tokenizer.truncate(text, room, options)
        assert.ok(
          text.startsWith(start) && isEdge(text, start.length) && tokenizer.count(start, options) <= room,
          context,
        )
        assert.equal(start === text, ids.length <= room, context)
      } catch (error) {
        assert.equal(error.code, TOO_SMALL, context)
        assert.ok(tokenizer.count('', options) > room, context)
      }
      pieces += check(tokenizer, text, { ...options, maxTokens: 6 + (index % 40), boundary: BOUNDARIES[index % 3] })
      check(tokenizer, text, {
        ...options,
        maxTokens: 12 + (index % 40),
        overlap: index % 7,
        boundary: BOUNDARIES[index % 3],
      })
    }
    assert.ok(pieces > texts.length, 'most texts are cut')
  })
}

/** Whether an index is not inside of a surrogate pair. */
const isEdge = (text, at) => !(at > 0 && at < text.length && text.codePointAt(at - 1) > 0xffff)

function check(tokenizer, text, options) {
  let pieces
  try {
    pieces = tokenizer.split(text, options)
  } catch (error) {
    assert.equal(error.code, TOO_SMALL, JSON.stringify(text))
    return 0
  }
  const { specialTokens, maxTokens, overlap = 0 } = options
  const context = JSON.stringify([text, options])
  let covered = 0
  for (const { text: piece, start, end, count } of pieces) {
    assert.equal(piece, text.slice(start, end), context)
    assert.equal(count, tokenizer.count(piece, { specialTokens }), context)
    assert.ok(count <= maxTokens && start <= covered && end > covered, context)
    assert.ok(isEdge(text, start) && isEdge(text, end), context)
    const common = text.slice(start, covered)
    assert.ok(tokenizer.count(common, { specialTokens, addSpecialTokens: false }) <= overlap, context)
    covered = end
  }
  assert.equal(covered, text.length, context)
  return pieces.length
}
