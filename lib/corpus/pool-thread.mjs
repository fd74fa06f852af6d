// A thread of a pool (thread-pool.mjs).

import { parentPort, workerData } from 'node:worker_threads'

import { packError } from './errors.mjs'

const { work } = await import(workerData.module)

parentPort.on('message', async ({ id, value }) => {
  try {
    parentPort.postMessage({ id, value: await work(value) })
  } catch (failure) {
    parentPort.postMessage({ id, error: packError(failure) })
  }
})
