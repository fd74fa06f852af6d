#!/usr/bin/env node
// npm run maintain -- web-runtimes: counts and encodes with tokenlane/web in workerd (Cloudflare),
// edge-runtime (Vercel), Deno, Bun and Node, and compares the ids with those of the addon.
//
//   usage: npm run maintain -- web-runtimes --tools FOLDER
//
//   --tools   a folder in which `npm install workerd edge-runtime deno bun` was run
//
// Needs `npm run maintain -- web` and the addon.

import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { build } from 'esbuild'

import { root, stop } from '../setup.mjs'

const { values } = parseArgs({ options: { tools: { type: 'string' } } })
if (values.tools === undefined) stop('say where the runtimes are: --tools FOLDER')
const tools = path.resolve(values.tools)
const bin = (name) => path.join(tools, 'node_modules', '.bin', name)

const TEXT = `Hello, world! é中🎉 ${'def f(x):\n    return x + 1\n'.repeat(30)}`
const PORT = 18_791

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-web-'))
const { Tokenizer } = createRequire(import.meta.url)(path.join(root, 'index.js'))
const wanted = [...Tokenizer.fromEncodingSync('r50k_base').encode(TEXT).ids]

/** The program: `answer()` returns the ids of TEXT, and those of a batch. */
const program = (given) => `
import { Tokenizer } from 'tokenlane/web'
${given ? "import data from 'tokenlane/web/r50k_base'" : 'const data = undefined'}
let tokenizer
export async function answer() {
  tokenizer ??= await Tokenizer.fromEncoding('r50k_base', { data })
  const text = ${JSON.stringify(TEXT)}
  const ids = [...tokenizer.encode(text).ids]
  const batch = await tokenizer.encodeBatch([text, 'a'])
  if (tokenizer.decode(ids) !== text || tokenizer.count(text) !== ids.length || batch.row(0).length !== ids.length)
    throw new Error('the calls disagree')
  return ids
}
`

/** Bundles a program; an imported module of WebAssembly becomes `wasm`. */
async function bundled(name, code, condition, wasm) {
  const outfile = path.join(folder, name)
  await build({
    stdin: { contents: code, resolveDir: root },
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: [condition],
    logLevel: 'error',
    plugins: [{ name: 'wasm', setup: ({ onResolve, onLoad }) => wasm({ onResolve, onLoad }) }],
  })
  return outfile
}

const runtimes = {
  async node() {
    const file = path.join(root, 'target', 'web-runtimes.mjs')
    fs.writeFileSync(file, `${program(false)}\nconsole.log(JSON.stringify(await answer()))`)
    return printed(process.execPath, [file])
  },
  async deno() {
    const file = path.join(root, 'target', 'web-runtimes.mjs')
    return printed(bin('deno'), ['run', '--allow-read', '--no-lock', file], { DENO_NO_UPDATE_CHECK: '1' })
  },
  async bun() {
    return printed(bin('bun'), [path.join(root, 'target', 'web-runtimes.mjs')])
  },
  async workerd() {
    const code = `${program(true)}\nexport default { fetch: async () => Response.json(await answer()) }`
    await bundled('main.mjs', code, 'workerd', ({ onResolve }) =>
      onResolve({ filter: /\.wasm$/ }, () => ({ path: './tokenlane.wasm', external: true })),
    )
    fs.copyFileSync(path.join(root, 'web', 'dist', 'tokenlane.wasm'), path.join(folder, 'tokenlane.wasm'))
    fs.writeFileSync(path.join(folder, 'config.capnp'), config())
    const server = spawn(bin('workerd'), ['serve', path.join(folder, 'config.capnp')], { stdio: 'ignore' })
    try {
      for (let tries = 0; ; tries++) {
        try {
          const response = await fetch(`http://127.0.0.1:${PORT}/`)
          if (response.ok) return await response.json()
          throw new Error(await response.text())
        } catch (failure) {
          if (tries > 60) throw failure
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
      }
    } finally {
      server.kill()
    }
  },
  async 'edge-runtime'() {
    const { EdgeRuntime } = createRequire(path.join(tools, 'x.js'))('edge-runtime')
    const file = await bundled('edge.mjs', `${program(true)}\nglobalThis.answer = answer`, 'edge-light', (plugin) => {
      plugin.onResolve({ filter: /\.wasm\?module$/ }, () => ({ path: 'wasm', namespace: 'wasm' }))
      plugin.onLoad({ filter: /.*/, namespace: 'wasm' }, () => ({
        contents: 'export default globalThis.tokenlaneWasm',
      }))
    })
    const tokenlaneWasm = await WebAssembly.compile(fs.readFileSync(path.join(root, 'web', 'dist', 'tokenlane.wasm')))
    const runtime = new EdgeRuntime({ extend: (context) => Object.assign(context, { tokenlaneWasm }) })
    runtime.evaluate(fs.readFileSync(file, 'utf8').replace(/\nexport \{[^}]*\};?\s*$/, ''))
    return JSON.parse(await runtime.evaluate('answer().then(JSON.stringify)'))
  },
}

function printed(command, args, env = {}) {
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

const config = () => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${PORT}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    (name = "main.mjs", esModule = embed "main.mjs"),
    (name = "tokenlane.wasm", wasm = embed "tokenlane.wasm"),
  ],
  compatibilityDate = "2026-01-01",
);
`

const versionOf = (name) =>
  name === 'node' ? process.versions.node : createRequire(path.join(tools, 'x.js'))(`${name}/package.json`).version

let failed = false
for (const [name, answer] of Object.entries(runtimes)) {
  let result = 'the same ids'
  try {
    const ids = await answer()
    if (JSON.stringify(ids) !== JSON.stringify(wanted)) result = `other ids: ${JSON.stringify(ids).slice(0, 200)}`
  } catch (failure) {
    result = String(failure?.stack ?? failure).slice(0, 1500)
  }
  if (result !== 'the same ids') failed = true
  let version = '?'
  try {
    version = versionOf(name)
  } catch {
    // A package that does not export its package.json.
  }
  console.log(`${name} ${version}: ${result}`)
}
fs.rmSync(folder, { recursive: true, force: true })
process.exit(failed ? 1 : 0)
