#!/usr/bin/env node
// npm run maintain bundlers: bundles a program with each bundler, without any setting for
// tokenlane, and runs the bundle twice: in its own folder, and in a folder without node_modules. In
// the second folder it must fail with an error that has the line which the bundler's configuration
// needs. The standalone output of Next brings its files along and must work there; Next with
// webpack brings those of packages that it does not bundle. docs/guide/deployment.md has the
// results.
//
//   usage: npm run maintain -- bundlers [--only NAME] [--folder FOLDER]     NAME: see BUNDLERS
//
// The package is packed, and installed with the bundlers into .cache/bundlers (about 800 MB) or
// FOLDER. The addon must be built.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root } from '../setup.mjs'
import { installPackage } from './installed.mjs'

const PACKAGES = ['esbuild', 'webpack', 'webpack-cli', 'vite', 'next', 'react', 'react-dom', 'bun']

const { values } = parseArgs({ options: { only: { type: 'string' }, folder: { type: 'string' } } })
const folder = path.resolve(values.folder ?? path.join(root, '.cache', 'bundlers'))
const bin = (name) => path.join(folder, 'node_modules', '.bin', name)
const bun = path.join(folder, 'node_modules', 'bun', 'bin', 'bun.exe')

/** A bundle that works prints the number of tokens. */
const COUNT = /^4\s*$/m
/** A bundle that fails prints an error with the line to add to the bundler's configuration. */
const ADVICE = /ERR_TOKENLANE_BUNDLED|Leave the package out of the bundle/

const WORKS_IN_PLACE = [COUNT, ADVICE]

/**
 * For each bundler: the command that makes a bundle, the command that runs it, and its expected
 * output in its own folder and in a folder without node_modules. `out` is the folder of the bundle.
 *
 * @type {Record<string, { make: string[], run: string[], expected: RegExp[], out?: string,
 *   files?: Record<string, string> }>}
 */
const BUNDLERS = {
  'esbuild CJS': {
    make: [bin('esbuild'), 'in.cjs', '--bundle', '--platform=node', '--outfile=out/main.cjs'],
    run: [process.execPath, 'main.cjs'],
    expected: WORKS_IN_PLACE,
  },
  'esbuild ESM': {
    make: [bin('esbuild'), 'in.mjs', '--bundle', '--platform=node', '--format=esm', '--outfile=out/main.mjs'],
    run: [process.execPath, 'main.mjs'],
    expected: [ADVICE, ADVICE],
  },
  'esbuild --loader:.node=copy': {
    make: [bin('esbuild'), 'in.cjs', '--bundle', '--platform=node', '--loader:.node=copy', '--outfile=out/main.cjs'],
    run: [process.execPath, 'main.cjs'],
    expected: WORKS_IN_PLACE,
  },
  'esbuild --external:tokenlane': {
    make: [
      bin('esbuild'),
      'in.mjs',
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--external:tokenlane',
      '--outfile=out/main.mjs',
    ],
    run: [process.execPath, 'main.mjs'],
    expected: [COUNT, /ERR_MODULE_NOT_FOUND/],
  },
  webpack: {
    make: [
      bin('webpack'),
      '--mode',
      'production',
      '--target',
      'node',
      '--entry',
      './in.cjs',
      '-o',
      'out',
      '--output-filename',
      'main.cjs',
    ],
    run: [process.execPath, 'main.cjs'],
    expected: WORKS_IN_PLACE,
  },
  vite: { make: [bin('vite'), 'build'], run: [process.execPath, 'in.mjs'], expected: WORKS_IN_PLACE },
  'bun build': {
    make: [bun, 'build', 'in.mjs', '--target=node', '--outfile=out/main.mjs'],
    run: [process.execPath, 'main.mjs'],
    expected: [COUNT, /./],
  },
  'bun build --compile': {
    make: [bun, 'build', 'in.mjs', '--compile', '--outfile=out/main'],
    run: ['./main'],
    expected: [COUNT, /./],
  },
  'next standalone, Turbopack': nextStandalone([], [], [COUNT, COUNT]),
  'next standalone, Turbopack, serverExternalPackages': nextStandalone([], ['tokenlane'], [COUNT, COUNT]),
  'next standalone, webpack': nextStandalone(['--webpack'], [], [COUNT, ADVICE]),
  'next standalone, webpack, serverExternalPackages': nextStandalone(['--webpack'], ['tokenlane'], [COUNT, COUNT]),
}

function nextStandalone(flags, serverExternalPackages, expected) {
  const root = folder
  const config = { output: 'standalone', serverExternalPackages, outputFileTracingRoot: root, turbopack: { root } }
  return {
    make: [bin('next'), 'build', ...flags],
    run: [process.execPath, path.join(folder, 'ask-server.mjs')],
    expected,
    out: path.join('.next', 'standalone'),
    files: { 'next.config.mjs': `export default ${JSON.stringify(config)}\n` },
  }
}

const FILES = {
  'in.cjs': "console.log(require('tokenlane').Tokenizer.fromEncodingSync('o200k_base').count('Hello, world!'))\n",
  'in.mjs':
    "import { Tokenizer } from 'tokenlane'\nconsole.log(Tokenizer.forModelSync('gpt-4o').count('Hello, world!'))\n",
  'vite.config.mjs':
    "export default { build: { ssr: 'in.mjs', outDir: 'out', emptyOutDir: true }, ssr: { noExternal: true } }\n",
  'app/count/route.js': `import { Tokenizer } from 'tokenlane'
export const dynamic = 'force-dynamic'
export const GET = () => new Response(Tokenizer.forModelSync('gpt-4o').count('Hello, world!'))
`,
  // Starts the server in the working directory, prints its answer and what it prints, and stops it.
  'ask-server.mjs': `import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
const free = createServer().listen(0, '127.0.0.1')
await once(free, 'listening')
const { port } = free.address()
free.close()
await once(free, 'close')
const env = { ...process.env, PORT: port, HOSTNAME: '127.0.0.1' }
const server = spawn(process.execPath, ['server.js'], { env, stdio: ['ignore', 'inherit', 'inherit'] })
let answer
while (answer === undefined && server.exitCode === null) {
  answer = await fetch(\`http://127.0.0.1:\${port}/count\`).catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 100))
}
console.log(await answer?.text())
server.kill()
`,
}

function outputOf([command, ...args], cwd) {
  const { stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: 300_000,
    env: { ...process.env, NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1' },
  })
  return `${stdout}${stderr}`
}

function attempt({ make, run: program, expected, out: place = 'out', files = {} }) {
  write(files)
  const out = path.join(folder, place)
  fs.rmSync(out, { recursive: true, force: true })
  fs.rmSync(path.join(folder, '.next'), { recursive: true, force: true })
  const made = outputOf(make, folder)
  const moved = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-moved-'))
  // Links within the bundle lead to the copy, not back to the original.
  if (fs.existsSync(out)) fs.cpSync(out, moved, { recursive: true, verbatimSymlinks: true })
  const outputs = [out, moved].map((place) => (fs.existsSync(place) ? outputOf(program, place) : made))
  fs.rmSync(moved, { recursive: true })
  const wrong = outputs.findIndex((output, index) => !expected[index].test(output))
  return wrong === -1
    ? undefined
    : `${['in place', 'moved'][wrong]}: ${outputs[wrong].slice(-1500)}\n${made.slice(-500)}`
}

function write(files) {
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), content)
  }
}

installPackage(folder, PACKAGES)
fs.rmSync(path.join(folder, 'app'), { recursive: true, force: true })
write(FILES)
let failed = false
for (const [name, bundler] of Object.entries(BUNDLERS)) {
  if (values.only !== undefined && values.only !== name) continue
  const failure = attempt(bundler)
  console.log(`${failure === undefined ? 'ok' : 'FAILED'} ${name}${failure === undefined ? '' : `\n${failure}`}`)
  failed ||= failure !== undefined
}
process.exit(failed ? 1 : 0)
