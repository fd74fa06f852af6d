#!/usr/bin/env node
// Does the kernel take the pages that the pool has given free, when memory is short, and is the next batch right?
//
//   usage: node scripts/memory-pressure.mjs        as root, on Linux with cgroup v1's memory controller
//
// A process in a group with a memory limit gives results back, so that the kernel may have their pages; then it fills
// memory up to the limit. What was free for the kernel has to be gone, and what is encoded afterwards the same as before.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'

const CONTROLLER = '/sys/fs/cgroup/memory'
const LIMIT = 400 << 20

if (process.argv[2] === 'inside') await inside()
else outside()

function outside() {
  if (!fs.existsSync(path.join(CONTROLLER, 'memory.limit_in_bytes')) || process.getuid?.() !== 0) {
    console.error(`this needs root and cgroup v1: there is no ${CONTROLLER} that this process may write`)
    process.exit(1)
  }
  const group = path.join(CONTROLLER, `tokenlane-${process.pid}`)
  fs.mkdirSync(group)
  try {
    fs.writeFileSync(path.join(group, 'memory.limit_in_bytes'), String(LIMIT))
    const file = new URL(import.meta.url).pathname
    // The shell enters the group, and becomes the process that is measured.
    const command = 'echo $$ > "$1/cgroup.procs" && exec "$2" "$3" inside'
    const result = spawnSync('sh', ['-c', command, 'sh', group, process.execPath, file], { stdio: 'inherit' })
    process.exitCode = result.status ?? 1
  } finally {
    fs.rmdirSync(group)
  }
}

async function inside() {
  const { Tokenizer, memory } = await import('../index.mjs')
  const gpt = Tokenizer.fromEncodingSync('r50k_base')
  const rows = Array.from({ length: 500 }, (_, i) => `${i} ${'a b c d '.repeat(800)}`)
  const held = []
  for (let i = 0; i < 19; i++) held.push(await gpt.encodeBatch(rows))
  const expected = Buffer.from(held[0].ids.slice().buffer)
  // Between results that are held free memory is only advised; at the end of what is mapped it is given back at once.
  for (let i = 0; i < held.length; i += 2) held[i].dispose()
  await turn()
  for (let i = 0; i < 100; i++) (await gpt.encodeBatch(rows)).dispose()
  const before = lazyBytes()
  // Fill memory until the kernel has to look for pages.
  const ballast = []
  for (let i = 0; i < 4096 && lazyBytes() > before / 2; i++) ballast.push(Buffer.alloc(1 << 20, 1))
  const after = lazyBytes()
  ballast.length = 0
  const again = await gpt.encodeBatch(rows)
  const same = Buffer.from(again.ids.slice().buffer).equals(expected)
  const mib = (bytes) => (bytes / 2 ** 20).toFixed(1)
  console.log(`free for the kernel: ${mib(before)} MiB, after memory was short: ${mib(after)} MiB; the next batch is ${same ? 'right' : 'WRONG'}`)
  console.log(`pool: ${mib(memory.stats().mapped)} MiB mapped`)
  process.exit(before > 8 << 20 && after <= before / 2 && same ? 0 : 1)
}

function lazyBytes() {
  const found = fs.readFileSync('/proc/self/smaps', 'utf8').matchAll(/^LazyFree: *(\d+) kB/gm)
  return [...found].reduce((sum, [, kib]) => sum + kib * 1024, 0)
}
