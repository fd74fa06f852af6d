// Sends requests to an S3 store. The SDK finds endpoint, region and credentials: in the environment
// (AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, …), in ~/.aws, or by the role of the machine.

import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'

import { error, inputChanged } from '../errors.mjs'
import { Failure } from '../../files/failure.mjs'

const { optional } = createRequire(import.meta.url)('../../optional.js')

/** How often a request is tried, and how often a range whose body ended early is continued. */
const ATTEMPTS = 6
/** Timeout in milliseconds for a connection. */
const CONNECTION_TIMEOUT_MS = 10_000
/** Time in seconds without a byte after which a request is tried again. */
const IDLE_TIMEOUT_SECONDS = 60
/**
 * A range that received at least this many bytes since its last failure is tried from the first.
 */
const MIN_PROGRESS_BYTES = 1 << 16

/**
 * Loads an optional package.
 *
 * @returns {Promise<any>}
 */
const load = (name) => optional(() => import(name), name, 'An address that starts with s3://')

let made

/** The client of this thread, and the commands of the SDK. */
export function s3() {
  made ??= create()
  made.catch(() => (made = undefined))
  return made
}

async function create() {
  const lib = await load('@aws-sdk/client-s3')
  const env = process.env
  const isOwnEndpoint = Boolean(env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL)
  const region = env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? (isOwnEndpoint ? 'us-east-1' : undefined)
  // The SDK warns about old versions of Node.js. The warning of the main thread is enough.
  if (!isMainThread) env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const seconds = Number(env.TOKENLANE_S3_TIMEOUT ?? IDLE_TIMEOUT_SECONDS)
  const client = new lib.S3Client({
    ...(region && { region }),
    // Stores of other vendors seldom have a host name for each bucket.
    forcePathStyle: isOwnEndpoint && env.TOKENLANE_S3_VIRTUAL_HOSTS !== '1',
    followRegionRedirects: true,
    maxAttempts: Number(env.AWS_MAX_ATTEMPTS ?? ATTEMPTS),
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      socketTimeout: (seconds > 0 ? seconds : IDLE_TIMEOUT_SECONDS) * 1000,
      httpAgent: { keepAlive: true, maxSockets: 64 },
      httpsAgent: { keepAlive: true, maxSockets: 64 },
    },
    // Not all stores of other vendors support checksums in trailers.
    ...(isOwnEndpoint && {
      requestChecksumCalculation: env.AWS_REQUEST_CHECKSUM_CALCULATION ?? 'WHEN_REQUIRED',
      responseChecksumValidation: env.AWS_RESPONSE_CHECKSUM_VALIDATION ?? 'WHEN_REQUIRED',
    }),
  })
  return { client, lib }
}

/** Sends a command. Errors name the address, and never a credential. */
export async function send(address, command, input) {
  const { client, lib } = await s3()
  try {
    return await client.send(new lib[command](input))
  } catch (failure) {
    throw await s3Failure(address, failure)
  }
}

/** Like `send`; `undefined` if there is no such object. */
export async function sendIfThere(address, command, input) {
  try {
    return await send(address, command, input)
  } catch (failure) {
    if (failure.isAbsence) return undefined
    throw failure
  }
}

/**
 * Uploads a body, in parts if it is large. If the upload fails, its parts are removed.
 *
 * @returns {Promise<string | undefined>} the ETag of the object
 */
export async function upload(address, input, partSize) {
  const { client } = await s3()
  const { Upload } = await load('@aws-sdk/lib-storage')
  try {
    const { ETag } = await new Upload({
      client,
      params: input,
      partSize,
      queueSize: 2,
      leavePartsOnError: false,
    }).done()
    return ETag
  } catch (failure) {
    throw await s3Failure(address, failure)
  }
}

/**
 * Opens an object and reads up to `length` bytes from `start` on, with one request.
 *
 * @param {{ address: string, bucket: string, key: string }} object
 */
export async function openObject({ address, bucket, key }, start, length) {
  const request = { Bucket: bucket, Key: key }
  try {
    const first = await send(address, 'GetObjectCommand', { ...request, Range: `bytes=${start}-${start + length - 1}` })
    const size = Number(/\/(\d+)$/.exec(first.ContentRange ?? '')?.[1] ?? NaN)
    if (!Number.isSafeInteger(size)) {
      first.Body.destroy()
      throw new Failure('CORPUS_STORE', `${address}: the store has no ranges`)
    }
    const object = { address, bucket, key, etag: first.ETag, size, mtime: timeOf(first) }
    return { object, bytes: await range(object, start, Math.min(size, start + length), first) }
  } catch (failure) {
    if (!failure.isOutOfRange) throw failure
    // The object has no byte at `start`; an empty one has none at all.
    const head = await send(address, 'HeadObjectCommand', request)
    const object = { address, bucket, key, etag: head.ETag, size: head.ContentLength, mtime: timeOf(head) }
    return { object, bytes: Buffer.alloc(0) }
  }
}

const timeOf = ({ LastModified }) => LastModified?.getTime() ?? Infinity

/**
 * Reads the bytes of an object from `start` up to `end`. A body that ends early is continued.
 *
 * @param {{ address: string, bucket: string, key: string, etag: string }} object
 * @param {number} start
 * @param {number} end
 * @param {any} [first] the answer to a request for these bytes
 */
export async function range({ address, bucket, key, etag }, start, end, first) {
  const bytes = Buffer.allocUnsafeSlow(end - start)
  let at = start
  let tries = 0
  let mark = start
  while (at < end) {
    const Range = `bytes=${at}-${end - 1}`
    const request = { Bucket: bucket, Key: key, Range, IfMatch: etag }
    const { Body, ContentRange } = first ?? (await send(address, 'GetObjectCommand', request))
    first = undefined
    try {
      if (!ContentRange?.startsWith(`bytes ${at}-`))
        throw new Failure('CORPUS_STORE', `${address}: the store has no ranges`)
      for await (const chunk of Body) {
        if (at + chunk.length > end)
          throw new Failure('CORPUS_STORE', `${address}: the store sent more than was requested`)
        chunk.copy(bytes, at - start)
        at += chunk.length
      }
      if (at < end) throw Object.assign(new Error('the store ended the body early'), { code: 'ECONNRESET' })
    } catch (failure) {
      Body.destroy()
      if (failure instanceof Failure) throw failure
      if (at - mark >= MIN_PROGRESS_BYTES) tries = 0
      mark = at
      tries += 1
      if (tries >= ATTEMPTS) throw await s3Failure(address, failure)
      await wait(Math.min(100 * 2 ** tries, 5000))
    }
  }
  return bytes
}

const ABSENT = ['NoSuchKey', 'NotFound', 'NoSuchUpload']

/**
 * Turns an error of the SDK into one of this package. The SDK's error has the response and parts of
 * the request, so it does not become the cause.
 */
export async function s3Failure(address, failure) {
  if (failure?.code?.startsWith?.('ERR_TOKENLANE_')) return failure
  const status = failure?.$metadata?.httpStatusCode
  const name = failure?.name ?? 'Error'
  if (status === 412 || name === 'ConditionalRequestConflict')
    return Object.assign(inputChanged(address, 'it was written to while it was read'), { isConditionFailed: true })
  if (ABSENT.includes(name) || (status === 404 && name !== 'NoSuchBucket'))
    return Object.assign(new Failure('FILE_NOT_FOUND', `${address}: there is no such object`), {
      isAbsence: true,
      isLostUpload: name === 'NoSuchUpload',
    })
  if (name === 'NoSuchBucket')
    return Object.assign(new Failure('FILE_NOT_FOUND', `${address}: there is no such bucket`), { isOfHost: true })
  if (name === 'CredentialsProviderError')
    return Object.assign(
      error(
        'ERR_TOKENLANE_CORPUS_STORE',
        `${address}: no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role`,
      ),
      { isOfHost: true },
    )
  const reason = status === 403 ? `permission denied (${name})` : `${name}: ${failure?.message ?? failure?.code ?? ''}`
  // A store that is down or refuses this role says nothing about the shard.
  const isOfHost = status === undefined || status >= 500 || [401, 403, 408, 429].includes(status)
  return Object.assign(error('ERR_TOKENLANE_CORPUS_STORE', `${address}: ${await withoutSecrets(reason)}`), {
    isOfHost,
    isUnknownRequest: status === 501,
    isOutOfRange: status === 416,
  })
}

/** Hides credentials in a text from the store. */
async function withoutSecrets(text) {
  const env = process.env
  const known = [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY, env.AWS_SESSION_TOKEN]
  try {
    const { client } = await s3()
    const { accessKeyId, secretAccessKey, sessionToken } = await client.config.credentials()
    known.push(accessKeyId, secretAccessKey, sessionToken)
  } catch {
    // There are none.
  }
  // An endpoint's address may contain credentials.
  const hidden = text.replace(/\/\/[^/@\s]+@/g, '//***@')
  return known.filter(Boolean).reduce((shown, secret) => shown.replaceAll(secret, '***'), hidden)
}
