// Connects to Redis. Errors name the host and the port, never the credentials in the URL.

import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'

import { error, rangeError } from '../errors.mjs'

const require = createRequire(import.meta.url)
const { optional } = require('../../optional.js')

const DEFAULT_PORT = 6379
const MIN_VERSION = [6, 2]
/** Timeout in milliseconds for the first connection. */
const CONNECT_TIMEOUT_MS = 10_000
/** Codes of failures after which Redis may still come up. */
const UNREACHABLE = ['ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'ETIMEDOUT']
/** Time in milliseconds between two attempts to connect to a Redis that is not there yet. */
const CONNECT_PAUSE_MS = 1000
/** Maximum time in milliseconds between two attempts to reconnect. */
const MAX_RETRY_DELAY_MS = 2000

/**
 * Loads BullMQ, an optional package. It is loaded as CommonJS, because its hundreds of ES modules
 * take twice the processor time to load.
 *
 * @returns {Promise<typeof import('bullmq')>}
 */
export const loadBullMq = () => optional(() => require('bullmq'), 'bullmq', 'A corpus job on many machines')
const loadRedis = () => optional(() => require('ioredis'), 'ioredis', 'A corpus job on many machines')

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
    retryStrategy: (times) => Math.min(times * 100, MAX_RETRY_DELAY_MS),
  }
}

/** Host and port, for messages. */
export const nameOf = ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * Checks that Redis can be reached and is new enough.
 *
 * @returns {Promise<any>} a client of ioredis
 */
export async function connect(connection) {
  const { Redis } = await loadRedis()
  const client = new Redis({
    ...connection,
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: () => null,
  })
  let reason
  client.on('error', (failure) => (reason ??= failure))
  try {
    await client.connect()
    const version = /redis_version:(\d+)\.(\d+)/.exec(await client.info('server'))
    const [major, minor] = version === null ? [0, 0] : [Number(version[1]), Number(version[2])]
    if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1])) {
      throw new Error(`it is version ${major}.${minor}, but ${MIN_VERSION.join('.')} or newer is needed`)
    }
    return client
  } catch (failure) {
    client.disconnect()
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
      await wait(CONNECT_PAUSE_MS)
    }
  }
}

/** The error for a failure of Redis. Credentials in its message are hidden. */
export function queueFailed(connection, { message }) {
  const secrets = [connection.password, connection.username].filter((secret) => secret !== undefined)
  const said = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message)
  return error('ERR_TOKENLANE_CORPUS_QUEUE', `the queue at ${nameOf(connection)} cannot be used: ${said}`)
}
