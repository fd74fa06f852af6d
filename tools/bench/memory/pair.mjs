// Two processes that alternate batch by batch, so that a slow phase of the machine affects both.

import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Runs child.cjs with `args` in two environments. Returns the ratio of the first one's throughput
 * per processor second to the second one's, for each batch of the second half.
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
    // The order is reversed after every batch, to cancel drift.
    for (const { child, ended } of batch % 2 === 0 ? runs : runs.toReversed()) {
      child.stdin.write('\n')
      await Promise.race([once(child.stdout, 'data'), ended])
    }
  }
  await Promise.all(runs.map((run) => run.ended))
  const [one, other] = runs.map((run) => JSON.parse(run.text).cpus)
  return one.map((cpu, batch) => cpu / other[batch]).slice(batches >> 1)
}
