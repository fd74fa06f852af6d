'use strict'

// The errors of downloads, each with a code and with advice.

const { error } = require('../errors.js')

const OFFLINE_HINT = 'turn off localFilesOnly and HF_HUB_OFFLINE to download it'
const TOKEN_HINT = 'pass a token (option token, HF_TOKEN, or "hf auth login")'

/**
 * The error for a response that is not a file. `from` is { repo, revision, path, endpoint, token }.
 */
function refused(response, from) {
  const { status, headers } = response
  const { repo, revision, path, endpoint, token } = from
  const hasToken = token !== undefined
  switch (headers.get('x-error-code')) {
    case 'RepoNotFound':
      return error('ERR_TOKENLANE_HUB_REPO_NOT_FOUND', noRepo(repo, endpoint, hasToken))
    case 'RevisionNotFound':
      return error(
        'ERR_TOKENLANE_HUB_REVISION_NOT_FOUND',
        `the repository '${repo}' has no revision '${revision}': give one of its branches, tags or commits`,
      )
    case 'EntryNotFound':
      return noFile(path, from)
    case 'GatedRepo':
      return error(
        'ERR_TOKENLANE_HUB_GATED',
        `access to '${repo}' must be requested: do so on ${endpoint}/${repo}, and then ${TOKEN_HINT}`,
      )
  }
  const message = printable(headers.get('x-error-message') ?? '', token)
  const words = message === '' ? '' : ` (${message})`
  if (status === 401 || status === 403) {
    const what = hasToken ? 'the token is not valid or may not read it; pass another one' : TOKEN_HINT
    return error(
      'ERR_TOKENLANE_HUB_ACCESS',
      `${endpoint} denies access to '${repo}' (status ${status})${words}: ${what}`,
    )
  }
  if (status === 404) return noFile(path, from)
  if (status === 429) return rateLimited(headers.get('retry-after'), endpoint, hasToken)
  const later = status >= 500 ? 'try again later' : 'check HF_ENDPOINT'
  const failure = error('ERR_TOKENLANE_HUB_SERVER', `${endpoint} answered with status ${status}${words}: ${later}`)
  return Object.assign(failure, { status })
}

function noRepo(repo, endpoint, hasToken) {
  const hint = hasToken ? 'check the name, and what the token may read' : `check the name, or ${TOKEN_HINT}`
  return `there is no repository '${repo}' on ${endpoint}, or it is private: ${hint}`
}

function noFile(path, { repo, revision, endpoint }) {
  return error(
    'ERR_TOKENLANE_HUB_FILE_NOT_FOUND',
    `there is no ${path} in '${repo}' at '${revision}' on ${endpoint}: choose one of the files on ` +
      `${endpoint}/${repo}/tree/${revision}, and name it with the option file`,
  )
}

function rateLimited(header, endpoint, hasToken) {
  const retryAfter = secondsOf(header)
  const when = retryAfter === undefined ? 'later' : `in ${retryAfter} s`
  const hint = hasToken ? '' : `, or ${TOKEN_HINT}, which allows more`
  const failure = error(
    'ERR_TOKENLANE_HUB_RATE_LIMIT',
    `${endpoint} received too many requests: try again ${when}${hint}`,
  )
  return Object.assign(failure, { status: 429, retryAfter })
}

/** Parses a Retry-After header, a number of seconds or a date. Returns seconds. */
function secondsOf(header) {
  if (/^\d+$/.test(header ?? '')) return Number(header)
  const date = Date.parse(header ?? '')
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1e3))
}

/** The connection failed, was closed, or stalled. */
function network(cause, origin, token = undefined) {
  const descriptors = [cause, cause?.cause].find(isTooManyFiles)
  if (descriptors !== undefined) return tooManyFiles(descriptors)
  const reason = cause?.cause?.code ?? cause?.cause?.message ?? cause?.message ?? String(cause)
  const message = `the connection to ${origin} failed (${printable(reason, token)}): check the network and HF_ENDPOINT, and try again${proxyHint()}`
  return error('ERR_TOKENLANE_HUB_NETWORK', message, { cause: causeWithout(token, cause) })
}

/** Node's `fetch` uses the proxies of the environment only with a setting. */
function proxyHint(env = process.env) {
  const name = PROXIES.find((one) => (env[one] ?? '') !== '')
  if (name === undefined || env.NODE_USE_ENV_PROXY === '1') return ''
  return `; ${name} is set, which Node.js uses from 22.21 or 24 on, and only with NODE_USE_ENV_PROXY=1`
}

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

const stalled = (origin, ms) =>
  error('ERR_TOKENLANE_HUB_NETWORK', `no data from ${origin} for ${ms / 1e3} s: check the network, and try again`)

/**
 * Text from a server for a message: its first characters, without control characters and without
 * the token, which a server may repeat. Messages go into logs.
 */
const printable = (text, token) =>
  hidden(String(text).slice(0, MAX_READ), token)
    .slice(0, 200)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd')

/** Characters of a server's text in which a token is looked for. */
const MAX_READ = 4096
/** Characters of a token that are enough to hide what follows as far as it is the token. */
const MIN_TOKEN = 8
const HIDDEN = '[token]'

/** Replaces the token or its start, and everything in the form of a token of Hugging Face. */
function hidden(text, token) {
  let shown = text
  const start = token?.slice(0, MIN_TOKEN)
  for (let at = start ? shown.indexOf(start) : -1; at !== -1; at = shown.indexOf(start, at + HIDDEN.length)) {
    let end = start.length
    while (end < token.length && shown[at + end] === token[end]) end++
    shown = `${shown.slice(0, at)}${HIDDEN}${shown.slice(at + end)}`
  }
  return shown.replace(/hf_[A-Za-z0-9]{8,}/g, HIDDEN)
}

/** The cause of an error, or one with the same code if its texts have the token. */
function causeWithout(token, cause) {
  const text = `${cause?.message} ${cause?.stack} ${cause?.cause?.message} ${cause?.cause?.stack}`.slice(0, MAX_READ)
  if (hidden(text, token) === text) return cause
  return Object.assign(new Error(printable(cause.message, token)), { code: cause.code })
}

/** A response that a hub does not send. */
function unexpected(what, endpoint, { cause, token } = /** @type {{ cause?: any, token?: string }} */ ({})) {
  const words = printable(what, token)
  const message = `${endpoint} does not answer as a Hugging Face hub does (${words}): check HF_ENDPOINT`
  return error('ERR_TOKENLANE_HUB_SERVER', message, { cause: causeWithout(token, cause) })
}

/** A download that does not match what the hub announced. It is deleted. */
function corrupt(path, what) {
  return error(
    'ERR_TOKENLANE_HUB_CORRUPT',
    `the download of ${path} is not what the hub announced: ${what}. It was deleted; try again`,
  )
}

function notCached(path, { repo, revision, cache }) {
  return error(
    'ERR_TOKENLANE_HUB_NOT_CACHED',
    `${path} of '${repo}' at '${revision}' is not in the cache ${cache}, and downloads are off: ${OFFLINE_HINT}`,
  )
}

/**
 * The hub sent or announced more than a limit of limits.js allows. `what` is the start of the
 * sentence, `limit` the number, and `unit` the counted unit, with the option that raises the limit
 * if there is one.
 */
function limitExceeded(what, limit, unit, cause) {
  return error('ERR_TOKENLANE_HUB_LIMIT', `${what} ${limit} ${unit}`, { cause })
}

/** The process has no free file descriptor. This is not a fault of the cache or the network. */
function tooManyFiles(cause) {
  const message = `too many files are open (${cause.code}): close some, start fewer calls at once, or raise the limit of this process (ulimit -n)`
  return error('ERR_TOKENLANE_TOO_MANY_FILES', message, { cause })
}

const isTooManyFiles = (cause) => cause?.code === 'EMFILE' || cause?.code === 'ENFILE'

/**
 * The cache cannot be read or written. Errors that already have a code of the hub are returned
 * unchanged.
 */
function cacheFailed(cause, folder) {
  if (isTooManyFiles(cause)) return tooManyFiles(cause)
  if (/^ERR_TOKENLANE_(?:HUB|TOO_MANY)_/.test(cause.code)) return cause
  if (cause.code?.startsWith('ERR_TOKENLANE_'))
    return error('ERR_TOKENLANE_HUB_CACHE', `the cache ${folder} cannot be used: ${cause.message}`, { cause })
  const message = `the cache ${folder} cannot be used (${cause.code ?? cause.message}): give another folder with cacheDir or HF_HOME`
  return error('ERR_TOKENLANE_HUB_CACHE', message, { cause })
}

/** Whether the same request may succeed when it is repeated. */
function isTemporary({ code, status, retryAfter = 0 }) {
  if (code === 'ERR_TOKENLANE_HUB_NETWORK' || code === 'ERR_TOKENLANE_HUB_RATE_LIMIT') return retryAfter <= 10
  return code === 'ERR_TOKENLANE_HUB_SERVER' && status >= 500
}

/** Whether the hub is unreachable, so that it is unknown whether the file exists. */
const isUnreachable = ({ code, status }) => isTemporary({ code, status })

module.exports = {
  refused,
  limitExceeded,
  noFile,
  network,
  stalled,
  unexpected,
  corrupt,
  notCached,
  cacheFailed,
  isTemporary,
  isUnreachable,
}
