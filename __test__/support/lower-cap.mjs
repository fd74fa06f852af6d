// Lowers the cap below the size of the results that JavaScript holds, and releases the results.
// Prints the state of the pool while they are held, and after the allocation that follows their
// release. A process of its own: nothing else holds memory of the pool.

import { setTimeout as sleep } from 'node:timers/promises'

import { Tokenizer, memory } from '../../index.mjs'
import { texts } from './texts.mjs'

const gpt = Tokenizer.fromEncodingSync('r50k_base')
const rows = texts(400, 3000)
const held = []
for (let i = 0; i < 4; i++) held.push(await gpt.encodeBatch(rows))
memory.configure({ cap: 1 << 20 })
const whileHeld = memory.stats()
for (const batch of held) batch.dispose()
// Finalizers and worker threads release their blocks a little later.
while (memory.stats().outstanding > 0) await sleep(10)
gpt.encodeBatchSync(rows).dispose()
console.log(JSON.stringify({ whileHeld, released: memory.stats() }))
