// `tokenlane inspect --web`: serves the page until the process is ended.

import { once } from 'node:events'

import { Tokenizer, encodings } from '../../index.mjs'
import { Failure } from '../failure.mjs'
import { importPackage } from '../packages.mjs'
import { loadTokenizer, repositoryOf, sourceOf } from '../tokenizers.mjs'

/** The tokenizers that are compared by default. */
const DEFAULT_NAMES = ['o200k_base', 'cl100k_base']

/**
 * @param {string[]} wanted the tokenizers to compare; the page also offers the bundled encodings
 * @param {{ port?: number, encoding?: string, text?: string }} options `text` is the initial text
 */
export async function serve(wanted, { port = 0, encoding, text }) {
  const { pageServer } = await importPackage('@tokenlane/page', '.', "'tokenlane inspect --web'")
  const names = [...new Set([...wanted, ...DEFAULT_NAMES, ...encodings()])]
  const load = (name) => loadTokenizer(name, wanted.includes(name) ? encoding : undefined)
  // Loading errors are reported here, not on the page.
  await Promise.all(wanted.map(load))
  const local = wanted.filter((name) => sourceOf(name, encoding).file !== undefined)
  const openFile = (bytes) => Tokenizer.fromBuffer(bytes)
  const server = pageServer({ names, load, text, local, openFile, openRepository })
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    const reason = error.code === 'EADDRINUSE' ? 'another program uses it' : error.message
    throw new Failure('PORT', `port ${port}: ${reason}`, { cause: error })
  }
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.stdout.write(`http://127.0.0.1:${address.port}\n`)
  process.stderr.write('Only this machine can open the page. Ctrl-C stops the server.\n')
}

/** Loads a repository of the hub. A path is no name of one, so the page opens no files by it. */
async function openRepository(name) {
  const { repository, revision } = repositoryOf(name) ?? {}
  if (repository === undefined)
    throw new Failure('UNKNOWN_TOKENIZER', `'${name}' is no OWNER/NAME on the Hugging Face Hub`)
  return Tokenizer.fromPretrained(repository, { revision })
}
