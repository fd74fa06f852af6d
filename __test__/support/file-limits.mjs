// Runs cases of core/file-limits in their own process: creates and loads the file, makes the call,
// and returns the outcome and the peak memory. The parent process sets the limits.

import fs from 'node:fs'

import { Tokenizer } from '../../index.mjs'
import { answer } from './answer.mjs'
import { CASES } from './file-limit-cases.mjs'

answer((name) => {
  // Makes the peak that of this case.
  fs.writeFileSync('/proc/self/clear_refs', '5')
  const outcome = { code: undefined, value: undefined }
  try {
    outcome.value = CASES[name].run(Tokenizer)
  } catch (error) {
    const { code, message, component, reached, limit } = error
    Object.assign(outcome, { code, component, reached, limit, message: String(message).slice(0, 200) })
  }
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8')) ?? []
  return { ...outcome, peak: Number(kilobytes) }
})
