// Loads the tokenizer of a hub on loopback in a child process, with limits on the CPU time of each
// load and on the memory.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

import { startHub } from './hub.mjs'
import { LimitedProcess, runLimited } from './limited.mjs'
import { bytesOf, tiny } from './tiny.mjs'

/** A temporary folder, removed after the tests of the file. */
export const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-limits-'))
after(() => fs.rmSync(root, { recursive: true, force: true }))

/** The script of the child process. */
export const CHILD = fileURLToPath(new URL('load-pretrained.mjs', import.meta.url))
/** The tokenizer.json of the repository, padded to be large enough for several parts. */
export const FILE = Buffer.concat([Buffer.from(bytesOf(tiny())), Buffer.alloc(400_000, ' ')])
export const CONFIG = Buffer.from('{"bos_token": "<s>", "chat_template": "{{ messages[0].content }}"}')
/** The ids that the child process prints if the tokenizer loads. */
export const IDS = [14, 11, 12, 13, 2, 7, 15]
/** The folder of a repository with further chat templates. */
export const MORE = 'additional_chat_templates'
/** Entries of a listing: `count` files in that folder. */
export const entries = (count, name = (i) => `t${i}.jinja`) =>
  Array.from({ length: count }, (_, i) => ({ type: 'file', path: `${MORE}/${name(i)}`, size: 1 }))

const { HF_TOKEN, HF_HUB_OFFLINE, ...environment } = process.env
const child = new LimitedProcess('load-pretrained.mjs', { env: environment })

/** The outcome of a load in the child process, or with `limits` in one of its own. */
async function load({ endpoint, cacheDir = freshCache(), limits = undefined, env = {}, ...more }) {
  const variables = {
    HF_ENDPOINT: endpoint,
    HF_TOKEN_PATH: path.join(root, 'none'),
    HF_HUB_ETAG_TIMEOUT: '10',
    HF_HUB_DOWNLOAD_TIMEOUT: '10',
    ...env,
  }
  if (limits === undefined) {
    const outcome = await child.call({ cacheDir, env: variables, ...more })
    assert.ok(!('signal' in outcome), `${outcome.signal} ${outcome.stderr}`)
    return outcome
  }
  const result = await runLimited([process.execPath, CHILD, JSON.stringify({ cacheDir, ...more })], {
    limits,
    env: { ...environment, ...variables },
  })
  assert.equal(result.status, 0, `${result.signal} ${result.stderr}`)
  return JSON.parse(result.stdout)
}

export const freshCache = () => fs.mkdtempSync(path.join(root, 'cache-'))

/** Starts a hub with one repository, and loads its tokenizer in a child process. */
export async function loadFrom(repo, trouble, more = {}) {
  const hub = await startHub(
    {
      'org/name': {
        files: { 'tokenizer.json': FILE, 'tokenizer_config.json': CONFIG },
        lfs: ['tokenizer.json'],
        ...repo,
      },
    },
    trouble,
  )
  try {
    return { ...(await load({ endpoint: hub.url, ...more })), hub }
  } finally {
    hub.close()
  }
}

export async function refused(code, message, ...how) {
  const outcome = await loadFrom(...how)
  assert.equal(outcome.code, `ERR_TOKENLANE_${code}`, JSON.stringify({ ...outcome, hub: undefined }))
  assert.match(outcome.message, message)
  return outcome
}
