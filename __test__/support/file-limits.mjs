// Runs one case of 28-file-limits in its own process: creates and loads the file, makes the call,
// and prints the outcome and the peak memory. The parent process sets the limits.

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
