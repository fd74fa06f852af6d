// @tokenlane/tokenizers. Expected results were recorded from tokenizers 0.23.2.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import hf from '@tokenlane/tokenizers'

import { Tokenizer } from '../../../index.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { tiny } from '../../../__test__/support/tiny.mjs'

const code = (call) => failure(call).then((error) => error.code)
const encodingOf = (tokenizer, ...args) => tokenizer.encode(...args).then((encoding) => encoding.getTokens())

test('huggingface: a file, its calls and its columns', async () => {
  const tokenizer = hf.Tokenizer.fromString(JSON.stringify(tiny()))
  const encoding = await tokenizer.encode('hello world')
  assert.deepEqual(encoding.getTokens(), ['<s>', 'hello', 'Ġw', 'or', 'l', 'd', '</s>'])
  assert.deepEqual(encoding.getIds(), [14, 11, 12, 13, 2, 7, 15])
  assert.deepEqual(encoding.getOffsets()[2], [5, 7])
  assert.deepEqual(encoding.getWordIds(), [null, 0, 1, 1, 1, 1, null])
  assert.deepEqual(encoding.getSequenceIds(), [null, 0, 0, 0, 0, 0, null])
  assert.deepEqual([encoding.charToToken(6), encoding.charToToken(99), encoding.wordToTokens(1)], [2, null, [2, 6]])
  assert.deepEqual(
    [0, 5, 6, 10, 11].map((at) => encoding.charToWord(at)),
    [0, 1, 1, 1, null],
  )
  // The last token of the text, the special token behind it, and none.
  const chars = [5, 6, 7].map((at) => encoding.tokenToChars(at))
  assert.deepEqual(chars, [[10, 11], null, null])
  assert.deepEqual(await encodingOf(tokenizer, 'hello', null, { addSpecialTokens: false }), ['hello'])
  assert.equal(await tokenizer.decode(encoding.getIds(), true), 'hello world')
  assert.deepEqual(await tokenizer.decodeBatch([[11], [0]], true), ['hello', 'h'])
  assert.deepEqual(
    [tokenizer.getVocabSize(), tokenizer.getVocabSize(false), tokenizer.tokenToId('nope'), tokenizer.idToToken(11)],
    [16, 14, null, 'hello'],
  )
  assert.equal(tokenizer.getVocab()['</s>'], 15)
  assert.equal(await code(() => tokenizer.encode(3)), 'ERR_TOKENLANE_ARGUMENT_TYPE')
  assert.equal(await code(() => hf.Tokenizer.fromString('{')), 'ERR_TOKENLANE_JSON')
  assert.equal(await code(() => hf.Tokenizer.fromFile('/no/such/file')), 'ERR_TOKENLANE_FILE_NOT_FOUND')
})

test('huggingface: a batch equals single calls, padded to the longest', async () => {
  const tokenizer = hf.Tokenizer.fromString(JSON.stringify(tiny()))
  tokenizer.setTruncation(6, { stride: 1 })
  tokenizer.setPadding({ padId: 3, padToken: 'o', direction: 'left' })
  const columns = (encoding) => [
    encoding.getIds(),
    encoding.getTokens(),
    encoding.getAttentionMask(),
    encoding.getOverflowing().map(columns),
  ]
  const batch = await tokenizer.encodeBatch(['hello', 'hello world hello'])
  assert.deepEqual(
    batch.map((encoding) => encoding.getLength()),
    [6, 6],
  )
  assert.deepEqual(batch[0].getAttentionMask(), [0, 0, 0, 1, 1, 1])
  assert.deepEqual(columns(batch[1]), columns(await tokenizer.encode('hello world hello')))
  assert.equal(batch[1].getOverflowing().length, 1)
  const mixed = await tokenizer.encodeBatch(['hello', ['hello', 'world']])
  assert.deepEqual(
    mixed.map((encoding) => encoding.getNSequences()),
    [1, 2],
  )
  const words = await tokenizer.encodeBatch([['hello', 'world'], ['o']], {
    isPretokenized: true,
    addSpecialTokens: false,
  })
  assert.deepEqual(words[0].getWordIds(), [0, 1, 1, 1, 1])
  tokenizer.disableTruncation()
  tokenizer.disablePadding()
  assert.equal((await tokenizer.encode('hello world hello')).getLength(), 9)
})

test('huggingface: a tokenizer is assembled, changed and saved', async () => {
  const tokenizer = new hf.Tokenizer(hf.BPE.empty())
  assert.equal(tokenizer.addTokens(['my', 'name', 'is', 'john']), 4)
  assert.equal(tokenizer.addTokens(['my']), 0)
  assert.deepEqual((await tokenizer.encode('my name is john')).getIds(), [0, 1, 2, 3])
  assert.equal(await tokenizer.decode([0, 1], false), 'my name')
  tokenizer.setTruncation(2, { strategy: hf.TruncationStrategy.OnlySecond })
  assert.equal(await code(() => tokenizer.encode('my name is john')), 'ERR_TOKENLANE_TRUNCATION_NO_SECOND_TEXT')
  const file = path.join(os.tmpdir(), `tokenlane-${process.pid}.json`)
  tokenizer.setModel(hf.BPE.init({ a: 0, b: 1, ab: 2 }, [['a', 'b']]))
  tokenizer.setNormalizer(hf.sequenceNormalizer([hf.lowercase(), hf.prependNormalizer('b')]))
  tokenizer.setPreTokenizer(hf.whitespacePreTokenizer())
  tokenizer.setTruncation(3)
  tokenizer.setPadding({ maxLength: 4, padToken: '[P]' })
  tokenizer.save(file, true)
  for (const one of [tokenizer, hf.Tokenizer.fromFile(file)])
    assert.deepEqual(await encodingOf(one, 'AB a'), ['b', 'ab', 'a', '[P]'])
  const saved = JSON.parse(fs.readFileSync(file, 'utf8'))
  assert.deepEqual(saved.truncation, { direction: 'Right', max_length: 3, strategy: 'LongestFirst', stride: 0 })
  assert.equal(Tokenizer.fromFileSync(file).encode('AB a').length, 4)
  fs.rmSync(file)
})

test('huggingface: WordPiece, WordLevel and Unigram', async () => {
  const file = path.join(os.tmpdir(), `tokenlane-vocab-${process.pid}.txt`)
  fs.writeFileSync(file, '[UNK]\nmy\nname\n##s\njohn  \n')
  const piece = new hf.Tokenizer(await hf.WordPiece.fromFile(file, { continuingSubwordPrefix: '##' }))
  fs.rmSync(file)
  piece.setPreTokenizer(hf.whitespacePreTokenizer())
  assert.deepEqual(await encodingOf(piece, 'my names john x'), ['my', 'name', '##s', 'john', '[UNK]'])
  assert.deepEqual(piece.getVocab(), { '[UNK]': 0, my: 1, name: 2, '##s': 3, john: 4 })
  const level = new hf.Tokenizer(hf.WordLevel.init({ a: 0, '<unk>': 1 }))
  assert.deepEqual((await level.encode('b')).getIds(), [1])
  const unigram = new hf.Tokenizer(
    hf.Unigram.init(
      [
        ['<unk>', 0],
        ['Hello', -1],
        ['there', -2],
      ],
      { unkId: 0 },
    ),
  )
  assert.deepEqual((await unigram.encode('Hellothere?!')).getTokens(), ['Hello', 'there', '?!'])
  assert.deepEqual(unigram.getVocab(), { '<unk>': 0, Hello: 1, there: 2 })
  for (const Kind of [hf.WordPiece, hf.WordLevel, hf.Unigram]) assert.equal(Kind.empty().constructor.name, Kind.name)
  assert.throws(() => hf.WordPiece.fromFile(), {
    message: 'Failed to convert JavaScript value `Undefined` into rust type `String`',
  })
  assert.throws(() => hf.WordPiece.fromFile({}), {
    message: 'Failed to convert JavaScript value `Object {}` into rust type `String`',
  })
})

test('huggingface: each component is written as that of PyPI tokenizers', () => {
  const { cases } = JSON.parse(fs.readFileSync(new URL('../../../__test__/testdata/components.json', import.meta.url)))
  const calls = { ...hf }
  for (const { call, args, json } of cases) {
    const component = calls[call](...args.map((arg) => arg ?? undefined))
    assert.deepEqual(component.json, json, `${call} ${JSON.stringify(args)}`)
  }
})

test('huggingface: single components', () => {
  assert.equal(hf.stripNormalizer().normalizeString('  Hello there  '), 'Hello there')
  assert.equal(hf.bertNormalizer().normalizeString('Héllo'), 'hello')
  assert.equal(hf.bertNormalizer(null).normalizeString('Héllo'), 'hello')
  assert.deepEqual(hf.metaspacePreTokenizer().preTokenizeString('Hello there'), [
    ['▁Hello', [0, 5]],
    ['▁there', [5, 11]],
  ])
  assert.deepEqual(hf.whitespacePreTokenizer().preTokenizeString('Hello  👋 wörld!'), [
    ['Hello', [0, 5]],
    ['👋', [7, 8]],
    ['wörld', [9, 14]],
    ['!', [14, 15]],
  ])
  assert.equal(hf.byteFallbackDecoder().decode(['<0xE5>', '<0x8f>', '<0xab>', 'a']), '叫a')
  assert.equal(
    hf.sequenceDecoder([hf.ctcDecoder(), hf.metaspaceDecoder()]).decode(['▁', 'H', 'H', 'i', '▁', 'y']),
    'Hi y',
  )
  assert.throws(() => hf.templateProcessing('[CLS] $A'), {
    message: 'Missing SpecialToken(s) with id(s) `[CLS]`',
    code: 'ERR_TOKENLANE_TEMPLATE',
  })
  assert.equal(hf.slice('a👋b', 1, -1), '👋')
  assert.throws(() => hf.slice('abc', 5), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  for (const [wrong, message] of [
    [5, /expected \[token, id\]/],
    [['a'], /expected \[token, id\]/],
    [['a', '1'], /the id must be a number/],
  ]) {
    const error = { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE', message }
    assert.throws(() => hf.bertProcessing(wrong, ['b', 1]), error, String(wrong))
  }
})

test('huggingface: encodings are truncated, padded and merged', async () => {
  const tokenizer = hf.Tokenizer.fromString(JSON.stringify({ ...tiny(), post_processor: null }))
  const encoding = await tokenizer.encode('hello world')
  const other = await tokenizer.encode('hello')
  const merged = hf.mergeEncodings([encoding, other], true)
  assert.deepEqual([merged.getLength(), merged.getOffsets().at(-1)], [6, [11, 16]])
  encoding.truncate(2, 1, 'right')
  assert.deepEqual([encoding.getTokens(), encoding.getOverflowing().length], [['hello', 'Ġw'], 3])
  encoding.pad(4, { direction: 'left', padToken: 'x' })
  assert.deepEqual(encoding.getTokens(), ['x', 'x', 'hello', 'Ġw'])
  assert.deepEqual([encoding.charToToken(0), encoding.wordToTokens(0)], [2, [2, 3]])
  tokenizer.setTruncation(3)
  const processed = tokenizer.postProcess(await tokenizer.encode('hello'), other)
  assert.deepEqual(processed.getTokens(), ['hello', 'hello'])
  const withTemplate = hf.Tokenizer.fromString(JSON.stringify(tiny()))
  assert.equal(await code(() => withTemplate.postProcess(other)), 'ERR_TOKENLANE_UNSUPPORTED')
  assert.equal(new hf.Encoding().getLength(), 0)
})

test('huggingface: tokens are added behind the largest id, and the last definition of a token counts', async () => {
  const file = tiny()
  file.model.vocab.far = 276
  file.added_tokens.push({ ...file.added_tokens[0], id: 276, content: 'far' })
  const tokenizer = hf.Tokenizer.fromString(JSON.stringify(file))
  assert.equal(tokenizer.addTokens(['w1', 'w2', '', 'w1']), 2)
  assert.deepEqual([tokenizer.tokenToId('w1'), tokenizer.tokenToId('w2'), tokenizer.idToToken(276)], [277, 278, 'far'])
  // A special token that is added again is not special in the file any more, but is still skipped.
  assert.equal(tokenizer.addTokens(['<s>']), 1)
  assert.equal(tokenizer.addTokens(['<s>']), 0)
  assert.equal(await tokenizer.decode([15, 0], true), 'h')
  const saved = path.join(os.tmpdir(), `tokenlane-${process.pid}-added.json`)
  tokenizer.save(saved)
  const { added_tokens: added } = JSON.parse(fs.readFileSync(saved, 'utf8'))
  fs.rmSync(saved)
  assert.deepEqual(
    added.map(({ id, special }) => [id, special]),
    [
      [15, false],
      [16, true],
      [276, true],
      [277, false],
      [278, false],
    ],
  )
})

test('huggingface: padding without options is off, and padding of the file applies to every column of a batch', async () => {
  const padding = {
    strategy: 'BatchLongest',
    direction: 'Left',
    pad_to_multiple_of: 4,
    pad_id: 3,
    pad_type_id: 2,
    pad_token: 'o',
  }
  const tokenizer = hf.Tokenizer.fromString(JSON.stringify({ ...tiny(), padding }))
  const [short, long] = await tokenizer.encodeBatch(['h', 'hello world'])
  assert.deepEqual(short.getIds(), [3, 3, 3, 3, 3, 14, 0, 15])
  assert.deepEqual(short.getTokens(), ['o', 'o', 'o', 'o', 'o', '<s>', 'h', '</s>'])
  assert.deepEqual(short.getTypeIds(), [2, 2, 2, 2, 2, 0, 0, 0])
  assert.deepEqual(short.getAttentionMask(), [0, 0, 0, 0, 0, 1, 1, 1])
  assert.deepEqual([long.getLength(), long.getTokens().length, long.getOffsets().length], [8, 8, 8])
  for (const options of [undefined, null]) {
    tokenizer.setPadding(options)
    assert.deepEqual((await tokenizer.encodeBatch(['h', 'hello world']))[0].getIds(), [14, 0, 15])
  }
})
