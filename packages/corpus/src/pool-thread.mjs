// A thread of a pool (thread-pool.mjs).

import { parentPort, workerData } from 'node:worker_threads'

import { setProjectPlaces } from 'tokenlane/internal/corpus.js'

import { endWork } from './ending.mjs'
import { packError } from './errors.mjs'

setProjectPlaces(workerData.projectPlaces)
const { work } = await import(workerData.module)

/** The calls that have not ended. */
const calls = new Set()

async function answer(id, value) {
  try {
    const onProgress = (progress) => parentPort.postMessage({ id, progress })
    parentPort.postMessage({ id, value: await work(value, onProgress) })
  } catch (failure) {
    parentPort.postMessage({ id, error: packError(failure) })
  }
}

parentPort.on('message', async ({ id, value, isLast }) => {
  if (isLast) {
    endWork()
    await Promise.all(calls)
    process.exit()
  }
  // A message without a call is one for the module.
  if (id === undefined) return
  const call = answer(id, value)
  calls.add(call)
  await call
  calls.delete(call)
})
