// @tokenlane/corpus, training: the same vocabulary from every kind of input, the parts of other
// tokenizers, progress, cancellation and errors.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { Tokenizer } from 'tokenlane'
import { extendTokenizer, pruneTokenizer, trainTokenizer } from '@tokenlane/corpus'

import { HeldOut } from '../src/train/count.mjs'
import { temporaryIn } from '../../../__test__/support/corpus.mjs'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-train-'))
test.after(() => fs.rmSync(folder, { recursive: true, force: true }))
const file = (name, content) => {
  const place = path.join(folder, name)
  fs.mkdirSync(path.dirname(place), { recursive: true })
  fs.writeFileSync(place, content)
  return place
}

const WORDS = 'the cat sat on the mat and the dog sat on the log while cats and dogs run in the sun'.split(' ')
/** Lines of words, by a fixed generator of random numbers. */
const LINES = Array.from({ length: 300 }, (_, line) =>
  Array.from({ length: 8 }, (_, word) => WORDS[(line * 7 + word * word * 3 + line * word) % WORDS.length]).join(' '),
)
const texts = LINES.map((line) => `${line}\n`)
const text = texts.join('')
const WHITESPACE = { preTokenizer: { type: 'Whitespace' } }

const modelOf = (tokenizer) => tokenizer.toJSON().model
const rejects = async (options, code, message = /./) =>
  assert.rejects(trainTokenizer(options), (error) => {
    assert.equal(error.code, code, error.message)
    assert.match(error.message, message)
    return true
  })

test('the vocabularies of the reference', async () => {
  // From Tokenizer.train of the npm package tokenizers 0.23.2.
  const given = { texts: ['hello world hello\n', 'hello there\n'], ...WHITESPACE }
  const bpe = modelOf(await trainTokenizer(given))
  const ids = { d: 0, e: 1, h: 2, l: 3, o: 4, r: 5, t: 6, w: 7, he: 8, ll: 9, hell: 10, hello: 11 }
  assert.deepEqual(bpe.vocab, { ...ids, ld: 12, or: 13, re: 14, the: 15, wor: 16, there: 17, world: 18 })
  assert.deepEqual(bpe.merges.slice(0, 4), [
    ['h', 'e'],
    ['l', 'l'],
    ['he', 'll'],
    ['hell', 'o'],
  ])
  const words = modelOf(await trainTokenizer({ ...given, model: 'wordlevel' }))
  assert.deepEqual(words.vocab, { '[UNK]': 0, hello: 1, there: 2, world: 3 })
})

test('every kind of input gives the same tokenizer', async () => {
  const options = { vocabSize: 300, ...WHITESPACE }
  const expected = Buffer.from((await trainTokenizer({ ...options, texts })).toBuffer()).toString()
  async function* later() {
    yield* texts
  }
  const json = texts.map((line) => `${JSON.stringify({ body: { text: line } })}\n`).join('')
  const halves = [file('parts/a.txt', texts.slice(0, 150).join('')), file('parts/b.txt', texts.slice(150).join(''))]
  const all = {
    generator: { texts: later() },
    reversed: { texts: new Set(texts.map((line, index) => `${line}${' '.repeat(index + 1)}`).reverse()) },
    lines: { inputs: file('text.txt', text) },
    'without a last line end': { inputs: file('end.txt', text.slice(0, -1)) },
    folder: { inputs: path.dirname(halves[0]) },
    pattern: { inputs: [`${path.dirname(halves[0])}/*.txt`] },
    list: { filesFrom: file('list.txt', `${halves.join('\n')}\n`) },
    'JSON Lines': { inputs: file('rows.jsonl', json), field: 'body.text' },
    gzip: { inputs: file('text.gz', zlib.gzipSync(text)) },
    'one text': { inputs: file('whole.txt', text), rows: 'files' },
  }
  for (const [name, inputs] of Object.entries(all)) {
    const tokenizer = await trainTokenizer({ ...options, ...inputs })
    assert.equal(Buffer.from(tokenizer.toBuffer()).toString(), expected, name)
  }
})

test('counts that do not fit into memory give the same tokenizer', async () => {
  const many = Array.from(
    { length: 60_000 },
    (_, number) => `word${(number * 7919) % 50_000} ${'x'.repeat(number % 50)}`,
  )
  const options = { texts: many, model: 'wordlevel', minFrequency: 2, ...WHITESPACE }
  const whole = await trainTokenizer(options)
  const inFiles = await trainTokenizer({ ...options, memory: 1 << 20 })
  assert.deepEqual(inFiles.toJSON(), whole.toJSON())
})

test('a line has its line end, across the chunks of a file too', async () => {
  const long = `${'x'.repeat(700_000)}\r\n`
  const options = {
    vocabSize: 60,
    preTokenizer: { type: 'Split', pattern: { String: '\r' }, behavior: 'Isolated', invert: false },
  }
  const expected = modelOf(await trainTokenizer({ ...options, texts: [long, long, 'a\n', 'b'] }))
  const inputs = file('long.txt', `${long}${long}a\nb`)
  assert.deepEqual(modelOf(await trainTokenizer({ ...options, inputs, rows: 'lines' })), expected)
  assert.ok('\n' in expected.vocab && '\r' in expected.vocab)
})

test('each model has parts of its own by default', async () => {
  const types = { bpe: 'BPE', wordpiece: 'WordPiece', wordlevel: 'WordLevel', unigram: 'Unigram' }
  for (const [model, type] of Object.entries(types)) {
    const tokenizer = await trainTokenizer({ texts, model, vocabSize: 400 })
    assert.equal(modelOf(tokenizer).type, type)
    assert.ok(tokenizer.vocabSize() <= 400)
    const { ids } = tokenizer.encode('the cat sat on the log')
    assert.equal(tokenizer.decode(ids), 'the cat sat on the log', model)
  }
  const bytes = await trainTokenizer({ texts, vocabSize: 300 })
  assert.equal(bytes.decode(bytes.encode('Ünknown 漢字 🙂').ids), 'Ünknown 漢字 🙂')
})

test('like takes parts and special tokens of other tokenizers', async () => {
  const encoding = await trainTokenizer({ texts, like: 'gpt-4o', vocabSize: 300 })
  const original = await Tokenizer.fromEncoding('o200k_base')
  const { pre_tokenizer, decoder, added_tokens } = encoding.toJSON()
  assert.deepEqual(
    { pre_tokenizer, decoder },
    (({ pre_tokenizer, decoder }) => ({ pre_tokenizer, decoder }))(original.toJSON()),
  )
  assert.deepEqual(
    added_tokens.map(({ id, content }) => [id, content]),
    [
      [0, '<|endoftext|>'],
      [1, '<|endofprompt|>'],
    ],
  )
  const template = {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: '[CLS]', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
    pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
    special_tokens: { '[CLS]': { id: '[CLS]', ids: [77], tokens: ['[CLS]'] } },
  }
  const words = { model: 'wordpiece', specialTokens: ['[PAD]', '[UNK]', '[CLS]'], vocabSize: 100 }
  const bert = await trainTokenizer({ texts, ...words, ...WHITESPACE, postProcessor: template })
  assert.equal(bert.encode('cat').ids[0], 2)
  const place = file('model/tokenizer.json', bert.toBuffer())
  for (const like of [bert, place, path.dirname(place)]) {
    const again = await trainTokenizer({ texts, like, vocabSize: 100 })
    assert.deepEqual(again.toJSON(), bert.toJSON())
  }
  const changed = await trainTokenizer({ texts, like: bert, specialTokens: ['[CLS]'], vocabSize: 100 })
  assert.deepEqual([changed.tokenToId('[UNK]'), changed.tokenToId('[CLS]'), changed.encode('cat').ids[0]], [0, 1, 1])
  await rejects(
    { texts, like: bert, specialTokens: ['[PAD]'] },
    'ERR_TOKENLANE_ARGUMENT_TYPE',
    /\[CLS\].*specialTokens/,
  )
  const other = await trainTokenizer({ texts, like: bert, model: 'unigram', postProcessor: null, vocabSize: 100 })
  assert.equal(modelOf(other).type, 'Unigram')
})

test('parts are those of a tokenizer.json, by their names there', async () => {
  const parts = {
    normalizer: { type: 'Lowercase' },
    preTokenizer: { type: 'WhitespaceSplit' },
    decoder: { type: 'Fuse' },
  }
  const { normalizer, pre_tokenizer, decoder, post_processor } = (
    await trainTokenizer({ texts, ...parts, vocabSize: 60 })
  ).toJSON()
  assert.deepEqual({ normalizer, preTokenizer: pre_tokenizer, decoder }, parts)
  assert.equal(post_processor, null)
  const like = await trainTokenizer({ texts, ...parts, vocabSize: 60 })
  const without = await trainTokenizer({ texts, like, vocabSize: 60, normalizer: null, decoder: null })
  const other = without.toJSON()
  assert.deepEqual([other.normalizer, other.pre_tokenizer, other.decoder], [null, parts.preTokenizer, null])
})

test('extend adds tokens behind the ids that exist', async () => {
  const base = await trainTokenizer({ texts, vocabSize: 270, specialTokens: ['<eos>'] })
  const news = Array.from({ length: 50 }, (_, line) => `zebra quagga ${line % 3} zebras run\n`)
  const { tokenizer, newTokens, effect } = await extendTokenizer(base, { texts: news, newTokens: 10 })
  assert.deepEqual(
    newTokens.map(({ id }) => id),
    Array.from({ length: 10 }, (_, index) => 270 + index),
  )
  for (const { id, token } of newTokens) assert.equal(tokenizer.tokenToId(token), id)
  for (let id = 0; id < 270; id++) assert.equal(tokenizer.idToToken(id), base.idToToken(id))
  assert.deepEqual([effect.vocabularyBefore, effect.vocabularyAfter], [270, 280])
  const count = (one) => news.reduce((sum, text) => sum + one.count(text), 0)
  assert.deepEqual([effect.tokensBefore, effect.tokensAfter], [count(base), count(tokenizer)])
  assert.ok(effect.tokensAfter < effect.tokensBefore)
  assert.equal(tokenizer.decode(tokenizer.encode('zebra').ids), 'zebra')
  const fails = async (from, options, code) => assert.rejects(extendTokenizer(from, options), { code })
  await fails(base, { texts: news, vocabSize: 7 }, 'ERR_TOKENLANE_UNKNOWN_OPTION')
  await fails(base, { texts: news, newTokens: 0 }, 'ERR_TOKENLANE_ARGUMENT_VALUE')
  await fails(7, { texts: news }, 'ERR_TOKENLANE_ARGUMENT_TYPE')
  await fails(base, { texts: [] }, 'ERR_TOKENLANE_TRAIN_NO_WORDS')
  const words = await trainTokenizer({ texts, model: 'wordlevel' })
  await fails(words, { texts: news }, 'ERR_TOKENLANE_UNSUPPORTED')
})

test('prune keeps the tokens that texts use', async () => {
  for (const model of ['bpe', 'wordpiece', 'unigram']) {
    const base = await trainTokenizer({ texts, vocabSize: 400, model })
    const some = texts.slice(0, 3)
    const { tokenizer, ids, effect } = await pruneTokenizer(base, { texts: some })
    for (const text of some) {
      const before = [...base.encode(text).ids].map((id) => ids.get(id))
      assert.deepEqual([...tokenizer.encode(text).ids], before, model)
    }
    for (const [old, id] of ids) assert.equal(tokenizer.idToToken(id), base.idToToken(old))
    assert.equal(effect.vocabularyBefore, base.vocabSize())
    assert.equal(effect.vocabularyAfter, tokenizer.vocabSize())
    assert.equal(effect.tokensAfter, effect.tokensBefore)
    assert.ok(tokenizer.vocabSize() < base.vocabSize(), model)
  }
  await assert.rejects(pruneTokenizer('r50k_base', { texts: [], newTokens: 3 }), {
    code: 'ERR_TOKENLANE_UNKNOWN_OPTION',
  })
})

test('special tokens have flags', async () => {
  const specialTokens = [{ content: '<mask>', lstrip: true }, '<eos>']
  const tokenizer = await trainTokenizer({ texts, specialTokens, vocabSize: 300 })
  const [mask, eos] = tokenizer.toJSON().added_tokens
  assert.deepEqual([mask.id, mask.content, mask.lstrip, mask.special], [0, '<mask>', true, true])
  assert.deepEqual([eos.id, eos.content, eos.lstrip], [1, '<eos>', false])
})

test('texts are requested when there is room for them, and no longer after an abort', async () => {
  const controller = new AbortController()
  let requested = 0
  let isClosed = false
  function* endless() {
    try {
      for (;;) {
        if (++requested === 60) controller.abort(new Error('enough'))
        yield `${requested} ${'word '.repeat(20_000)}`
      }
    } finally {
      isClosed = true
    }
  }
  await assert.rejects(trainTokenizer({ texts: endless(), signal: controller.signal }), /enough/)
  assert.ok(isClosed)
  assert.ok(requested < 100, `${requested} texts of 100 kB`)
  await assert.rejects(trainTokenizer({ texts, signal: AbortSignal.abort(new Error('before')) }), /before/)
})

test('an abort while counts are written to files leaves none of them', async () => {
  const place = path.join(folder, 'spilled')
  fs.mkdirSync(place)
  const { TMPDIR, TEMP } = process.env
  Object.assign(process.env, temporaryIn(place))
  const word = (number) => Array.from({ length: 6 }, (_, at) => 'abcdefghijklmnop'[(number >> (4 * at)) & 15]).join('')
  const lines = Array.from({ length: 1_000_000 }, (_, at) => `${word((at * 7919) & 0xffffff)}\n`)
  const inputs = file('distinct.txt', lines.join(''))
  try {
    for (let wait = 0; wait < 24; wait++) {
      const controller = new AbortController()
      const reason = new Error('enough')
      setTimeout(() => controller.abort(reason), 40 + 6 * wait)
      const outcome = await trainTokenizer({ inputs, memory: 2 << 20, signal: controller.signal }).catch(
        (error) => error,
      )
      // A fast machine has finished by then.
      if (outcome instanceof Error) assert.equal(outcome, reason)
      assert.deepEqual(fs.readdirSync(place), [])
    }
  } finally {
    for (const [name, value] of Object.entries({ TMPDIR, TEMP }))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
})

test('progress has the phases in order, and can end the training', async () => {
  const seen = []
  const inputs = file('progress.txt', text)
  const start = performance.now()
  await trainTokenizer({ inputs, vocabSize: 300, onProgress: (state) => seen.push(state) })
  const elapsed = (performance.now() - start) / 1000
  const counted = seen.filter(({ phase }) => phase === 'count')
  const { bytes, allBytes, texts: count, skipped, left } = counted.at(-1)
  assert.deepEqual([bytes, allBytes, count, skipped, left], [text.length, text.length, texts.length, 0, 0])
  for (const state of counted) {
    assert.ok(state.bytes > 0 && state.bytes <= text.length && state.texts <= texts.length)
    // At the rate so far, what is left takes the time that is left.
    const rate = state.bytes / state.seconds
    assert.ok(Math.abs(state.bytes + rate * state.left - text.length) < 1e-6)
  }
  const phases = ['count', 'words', 'pairs', 'merges']
  const order = seen.map(({ phase }) => phases.indexOf(phase))
  assert.ok(!order.includes(-1))
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
  const seconds = seen.map((state) => state.seconds)
  assert.ok(seconds[0] > 0 && seconds.at(-1) <= elapsed, `${seconds} of ${elapsed} s`)
  assert.deepEqual(
    seconds,
    seconds.toSorted((a, b) => a - b),
  )
  const fails = () => {
    throw new Error('in onProgress')
  }
  await assert.rejects(trainTokenizer({ inputs, onProgress: fails }), /in onProgress/)
})

test('without other parts, Unigram normalizes as SentencePiece does: NFKC, and spaces once', async () => {
  const tokenizer = await trainTokenizer({ texts: ['the office of cats'.repeat(4)], model: 'unigram', vocabSize: 30 })
  for (const [given, normalized] of [
    ['the  cats', 'the cats'],
    ['the oﬃce', 'the office'],
    ['the\u3000cats', 'the cats'],
  ])
    assert.deepEqual([...tokenizer.encode(given).ids], [...tokenizer.encode(normalized).ids], given)
})

test('progress is reported while texts are still to come', async () => {
  const states = []
  // The source ends when the second report has come, or after far more time than that takes.
  async function* source() {
    for (let round = 0; states.length < 2 && round < 2000; round++) {
      yield* texts
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  await trainTokenizer({ texts: source(), vocabSize: 300, onProgress: (state) => states.push(state) })
  assert.deepEqual(
    states.slice(0, 2).map(({ phase, allBytes }) => [phase, allBytes]),
    [
      ['count', undefined],
      ['count', undefined],
    ],
  )
})

test('rows that cannot be read fail with their place, or are skipped', async () => {
  const inputs = file('bad.jsonl', `{"text":"good words"}\n{"text":7}\n{"text":"more words"}\n`)
  await rejects({ inputs }, 'ERR_TOKENLANE_FIELD', /bad\.jsonl, line 2/)
  const states = []
  const options = { inputs, onError: 'skip', ...WHITESPACE, onProgress: (state) => states.push(state) }
  const tokenizer = await trainTokenizer(options)
  assert.ok('words' in modelOf(tokenizer).vocab)
  assert.equal(states.filter(({ phase }) => phase === 'count').at(-1).skipped, 1)
  const bytes = file('bytes.txt', Buffer.concat([Buffer.from('one two\n'), Buffer.of(0xff, 10), Buffer.from('two\n')]))
  await rejects({ inputs: bytes }, 'ERR_TOKENLANE_INVALID_UTF8', /bytes\.txt, line 2/)
  const skipped = await trainTokenizer({ inputs: bytes, onError: 'skip', model: 'wordlevel' })
  assert.deepEqual(modelOf(skipped).vocab, { '[UNK]': 0, two: 1, one: 2 })
  const damaged = file('damaged.gz', zlib.gzipSync(text).subarray(0, 200))
  await rejects({ inputs: damaged }, 'ERR_TOKENLANE_DECOMPRESS')
})

test('bad options are refused by name', async () => {
  const type = 'ERR_TOKENLANE_ARGUMENT_TYPE'
  const value = 'ERR_TOKENLANE_ARGUMENT_VALUE'
  await rejects({ texts, vocab_size: 3 }, 'ERR_TOKENLANE_UNKNOWN_OPTION', /did you mean 'vocabSize'/)
  await rejects({ texts, specialTokens: ['<a>', '\ud83d'] }, value, /^specialTokens\[1\]\.content .*surrogate/)
  await rejects({ texts, initialAlphabet: ['a', '\ude00'] }, value, /^initialAlphabet\[1\] .*surrogate/)
  for (const name of ['unkToken', 'continuingSubwordPrefix', 'endOfWordSuffix'])
    await rejects({ texts, [name]: 'a\ud83d' }, value, new RegExp(`^${name} must be a string without half`))
  await rejects(
    { texts, specialTokens: [{ content: 'a', single: true }] },
    'ERR_TOKENLANE_UNKNOWN_OPTION',
    /specialTokens\[0\]\.single/,
  )
  await rejects({}, type, /nothing to train on/)
  await rejects(undefined, type)
  await rejects({ texts: 'one string' }, type, /texts/)
  await rejects({ texts: ['a', 7] }, type, /texts\[1\] must be a string/)
  await rejects({ texts, inputs: 'a.txt' }, type, /inputs is for files/)
  await rejects({ texts, rows: 'lines' }, type, /rows is for files/)
  await rejects({ texts, model: 'gpt' }, value, /'bpe' or 'wordpiece'/)
  await rejects({ texts, shrinkingFactor: 0.5 }, type, /shrinkingFactor is for the model unigram, and this is bpe/)
  await rejects({ texts, model: 'unigram', shrinkingFactor: 1 }, value, /between 0 and 1/)
  await rejects({ texts, vocabSize: 0 }, value, /vocabSize/)
  await rejects({ texts, vocabSize: 2.5 }, value, /vocabSize/)
  await rejects({ texts, maxPieceLength: 300 }, value, /maxPieceLength/)
  await rejects({ texts, specialTokens: 'a' }, type, /specialTokens/)
  await rejects({ texts, specialTokens: [''] }, value, /specialTokens\[0\]/)
  await rejects({ texts, preTokenizer: 'Whitespace' }, type, /preTokenizer/)
  await rejects({ texts, like: 7 }, type, /like/)
  await rejects({ texts, like: 'no-such-tokenizer' }, 'ERR_TOKENLANE_UNKNOWN_TOKENIZER')
  for (const memory of [1000, (1 << 20) - 1, 2 ** 50 + 1]) await rejects({ texts, memory }, value, /^memory must/)
  await rejects({ texts, model: 7 }, type, /^model must/)
  await rejects({ texts, model: 'bpe2' }, value, /^model must/)
  await rejects({ texts, onProgress: 7 }, type, /onProgress/)
  await rejects({ texts, signal: 7 }, type, /signal/)
  await rejects({ texts, preTokenizer: { type: 'NoSuch' } }, 'ERR_TOKENLANE_UNSUPPORTED', /NoSuch/)
  await rejects({ inputs: path.join(folder, 'none.txt') }, 'ERR_TOKENLANE_FILE_NOT_FOUND')
})

test('numbers up to their limits, and none beyond', async () => {
  const MAX = 2 ** 31 - 1
  const LIMITS = {
    bpe: { vocabSize: [1, MAX], minFrequency: [0, Number.MAX_SAFE_INTEGER], limitAlphabet: [0, MAX] },
    unigram: { vocabSize: [1, MAX], maxPieceLength: [1, 256], nSubIterations: [1, 1000], seedSize: [1, MAX] },
  }
  LIMITS.bpe.maxTokenLength = [1, MAX]
  const isRefused = async (options, name) => {
    try {
      await trainTokenizer({ texts: ['ab ab'], ...options })
    } catch ({ code, message }) {
      return code === 'ERR_TOKENLANE_ARGUMENT_VALUE' && message.startsWith(`${name} must be`)
    }
    return false
  }
  for (const [model, limits] of Object.entries(LIMITS)) {
    for (const [name, [least, most]] of Object.entries(limits)) {
      for (const value of [least - 1, least + 0.5, most + 1, NaN, Infinity])
        assert.equal(await isRefused({ model, [name]: value }, name), true, `${model} ${name} ${value}`)
      for (const value of [least, most])
        assert.equal(await isRefused({ model, [name]: value }, name), false, `${model} ${name} ${value}`)
    }
  }
  for (const [shrinkingFactor, refused] of [
    ...[-0.5, 0, 1, 1.5, NaN].map((value) => [value, true]),
    ...[0.01, 0.99].map((value) => [value, false]),
  ]) {
    const options = { model: 'unigram', shrinkingFactor }
    assert.equal(await isRefused(options, 'shrinkingFactor'), refused, `shrinkingFactor ${shrinkingFactor}`)
  }
})

test('a vocabulary that cannot be', async () => {
  for (const model of ['bpe', 'wordpiece', 'wordlevel', 'unigram']) {
    await rejects({ texts: [], model }, 'ERR_TOKENLANE_TRAIN_NO_WORDS')
    await rejects({ texts: ['', '  '], model, ...WHITESPACE }, 'ERR_TOKENLANE_TRAIN_NO_WORDS')
  }
  await rejects({ texts, model: 'unigram', vocabSize: 5 }, 'ERR_TOKENLANE_TRAIN_VOCABULARY', /5 tokens is too small/)
  // As in the reference, BPE keeps its alphabet.
  const { vocab } = modelOf(await trainTokenizer({ texts, ...WHITESPACE, vocabSize: 3 }))
  assert.deepEqual(Object.keys(vocab).sort(), [...new Set(LINES.join(''))].filter((one) => one !== ' ').sort())
})

test('require and import give the same calls', async () => {
  const required = createRequire(import.meta.url)('@tokenlane/corpus')
  const imported = await import('@tokenlane/corpus')
  assert.deepEqual(Object.keys(required).sort(), Object.keys(imported).sort())
  const [made, wanted] = [required, imported].map((calls) => calls.trainTokenizer({ texts, vocabSize: 300 }))
  assert.deepEqual(Buffer.from((await made).toBuffer()), Buffer.from((await wanted).toBuffer()))
  for (const call of ['extendTokenizer', 'pruneTokenizer'])
    await assert.rejects(required[call](await made, { none: 1 }), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
})

test('parts and tokens that cannot be written', async () => {
  const circular = { type: 'Whitespace' }
  Object.assign(circular, { self: circular })
  await rejects({ texts, preTokenizer: circular }, 'ERR_TOKENLANE_ARGUMENT_TYPE', /preTokenizer/)
  await rejects({ texts, decoder: { type: 'Fuse', size: 1n } }, 'ERR_TOKENLANE_ARGUMENT_TYPE', /decoder/)
  await rejects({ texts, unkToken: '' }, 'ERR_TOKENLANE_ARGUMENT_VALUE', /unkToken/)
})

test('one of some texts is held out, across batches, until there are enough bytes', () => {
  const held = new HeldOut(3, 5)
  const batch = (names) => held.select(names.length, (index) => Buffer.from(names[index]))
  assert.deepEqual(batch(['a', 'b', 'cc', 'd']), { first: 2, step: 3 })
  assert.deepEqual(batch(['e', 'ff', 'g']), { first: 1, step: 3 })
  assert.deepEqual(batch(['h']), { first: 1, step: 3 })
  assert.deepEqual(batch(['ii']), { first: 0, step: 3 })
  assert.deepEqual(batch(['j', 'k', 'l']), { first: 0, step: 0 }, 'there are enough')
  assert.deepEqual(held.texts.map(String), ['cc', 'ff', 'ii'])
  assert.equal(held.bytes, 6)
})
