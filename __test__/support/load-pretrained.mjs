// Loads 'org/name' from the hub in HF_ENDPOINT: as a LimitedProcess, or once with a JSON argument,
// or @ and the path of a file with JSON. Answers with the ids of a text, or with the code and the
// message of the error.
//
// The fields are { env, cacheDir, options, chat, calls, descriptors }. With `chat` the template is
// applied too; `calls` is a list of { cache, endpoint } for many calls at once; `descriptors` is
// the number of file descriptors that stay free.

import fs from 'node:fs'

import { Tokenizer } from '../../index.mjs'
import { answer } from './answer.mjs'

/** The variables are read when a call starts. */
async function load({ env = {}, cacheDir, options = {}, chat = false }) {
  Object.assign(process.env, env)
  try {
    const tokenizer = await Tokenizer.fromPretrained('org/name', { cacheDir, ...options })
    if (chat) return { text: tokenizer.applyChatTemplate([{ role: 'user', content: 'hello' }], { tokenize: false }) }
    return { ids: [...tokenizer.encode('hello world').ids] }
  } catch ({ code, message, stack }) {
    return { code, message, ...(code === undefined && { stack }) }
  }
}

async function main(argument) {
  const text = argument.startsWith('@') ? fs.readFileSync(argument.slice(1), 'utf8') : argument
  const { cacheDir, calls, descriptors, ...more } = JSON.parse(text)
  if (calls !== undefined) {
    const run = ({ endpoint, cache }) => load({ env: { HF_ENDPOINT: endpoint }, cacheDir: cache, ...more })
    for (let at = 0; at < calls.length; at += 20) {
      for (const one of await Promise.all(calls.slice(at, at + 20).map(run))) console.log(JSON.stringify(one))
    }
    return
  }
  if (descriptors !== undefined) {
    // Modules need descriptors while they load, so they are loaded first.
    await import('@huggingface/hub')
    await load({ cacheDir, options: { localFilesOnly: true } })
    const taken = []
    try {
      for (;;) taken.push(fs.openSync('/dev/null'))
    } catch {
      taken.splice(0, descriptors).forEach(fs.closeSync)
    }
  }
  console.log(JSON.stringify(await load({ cacheDir, ...more })))
}

if (process.argv.length > 2) await main(process.argv[2])
else answer(load)
