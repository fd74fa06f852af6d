// Holds many results, lets go of every other one, and prints how many bytes the kernel may take, and how many after a trim.
// Free memory at the end of what is mapped is given back at once; between results that are held it can only be advised.
const fs = require('node:fs')
const path = require('node:path')
const { setImmediate: turn } = require('node:timers/promises')

const { Tokenizer, memory } = require(path.join(__dirname, '../../index.js'))

function lazyBytes() {
  const found = fs.readFileSync('/proc/self/smaps', 'utf8').matchAll(/^LazyFree: *(\d+) kB/gm)
  return [...found].reduce((sum, [, kib]) => sum + kib * 1024, 0)
}

;(async () => {
  const gpt = Tokenizer.fromEncodingSync('r50k_base')
  const rows = Array.from({ length: 500 }, (_, i) => `${i} ${'a b c d '.repeat(800)}`)
  const held = []
  for (let i = 0; i < 19; i++) held.push(await gpt.encodeBatch(rows))
  const expected = held[0].ids.slice()
  for (let i = 0; i < held.length; i += 2) held[i].dispose()
  await turn()
  await turn()
  // The next batches take in what was handed back; what is more than is kept warm, and not wanted by any, goes to the kernel.
  for (let i = 0; i < 100; i++) (await gpt.encodeBatch(rows)).dispose()
  const next = await gpt.encodeBatch(rows)
  const lazy = lazyBytes()
  const last = await gpt.encodeBatch(rows)
  const same = [next, last].every((batch) => Buffer.compare(bytes(batch.ids), bytes(expected)) === 0)
  for (const batch of [next, last, ...held]) batch.dispose()
  await turn()
  await turn()
  memory.trim()
  console.log(JSON.stringify({ lazy, afterTrim: lazyBytes(), same }))
})()

const bytes = (ids) => Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength)
