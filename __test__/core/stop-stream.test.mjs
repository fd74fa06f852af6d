// Streams that stop. The judge is String.prototype.indexOf on the whole text.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'

const gpt2 = Tokenizer.fromEncodingSync('r50k_base')
const idsOf = (text) => [...gpt2.encode(text, { specialTokens: 'parse' }).ids]

let state = 1
const random = (below) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}
const pick = (list) => list[random(list.length)]

/** Pushes ids one by one, or in lists of random lengths; the results joined. */
function run(stream, ids, sizes = () => 1) {
  const texts = []
  const released = []
  for (let at = 0; at < ids.length; ) {
    const list = ids.slice(at, (at += sizes()))
    const result = stream.push(list.length === 1 ? list[0] : list)
    texts.push(result.text)
    released.push(...result.ids)
    if (result.finish !== undefined) return { text: texts.join(''), ids: released, finish: result.finish }
  }
  const rest = stream.end()
  return { text: texts.join('') + rest.text, ids: [...released, ...rest.ids], finish: rest.finish }
}

/** The stop that ends first in a text, the longest of several: its start and end. */
function firstStop(text, stops) {
  const found = stops.map((stop) => ({ stop, start: text.indexOf(stop), end: text.indexOf(stop) + stop.length }))
  return found.filter(({ start }) => start >= 0).toSorted((a, b) => a.end - b.end || a.start - b.start)[0]
}

/** The length of the text up to the longest end that a stop starts with. */
function certain(text, stops) {
  for (let at = 0; at < text.length; at++) {
    if (stops.some((stop) => stop.length > text.length - at && stop.startsWith(text.slice(at)))) return at
  }
  return text.length
}

test('no stop leaks and no text is held longer than needed, wherever tokens and calls are cut', () => {
  // The bytes of a text as tokens of random lengths, so that tokens cut it everywhere.
  const parts = ['a', 'b', ' ', 'é', '中', '👩', '\n', 'ab']
  const stopTexts = ['ab', 'aab', 'b a', '\n\n', '\n\nab', 'é', '中👩', '👩', ' ', 'ba\n', 'aa', 'a中', 'aé中a', 'bbb']
  const tokenOf = new Map()
  for (let id = 0; id < 50_256; id++) {
    const bytes = Buffer.from(gpt2.decodeBytes([id])).toString('latin1')
    if (bytes.length <= 4) tokenOf.set(bytes, id)
  }
  for (let round = 0; round < 30_000; round++) {
    const text = Array.from({ length: 1 + random(9) }, () => pick(parts)).join('')
    const stops = Array.from({ length: random(4) }, () => pick(stopTexts))
    const includeStop = random(2) === 0
    const bytes = Buffer.from(text).toString('latin1')
    const ids = []
    const starts = []
    for (let at = 0; at < bytes.length; ) {
      let size = 1 + random(4)
      while (!tokenOf.has(bytes.slice(at, at + size))) size--
      ids.push(tokenOf.get(bytes.slice(at, at + size)))
      starts.push(at)
      at += size
    }
    const found = firstStop(text, stops)
    const kept = found === undefined ? text.length : includeStop ? found.end : found.start
    const keptBytes = Buffer.byteLength(text.slice(0, kept))
    const keptIds = ids.filter((_, index) => starts[index] < keptBytes)
    const stream = gpt2.stopStream({ stop: stops, includeStop })
    for (const sizes of [() => 1, () => 1 + random(3), () => ids.length]) {
      const result = run(stream, ids, sizes)
      assert.equal(result.text, text.slice(0, kept))
      assert.deepEqual(result.ids, keptIds)
      assert.equal(result.finish?.stop, found?.stop)
      if (found !== undefined) {
        const { count, cut, reason } = result.finish
        assert.equal(reason, 'stop')
        assert.ok(Buffer.byteLength(text.slice(0, found.end)) <= (starts[count] ?? Infinity))
        assert.ok(Buffer.byteLength(text.slice(0, found.end)) > starts[count - 1])
        assert.equal(result.text + cut.text, gpt2.decode(ids.slice(0, count)))
        assert.deepEqual([...result.ids, ...cut.ids], ids.slice(0, count))
      }
      stream.end()
    }
    // What is released after each id, up to the last whole character.
    let released = ''
    for (let index = 0; index < ids.length; index++) {
      const { text: piece, finish } = stream.push(ids[index])
      released += piece
      if (finish !== undefined) break
      const whole = new TextDecoder().decode(Buffer.from(bytes.slice(0, starts[index + 1]), 'latin1'), { stream: true })
      assert.equal(released, whole.slice(0, certain(whole, stops)))
    }
    stream.end()
  }
})

// https://github.com/vllm-project/vllm/blob/main/tests/detokenizer/test_stop_strings.py and
// test_min_tokens.py: its text, here with the tokens of another model.
test('the cases of vLLM give its texts and reasons', () => {
  const answer = 'VLLM is a 100% volunteer organization. We are a group of people who'
  const organization = idsOf(' organization')[0]
  const cases = [
    [{ stop: ['.'] }, 'VLLM is a 100% volunteer organization', '.'],
    [{ stop: ['.'], includeStop: true }, 'VLLM is a 100% volunteer organization.', '.'],
    [{ stop: ['group of peo', 'short'] }, 'VLLM is a 100% volunteer organization. We are a ', 'group of peo'],
    [
      { stop: ['group of peo', 'short'], includeStop: true },
      'VLLM is a 100% volunteer organization. We are a group of peo',
      'group of peo',
    ],
    [{ stop: ['gani'] }, 'VLLM is a 100% volunteer or', 'gani'],
    [{ stop: ['gani'], includeStop: true }, 'VLLM is a 100% volunteer organi', 'gani'],
    [{ stopIds: [organization] }, 'VLLM is a 100% volunteer', organization],
    [{ stopIds: [organization], includeStop: true }, 'VLLM is a 100% volunteer organization', organization],
  ]
  for (const [options, text, stop] of cases) {
    const result = run(gpt2.stopStream(options), idsOf(answer))
    assert.deepEqual([result.text, result.finish.stop], [text, stop])
  }
  const lee = " is Lee, and I'm a student in the college of engineering"
  assert.equal(run(gpt2.stopStream({ stop: 'e' }), idsOf(lee)).text, ' is L')
})

// server/tests/utils/test_tokens.py of https://github.com/huggingface/text-generation-inference.
test('the cases of text-generation-inference end after its id, for its reason', () => {
  const ends = (options, ...ids) => {
    const stream = gpt2.stopStream({ ...options, includeStop: true })
    return ids.map((id) => stream.push(id).finish?.reason ?? null)
  }
  const bytes = (text) => text.match(/.{1,5}/gs).flatMap((part) => idsOf(part))
  assert.equal(ends({ stop: '/test;' }, ...bytes('/test')).at(-1), null)
  assert.equal(ends({ stop: '/test;' }, ...bytes('/test'), ...idsOf(';')).at(-1), 'stop')
  assert.equal(ends({ stop: '<|stop|>' }, ...idsOf('<|stop')).at(-1), null)
  assert.equal(ends({ stop: '<|stop|>' }, ...idsOf('<|stop|>')).at(-1), 'stop')
  const options = { stop: '/test;', stopIds: [50256], maxTokens: 5 }
  assert.deepEqual(ends(options, 1, 50256), [null, 'id'])
  assert.deepEqual(ends(options, 1, 1, 1, 1, 1), [null, null, null, null, 'length'])
})

test('a stream that has ended says so again, and is as new after end()', () => {
  const stream = gpt2.stopStream({ stop: ['lo wor'], maxTokens: 9 })
  const ids = idsOf('Hello world and all')
  const { text, finish, ...result } = stream.push(ids)
  assert.deepEqual([text, [...result.ids]], ['Hel', ids.slice(0, 1)])
  const cut = { text: 'lo world', ids: Uint32Array.from(ids.slice(1, 2)) }
  assert.deepEqual(finish, { reason: 'stop', stop: 'lo wor', count: 2, cut })
  for (const again of [stream.push(ids), stream.push(1), stream.end()]) {
    assert.deepEqual(again, { text: '', ids: new Uint32Array(0), finish })
  }
  assert.deepEqual(stream.end(), { text: '', ids: new Uint32Array(0) })
  assert.equal(stream.push(ids).finish.count, 2)
})

test('after each kind of end, an id alone reads nothing, as a list does', () => {
  const [certain, ...others] = idsOf('u and a stop')
  for (const options of [{ stopIds: [others[0]] }, { stop: 'stop' }, { maxTokens: 4 }])
    for (const isList of [false, true]) {
      const stream = gpt2.stopStream(options)
      // Once for the addon, then by its known text alone.
      for (let round = 0; round < 2; round++) stream.push(certain)
      let finish
      for (const id of others) finish ??= stream.push(id).finish
      assert.ok(finish !== undefined, JSON.stringify(options))
      for (let round = 0; round < 3; round++)
        assert.deepEqual(stream.push(isList ? [certain] : certain), { text: '', ids: new Uint32Array(0), finish })
    }
})

test('an id before the length, and a string in the text before either', () => {
  const ids = idsOf('one two three')
  const finish = (options) => run(gpt2.stopStream(options), ids).finish
  assert.equal(finish({ stopIds: [ids[2]], maxTokens: 3 }).reason, 'id')
  assert.equal(finish({ stop: 'three', maxTokens: 3 }).reason, 'stop')
  assert.equal(finish({ stop: 'three', stopIds: [ids[2]] }).reason, 'id')
  assert.deepEqual(finish({ maxTokens: 2 }), {
    reason: 'length',
    stop: undefined,
    count: 2,
    cut: { text: '', ids: new Uint32Array(0) },
  })
  assert.deepEqual(finish({ stopIds: Uint32Array.of(ids[1]) }), {
    reason: 'id',
    stop: ids[1],
    count: 2,
    cut: { text: ' two', ids: Uint32Array.of(ids[1]) },
  })
  assert.equal(finish({ stop: '', ...{ stop: [] } }), undefined)
})

test('special tokens are text, or none, for a stop', () => {
  const ids = idsOf('one<|endoftext|>two')
  assert.equal(run(gpt2.stopStream({ stop: '<|endoftext|>' }), ids).text, 'one')
  const skipped = run(gpt2.stopStream({ stop: ['<|endoftext|>', 'etw'], skipSpecialTokens: true }), ids)
  assert.deepEqual([skipped.text, skipped.finish.stop], ['on', 'etw'])
  // Its id is not in the vocabulary.
  for (const includeStop of [false, true]) {
    const ended = run(gpt2.stopStream({ stopIds: [60_000], includeStop }), [...ids, 60_000])
    assert.deepEqual([ended.finish.stop, ended.ids.length], [60_000, ids.length + Number(includeStop)])
  }
})

test('a source is read up to the stop, and closed', async () => {
  const ids = idsOf('one two three four')
  let isClosed = false
  async function* answer() {
    try {
      for (const id of ids) yield id
    } finally {
      isClosed = true
    }
  }
  const results = []
  for await (const result of gpt2.stopStream(answer(), { stop: 'two th' })) results.push(result)
  assert.deepEqual(
    results.map(({ text }) => text),
    ['one', ' ', ''],
  )
  assert.deepEqual([results.at(-1).finish.count, isClosed], [3, true])
  const all = []
  for await (const { text, ids: own } of gpt2.stopStream([ids.slice(0, 2), ids.slice(2)], { stop: ' x' }))
    all.push([text, own.length])
  assert.deepEqual(all, [
    ['one two', 2],
    [' three four', 2],
  ])
  const abort = AbortSignal.abort(new Error('enough'))
  await assert.rejects(() => gpt2.stopStream(answer(), { signal: abort }).next(), /enough/)
})

test('a long text that is held back costs the same for each id', () => {
  const long = `${'a'.repeat(300_000)}b`
  const stream = gpt2.stopStream({ stop: long })
  const id = idsOf('aaaa')[0]
  const size = gpt2.decode([id]).length
  let released = 0
  // A text that would be copied for each of these ids would take a minute.
  for (let count = 1; count <= 150_000; count++) {
    const { text, ids } = stream.push(id)
    released += text.length
    assert.ok(released === Math.max(0, size * count - 300_000) && ids.length <= text.length)
  }
  assert.equal(stream.push(idsOf('b')).finish.stop, long)
})

test('ten thousand stops are found like one', () => {
  const stops = Array.from({ length: 10_000 }, (_, index) => `stop number ${index};`)
  const ids = idsOf('A text with stop number 99; is longer. stop number 4711; and more')
  const { text, finish } = run(gpt2.stopStream({ stop: stops }), ids)
  assert.deepEqual([text, finish.stop], ['A text with ', 'stop number 99;'])
})

test('wrong options are refused by name, and a wrong id changes nothing', () => {
  const wrong = [
    [undefined, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ stops: ['a'] }, 'ERR_TOKENLANE_UNKNOWN_OPTION'],
    [{ signal: undefined }, 'ERR_TOKENLANE_UNKNOWN_OPTION'],
    [{ stop: 1 }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ stop: ['a', 1] }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ stop: '' }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ stop: ['a', '\ud83d'] }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ stop: Array(10_001).fill('a') }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ stop: ['a'.repeat(2 ** 20), 'b'] }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ stopIds: ['a'] }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ stopIds: 5 }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ maxTokens: 0 }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ maxTokens: '5' }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ includeStop: 1 }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ skipSpecialTokens: 'no' }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
  ]
  for (const [options, code] of wrong) assert.throws(() => gpt2.stopStream(options), { code })
  const stream = gpt2.stopStream({ stop: 'lo w' })
  stream.push(idsOf('Hello'))
  for (const ids of [-1, 1.5, '1', null, {}, [1, '2']]) {
    assert.throws(() => stream.push(ids), { code: /^ERR_TOKENLANE_ARGUMENT_/ })
  }
  assert.throws(() => stream.push([1, 4_000_000]), { code: 'ERR_TOKENLANE_UNKNOWN_ID' })
  assert.equal(stream.push(idsOf(' world')).finish.count, 2)
})
