'use strict'

// The fetch that @huggingface/hub is given. It sends the token to the hub and to nobody else, follows redirects itself and
// keeps what the hub said before it sent us on, gives up on who does not answer, and turns refusals into errors with codes.

const { limitExceeded, network, refused, stalled, strange } = require('./errors.js')
const { MAX_JSON_ANSWER_BYTES, MAX_JSON_BYTES, MAX_PAGES, MAX_REDIRECTS, MIN_BYTES_PER_TIMEOUT } = require('./limits.js')
const { version } = require('../../package.json')

const HUB_HEADERS = ['x-repo-commit', 'x-linked-etag', 'x-linked-size', 'etag', 'x-error-code']

/** A fetch for one file of one repository. */
class Transport {
  /** What the hub said of the file, by header. */
  said = {}
  /** What went wrong last. A stream of @huggingface/hub only passes its words on. */
  failure
  #settings
  #about
  #controller = new AbortController()
  #timer
  #forget
  #answers = 0
  #jsonBytes = 0

  /** `about` is { repo, revision, path }, for messages. */
  constructor(settings, about, signal) {
    this.#settings = settings
    this.#about = about
    const stop = () => this.#controller.abort(signal.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    this.#forget = () => signal?.removeEventListener('abort', stop)
  }

  /**
   * Passes on the chunks of a body. After the first one, MIN_BYTES_PER_TIMEOUT or the end must come every `ms` milliseconds, so that
   * an answer that goes on with a byte now and then ends too.
   */
  async *paced(reader, ms) {
    let pending = MIN_BYTES_PER_TIMEOUT
    for (;;) {
      const { done, value } = await this.#untilAborted(reader.read())
      if (done) return
      pending += value.length
      if (pending >= MIN_BYTES_PER_TIMEOUT) {
        pending = 0
        this.expect(ms)
      }
      yield value
    }
  }

  /** Expects something within so many milliseconds from now on. */
  expect(ms) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#controller.abort(stalled(this.#settings.endpoint, ms)), ms)
  }

  /** Nothing more is expected. */
  close() {
    clearTimeout(this.#timer)
    this.#forget()
  }

  /** What the hub says of a file, without the file: it is asked for one byte, and not followed to where that lies. */
  probe = (url, init) => this.#guarded(async () => {
    const response = await this.#request(url, init, true)
    drop(response)
    const size = this.#size(response)
    const headers = new Headers(response.headers)
    for (const [name, value] of Object.entries(this.said)) headers.set(name, value)
    // A file of Xet's store is described in JSON, but what comes from there over plain HTTP is the file itself.
    headers.delete('content-type')
    if (size === undefined) headers.delete('content-range')
    else headers.set('content-range', `bytes 0-0/${size}`)
    const missing = response.status === 404 && isMissingFile(headers)
    if (missing) headers.set('x-error-code', 'EntryNotFound')
    else if (response.status >= 400) throw this.#refused(response)
    return new Response(null, { status: missing ? 404 : 206, headers })
  })

  /** The file, or a part of it. */
  fetch = (url, init) => this.#guarded(async () => {
    const response = await this.#request(url, init, false)
    // A success without a body, such as 204, is none: who reads the body would wait for ever.
    if ((response.status === 200 || response.status === 206) && response.body !== null) return response
    drop(response)
    if (response.ok) throw strange(`status ${response.status} in place of a file`, this.#settings.endpoint)
    throw this.#refused(response)
  })

  /** An answer in JSON, read within the limits. @huggingface/hub asks for pages of it as long as there is a next one. */
  fetchJson = (url, init) => this.#guarded(async () => {
    const { endpoint } = this.#settings
    this.#answers += 1
    if (this.#answers > MAX_PAGES) throw limitExceeded(`the list of ${this.#about.path} on ${endpoint} has more than`, MAX_PAGES, 'pages')
    const response = await this.fetch(url, init)
    const body = await this.#jsonBody(response)
    return new Response(body, { status: 200, headers: response.headers })
  })

  /** The bytes of a body, decompressed. */
  async #jsonBody(response) {
    const { endpoint, answerTimeout } = this.#settings
    const reader = response.body.getReader()
    const limit = Math.min(MAX_JSON_ANSWER_BYTES, MAX_JSON_BYTES - this.#jsonBytes)
    const chunks = []
    let length = 0
    try {
      for await (const chunk of this.paced(reader, answerTimeout)) {
        length += chunk.length
        if (length > limit) {
          const [most, unit] = limit < MAX_JSON_ANSWER_BYTES ? [MAX_JSON_BYTES, 'bytes in all'] : [MAX_JSON_ANSWER_BYTES, 'bytes']
          throw limitExceeded(`the answer of ${endpoint} about ${this.#about.path} has more than`, most, unit)
        }
        chunks.push(chunk)
      }
    } finally {
      reader.cancel().catch(() => {})
    }
    this.#jsonBytes += length
    return Buffer.concat(chunks)
  }

  async #guarded(work) {
    try {
      return await this.#untilAborted(work())
    } catch (failure) {
      this.failure = this.explain(failure)
      throw this.failure
    }
  }

  /**
   * The result of `work`, or a rejection when time is up. Streams have states in which a read or a cancellation never settles,
   * such as that of a connection which was lost at the wrong moment.
   */
  #untilAborted(work) {
    const { signal } = this.#controller
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason)
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop, { once: true })
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
    })
  }

  /** A failure in words that help. */
  explain(failure) {
    const { signal } = this.#controller
    if (signal.aborted) return signal.reason
    if (typeof failure?.code === 'string' && failure.code.startsWith('ERR_TOKENLANE_')) return failure
    return network(failure, this.#settings.endpoint)
  }

  #refused(response) {
    const { endpoint, token } = this.#settings
    return refused(response, { ...this.#about, endpoint, hasToken: token !== undefined })
  }

  async #request(url, init, stay) {
    const { endpoint, token, answerTimeout } = this.#settings
    const hub = new URL(endpoint).origin
    let target = new URL(url)
    let left = false
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const headers = new Headers(init?.headers)
      headers.set('user-agent', `tokenlane/${version}; node/${process.versions.node}`)
      if (token !== undefined && target.origin === hub) headers.set('authorization', `Bearer ${token}`)
      this.expect(answerTimeout)
      const response = await fetch(target, { ...init, headers, redirect: 'manual', signal: this.#controller.signal })
      const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
      const away = location !== null && URL.canParse(location)
      if (target.origin === hub) this.#note(response.headers, left)
      left ||= away
      if (location === null || (stay && away && this.#isDescribed())) return response
      drop(response)
      target = this.#redirected(location, target)
    }
    throw limitExceeded(`${endpoint} redirects more than`, MAX_REDIRECTS, `times for ${this.#about.path}`)
  }

  /** Where a redirect leads. `fetch` would also read URLs that are no addresses, such as data:. */
  #redirected(location, from) {
    const target = URL.canParse(location, from) ? new URL(location, from) : undefined
    if (target?.protocol === 'https:' || target?.protocol === 'http:') return target
    throw strange(`it redirects to ${location.slice(0, 100)}`, this.#settings.endpoint)
  }

  /** Headers of the hub. Where it sent us away, those of the other place only fill gaps: their ETag is of their own making. */
  #note(headers, left) {
    for (const name of HUB_HEADERS) {
      const value = headers.get(name)
      const known = this.said[name]
      if (value !== null && (known === undefined || (name === 'etag' && !left))) this.said[name] = value
    }
  }

  #isDescribed() {
    return this.said['x-linked-size'] !== undefined && (this.said['x-linked-etag'] ?? this.said.etag) !== undefined
  }

  /** How many bytes the file has. */
  #size({ status, headers }) {
    const range = headers.get('content-range')?.match(/\/(\d+)$/)?.[1]
    const plain = status === 200 && headers.get('content-encoding') === null ? headers.get('content-length') : null
    const size = this.said['x-linked-size'] ?? range ?? plain
    return size === null || !/^\d+$/.test(size) ? undefined : Number(size)
  }
}

/** Ends an answer whose body is not wanted. */
function drop(response) {
  response.body?.cancel().catch(() => {})
}

/** Whether a 404 is about the file: hubs say so, simpler servers say nothing. */
function isMissingFile(headers) {
  const code = headers.get('x-error-code')
  return code === null || code === 'EntryNotFound'
}

module.exports = { Transport }
