// The drop-ins over @tokenlane/web, which package.json selects in browsers, on edges and in Deno,
// give the results of those over the addon. `npm test` and `npm run maintain -- web` build them;
// without a build, the spec is skipped.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

import '../../../tools/model-entries.mjs'
import { DROPINS } from '../../../tools/web-entries.mjs'
import { launch, servedPage, whyNot } from '../../../__test__/support/chromium.mjs'
import { failure, text } from '../../../__test__/support/texts.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const require = createRequire(import.meta.url)
const packages = path.join(root, 'packages')
const isBuilt = fs.existsSync(path.join(packages, 'gpt-tokenizer', 'web', 'bundle.mjs'))
const skip = !isBuilt && 'npm run maintain -- web builds it'

const SAMPLE = `${text(2000)} é中🎉 <|endoftext|> don't\n\n  x`
/** Most modules of models differ in their names only. */
const MODELS = /\/model\/(?!ada$|gpt-4$|gpt-4o$|gpt-oss-20b$)/

const overWeb = (name) => import(path.join(packages, `${name.replace('/', '/web/')}.mjs`))
const overAddon = (name) => require(path.join(packages, `${name}.js`))

const names = !isBuilt
  ? []
  : DROPINS.flatMap((dropin) =>
      fs
        .readdirSync(path.join(packages, dropin, 'web'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.mjs') && name !== 'bundle.mjs')
        .map((name) => `${dropin}/${name.slice(0, -'.mjs'.length)}`.replaceAll(path.sep, '/')),
    ).filter((name) => !MODELS.test(name))

/** What a call returns or throws, as JSON. */
async function outcome(call) {
  try {
    return JSON.stringify(await call())
  } catch ({ name, message, code }) {
    return JSON.stringify({ name, message, code })
  }
}

describe('drop-ins over @tokenlane/web', { skip }, () => {
  test('every module exports the names of the one over the addon', async () => {
    assert.ok(names.length > 45)
    for (const name of names) {
      const [found, wanted] = [await overWeb(name), overAddon(name)]
      const isValue = /\/(ranks|encoders|bpeRanks)\//.test(name)
      const expected = isValue ? ['default'] : Object.keys(wanted)
      if (/\/(main|encoding\/|model\/)/.test(name) && !expected.includes('default')) expected.push('default')
      assert.deepEqual(Object.keys(found).sort(), expected.sort(), name)
      for (const key of Object.keys(found)) assert.equal(typeof found[key], typeof (wanted[key] ?? wanted), name)
    }
  })

  test('ranks are the same text', async () => {
    for (const name of names.filter((one) => /\/(ranks|encoders)\//.test(one))) {
      const [found, wanted] = [(await overWeb(name)).default, overAddon(name)]
      assert.equal(found.bpe_ranks === wanted.bpe_ranks, true, name)
      assert.deepEqual({ ...found, bpe_ranks: '' }, { ...wanted, bpe_ranks: '' }, name)
    }
    const found = (await overWeb('gpt-tokenizer/bpeRanks/p50k_base')).default
    assert.equal(JSON.stringify(found) === JSON.stringify(overAddon('gpt-tokenizer/bpeRanks/p50k_base').default), true)
  })

  test('calls have the same results and errors', async () => {
    const js = [await overWeb('js-tiktoken/index'), overAddon('js-tiktoken/index')]
    const lite = [await overWeb('js-tiktoken/lite'), overAddon('js-tiktoken/lite')]
    const ranks = [(await overWeb('js-tiktoken/ranks/p50k_base')).default, overAddon('js-tiktoken/ranks/p50k_base')]
    const own = [(await overWeb('js-tiktoken/ranks/gpt2')).default, overAddon('js-tiktoken/ranks/gpt2')]
    const gpt = [await overWeb('gpt-tokenizer/main'), overAddon('gpt-tokenizer/main')]
    const chat = [await overWeb('gpt-tokenizer/model/gpt-4'), overAddon('gpt-tokenizer/model/gpt-4')]
    const wasm = [await overWeb('tiktoken/index'), overAddon('tiktoken/index')]
    const encoders = [(await overWeb('tiktoken/encoders/r50k_base')).default, overAddon('tiktoken/encoders/r50k_base')]
    const messages = [{ role: 'user', content: SAMPLE.slice(0, 90).replace('<', '') }]
    const calls = {
      encode: (at) => js[at].getEncoding('cl100k_base').encode(SAMPLE, 'all'),
      refused: (at) => js[at].getEncoding('r50k_base').encode(SAMPLE),
      unknown: (at) => js[at].getEncoding('none'),
      decode: (at) => js[at].getEncoding('gpt2').decode([15496, 995, 11, 50256, -1, 10 ** 9]),
      bundled: (at) => new lite[at].Tiktoken(ranks[at]).encode(SAMPLE, [], []),
      own: (at) => new lite[at].Tiktoken({ ...own[at] }, { '<x>': 60000 }).encode(`${SAMPLE}<x>`, ['<x>'], []),
      rankMap: (at) => [...new lite[at].Tiktoken(own[at]).rankMap].slice(0, 600),
      gpt: (at) => [gpt[at].encode(SAMPLE.replace('<|', '')), gpt[at].countTokens('a b c'), gpt[at].vocabularySize],
      within: (at) => [1, 3, 10 ** 6].map((limit) => gpt[at].isWithinTokenLimit('a b c d', limit)),
      generators: (at) => [...gpt[at].decodeGenerator(gpt[at].encode('é中🎉 x'))],
      gptUnknown: (at) => gpt[at].decode([1, 999_999]),
      chat: (at) => [...chat[at].encodeChatGenerator(messages)],
      wasm: (at) => [...wasm[at].encoding_for_model('gpt-4o').encode(SAMPLE, 'all')],
      unstable: (at) => wasm[at].get_encoding('r50k_base').encode_with_unstable('hello wor'),
      single: (at) => wasm[at].get_encoding('r50k_base').encode_single_token(new Uint8Array([0xff])),
      noToken: (at) => wasm[at].get_encoding('r50k_base').encode_single_token('xyzzy 1'),
      bytes: (at) => wasm[at].get_encoding('p50k_edit').token_byte_values().slice(-50),
      encoder: (at) => {
        const { bpe_ranks, special_tokens, pat_str } = encoders[at]
        return [...new wasm[at].Tiktoken(bpe_ranks, special_tokens, pat_str).encode(SAMPLE, 'all')]
      },
    }
    for (const [name, call] of Object.entries(calls)) {
      assert.equal(await outcome(() => call(0)), await outcome(() => call(1)), name)
    }
  })

  test('ranks that a bundle does not contain are an error', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `import { GptEncoding } from './packages/gpt-tokenizer/web/GptEncoding.mjs'
          export const open = (ranks) => GptEncoding.getEncodingApi('r50k_base', ranks)`,
        resolveDir: root,
      },
      bundle: true,
      write: false,
      format: 'esm',
    })
    const { open } = await import(
      `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
    )
    // The encoding is loaded at the first call.
    const api = open()
    assert.equal((await failure(() => api.encode('a'))).code, 'ERR_TOKENLANE_UNSUPPORTED')
  })

  test('base64 that Buffer reads is read', async () => {
    const { base64Of, binaryOf, ofBase64, ofBinary } = await import('../src/bytes.mjs')
    for (const one of ['', 'YQ==', 'YQ', 'YWI', 'YW\nJj', '-_-_', '=====', 'Y', '!Y!Q!', 'YWJjZ'])
      assert.deepEqual([...ofBase64(one)], [...Buffer.from(one.replaceAll('=', ''), 'base64')], one)
    const bytes = Uint8Array.from({ length: 20_000 }, (_, at) => (at * 31) & 255)
    assert.equal(base64Of(bytes), Buffer.from(bytes).toString('base64'))
    assert.deepEqual(ofBinary(binaryOf(bytes)), bytes)
  })

  test('a bundle of esbuild runs in Chromium and in a worker', { skip: whyNot }, async (t) => {
    const { outputFiles } = await build({
      stdin: {
        contents: `import { encodingForModel } from '@tokenlane/js-tiktoken'
          import { encode } from '@tokenlane/gpt-tokenizer'
          import { get_encoding } from '@tokenlane/tiktoken'
          globalThis.ids = (text) => [
            encodingForModel('gpt-4o').encode(text), encode(text), [...get_encoding('o200k_base').encode(text)],
          ]`,
        resolveDir: root,
      },
      bundle: true,
      write: false,
    })
    const code = outputFiles[0].text
    const browser = await launch()
    t.after(() => browser.close())
    const page = await browser.newPage()
    await page.addScriptTag({ content: code })
    const sample = SAMPLE.replace('<|', '')
    const found = await page.evaluate(
      async ([code, sample]) => {
        const source = `${code}\nonmessage = ({ data }) => postMessage(ids(data))`
        const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })))
        worker.postMessage(sample)
        const inWorker = await new Promise((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data)
          worker.onerror = ({ message }) => reject(new Error(message))
        })
        return [.../** @type {any} */ (globalThis).ids(sample), ...inWorker]
      },
      [code, sample],
    )
    const wanted = overAddon('gpt-tokenizer/main').encode(sample)
    for (const ids of found) assert.deepEqual(ids, wanted)
    assert.equal(found.length, 6)
  })

  test('a page whose policy forbids WebAssembly imports all, and calls name the setting', {
    skip: whyNot,
  }, async (t) => {
    const { outputFiles } = await build({
      stdin: {
        contents: `import { encodingForModel } from '@tokenlane/js-tiktoken'
          import { encode, vocabularySize } from '@tokenlane/gpt-tokenizer'
          import { encode as ofModel } from '@tokenlane/gpt-tokenizer/model/gpt-4'
          import { get_encoding } from '@tokenlane/tiktoken'
          import { Tokenizer } from '@tokenlane/web'
          globalThis.vocabularySize = vocabularySize
          globalThis.calls = {
            js: () => encodingForModel('gpt-4o'), gpt: () => encode('a'), model: () => ofModel('a'),
            tiktoken: () => get_encoding('o200k_base'), web: () => Tokenizer.fromEncoding('r50k_base'),
          }`,
        resolveDir: root,
      },
      bundle: true,
      write: false,
      format: 'iife',
    })
    const policy = "default-src 'none'; script-src 'self'"
    const { page, address } = await servedPage(t, ({ url }, response) => {
      if (url === '/code.js') response.writeHead(200, { 'content-type': 'text/javascript' }).end(outputFiles[0].text)
      else
        response
          .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy })
          .end('<!doctype html><title>a</title><script src="/code.js"></script>')
    })
    /** @type {string[]} */
    const wrong = []
    page.on('pageerror', ({ message }) => wrong.push(message))
    await page.goto(`${address}/`)
    const found = await page.evaluate(async () => {
      const { calls, vocabularySize } = /** @type {any} */ (globalThis)
      const failures = []
      for (const [name, call] of Object.entries(calls)) {
        try {
          await call()
        } catch ({ code, message }) {
          failures.push([name, code, /'wasm-unsafe-eval' to its script-src/.test(message)])
        }
      }
      return { failures, vocabularySize }
    })
    assert.deepEqual(wrong, [])
    assert.equal(found.vocabularySize, overAddon('gpt-tokenizer/main').vocabularySize)
    const names = ['js', 'gpt', 'model', 'tiktoken', 'web']
    assert.deepEqual(
      found.failures,
      names.map((name) => [name, 'ERR_TOKENLANE_UNSUPPORTED', true]),
    )
  })
})
