'use strict'

// The cost limits of rendering a chat template. Templates come from repositories or from requests,
// so every operation charges the size of its result before it creates it, and of its input before
// it reads it. There are three accounts:
//
//   work    in steps; a step is about 30 ns: one node of the template, one element of a list, eight
//           characters that are examined one by one, or 32 that are copied or compared
//   memory  in bytes of all values that were created, whether they are still in use or not
//   output  in characters of the rendered text
//
// Work and memory start at their limits and grow with the values that the template gets, up to
// GROWTH times the limit: long conversations need more, but their cost stays bounded.
//
// Rendering is synchronous, so the current cost is a variable of this module: `within` sets it
// for the duration of a call. A function of the caller may render another template meanwhile.

/** Default limits, in steps, bytes, and UTF-16 units of output. */
const LIMITS = Object.freeze({
  maxChatWork: 6_000_000,
  maxChatMemory: 128 * 1024 * 1024,
  maxChatOutput: 64 * 1024 * 1024,
})

const GROWTH = 3
const STEPS_PER_VALUE = 300
const STEPS_PER_CHARACTER = 0.5
const BYTES_PER_VALUE = 2048
const BYTES_PER_CHARACTER = 16

const CHARACTERS_SCANNED_PER_STEP = 32
const CHARACTERS_WALKED_PER_STEP = 8
const BYTES_PER_STEP = 64

/** Maximum depth of nested values, expressions, blocks and macro calls. */
const MAX_DEPTH = 200

/**
 * A template exceeded a limit. `option` is the option that raises it, if there is one, `unit` what
 * is counted, `allowed` the limit.
 */
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

class RenderCost {
  /** Takes limits with the names of {@link LIMITS}. */
  constructor({ maxChatWork, maxChatMemory, maxChatOutput }) {
    this.work = maxChatWork
    this.memory = maxChatMemory
    this.output = maxChatOutput
    this.depth = 0
    this.allowed = { work: maxChatWork, memory: maxChatMemory, output: maxChatOutput }
    this.max = { work: GROWTH * maxChatWork, memory: GROWTH * maxChatMemory }
  }

  /**
   * Increases the limits for a value of the caller. `characters` is the length of a string, else 0.
   */
  grow(characters) {
    this.#add('work', STEPS_PER_VALUE + STEPS_PER_CHARACTER * characters)
    this.#add('memory', BYTES_PER_VALUE + BYTES_PER_CHARACTER * characters)
  }

  #add(account, size) {
    const added = Math.min(size, this.max[account] - this.allowed[account])
    // With a limit of Infinity the difference is NaN, and nothing needs to be added.
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

/** Runs `run` with this cost, and restores the previous one. */
function within(cost, run) {
  const outer = current
  current = cost
  try {
    return run()
  } finally {
    current = outer
  }
}

// The comparisons are written so that NaN exceeds the limits too.

/** Charges work. */
function spend(steps) {
  if (!((current.work -= steps) >= 0)) current.exceed('work')
}

/** Charges work for characters that the engine copies, compares or searches. */
function scan(characters) {
  spend(characters / CHARACTERS_SCANNED_PER_STEP)
}

/** Charges work for characters that are examined one by one. */
function walk(characters) {
  spend(characters / CHARACTERS_WALKED_PER_STEP)
}

/** Charges memory, and the work to fill it. */
function allocate(bytes) {
  if (!((current.memory -= bytes) >= 0)) current.exceed('memory')
  spend(bytes / BYTES_PER_STEP)
}

/** Charges a string of `length` UTF-16 units. */
function allocateText(length) {
  allocate(24 + 2 * length)
}

/** Charges a list of `length` elements, without the elements. */
function allocateList(length) {
  allocate(48 + 8 * length)
}

/** Charges characters of the rendered text. */
function output(characters) {
  if (!((current.output -= characters) >= 0)) current.exceed('output')
}

/** Increases the limits for a value of the caller. */
function admit(characters) {
  current.grow(characters)
}

/** Runs `run` one level deeper in the nesting of macros and recursive loops. */
function deeper(what, run) {
  checkDepth(++current.depth, what)
  try {
    return run()
  } finally {
    current.depth--
  }
}

/** Throws if values are nested too deeply. */
function checkDepth(depth, what) {
  if (depth > MAX_DEPTH) throw new LimitError(undefined, `levels of nested ${what}`, MAX_DEPTH)
}

module.exports = {
  LIMITS,
  RenderCost,
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
