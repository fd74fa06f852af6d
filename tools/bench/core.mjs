#!/usr/bin/env node
// npm run bench:core: measures the core on large texts, and compares builds of it. Downloads the
// corpora on first use.
//
//   usage: npm run maintain -- bench-core --vocab FOLDER [--encoding NAME …] [--corpus NAME …]
//                                [--mode MODE …] [--threads N …] [--reps N]
//                                [--baseline PROGRAM] [--misses]
//
// FOLDER has NAME/tokenizer.json for each encoding (default gpt2). PROGRAM is another build of
// target/release/examples/throughput, for comparison. A timed part takes at least half a second.
// The programs run alternately. The output has the median of the repetitions and their range, the
// ratio of the medians, and the page faults of the timed part, which occur at the first access to
// new memory.
//
// With --misses, cachegrind counts instructions and the misses of the first-level and second-level
// caches for 4 MiB of text instead. A busy machine does not change these counts.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { largeCorpora, largeCorpus } from './corpora.mjs'
import { checkCompilers, root, run, stop } from '../setup.mjs'

const MINIMUM_SECONDS = '0.5'
const SAMPLE_BYTES = 4 << 20
const many = /** @type {const} */ ({ type: 'string', multiple: true })

const { values: options } = parseArgs({
  options: {
    vocab: { type: 'string' },
    encoding: { ...many, default: ['gpt2'] },
    corpus: { ...many, default: largeCorpora },
    mode: { ...many, default: ['fresh', 'warm'] },
    threads: { ...many, default: ['1'] },
    reps: { type: 'string', default: '5' },
    baseline: { type: 'string' },
    misses: { type: 'boolean' },
  },
})
if (options.vocab === undefined) stop('--vocab FOLDER is missing: the folder with NAME/tokenizer.json')
const unknown = options.corpus.find((name) => !largeCorpora.includes(name))
if (unknown !== undefined) stop(`there is no corpus ${unknown}: ${largeCorpora.join(', ')}`)

checkCompilers()
const build = ['build', '--release', '--package', 'tokenlane-core', '--example', 'throughput']
if (!run('cargo', build)) stop('the build failed')
const programs = /** @type {Record<string, string>} */ ({
  current: path.join(root, 'target', 'release', 'examples', 'throughput'),
})
if (options.baseline !== undefined) programs.baseline = path.resolve(options.baseline)

for (const corpus of options.corpus) {
  const file = await largeCorpus(corpus)
  for (const encoding of options.encoding) {
    const tokenizer = path.join(options.vocab, encoding, 'tokenizer.json')
    if (options.misses) countMisses(tokenizer, file, `${encoding} ${corpus}`)
    else for (const mode of options.mode) for (const threads of options.threads) measure(tokenizer, file, mode, threads)
  }
}

/** Runs all programs in turn and prints a line for each. */
function measure(tokenizer, file, mode, threads) {
  const names = Object.keys(programs)
  const rates = Object.fromEntries(names.map((name) => [name, []]))
  let shared
  for (let repetition = 0; repetition < Number(options.reps); repetition++) {
    for (const [place] of names.entries()) {
      const name = names[(place + repetition) % names.length]
      const found = result([programs[name], tokenizer, file, threads, mode, MINIMUM_SECONDS])
      rates[name].push({ ...found, rate: threads === '1' ? found.mib_per_cpu_s : found.mib_per_s })
      shared ??= found.fnv
      if (found.fnv !== shared) stop(`${name} has other ids`)
    }
  }
  const medians = names.map((name) => {
    const sorted = rates[name].map(({ rate }) => rate).sort((a, b) => a - b)
    const median = sorted[sorted.length >> 1]
    const faults = rates[name].map(({ faults_per_mib: faults }) => faults).sort((a, b) => a - b)
    const what = `${path.basename(path.dirname(tokenizer))} ${path.basename(file, '.txt')} ${mode} ${threads}`
    const unit = threads === '1' ? 'MiB per CPU second' : 'MiB/s'
    console.log(
      `${what} ${name}: ${median} ${unit} (${sorted[0]} to ${sorted.at(-1)}), ${faults[faults.length >> 1]} faults per MiB`,
    )
    return median
  })
  if (medians.length > 1) console.log(`  ratio ${(medians[0] / medians[1]).toFixed(3)}`)
}

function result([program, ...args]) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) stop(`${program} failed: ${stderr}`)
  return JSON.parse(stdout)
}

/** Prints instructions and cache misses of a sample, without those of loading. */
function countMisses(tokenizer, file, what) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-bench-'))
  try {
    const sample = path.join(folder, 'sample.txt')
    const bytes = Buffer.alloc(SAMPLE_BYTES)
    const open = fs.openSync(file, 'r')
    fs.readSync(open, bytes)
    fs.closeSync(open)
    fs.writeFileSync(sample, bytes.toString())
    fs.writeFileSync(path.join(folder, 'empty.txt'), 'a\n')
    for (const [name, program] of Object.entries(programs)) {
      const of = (text) => events([program, tokenizer, text, '1', 'cold'], folder)
      const [all, load] = [of(sample), of(path.join(folder, 'empty.txt'))]
      const each = Object.keys(all).map((event) => {
        const count = (all[event] - load[event]) / (SAMPLE_BYTES >> 20)
        return `${event} ${Math.round(count).toLocaleString('en')}`
      })
      console.log(`${what} ${name}, per MiB: ${each.join(', ')}`)
    }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

/** The events that cachegrind counts: instructions, and misses of data caches. */
function events(command, folder) {
  const out = path.join(folder, 'out')
  const [first, second] = caches()
  const args = ['--tool=cachegrind', '--cache-sim=yes', `--D1=${first}`, `--LL=${second}`]
  const { status, stderr } = spawnSync('valgrind', [...args, `--cachegrind-out-file=${out}`, ...command], {
    encoding: 'utf8',
  })
  if (status !== 0) stop(`valgrind failed (Debian: apt install valgrind): ${stderr}`)
  const text = fs.readFileSync(out, 'utf8')
  const names = /^events: (.*)$/m.exec(text)[1].split(' ')
  const counts = /^summary: (.*)$/m.exec(text)[1].split(' ').map(Number)
  const count = (name) => counts[names.indexOf(name)]
  return {
    instructions: count('Ir'),
    'first-level misses': count('D1mr') + count('D1mw'),
    'second-level misses': count('DLmr') + count('DLmw'),
  }
}

/** The first-level and second-level data caches of this machine, as arguments of valgrind. */
function caches() {
  const level = (index) => {
    const read = (name) => fs.readFileSync(`/sys/devices/system/cpu/cpu0/cache/index${index}/${name}`, 'utf8').trim()
    try {
      const size = Number.parseInt(read('size'), 10) * 1024
      return `${size},${read('ways_of_associativity')},${read('coherency_line_size')}`
    } catch {
      return undefined
    }
  }
  return [level(0) ?? '32768,8,64', level(2) ?? '1048576,16,64']
}
