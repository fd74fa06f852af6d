// Two processes that encode in turn, batch by batch: whatever slows the machine down for a while slows both.

import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Starts child.cjs with `args` in each of two environments. Gives what the first encodes in a second of the processors, beside the
 * second: a ratio for each of the later half of the batches.
 */
export async function pair(args, envs, batches) {
  const runs = envs.map((env) => {
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
    const run = { child, text: '' }
    child.stdout.setEncoding('utf8').on('data', (text) => (run.text += text))
    run.ended = once(child, 'close').then(([status]) => {
      if (status !== 0) throw new Error(`${args[0]} failed`)
    })
    return run
  })
  for (let batch = 0; batch < batches; batch++) {
    // There and back, so that none is always the later one.
    for (const { child, ended } of batch % 2 === 0 ? runs : runs.toReversed()) {
      child.stdin.write('\n')
      await Promise.race([once(child.stdout, 'data'), ended])
    }
  }
  await Promise.all(runs.map((run) => run.ended))
  const [one, other] = runs.map((run) => JSON.parse(run.text).cpus)
  return one.map((cpu, batch) => cpu / other[batch]).slice(batches >> 1)
}
