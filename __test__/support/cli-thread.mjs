// The thread in which `runIn` runs commands: it gets a command line, and answers with the outcome.

import { workerData } from 'node:worker_threads'

import { runHere } from './cli-here.mjs'

const { port, done } = workerData
port.on('message', async ({ args, options }) => {
  port.postMessage(await runHere(args, options).catch((error) => ({ error })))
  Atomics.store(done, 0, 1)
  Atomics.notify(done, 0)
})
