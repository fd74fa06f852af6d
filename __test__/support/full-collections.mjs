// Keeps results until full collections are requested. Prints the number of collections, and the
// number of requests that Node reports.

import { PerformanceObserver, constants } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

import { Tokenizer, memory } from '../../index.mjs'

const { NODE_PERFORMANCE_GC_MAJOR: MAJOR, NODE_PERFORMANCE_GC_FLAGS_FORCED: FORCED } = constants
let forced = 0
const observer = new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) if (detail.kind === MAJOR && detail.flags & FORCED) forced++
})
observer.observe({ entryTypes: ['gc'] })

const requested = () => memory.stats().steps.fullCollection.count
const gpt = Tokenizer.fromEncodingSync('r50k_base')
const rows = Array(500).fill('a b c d '.repeat(800))
const held = []
while (requested() === 0 && held.length < 60) held.push(await gpt.encodeBatch(rows))
// Node reports collections a little later.
for (let tries = 0; forced < requested() && tries < 1000; tries++) await sleep(10)
console.log(requested(), forced)
