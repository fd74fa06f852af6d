// @tokenlane/web, the package of one thread for pages, workers and edge runtimes, gives the results
// and the errors of the addon, at addresses above 2 GiB. `npm test` and `npm run maintain -- web`
// build it; without a build, the spec is skipped.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import zlib from 'node:zlib'

import * as addon from '../../../index.mjs'
import { servedPage, whyNot } from '../../../__test__/support/chromium.mjs'
import { failure, text, texts } from '../../../__test__/support/texts.mjs'
import { answers } from './support/answers.mjs'
import { highMemory } from './support/high-memory.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const isBuilt = fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'tokenlane.wasm'))
const skip = !isBuilt && 'npm run maintain -- web builds it'
const NAMES = ['r50k_base', 'p50k_base']
const plain = (value) => JSON.parse(JSON.stringify(value))

/** Compares without a diff, which could have megabytes. */
function same(found, wanted) {
  assert.deepEqual(Object.keys(found), Object.keys(wanted))
  for (const name of Object.keys(wanted)) {
    for (const key of Object.keys(wanted[name]))
      assert.deepEqual(found[name][key], wanted[name][key], `${name}: ${key}`)
  }
}

// Needs no build.
test('a runtime whose process refuses modules of Node decompresses without them', async (t) => {
  const { inflated } = await import('../src/inflate.mjs')
  const { getBuiltinModule } = process
  const { DecompressionStream } = globalThis
  t.after(() => {
    process.getBuiltinModule = getBuiltinModule
    globalThis.DecompressionStream = DecompressionStream
  })
  // As the edge routes of Next do.
  const refuse = () => {
    throw new Error('A Node.js API is used (process.getBuiltinModule) which is not supported in the Edge Runtime.')
  }
  process.getBuiltinModule = refuse
  for (const stream of [DecompressionStream, refuse]) {
    globalThis.DecompressionStream = stream
    assert.equal(Buffer.from(await inflated(zlib.gzipSync('a text'))).toString(), 'a text')
  }
})

test('a runtime without WebAssembly, and a module that is none, are errors with a code', { skip }, async () => {
  const codes = (script, ...flags) => {
    const source = `
      import { init, Tokenizer } from '@tokenlane/web'
      const codes = []
      const ended = (promise) => promise.catch(({ code }) => codes.push(String(code).replace('ERR_TOKENLANE_', '')))
      const load = () => ended(Tokenizer.fromEncoding('r50k_base'))
      ${script}
      console.log(codes.join())`
    const args = [...flags, '--input-type=module', '-e', source]
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
    assert.equal(stderr, '')
    return stdout.trim()
  }
  assert.equal(codes('await load(); await load()', '--no-expose-wasm'), 'UNSUPPORTED,UNSUPPORTED')
  assert.equal(codes('await load(); await load()', '--wasm-max-mem-pages=1'), 'OUT_OF_MEMORY,OUT_OF_MEMORY')
  const sources = {
    'new Uint8Array([1, 2, 3])': 'UNSUPPORTED',
    'new ArrayBuffer(0)': 'UNSUPPORTED',
    "new Response('<html>', { headers: { 'content-type': 'application/wasm' } })": 'UNSUPPORTED',
    "new Response('', { status: 404 })": 'FILE',
    "'no.wasm'": 'FILE',
    "new URL('http://127.0.0.1:1/a.wasm')": 'FILE',
    5: 'ARGUMENT_TYPE',
    null: 'ARGUMENT_TYPE',
    '{}': 'ARGUMENT_TYPE',
  }
  const inits = Object.keys(sources).map((source) => `await ended(init(${source}))`)
  assert.equal(codes(inits.join('\n')), Object.values(sources).join())
  // Another module, such as the file of an older version that a page has in its cache.
  const other = 'await init(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); await load()'
  assert.equal(codes(other), 'UNSUPPORTED')
})

describe('@tokenlane/web', { skip }, () => {
  let web, tokenizer, native
  before(async () => {
    web = await import('@tokenlane/web')
    tokenizer = await web.Tokenizer.fromEncoding('r50k_base')
    native = await addon.Tokenizer.fromEncoding('r50k_base')
  })

  test('answers as the addon, also below 2 GiB', async () => {
    const wanted = plain(await answers(addon, NAMES))
    same(plain(await answers(web, NAMES)), wanted)
    highMemory.isOn = false
    const low = plain(await answers(web, NAMES.slice(0, 1)))
    highMemory.isOn = true
    for (const name of Object.keys(wanted)) if (/^p50k/.test(name)) delete wanted[name]
    same(low, wanted)
  })

  test('splits, truncates, streams and counts as the addon', async () => {
    const long = `${text(9000)} é中🎉 <|endoftext|> ${text(100)}`
    const calls = {
      truncate: (one) => [0, 1, 7, 300].map((limit) => one.truncate(long, limit)),
      bytes: (one) => [...one.truncate(new TextEncoder().encode(long), 50)],
      isWithin: (one) => [1, 10, 5000].map((limit) => one.isWithin(long, limit)),
      encodeInto: (one) => {
        const ids = new Uint32Array(90)
        return [one.encodeInto(long, ids), [...ids]]
      },
      split: (one) => one.split(long, { maxTokens: 64, overlap: 8, boundary: 'sentence' }),
      markdown: (one) => one.split(`# a\n\n${long}\n\n- b`, { maxTokens: 80, boundary: 'markdown' }),
      stream: (one) => {
        const stream = one.decodeStream()
        return [...Array.from(one.encode(long).ids, (id) => stream.push(id)), stream.end()]
      },
      stops: (one) => {
        const stream = one.stopStream({ stop: ['🎉 <|end', 'é中x'], stopIds: [50256], maxTokens: 9999 })
        return [
          ...Array.from(one.encode(long).ids, (id) => stream.push(id)),
          stream.push(1),
          stream.end(),
          stream.end(),
        ]
      },
      noStop: (one) => [one.stopStream({ stop: 'zzz' }).push(one.encode(long).ids), one.stopStream({}).end()],
      unknownId: (one) => one.stopStream({ stop: 'zzz' }).push(4_000_000),
      tokenBytes: (one) => one.tokenBytes(),
      heal: (one) => [one.heal(one.encode('http:').ids), one.isCanonical(one.encode(long).ids)],
      pair: (one) => [...one.encode('a b', { pair: 'c' }).sequenceIds],
      words: (one) => [...one.encode(['ab', 'c'], { pretokenized: true }).wordIds],
      overflow: (one) =>
        one.encode(long, { truncation: { maxLength: 50, stride: 5 } }).overflowing.map(({ ids }) => [...ids]),
      padding: (one) => [...one.encode('a', { padding: { to: 5, padId: 3 } }).ids],
      listed: (one) => [...one.encode(long, { specialTokens: ['<|endoftext|>'] }).ids],
      change: (one) => [...one.with({ addedTokens: ['zz9'] }).encode('a zz9 b').ids],
      chat: (one) => one.countChat([{ role: 'user', content: long }], { model: 'gpt-3.5-turbo' }),
      printed: (one) => JSON.stringify(one.encode('abc')),
    }
    for (const [name, call] of Object.entries(calls)) {
      const outcome = async (one) => {
        try {
          return plain(await call(one))
        } catch ({ code, message }) {
          return { code, message }
        }
      }
      assert.deepEqual(await outcome(tokenizer), await outcome(native), name)
    }
  })

  test('batches of pairs and of many columns are those of the addon', async () => {
    const rows = texts(60, 200)
    const options = {
      pairs: rows.toReversed(),
      columns: ['tokens', 'typeIds'],
      overflow: true,
      padding: { multipleOf: 8 },
      truncation: { maxLength: 60 },
    }
    const [found, wanted] = await Promise.all([tokenizer, native].map((one) => one.encodeBatch(rows, options)))
    for (const name of ['ids', 'rowOffsets', 'rowTexts', 'tokens', 'typeIds', 'attentionMask']) {
      assert.deepEqual([...found[name]], [...wanted[name]], name)
    }
    const now = tokenizer.encodeBatchSync(rows, options)
    assert.deepEqual([...now.ids], [...wanted.ids])
    found.dispose()
    assert.equal(found.length, 0)
  })

  test('a batch lets the event loop run, and can be aborted', async () => {
    const rows = Array.from({ length: 1000 }, () => text(3000))
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    await tokenizer.countBatch(rows)
    clearInterval(timer)
    assert.ok(turns >= 2, `${turns} turns`)
    const controller = new AbortController()
    const aborted = tokenizer.encodeBatch(rows, { signal: controller.signal })
    setTimeout(() => controller.abort(new Error('stop')), 5)
    assert.equal((await failure(() => aborted)).message, 'stop')
    while (web.queue.stats().running > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    assert.equal((await tokenizer.countBatch(['a'])).length, 1)
  })

  test('data of another encoding is refused', async () => {
    const { default: p50k } = await import('@tokenlane/web/p50k_base')
    const { default: cl100k } = await import('@tokenlane/web/cl100k_base')
    for (const [name, data] of [
      ['cl100k_base', p50k],
      ['p50k_base', cl100k],
      ['p50k_edit', cl100k],
    ]) {
      const { code, message } = await failure(() => web.Tokenizer.fromEncoding(name, { data }))
      assert.deepEqual([code, message], ['ERR_TOKENLANE_SHAPE', `the data is not the rank file of ${name}`])
    }
    assert.equal((await web.Tokenizer.fromEncoding('p50k_edit', { data: p50k })).vocabSize(), 50284)
  })

  test('an encoding is given as data', async () => {
    const file = path.join(root, 'packages', 'web', 'dist', 'p50k_base.bin')
    const { default: imported } = await import('@tokenlane/web/p50k_base')
    for (const data of [fs.readFileSync(file), new Response(fs.readFileSync(file)), Promise.resolve(imported)]) {
      const one = await web.Tokenizer.fromEncoding('p50k_base', { data })
      assert.equal(one.decode(one.encode(text(300)).ids), text(300))
    }
    assert.equal(
      (await failure(() => web.Tokenizer.fromEncoding('p50k_base', { data: 1 }))).code,
      'ERR_TOKENLANE_ARGUMENT_TYPE',
    )
    assert.equal(
      (await failure(() => web.Tokenizer.fromEncoding('p50k_base', { dat: 1 }))).code,
      'ERR_TOKENLANE_UNKNOWN_OPTION',
    )
    const cut = new Uint8Array(fs.readFileSync(file)).slice(0, 5000)
    await assert.rejects(web.Tokenizer.fromEncoding('p50k_base', { data: cut }))
    const many = Array.from({ length: 6 }, () => web.Tokenizer.forModel('text-davinci-003', { data: imported }))
    for (const one of await Promise.all(many)) assert.equal(one.count('a b'), 2)
  })

  test('loading is aborted, also while data arrives', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const loads = [
      web.Tokenizer.fromEncoding('p50k_base', { signal, data: new Promise(() => {}) }),
      web.Tokenizer.forModel('text-davinci-003', { signal }),
    ]
    controller.abort(new Error('stop'))
    for (const one of loads) assert.equal((await failure(() => one)).message, 'stop')
    const bad = Promise.reject(new Error('no network'))
    assert.equal((await failure(() => web.Tokenizer.fromEncoding('p50k_base', { data: bad }))).message, 'no network')
    assert.equal((await web.Tokenizer.fromEncoding('p50k_base')).count('a b'), 2)
  })

  test('an encoding has the options of the package', async () => {
    const { default: data } = await import('@tokenlane/web/r50k_base')
    for (const options of [{ specialTokens: 'text' }, { specialTokens: 'text', data }]) {
      const one = await web.Tokenizer.fromEncoding('r50k_base', options)
      assert.ok(one.count('<|endoftext|>') > 1)
    }
  })

  test('errors are recognized', async () => {
    const thrown = await failure(() => web.Tokenizer.fromEncoding('none'))
    assert.ok(web.isTokenlaneError(thrown, 'ERR_TOKENLANE_UNKNOWN_ENCODING'))
    assert.ok(!web.isTokenlaneError(new Error('x')))
  })

  test('it exports what the package does, except memory', () => {
    const { memory: _, ...wanted } = addon
    assert.deepEqual(Object.keys(web).sort(), [...Object.keys(wanted), 'init'].sort())
  })

  test('without DecompressionStream, gzip is decompressed here', async () => {
    const { gunzip } = await import('../src/inflate.mjs')
    const texts = ['', 'a', text(3000), 'x'.repeat(100_000), String.fromCharCode(...Array(256).keys()).repeat(9)]
    for (const one of texts.map((one) => Buffer.from(one))) {
      for (const options of [{ level: 0 }, { level: 9 }, { strategy: zlib.constants.Z_FIXED }]) {
        const packed = new Uint8Array(zlib.gzipSync(one, options))
        assert.ok(one.equals(gunzip(packed)))
        // Nothing is missing from an empty file that is cut off in its zeros.
        for (let end = 0; end < packed.length && one.length > 0; end += 1 + (packed.length >> 5)) {
          await assert.rejects(async () => gunzip(packed.slice(0, end)), { code: 'ERR_TOKENLANE_FILE' })
        }
      }
    }
    for (const name of NAMES) {
      const packed = new Uint8Array(fs.readFileSync(path.join(root, 'packages', 'web', 'dist', `${name}.bin`)))
      assert.ok(zlib.gunzipSync(packed).equals(gunzip(packed)))
    }
  })

  test('what it does not have is refused', async () => {
    for (const call of [
      () => web.Tokenizer.fromFile('a'),
      () => web.Tokenizer.fromPretrained('a/b'),
      () => web.Tokenizer.fromEncodingSync('r50k_base'),
    ]) {
      assert.equal((await failure(call)).code, 'ERR_TOKENLANE_UNSUPPORTED')
    }
  })

  describe('after a trap', () => {
    const { Instance } = WebAssembly
    let how

    /** The next call of `count` ends the instance in this way: see crates/web/src/exports.rs. */
    before(() => {
      class Trapping {
        constructor(module) {
          const { exports } = /** @type {any} */ (new Instance(module))
          const count = (...args) => (how === undefined ? exports.count(...args) : exports.end_for_tests(how))
          this.exports = { ...exports, count }
        }
      }
      WebAssembly.Instance = /** @type {any} */ (Trapping)
    })
    after(() => (WebAssembly.Instance = Instance))

    async function trap(one, which) {
      how = which
      const { code, message } = await failure(() => one.count('a'))
      how = undefined
      if (which === 0) assert.match(message, /as the test requested/)
      return code
    }

    test('the error has a code, and the next call has a new instance', async () => {
      const one = await web.Tokenizer.fromEncoding('r50k_base')
      const derived = one.with({ addedTokens: ['zz9'] })
      const wanted = [...derived.encode('a zz9 b').ids]
      const cases = [
        [0, 'ERR_TOKENLANE_PANIC'],
        [1, 'ERR_TOKENLANE_OUT_OF_MEMORY'],
        [2, 'ERR_TOKENLANE_PANIC'],
        [3, 'ERR_TOKENLANE_OUT_OF_MEMORY'],
      ]
      for (const [which, code] of cases) {
        const stream = one.decodeStream()
        assert.equal(await trap(one, which), code)
        assert.deepEqual([...derived.encode('a zz9 b').ids], wanted)
        assert.deepEqual([...one.encode('a b').ids], [...native.encode('a b').ids])
        assert.equal((await failure(() => stream.push([1]))).code, 'ERR_TOKENLANE_DISPOSED')
      }
    })

    test('other tokenizers are not affected, and bytes that changed are not loaded again', async () => {
      const bytes = tokenizer.toBuffer()
      const one = await web.Tokenizer.fromBuffer(bytes)
      const other = await web.Tokenizer.fromBuffer(bytes)
      bytes[bytes.length - 3] ^= 1
      assert.equal(await trap(one, 0), 'ERR_TOKENLANE_PANIC')
      assert.equal((await failure(() => one.encode('a'))).code, 'ERR_TOKENLANE_DISPOSED')
      assert.equal(other.count('a b'), 2)
    })
  })

  test('in Chromium, without headers of isolation, and in a worker', { skip: whyNot }, async (t) => {
    const types = { '.mjs': 'text/javascript', '.wasm': 'application/wasm' }
    const { page, address } = await servedPage(t, ({ url }, response) => {
      const file = path.join(root, 'packages', 'web', path.normalize(new URL(url, 'http://a').pathname))
      if (url === '/')
        return response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>a</title>')
      if (!fs.existsSync(file)) return response.writeHead(404).end()
      response
        .writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' })
        .end(fs.readFileSync(file))
    })
    await page.goto(`${address}/`)
    const sample = text(3000)
    const found = await page.evaluate(async (sample) => {
      const work = async (place, sample) => {
        const { Tokenizer } = await import(`${place}/index.mjs`)
        const one = await Tokenizer.fromEncoding('r50k_base')
        const batch = await one.encodeBatch([sample, 'b'])
        return {
          isolated: globalThis.crossOriginIsolated,
          ids: [...one.encode(sample).ids],
          rows: [...batch.rowOffsets],
          text: one.decode(batch.row(0)),
        }
      }
      const source = `onmessage = async ({ data }) => postMessage(await (${work})(data.place, data.sample))`
      const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })))
      const place = location.origin
      worker.postMessage({ place, sample })
      const inWorker = new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)))
      return [await work(place, sample), await inWorker]
    }, sample)
    const ids = [...native.encode(sample).ids]
    for (const one of found)
      assert.deepEqual(one, { isolated: false, ids, rows: [0, ids.length, ids.length + 1], text: sample })
  })
})
