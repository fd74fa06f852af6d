// Loads 'org/name' of the hub in HF_ENDPOINT as the JSON in its argument (or in the file behind an @) says, and prints what came of it as JSON: the ids of a text,
// or the code and the message of the error.
//
// { cacheDir, options, chat, calls, descriptors }: `chat` applies the chat template as well; `calls` are [cacheDir, endpoint path]
// pairs, for many calls at once; `descriptors` leaves so many file descriptors free.

import fs from 'node:fs'

import { Tokenizer } from '../../index.mjs'

const [, , argument] = process.argv
const { cacheDir, options, chat, calls, descriptors } = JSON.parse(argument.startsWith('@') ? fs.readFileSync(argument.slice(1)) : argument)

async function outcome(call) {
  try {
    const tokenizer = await call()
    if (chat) return { text: tokenizer.applyChatTemplate([{ role: 'user', content: 'hello' }], { tokenize: false }) }
    return { ids: [...tokenizer.encode('hello world').ids] }
  } catch ({ code, message, stack }) {
    return { code, message, ...(code === undefined && { stack }) }
  }
}

if (calls !== undefined) {
  // Endpoints are read when a call starts.
  const run = ({ endpoint, cache }) => {
    process.env.HF_ENDPOINT = endpoint
    return outcome(() => Tokenizer.fromPretrained('org/name', { cacheDir: cache, ...options }))
  }
  for (let at = 0; at < calls.length; at += 20) {
    for (const one of await Promise.all(calls.slice(at, at + 20).map(run))) console.log(JSON.stringify(one))
  }
} else {
  if (descriptors !== undefined) {
    // Modules take descriptors too, while they are loaded.
    await import('@huggingface/hub')
    await Tokenizer.fromPretrained('org/name', { cacheDir, localFilesOnly: true }).catch(() => {})
    const taken = []
    try {
      for (;;) taken.push(fs.openSync('/dev/null'))
    } catch {
      taken.splice(0, descriptors).forEach(fs.closeSync)
    }
  }
  console.log(JSON.stringify(await outcome(() => Tokenizer.fromPretrained('org/name', { cacheDir, ...options }))))
}
