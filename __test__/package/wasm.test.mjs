// The package with WebAssembly gives the same results as with the addon, in Node and in a browser.
// `npm run maintain wasm` builds and stages it without an addon, and runs this spec. Without that,
// the spec is skipped, because there is no build or an old one.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { Tokenizer } from '../../index.mjs'
import * as tokenlane from '../../index.mjs'
import { launch, whyNot } from '../support/chromium.mjs'
import { answers } from '../support/wasm/answers.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const modules = path.join(root, 'target', 'wasm32-wasi', 'node_modules')
const staged = path.join(modules, 'tokenlane')
const skip = process.env.TOKENLANE_WASM === undefined && 'npm run maintain wasm runs this'
const NAMES = ['r50k_base', 'o200k_base']

/** Compares without a diff, which could have megabytes. */
function same(found, wanted) {
  for (const name of Object.keys(wanted)) {
    for (const key of Object.keys(wanted[name]))
      assert.deepEqual(found[name]?.[key], wanted[name][key], `${name}: ${key}`)
  }
}

const plain = (value) => JSON.parse(JSON.stringify(value))

describe('over WebAssembly', { skip }, () => {
  let wanted
  before(async () => (wanted = plain(await answers(tokenlane, NAMES))))

  /** The results of a package in its own process. */
  async function answered(folder, env) {
    const args = ['--no-warnings', path.join(root, '__test__', 'support', 'wasm', 'node.mjs'), folder, ...NAMES]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      maxBuffer: 1 << 28,
      env: { ...process.env, ...env },
    })
    return JSON.parse(stdout)
  }

  test('in Node, without a native package', async () => {
    const { binding, answers } = await answered(staged)
    assert.equal(binding, 'wasm32-wasi')
    same(answers, wanted)
  })

  test('in Node, with NAPI_RS_FORCE_WASI, and only then', async () => {
    const forced = await answered(root, { NAPI_RS_FORCE_WASI: 'error', NODE_PATH: modules })
    assert.equal(forced.binding, 'wasm32-wasi')
    same(forced.answers, wanted)
    assert.equal((await answered(root, { NODE_PATH: modules })).binding, 'native')
  })

  test('tokenizers that do not fit into its memory are an error, and garbage makes room', async () => {
    const args = ['--no-warnings', '--expose-gc', path.join(root, '__test__', 'support', 'wasm', 'full.mjs'), staged]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const ids = [...Tokenizer.fromEncodingSync('cl100k_base').encode('hello world').ids]
    // The second round loads with promises, after the tokenizers of the first are collected.
    for (const { loaded, ...rest } of JSON.parse(stdout)) {
      assert.deepEqual(rest, { code: 'ERR_TOKENLANE_OUT_OF_MEMORY', ids })
      assert.ok(loaded > 4 && loaded < 1000, `${loaded} were loaded`)
    }
  })

  describe('in Chromium', { skip: whyNot }, () => chromium(() => wanted))
})

function chromium(wanted) {
  let folder, server, url, browser
  const isolation = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' }

  before(async () => {
    folder = await bundled()
    server = http.createServer((request, response) => serve(folder, request, response)).listen(0, '127.0.0.1')
    await new Promise((listening) => server.on('listening', listening))
    url = `http://127.0.0.1:${server.address().port}`
    browser = await launch()
  })
  test.after(async () => {
    await browser?.close()
    server?.close()
    if (folder) fs.rmSync(folder, { recursive: true, force: true })
  })

  function serve(folder, { url }, response) {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const file = [folder, staged]
      .map((place) => path.join(place, pathname))
      .find((file) => fs.statSync(file, { throwIfNoEntry: false })?.isFile())
    const types = { '.mjs': 'text/javascript', '.wasm': 'application/wasm' }
    const headers = searchParams.has('apart') ? {} : isolation
    if (pathname === '/')
      return response
        .writeHead(200, { ...headers, 'content-type': 'text/html' })
        .end('<!doctype html><title>tokenlane</title>')
    if (file === undefined) return response.writeHead(404, headers).end()
    return response
      .writeHead(200, { ...headers, 'content-type': types[path.extname(file)] ?? 'application/octet-stream' })
      .end(fs.readFileSync(file))
  }

  /** The page and the worker as bundles, with the files that they load. */
  async function bundled() {
    const esbuild = await import('esbuild')
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-wasm-'))
    const support = (name) => path.join(staged, '__test__', 'support', 'wasm', name)
    const wasm = path.join(modules, 'tokenlane-wasm32-wasi')
    await esbuild.build({
      entryPoints: [support('page.mjs'), support('worker.mjs'), path.join(wasm, 'wasi-worker-browser.mjs')],
      entryNames: '[name]',
      outExtension: { '.js': '.mjs' },
      outdir: folder,
      bundle: true,
      platform: 'browser',
      format: 'esm',
      target: 'es2022',
      logLevel: 'error',
    })
    fs.copyFileSync(path.join(wasm, 'tokenlane.wasm32-wasi.wasm'), path.join(folder, 'tokenlane.wasm32-wasi.wasm'))
    return folder
  }

  async function open(query = '') {
    const page = await browser.newPage()
    await page.goto(`${url}/${query}`)
    return page
  }

  test('in the main thread of a page', async () => {
    const page = await open()
    const found = await page.evaluate(async (names) => {
      await import('/page.mjs')
      return globalThis.answers(names)
    }, NAMES)
    same(found, wanted())
    for (const [code, message] of await page.evaluate(() => globalThis.refusals())) {
      assert.equal(code, 'ERR_TOKENLANE_UNSUPPORTED', message)
    }
    await page.close()
  })

  test('in a worker, with threads', async () => {
    const page = await open()
    const {
      answers: found,
      lengths,
      failed,
    } = await page.evaluate(
      (names) =>
        new Promise((done, failed) => {
          const worker = new Worker('/worker.mjs', { type: 'module' })
          worker.onerror = (event) => failed(new Error(event.message))
          worker.onmessage = ({ data }) => (data === 'ready' ? worker.postMessage(names) : done(data))
        }),
      NAMES,
    )
    assert.equal(failed, undefined)
    same(found, wanted())
    const rows = Array.from(
      { length: 3000 },
      (_, i) => `row ${i} ${'of a text that is long enough for threads '.repeat(20)}`,
    )
    const { length } = Tokenizer.fromEncodingSync('r50k_base').encodeBatchSync(rows).ids
    assert.deepEqual(lengths, Array(5).fill(length))
    await page.close()
  })

  test('a page without cross-origin isolation gets an error that says so', async () => {
    const page = await open('?apart')
    const thrown = await page.evaluate(() => import('/page.mjs').catch((error) => [error.code, error.message]))
    assert.equal(thrown[0], 'ERR_TOKENLANE_UNSUPPORTED')
    assert.match(thrown[1], /Cross-Origin-Opener-Policy/)
    await page.close()
  })
}
