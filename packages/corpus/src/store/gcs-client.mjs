// The client of Google Cloud Storage: gs://bucket/key. The package finds the credentials: in
// GOOGLE_APPLICATION_CREDENTIALS, in those of gcloud, or by the role of the machine.

import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'

import { optional, signalOfRequest, watch } from 'tokenlane/internal/corpus.js'
import { inputChanged } from '../errors.mjs'
import { partsOf } from './address.mjs'
import { listedKeys } from './listing.mjs'
import { readRange, watched } from './ranges.mjs'
import { ifThere, isExplained, isWritten, noCredentials, once, sender, storeFailure } from './store-failure.mjs'

const PACKAGE = '@google-cloud/storage'
/** How often a request is tried again. */
const MAX_RETRIES = 5
/** Size in bytes from which a file is uploaded in parts. */
const MIN_RESUMABLE_BYTES = 8 << 20

/** The client of this thread. */
const client = once(connect)

/**
 * The signal of a call of the package, which takes none: where it aborts, the connections of the
 * call no longer keep the process alive.
 */
const signalOfCall = new AsyncLocalStorage()

/** Called for each request of HTTP in this thread, in the context of the call that sends it. */
function leaveWithCall({ request }) {
  const signal = signalOfCall.getStore()
  if (signal === undefined) return
  const leave = () => request.socket?.unref()
  if (signal.aborted) leave()
  else request.once('close', watch(signal, leave))
}

async function connect() {
  subscribe('http.client.request.start', leaveWithCall)
  const lib = await optional(() => import(PACKAGE), PACKAGE, 'An address that starts with gs://')
  const { Storage, IdempotencyStrategy } = lib
  // A write that is repeated writes the same bytes again.
  const idempotencyStrategy = IdempotencyStrategy.RetryAlways
  return new Storage({ retryOptions: { autoRetry: true, maxRetries: MAX_RETRIES, idempotencyStrategy } })
}

async function fileOf(address, generation = undefined) {
  const { bucket, key } = partsOf(address)
  return (await client()).bucket(bucket).file(key, generation === undefined ? {} : { generation })
}

const send = sender(explained)

const sent = (address, work, bytes = 0) => send(address, (signal) => signalOfCall.run(signal, work), bytes)

function explained(address, failure) {
  if (isExplained(failure)) return failure
  const message = String(failure?.message ?? failure)
  if (/Could not load the default credentials/.test(message)) {
    const reason = 'no credentials were found: set GOOGLE_APPLICATION_CREDENTIALS, or use gcloud or a role'
    return noCredentials(`${address}: ${reason}`)
  }
  const number = Number(failure?.code ?? failure?.status)
  const status = Number.isInteger(number) && number >= 400 ? number : undefined
  const isNoBucket = status === 404 && /bucket does not exist/i.test(message)
  const name = failure?.errors?.[0]?.reason ?? failure?.code ?? failure?.name ?? 'Error'
  return storeFailure(address, { status, name: String(name), message, isNoBucket, secrets: [] })
}

const objectOf = (address, { generation, size, updated }) => ({
  address,
  etag: String(generation),
  size: Number(size),
  mtime: updated === undefined ? Infinity : Date.parse(updated),
})

async function existing(address) {
  const [metadata] = await sent(address, async () => (await fileOf(address)).getMetadata())
  return objectOf(address, metadata)
}

export const head = (address) => ifThere(() => existing(address))

export async function open(address, start, length) {
  const object = await existing(address)
  const end = Math.min(object.size, start + length)
  return { object, bytes: start >= end ? Buffer.alloc(0) : await range(object, start, end) }
}

/** Reads stored bytes of one generation of an object. */
export async function range({ address, etag }, start, end) {
  const file = await fileOf(address, etag)
  const request = async (from, to) => {
    const options = { start: from, end: to - 1, validation: false, decompress: false }
    const stream = signalOfCall.run(signalOfRequest(), () => file.createReadStream(options))
    return { body: chunksOf(address, stream), start: from }
  }
  return readRange(address, start, end, request, { explain: (failure) => explained(address, failure) })
}

/** The chunks of a body. What the store refuses is an error of the body too. */
async function* chunksOf(address, stream) {
  try {
    yield* watched(stream)
  } catch (failure) {
    const known = explained(address, failure)
    // The generation that was opened was replaced.
    if (known.isAbsence) throw inputChanged(address, 'it was written to while it was read')
    throw known.isOfHost ? failure : known
  }
}

export function keysBelow(address) {
  const { bucket, key } = partsOf(address)
  return listedKeys(address, async (pageToken) => {
    const query = { prefix: key, autoPaginate: false, fields: 'items(name),nextPageToken', pageToken }
    // The second value, a query for the next page, is also there after the last one.
    const [files, , answer] = await sent(address, async () => (await client()).bucket(bucket).getFiles(query))
    return { entries: files.map(({ name }) => name), next: answer.nextPageToken }
  })
}

const save = (address, bytes, more) =>
  sent(
    address,
    async () => (await fileOf(address)).save(bytes, { resumable: false, validation: false, ...more }),
    bytes.length,
  )

export const put = (address, bytes) => save(address, bytes, {})

export const create = (address, bytes) =>
  isWritten(() => save(address, bytes, { preconditionOpts: { ifGenerationMatch: 0 } }))

export async function remove(address) {
  await sent(address, async () => (await fileOf(address)).delete())
}

export async function uploadFile(address, file, size) {
  const { bucket, key: destination } = partsOf(address)
  const options = { destination, resumable: size >= MIN_RESUMABLE_BYTES, validation: 'crc32c' }
  const [{ metadata }] = await sent(address, async () => (await client()).bucket(bucket).upload(file, options), size)
  return metadata.generation === undefined ? undefined : String(metadata.generation)
}
