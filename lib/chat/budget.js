'use strict'

// What rendering a chat template may cost. A template comes from a repository or from a request, so
// every operation charges the size of what it makes before it makes it, and what it reads before it
// reads it. There are three accounts:
//
//   work    in steps; a step is about 30 ns: one node of the template, one element of a list, eight
//           characters that are looked at one by one, or 32 that are copied or compared
//   memory  in bytes of everything that was made, whether it is still in use or not
//   output  in characters of the rendered text
//
// Work and memory start at their limits and grow with the values that the template is given, up to
// GROWTH times the limit: long conversations need more, and no conversation gets more than that.
//
// Rendering is synchronous, so the budget in use is a variable of this module: `within` sets it for
// the duration of a call. A function of the caller's may render another template meanwhile.

const GROWTH = 3
const STEPS_PER_VALUE = 300
const STEPS_PER_CHARACTER = 0.5
const BYTES_PER_VALUE = 2048
const BYTES_PER_CHARACTER = 16

const CHARACTERS_SCANNED_PER_STEP = 32
const CHARACTERS_WALKED_PER_STEP = 8
const BYTES_PER_STEP = 64

/** The depth of values, of expressions, of blocks and of macros that call each other. */
const MAX_DEPTH = 200

/** A limit that a template exceeded: its option if it has one, what it counts, and its size. */
class LimitError extends Error {
  /**
   * @param {string | undefined} option
   * @param {string} unit
   * @param {number} allowed
   */
  constructor(option, unit, allowed) {
    super(`it takes more than ${allowed.toLocaleString('en-US')} ${unit}`)
    this.option = option
    this.allowed = allowed
  }
}

class Budget {
  /** The limits are those of lib/limits.js. */
  constructor({ maxChatWork, maxChatMemory, maxChatOutput }) {
    this.work = maxChatWork
    this.memory = maxChatMemory
    this.output = maxChatOutput
    this.depth = 0
    this.allowed = { work: maxChatWork, memory: maxChatMemory, output: maxChatOutput }
    this.most = { work: GROWTH * maxChatWork, memory: GROWTH * maxChatMemory }
  }

  /** Adds what a value of the caller's allows: `characters` is its length if it is a string. */
  grow(characters) {
    this.#add('work', STEPS_PER_VALUE + STEPS_PER_CHARACTER * characters)
    this.#add('memory', BYTES_PER_VALUE + BYTES_PER_CHARACTER * characters)
  }

  #add(account, size) {
    const added = Math.min(size, this.most[account] - this.allowed[account])
    // With a limit of Infinity the difference is not a number, and nothing has to be added.
    if (!(added > 0)) return
    this.allowed[account] += added
    this[account] += added
  }

  exceed(account) {
    const [option, unit] = {
      work: ['maxChatWork', 'steps'],
      memory: ['maxChatMemory', 'bytes of memory'],
      output: ['maxChatOutput', 'characters of output'],
    }[account]
    throw new LimitError(option, unit, Math.floor(this.allowed[account]))
  }
}

let current = null

/** Runs `run` with this budget, and with the one before again afterwards. */
function within(budget, run) {
  const outer = current
  current = budget
  try {
    return run()
  } finally {
    current = outer
  }
}

// The comparisons below are written so that NaN is refused too.

/** Charges work. */
function spend(steps) {
  if (!((current.work -= steps) >= 0)) current.exceed('work')
}

/** Charges work for characters that are copied, compared or searched natively. */
function scan(characters) {
  spend(characters / CHARACTERS_SCANNED_PER_STEP)
}

/** Charges work for characters that are looked at one by one. */
function walk(characters) {
  spend(characters / CHARACTERS_WALKED_PER_STEP)
}

/** Charges memory, and the work of filling it. */
function allocate(bytes) {
  if (!((current.memory -= bytes) >= 0)) current.exceed('memory')
  spend(bytes / BYTES_PER_STEP)
}

/** Charges a string of so many UTF-16 units. */
function allocateText(length) {
  allocate(24 + 2 * length)
}

/** Charges a list of so many elements, not the elements themselves. */
function allocateList(length) {
  allocate(48 + 8 * length)
}

/** Charges characters of the rendered text. */
function output(characters) {
  if (!((current.output -= characters) >= 0)) current.exceed('output')
}

/** Counts a value that the caller gives to the template. */
function admit(characters) {
  current.grow(characters)
}

/** Runs `run` one level deeper in macros and loops that call each other. */
function deeper(what, run) {
  checkDepth(++current.depth, what)
  try {
    return run()
  } finally {
    current.depth--
  }
}

/** Refuses what is nested too deeply. */
function checkDepth(depth, what) {
  if (depth > MAX_DEPTH) throw new LimitError(undefined, `levels of nested ${what}`, MAX_DEPTH)
}

module.exports = {
  Budget,
  LimitError,
  admit,
  allocate,
  allocateList,
  allocateText,
  checkDepth,
  deeper,
  output,
  scan,
  spend,
  walk,
  within,
}
