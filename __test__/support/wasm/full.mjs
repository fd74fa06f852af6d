// Fills WebAssembly's memory with tokenizers, and prints what the calls did then. The memory gets a
// lower maximum than the package's 4 GiB, so that few tokenizers fill it. Needs --expose-gc.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** In pages of 64 KiB: 448 MiB, of which the package takes 250 at the start. */
const MAXIMUM = 7168
WebAssembly.Memory = class extends WebAssembly.Memory {
  constructor(limits) {
    super({ ...limits, maximum: MAXIMUM })
  }
}

const folder = process.argv[2]
const require = createRequire(path.join(folder, 'package.json'))
const { Tokenizer } = require('./index.js')
const ranks = fs.readFileSync(path.join(folder, 'encodings', 'cl100k_base.tiktoken'))
/** Another special token makes another tokenizer; equal ones would share their memory. */
const options = (number) => ({ pattern: ' ?\\p{L}+|.', specialTokens: { [`<${number}>`]: 200_000 } })

/** Loads until an error. Returns the number of tokenizers, the code, and ids of the last one. */
function fill() {
  const kept = []
  try {
    while (kept.length < 1000) kept.push(Tokenizer.fromBufferSync(ranks, options(kept.length)))
  } catch (error) {
    return { loaded: kept.length, code: error.code, ids: [...kept.at(-1).encode('hello world').ids] }
  }
  return { loaded: kept.length }
}

/** Like {@link fill}, with promises. */
async function fillAsync() {
  const kept = []
  try {
    while (kept.length < 1000) kept.push(await Tokenizer.fromBuffer(ranks, options(kept.length)))
  } catch (error) {
    return { loaded: kept.length, code: error.code, ids: [...kept.at(-1).encode('hello world').ids] }
  }
  return { loaded: kept.length }
}

// The threads of asynchronous loads start now, because their stacks are in the same memory.
await Tokenizer.fromBuffer(ranks, options(-1))
const sync = fill()
// Finalizers run in later turns.
for (let turn = 0; turn < 20; turn += 1) {
  globalThis.gc()
  await wait(1)
}
console.log(JSON.stringify([sync, await fillAsync()]))
