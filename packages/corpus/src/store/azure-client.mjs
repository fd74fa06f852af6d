// The client of Azure Blob Storage: az://container/key. The account and its credentials are those
// that adlfs and the command line of Azure read from the environment: a connection string, or the
// name of the account with a key, a SAS token, or what @azure/identity finds.

import { optional } from 'tokenlane/internal/corpus.js'
import { partsOf } from './address.mjs'
import { listedKeys } from './listing.mjs'
import { contentRange, readRange, watched } from './ranges.mjs'
import { ifThere, isExplained, isWritten, noCredentials, once, sender, storeFailure } from './store-failure.mjs'

const PACKAGE = '@azure/storage-blob'
const IDENTITY = '@azure/identity'
/** How often a request is tried. */
const ATTEMPTS = 6
/** Timeout in milliseconds of one attempt. */
const TRY_TIMEOUT_MS = 60_000
/** Minimum size in bytes of a block of an upload, and the maximum number of blocks of an object. */
const MIN_BLOCK_BYTES = 8 << 20
const MAX_BLOCKS = 50_000

/** The client of this thread. */
const client = once(connect)

/** The settings in the environment. */
const settingsOf = (env) => ({
  connection: env.AZURE_STORAGE_CONNECTION_STRING,
  account: env.AZURE_STORAGE_ACCOUNT_NAME ?? env.AZURE_STORAGE_ACCOUNT,
  key: env.AZURE_STORAGE_ACCOUNT_KEY ?? env.AZURE_STORAGE_KEY,
  token: env.AZURE_STORAGE_SAS_TOKEN?.replace(/^\?/, ''),
})

/** What no message may contain. */
function secrets() {
  const { connection, key, token } = settingsOf(process.env)
  const inConnection = /AccountKey=([^;]+)/.exec(connection ?? '')?.[1]
  const inToken = /sig=([^&;]+)/.exec(`${token};${connection}`)?.[1]
  return [connection, inConnection, key, token, inToken, inToken && decodeURIComponent(inToken)]
}

const wrongSettings = (what) => noCredentials(`Azure Blob Storage: ${what}`)

async function connect() {
  const lib = await optional(() => import(PACKAGE), PACKAGE, 'An address that starts with az://')
  const { connection, account, key, token } = settingsOf(process.env)
  const options = { retryOptions: { maxTries: ATTEMPTS, tryTimeoutInMs: TRY_TIMEOUT_MS } }
  if (connection) {
    try {
      return lib.BlobServiceClient.fromConnectionString(connection, options)
    } catch {
      // The error of the package may have the connection string.
      throw wrongSettings('AZURE_STORAGE_CONNECTION_STRING is not a connection string')
    }
  }
  if (!account)
    throw wrongSettings('no account is named: set AZURE_STORAGE_CONNECTION_STRING or AZURE_STORAGE_ACCOUNT_NAME')
  if (!/^[a-z0-9]{3,24}$/.test(account)) throw wrongSettings('AZURE_STORAGE_ACCOUNT_NAME is not the name of an account')
  const url = `https://${account}.blob.core.windows.net`
  if (key) return new lib.BlobServiceClient(url, new lib.StorageSharedKeyCredential(account, key), options)
  if (token) return new lib.BlobServiceClient(`${url}?${token}`, undefined, options)
  const caller = 'An address that starts with az://, without a key and a SAS token,'
  const { DefaultAzureCredential } = await optional(() => import(IDENTITY), IDENTITY, caller)
  return new lib.BlobServiceClient(url, new DefaultAzureCredential(), options)
}

async function blobOf(address) {
  const { bucket, key } = partsOf(address)
  return (await client()).getContainerClient(bucket).getBlockBlobClient(key)
}

const sent = sender(explained)

function explained(address, failure) {
  if (isExplained(failure)) return failure
  const { statusCode: status, code, name = 'Error', message = String(failure) } = failure ?? {}
  const isNoBucket = code === 'ContainerNotFound'
  return storeFailure(address, { status, name: code ?? name, message, isNoBucket, secrets: secrets() })
}

const objectOf = (address, size, { etag, lastModified }) => ({
  address,
  etag,
  size,
  mtime: lastModified?.getTime() ?? Infinity,
})

async function existing(address) {
  const found = await sent(address, async (abortSignal) => (await blobOf(address)).getProperties({ abortSignal }))
  return objectOf(address, found.contentLength, found)
}

export const head = (address) => ifThere(() => existing(address))

export async function open(address, start, length) {
  let first
  try {
    first = await sent(address, async (abortSignal) => (await blobOf(address)).download(start, length, { abortSignal }))
  } catch (failure) {
    if (!failure.isOutOfRange) throw failure
    // The object has no byte at `start`; an empty one has none at all.
    return { object: await existing(address), bytes: Buffer.alloc(0) }
  }
  const { size = first.contentLength } = contentRange(first.contentRange)
  const object = objectOf(address, size, first)
  return { object, bytes: await range(object, start, Math.min(size, start + length), ranged(first, start)) }
}

const ranged = ({ readableStreamBody, contentRange: value }, start) => ({
  body: watched(readableStreamBody),
  // An object that is sent as a whole has no Content-Range.
  start: contentRange(value).start ?? (start === 0 ? 0 : undefined),
})

export async function range({ address, etag }, start, end, first = undefined) {
  const blob = await blobOf(address)
  const download = (from, to) => (abortSignal) =>
    blob.download(from, to - from, { abortSignal, conditions: { ifMatch: etag } })
  const request = async (from, to) => ranged(await sent(address, download(from, to)), from)
  return readRange(address, start, end, request, { first, explain: (failure) => explained(address, failure) })
}

export function keysBelow(address) {
  const { bucket, key: prefix } = partsOf(address)
  return listedKeys(address, async (continuationToken) => {
    const page = await sent(address, async (abortSignal) => {
      const blobs = (await client()).getContainerClient(bucket).listBlobsFlat({ prefix, abortSignal })
      return (await blobs.byPage({ continuationToken }).next()).value
    })
    return { entries: page.segment.blobItems.map(({ name }) => name), next: page.continuationToken }
  })
}

const upload = (address, bytes, options) =>
  sent(
    address,
    async (abortSignal) => (await blobOf(address)).upload(bytes, bytes.length, { abortSignal, ...options }),
    bytes.length,
  )

export async function put(address, bytes) {
  await upload(address, bytes, {})
}

export const create = (address, bytes) => isWritten(() => upload(address, bytes, { conditions: { ifNoneMatch: '*' } }))

export async function remove(address) {
  await sent(address, async (abortSignal) => (await blobOf(address)).delete({ abortSignal }))
}

export async function uploadFile(address, file, size) {
  const blockSize = Math.max(MIN_BLOCK_BYTES, Math.ceil(size / MAX_BLOCKS))
  const options = { blockSize, maxSingleShotSize: MIN_BLOCK_BYTES, concurrency: 2 }
  const uploaded = async (abortSignal) => (await blobOf(address)).uploadFile(file, { abortSignal, ...options })
  const { etag } = await sent(address, uploaded, size)
  return etag
}
