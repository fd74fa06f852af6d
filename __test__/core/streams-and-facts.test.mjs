// Calls over iterables, defaults for special tokens, and what a tokenizer says about itself.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'
import { addedToken } from '../support/added-token.mjs'

const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
const gathered = async (source) => {
  const all = []
  for await (const one of source) all.push(one)
  return all
}
const code = (name) => ({ code: `ERR_TOKENLANE_${name}` })

test('special tokens of texts can be text by default, and a call decides otherwise', async () => {
  const text = 'a<|endoftext|>b'
  assert.throws(() => tokenizer.count(text), code('SPECIAL_TOKEN'))
  const length = tokenizer.count(text, { specialTokens: 'text' })
  for (const made of [
    tokenizer.with({ specialTokens: 'text' }),
    tokenizer.with({ specialTokens: 'text' }).with({ addedTokens: ['<x>'] }),
    await Tokenizer.fromEncoding('o200k_base', { specialTokens: 'text' }),
    await Tokenizer.forModel('gpt-4o', { specialTokens: 'text' }),
    Tokenizer.forModelSync('gpt-4o', { specialTokens: 'text' }),
  ]) {
    assert.equal(made.count(text), length)
    assert.deepEqual([...(await made.countBatch([text]))], [length])
    assert.equal(made.split(text, { maxTokens: 100, boundary: 'markdown' })[0].count, length)
    assert.ok(made.encode(text, { specialTokens: 'parse' }).ids.includes(199_999))
    assert.throws(() => made.encode(text, { specialTokens: 'throw' }), code('SPECIAL_TOKEN'))
  }
  assert.ok(tokenizer.with({ specialTokens: 'parse' }).encode(text).ids.includes(199_999))
  const file = Tokenizer.fromBufferSync(bytesOf(tiny()))
  assert.throws(() => file.with({ specialTokens: 'throw' }).encode('<s>'), code('SPECIAL_TOKEN'))
  assert.throws(() => tokenizer.with({ specialTokens: 'none' }), code('ARGUMENT_VALUE'))
  await assert.rejects(Tokenizer.fromEncoding('o200k_base', { specialTokens: ['<s>'] }), code('ARGUMENT_TYPE'))
  // What a chat template writes is still parsed.
  const chat = Tokenizer.fromBufferSync(bytesOf(tiny()), { chatTemplate: '<s>{{ messages[0].content }}' })
  const messages = [{ role: 'user', content: 'hello' }]
  assert.deepEqual([...chat.with({ specialTokens: 'text' }).applyChatTemplate(messages)], [14, 11])
})

test('encodeStream and countStream give the rows of the batch, and read no more than they need', async () => {
  const texts = Array.from({ length: 50 }, (_, index) => `text ${index}`)
  let read = 0
  let isEnded = false
  async function* source() {
    try {
      for (const text of texts) {
        read++
        yield text
      }
    } finally {
      isEnded = true
    }
  }
  const rows = (await gathered(tokenizer.encodeStream(source(), { batchSize: 7 }))).flatMap((batch) => [...batch])
  assert.deepEqual(rows, [...tokenizer.encodeBatchSync(texts)])
  for (const kind of [texts, new Set(texts), source()])
    assert.deepEqual(
      (await gathered(tokenizer.countStream(kind, { batchSize: 7, as: 'array' }))).flat(),
      tokenizer.countBatchSync(texts, { as: 'array' }),
    )
  read = 0
  isEnded = false
  for await (const batch of tokenizer.encodeStream(source(), { batchSize: 5 })) {
    assert.equal(batch.length, 5)
    break
  }
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(read <= 10 && isEnded, `${read} texts were read`)
  assert.deepEqual(await gathered(tokenizer.encodeStream([])), [])
})

test('streams of calls refuse what they cannot read, name the row, and stop with their signal', async () => {
  for (const wrong of ['text', 7, null, undefined, {}, new Uint8Array(2)])
    assert.throws(() => tokenizer.encodeStream(wrong), code('ARGUMENT_TYPE'))
  assert.throws(() => tokenizer.encodeStream(['a'], { pairs: ['b'] }), code('UNKNOWN_OPTION'))
  await assert.rejects(gathered(tokenizer.encodeStream(['a'], { batchSize: 0 })), code('ARGUMENT_VALUE'))
  const bad = ['a', 'b', 'c', '<|endoftext|>']
  await assert.rejects(gathered(tokenizer.encodeStream(bad, { batchSize: 2 })), { row: 3, message: /^row 3: / })
  await assert.rejects(gathered(tokenizer.encodeStream(['a', 7])), { row: 1, ...code('ARGUMENT_TYPE') })
  const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }
  const signal = AbortSignal.abort(new Error('enough'))
  await assert.rejects(gathered(tokenizer.encodeStream(never, { signal })), /enough/)
  const controller = new AbortController()
  const waiting = gathered(tokenizer.splitStream(never, { maxTokens: 5, signal: controller.signal }))
  controller.abort(new Error('later'))
  await assert.rejects(waiting, /later/)
})

test('splitStream takes strings and bytes, as a stream and as an iterable', async () => {
  const text = 'Größe und 👩‍🚀. '.repeat(40)
  const bytes = new TextEncoder().encode(text)
  const parts = Array.from({ length: Math.ceil(bytes.length / 5) }, (_, at) => bytes.subarray(5 * at, 5 * at + 5))
  for (const boundary of ['token', 'word', 'paragraph', 'markdown', 'code']) {
    const options = { maxTokens: 16, boundary }
    const expected = tokenizer.split(text, options)
    assert.deepEqual(await gathered(tokenizer.splitStream(parts, options)), expected, boundary)
    assert.deepEqual(await gathered(ReadableStream.from(parts).pipeThrough(tokenizer.splitStream(options))), expected)
    assert.deepEqual(await gathered(tokenizer.splitStream([text.slice(0, 99), text.slice(99)], options)), expected)
  }
  const half = [bytes.subarray(0, 3)]
  await assert.rejects(gathered(tokenizer.splitStream(half, { maxTokens: 9 })), code('INVALID_UTF8'))
  await assert.rejects(gathered(tokenizer.splitStream([...half, 'a'], { maxTokens: 9 })), code('INVALID_UTF8'))
  await assert.rejects(gathered(tokenizer.splitStream([7], { maxTokens: 9 })), code('ARGUMENT_TYPE'))
  const controller = new AbortController()
  const stream = tokenizer.splitStream({ maxTokens: 9, signal: controller.signal })
  controller.abort(new Error('enough'))
  await assert.rejects(gathered(ReadableStream.from(['a']).pipeThrough(stream)), /enough/)
})

test('decodeStream of a source gives texts, none of them empty', async () => {
  const text = 'Hello 👩‍🚀, नमस्ते'
  const { ids } = tokenizer.encode(text)
  const found = await gathered(tokenizer.decodeStream([ids.subarray(0, 2), ...ids.subarray(2)]))
  assert.equal(found.join(''), text)
  assert.ok(found.every((part) => part !== ''))
  assert.equal(tokenizer.decodeStream().push(ids), text)
  await assert.rejects(gathered(tokenizer.decodeStream([-1])), code('ARGUMENT_VALUE'))
})

test('an encoding is iterable', () => {
  const encoding = tokenizer.encode('Hello, world!')
  assert.deepEqual([...encoding], [...encoding.ids])
})

test('decodeWithOffsets gives each id its part of the text', () => {
  const text = 'é 👩‍🚀 नमस्ते!'
  const encoding = tokenizer.encode(text)
  const found = tokenizer.decodeWithOffsets(encoding.ids)
  assert.equal(found.text, text)
  assert.deepEqual(found.offsets, encoding.offsets, 'the offsets of encode')
  const file = Tokenizer.fromBufferSync(bytesOf(tiny()))
  const skipped = file.decodeWithOffsets(file.encode('hello').ids, { skipSpecialTokens: true })
  assert.deepEqual(skipped, { text: 'hello', offsets: new Uint32Array([0, 0, 0, 5, 5, 5]) })
  const incomplete = tokenizer.decodeWithOffsets(tokenizer.encode('👩').ids.subarray(0, 1))
  assert.deepEqual(incomplete, { text: '\ufffd', offsets: new Uint32Array([0, 1]) })
  assert.throws(() => tokenizer.decodeWithOffsets('text'), code('ARGUMENT_TYPE'))
})

test('an unknown id is named by its index in the list, or among all ids of a stream', async () => {
  const unknown = { code: 'ERR_TOKENLANE_UNKNOWN_ID', message: /no token with the id 99999999 \(place 3 of/ }
  for (const ids of [
    [1, 2, 3, 99_999_999, 5],
    [1, 1, 1, 99_999_999, 99_999_999],
  ]) {
    assert.throws(() => tokenizer.decode(ids), unknown)
    assert.throws(() => tokenizer.decodeBytes(ids), unknown)
    assert.throws(() => tokenizer.decodeWithOffsets(ids), unknown)
    const stream = tokenizer.decodeStream()
    for (const id of ids.slice(0, 3)) stream.push(id)
    assert.throws(() => stream.push(ids.slice(3)), unknown)
    await assert.rejects(tokenizer.decodeBatch([[1], ids]), { ...unknown, row: 1 })
  }
})

test('decodeWithOffsets: a token that ends within a character stands for all of it', () => {
  const characters = ['\x80', 'é', 'Ω', '\u07ff', '\u0800', '中', '\uffff', '\u{10000}', '😀', '\u{10ffff}']
  const starts = characters.flatMap((character) => {
    const bytes = Buffer.from(character)
    return Array.from(bytes, (_, cut) => Buffer.concat([Buffer.from('a'), bytes.subarray(0, cut)])).slice(1)
  })
  const singles = Array.from({ length: 256 }, (_, byte) => Buffer.of(byte))
  const tokens = [...new Set([...singles, ...starts].map((token) => token.toString('base64')))]
  const ranks = Tokenizer.fromBufferSync(Buffer.from(tokens.map((token, rank) => `${token} ${rank}\n`).join('')), {
    pattern: '.',
  })
  for (const character of characters) {
    const bytes = Buffer.from(character)
    for (let cut = 1; cut < bytes.length; cut++) {
      const start = Buffer.concat([Buffer.from('a'), bytes.subarray(0, cut)]).toString('base64')
      const ids = [tokens.indexOf(start), ...bytes.subarray(cut)]
      const end = 1 + character.length
      const { text, offsets } = ranks.decodeWithOffsets(ids)
      assert.equal(text, `a${character}`)
      assert.deepEqual([...offsets], [0, end, ...ids.slice(1).flatMap(() => [1, end])], `${character} ${cut}`)
    }
  }
})

test('a tokenizer says which tokens begin, end and fill texts', () => {
  assert.deepEqual(
    tokenizer.specialTokens,
    new Map([
      ['<|endoftext|>', 199_999],
      ['<|endofprompt|>', 200_018],
    ]),
  )
  const { bosId, eosId, padId, unkId, modelMaxLength, maxId } = tokenizer
  assert.deepEqual(
    [bosId, eosId, padId, unkId, modelMaxLength, maxId],
    [undefined, 199_999, undefined, undefined, undefined, 200_018],
  )
  const plain = Tokenizer.fromBufferSync(bytesOf(tiny()))
  assert.deepEqual([plain.bosId, plain.eosId, plain.padId, plain.maxId], [14, 15, undefined, 15])
  const usual = {
    bosId: ['<s>', '<bos>', '<|begin_of_text|>', '<|startoftext|>', '<｜begin▁of▁sentence｜>'],
    eosId: ['</s>', '<eos>', '<|end_of_text|>', '<|endoftext|>', '<｜end▁of▁sentence｜>'],
    padId: ['<pad>', '[PAD]', '<|pad|>'],
  }
  for (const [fact, names] of Object.entries(usual)) {
    // The first name of the list counts, not the first id.
    const named = (contents) => {
      const file = tiny()
      file.post_processor = null
      file.added_tokens = contents.map((content, index) => addedToken(14 + index, content))
      return Tokenizer.fromBufferSync(bytesOf(file))
    }
    for (const name of names) assert.equal(named(['<other>', name])[fact], 15, name)
    assert.equal(named(names.toReversed())[fact], 13 + names.length)
  }
  const config = {
    bos_token: null,
    eos_token: { content: '</s>' },
    pad_token: 'hello',
    model_max_length: 512,
    padding_side: 'left',
  }
  const made = Tokenizer.fromBufferSync(bytesOf(tiny()), { config })
  assert.deepEqual([made.bosId, made.eosId, made.padId, made.modelMaxLength], [undefined, 15, 11, 512])
  assert.equal(
    Tokenizer.fromBufferSync(bytesOf(tiny()), { config: { model_max_length: 1e30 } }).modelMaxLength,
    undefined,
  )
  const unknown = tiny()
  unknown.model.unk_token = 'h'
  assert.equal(Tokenizer.fromBufferSync(bytesOf(unknown)).unkId, 0)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-facts-'))
  try {
    fs.writeFileSync(path.join(folder, 'tokenizer.json'), JSON.stringify(tiny()))
    fs.writeFileSync(
      path.join(folder, 'tokenizer_config.json'),
      JSON.stringify({ ...config, tokenizer_class: 'PreTrainedTokenizerFast' }),
    )
    assert.deepEqual(Tokenizer.fromFileSync(folder).padId, 11)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})

test('padding: true fills up with the own token of a tokenizer, on its side', async () => {
  const file = tiny()
  file.added_tokens.push(addedToken(16, '<pad>'))
  const made = Tokenizer.fromBufferSync(bytesOf(file))
  const texts = ['hello', 'hello hello']
  const rows = (batch) => [...batch].map((row) => [...row])
  assert.deepEqual(
    rows(await made.encodeBatch(texts, { padding: true })),
    rows(made.encodeBatchSync(texts, { padding: { padId: 16 } })),
  )
  assert.deepEqual(made.encodeBatchSync(texts, { padding: true, columns: ['tokens'] }).tokens.slice(3, 5), [
    '<pad>',
    '<pad>',
  ])
  const left = Tokenizer.fromBufferSync(bytesOf(file), { config: { pad_token: '<pad>', padding_side: 'left' } })
  assert.equal(left.encodeBatchSync(texts, { padding: true }).row(0)[0], 16)
  assert.equal(left.with({ padding: true }).encodeBatchSync(texts).row(0)[0], 16)
  assert.throws(() => tokenizer.encode('a', { padding: true }), { message: /padId/, ...code('ARGUMENT_VALUE') })
})

test('tokens() lists every id once', () => {
  const listed = [...Tokenizer.fromBufferSync(bytesOf(tiny())).tokens()]
  assert.equal(listed.length, 16)
  assert.deepEqual(
    [listed[0], listed.at(-1)],
    [
      [0, 'h'],
      [15, '</s>'],
    ],
  )
})

test('a tokenizer that is copied to a worker is an error that says what to do', () => {
  assert.throws(() => structuredClone(tokenizer), {
    name: 'DataCloneError',
    message: /load the Tokenizer in each worker/,
  })
})
