// Small servers of Google Cloud Storage (its JSON API) and of Azure Blob Storage. Objects are in
// memory, and faults come on demand. Signatures are not checked.

import { createHash } from 'node:crypto'

import { TestServer } from '../../../../__test__/support/test-server.mjs'

const NAMED = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }
const escape = (text) => text.replace(/[&<>"]/g, (found) => `&${NAMED[found]};`)

/** What both servers have. A subclass answers. */
class TestStore extends TestServer {
  /** Objects by `bucket/key`. */
  objects = /** @type {Map<string, { bytes: Buffer, version: number, modified: Date }>} */ (new Map())
  requests = /** @type {{ method: string, name: string, query: URLSearchParams }[]} */ ([])
  /** Names of a page of a listing. */
  page = 1000
  /**
   * Changes a page of a listing: its keys, and the mark of the next page.
   *
   * @type {(page: { shown: string[], next?: string }) => { shown: string[], next?: string }}
   */
  listing = (page) => page
  /**
   * Decides about faults: a status to answer with, or `{ cut }` bytes of the body after which the
   * connection ends.
   *
   * @type {(request: { method: string, name: string, count: number }) => any}
   */
  fault = () => undefined
  buckets = ['lake']
  uploads = /** @type {Map<string, any>} */ (new Map())
  #version = 1000
  #counts = new Map()

  static async start() {
    const store = new this()
    await store.listen()
    return store
  }

  /** Forgets objects, requests and faults. */
  reset() {
    this.objects.clear()
    this.requests.length = 0
    this.#counts.clear()
    this.page = 1000
    this.fault = () => undefined
  }

  put(name, content) {
    this.#version += 1
    this.objects.set(name, { bytes: Buffer.from(content), version: this.#version, modified: new Date(1e12) })
    return this.#version
  }

  get(name) {
    return this.objects.get(name)?.bytes
  }

  names(prefix) {
    return [...this.objects.keys()].filter((name) => name.startsWith(prefix)).sort()
  }

  /** A page of names below a prefix of a bucket: the keys, and the mark of the next page. */
  listed(bucket, prefix, mark) {
    const keys = this.names(`${bucket}/${prefix}`)
      .map((name) => name.slice(bucket.length + 1))
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .filter((key) => mark === '' || Buffer.compare(Buffer.from(key), Buffer.from(mark)) > 0)
    const shown = keys.slice(0, this.page)
    return this.listing({ shown, next: keys.length > shown.length ? shown.at(-1) : undefined })
  }

  async hear(request, response) {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const url = new URL(request.url, this.endpoint)
    const { method } = request
    const name = this.nameOf(url)
    this.requests.push({ method, name, query: url.searchParams })
    const id = `${method} ${name} ${url.search}`
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
    const fault = this.fault({ method, name, count: this.#counts.get(id) })
    if (typeof fault === 'number') return this.fail(response, fault, 'fault', `fault ${request.headers.authorization}`)
    if (!this.buckets.includes(name.split('/')[0])) return this.failBucket(response)
    return this.answer({
      request,
      response,
      method,
      name,
      url,
      query: url.searchParams,
      body: Buffer.concat(chunks),
      fault,
    })
  }

  /** Sends an object or the requested range of it. */
  send(request, response, bytes, fault) {
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers['x-ms-range'] ?? request.headers.range ?? '') ?? []
    if (from !== undefined && Number(from) >= bytes.length) return this.fail(response, 416, 'InvalidRange', 'range')
    const part = from === undefined ? bytes : bytes.subarray(Number(from), to === '' ? undefined : Number(to) + 1)
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`
    const headers = { 'content-length': part.length, 'content-type': 'application/octet-stream' }
    response.writeHead(from === undefined ? 200 : 206, { ...headers, ...(from && { 'content-range': range }) })
    if (fault?.cut === undefined) return response.end(part)
    response.write(part.subarray(0, fault.cut))
    return setTimeout(() => response.destroy(), 5)
  }

  nameOf(_url) {
    return ''
  }
  answer(_asked) {}
  fail(_response, _status, _code, _message) {}
  failBucket(_response) {}
}

export class TestGcs extends TestStore {
  get env() {
    return { STORAGE_EMULATOR_HOST: this.endpoint }
  }

  /** `bucket/key` of a path, or of the parameter `name` of an upload. */
  nameOf({ pathname, searchParams }) {
    const [, bucket, key] = /\/b\/([^/]+)\/o(?:\/(.+))?$/.exec(pathname) ?? []
    return `${bucket}/${decodeURIComponent(key ?? '') || (searchParams.get('name') ?? '')}`
  }

  answer({ request, response, method, name, url, query, body, fault }) {
    const { objects } = this
    if (query.has('upload_id')) return this.#part(request, response, query.get('upload_id'), body)
    const found = objects.get(name)
    if (method === 'POST') {
      const wanted = query.get('ifGenerationMatch')
      if (wanted !== null && Number(wanted) !== (found?.version ?? 0))
        return this.fail(response, 412, 'conditionNotMet', 'At least one of the pre-conditions did not hold.')
      if (query.get('uploadType') === 'resumable') return this.#begin(response, name, url)
      this.put(name, multipart(request, body))
      return this.#describe(response, name)
    }
    if (method === 'GET' && name.endsWith('/') && !url.pathname.includes('/o/'))
      return this.#list(response, name, query)
    const generation = query.get('generation')
    if (found === undefined || (generation !== null && Number(generation) !== found.version))
      return this.fail(response, 404, 'notFound', `No such object: ${name}`)
    if (method === 'DELETE') {
      objects.delete(name)
      return response.writeHead(204).end()
    }
    return query.get('alt') === 'media'
      ? this.send(request, response, found.bytes, fault)
      : this.#describe(response, name)
  }

  #begin(response, name, url) {
    const id = String(this.uploads.size + 1)
    this.uploads.set(id, { name, parts: [] })
    response.setHeader('location', `${this.endpoint}${url.pathname}?uploadType=resumable&upload_id=${id}`).end()
  }

  #part(request, response, id, body) {
    const upload = this.uploads.get(id)
    const [, last, size] = /^bytes (?:\d+-(\d+|\*)|\*)\/(\d+|\*)$/.exec(request.headers['content-range'] ?? '') ?? []
    upload.parts.push(body)
    const bytes = Buffer.concat(upload.parts)
    const isWhole = last === undefined || last === '*' || (size !== '*' && bytes.length === Number(size))
    if (!isWhole) return response.writeHead(308, { range: `bytes=0-${bytes.length - 1}` }).end(last && '')
    this.put(upload.name, bytes)
    return this.#describe(response, upload.name)
  }

  #list(response, name, query) {
    const bucket = name.slice(0, -1)
    const { shown, next } = this.listed(bucket, query.get('prefix') ?? '', query.get('pageToken') ?? '')
    const items = shown.map((key) => ({ name: key }))
    json(response, 200, { ...(items.length > 0 && { items }), ...(next && { nextPageToken: next }) })
  }

  #describe(response, name) {
    const { bytes, version, modified } = this.objects.get(name)
    const [bucket, ...key] = name.split('/')
    const known = { bucket, name: key.join('/'), size: String(bytes.length), updated: modified.toISOString() }
    json(response, 200, { ...known, generation: String(version), crc32c: crc32c(bytes) })
  }

  fail(response, code, reason, message) {
    json(response, code, { error: { code, message, errors: [{ reason, message }] } })
  }

  failBucket(response) {
    this.fail(response, 404, 'notFound', 'The specified bucket does not exist.')
  }
}

function json(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** The second part of a body of multipart/related: the object. */
function multipart({ headers }, body) {
  const [, boundary] = /boundary="?([^";]+)/.exec(headers['content-type'])
  const second = body.indexOf(`--${boundary}`, boundary.length)
  const start = body.indexOf('\r\n\r\n', second) + 4
  return body.subarray(start, body.lastIndexOf(`\r\n--${boundary}--`))
}

const CRC = Uint32Array.from({ length: 256 }, (_, value) => {
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  return value
})

function crc32c(bytes) {
  let crc = ~0
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8)
  const made = Buffer.alloc(4)
  made.writeInt32BE(~crc)
  return made.toString('base64')
}

export class TestAzure extends TestStore {
  get env() {
    const key = Buffer.from('AZ-S3CRET-KEY').toString('base64')
    return {
      AZURE_STORAGE_CONNECTION_STRING: `DefaultEndpointsProtocol=http;AccountName=account;AccountKey=${key};BlobEndpoint=${this.endpoint}/account;`,
    }
  }

  nameOf({ pathname }) {
    return decodeURIComponent(pathname.slice('/account/'.length))
  }

  answer({ request, response, method, name, query, body, fault }) {
    if (query.get('comp') === 'list') return this.#list(response, name.replace(/\/$/, ''), query)
    const found = this.objects.get(name)
    if (method === 'PUT') return this.#write(request, response, name, query, body)
    if (found === undefined) return this.fail(response, 404, 'BlobNotFound', 'The specified blob does not exist.')
    if (method === 'DELETE') {
      this.objects.delete(name)
      return response.writeHead(202).end()
    }
    const wanted = request.headers['if-match']
    if (wanted !== undefined && wanted !== etag(found))
      return this.fail(response, 412, 'ConditionNotMet', 'The condition is not met.')
    response.setHeader('etag', etag(found)).setHeader('last-modified', found.modified.toUTCString())
    response.setHeader('x-ms-blob-type', 'BlockBlob')
    if (method === 'HEAD') return response.setHeader('content-length', found.bytes.length).end()
    return this.send(request, response, found.bytes, fault)
  }

  #write(request, response, name, query, body) {
    if (request.headers['if-none-match'] === '*' && this.objects.has(name))
      return this.fail(response, 409, 'BlobAlreadyExists', 'The specified blob already exists.')
    if (query.get('comp') === 'block') {
      this.uploads.set(`${name} ${query.get('blockid')}`, body)
      return response.writeHead(201).end()
    }
    if (query.get('comp') === 'blocklist') {
      const ids = [...body.toString().matchAll(/<Latest>([^<]+)<\/Latest>/g)].map(([, id]) => id)
      body = Buffer.concat(ids.map((id) => this.uploads.get(`${name} ${id}`)))
    }
    this.put(name, body)
    return response.writeHead(201, { etag: etag(this.objects.get(name)) }).end()
  }

  #list(response, bucket, query) {
    const { shown, next } = this.listed(bucket, query.get('prefix') ?? '', query.get('marker') ?? '')
    const items = shown.map((key) => {
      const { bytes, modified } = this.objects.get(`${bucket}/${key}`)
      const known = `<Last-Modified>${modified.toUTCString()}</Last-Modified><Content-Length>${bytes.length}</Content-Length>`
      return `<Blob><Name>${escape(key)}</Name><Properties>${known}</Properties></Blob>`
    })
    response.writeHead(200, { 'content-type': 'application/xml' })
    response.end(
      `<?xml version="1.0"?><EnumerationResults><Blobs>${items.join('')}</Blobs><NextMarker>${escape(next ?? '')}</NextMarker></EnumerationResults>`,
    )
  }

  fail(response, status, code, message) {
    response.writeHead(status, { 'x-ms-error-code': code, 'content-type': 'application/xml' })
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${escape(message)}</Message></Error>`)
  }

  failBucket(response) {
    this.fail(response, 404, 'ContainerNotFound', 'The specified container does not exist.')
  }
}

const etag = ({ version, bytes }) => `"${version}-${createHash('md5').update(bytes).digest('hex').slice(0, 8)}"`
