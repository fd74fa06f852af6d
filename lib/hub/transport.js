'use strict'

// The `fetch` that @huggingface/hub calls. It sends the token only to the hub, follows redirects
// itself and keeps the hub's headers of redirects, ends stalled responses, and converts failures to
// errors with codes.

const { limitExceeded, network, refused, stalled, unexpected } = require('./errors.js')
const {
  MAX_JSON_ANSWER_BYTES,
  MAX_JSON_BYTES,
  MAX_PAGES,
  MAX_REDIRECTS,
  MIN_BYTES_PER_TIMEOUT,
} = require('./limits.js')
const { untilAborted } = require('../waits.js')
const { version } = require('../../package.json')

const HUB_HEADERS = ['x-repo-commit', 'x-linked-etag', 'x-linked-size', 'etag', 'x-error-code']

/** A fetch for one file of one repository. */
class Transport {
  /** The hub's headers for the file. */
  headers = {}
  /** The last error. Streams of @huggingface/hub pass on only its message. */
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
   * Yields the chunks of a body. After the first one, MIN_BYTES_PER_TIMEOUT bytes or the end must
   * arrive every `ms` milliseconds, so that a response with single bytes now and then ends too.
   */
  async *paced(reader, ms) {
    let pending = MIN_BYTES_PER_TIMEOUT
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), this.#controller.signal)
      if (done) return
      pending += value.length
      if (pending >= MIN_BYTES_PER_TIMEOUT) {
        pending = 0
        this.expect(ms)
      }
      yield value
    }
  }

  /** Restarts the timeout, in milliseconds. */
  expect(ms) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#controller.abort(stalled(this.#settings.endpoint, ms)), ms)
  }

  /** Stops the timeout. */
  close() {
    clearTimeout(this.#timer)
    this.#forget()
  }

  /**
   * Looks up a file without downloading it: requests one byte, and does not follow redirects to the
   * storage.
   */
  probe = (url, init) =>
    this.#guarded(async () => {
      const response = await this.#request(url, init, true)
      cancelBody(response)
      const size = this.#size(response)
      const headers = new Headers(response.headers)
      for (const [name, value] of Object.entries(this.headers)) headers.set(name, value)
      // The content type describes Xet's JSON form, but plain HTTP downloads the file itself.
      headers.delete('content-type')
      if (size === undefined) headers.delete('content-range')
      else headers.set('content-range', `bytes 0-0/${size}`)
      const missing = response.status === 404 && isMissingFile(headers)
      if (missing) headers.set('x-error-code', 'EntryNotFound')
      else if (response.status >= 400) throw this.#refused(response)
      return new Response(null, { status: missing ? 404 : 206, headers })
    })

  /** Requests the file, or a part of it. */
  fetch = (url, init) =>
    this.#guarded(async () => {
      const response = await this.#request(url, init, false)
      // A success without a body, such as 204, is an error: its reader would wait forever.
      if ((response.status === 200 || response.status === 206) && response.body !== null) return response
      cancelBody(response)
      if (response.ok) throw unexpected(`status ${response.status} in place of a file`, this.#settings.endpoint)
      throw this.#refused(response)
    })

  /**
   * Requests JSON within the limits. @huggingface/hub requests pages as long as there is a next
   * one.
   */
  fetchJson = (url, init) =>
    this.#guarded(async () => {
      const { endpoint } = this.#settings
      this.#answers += 1
      if (this.#answers > MAX_PAGES)
        throw limitExceeded(`the list of ${this.#about.path} on ${endpoint} has more than`, MAX_PAGES, 'pages')
      const response = await this.fetch(url, init)
      const body = await this.#jsonBody(response)
      return new Response(body, { status: 200, headers: response.headers })
    })

  /** Reads a body, decompressed. */
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
          const [most, unit] =
            limit < MAX_JSON_ANSWER_BYTES ? [MAX_JSON_BYTES, 'bytes in all'] : [MAX_JSON_ANSWER_BYTES, 'bytes']
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
      // Streams have states in which a read or a cancellation never settles, for example after a
      // connection was lost.
      return await untilAborted(work(), this.#controller.signal)
    } catch (failure) {
      this.failure = this.explain(failure)
      throw this.failure
    }
  }

  /** Converts a failure to an error with a code. */
  explain(failure) {
    const { signal } = this.#controller
    if (signal.aborted) return signal.reason
    if (typeof failure?.code === 'string' && failure.code.startsWith('ERR_TOKENLANE_')) return failure
    return network(failure, this.#settings.endpoint, this.#settings.token)
  }

  #refused(response) {
    const { endpoint, token } = this.#settings
    return refused(response, { ...this.#about, endpoint, token })
  }

  /**
   * Sends a request and follows redirects. With `isProbe`, a redirect to another server is returned
   * if the hub has described the file.
   */
  async #request(url, init, isProbe) {
    const { endpoint, token, answerTimeout } = this.#settings
    const hub = new URL(endpoint).origin
    let target = new URL(url)
    let hasLeft = false
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      if (target.username !== '' || target.password !== '')
        throw unexpected('it names an address with a password', endpoint)
      const headers = new Headers(init?.headers)
      headers.set('user-agent', `tokenlane/${version}; node/${process.versions.node}`)
      if (token !== undefined && target.origin === hub) headers.set('authorization', `Bearer ${token}`)
      this.expect(answerTimeout)
      const response = await fetch(target, { ...init, headers, redirect: 'manual', signal: this.#controller.signal })
      const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
      const away = location !== null && URL.canParse(location)
      if (target.origin === hub) this.#note(response.headers, hasLeft)
      hasLeft ||= away
      if (location === null || (isProbe && away && this.#isDescribed())) return response
      cancelBody(response)
      target = this.#redirected(location, target)
    }
    throw limitExceeded(`${endpoint} redirects more than`, MAX_REDIRECTS, `times for ${this.#about.path}`)
  }

  /** The target of a redirect. `fetch` would also read URLs such as data:. */
  #redirected(location, from) {
    const target = URL.canParse(location, from) ? new URL(location, from) : undefined
    if (target?.protocol === 'https:' || target?.protocol === 'http:') return target
    const { endpoint, token } = this.#settings
    throw unexpected(`it redirects to ${location}`, endpoint, { token })
  }

  /**
   * Keeps headers of the hub. After a redirect to another server, headers only fill gaps, because
   * that server creates its own ETags.
   */
  #note(headers, hasLeft) {
    for (const name of HUB_HEADERS) {
      const value = headers.get(name)
      const known = this.headers[name]
      if (value !== null && (known === undefined || (name === 'etag' && !hasLeft))) this.headers[name] = value
    }
  }

  #isDescribed() {
    return (
      this.headers['x-linked-size'] !== undefined && (this.headers['x-linked-etag'] ?? this.headers.etag) !== undefined
    )
  }

  /** The size of the file in bytes, or undefined. */
  #size({ status, headers }) {
    const range = headers.get('content-range')?.match(/\/(\d+)$/)?.[1]
    const plain = status === 200 && headers.get('content-encoding') === null ? headers.get('content-length') : null
    const size = this.headers['x-linked-size'] ?? range ?? plain
    return size === null || !/^\d+$/.test(size) ? undefined : Number(size)
  }
}

/** Cancels a response whose body is not needed. */
function cancelBody(response) {
  response.body?.cancel().catch(() => {})
}

/** Whether a 404 is about the file. Hubs send a code; simpler servers do not. */
function isMissingFile(headers) {
  const code = headers.get('x-error-code')
  return code === null || code === 'EntryNotFound'
}

module.exports = { Transport }
