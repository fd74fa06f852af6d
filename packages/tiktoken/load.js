'use strict'

// `load` of the package tiktoken: downloads the rank files that a registry entry names, and returns
// the arguments of the Tiktoken constructor.

const { base64Of } = require('tokenlane/internal/dropins/bytes.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')

async function load(registry, customFetch) {
  if (typeof registry !== 'object' || registry === null) throw typeError('registry must be an object')
  if (typeof (customFetch ?? fetchText) !== 'function') throw typeError('customFetch must be a function')
  const download = customFetch ?? fetchText
  const { explicit_n_vocab, pat_str, special_tokens } = registry
  const bpe_ranks =
    'data_gym_to_mergeable_bpe_ranks' in registry
      ? await fromDataGym(registry.data_gym_to_mergeable_bpe_ranks, download)
      : await download(registry.load_tiktoken_bpe)
  return { explicit_n_vocab, pat_str, special_tokens, bpe_ranks }
}

async function fetchText(url) {
  if (typeof url !== 'string') throw typeError('registry must have the URLs of files')
  const response = await fetch(url)
  if (!response.ok) throw error('DOWNLOAD', `${url} answered ${response.status} ${response.statusText}`)
  return response.text()
}

/**
 * Converts GPT-2's two files to ranks. The order of the merges gives the ranks; the ids of the
 * second file must equal them.
 */
async function fromDataGym(files, fetchFile) {
  const { vocab_bpe_file, encoder_json_file } = files ?? {}
  const [merges, encoder] = await Promise.all([vocab_bpe_file, encoder_json_file].map((file) => fetchFile(file)))
  const ids = new Map(Object.entries(JSON.parse(encoder)))
  const letters = printableBytes()
  const singles = [...letters.keys()]
  const joined = merges
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => line.replace(' ', ''))
  const tokens = [...singles, ...joined]
  const wrong = tokens.findIndex((token, rank) => ids.get(token) !== rank)
  if (wrong !== -1)
    throw error('DUPLICATE_ID', `the two files disagree about the token ${JSON.stringify(tokens[wrong])}`)
  const bytes = (token) => Uint8Array.from(token, (letter) => letters.get(letter))
  return tokens.map((token, rank) => `${base64Of(bytes(token))} ${rank}\n`).join('')
}

/** Maps the characters of GPT-2's byte alphabet to bytes, in the order of their ranks. */
function printableBytes() {
  const all = Array.from({ length: 256 }, (_, byte) => byte)
  const printable = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  const others = all.filter((byte) => !printable(byte))
  return new Map([
    ...all.filter(printable).map((byte) => /** @type {const} */ ([String.fromCharCode(byte), byte])),
    ...others.map((byte, index) => /** @type {const} */ ([String.fromCharCode(256 + index), byte])),
  ])
}

exports.load = load
