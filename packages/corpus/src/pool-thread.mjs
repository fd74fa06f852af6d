// A thread of a pool (thread-pool.mjs).

import { parentPort, workerData } from 'node:worker_threads'

import { setProjectPlaces } from 'tokenlane/internal/corpus.js'

import { packError } from './errors.mjs'

setProjectPlaces(workerData.projectPlaces)
const { work } = await import(workerData.module)

parentPort.on('message', async ({ id, value }) => {
  // A message without a call is one for the module.
  if (id === undefined) return
  try {
    const onProgress = (progress) => parentPort.postMessage({ id, progress })
    parentPort.postMessage({ id, value: await work(value, onProgress) })
  } catch (failure) {
    parentPort.postMessage({ id, error: packError(failure) })
  }
})
