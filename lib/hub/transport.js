'use strict'

// The fetch that @huggingface/hub is given. It sends the token to the hub and to nobody else, follows redirects itself and
// keeps what the hub said before it sent us on, gives up on who does not answer, and turns refusals into errors with codes.

const { network, refused, stalled, strange } = require('./errors.js')
const { version } = require('../../package.json')

const MOST_REDIRECTS = 10
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

  /** `about` is { repo, revision, path }, for messages. */
  constructor(settings, about, signal) {
    this.#settings = settings
    this.#about = about
    const stop = () => this.#controller.abort(signal.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    this.#forget = () => signal?.removeEventListener('abort', stop)
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
    await response.body?.cancel()
    const size = this.#size(response)
    const headers = new Headers(response.headers)
    for (const [name, value] of Object.entries(this.said)) headers.set(name, value)
    // A file of Xet's store is described in JSON, but what comes from there over plain HTTP is the file itself.
    headers.delete('content-type')
    if (size !== undefined) headers.set('content-range', `bytes 0-0/${size}`)
    const missing = response.status === 404 && isMissingFile(headers)
    if (missing) headers.set('x-error-code', 'EntryNotFound')
    else if (response.status >= 400) throw this.#refused(response)
    return new Response(null, { status: missing ? 404 : 206, headers })
  })

  /** The file, or a part of it. */
  fetch = (url, init) => this.#guarded(async () => {
    const response = await this.#request(url, init, false)
    if (response.ok) return response
    await response.body?.cancel()
    throw this.#refused(response)
  })

  async #guarded(work) {
    try {
      return await work()
    } catch (failure) {
      this.failure = this.explain(failure)
      throw this.failure
    }
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
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
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
      await response.body?.cancel()
      target = new URL(location, target)
    }
    throw strange('it sends us in a circle', endpoint)
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

/** Whether a 404 is about the file: hubs say so, simpler servers say nothing. */
function isMissingFile(headers) {
  const code = headers.get('x-error-code')
  return code === null || code === 'EntryNotFound'
}

module.exports = { Transport }
