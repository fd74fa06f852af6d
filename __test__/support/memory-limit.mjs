// Runs a call on a long text with little memory, and then one on a short text, for
// core/memory-limit.test.mjs. Prints both results. Arguments: the call, the kind of text, its size
// in MiB.

import fs from 'node:fs'

import { Tokenizer } from '../../index.mjs'
import { bytesOf, tiny } from './tiny.mjs'

const [call, kind, mebibytes] = process.argv.slice(2)
const UNITS = {
  words: 'Some words that go on and on, é. ',
  letters: 'a',
  ideographs: '中文字符',
  decomposed: 'e\u0301a',
  digits: '7',
}

const ranks = () => Tokenizer.fromEncodingSync('cl100k_base')
/** Every stage rewrites the text. */
const rewriting = () =>
  Tokenizer.fromBufferSync(
    bytesOf({
      ...tiny(),
      normalizer: {
        type: 'Sequence',
        normalizers: [
          { type: 'NFKD' },
          { type: 'Lowercase' },
          { type: 'Replace', pattern: { Regex: 'o+' }, content: 'oo' },
        ],
      },
      pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
    }),
  )

const text = () => UNITS[kind].repeat((Number(mebibytes) << 20) / UNITS[kind].length)
const rows = (count) => {
  const one = text()
  return Array.from({ length: count }, (_, row) =>
    one.slice((row * one.length) / count, ((row + 1) * one.length) / count),
  )
}

/** Ids of `mebibytes` MiB. If they do not fit into memory, there is nothing to test. */
const idsOf = () => {
  try {
    return new Uint32Array((Number(mebibytes) << 20) / 4).fill(1234)
  } catch {
    throw Object.assign(new Error('no memory for the argument'), { code: 'NO_ARGUMENT' })
  }
}

const CALLS = {
  encode: (t) => t.encode(text()).ids.length,
  'encode bytes': (t) => t.encode(Buffer.from(text())).ids.length,
  offsets: (t) => t.encode(text()).offsets.length,
  'word ids': (t) => t.encode(text()).wordIds.length,
  tokens: (t) => t.encode(text()).tokens.length,
  count: (t) => t.count(text()),
  countBatch: async (t) => (await t.countBatch(rows(4))).length,
  encodeBatch: async (t) => (await t.encodeBatch(rows(4))).ids.length,
  'encodeBatch of one': async (t) => (await t.encodeBatch([text()])).ids.length,
  'encodeBatch with offsets': async (t) => (await t.encodeBatch(rows(4), { offsets: 'codepoint' })).ids.length,
  'encodeBatch of many': async (t) => (await t.encodeBatch(rows(2_000_000))).ids.length,
  overflow: (t) => t.encodeBatchSync([text()], { truncation: { maxLength: 8 }, overflow: true }).ids.length,
  decode: (t) => t.decode(idsOf()).length,
  decodeBytes: (t) => t.decodeBytes(idsOf()).length,
  decodeBatch: async (t) => (await t.decodeBatch([idsOf()])).length,
  decodeStream: (t) => t.decodeStream().push(idsOf()).length,
  encodeInto: (t) => t.encodeInto(text(), new Uint32Array(1 << 24)).written,
  truncate: (t) => t.truncate(text(), 1000).length,
  split: (t) => t.split(text(), { maxTokens: 1000 }).length,
  tokenToId: (t) => t.tokenToId(text()) ?? 0,
  fromBuffer: async () => {
    const size = Number(mebibytes) << 20
    const list = { words: 'x', letters: '0,', ideographs: '"中",', decomposed: '{},', digits: '[],' }[kind].repeat(
      size / 4,
    )
    const file =
      kind === 'words'
        ? Buffer.alloc(size, 0x61)
        : Buffer.from(`{"version":"1.0","model":{"type":"BPE","vocab":{"a":0},"merges":[]},"added_tokens":[${list}0]}`)
    return (await Tokenizer.fromBuffer(file)).vocabSize()
  },
  fromFile: async () => {
    const file = `${process.env.TOKENLANE_TEST_FOLDER}/large.json`
    const out = fs.openSync(file, 'w')
    fs.writeSync(out, '{"version":"1.0","model":{"type":"BPE","vocab":{"a":0')
    const count = (Number(mebibytes) << 20) / 20
    for (let id = 1, part = []; id <= count; id++) {
      part.push(`,"${id.toString(36).padStart(9, 'x')}":${id}`)
      if (part.length === 65536 || id === count) fs.writeSync(out, part.splice(0).join(''))
    }
    fs.writeSync(out, '},"merges":[]}}')
    fs.closeSync(out)
    const tokenizer = await Tokenizer.fromFile(file)
    return tokenizer.toBuffer().length
  },
}

const tokenizer = ['decomposed', 'ideographs'].includes(kind) ? rewriting() : ranks()
let result
try {
  result = await CALLS[call](tokenizer)
} catch (error) {
  result = error.code ?? `${error.name}: ${error.message}`
}
// The argument may still take all memory. A short text then gets the same error.
let after
try {
  after = tokenizer.encode('short text').ids.length > 0
} catch (error) {
  after = error.code === 'ERR_TOKENLANE_OUT_OF_MEMORY'
}
console.log(JSON.stringify({ result, after }))
