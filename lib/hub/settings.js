'use strict'

// Where the hub is, where its files are kept on this machine, and who asks: what a call says, else the environment variables
// that Python's huggingface_hub reads, by the same names and in the same order.

const os = require('node:os')
const path = require('node:path')

const { wrongValue } = require('../errors.js')
const { readRegular } = require('../regular-file.js')
const { MAX_FILE_BYTES, MAX_TEMPLATES, MAX_TOKEN_BYTES } = require('./limits.js')

/** The first of these variables that is set to something. */
function variable(...names) {
  return names.map((name) => process.env[name]).find((value) => value !== undefined && value !== '')
}

function isOn(...names) {
  return /^(1|on|yes|true)$/i.test(variable(...names) ?? '')
}

/** A path of a variable, where `~` is the home folder. */
function folder(...names) {
  return variable(...names)?.replace(/^~(?=$|[\\/])/, os.homedir())
}

const cacheHome = () => folder('XDG_CACHE_HOME') ?? path.join(os.homedir(), '.cache')
const home = () => folder('HF_HOME') ?? path.join(cacheHome(), 'huggingface')

/** The folder of all cached repositories. */
const cacheFolder = () => folder('HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE') ?? path.join(home(), 'hub')

/** The token of this machine's user, if there is one. */
async function savedToken() {
  if (isOn('HF_HUB_DISABLE_IMPLICIT_TOKEN')) return undefined
  const told = variable('HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN')?.trim()
  if (told) return told
  try {
    const bytes = await readRegular(folder('HF_TOKEN_PATH') ?? path.join(home(), 'token'), MAX_TOKEN_BYTES)
    return bytes.toString().trim() || undefined
  } catch {
    return undefined
  }
}

/** A token goes into a header. What cannot is refused here, because its error would repeat it. */
function checkedToken(token) {
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token
  throw wrongValue('token', 'letters, digits and signs without spaces', '…')
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
async function settings({ token, cacheDir, localFilesOnly = false, maxFileBytes = MAX_FILE_BYTES, maxTemplates = MAX_TEMPLATES }) {
  return {
    endpoint: (variable('HF_ENDPOINT') ?? 'https://huggingface.co').replace(/\/+$/, ''),
    cache: path.resolve(cacheDir ?? cacheFolder()),
    token: token === false ? undefined : checkedToken(token ?? (await savedToken())),
    offline: localFilesOnly || isOn('HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE'),
    // Milliseconds to the first byte of an answer, and between two of a download.
    answerTimeout: seconds('HF_HUB_ETAG_TIMEOUT', 10),
    stallTimeout: seconds('HF_HUB_DOWNLOAD_TIMEOUT', 10),
    maxFileBytes,
    maxTemplates,
  }
}

module.exports = { settings }
