// The client of S3 stores. The SDK finds endpoint, region and credentials: in the environment
// (AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, …), in ~/.aws, or by the role of the machine.

import fs from 'node:fs'
import { isMainThread } from 'node:worker_threads'

import { Failure } from 'tokenlane/internal/files.mjs'
import { optional, signalOfRequest } from 'tokenlane/internal/corpus.js'
import { partsOf } from './address.mjs'
import { listedEntries, listedKeys, sortedKeys } from './listing.mjs'
import { contentRange, readRange } from './ranges.mjs'
import { ifThere, isExplained, noCredentials, once, requestLimit, sender, storeFailure } from './store-failure.mjs'

/** How often a request is tried. */
const ATTEMPTS = 6
/** Minimum size in bytes of a part of an upload, and the maximum number of parts of an object. */
const MIN_PART_BYTES = 8 << 20
const MAX_UPLOAD_PARTS = 10_000
/** Timeout in milliseconds for a connection. */
const CONNECTION_TIMEOUT_MS = 10_000
/** The longest pause of the SDK between two attempts, in milliseconds. */
const MAX_PAUSE_MS = 20_000
/** Time in seconds without a byte after which a request is tried again. */
const IDLE_TIMEOUT_SECONDS = 60

/**
 * Loads an optional package.
 *
 * @returns {Promise<any>}
 */
const load = (name) => optional(() => import(name), name, 'An address that starts with s3://')

/** The client of this thread, and the commands of the SDK. */
const s3 = once(connect)

async function connect() {
  const lib = await load('@aws-sdk/client-s3')
  const env = process.env
  const isOwnEndpoint = Boolean(env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL)
  const region = env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? (isOwnEndpoint ? 'us-east-1' : undefined)
  // The SDK warns about old versions of Node.js. The warning of the main thread is enough.
  if (!isMainThread) env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const client = new lib.S3Client({
    ...(region && { region }),
    // Stores of other vendors seldom have a host name for each bucket.
    forcePathStyle: isOwnEndpoint && env.TOKENLANE_S3_VIRTUAL_HOSTS !== '1',
    followRegionRedirects: true,
    maxAttempts: maxAttempts(),
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      socketTimeout: idleTimeout(),
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

const maxAttempts = () => Number(process.env.AWS_MAX_ATTEMPTS ?? ATTEMPTS)

/** Time in milliseconds after which a request without a byte is tried again. */
function idleTimeout() {
  const seconds = Number(process.env.TOKENLANE_S3_TIMEOUT ?? IDLE_TIMEOUT_SECONDS)
  return (seconds > 0 ? seconds : IDLE_TIMEOUT_SECONDS) * 1000
}

/** The SDK ends each attempt; this is the limit of all of them, with the pauses between them. */
const sent = sender(s3Failure, (bytes) =>
  requestLimit(bytes, maxAttempts(), CONNECTION_TIMEOUT_MS + idleTimeout() + MAX_PAUSE_MS),
)

/** Sends a command. Errors name the address, and never a credential. */
export async function send(address, command, input) {
  const { client, lib } = await s3()
  return sent(address, (abortSignal) => client.send(new lib[command](input), { abortSignal }))
}

/**
 * Uploads a body, in parts if it is large. If the upload fails, its parts are removed.
 *
 * @returns {Promise<string | undefined>} the ETag of the object
 */
export async function upload(address, input, partSize, size = 0) {
  const { client } = await s3()
  const { Upload } = await load('@aws-sdk/lib-storage')
  // Requests that remove the parts start after the signal has aborted.
  const send = (command) => client.send(command, { abortSignal: signalOfRequest() })
  const uploading = Object.create(client, { send: { value: send } })
  const options = { client: uploading, params: input, partSize, queueSize: 2, leavePartsOnError: false }
  const { ETag } = await sent(address, () => new Upload(options).done(), size)
  return ETag
}

/** The bucket and the key of an address, as the SDK calls them. */
const requestOf = (address) => {
  const { bucket: Bucket, key: Key } = partsOf(address)
  return { Bucket, Key }
}

const timeOf = ({ LastModified }) => LastModified?.getTime() ?? Infinity

export async function open(address, start, length) {
  const request = requestOf(address)
  try {
    const first = await send(address, 'GetObjectCommand', { ...request, Range: `bytes=${start}-${start + length - 1}` })
    const { size } = contentRange(first.ContentRange)
    if (size === undefined) {
      first.Body.destroy()
      throw new Failure('CORPUS_STORE', `${address}: the store has no ranges`)
    }
    const object = { address, etag: first.ETag, size, mtime: timeOf(first) }
    return { object, bytes: await range(object, start, Math.min(size, start + length), ranged(first)) }
  } catch (failure) {
    if (!failure.isOutOfRange) throw failure
    // The object has no byte at `start`; an empty one has none at all.
    const object = objectOf(address, await send(address, 'HeadObjectCommand', request))
    return { object, bytes: Buffer.alloc(0) }
  }
}

const ranged = ({ Body: body, ContentRange }) => ({ body, start: contentRange(ContentRange).start })

const objectOf = (address, head) => ({ address, etag: head.ETag, size: head.ContentLength, mtime: timeOf(head) })

export async function head(address) {
  const found = await ifThere(() => send(address, 'HeadObjectCommand', requestOf(address)))
  return found && objectOf(address, found)
}

export async function range({ address, etag }, start, end, first = undefined) {
  const request = async (from, to) =>
    ranged(
      await send(address, 'GetObjectCommand', {
        ...requestOf(address),
        Range: `bytes=${from}-${to - 1}`,
        IfMatch: etag,
      }),
    )
  return readRange(address, start, end, request, { first, explain: (failure) => s3Failure(address, failure) })
}

export function keysBelow(address) {
  const { bucket, key } = partsOf(address)
  const page = async (token) => {
    const input = { Bucket: bucket, Prefix: key, ContinuationToken: token }
    const { Contents = [], IsTruncated, NextContinuationToken } = await send(address, 'ListObjectsV2Command', input)
    return { entries: Contents.map(({ Key }) => Key), next: IsTruncated ? NextContinuationToken || null : undefined }
  }
  // Directory buckets (S3 Express One Zone), which their names tell, list in no order.
  return bucket.endsWith('--x-s3') ? sortedKeys(address, page) : listedKeys(address, page)
}

export async function put(address, bytes) {
  await send(address, 'PutObjectCommand', { ...requestOf(address), Body: bytes })
}

export async function create(address, bytes) {
  const input = { ...requestOf(address), Body: bytes }
  try {
    await send(address, 'PutObjectCommand', { ...input, IfNoneMatch: '*' })
    return true
  } catch (failure) {
    if (failure.isConditionFailed) return false
    if (!failure.isUnknownRequest) throw failure
  }
  if ((await head(address)) !== undefined) return false
  await send(address, 'PutObjectCommand', input)
  return true
}

export async function remove(address) {
  await send(address, 'DeleteObjectCommand', requestOf(address))
}

export async function uploadFile(address, file, size) {
  const partSize = Math.max(MIN_PART_BYTES, Math.ceil(size / MAX_UPLOAD_PARTS))
  const Body = size === 0 ? Buffer.alloc(0) : fs.createReadStream(file, { highWaterMark: 1 << 20 })
  try {
    return await upload(address, { ...requestOf(address), Body }, partSize, size)
  } finally {
    if (Body instanceof fs.ReadStream) Body.destroy()
  }
}

export async function removeUploads(place, isDead) {
  const { Bucket, Key: prefix } = requestOf(place)
  const page = async (markers) => {
    const input = { Bucket, Prefix: prefix, ...markers }
    const answer = await send(place, 'ListMultipartUploadsCommand', input)
    const { Uploads: entries = [], IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = answer
    return { entries, next: IsTruncated ? (KeyMarker ? { KeyMarker, UploadIdMarker } : null) : undefined }
  }
  for await (const { Key, UploadId, Initiated } of listedEntries(place, page)) {
    if (!isDead(Key.slice(prefix.length), Initiated.getTime())) continue
    await send(place, 'AbortMultipartUploadCommand', { Bucket, Key, UploadId }).catch(() => {})
  }
}

const ABSENT = ['NoSuchKey', 'NotFound', 'NoSuchUpload']

/**
 * Turns an error of the SDK into one of this package. The SDK's error has the response and parts of
 * the request, so it does not become the cause.
 */
async function s3Failure(address, failure) {
  if (isExplained(failure)) return failure
  const { name = 'Error', code = '', message: said = code, $metadata = {} } = failure ?? {}
  if (name === 'CredentialsProviderError')
    return noCredentials(
      `${address}: no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role`,
    )
  const status = ABSENT.includes(name) ? 404 : $metadata.httpStatusCode
  // An endpoint's address may contain credentials.
  const message = String(said).replace(/\/\/[^/@\s]+@/g, '//***@')
  const isNoBucket = name === 'NoSuchBucket'
  const known = storeFailure(address, { status, name, message, isNoBucket, secrets: await secrets() })
  return Object.assign(known, { isLostUpload: name === 'NoSuchUpload', isUnknownRequest: status === 501 })
}

/** What no message may contain. */
async function secrets() {
  const env = process.env
  const known = [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY, env.AWS_SESSION_TOKEN]
  try {
    const { client } = await s3()
    const { accessKeyId, secretAccessKey, sessionToken } = await client.config.credentials()
    known.push(accessKeyId, secretAccessKey, sessionToken)
  } catch {
    // There are none.
  }
  return known
}
