// Texts, results and files that exceed the memory of the process: each call returns its result or
// throws ERR_TOKENLANE_OUT_OF_MEMORY, and the process continues. Each case is a child process with
// a limited address space, in decimal gigabytes; Node itself takes 0.75 of them. Linux only,
// because other systems do not enforce the limit.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../support/memory-limit.mjs', import.meta.url))
const CODE = 'ERR_TOKENLANE_OUT_OF_MEMORY'

const isLimited = process.platform === 'linux' && has('prlimit')
const skip = isLimited ? false : 'needs prlimit, and a system that enforces RLIMIT_AS'
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-memory-'))
after(() => fs.rmSync(folder, { recursive: true }))

function has(program) {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Runs a process within limits. Resolves to how it ended and what it printed. */
function limited(limits, args, options = {}) {
  return new Promise((resolve) => {
    const env = { ...process.env, TOKENLANE_TEST_FOLDER: folder, ...options.env }
    execFile('prlimit', [...limits, process.execPath, ...args], { env }, (error, stdout, stderr) => {
      resolve({ status: error ? (error.signal ?? error.code) : 0, stdout, stderr })
    })
  })
}

/** Other allowed outcomes: the argument did not fit into memory, or the file is not a tokenizer. */
const expected = ['NO_ARGUMENT', 'ERR_TOKENLANE_UNKNOWN_FORMAT', 'ERR_TOKENLANE_SHAPE']

async function outcome(gigabytes, ...args) {
  const { status, stdout, stderr } = await limited([`--as=${gigabytes * 1e9}`], [PROGRAM, ...args])
  assert.equal(status, 0, `${args.join(' ')} in ${gigabytes} GB ended the process: ${stderr.slice(-2000)}`)
  const { result, after } = JSON.parse(stdout)
  assert.ok(
    typeof result === 'number' || [CODE, ...expected].includes(result),
    `${args.join(' ')} in ${gigabytes} GB: ${result}`,
  )
  assert.ok(after, `${args.join(' ')} in ${gigabytes} GB: no short text afterwards`)
  return result
}

const CASES = [
  ['encode', 'words', 60],
  ['encode', 'letters', 60],
  ['encode', 'decomposed', 60],
  ['encode', 'ideographs', 200],
  ['encode bytes', 'words', 60],
  ['offsets', 'words', 60],
  ['offsets', 'decomposed', 30],
  ['word ids', 'ideographs', 30],
  ['tokens', 'words', 20],
  ['count', 'letters', 100],
  ['countBatch', 'words', 100],
  ['encodeBatch', 'words', 100],
  ['encodeBatch', 'decomposed', 30],
  ['encodeBatch of one', 'digits', 60],
  ['encodeBatch with offsets', 'words', 60],
  ['encodeBatch of many', 'letters', 20],
  ['overflow', 'words', 30],
  ['decode', 'words', 200],
  ['decodeBytes', 'words', 200],
  ['decodeBatch', 'words', 200],
  ['decodeStream', 'words', 200],
  ['encodeInto', 'words', 100],
  ['truncate', 'decomposed', 60],
  ['split', 'words', 20],
  ['tokenToId', 'letters', 200],
  ['fromBuffer', 'words', 200],
  ['fromBuffer', 'letters', 100],
  ['fromBuffer', 'digits', 100],
  ['fromFile', 'words', 100],
]

/** npm test runs these; TOKENLANE_ALL_MEMORY_CASES=1 runs all, with less memory too. */
const isShort = process.env.TOKENLANE_ALL_MEMORY_CASES !== '1'
const SHORT = ['encode', 'encode bytes', 'count', 'encodeBatch', 'decode', 'tokenToId', 'split']

for (const [call, kind, mebibytes] of CASES.filter(([call]) => !isShort || SHORT.includes(call))) {
  test(`${call} of ${mebibytes} MiB of ${kind} gives a result or ${CODE}`, { skip }, async () => {
    for (const gigabytes of isShort ? [1.5] : [1.2, 1.5, 3]) await outcome(gigabytes, call, kind, String(mebibytes))
  })
}

test('calls that fit into memory succeed, and the others are errors', { skip }, async () => {
  assert.equal(await outcome(3, 'count', 'letters', '60'), (60 << 20) / 8)
  assert.equal(await outcome(1.2, 'encode', 'words', '200'), CODE)
  assert.equal(await outcome(1.2, 'encode', 'decomposed', '100'), CODE)
})

test('if no thread can be started, a batch runs on the calling one', { skip }, async () => {
  // The user may start no further processes or threads, except for Node's own threads, which start
  // first.
  const program = `
    import { Tokenizer } from ${JSON.stringify(new URL('../../index.mjs', import.meta.url).href)}
    import { execFileSync } from 'node:child_process'
    const tokenizer = Tokenizer.fromEncodingSync('r50k_base')
    const texts = Array.from({ length: 2000 }, (_, row) => \`a text with the number \${row} and more words in it\`)
    const expected = tokenizer.encodeBatchSync(texts, { threads: 1 }).ids.length
    // Starts Node's own threads.
    await (await import('node:fs/promises')).stat('.')
    execFileSync('prlimit', ['--nproc=1', '--pid', String(process.pid)])
    // The limit does not bind root.
    if (process.getuid() === 0) process.setuid(65534)
    console.log(tokenizer.encodeBatchSync(texts, { threads: 8 }).ids.length === expected)
    console.log((await tokenizer.encodeBatch(texts, { threads: 8 })).ids.length === expected)
  `
  const { status, stdout, stderr } = await limited([], ['--input-type=module', '-e', program])
  assert.equal(status, 0, stderr)
  assert.equal(stdout, 'true\ntrue\n')
})
