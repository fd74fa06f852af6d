#!/usr/bin/env node
// Calls every export of the package with invalid and unusual arguments.
//
//   usage: npm run maintain -- hostile calls [--count 100000] [--seed 1] [--huge]
//   --huge: also strings of 512 MiB
//
// The calls run in a child process, so that the parent can report a call that ends the process. The
// seed and the number of a call reproduce it. Every error must have a code of this package, or be
// the error that an argument threw. JavaScript's own TypeErrors are allowed for a receiver of
// another class, for a revoked proxy, and in drop-ins for arguments that their typings do not
// allow.

import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'

import { root } from '../../setup.mjs'
import { isDocumented, runChild, runChildren } from './child.mjs'
import { Run, liveObjects } from './run.mjs'

const CALLS_PER_CHILD = 10_000
const require = createRequire(import.meta.url)

if (process.argv[2] === '--child') await child(...process.argv.slice(3).map(Number))
else if (process.argv[1] === fileURLToPath(import.meta.url)) main()

function main() {
  const { values: options } = parseArgs({
    options: {
      count: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      huge: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  const [count, seed] = [Number(options.count), Number(options.seed)]
  if (options.huge && inChild(-1, 0).failed) process.exitCode = 1
  const totals = { calls: 0, results: 0, errors: 0, thrown: 0, functions: 0 }
  runChildren({ count, seed, perChild: CALLS_PER_CHILD, inChild }, totals)
}

/** Makes calls in a child process. Returns whether it failed, and its totals. */
export function inChild(seed, count) {
  // The child's folder is a temporary one, because some calls write files with random names.
  return runChild(fileURLToPath(import.meta.url), seed, count)
}

async function child(seed, count) {
  const tokenlane = require(root)
  if (seed === -1) return huge(tokenlane)
  const run = new Run(seed, tokenlane, await liveObjects(tokenlane))
  for (let call = 0; call < count; call++) await run.call()
  await run.end()
}

/** Strings of V8's maximum length must work, or be refused with a code. */
async function huge(tokenlane) {
  const gpt = tokenlane.Tokenizer.fromEncodingSync('r50k_base')
  const lines = []
  const text = 'all work and no play '.repeat(Math.floor((2 ** 29 - 24) / 21))
  for (const [name, call] of Object.entries({
    count: () => gpt.count(text),
    isWithin: () => gpt.isWithin(text, 1000),
    truncate: () => gpt.truncate(text, 100).length,
    countBatch: () => gpt.countBatch([text, 'a']),
    encodeBatch: async () => (await gpt.encodeBatch([text])).length,
    tokenToId: () => gpt.tokenToId(text),
    option: () => gpt.encode('a', { offsets: text }),
    file: () => tokenlane.Tokenizer.fromFileSync(text),
  })) {
    const start = performance.now()
    try {
      lines.push(`${name}: ${await call()} in ${Math.round(performance.now() - start)} ms`)
    } catch (error) {
      lines.push(`${name}: ${error.code} in ${Math.round(performance.now() - start)} ms`)
      if (!isDocumented(error)) process.exitCode = 1
    }
  }
  console.log(lines.join('\n'))
  console.log(JSON.stringify({ calls: lines.length, results: 0, errors: 0, thrown: 0, functions: 0 }))
}
