// Encodes batches, some at the same time, does nothing until the pool has given its memory back,
// and encodes again. Prints what happened to the memory, as JSON.
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')

const { Tokenizer, memory } = require(path.join(__dirname, '../../index.js'))

function lazyBytes() {
  const found = fs.readFileSync('/proc/self/smaps', 'utf8').matchAll(/^LazyFree: *(\d+) kB/gm)
  return [...found].reduce((sum, [, kib]) => sum + kib * 1024, 0)
}

const gpt = Tokenizer.fromEncodingSync('r50k_base')
const rows = Array.from({ length: 500 }, (_, i) => `${i} ${'a b c d '.repeat(800)}`)

/** Waits until `state()` is true; the deadline of the spec ends a wait without end. */
async function until(state) {
  while (!state()) await sleep(20)
}

;(async () => {
  const expected = (await gpt.encodeBatch(rows)).ids.slice()
  for (let i = 0; i < 20; i++) await gpt.encodeBatch(rows)
  await Promise.all([1, 2, 3, 4].map(() => gpt.encodeBatch(rows)))
  const busy = { rss: process.memoryUsage.rss(), external: memory.stats().external }
  // First the results that are garbage are collected, and the kernel may take all cached pages.
  await until(() => memory.stats().external < 1 << 20 && lazyBytes() > 4 << 20)
  const lazy = lazyBytes()
  // Reading pages that the kernel may take, or has taken, gives the right ids.
  const early = await gpt.encodeBatch(rows)
  const isSame = (batch) => Buffer.compare(bytes(batch.ids), bytes(expected)) === 0
  const same = [isSame(early)]
  early.dispose()
  // Some seconds later the pages are returned.
  await until(() => memory.stats().mapped < 1 << 20 && lazyBytes() < 1 << 20)
  const idle = { rss: process.memoryUsage.rss(), mapped: memory.stats().mapped }
  same.push(isSame(await gpt.encodeBatch(rows)))
  console.log(JSON.stringify({ busy, lazy, idle, same }))
})()

const bytes = (ids) => Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength)
