// Loads 'org/name' from the hub in HF_ENDPOINT. The argument is JSON, or @ and the path of a file
// with JSON. Prints JSON: the ids of a text, or the code and the message of the error.
//
// The fields are { cacheDir, options, chat, calls, descriptors }. With `chat` the chat template is
// applied too; `calls` is a list of { cache, endpoint } for many calls in one process;
// `descriptors` is the number of file descriptors that stay free.

import fs from 'node:fs'

import { Tokenizer } from '../../index.mjs'

const [, , argument] = process.argv
const { cacheDir, options, chat, calls, descriptors } = JSON.parse(
  argument.startsWith('@') ? fs.readFileSync(argument.slice(1)) : argument,
)

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
  // The endpoint is read when a call starts.
  const run = ({ endpoint, cache }) => {
    process.env.HF_ENDPOINT = endpoint
    return outcome(() => Tokenizer.fromPretrained('org/name', { cacheDir: cache, ...options }))
  }
  for (let at = 0; at < calls.length; at += 20) {
    for (const one of await Promise.all(calls.slice(at, at + 20).map(run))) console.log(JSON.stringify(one))
  }
} else {
  if (descriptors !== undefined) {
    // Modules need descriptors while they load, so they are loaded first.
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
