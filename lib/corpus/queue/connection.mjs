// The way to Redis. Errors name the host and the port, never what is in front of an @ in the URL.

import { createRequire } from 'node:module'

import { error, rangeError } from '../errors.mjs'

const require = createRequire(import.meta.url)
const { optional } = require('../../optional.js')

const PORT = 6379
const MIN_VERSION = [6, 2]
/** Milliseconds for the first connection. */
const PATIENCE = 10_000
/** The most milliseconds between attempts to connect again. */
const MAX_WAIT = 2000

/**
 * BullMQ, which is an optional package. Its hundreds of ES modules take twice the processor time of
 * its CommonJS ones to load.
 *
 * @returns {Promise<typeof import('bullmq')>}
 */
export const loadBullMq = () => optional(() => require('bullmq'), 'bullmq', 'A corpus job on many machines')
const loadRedis = () => optional(() => require('ioredis'), 'ioredis', 'A corpus job on many machines')

/**
 * The connection that a URL and the environment say. User and password may also stand in
 * TOKENLANE_QUEUE_USERNAME and TOKENLANE_QUEUE_PASSWORD.
 *
 * @param {string} text redis://[user:password@]host[:port][/database], or rediss:// for TLS
 */
export function connectionOf(text, environment = process.env) {
  let url
  try {
    url = new URL(text)
  } catch {
    // Below: the text may have a password.
  }
  if (
    url === undefined ||
    !['redis:', 'rediss:'].includes(url.protocol) ||
    url.hostname === '' ||
    !/^\/?\d*$/.test(url.pathname)
  ) {
    // Without the text: it may hold a password.
    throw rangeError(
      'ERR_TOKENLANE_ARGUMENT_VALUE',
      'queue must be a URL such as redis://host:6379 or rediss://host:6379/0',
    )
  }
  const username = decodeURIComponent(url.username) || environment.TOKENLANE_QUEUE_USERNAME
  const password = decodeURIComponent(url.password) || environment.TOKENLANE_QUEUE_PASSWORD
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || PORT),
    db: Number(url.pathname.slice(1) || 0),
    ...(username && { username }),
    ...(password && { password }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
    // A job goes on when Redis is back, however long that takes.
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(times * 100, MAX_WAIT),
  }
}

/** Host and port, for messages. */
export const nameOf = ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * Checks that Redis can be reached and is new enough. @returns {Promise<any>} a client of ioredis
 */
export async function connect(connection) {
  const { Redis } = await loadRedis()
  const client = new Redis({ ...connection, lazyConnect: true, connectTimeout: PATIENCE, retryStrategy: () => null })
  let reason
  client.on('error', (failure) => (reason ??= failure))
  try {
    await client.connect()
    const version = /redis_version:(\d+)\.(\d+)/.exec(await client.info('server'))
    const [major, minor] = version === null ? [0, 0] : [Number(version[1]), Number(version[2])]
    if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1])) {
      throw new Error(`it is version ${major}.${minor}, and ${MIN_VERSION.join('.')} or newer is needed`)
    }
    return client
  } catch (failure) {
    client.disconnect()
    throw queueFailed(connection, reason ?? failure)
  }
}

/** An error of Redis, without what it may quote of the connection. */
export function queueFailed(connection, { message }) {
  const secrets = [connection.password, connection.username].filter((secret) => secret !== undefined)
  const said = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message)
  return error('ERR_TOKENLANE_CORPUS_QUEUE', `the queue at ${nameOf(connection)} cannot be used: ${said}`)
}
