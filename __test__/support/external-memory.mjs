// Prints as JSON: a digest of every large result, the bytes of external memory, the bytes that the
// pool still lends after the results are disposed of, and the lengths of their views then.
import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

import { Tokenizer, memory } from '../../index.mjs'
import { text, texts } from './texts.mjs'

const gpt = Tokenizer.fromEncodingSync('r50k_base')
const rows = texts(300, 3000)
const columns = ['specialTokensMask', 'typeIds', 'attentionMask', 'wordIds', 'sequenceIds']
const digests = {}
const note = (name, values) => (digests[name] = createHash('sha256').update(values).digest('hex'))

const held = []
for (const threads of [1, 2]) {
  for (const padding of [undefined, { to: 'longest' }]) {
    const batch = await gpt.encodeBatch(rows, { offsets: 'utf16', columns, threads, padding })
    held.push(batch)
    for (const name of ['ids', 'rowOffsets', 'offsets', ...columns])
      note(`batch ${name} ${threads} ${padding?.to}`, batch[name])
  }
}
const sync = gpt.encodeBatchSync(rows)
note('texts', (await gpt.decodeBatch(sync)).join())
const alone = gpt.encode(text(500_000), { offsets: 'utf16' })
for (const name of ['ids', 'offsets']) note(`text ${name}`, alone[name])
note('bytes', gpt.decodeBytes(alone.ids))

const { external } = memory.stats()
// Refused memory returns to the pool at once, external memory when the result is disposed.
for (const batch of [...held, sync]) batch.dispose()
const views = held.map((batch) => batch.ids.length)
// The memory of results that were disposed of returns a few turns of the loop later.
let { outstanding } = memory.stats()
for (let before = -1; outstanding !== before; outstanding = memory.stats().outstanding) {
  before = outstanding
  await wait(10)
}
console.log(JSON.stringify({ digests, external, outstanding, views }))
