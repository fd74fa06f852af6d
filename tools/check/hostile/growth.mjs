// Measures how the time of calls grows with the length of a text: the CPU time for a text and for
// one twice as long.

import { createRequire } from 'node:module'

import { root } from '../../setup.mjs'
import { adversarial } from './adversarial.mjs'

const require = createRequire(import.meta.url)
const tokenlane = require(root)

const PARSE = { specialTokens: 'parse' }
const TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}"

async function streamed(tokenizer, text, size, options) {
  const chunks = new ReadableStream({
    start(controller) {
      for (let at = 0; at < text.length; at += size) controller.enqueue(text.slice(at, at + size))
      controller.close()
    },
  })
  let pieces = 0
  for await (const _ of chunks.pipeThrough(tokenizer.splitStream(options))) pieces++
  return pieces
}

/** Reads a column, which the encoding computes only then. */
const column = (name) => ({ run: (tokenizer, text) => tokenizer.encode(text, PARSE)[name].length })

/** A call that gets the ids of the text, prepared before the measurement. */
const withIds = (run) => ({
  prepare: (tokenizer, text) => tokenizer.encode(text, { ...PARSE, truncation: false, padding: false }).ids,
  run,
})

/**
 * A call that gets about half of the text's number of tokens. The number is estimated from the
 * start of the text, because encoding all of it would fill caches with its words before the
 * measurement.
 */
const withHalf = (run) => ({
  prepare: (tokenizer, text) => {
    const start = text.slice(0, 4096)
    const options = { ...PARSE, truncation: false, padding: false }
    return Math.ceil((tokenizer.encode(start, options).length * text.length) / start.length / 2)
  },
  run,
})

/**
 * The calls of tokenlane. `prepare` creates further inputs of `run` before the measurement starts.
 */
const CALLS = {
  encode: { run: (tokenizer, text) => tokenizer.encode(text, PARSE).length },
  'encode text': { run: (tokenizer, text) => tokenizer.encode(text, { specialTokens: 'text' }).length },
  'encode bytes': {
    prepare: (_, text) => Buffer.from(text),
    run: (tokenizer, _, bytes) => tokenizer.encode(bytes, PARSE).length,
  },
  offsets: column('offsets'),
  'offsets in code points': {
    run: (tokenizer, text) => tokenizer.encode(text, { ...PARSE, offsets: 'codepoint' }).offsets.length,
  },
  tokens: column('tokens'),
  wordIds: column('wordIds'),
  'truncated with overflow': {
    run: (tokenizer, text) =>
      tokenizer.encode(text, { ...PARSE, truncation: { maxLength: 512, stride: 32 } }).overflowing.length,
  },
  pair: { run: (tokenizer, text) => tokenizer.encode(text, { ...PARSE, pair: text }).length },
  encodeBatch: { run: async (tokenizer, text) => (await tokenizer.encodeBatch([text], PARSE)).length },
  'encodeBatch with columns': {
    run: async (tokenizer, text) =>
      (await tokenizer.encodeBatch([text, ''], { ...PARSE, offsets: 'utf16', columns: ['tokens', 'wordIds'] })).length,
  },
  count: { run: (tokenizer, text) => tokenizer.count(text, PARSE) },
  countBatch: { run: async (tokenizer, text) => (await tokenizer.countBatch([text], PARSE))[0] },
  isWithin: withHalf((tokenizer, text, half) => tokenizer.isWithin(text, half, PARSE)),
  truncate: withHalf((tokenizer, text, half) => tokenizer.truncate(text, half + 8, PARSE).length),
  'truncate to few': { run: (tokenizer, text) => tokenizer.truncate(text, 64, PARSE).length },
  encodeInto: withHalf((tokenizer, text, half) => tokenizer.encodeInto(text, new Uint32Array(half), PARSE).written),
  split: { run: (tokenizer, text) => tokenizer.split(text, { ...PARSE, maxTokens: 256 }).length },
  'split into sentences': {
    run: (tokenizer, text) => tokenizer.split(text, { ...PARSE, maxTokens: 256, boundary: 'sentence' }).length,
  },
  'split into lines, with overlap': {
    run: (tokenizer, text) => tokenizer.split(text, { ...PARSE, maxTokens: 256, overlap: 64, boundary: 'line' }).length,
  },
  'split with overlap': {
    run: (tokenizer, text) => tokenizer.split(text, { ...PARSE, maxTokens: 256, overlap: 32 }).length,
  },
  splitAsync: {
    run: async (tokenizer, text) => (await tokenizer.splitAsync(text, { ...PARSE, maxTokens: 256 })).length,
  },
  splitStream: {
    run: (tokenizer, text) => streamed(tokenizer, text, 1000, { ...PARSE, maxTokens: 256, boundary: 'sentence' }),
  },
  decode: withIds((tokenizer, _, ids) => tokenizer.decode(ids).length),
  decodeBytes: withIds((tokenizer, _, ids) => tokenizer.decodeBytes(ids).length),
  decodeBatch: withIds(async (tokenizer, _, ids) => (await tokenizer.decodeBatch([ids, ids])).length),
  decodeStream: withIds((tokenizer, _, ids) => {
    const stream = tokenizer.decodeStream()
    let length = 0
    for (const id of ids) length += stream.push(id).length
    return length + stream.end().length
  }),
  applyChatTemplate: {
    run: (tokenizer, text) =>
      tokenizer.applyChatTemplate([{ role: 'user', content: text }], { chatTemplate: TEMPLATE }).length,
    isFor: (tokenizer) => !tokenizer.isOfOpenAi,
  },
  'many messages': {
    prepare: (_, text) =>
      Array.from({ length: text.length / 100 }, (_, at) => ({
        role: 'user',
        content: text.slice(100 * at, 100 * at + 100),
      })),
    run: (tokenizer, _, messages) =>
      tokenizer.countChat(messages, tokenizer.isOfOpenAi ? {} : { chatTemplate: TEMPLATE }),
    isFor: (tokenizer) => !tokenizer.isOfOpenAi || ['cl100k_base', 'o200k_base'].includes(tokenizer.name),
  },
  'with the text as an added token': {
    run: (tokenizer, text) => tokenizer.with({ addedTokens: [text] }).count(text, PARSE),
    isFor: (tokenizer) => !tokenizer.isOfOpenAi,
  },
}

/** The calls of the drop-ins. */
const DROPINS = {
  'tiktoken encode': { run: ({ tiktoken }, text) => tiktoken.encode(text, 'all').length },
  'tiktoken encode_ordinary': { run: ({ tiktoken }, text) => tiktoken.encode_ordinary(text).length },
  'tiktoken decode': {
    prepare: ({ tiktoken }, text) => tiktoken.encode_ordinary(text),
    run: ({ tiktoken }, _, ids) => tiktoken.decode(ids).length,
  },
  'gpt-tokenizer encode': { run: ({ gpt }, text) => gpt.encode(text, { disallowedSpecial: new Set() }).length },
  'gpt-tokenizer countTokens': { run: ({ gpt }, text) => gpt.countTokens(text, { disallowedSpecial: new Set() }) },
  'gpt-tokenizer isWithinTokenLimit': {
    run: ({ gpt }, text) => gpt.isWithinTokenLimit(text, text.length, { disallowedSpecial: new Set() }),
  },
  'gpt-tokenizer encodeGenerator': {
    run: ({ gpt }, text) => {
      let count = 0
      for (const ids of gpt.encodeGenerator(text, { disallowedSpecial: new Set() })) count += ids.length
      return count
    },
  },
  'gpt-tokenizer decode': {
    prepare: ({ gpt }, text) => gpt.encode(text, { disallowedSpecial: new Set() }),
    run: ({ gpt }, _, ids) => gpt.decode(ids).length,
  },
  'huggingface encode': { run: async ({ hf }, text) => (await hf.encode(text)).getIds().length },
  'huggingface offsets': { run: async ({ hf }, text) => (await hf.encode(text)).getOffsets().length },
  'huggingface encodeBatch': {
    run: async ({ hf }, text) => (await hf.encodeBatch([text, text]))[0].getTokens().length,
  },
  'huggingface decode': {
    prepare: async ({ hf }, text) => (await hf.encode(text)).getIds(),
    run: async ({ hf }, _, ids) => (await hf.decode(ids)).length,
  },
}

export const CALL_NAMES = [...Object.keys(CALLS), ...Object.keys(DROPINS)]

/**
 * Loads a tokenizer by the path of its file or the name of its encoding, with the drop-ins that
 * support it.
 */
export async function subjectOf(name, bytes) {
  if (bytes === undefined && tokenlane.encodings().includes(name)) {
    const tokenizer = tokenlane.Tokenizer.fromEncodingSync(name)
    tokenizer.isOfOpenAi = true
    tokenizer.name = name
    const { GptEncoding } = require(`${root}/packages/gpt-tokenizer/GptEncoding.js`)
    return { name, tokenizer, tiktoken: tiktokenOf(name), gpt: GptEncoding.getEncodingApi(name) }
  }
  const tokenizer =
    bytes === undefined ? tokenlane.Tokenizer.fromFileSync(name) : tokenlane.Tokenizer.fromBufferSync(bytes)
  const { Tokenizer } = require(`${root}/packages/tokenizers/index.js`)
  const hf = bytes === undefined ? Tokenizer.fromFile(name) : Tokenizer.fromString(Buffer.from(bytes).toString())
  return { name, tokenizer, hf }
}

/** The drop-in of tiktoken, which lacks an encoding of gpt-tokenizer as tiktoken does. */
function tiktokenOf(name) {
  const { get_encoding } = require(`${root}/packages/tiktoken/index.js`)
  return name === 'o200k_harmony' ? undefined : get_encoding(name)
}

/** The calls that a subject supports. */
export function callsOf(subject, wanted = CALL_NAMES) {
  const has = (call) => {
    if (call in CALLS) return CALLS[call].isFor?.(subject.tokenizer) ?? true
    return (
      subject[{ tiktoken: 'tiktoken', 'gpt-tokenizer': 'gpt', huggingface: 'hf' }[call.split(' ')[0]]] !== undefined
    )
  }
  return wanted.filter(has)
}

/** The texts of the last kind by size, if they do not depend on a seed. */
const texts = { kind: '', isRandom: true, made: new Map() }
let seeds = 0

/**
 * A new text for each call, because caches have the earlier ones; the same text if the kind has
 * only one.
 */
function textOf(kind, bytes) {
  if (texts.kind !== kind) {
    const isRandom = adversarial(kind, 1000, 1) !== adversarial(kind, 1000, 2)
    Object.assign(texts, { kind, isRandom, made: new Map() })
  }
  if (texts.isRandom) return adversarial(kind, bytes, ++seeds)
  if (!texts.made.has(bytes)) texts.made.set(bytes, adversarial(kind, bytes))
  return texts.made.get(bytes)
}

/**
 * CPU milliseconds of one run of a call on a text. With `collect`, garbage of earlier runs is
 * collected first, if node runs with --expose-gc.
 */
async function timed(subject, call, text, collect) {
  const { prepare, run } = CALLS[call] ?? DROPINS[call]
  const target = call in CALLS ? subject.tokenizer : subject
  const given = await prepare?.(target, text)
  // Without this call, a long word could resume from the cached merges of the previous run.
  subject.tokenizer.count('z'.repeat(1000))
  if (collect) globalThis.gc?.()
  const start = process.cpuUsage()
  await run(target, text, given)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** The minimum of several runs. Stops early when a run takes at most `enough` milliseconds. */
async function least(subject, call, kind, bytes, { runs = RUNS, enough = 0.5, collect = false } = {}) {
  let best = Infinity
  for (let run = 0; run < runs && best > enough; run++) {
    best = Math.min(best, await timed(subject, call, textOf(kind, bytes), collect))
    if (best > 1500) break
  }
  return best
}

const RUNS = 3
/** By default, a measurement of fewer CPU milliseconds says nothing about growth. */
const DEFAULT_MIN_CPU_MS = 8

/**
 * Measures the growth of a call: `{ bytes, single, longer }`, where `single` and `longer` are CPU
 * milliseconds for a text of `bytes` bytes and for one `factor` times as long. Texts get longer
 * until the call takes `minCpuMs` or they have `most` bytes. The longer text is measured until its
 * growth is at most `wanted`, but at most three times. Then both texts are measured again, up to
 * `tries` times, after a collection of garbage. Garbage and other processes make times longer,
 * never shorter.
 */
export async function growthOf(subject, call, kind, sizes) {
  const { least: from, most, wanted, factor = 2, tries, minCpuMs = DEFAULT_MIN_CPU_MS } = sizes
  let bytes = from
  let single = await least(subject, call, kind, bytes, { runs: 1 })
  for (;;) {
    // One run tells whether the text is long enough; the first runs of a call can be slower.
    if (single >= minCpuMs) single = Math.min(single, await least(subject, call, kind, bytes, { runs: RUNS - 1 }))
    if (single >= minCpuMs || bytes >= most) break
    const doublings = Math.ceil(Math.log2(minCpuMs / single))
    bytes = Math.min(most, bytes * 2 ** Math.min(6, Math.max(1, doublings)))
    single = await least(subject, call, kind, bytes, { runs: 1 })
  }
  let longer = await least(subject, call, kind, factor * bytes, { enough: wanted * single })
  for (let again = 1; again <= tries && longer / single > wanted && longer >= minCpuMs; again++) {
    longer = Math.min(longer, await least(subject, call, kind, factor * bytes, { collect: true }))
    single = Math.min(single, await least(subject, call, kind, bytes, { collect: true }))
  }
  return { bytes, single, longer }
}

/** Whether a growth exceeds `wanted`, and its times are long enough to say so. */
export const isSteep = ({ single, longer }, wanted, minCpuMs = DEFAULT_MIN_CPU_MS) =>
  longer >= minCpuMs && longer / single > wanted
