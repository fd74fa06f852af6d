// One case of 28-file-limits in a process of its own: makes the file, loads it, calls, and prints what came out of that and
// the most memory that the process had. The limits on it are set by whoever starts it.

import { CASES } from './file-limit-cases.mjs'

const [name] = process.argv.slice(2)
const { Tokenizer } = await import('../../index.mjs')
const outcome = { code: undefined, value: undefined }
try {
  outcome.value = CASES[name].run(Tokenizer)
} catch (error) {
  const { code, message, component, reached, limit } = error
  Object.assign(outcome, { code, component, reached, limit, message: String(message).slice(0, 200) })
}
// In kilobytes.
outcome.peak = process.resourceUsage().maxRSS
console.log(JSON.stringify(outcome))
