// What a test file of jest or vitest checks: results and errors are of its own realm.

'use strict'

/** Whether a value is an array of this realm. */
const isArray = (value) => Object.getPrototypeOf(value) === Array.prototype

module.exports = (tl, test, assert) => {
  const t = () => tl.Tokenizer.fromEncodingSync('r50k_base')
  test('errors are of this realm', async () => {
    for (const [call, Class] of [
      [() => t().encode(5), TypeError],
      [() => t().decode([999999999]), RangeError],
      [() => t().encode('<|endoftext|>', { specialTokens: 'throw' }), Error],
      [() => tl.Tokenizer.fromFileSync('/no'), Error],
    ]) {
      /** @type {any} */
      let e
      try {
        call()
      } catch (x) {
        e = x
      }
      assert(e instanceof Class && e instanceof Error && /^ERR_TOKENLANE/.test(/** @type {any} */ (e).code), String(e))
    }
    for (const call of [
      () => tl.Tokenizer.fromFile('/no'),
      () => t().encodeBatch([5]),
      () => t().decodeBatch([[999999999]]),
      () => t().encodeBatch(['a', '<|endoftext|>'], { specialTokens: 'throw' }),
    ]) {
      const e = /** @type {any} */ (await call().catch((x) => x))
      assert(e instanceof Error && /^ERR_TOKENLANE/.test(/** @type {any} */ (e).code), String(e))
    }
  })
  test('results are of this realm', async () => {
    assert(t().encode('hello').ids instanceof Uint32Array, 'ids')
    assert(t().encode('hello '.repeat(200)).ids instanceof Uint32Array, 'long ids')
    assert(isArray(t().encode('hello').tokens), 'tokens')
    const b = await t().encodeBatch(['a b', 'c'], {
      columns: ['tokens', 'attentionMask', 'typeIds', 'wordIds'],
      offsets: 'utf16',
    })
    assert(
      b.ids instanceof Uint32Array &&
        isArray(b.tokens) &&
        b.attentionMask instanceof Uint8Array &&
        b.wordIds instanceof Int32Array &&
        b.offsets instanceof Uint32Array,
      'batch',
    )
    assert(isArray(await t().decodeBatch([[1], new Uint32Array([2])])), 'decodeBatch')
    assert(t().decodeBytes([1]) instanceof Uint8Array, 'bytes')
    assert((await t().countBatch(['a'])) instanceof Uint32Array, 'counts')
    assert(t().decode(new Uint32Array([1, 2])) === '"#', 'decode')
    assert(t().toJSON().model.type === 'BPE', 'json')
    b.dispose()
    assert(b.length === 0)
  })
  test('bytes are copied while a call waits', async () => {
    const busy = Array.from({ length: 4 }, () =>
      t().encodeBatch(Array.from({ length: 3000 }, () => 'some words to encode here')),
    )
    const bytes = new Uint8Array([97, 98, 99])
    const buffer = Buffer.from('abc')
    const mine = t().encodeBatch([bytes, buffer, 'abc'])
    bytes.fill(120)
    buffer.fill(120)
    const batch = await mine
    const rows = [0, 1, 2].map((i) => Array.from(batch.row(i)).join())
    assert(rows[0] === rows[2] && rows[1] === rows[2], rows.join('|'))
    await Promise.all(busy)
  })
  test('signals of this realm abort', async () => {
    const c = new AbortController()
    c.abort(new Error('mine'))
    const e = await t()
      .encodeBatch(['a'], { signal: c.signal })
      .catch((x) => x)
    assert(e.message === 'mine')
  })
}
