'use strict'

// The address of the hub, the cache folder and the token. Options have precedence over the
// environment variables that Python's huggingface_hub reads, with the same names and in the same
// order.

const os = require('node:os')
const path = require('node:path')

const { wrongValue } = require('../errors.js')
const { readRegular } = require('../regular-file.js')
const { MAX_FILE_BYTES, MAX_TEMPLATES, MAX_TOKEN_BYTES } = require('./limits.js')

/** The first of these variables that is set and not empty. */
function variable(...names) {
  return names.map((name) => process.env[name]).find((value) => value !== undefined && value !== '')
}

function isOn(...names) {
  return /^(1|on|yes|true)$/i.test(variable(...names) ?? '')
}

/** The path in a variable; `~` is the home folder. */
function folder(...names) {
  return variable(...names)?.replace(/^~(?=$|[\\/])/, os.homedir())
}

const cacheHome = () => folder('XDG_CACHE_HOME') ?? path.join(os.homedir(), '.cache')
const home = () => folder('HF_HOME') ?? path.join(cacheHome(), 'huggingface')

/** The folder of all cached repositories. */
const cacheFolder = () => folder('HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE') ?? path.join(home(), 'hub')

/** The token in the environment or the saved one, or undefined. */
async function savedToken() {
  if (isOn('HF_HUB_DISABLE_IMPLICIT_TOKEN')) return undefined
  const token = variable('HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN')?.trim()
  if (token) return token
  try {
    const bytes = await readRegular(folder('HF_TOKEN_PATH') ?? path.join(home(), 'token'), MAX_TOKEN_BYTES)
    return bytes.toString().trim() || undefined
  } catch {
    return undefined
  }
}

/** Checks that a token is valid in a header. The error of `fetch` would contain the token. */
function checkedToken(token) {
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token
  throw wrongValue('token', 'letters, digits and signs without spaces', '…')
}

/** Checks that an address has no password. `fetch` refuses those, and its error contains it. */
function checkedEndpoint(endpoint) {
  if (!/^[^/]*\/\/[^/?#]*@/.test(endpoint)) return endpoint.replace(/\/+$/, '')
  throw wrongValue('HF_ENDPOINT', 'the address of a hub, without a user name or password', '…')
}

const seconds = (name, byDefault) => 1e3 * (Number(variable(name)) || byDefault)

/**
 * @typedef {object} Options options of `fromPretrained` that the environment can set too
 * @property {string | false} [token]
 * @property {string} [cacheDir]
 * @property {boolean} [localFilesOnly]
 * @property {number} [maxFileBytes]
 * @property {number} [maxTemplates]
 */

/**
 * Resolves the options of a call: absent ones come from the environment, or have their default.
 *
 * @param {Options} options
 */
async function settings({
  token,
  cacheDir,
  localFilesOnly = false,
  maxFileBytes = MAX_FILE_BYTES,
  maxTemplates = MAX_TEMPLATES,
}) {
  return {
    endpoint: checkedEndpoint(variable('HF_ENDPOINT') ?? 'https://huggingface.co'),
    cache: path.resolve(cacheDir ?? cacheFolder()),
    token: token === false ? undefined : checkedToken(token ?? (await savedToken())),
    offline: localFilesOnly || isOn('HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE'),
    // Milliseconds to the first byte of a response, and between two chunks of a download.
    answerTimeout: seconds('HF_HUB_ETAG_TIMEOUT', 10),
    stallTimeout: seconds('HF_HUB_DOWNLOAD_TIMEOUT', 10),
    maxFileBytes,
    maxTemplates,
  }
}

module.exports = { settings }
