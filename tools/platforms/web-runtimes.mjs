#!/usr/bin/env node
// npm run maintain -- web-runtimes: encodes with @tokenlane/web and the drop-ins in the runtimes of
// the web, and in the bundles of each bundler, without any setting for tokenlane, and compares the
// ids with those of the addon. docs/guide/web.md has the results.
//
//   usage: npm run maintain -- web-runtimes [--only NAME] [--folder FOLDER] [--no-install]
//
//   --only         runs what has NAME in its name: see RUNTIMES and BUNDLERS; installs only that
//   --no-install   uses the packages that the last run installed
//
// The package is packed, and installed with the runtimes and bundlers into .cache/web-runtimes
// (about 1.5 GB) or FOLDER. Needs `npm run maintain -- web`, the addon and Chromium.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { launch } from '../../__test__/support/chromium.mjs'
import { freePort, root, stop } from '../setup.mjs'
import { VERSIONS, installPackage } from './installed.mjs'

const { values } = parseArgs({
  options: { only: { type: 'string' }, folder: { type: 'string' }, 'no-install': { type: 'boolean' } },
})
const folder = path.resolve(values.folder ?? path.join(root, '.cache', 'web-runtimes'))
const bin = (name) => path.join(folder, 'node_modules', '.bin', name)
const env = { ...process.env, NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1', WRANGLER_SEND_METRICS: 'false' }

const TEXT = `Hello, world! é中🎉 ${'def f(x):\n    return x + 1\n'.repeat(30)}`

const ROUTE = `import data from '@tokenlane/web/o200k_base'
import { answer } from '../../answer.mjs'
export const runtime = 'edge'
export const dynamic = 'force-dynamic'
export const GET = async () => Response.json(await answer(data))
`

const FILES = {
  'answer.mjs': `import { getEncoding } from '@tokenlane/js-tiktoken'
import { Tiktoken } from '@tokenlane/js-tiktoken/lite'
import ranks from '@tokenlane/js-tiktoken/ranks/o200k_base'
import { encode } from '@tokenlane/gpt-tokenizer'
import { encode as ofModel } from '@tokenlane/gpt-tokenizer/model/gpt-4o'
import { countRequest } from '@tokenlane/requests'
import { get_encoding } from '@tokenlane/tiktoken'
import { Tokenizer } from '@tokenlane/web'

/** The ids of a text by each of them; of a request with it, the tokens. */
export async function answer(data) {
  const text = ${JSON.stringify(TEXT)}
  const tokenizer = await Tokenizer.fromEncoding('o200k_base', { data })
  const batch = await tokenizer.encodeBatch([text, 'a'])
  return {
    web: [...tokenizer.encode(text).ids],
    batch: [...batch.row(0)],
    'js-tiktoken': getEncoding('o200k_base').encode(text),
    'js-tiktoken/lite': new Tiktoken(ranks).encode(text),
    'gpt-tokenizer': encode(text),
    'gpt-tokenizer/model': ofModel(text),
    tiktoken: [...get_encoding('o200k_base').encode(text)],
    requests: countRequest(tokenizer, { model: 'gpt-4o', messages: [{ role: 'user', content: text }] }).tokens,
  }
}
`,
  'print.mjs': `import { answer } from './answer.mjs'
console.log(JSON.stringify(await answer()))
`,
  'page.mjs': `import { answer } from './answer.mjs'
globalThis.answer = answer().then(JSON.stringify, (failure) => String(failure.stack))
`,
  'worker.mjs': `import data from '@tokenlane/web/o200k_base'
import { answer } from './answer.mjs'
export default { fetch: async () => Response.json(await answer(data)) }
`,
  'edge.mjs': `import data from '@tokenlane/web/o200k_base'
import { answer } from './answer.mjs'
globalThis.answer = () => answer(data).then(JSON.stringify)
`,
  'index.html': '<!doctype html><title>a</title><script type="module" src="/page.mjs"></script>',
  'app/layout.js': 'export default ({ children }) => <html><body>{children}</body></html>\n',
  'app/page.js': `'use client'
import { useEffect } from 'react'
import { answer } from '../answer.mjs'
export default function Page() {
  useEffect(() => {
    globalThis.answer = answer().then(JSON.stringify, (failure) => String(failure.stack))
  }, [])
  return null
}
`,
  'app/count/route.js': ROUTE,
}

/** Packages that the names of the scenarios do not name. */
const NEEDED_BY = { 'webpack-cli': 'webpack', react: 'next', 'react-dom': 'next' }

/** The runtimes; each returns what \`answer\` does. */
const RUNTIMES = {
  node: () => printed(process.execPath, ['print.mjs']),
  'node, condition browser': () => printed(process.execPath, ['-C', 'browser', 'print.mjs']),
  deno: () => printed(bin('deno'), ['run', '--no-lock', '--allow-read', '--allow-env', 'print.mjs']),
  bun: () => printed(path.join(folder, 'node_modules', 'bun', 'bin', 'bun.exe'), ['print.mjs']),
  'workerd, bundle of wrangler': () => inWorkerd('2026-01-01'),
  'workerd of 2024, bundle of wrangler': () => inWorkerd('2024-01-01'),
  'edge-runtime, bundle of esbuild': inEdgeRuntime,
}

/** The bundlers for pages: each makes a bundle and returns what \`answer\` does in Chromium. */
const BUNDLERS = {
  esbuild: () => {
    make(bin('esbuild'), ['page.mjs', '--bundle', '--outfile=out/main.js'])
    return inStaticPage('out')
  },
  'esbuild, split and minified': () => {
    make(bin('esbuild'), ['page.mjs', '--bundle', '--splitting', '--format=esm', '--minify', '--outdir=out'])
    fs.renameSync(path.join(folder, 'out', 'page.js'), path.join(folder, 'out', 'main.js'))
    return inStaticPage('out')
  },
  webpack: () => {
    make(bin('webpack'), ['--mode', 'production', '--entry', './page.mjs', '-o', 'out', '--output-filename', 'main.js'])
    return inStaticPage('out')
  },
  'vite build': () => {
    make(bin('vite'), ['build', '--outDir', 'out'])
    return inStaticPage('out', false)
  },
  'vite dev': () => withServer(bin('vite'), (port) => ['--port', port, '--strictPort', '--host', '127.0.0.1'], inPage),
  'next, Turbopack: page': () => next([], inPage),
  'next, Turbopack: edge route': () => next([], asked),
  'next, webpack: page': () => next(['--webpack'], inPage),
  'next, webpack: edge route': () => next(['--webpack'], asked),
}

function output(command, args) {
  const { stdout, stderr, status } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', env, timeout: 600_000 })
  if (status !== 0) throw new Error(`${path.basename(command)} failed: ${stdout.slice(-1500)}${stderr.slice(-1500)}`)
  return stdout
}

const printed = (command, args) => JSON.parse(output(command, args))

function make(command, args) {
  fs.rmSync(path.join(folder, 'out'), { recursive: true, force: true })
  output(command, args)
}

async function inWorkerd(date) {
  make(bin('wrangler'), [
    'deploy',
    'worker.mjs',
    '--dry-run',
    '--outdir',
    'out',
    '--name',
    'a',
    `--compatibility-date=${date}`,
  ])
  const out = path.join(folder, 'out')
  const modules = fs
    .readdirSync(out)
    .filter((name) => /\.(js|wasm)$/.test(name))
    // The main module is the first.
    .sort((a, b) => Number(b.endsWith('.js')) - Number(a.endsWith('.js')))
    .map((name) => `(name = "${name}", ${name.endsWith('.js') ? 'esModule' : 'wasm'} = embed "${name}")`)
  const config = (port) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (modules = [${modules.join(', ')}], compatibilityDate = "${date}");
`
  const file = path.join(out, 'config.capnp')
  const args = (port) => {
    fs.writeFileSync(file, config(port))
    return ['serve', file]
  }
  return await withServer(bin('workerd'), args, asked)
}

async function inEdgeRuntime() {
  const { build } = createRequire(path.join(folder, 'x.js'))('esbuild')
  // Vercel's builder imports the module; esbuild alone does not know the suffix.
  const wasm = {
    name: 'wasm',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\.wasm\?module$/ }, () => ({ path: 'wasm', namespace: 'wasm' }))
      onLoad({ filter: /.*/, namespace: 'wasm' }, () => ({ contents: 'export default globalThis.tokenlaneWasm' }))
    },
  }
  const outfile = path.join(folder, 'out', 'edge.js')
  await build({
    entryPoints: [path.join(folder, 'edge.mjs')],
    bundle: true,
    outfile,
    conditions: ['edge-light'],
    plugins: [wasm],
    logLevel: 'error',
  })
  const { EdgeRuntime } = createRequire(path.join(folder, 'x.js'))('edge-runtime')
  const file = path.join(folder, 'node_modules', 'tokenlane', 'web', 'dist', 'tokenlane.wasm')
  const tokenlaneWasm = await WebAssembly.compile(fs.readFileSync(file))
  const runtime = new EdgeRuntime({ extend: (context) => Object.assign(context, { tokenlaneWasm }) })
  runtime.evaluate(fs.readFileSync(outfile, 'utf8'))
  return JSON.parse(await runtime.evaluate('answer()'))
}

/** Builds the app of Next, starts it and asks it. */
async function next(flags, ask) {
  fs.rmSync(path.join(folder, '.next'), { recursive: true, force: true })
  output(bin('next'), ['build', ...flags])
  return await withServer(bin('next'), (port) => ['start', '-p', port], ask)
}

/** Starts a server, waits until it answers, and returns what `ask` returns for its URL. */
async function withServer(command, args, ask) {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const server = spawn(command, args(port), { cwd: folder, env, detached: true })
  let printed = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (part) => (printed += part))
  try {
    for (let tries = 0; ; tries++) {
      if (server.exitCode !== null) throw new Error(`the server ended: ${printed.slice(-2000)}`)
      if (
        await fetch(url).then(
          () => true,
          () => false,
        )
      )
        return await ask(url)
      if (tries > 600) throw new Error(`the server does not answer: ${printed.slice(-2000)}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  } catch (failure) {
    throw Object.assign(failure, { message: `${failure.message}\n${printed.slice(-1500)}` })
  } finally {
    // With its children.
    if (server.exitCode === null) process.kill(-server.pid)
  }
}

async function asked(url) {
  const response = await fetch(`${url}/count`)
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status}: ${text.slice(0, 2000)}`)
  return JSON.parse(text)
}

async function inPage(url) {
  const browser = await launch()
  try {
    const page = await browser.newPage()
    const failures = []
    page.on('pageerror', (failure) => failures.push(failure.message))
    await page.goto(url)
    const found = await page
      .waitForFunction(() => /** @type {any} */ (globalThis).answer, undefined, { timeout: 120_000 })
      .then((answer) => answer.jsonValue())
      .catch((failure) => [failure.message, ...failures].join('\n'))
    return JSON.parse(found)
  } finally {
    await browser.close()
  }
}

/** Serves a folder to Chromium, with a page for `main.js` unless it has one. */
async function inStaticPage(name, withPage = true) {
  const types = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.html': 'text/html' }
  const page = '<!doctype html><title>a</title><script type="module" src="/main.js"></script>'
  const server = http.createServer(({ url }, response) => {
    const place = url === '/' ? '/index.html' : new URL(url, 'http://a').pathname
    const file = path.join(folder, name, path.normalize(place))
    if (withPage && url === '/') return response.writeHead(200, { 'content-type': 'text/html' }).end(page)
    if (!fs.existsSync(file)) return response.writeHead(404).end()
    response
      .writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' })
      .end(fs.readFileSync(file))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await inPage(`http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/`)
  } finally {
    server.close()
  }
}

if (!fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'core.mjs'))) stop('run "npm run maintain -- web" first')
const scenarios = Object.entries({ ...RUNTIMES, ...BUNDLERS }).filter(([name]) => name.includes(values.only ?? ''))
if (!values['no-install']) {
  const names = scenarios.map(([name]) => name).join()
  installPackage(
    folder,
    Object.keys(VERSIONS).filter((one) => names.includes(NEEDED_BY[one] ?? one)),
  )
}
for (const [name, content] of Object.entries(FILES)) {
  fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
  fs.writeFileSync(path.join(folder, name), content)
}
const { Tokenizer } = createRequire(import.meta.url)(path.join(root, 'index.js'))
const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
const ids = [...tokenizer.encode(TEXT).ids]
const tokens = tokenizer.countChat([{ role: 'user', content: TEXT }])
let failed = false
for (const [name, run] of scenarios) {
  let problem
  try {
    const found = await run()
    const wrong = Object.keys(found).filter(
      (name) => JSON.stringify(found[name]) !== JSON.stringify(name === 'requests' ? tokens : ids),
    )
    if (wrong.length > 0 || Object.keys(found).length !== 8) problem = `other results: ${wrong.join(', ')}`
  } catch (failure) {
    problem = String(failure?.stack ?? failure).slice(0, 4000)
  }
  failed ||= problem !== undefined
  console.log(problem === undefined ? `ok ${name}` : `FAILED ${name}\n${problem}`)
}
process.exit(failed ? 1 : 0)
