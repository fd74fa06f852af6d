// A small S3 server: listing with pages, ranges, multipart uploads, and faults on demand. Objects
// are in memory. Signatures are not checked, but every request must have one.

import { createHash, randomBytes } from 'node:crypto'

import { TestServer } from '../../../../__test__/support/test-server.mjs'

const escape = (text) => text.replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`)
const etagOf = (bytes) => `"${createHash('md5').update(bytes).digest('hex')}"`

/** Bytes of a request, without the frames of aws-chunked. */
function plain(bytes, headers) {
  if (!/aws-chunked/.test(headers['content-encoding'] ?? '')) return bytes
  const parts = []
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (size === 0) return Buffer.concat(parts)
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}

export class TestS3 extends TestServer {
  /** Objects by `bucket/key`. */
  objects = /** @type {Map<string, { bytes: Buffer, etag: string, modified: Date }>} */ (new Map())
  uploads = /** @type {Map<string, { name: string, parts: Map<number, Buffer>, started: Date }>} */ (new Map())
  /** What was asked: method, name and query. */
  requests = /** @type {{ method: string, name: string, query: URLSearchParams, range?: string }[]} */ ([])
  /** Whether conditional writes are supported. */
  isConditional = true
  /** Keys of a page of a listing. */
  page = 1000
  /**
   * Changes a page of a listing: its keys, and the mark of the next page.
   *
   * @type {(page: { shown: string[], next?: string }) => { shown: string[], next?: string }}
   */
  listing = (page) => page
  /**
   * Decides about faults: a status to answer with, `{ cut }` bytes of the body after which the
   * connection ends, `{ stall }` bytes after which nothing more comes, or nothing.
   *
   * @type {(request: { method: string, name: string, query: URLSearchParams, count: number }) =>
   *   any}
   */
  fault = () => undefined
  #counts = new Map()

  static async start(buckets = ['lake']) {
    const s3 = new TestS3()
    s3.buckets = buckets
    await s3.listen()
    return s3
  }

  /** The environment of a program that uses this server. */
  get env() {
    return {
      AWS_ENDPOINT_URL: this.endpoint,
      AWS_ACCESS_KEY_ID: 'AKIDS3CRETNAME',
      AWS_SECRET_ACCESS_KEY: 'wJalrS3CRETKEY',
      AWS_SESSION_TOKEN: 'S3CRETSESSION',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    }
  }

  put(name, content) {
    const bytes = Buffer.from(content)
    this.objects.set(name, { bytes, etag: etagOf(bytes), modified: new Date(Date.now() - 60_000) })
  }

  get(name) {
    return this.objects.get(name)?.bytes
  }

  /** The names below a prefix of `bucket/key`. */
  names(prefix) {
    return [...this.objects.keys()].filter((name) => name.startsWith(prefix)).sort()
  }

  async hear(request, response) {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = plain(Buffer.concat(chunks), request.headers)
    const url = new URL(request.url, 'http://x')
    // The path as it was sent: a URL would resolve dots.
    const name = decodeURIComponent(request.url.split('?')[0].slice(1))
    const query = url.searchParams
    const { method } = request
    this.requests.push({ method, name, query, range: request.headers.range })
    const id = `${method} ${name} ${query}`
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
    if (!request.headers.authorization?.startsWith('AWS4-HMAC-SHA256'))
      return this.#fail(response, 403, 'AccessDenied', 'unsigned')
    const fault = this.fault({ method, name, query, count: this.#counts.get(id) })
    if (typeof fault === 'number') {
      const codes = { 403: 'AccessDenied', 503: 'SlowDown' }
      return this.#fail(response, fault, codes[fault] ?? 'InternalError', `fault, ${request.headers.authorization}`)
    }
    const [bucket] = name.split('/')
    if (!this.buckets.includes(bucket)) return this.#fail(response, 404, 'NoSuchBucket', bucket)
    const isBucket = !name.includes('/') || name === `${bucket}/`
    if (method === 'GET' && isBucket)
      return query.has('uploads') ? this.#uploads(response, bucket, query) : this.#list(response, bucket, query)
    if (method === 'GET' || method === 'HEAD') return this.#get(request, response, name, fault)
    if (method === 'PUT' && query.has('uploadId')) return this.#part(response, query, body)
    if (method === 'PUT' && request.headers['if-none-match'] === '*') {
      if (!this.isConditional) return this.#fail(response, 501, 'NotImplemented', 'If-None-Match')
      if (this.objects.has(name)) return this.#fail(response, 412, 'PreconditionFailed', name)
    }
    if (method === 'PUT') {
      this.objects.set(name, { bytes: body, etag: etagOf(body), modified: new Date() })
      return response.setHeader('ETag', etagOf(body)).end()
    }
    if (method === 'POST' && query.has('uploads')) return this.#create(response, name)
    if (method === 'POST' && query.has('uploadId')) return this.#complete(response, name, query, body.toString())
    if (method === 'DELETE' && query.has('uploadId')) {
      this.uploads.delete(query.get('uploadId'))
      return response.writeHead(204).end()
    }
    if (method === 'DELETE') {
      this.objects.delete(name)
      return response.writeHead(204).end()
    }
    return this.#fail(response, 501, 'NotImplemented', id)
  }

  #get(request, response, name, fault) {
    const found = this.objects.get(name)
    if (found === undefined) return this.#fail(response, 404, 'NoSuchKey', name)
    const { bytes, etag, modified } = found
    const wanted = request.headers['if-match']
    if (wanted !== undefined && wanted !== etag) return this.#fail(response, 412, 'PreconditionFailed', name)
    response
      .setHeader('ETag', etag)
      .setHeader('Last-Modified', modified.toUTCString())
      .setHeader('Accept-Ranges', 'bytes')
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    if (from !== undefined && Number(from) >= bytes.length) return this.#fail(response, 416, 'InvalidRange', name)
    const part = from === undefined ? bytes : bytes.subarray(Number(from), Number(to) + 1)
    if (from !== undefined)
      response.writeHead(206, {
        'Content-Length': part.length,
        'Content-Range': `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`,
      })
    else response.writeHead(200, { 'Content-Length': part.length })
    if (request.method === 'HEAD') return response.end()
    if (fault === undefined) return response.end(part)
    response.write(part.subarray(0, fault.cut ?? fault.stall))
    if (fault.cut !== undefined) setTimeout(() => response.destroy(), 5)
    return undefined
  }

  #list(response, bucket, query) {
    const prefix = query.get('prefix') ?? ''
    const after = query.get('continuation-token') ?? ''
    const most = Math.min(this.page, Number(query.get('max-keys') ?? 1000))
    const keys = this.names(`${bucket}/`)
      .map((name) => name.slice(bucket.length + 1))
      .filter((key) => key.startsWith(prefix) && key > after)
    keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const first = keys.slice(0, most)
    const { shown, next: mark } = this.listing({ shown: first, ...(keys.length > most && { next: first.at(-1) }) })
    const isCut = mark !== undefined
    const items = shown.map((key) => {
      const { bytes, etag, modified } = this.objects.get(`${bucket}/${key}`)
      return `<Contents><Key>${escape(key)}</Key><Size>${bytes.length}</Size><ETag>${escape(etag)}</ETag><LastModified>${modified.toISOString()}</LastModified></Contents>`
    })
    const next = mark ? `<NextContinuationToken>${escape(mark)}</NextContinuationToken>` : ''
    response.setHeader('Content-Type', 'application/xml')
    response.end(
      `<?xml version="1.0"?><ListBucketResult><Name>${bucket}</Name><KeyCount>${shown.length}</KeyCount><IsTruncated>${isCut}</IsTruncated>${next}${items.join('')}</ListBucketResult>`,
    )
  }

  #uploads(response, bucket, query) {
    const prefix = `${bucket}/${query.get('prefix') ?? ''}`
    const items = [...this.uploads]
      .filter(([, { name }]) => name.startsWith(prefix))
      .map(
        ([id, { name, started }]) =>
          `<Upload><Key>${escape(name.slice(bucket.length + 1))}</Key><UploadId>${id}</UploadId><Initiated>${started.toISOString()}</Initiated></Upload>`,
      )
    response.end(
      `<?xml version="1.0"?><ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${items.join('')}</ListMultipartUploadsResult>`,
    )
  }

  /** An upload that a process has left, as if it had been started at a time. */
  leave(name, started) {
    const id = randomBytes(8).toString('hex')
    this.uploads.set(id, { name, parts: new Map([[1, Buffer.alloc(10)]]), started })
  }

  #create(response, name) {
    const id = randomBytes(8).toString('hex')
    this.uploads.set(id, { name, parts: new Map(), started: new Date() })
    response.end(
      `<?xml version="1.0"?><InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    )
  }

  #part(response, query, body) {
    const upload = this.uploads.get(query.get('uploadId'))
    if (upload === undefined) return this.#fail(response, 404, 'NoSuchUpload', 'upload')
    upload.parts.set(Number(query.get('partNumber')), body)
    return response.setHeader('ETag', etagOf(body)).end()
  }

  #complete(response, name, query, body) {
    const upload = this.uploads.get(query.get('uploadId'))
    if (upload === undefined) return this.#fail(response, 404, 'NoSuchUpload', 'upload')
    const wanted = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, number]) => Number(number))
    if (wanted.some((number, index) => number !== index + 1)) return this.#fail(response, 400, 'InvalidPartOrder', name)
    const bytes = Buffer.concat(wanted.map((number) => upload.parts.get(number)))
    this.uploads.delete(query.get('uploadId'))
    const etag = `"${randomBytes(16).toString('hex')}-${wanted.length}"`
    this.objects.set(name, { bytes, etag, modified: new Date() })
    return response.end(
      `<?xml version="1.0"?><CompleteMultipartUploadResult><ETag>${escape(etag)}</ETag></CompleteMultipartUploadResult>`,
    )
  }

  #fail(response, status, code, message) {
    response.writeHead(status, { 'Content-Type': 'application/xml' })
    return response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${escape(message)}</Message></Error>`)
  }
}
