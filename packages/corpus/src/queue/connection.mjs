// Connects to Redis. Errors name the host and the port, never the credentials in the URL.

import { createRequire } from 'node:module'

import { optional, pause, untilAborted, within } from 'tokenlane/internal/corpus.js'
import { error, rangeError } from '../errors.mjs'
import { checkReplies } from './replies.mjs'

const require = createRequire(import.meta.url)

const DEFAULT_PORT = 6379
const MIN_VERSION = [6, 2]
/** Timeout in milliseconds for the first connection, until Redis has answered. */
const CONNECT_TIMEOUT_MS = 10_000
/** Codes of failures after which Redis may still come up. */
const UNREACHABLE = ['ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'ETIMEDOUT']
/** Time in milliseconds between two attempts to connect to a Redis that is not there yet. */
const CONNECT_PAUSE_MS = 1000
/** Maximum time in milliseconds between two attempts to reconnect. */
const MAX_RETRY_DELAY_MS = 2000
/** Time in milliseconds after which a connection is cut that Redis does not end. */
const DISCONNECT_MS = 500
/** Time in milliseconds that BullMQ has to end in order. */
const CLOSE_MS = 1000

/**
 * Loads BullMQ, an optional package. It is loaded as CommonJS, because its hundreds of ES modules
 * take twice the processor time to load.
 *
 * @returns {Promise<typeof import('bullmq')>}
 */
export const loadBullMq = () => optional(() => require('bullmq'), 'bullmq', 'A corpus job on many machines')

/**
 * The class of ioredis, whose connections end if what answers is no Redis.
 *
 * @param {(failure: Error) => void} onBroken is called then
 */
async function loadRedis(onBroken) {
  const { Redis } = await optional(() => require('ioredis'), 'ioredis', 'A corpus job on many machines')
  return class extends Redis {
    constructor(options) {
      super(options)
      this.on('connect', () => checkReplies(this, onBroken))
    }
  }
}

/**
 * The connection options of a URL. User and password may also come from the environment variables
 * TOKENLANE_QUEUE_USERNAME and TOKENLANE_QUEUE_PASSWORD.
 *
 * @param {string} text redis://[user:password@]host[:port][/database], or rediss:// for TLS
 */
export function connectionOf(text, environment = process.env) {
  let url
  try {
    url = new URL(text)
  } catch {
    // Reported below.
  }
  if (
    url === undefined ||
    !['redis:', 'rediss:'].includes(url.protocol) ||
    url.hostname === '' ||
    !/^\/?\d*$/.test(url.pathname)
  ) {
    // The message does not quote the text, which may contain a password.
    throw rangeError('queue must be a URL such as redis://host:6379 or rediss://host:6379/0')
  }
  const username = decodeURIComponent(url.username) || environment.TOKENLANE_QUEUE_USERNAME
  const password = decodeURIComponent(url.password) || environment.TOKENLANE_QUEUE_PASSWORD
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || DEFAULT_PORT),
    db: Number(url.pathname.slice(1) || 0),
    ...(username && { username }),
    ...(password && { password }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
    // The job continues when Redis is back, however long that takes.
    maxRetriesPerRequest: null,
    disconnectTimeout: DISCONNECT_MS,
    retryStrategy: (times) => Math.min(times * 100, MAX_RETRY_DELAY_MS),
  }
}

/** Host and port, for messages. */
export const nameOf = ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * Connections for objects of BullMQ. Each has one of its own, and BullMQ copies some. A command
 * without an answer keeps BullMQ from closing them, so they are ended here.
 */
export class Connections {
  #Redis
  #clients = new Set()
  #users = []

  /**
   * @param {object} options of `connectionOf`
   * @param {(failure: Error) => void} onBroken receives the failure if what answers is no Redis
   */
  static async of(options, onBroken) {
    return new Connections(await loadRedis(onBroken), options)
  }

  constructor(Redis, options) {
    const clients = this.#clients
    this.options = options
    this.#Redis = class extends Redis {
      constructor(own) {
        super(own)
        clients.add(this)
        this.on('error', () => {})
      }

      duplicate(more) {
        return new /** @type {any} */ (this.constructor)({ ...this.options, ...more })
      }
    }
  }

  /** Makes an object of BullMQ with a connection. Errors are those of a connection that returns. */
  open(make) {
    const user = make(new this.#Redis(this.options))
    user.on('error', () => {})
    this.#users.push(user)
    return user
  }

  /** Closes the objects, and ends all connections. */
  async end() {
    const closed = Promise.allSettled(this.#users.map((user) => user.close()))
    await within(closed, CLOSE_MS, () => undefined).catch(() => {})
    for (const client of this.#clients) client.disconnect()
  }
}

/**
 * Checks that Redis can be reached and is new enough.
 *
 * @param {any} connection
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} a client of ioredis
 */
export async function connect(connection, signal) {
  let reason
  const note = (failure) => {
    reason ??= failure
  }
  const Redis = await loadRedis(note)
  const client = new Redis({
    ...connection,
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: () => null,
  })
  client.on('error', note)
  try {
    const late = () => Object.assign(new Error('it does not answer'), { code: 'ETIMEDOUT' })
    const info = within(
      client.connect().then(() => client.info('server')),
      CONNECT_TIMEOUT_MS,
      late,
    )
    const version = /redis_version:(\d+)\.(\d+)/.exec(await untilAborted(info, signal))
    const [major, minor] = version === null ? [0, 0] : [Number(version[1]), Number(version[2])]
    if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1])) {
      throw new Error(`it is version ${major}.${minor}, but ${MIN_VERSION.join('.')} or newer is needed`)
    }
    return client
  } catch (failure) {
    client.disconnect()
    signal?.throwIfAborted()
    const isUnreachable = UNREACHABLE.includes((reason ?? failure).code) || /^LOADING/.test(failure.message)
    throw Object.assign(queueFailed(connection, reason ?? failure), { isUnreachable })
  }
}

/**
 * Like `connect`, but waits until Redis can be reached, for at most `milliseconds`.
 *
 * @param {(failure: Error) => void} onWait receives each failure after which it is tried again
 */
export async function connectPatiently(connection, milliseconds, onWait) {
  for (const end = performance.now() + milliseconds; ; ) {
    try {
      return await connect(connection)
    } catch (failure) {
      if (!failure.isUnreachable || performance.now() + CONNECT_PAUSE_MS > end) throw failure
      onWait(failure)
      await pause(CONNECT_PAUSE_MS)
    }
  }
}

/** The error for a failure of Redis. Credentials in its message are hidden. */
export function queueFailed(connection, { message }) {
  const secrets = [connection.password, connection.username].filter((secret) => secret !== undefined)
  const said = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message)
  return error('ERR_TOKENLANE_CORPUS_QUEUE', `the queue at ${nameOf(connection)} cannot be used: ${said}`)
}
