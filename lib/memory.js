'use strict'

// The API of the memory pool that holds results of batches, and the garbage collections that
// JavaScript threads run for it.

const { wrongType, wrongValue, unknownOption } = require('./errors.js')
const native = require('./native.js')
const runtime = require('./runtime.js')

const POOLS = ['split', 'binned']
const ADVICE = ['free', 'dontneed', 'off']
const MEMORY_OPTIONS = ['pool', 'cap', 'madvise', 'collect']

/** Smallest cap in bytes. A smaller one could not hold the chunks of one batch. */
const MIN_CAP = 1 << 20

// The order is that of src/memory.rs.
const BYTES = ['mapped', 'outstanding', 'free', 'cached', 'warm', 'peakOutstanding', 'cap', 'external']
const STEPS = ['scan', 'merge', 'map', 'reclaim', 'quickCollection', 'fullCollection', 'copy']
const QUICK = 1
const FULL = 2

// Applies TOKENLANE_POOL and TOKENLANE_MADVISE.
native.prepareMemory()

const memory = {
  /** Settings, sizes and counters of the pool. */
  stats() {
    const { pool, madvise, collect, bytes, steps } = native.memoryStats()
    const stats = { pool, madvise, collect }
    BYTES.forEach((name, i) => (stats[name] = bytes[i]))
    stats.steps = {}
    STEPS.forEach((name, i) => {
      const [count, helped, ms] = steps.slice(3 * i, 3 * i + 3)
      stats.steps[name] = { count, helped, ms }
    })
    return stats
  },

  /** Changes the given settings. */
  configure(options) {
    if (typeof options !== 'object' || options === null) throw wrongType('options', 'an object', options)
    const known = {}
    for (const name of Object.keys(options)) {
      if (!MEMORY_OPTIONS.includes(name)) throw unknownOption(name, MEMORY_OPTIONS)
      if (options[name] !== undefined) known[name] = options[name]
    }
    checkName('pool', known.pool, POOLS)
    checkName('madvise', known.madvise, ADVICE)
    if (known.cap !== undefined) checkCap(known.cap)
    if (known.collect !== undefined && typeof known.collect !== 'boolean') {
      throw wrongType('collect', 'a boolean', known.collect)
    }
    native.configureMemory(known)
  },

  /** Returns unused memory to the system. */
  trim() {
    native.trimMemory()
  },
}

function checkName(option, value, names) {
  if (value === undefined) return
  const expected = names.map((name) => `'${name}'`).join(' or ')
  if (typeof value !== 'string') throw wrongType(option, expected, value)
  if (!names.includes(value)) throw wrongValue(option, expected, value)
}

function checkCap(cap) {
  if (typeof cap !== 'number') throw wrongType('cap', 'a number of bytes', cap)
  const max = runtime.systemMemory()
  if (!(Number.isInteger(cap) && cap >= MIN_CAP && cap <= max)) {
    throw wrongValue('cap', `a whole number of bytes from ${MIN_CAP} to ${max}, the memory of this machine`, cap)
  }
}

/**
 * Is called with every result, and collects garbage if the addon requests it. This frees
 * unreachable results early; V8 counts the external memory that they hold, but collects only when
 * there is a lot of it.
 */
function collectIfRequested() {
  const kind = native.nextCollection()
  if (kind === QUICK || kind === FULL) collect(kind)
  hasResults = true
  if (pending !== 0) wait(0)
}

/** Bytes of results of single texts that justify a quick collection: 8 MiB. */
const MAX_RESULT_BYTES = 8 << 20
/** The part of the time that quick collections for these results may take: 1/50. */
const RESULT_SHARE = 50

/** Bytes of results of single texts since the last collection for them. */
let resultBytes = 0
/** When the next collection for them may start. */
let resultRest = 0

/**
 * Counts a result of one text. V8 holds small ones in memory of its own, and collects only after
 * they have 64 MiB, most of which would remain with the process.
 *
 * @param {number} bytes
 */
function countResult(bytes) {
  resultBytes += bytes
  if (resultBytes >= MAX_RESULT_BYTES) collectResults()
}

function collectResults() {
  resultBytes = 0
  const now = performance.now()
  if (now < resultRest || !memory.stats().collect) return
  resultRest = now + collect(QUICK) * RESULT_SHARE
}

/** The steps of an idle process, each with its delay in milliseconds after the step before. */
const IDLE_STEPS = [
  { after: 250, run: () => collectIdle(QUICK, 1 << 20) },
  // The finalizers of results run in later iterations of the event loop.
  { after: 20, run: () => collectIdle(FULL, 4 << 20) },
  { after: 20, run: () => native.releaseIdle(false) },
  { after: 5000, run: () => native.releaseIdle(true) },
]

// Captured at load time: a test of the user may replace the global by a timer that never fires.
const { clearTimeout, setTimeout } = globalThis

/** The step that the timer is set for; undefined if it is not set. */
let pending
let timer
/** Whether this thread has received a result since the timer was set. */
let hasResults = false

/** Sets the timer for a step. It does not keep the process alive. */
function wait(step) {
  clearTimeout(timer)
  hasResults = false
  pending = step
  if (step === IDLE_STEPS.length) return (pending = undefined)
  timer = setTimeout(() => {
    const isIdle = !hasResults && native.isIdle(IDLE_STEPS[0].after)
    if (isIdle) IDLE_STEPS[step].run()
    wait(isIdle ? step + 1 : 0)
  }, IDLE_STEPS[step].after)
  timer.unref?.()
}

/** The part of the time that collections of an idle process may take: 1/200. */
const IDLE_SHARE = 200

/** A full collection of a larger heap, in bytes, would take too long. */
const MAX_HEAP = 64 << 20

/** Per kind: when the next collection of an idle process may start, and how many freed little. */
const rests = { [QUICK]: { until: 0, fruitless: 0 }, [FULL]: { until: 0, fruitless: 0 } }

/** Collects garbage if results hold at least `least` bytes. */
function collectIdle(kind, least) {
  const rest = rests[kind]
  const { collect: isOn, external: before } = memory.stats()
  const start = performance.now()
  if (!isOn || before < least || start < rest.until) return
  if (kind === FULL && runtime.heapBytes() > MAX_HEAP) return
  const took = collect(kind)
  setTimeout(() => {
    // Results that a collection did not free are likely to be in use for long.
    rest.fruitless = memory.stats().external > before / 2 ? Math.min(rest.fruitless + 1, 10) : 0
    rest.until = performance.now() + took * IDLE_SHARE * 2 ** rest.fruitless
  }, IDLE_STEPS[1].after / 2).unref?.()
  rest.until = start + took * IDLE_SHARE
}

let gc

/**
 * Runs a collection and returns its duration in milliseconds. A full one needs a call without
 * arguments: up to Node 20 any object requests a quick one, whatever its `type` is.
 */
function collect(kind) {
  // Before the clock starts, because the first lookup takes longer than ten quick collections.
  gc ??= runtime.findGc()
  const start = performance.now()
  if (kind === FULL) gc()
  else gc({ type: 'minor', execution: 'sync' })
  const took = performance.now() - start
  native.collected(kind === FULL, took)
  return took
}

module.exports = { memory, collectIfRequested, countResult }
