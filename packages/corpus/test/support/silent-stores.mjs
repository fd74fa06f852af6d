// Calls stores and a Redis that accept requests and never answer, and aborts each call. Then
// nothing may keep this process alive. Prints how each call ended.
//
//   usage: node silent-stores.mjs FOLDER     with data/, a corpus, and done/, its tokens

import http from 'node:http'
import net from 'node:net'
import path from 'node:path'

import { mergeCorpora, tokenizeCorpus, trainTokenizer, verifyCorpus } from '@tokenlane/corpus'

const at = (name) => path.join(process.argv[2], name)
let requests = 0

/** Lets a server listen without keeping the process alive. Returns its host and port. */
async function listen(server) {
  server.on('connection', (socket) => socket.on('error', () => {}).unref())
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  server.unref()
  return `127.0.0.1:${server.address().port}`
}

/** The call, whose signal aborts once its first request has arrived. */
async function aborted(name, call) {
  const before = requests
  const controller = new AbortController()
  const reason = new Error('enough')
  const ended = call({ signal: controller.signal }).then(
    () => 'it succeeded',
    (failure) => (failure === reason ? 'ended' : `failed: ${failure.stack}`),
  )
  while (requests === before) await new Promise((resolve) => setTimeout(resolve, 20))
  controller.abort(reason)
  console.log(`${name}: ${await ended}`)
}

const endpoint = `http://${await listen(http.createServer(() => (requests += 1)))}`
const queue = `redis://${await listen(net.createServer((socket) => socket.once('data', () => (requests += 1))))}`
const key = Buffer.from('key').toString('base64')
const account = `AccountName=account;AccountKey=${key};BlobEndpoint=${endpoint}/account`
Object.assign(process.env, {
  AWS_ENDPOINT_URL: endpoint,
  AWS_ACCESS_KEY_ID: 'a',
  AWS_SECRET_ACCESS_KEY: 'b',
  STORAGE_EMULATOR_HOST: endpoint,
  AZURE_STORAGE_CONNECTION_STRING: `DefaultEndpointsProtocol=http;${account};`,
  HF_ENDPOINT: endpoint,
  // Days, so that no request ends by itself.
  ...{ TOKENLANE_S3_TIMEOUT: '1000000', TOKENLANE_STORE_TIMEOUT: '1000000', HF_HUB_DOWNLOAD_TIMEOUT: '1000000' },
})

const job = { inputs: at('data'), tokenizer: 'r50k_base' }
for (const scheme of ['s3', 'gs', 'az']) {
  const place = `${scheme}://lake/tokens`
  const inputs = `${place}/x`
  await aborted(`${scheme}, output`, (more) => tokenizeCorpus({ ...job, output: place, ...more }))
  await aborted(`${scheme}, inputs`, (more) => tokenizeCorpus({ ...job, inputs, output: at(`of-${scheme}`), ...more }))
  await aborted(`${scheme}, verify`, (more) => verifyCorpus(place, more))
  await aborted(`${scheme}, merge`, (more) => mergeCorpora({ inputs: [place], output: at(`m-${scheme}`), ...more }))
  await aborted(`${scheme}, train`, (more) => trainTokenizer({ inputs, vocabSize: 400, ...more }))
}
await aborted('hf, inputs', (more) =>
  tokenizeCorpus({ ...job, inputs: 'hf://datasets/a/b', output: at('of-hf'), ...more }),
)
await aborted('redis, corpus', (more) => tokenizeCorpus({ ...job, output: at('queued'), queue, ...more }))
await aborted('redis, verify', (more) => verifyCorpus(at('done'), { queue, ...more }))
await aborted('redis, train', (more) =>
  trainTokenizer({ inputs: at('data'), workDir: at('work'), vocabSize: 400, queue, ...more }),
)
