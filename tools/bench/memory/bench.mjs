#!/usr/bin/env node
// npm run maintain -- bench-memory [--corpus file] [--tokenizer tokenizer.json] [--batches 50]
//   [--build-only | --no-build]
//
// Measures the memory use of the package: builds the addon with and without mimalloc, measures both
// from JavaScript and from Rust, prints the counters of the pool, and writes docs/memory.md.
// Without --corpus the sample of tools/data is repeated to several megabytes; such a text says
// little about the word cache. Builds take most of the time: --build-only stops after them, and
// --no-build uses the results of the last build.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { checkCompilers, checkNode, install, root, stop } from '../../setup.mjs'

const SAMPLE_BYTES = 6 << 20
const ALLOCATORS = { mimalloc: [], system: ['--no-default-features'] }
const POOLS = ['split', 'binned', 'off']
// Other processes may use the machine, and its clock frequency drifts. Variants that are compared
// therefore run alternately for this many rounds. Throughput is the best round, a ratio is the
// median of the ratios of neighbouring rounds, and everything else is the median.
const ROUNDS = 2
const TRACES = {
  batches: { title: 'allocations of batches', rounds: 7 },
  many: { title: 'a million blocks', rounds: 7 },
  decades: { title: 'sizes over six decades', rounds: 3 },
}
const LIBRARY = { linux: 'libtokenlane.so', darwin: 'libtokenlane.dylib', win32: 'tokenlane.dll' }[process.platform]

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    tokenizer: { type: 'string' },
    batches: { type: 'string', default: '50' },
    'build-only': { type: 'boolean' },
    'no-build': { type: 'boolean' },
  },
})
const batches = Number(values.batches)
if (!(Number.isInteger(batches) && batches > 1)) stop('--batches must be a whole number, 2 or more')

checkNode()
checkCompilers()
install()
const folder = path.join(root, 'target', 'bench-memory')
fs.mkdirSync(folder, { recursive: true })
const corpus = values.corpus === undefined ? sample() : path.resolve(values.corpus)
const tokenizer = values.tokenizer === undefined ? undefined : path.resolve(values.tokenizer)
const target = JSON.parse(output('cargo', ['metadata', '--no-deps', '--format-version', '1'])).target_directory

const addons = Object.fromEntries(Object.keys(ALLOCATORS).map((name) => [name, addon(name)]))
const throughput = Object.fromEntries(Object.keys(ALLOCATORS).map((name) => [name, throughputExample(name)]))
const example = buildExample('pools', 'pools', [])
if (values['build-only']) process.exit(0)

const lines = []
say('# Memory measurements', '')
say(
  'Made by `npm run maintain -- bench-memory`; do not edit. One run on one machine: read the figures as sizes, not as constants.',
  '',
)
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
const name = (file) =>
  path.basename(file) === 'tokenizer.json' ? `${path.basename(path.dirname(file))}/tokenizer.json` : path.basename(file)
table(
  ['', ''],
  [
    ['date', new Date().toISOString().slice(0, 10)],
    [
      'machine',
      `${os.cpus()[0]?.model.trim() ?? 'unknown processor'}, ${os.cpus().length} processors, ${os.type()} ${os.arch()}`,
    ],
    ['versions', `tokenlane ${version}, Node ${process.version}, ${output('rustc', ['--version']).trim()}`],
    [
      'command',
      `\`npm run maintain -- bench-memory --corpus ${name(corpus)} --tokenizer ${tokenizer === undefined ? 'r50k_base' : name(tokenizer)} --batches ${batches}\``,
    ],
    ['a batch', `${(fs.statSync(corpus).size / 2 ** 20).toFixed(1)} MiB of text in documents of at least 6,500 bytes`],
    [
      'load average at the start',
      os
        .loadavg()
        .map((load) => load.toFixed(1))
        .join(', '),
    ],
  ],
)
const byAllocator = allocators()
const byPool = pools()
const traces = tracesOfPools()
againstVec()
const loop = steps()
const ends = extremes()
goals()
fs.mkdirSync(path.join(root, 'docs'), { recursive: true })
fs.writeFileSync(path.join(root, 'docs', 'memory.md'), `${lines.join('\n')}\n`)

/** Prints the goals beside the results of this run. */
function goals() {
  say('## Goals', '')
  const sizes = [1, 2].map((threads) =>
    (byAllocator.mimalloc[threads].rss / byAllocator.system[threads].rss).toFixed(2),
  )
  const cap = ends.sync.memory.cap / 2 ** 20
  const time = (trace, cap) => traces[trace][cap].ratio.toFixed(2)
  const names = Object.keys(TRACES)
  const split = names.flatMap((trace) => Object.values(traces[trace]).map((pools) => pools.split))
  table(
    ['figure', 'goal', 'measured'],
    [
      [`RSS after ${batches} batches, MiB`, '<= 130', loop.rss.toFixed(0)],
      ['the last ten batches add, MiB', '< 1', loop.lastTen.toFixed(1)],
      ["mimalloc's RSS / the system allocator's, 1 and 2 threads", '<= 1.15', sizes.join(' and ')],
      ['minor page faults a batch', '< 50', `${loop.faults} (pool off: ${byPool.off.faults})`],
      ...names.map((trace) => [
        `split / binned, processor time, ${TRACES[trace].title}, no cap`,
        '<= 1.05',
        time(trace, 0),
      ]),
      ...names.map((trace) => [
        `the same, ${TRACES[trace].title}, a cap of 120 % of the peak use`,
        '< 1',
        time(trace, 120),
      ]),
      [
        'split, peak mapped / peak requested, maximum over these',
        '<= 1.25',
        Math.max(...split.map((got) => got.fragmentation)).toFixed(2),
      ],
      [
        'an allocation that finds a free block, allocations of batches: median ns',
        '<= 300',
        traces.batches[0].split.hitNs,
      ],
      ['300 synchronous batches: peak RSS, MiB', `<= ${cap + 100}`, ends.sync.peak.toFixed(0)],
      ['eight workers of 100 batches: RSS growth, MiB', '<= 20', (ends.workers.after - ends.workers.before).toFixed(0)],
    ],
  )
}

/** Compares the allocators on one thread and two, from JavaScript and from Rust. */
function allocators() {
  say('## The allocator', '')
  say('Throughput is that of the second half of the batches, per second of wall time and of processor time:')
  say(`the best of ${ROUNDS} runs. Everything else is the median.`, '')
  const rows = []
  const names = Object.keys(ALLOCATORS)
  const measured = Object.fromEntries(names.map((name) => [name, {}]))
  for (const threads of [2, 1]) {
    const runs = alternate(names, ROUNDS, (name) =>
      measure({ threads, mode: 'async' }, { NAPI_RS_NATIVE_LIBRARY_PATH: addons[name] }),
    )
    for (const name of names) {
      const got = (measured[name][threads] = summary(runs[name]))
      rows.push([
        `JS, ${name}`,
        threads,
        ...loopCells(got),
        got.peak.toFixed(0),
        `${(fs.statSync(addons[name]).size / 2 ** 20).toFixed(1)}`,
      ])
    }
  }
  for (const name of tokenizer === undefined ? [] : names) {
    for (const threads of [1, 2]) {
      const args = [tokenizer, corpus, String(threads), 'warm']
      const got = JSON.parse(output(throughput[name], args))
      rows.push([
        `Rust, ${name}`,
        threads,
        got.mib_per_s.toFixed(0),
        got.mib_per_cpu_s.toFixed(0),
        '',
        '',
        '',
        got.peak_mib.toFixed(0),
        '',
      ])
    }
  }
  table(
    ['', 'threads', 'MiB/s', 'MiB/CPU s', 'RSS, MiB', 'the last ten add', 'faults a batch', 'peak, MiB', '.node, MiB'],
    rows,
  )
  return measured
}

/** Combines runs: the best throughput, and the median of everything else. */
function summary(runs) {
  const best = (of) => Math.max(...runs.map((run) => run[of]))
  const typically = (of) => median(runs.map((run) => run[of]))
  const medians = ['rss', 'peak', 'faults', 'lastTen'].map((of) => [of, typically(of)])
  const typical = runs.find((run) => run.rss === typically('rss'))
  return { ...typical, ...Object.fromEntries(medians), wall: best('wall'), cpu: best('cpu') }
}

function loopCells(got) {
  return [got.wall.toFixed(0), got.cpu.toFixed(0), got.rss.toFixed(0), got.lastTen.toFixed(1), got.faults]
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}

/** Runs `run` for each name in each round. The order is reversed every round, to cancel drift. */
function alternate(names, rounds, run) {
  const all = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) all[name].push(run(name))
  }
  return all
}

/** Compares the pools from JavaScript. */
function pools() {
  say('## The pools', '')
  const runs = alternate(POOLS, ROUNDS, (pool) =>
    measure({ threads: 2, mode: 'async' }, { NAPI_RS_NATIVE_LIBRARY_PATH: addons.mimalloc, TOKENLANE_POOL: pool }),
  )
  const measured = Object.fromEntries(POOLS.map((pool) => [pool, summary(runs[pool])]))
  table(
    ['pool', 'MiB/s', 'MiB/CPU s', 'RSS, MiB', 'the last ten add', 'faults a batch'],
    POOLS.map((pool) => [pool, ...loopCells(measured[pool])]),
  )
  return measured
}

/** Compares the pools on traces of allocations. */
function tracesOfPools() {
  const rounds = Object.values(TRACES)
    .map((trace) => trace.rounds)
    .join(', ')
  say(
    `Traces of allocations (\`crates/core/examples/pools.rs\`), the best of ${rounds} runs: processor time in ms; the median`,
  )
  say(
    'of an allocation in ns, including two readings of the clock; peak mapped bytes divided by peak requested',
    'bytes; allocations that the cap refused.',
  )
  say('The ratios below are medians over neighbouring runs.', '')
  const compared = ['split', 'binned']
  const rows = []
  const measured = {}
  for (const trace of Object.keys(TRACES)) {
    measured[trace] = {}
    for (const cap of [0, 120]) {
      const runs = alternate(compared, TRACES[trace].rounds, (pool) =>
        JSON.parse(output(example, [trace, String(cap), pool])),
      )
      const [split, binned] = compared.map((pool) => runs[pool])
      measured[trace][cap] = { ratio: median(split.map((run, round) => run.seconds / binned[round].seconds)) }
      for (const pool of compared) {
        const least = (of) => Math.min(...runs[pool].map((run) => run[of]))
        const got = { ...runs[pool][0], seconds: least('seconds'), hitNs: least('hitNs') }
        measured[trace][cap][pool] = got
        rows.push([
          TRACES[trace].title,
          cap === 0 ? 'none' : `${cap} %`,
          pool,
          (got.seconds * 1e3).toFixed(0),
          got.hitNs,
          got.fragmentation.toFixed(2),
          got.refused,
        ])
      }
    }
  }
  table(['trace', 'cap', 'pool', 'ms', 'ns', 'mapped / requested', 'refused'], rows)
  return measured
}

/** Compares the pool with `Vec` in mimalloc, on the traces above and on one of a service. */
function againstVec() {
  say('## The pool and Vec', '')
  say(
    'The same traces with a `Vec` of mimalloc for each block, and `service`: three batches of 2 MB in flight,',
    'the results of up to eight kept for a while, a pause of 1.5 s after each 100 batches. Processor time in',
    'ms: minimum and median; RSS in MiB: maximum, and at the end of the last pause, after `memory.trim()`.',
    '',
  )
  const rows = Object.entries({ service: { title: 'a service', rounds: 9 }, ...TRACES }).flatMap(
    ([trace, { title, rounds }]) => {
      const kinds = ['split', 'vec']
      const runs = alternate(kinds, rounds, (pool) => JSON.parse(output(example, [trace, '0', pool])))
      return kinds.map((pool) => {
        const of = (field) => runs[pool].map((run) => run[field])
        const ms = [Math.min(...of('seconds')), median(of('seconds'))].map((seconds) => (seconds * 1e3).toFixed(0))
        const rss = ['rss', 'idleRss'].map((field) => (median(of(field)) > 0 ? median(of(field)).toFixed(0) : ''))
        return [title, pool, ...ms, ...rss]
      })
    },
  )
  table(['trace', 'blocks', 'min ms', 'median ms', 'max RSS', 'idle RSS'], rows)
}

/** Prints the counters of the allocation steps. */
function steps() {
  say('## Allocation steps', '')
  const got = measure({ threads: 2, mode: 'async' }, { NAPI_RS_NATIVE_LIBRARY_PATH: addons.mimalloc })
  const rows = Object.entries(got.memory.steps).map(([name, { count, helped, ms }]) => [
    name,
    count,
    helped,
    ms.toFixed(2),
  ])
  table(['step', 'runs', 'successes', 'ms'], rows)
  const { mapped, lent, free, cached, warm, mostLent } = got.memory
  table(
    ['MiB', 'mapped', 'allocated', 'free', 'cached', 'warm', 'peak allocated'],
    [['at the end', ...[mapped, lent, free, cached, warm, mostLent].map((bytes) => (bytes / 2 ** 20).toFixed(1))]],
  )
  const { start, texts, loaded, heap, tables, caches } = got.parts
  say('The parts of the RSS of that process, MiB. The remainder is code and memory that allocators keep.', '')
  const parts = [start, texts - start, loaded - texts, tables, caches, mapped / 2 ** 20, heap, got.rss]
  table(
    [
      'Node with the addon',
      'reading the texts adds',
      'loading the tokenizer adds',
      'tables',
      'word caches',
      'pool',
      "V8's heap",
      'RSS at the end',
    ],
    [parts.map((part) => part.toFixed(1))],
  )
  return got
}

/** Measures a loop that never yields, and workers that start and end. */
function extremes() {
  say('## Extremes', '')
  const env = { NAPI_RS_NATIVE_LIBRARY_PATH: addons.mimalloc }
  const sync = measure({ threads: 2, mode: 'sync', batches: 300 }, env)
  const workers = measure({ threads: 2, mode: 'workers', batches: 100 }, env)
  const idle = measure({ threads: 2, mode: 'idle workers', batches: 100 }, env)
  table(
    ['case', 'MiB'],
    [
      ['300 synchronous batches, results dropped: peak RSS', sync.peak.toFixed(0)],
      ['the cap of the pool', (sync.memory.cap / 2 ** 20).toFixed(0)],
      ['eight workers of 100 batches each: RSS before', workers.before.toFixed(0)],
      ['RSS after they end', workers.after.toFixed(0)],
      ['eight workers that read the same texts and encode nothing: RSS before', idle.before.toFixed(0)],
      ['RSS after they end', idle.after.toFixed(0)],
      ['pool memory that is still allocated', (workers.lent / 2 ** 20).toFixed(1)],
    ],
  )
  return { sync, workers }
}

function measure(task, env) {
  return JSON.parse(output(process.execPath, childArgs(task), { env: { ...process.env, ...env } }))
}

function childArgs(task) {
  return [
    path.join(root, 'tools', 'bench', 'memory', 'child.cjs'),
    JSON.stringify({ corpus, tokenizer, batches, ...task }),
  ]
}

function addon(name) {
  return buildAndKeep(['-p', 'tokenlane', ...ALLOCATORS[name]], LIBRARY, `${name}.node`)
}

function throughputExample(name) {
  return buildExample('throughput', `throughput-${name}`, name === 'mimalloc' ? [] : ['--features', 'system-allocator'])
}

function buildExample(example, name, features) {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  return buildAndKeep(
    ['-p', 'tokenlane-core', '--example', example, ...features],
    path.join('examples', example + suffix),
    name + suffix,
  )
}

/** Builds an artifact, and copies it to a path that the next build does not overwrite. */
function buildAndKeep(what, file, name) {
  const place = path.join(folder, name)
  if (values['no-build']) {
    if (!fs.existsSync(place)) stop(`${place} does not exist: run without --no-build first`)
    return place
  }
  output('cargo', ['build', '--release', ...what])
  fs.copyFileSync(path.join(target, 'release', file), place)
  return place
}

function sample() {
  const texts = path.join(root, 'tools', 'data', 'sample', '')
  const once = fs
    .readdirSync(texts)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => fs.readFileSync(path.join(texts, name), 'utf8'))
    .join('\n')
  const place = path.join(folder, 'sample.txt')
  fs.writeFileSync(place, once.repeat(Math.ceil(SAMPLE_BYTES / Buffer.byteLength(once))))
  return place
}

function output(command, args, options = {}) {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  })
  if (status !== 0) stop(`${command} ${args[0]} failed${error ? `: ${error.message}` : ''}`)
  return stdout
}

function say(...text) {
  lines.push(...text)
  console.log(text.join('\n'))
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  say(line(head), line(head.map(() => '---')), ...rows.map(line), '')
}
