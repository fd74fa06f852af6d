// Is compiled, never run: correct use of corpus jobs, and with @ts-expect-error incorrect use.
import { createWorker, openTokens, tokenizeCorpus, verifyCorpus, writeReport } from '@tokenlane/corpus'
import type { CorpusEvent, CorpusOptions, CorpusResult, VerifyResult, WorkerOptions } from '@tokenlane/corpus'

const options: CorpusOptions = {
  inputs: ['data/'],
  output: 'tokens/',
  format: 'npy',
  eos: true,
  bos: '<s>',
  pack: 2048,
}
const result: CorpusResult = await tokenizeCorpus({ ...options, signal: AbortSignal.timeout(1000), onEvent: hear })
const tokens: number = result.tokens

function hear(event: CorpusEvent) {
  if (event.event === 'progress') return event.bytes / event.allBytes
  if (event.event === 'shard') return event.isNew ? 1 : 0
  return 0
}

const found: VerifyResult = await verifyCorpus('tokens/', { onEvent: ({ event }) => void event })
const queue = { queue: 'redis://localhost', queueName: 'tokens', giveUpSeconds: 60 }
await verifyCorpus('tokens/', {
  ...queue,
  onEvent: (event) => void (event.event === 'waiting' ? event.message : event.event === 'refused' && event.host),
})
await tokenizeCorpus({ inputs: 'data/', output: 'mds/', format: 'mds', type: 'u32', idField: 'id' })
if (!found.isWhole) for (const { file, problem } of found.listed) console.log(file, problem, tokens)

await tokenizeCorpus({
  inputs: 'chats.jsonl',
  output: 'chats/',
  messages: 'messages',
  tools: 'tools',
  maskBy: 'origin',
})
const rows = await openTokens('chats/')
for await (const { ids, lossMask } of rows.rows()) console.log(ids.length, lossMask?.length)
const mask: Uint8Array | undefined = await rows.lossMask(0)
console.log(mask, rows.hasLossMask)
// @ts-expect-error there is no such mask
await tokenizeCorpus({ inputs: 'chats.jsonl', output: 'chats/', messages: 'messages', maskBy: 'role' })

const settings: WorkerOptions = { queue: 'redis://localhost', allow: '/shared', metrics: { port: 9464 } }
const worker = await createWorker(settings)
await worker.close()
await worker.done

const totals: number = (await writeReport('tokens/', 'report.html', { price: 0.1 })).tokens

// @ts-expect-error there is no such format
await tokenizeCorpus({ inputs: 'data/', output: 'tokens/', format: 'csv' })
// @ts-expect-error metrics need a port
await tokenizeCorpus({ inputs: 'data/', output: 'tokens/', metrics: { host: '0.0.0.0' } })
// @ts-expect-error a worker needs folders
await createWorker({ queue: 'redis://localhost' })
// @ts-expect-error a number of tokens
await tokenizeCorpus({ inputs: 'data/', output: 'tokens/', pack: '2048' })
