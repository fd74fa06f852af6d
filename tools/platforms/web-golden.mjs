#!/usr/bin/env node
// npm run maintain -- web-golden: judges tokenlane/web in Chromium by the golden data of the
// reference libraries. In Node:
// TOKENLANE_TEST_WEB=1 node --test __test__/conformance/golden.test.mjs
//
//   usage: npm run maintain -- web-golden [NAME…]     NAME: a tokenizer with golden data
//
// Needs `npm run maintain -- web` and Chromium. Downloads vocabularies as the spec does.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'

import { build } from 'esbuild'

import { goldenNames, locate, readGolden, readTexts } from '../../__test__/conformance/golden-data.mjs'
import { launch } from '../../__test__/support/chromium.mjs'
import { root } from '../setup.mjs'

/** What the judge and the adapter use of Node. Hashes and files are requests to this process. */
const NODE = {
  'node:crypto': `export const createHash = () => {
    let bytes
    return {
      update(more) { bytes = more; return this },
      digest() {
        const request = new XMLHttpRequest()
        request.open('POST', '/sha256', false)
        request.send(bytes)
        return request.responseText
      },
    }
  }`,
  'node:util': `export const isDeepStrictEqual = (a, b) => JSON.stringify(a) === JSON.stringify(b)`,
  'node:fs/promises': `export default {
    async readFile(path, encoding) {
      const response = await fetch('/file?' + encodeURIComponent(path))
      return encoding === undefined ? new Uint8Array(await response.arrayBuffer()) : await response.text()
    },
  }`,
}

const BUFFER = `const encoder = new TextEncoder()
class Bytes extends Uint8Array {
  writeInt32LE(value, at) { new DataView(this.buffer).setInt32(at, value, true) }
  toString() { return Array.from(this, (byte) => byte.toString(16).padStart(2, '0')).join('') }
}
export const Buffer = {
  alloc: (length) => new Bytes(length),
  from: (value) => typeof value === 'string' ? encoder.encode(value) : Bytes.from(value),
  byteLength: (text) => encoder.encode(text).length,
}
export const process = { env: { TOKENLANE_TEST_WEB: '1' } }`

const JUDGE = `import * as adapter from './__test__/conformance/adapter.mjs'
import { judge } from './__test__/conformance/judge.mjs'

globalThis.judged = async (place, how, name) => {
  const { records, texts } = await (await fetch('/golden/' + name)).json()
  const subject = await adapter.load(place, how)
  const { aspects, differences } = judge(subject, records, new Map(texts), adapter)
  return { aspects: [...aspects], differences: differences.slice(0, 5), failed: differences.length }
}`

async function bundle() {
  const node = {
    name: 'node',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^node:|web\/index\.mjs$|\/index\.js$|^buffer-of-node$/ }, ({ path: name }) =>
        name.endsWith('web/index.mjs') ? { path: '/index.mjs', external: true } : { path: name, namespace: 'node' },
      )
      onLoad({ filter: /.*/, namespace: 'node' }, ({ path: name }) => ({
        // Over the addon, the adapter is not used here.
        contents: NODE[name] ?? (name === 'buffer-of-node' ? BUFFER : 'export const Tokenizer = undefined'),
      }))
    },
  }
  const { outputFiles } = await build({
    stdin: { contents: JUDGE, resolveDir: root },
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    inject: ['buffer-of-node'],
    plugins: [node],
    logLevel: 'warning',
  })
  return outputFiles[0].text
}

const names = process.argv.length > 2 ? process.argv.slice(2) : goldenNames
const texts = [...readTexts()]
const script = await bundle()

async function answer(request, response) {
  const { pathname, search } = new URL(request.url, 'http://a')
  const send = (type, body) => response.writeHead(200, { 'content-type': type }).end(body)
  if (pathname === '/') return send('text/html', '<!doctype html><script type="module" src="/judge.js"></script>')
  if (pathname === '/judge.js') return send('text/javascript', script)
  if (pathname === '/file')
    return send('application/octet-stream', fs.readFileSync(decodeURIComponent(search.slice(1))))
  if (pathname.startsWith('/golden/')) {
    const { records } = readGolden(pathname.slice('/golden/'.length))
    return send('application/json', JSON.stringify({ records, texts }))
  }
  if (pathname === '/sha256') {
    const hash = createHash('sha256')
    for await (const part of request) hash.update(part)
    return send('text/plain', hash.digest('hex'))
  }
  const file = path.join(root, 'web', path.normalize(pathname))
  if (!fs.existsSync(file)) return response.writeHead(404).end()
  send(file.endsWith('.mjs') ? 'text/javascript' : 'application/octet-stream', fs.readFileSync(file))
}

const server = http.createServer(answer).listen(0, '127.0.0.1')
await once(server, 'listening')
const browser = await launch()
console.log(`Chromium ${browser.version()}`)
const totals = { passed: 0, failed: 0, skipped: 0 }
for (const name of names) {
  const page = await browser.newPage()
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  await page.goto(`http://127.0.0.1:${port}/`)
  await page.waitForFunction(() => /** @type {any} */ (globalThis).judged)
  const [place, how] = await locate(readGolden(name).meta)
  const found = await page.evaluate(
    ([place, how, name]) => /** @type {any} */ (globalThis).judged(place, how, name),
    /** @type {const} */ ([place, how, name]),
  )
  const sum = (outcome) => found.aspects.reduce((total, [, counts]) => total + counts[outcome], 0)
  for (const outcome of Object.keys(totals)) totals[outcome] += sum(outcome)
  console.log(`${found.failed === 0 ? 'ok' : 'FAILED'} ${name}: ${sum('passed')} passed, ${sum('skipped')} skipped`)
  for (const one of found.differences) console.log(JSON.stringify(one).slice(0, 600))
  await page.close()
}
await browser.close()
server.close()
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exit(totals.failed > 0 ? 1 : 0)
