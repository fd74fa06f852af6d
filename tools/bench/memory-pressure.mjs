#!/usr/bin/env node
// Checks that the kernel reclaims the free pages of the pool when memory is short, and that the
// next batch is still correct.
//
//   usage: node tools/bench/memory-pressure.mjs     as root, on Linux with cgroup v1
//
// A process in a control group with a memory limit releases results, so that the kernel may reclaim
// their pages, and then fills memory up to the limit. The kernel must have reclaimed the free
// pages, and encoding must still return the same ids.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const CONTROLLER = '/sys/fs/cgroup/memory'
const LIMIT_BYTES = 400 << 20

if (process.argv[2] === 'inside') await inside()
else outside()

function outside() {
  if (!fs.existsSync(path.join(CONTROLLER, 'memory.limit_in_bytes')) || process.getuid?.() !== 0) {
    console.error(`this needs root and cgroup v1: ${CONTROLLER} does not exist or is not writable`)
    process.exit(1)
  }
  const group = path.join(CONTROLLER, `tokenlane-${process.pid}`)
  fs.mkdirSync(group)
  try {
    fs.writeFileSync(path.join(group, 'memory.limit_in_bytes'), String(LIMIT_BYTES))
    const file = fileURLToPath(import.meta.url)
    // The shell enters the group, and then becomes the measured process.
    const command = 'echo $$ > "$1/cgroup.procs" && exec "$2" "$3" inside'
    const result = spawnSync('sh', ['-c', command, 'sh', group, process.execPath, file], { stdio: 'inherit' })
    process.exitCode = result.status ?? 1
  } finally {
    fs.rmdirSync(group)
  }
}

async function inside() {
  const { Tokenizer, memory } = await import('../../index.mjs')
  const gpt = Tokenizer.fromEncodingSync('r50k_base')
  const rows = Array.from({ length: 500 }, (_, i) => `${i} ${'a b c d '.repeat(800)}`)
  const held = []
  for (let i = 0; i < 19; i++) held.push(await gpt.encodeBatch(rows))
  const expected = Buffer.from(held[0].ids.slice().buffer)
  // Free memory between live results is only marked with madvise; free memory at the end of the
  // mapping is unmapped at once.
  for (let i = 0; i < held.length; i += 2) held[i].dispose()
  await turn()
  for (let i = 0; i < 100; i++) (await gpt.encodeBatch(rows)).dispose()
  const before = lazyBytes()
  // Fills memory until the kernel must reclaim pages.
  const ballast = []
  for (let i = 0; i < 4096 && lazyBytes() > before / 2; i++) ballast.push(Buffer.alloc(1 << 20, 1))
  const after = lazyBytes()
  ballast.length = 0
  const again = await gpt.encodeBatch(rows)
  const same = Buffer.from(again.ids.slice().buffer).equals(expected)
  const mib = (bytes) => (bytes / 2 ** 20).toFixed(1)
  console.log(
    `reclaimable: ${mib(before)} MiB, after the shortage: ${mib(after)} MiB; the next batch is ${same ? 'correct' : 'WRONG'}`,
  )
  console.log(`pool: ${mib(memory.stats().mapped)} MiB mapped`)
  process.exit(before > 8 << 20 && after <= before / 2 && same ? 0 : 1)
}

/** The bytes that the kernel may reclaim from this process. */
function lazyBytes() {
  const found = fs.readFileSync('/proc/self/smaps', 'utf8').matchAll(/^LazyFree: *(\d+) kB/gm)
  return [...found].reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0)
}
