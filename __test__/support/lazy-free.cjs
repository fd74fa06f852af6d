// Holds many results, releases every other one, and prints the number of reclaimable bytes, before
// and after a trim. Free memory at the end of the mapping is unmapped at once; free memory between
// live results can only be marked with madvise.
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
  // The next batches drain the returned blocks. Blocks above the number that is kept warm become
  // reclaimable.
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
