// Texts that change, over WebAssembly: after any edits the ids are those that the addon gives for
// the whole text.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer as Native } from '../../../index.mjs'
import { generator } from '../../../__test__/support/random.mjs'
import { text } from '../../../__test__/support/texts.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const isBuilt = fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'tokenlane.wasm'))
const skip = !isBuilt && 'npm run maintain -- web builds it'
const OPTIONS = { specialTokens: 'text' }
const PARTS = [
  'some words go on ',
  ' a b',
  'é à ',
  '中文 字',
  '😀 a 👩\u200d🚀',
  '12 5',
  '   ',
  '\n\n  if (x) ',
  '<|endoftext|> a',
]

describe('texts that change', { skip }, () => {
  test('edits, counts and parts give what the addon encodes', async () => {
    const { Tokenizer } = await import('@tokenlane/web')
    for (const name of ['r50k_base', 'o200k_base']) {
      const native = Native.fromEncodingSync(name)
      const tokenizer = await Tokenizer.fromEncoding(name)
      const idsOf = (whole) => native.encode(whole, OPTIONS).ids
      const below = generator(1)
      let whole = text(3000)
      const live = tokenizer.live(whole, OPTIONS)
      assert.equal(live.isIncremental, true)
      for (let step = 0; step < 300; step++) {
        const start = below(whole.length + 1)
        const end = Math.min(whole.length, start + below(30))
        const put = PARTS[below(PARTS.length)].repeat(below(4))
        if (below(4) === 0) {
          live.append(put)
          whole += put
        } else {
          live.replace(start, end, put)
          whole = whole.slice(0, start) + put + whole.slice(end)
        }
        assert.equal(live.length, whole.length)
        assert.equal(live.count(), native.count(whole, OPTIONS))
        if (step % 30 === 0) {
          assert.equal(live.text, whole)
          assert.deepEqual(live.ids(), idsOf(whole))
          assert.equal(live.count(0, start) + live.count(start, whole.length), live.count())
        }
      }
      assert.throws(() => live.replace(0, whole.length + 1, ''), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
      const parts = Array.from({ length: Math.ceil(whole.length / 7) }, (_, at) => whole.slice(7 * at, 7 * at + 7))
      const ids = []
      for await (const more of tokenizer.encodeChunks(parts, OPTIONS)) ids.push(...more)
      assert.deepEqual(Uint32Array.from(ids), idsOf(whole))
    }
  })
})
