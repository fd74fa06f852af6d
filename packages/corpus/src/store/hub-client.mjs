// The client of datasets of the Hugging Face Hub, hf://datasets/OWNER/NAME@REVISION, which are
// inputs. The revision becomes its commit when the inputs are planned, so that all machines and
// later runs read the same bytes. HF_ENDPOINT, HF_TOKEN and the timeouts are those of
// Tokenizer.fromPretrained.

import { Failure } from 'tokenlane/internal/files.mjs'
import { modules, optional, pause, signalOfRequest } from 'tokenlane/internal/corpus.js'
import { error, inputChanged, unsupported } from '../errors.mjs'
import { addressOf, partsOf } from './address.mjs'
import { sortedKeys } from './listing.mjs'
import { contentRange, readRange } from './ranges.mjs'

const { network, unexpected } = modules.hubErrors
const { settings } = modules.hubSettings
const { Transport } = modules.hubTransport

const COMMIT = /^[0-9a-f]{40}$/
/** How often a request is tried. */
const ATTEMPTS = 6
/** Maximum time in milliseconds to wait for the hub; it counts requests in windows of 5 minutes. */
const MAX_PAUSE_MS = 300_000
/** Maximum size in bytes of a file that the hub sends as a whole. Files in Git are smaller. */
const MAX_WHOLE_BYTES = 16 << 20
/** Names of files that are data. A repository has other files too. */
const DATA = /\.(?:parquet|(?:jsonl|ndjson|json|txt)(?:\.(?:gz|zst|zstd))?)$/i
const NO_DATA = ['dataset_infos.json']

const loadHub = () =>
  optional(() => import('@huggingface/hub'), '@huggingface/hub', 'An address that starts with hf://')

/** Whether a file is read that no path and no pattern names. */
export const isData = (key) => DATA.test(key) && !NO_DATA.includes(key)

/** The repository of an address, its revision as it is in a URL, and the path of the file. */
function placeOf(address) {
  const { bucket, key } = partsOf(address)
  const [repo, revision = 'main'] = bucket.split('@')
  const path = key.split('/').map(encodeURIComponent).join('/')
  return { repo, name: repo.slice('datasets/'.length), revision: decoded(revision, address), key, path }
}

/** The name of a revision, in which a slash is %2F. */
function decoded(revision, address) {
  try {
    const name = decodeURIComponent(revision)
    if (!name.split('/').some((part) => /^\.*$/.test(part))) return name
  } catch {
    // Reported below.
  }
  throw error('ERR_TOKENLANE_ARGUMENT_VALUE', `${address}: ${revision} is not the name of a revision`)
}

/** Throws unless an address has a commit: what is read must be what was planned. */
function checkCommit(address) {
  if (!COMMIT.test(placeOf(address).revision)) throw unsupported(`${address}: a file of a dataset is read at a commit`)
}

/** Repeats what may succeed later: after the time that the hub names, else after longer times. */
async function patiently(work) {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (failure) {
      const { code, status, retryAfter } = failure
      const isTemporary =
        ['ERR_TOKENLANE_HUB_NETWORK', 'ERR_TOKENLANE_HUB_RATE_LIMIT'].includes(code) ||
        (code === 'ERR_TOKENLANE_HUB_SERVER' && status >= 500)
      const milliseconds = retryAfter === undefined ? 200 * 3 ** (tries - 1) : retryAfter * 1000
      if (!isTemporary || tries >= ATTEMPTS || milliseconds > MAX_PAUSE_MS) throw failure
      await pause(milliseconds)
    }
  }
}

/** Calls `ask` with a transport for an address. */
async function withTransport(address, ask) {
  const found = await settings({})
  const { repo, revision, key } = placeOf(address)
  const transport = new Transport(found, { repo, revision, path: key === '' ? 'its files' : key }, signalOfRequest())
  try {
    return await ask(transport, found)
  } catch (failure) {
    throw explained(address, transport.failure ?? failure, found)
  } finally {
    transport.close()
  }
}

/** The error of an answer. */
function explained(address, failure, { endpoint, token }) {
  if (failure.code === 'ERR_TOKENLANE_HUB_FILE_NOT_FOUND')
    return Object.assign(new Failure('FILE_NOT_FOUND', `${address}: there is no such file`), { isAbsence: true })
  if (failure.code?.startsWith?.('ERR_TOKENLANE_')) return failure
  return unexpected(failure.message, endpoint, { cause: failure, token })
}

/**
 * The address of a file or of a folder with the commit of its revision.
 *
 * @param {string} address
 * @param {Map<string, string>} commits those that are known, by repository and revision; further
 *   ones are added
 */
export async function pinned(address, commits) {
  const { name, repo, revision, key } = placeOf(address)
  if (COMMIT.test(revision)) return address
  const known = `hf://${repo}@${revision}`
  if (!commits.has(known)) commits.set(known, await commitOf(address, name, revision))
  return addressOf(`hf://${repo}@${commits.get(known)}`, key)
}

async function commitOf(address, name, revision) {
  const hub = await loadHub()
  return patiently(() =>
    withTransport(address, async ({ fetchJson: fetch }, { endpoint }) => {
      const { sha } = await hub.datasetInfo({ name, revision, additionalFields: ['sha'], hubUrl: endpoint, fetch })
      if (!COMMIT.test(sha)) throw unexpected(`the commit of ${revision} is missing`, endpoint)
      return sha
    }),
  )
}

/** Yields the paths of files, sorted by their bytes: the hub promises no order. */
export async function* keysBelow(address) {
  const { repo, revision, key: prefix } = placeOf(address)
  const { endpoint } = await settings({})
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const path = folder.split('/').map(encodeURIComponent).join('/').replace(/\/$/, '')
  const first = `${endpoint}/api/${repo}/tree/${encodeURIComponent(revision)}${path && `/${path}`}?recursive=true`
  // A transport for each page, because one limits the pages of a tokenizer's files.
  const page = (url = first) =>
    patiently(() =>
      withTransport(address, async (transport) => {
        const response = await transport.fetchJson(url, { headers: { accept: 'application/json' } })
        const entries = await response.json()
        if (!Array.isArray(entries)) throw new Error('the list of files is no array')
        const [, next] = /<(https?:\/\/[^>]+)>;\s*rel="next"/.exec(response.headers.get('link') ?? '') ?? []
        return { entries: entries.filter((entry) => entry?.type === 'file').map((entry) => entry.path), next }
      }),
    )
  try {
    for await (const key of sortedKeys(addressOf(address, folder), page)) if (key.startsWith(prefix)) yield key
  } catch (failure) {
    if (!failure.isAbsence) throw failure
  }
}

/** An ETag without its quotes and its mark of weakness. */
const plainEtag = (etag) => etag.replace(/^W\/|"/g, '')

/** Requests a range of a file. The first hop is the hub, the second one its storage. */
function request(address, start, end) {
  return patiently(async () => {
    const found = await settings({})
    const { endpoint } = found
    const { repo, revision, path, key } = placeOf(address)
    const transport = new Transport(found, { repo, revision, path: key }, signalOfRequest())
    try {
      const url = `${endpoint}/${repo}/resolve/${encodeURIComponent(revision)}/${path}`
      const response = await transport.fetch(url, { headers: { range: `bytes=${start}-${end - 1}` } })
      const etag = plainEtag(transport.headers['x-linked-etag'] ?? transport.headers.etag ?? '')
      const ranged = contentRange(response.headers.get('content-range'))
      const body = new Body(response, transport, found.stallTimeout)
      if (response.status === 206) return { body, ...ranged, etag }
      const size = Number(response.headers.get('content-length') ?? Number.NaN)
      if (size <= MAX_WHOLE_BYTES) return { body: body.cut(start, end), start, size, etag }
      throw new Failure('CORPUS_STORE', `${address}: the hub has no ranges`)
    } catch (failure) {
      transport.close()
      throw explained(address, transport.failure ?? failure, found)
    }
  })
}

/** The body of an answer. Its transport is closed when it was read, or by `destroy`. */
class Body {
  #reader
  #transport
  #timeout
  #start = 0
  #end = Infinity

  constructor(response, transport, timeout) {
    this.#reader = response.body.getReader()
    this.#transport = transport
    this.#timeout = timeout
  }

  /** Leaves out what is not from `start` up to `end`. */
  cut(start, end) {
    this.#start = start
    this.#end = end
    return this
  }

  async *[Symbol.asyncIterator]() {
    let at = 0
    try {
      for await (const chunk of this.#transport.paced(this.#reader, this.#timeout)) {
        const part = chunk.subarray(Math.max(0, this.#start - at), Math.max(0, this.#end - at))
        if (part.length > 0) yield part
        at += chunk.length
        if (at >= this.#end) return
      }
    } catch (failure) {
      throw this.#transport.failure ?? this.#transport.explain(failure)
    } finally {
      this.destroy()
    }
  }

  destroy() {
    this.#reader.cancel().catch(() => {})
    this.#transport.close()
  }
}

/** Makes the error of a body that failed. */
const explain = async (failure) => {
  const { endpoint, token } = await settings({})
  return failure.code?.startsWith?.('ERR_TOKENLANE_') ? failure : network(failure, endpoint, token)
}

export async function open(address, start, length) {
  checkCommit(address)
  await loadHub()
  try {
    const first = await request(address, start, start + length)
    if (first.size === undefined) throw new Failure('CORPUS_STORE', `${address}: the hub has no ranges`)
    const object = objectOf(address, first)
    const end = Math.min(first.size, start + length)
    if (start >= end) first.body.destroy()
    return { object, bytes: await readRange(address, start, end, requestOf(object), { first, explain }) }
  } catch (failure) {
    if (failure.status !== 416) throw failure
    // The file has no byte at `start`; an empty one has none at all.
    const object = await head(address)
    if (object === undefined) throw failure
    return { object, bytes: Buffer.alloc(0) }
  }
}

/** A file of a commit never changes, so it has no time of change. */
const objectOf = (address, { etag, size }) => ({ address, etag, size, mtime: 0 })

export async function head(address) {
  const hub = await loadHub()
  const { repo, revision, path } = placeOf(address)
  checkCommit(address)
  const found = await patiently(() =>
    withTransport(address, (transport, { endpoint }) =>
      hub.fileDownloadInfo({
        repo: /** @type {any} */ (repo),
        path,
        revision,
        hubUrl: endpoint,
        fetch: transport.probe,
      }),
    ),
  )
  return found === null ? undefined : objectOf(address, { etag: plainEtag(found.etag), size: found.size })
}

export const range = (object, start, end) => readRange(object.address, start, end, requestOf(object), { explain })

/** Requests ranges of a file. Throws if the hub has another file now. */
const requestOf = (object) => async (start, end) => {
  const answer = await request(object.address, start, end)
  if (answer.etag !== object.etag || (answer.size !== undefined && answer.size !== object.size)) {
    answer.body.destroy()
    throw inputChanged(object.address, 'the hub has another file at this commit')
  }
  return answer
}

const readOnly = async (address) => {
  throw unsupported(`${address}: datasets of the hub are inputs, and no outputs`)
}
export const put = readOnly
export const create = readOnly
export const remove = readOnly
export const uploadFile = readOnly
