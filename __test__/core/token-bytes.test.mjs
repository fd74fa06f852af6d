// The bytes of tokens, canonical ids and token healing.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'

const gpt2 = Tokenizer.fromEncodingSync('r50k_base')
const special = gpt2.eosId

const fileOf = (model, decoder, added = []) => {
  const token = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }
  const added_tokens = added.map(([id, content]) => ({ ...token, id, content }))
  return Tokenizer.fromBufferSync(Buffer.from(JSON.stringify({ version: '1.0', added_tokens, decoder, model })))
}
const vocabOf = (tokens) => Object.fromEntries(tokens.map((token, id) => [token, id]))
const textsOf = ({ bytes, offsets }) =>
  Array.from({ length: offsets.length - 1 }, (_, id) => Buffer.from(bytes.subarray(offsets[id], offsets[id + 1])))

test('the bytes of a rank file are its own, id by id', () => {
  const { bytes, offsets, added } = gpt2.tokenBytes()
  assert.equal(offsets.length, gpt2.maxId + 2)
  for (let id = 0; id <= gpt2.maxId; id++) {
    assert.ok(Buffer.compare(bytes.subarray(offsets[id], offsets[id + 1]), gpt2.decodeBytes([id])) === 0, String(id))
  }
  assert.deepEqual([added.length, added.indexOf(1), added.at(-1)], [gpt2.maxId + 1, gpt2.maxId, 1])
})

test('the bytes of other vocabularies are those inside of a text', () => {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true }
  const llama = [
    { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
    { type: 'ByteFallback' },
    { type: 'Fuse' },
    { type: 'Strip', content: ' ', start: 1, stop: 0 },
  ]
  const wordPiece = { type: 'WordPiece', prefix: '##', cleanup: true }
  const metaspace = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' }
  const tokens = ['a', 'Ġb', 'Ã', '▁the', '<0xE4>', '##ing', '中', '▁']
  const texts = (decoder) =>
    textsOf(fileOf({ type: 'BPE', vocab: vocabOf(tokens), merges: [] }, decoder).tokenBytes()).map((bytes) =>
      bytes.toString('latin1'),
    )
  const latin1 = (text) => Buffer.from(text).toString('latin1')
  const meta = ['a', 'Ġb', 'Ã', ' the', '<0xE4>', '##ing', '中', ' '].map(latin1)
  assert.deepEqual(texts(byteLevel), ['a', ' b', '\xc3', latin1('▁the'), '<0xE4>', '##ing', latin1('中'), latin1('▁')])
  assert.deepEqual(texts({ type: 'Sequence', decoders: llama }), meta.with(4, '\xe4'))
  assert.deepEqual(texts(metaspace), meta)
  assert.deepEqual(texts(wordPiece), [' a', ' Ġb', ' Ã', ' ▁the', ' <0xE4>', 'ing', ' 中', ' ▁'].map(latin1))
})

test('an id without a token has no bytes, and ids that are far apart are refused', () => {
  const model = (vocab) => ({ type: 'WordLevel', vocab, unk_token: 'a' })
  assert.deepEqual(textsOf(fileOf(model({ a: 0, c: 2 }), { type: 'Fuse' }).tokenBytes()).map(String), ['a', '', 'c'])
  const far = fileOf(model({ a: 0, b: 4_000_000_000 }), null)
  assert.throws(() => far.tokenBytes(), { code: 'ERR_TOKENLANE_UNSUPPORTED' })
})

test('ids are canonical if encoding their text gives them back', () => {
  const ids = gpt2.encode('Hello world, 中文 <|endoftext|>!', { specialTokens: 'parse' }).ids
  assert.equal(gpt2.isCanonical(ids), true)
  assert.equal(gpt2.firstNonCanonical(ids), undefined)
  assert.equal(gpt2.isCanonical([]), true)
  const [h, ello] = ['H', 'ello'].map((text) => gpt2.encode(text).ids[0])
  assert.equal(gpt2.firstNonCanonical([...ids, h, ello]), ids.length)
  assert.equal(gpt2.firstNonCanonical([ids[0], ids[1], h, ello]), 2)
  assert.equal(gpt2.isCanonical([h, ello]), false)
  // Half a character becomes U+FFFD.
  const half = gpt2.encode('👩').ids.subarray(0, 1)
  assert.equal(gpt2.firstNonCanonical([...gpt2.encode('a').ids, ...half]), 1)
  assert.throws(() => gpt2.isCanonical([4_000_000]), { code: 'ERR_TOKENLANE_UNKNOWN_ID' })
  assert.throws(() => gpt2.isCanonical('a'), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})

/** All ends of the ids, and all tokens, as strings of a character for each byte. */
function healed(ids, tokens) {
  for (let at = 0; at < ids.length; at++) {
    const end = ids.slice(at)
    const prefix = end.map((id) => tokens[id]).join('')
    const starts = (token, id) => id !== special && token.length > prefix.length && token.startsWith(prefix)
    if (!end.includes(special) && tokens.some(starts)) return { ids: ids.slice(0, at), prefix }
  }
  return { ids, prefix: '' }
}

test('healing removes the longest end that a longer token starts with', () => {
  const tokens = textsOf(gpt2.tokenBytes()).map((bytes) => bytes.toString('latin1'))
  const texts = [
    'The link is <a href="http:',
    'a b',
    ' the',
    'x = "',
    '1 + ',
    '中',
    'Hello<|endoftext|>',
    '<|endoftext|>h',
    '....',
    '\n\n',
    "don'",
  ]
  for (const text of texts) {
    const ids = [...gpt2.encode(text, { specialTokens: 'parse' }).ids]
    const { ids: kept, prefix } = gpt2.heal(ids)
    assert.deepEqual({ ids: [...kept], prefix: Buffer.from(prefix).toString('latin1') }, healed(ids, tokens), text)
  }
  assert.equal(Buffer.from(gpt2.heal(gpt2.encode('http:').ids).prefix).toString(), ':')
  assert.deepEqual(gpt2.heal([]), { ids: new Uint32Array(0), prefix: new Uint8Array(0) })
  // Two tokens that one longer token could replace.
  const small = fileOf({ type: 'BPE', vocab: vocabOf(['a', 'b', 'c', 'abc', 'x']), merges: [] }, { type: 'Fuse' })
  assert.deepEqual(small.heal([4, 0, 1]), { ids: Uint32Array.of(4), prefix: new Uint8Array(Buffer.from('ab')) })
  assert.deepEqual(small.heal([0, 1, 2]), { ids: Uint32Array.of(0, 1, 2), prefix: new Uint8Array(0) })
})
