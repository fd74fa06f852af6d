// The packages as npm publishes them, installed into an empty folder without a compiler.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'

import { addon, installed, pack, packOthers } from '../support/packed.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const own = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-pack-'))
test.after(() => fs.rmSync(folder, { recursive: true, force: true }))

const windows = process.platform === 'win32'

/** What npm packs of the working copy, which takes seconds: the list of its files, … */
let packed
const packedFiles = () => (packed ??= pack(root, folder))
/** … and the archive. */
const tarball = () => packedFiles().tarball

function node(args, env) {
  const result = spawnSync(process.execPath, args, { cwd: path.join(folder, 'app'), env, encoding: 'utf8' })
  assert.equal(result.status, 0, result.stdout + result.stderr)
  return result.stdout.trim()
}

/** Requests the page and its files. */
async function page(child) {
  try {
    const [line] = await once(child.stdout, 'data')
    const url = String(line).trim()
    const html = await (await fetch(url)).text()
    for (const [, name] of html.matchAll(/(?:src|href)="([\w.]+)"/g))
      assert.equal((await fetch(`${url}/${name}`)).status, 200, name)
  } finally {
    child.kill()
  }
}

test('docs/guide/deployment.md has the sizes of all packages, in MB packed and installed', () => {
  const guide = fs.readFileSync(path.join(root, 'docs', 'guide', 'deployment.md'), 'utf8')
  const sizes = (name) => {
    const row = guide.match(new RegExp(`^\\| \`${name}\` \\| ([\\d.]+|–) \\| ([\\d.]+|–) \\|`, 'm'))
    assert.ok(row, `${name} is not there`)
    return row
      .slice(1)
      .filter((size) => size !== '–')
      .map(Number)
  }
  for (const name of fs.readdirSync(path.join(root, 'npm'))) sizes(`tokenlane-${name}`)
  assert.equal(sizes('tokenlane').length, 2)
  // The builds for releases write their sizes: npm run maintain platforms. The packages of this
  // folder have an addon, and files of tokenlane/web, of other builds or none. Without the latter,
  // tokenlane is smaller than it is published.
  const { name, files } = packedFiles()
  const [, installed] = sizes(name)
  const bytes = files.filter(({ path: file }) => !file.startsWith('web/dist/')).reduce((sum, { size }) => sum + size, 0)
  assert.ok(bytes > 1e6 && bytes / 1e6 < installed, `${name}: ${bytes / 1e6} MB without web/dist, ${installed} with it`)
})

/** The anchors of the headings of a document, as GitHub makes them. */
function anchorsOf(file) {
  const headings = fs.readFileSync(path.join(root, file), 'utf8').matchAll(/^#+ (.+)$/gm)
  const anchor = (text) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
  return new Set(Array.from(headings, ([, text]) => anchor(text)))
}

test('every relative link of the packed documents leads to a packed file, and to a heading of it', () => {
  const packed = new Set(packedFiles().files.map(({ path: name }) => name))
  const folders = new Set(
    [...packed].flatMap((name) =>
      name
        .split('/')
        .slice(0, -1)
        .map((_, at, parts) => parts.slice(0, at + 1).join('/')),
    ),
  )
  const broken = []
  for (const name of [...packed].filter((file) => file.endsWith('.md'))) {
    const text = fs.readFileSync(path.join(root, name), 'utf8').replaceAll(/^```.*?^```/gms, '')
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:|^#/.test(target)) continue
      const [to, anchor] = target.split('#')
      const file = to === '' ? name : path.posix.join(path.posix.dirname(name), to).replace(/\/$/, '')
      if (!packed.has(file) && !folders.has(file)) broken.push(`${name}: ${target}`)
      // Headings of the generated reference repeat, and are numbered.
      else if (anchor && !file.startsWith('docs/api/') && !anchorsOf(file).has(anchor))
        broken.push(`${name}: ${target}`)
    }
  }
  assert.deepEqual(broken, [])
})

test('publint and arethetypeswrong accept the package', async () => {
  const archive = fs.readFileSync(tarball())
  const { buffer, byteOffset, byteLength } = archive
  const contents = buffer.slice(byteOffset, byteOffset + byteLength)
  const { messages } = await publint({ strict: true, pack: { tarball: contents } })
  // As in gpt-tokenizer, gpt-tokenizer/cjs is CommonJS with a default export. That is an object
  // with all names, as is what Node's `import` of CommonJS gives.
  const isCommonJs = ({ code, path: [, name] }) =>
    code === 'CJS_WITH_ESMODULE_DEFAULT_EXPORT' && name.startsWith('./gpt-tokenizer/cjs')
  // The files of tokenlane/web that Rust makes exist after `npm run maintain -- web`.
  const isWebBuilt = fs.existsSync(path.join(root, 'web', 'dist', 'tokenlane.wasm'))
  const isUnbuilt = ({ code, path: [, name] }) =>
    !isWebBuilt && code === 'EXPORTS_GLOB_NO_MATCHED_FILES' && /^\.\/web\/\*\.(?:bin|wasm)$/.test(name)
  assert.deepEqual(
    messages.filter((message) => message.type !== 'suggestion' && !isCommonJs(message) && !isUnbuilt(message)),
    [],
  )

  const { entrypoints, problems } = await checkPackage(createPackageFromTarballData(archive))
  const patterns = Object.keys(own.exports).filter((name) => own.exports[name] !== null)
  assert.deepEqual(Object.keys(entrypoints).sort(), patterns.sort())
  // Those for browsers and edge runtimes are ES modules. TypeScript below 6 with `module: commonjs`
  // resolves as Node 10 did, by typesVersions: all entries but these two, which have other names.
  assert.deepEqual(
    problems.map(({ entrypoint, resolutionKind, kind }) => `${entrypoint} ${resolutionKind} ${kind}`).sort(),
    [
      './gpt-tokenizer/cjs node10 NoResolution',
      './gpt-tokenizer/package.json node10 NoResolution',
      './web node16-cjs CJSResolvesToESM',
    ],
  )
})

test('the packed package can be installed and used without a compiler', {
  skip: windows && 'the PATH is cut with symbolic links',
}, async () => {
  // The packages that npm would download; no registry is used here.
  const tarballs = [tarball(), ...packOthers(folder)]

  // A PATH that only has node and npm.
  const bin = path.join(folder, 'bin')
  fs.mkdirSync(bin)
  fs.symlinkSync(process.execPath, path.join(bin, 'node'))
  const found = process.env.PATH.split(path.delimiter)
    .map((place) => path.join(place, 'npm'))
    .find((file) => fs.existsSync(file))
  fs.symlinkSync(fs.realpathSync(found), path.join(bin, 'npm'))
  const env = { HOME: folder, PATH: bin }

  const app = path.join(folder, 'app')
  installed(app, tarballs, env)
  assert.ok(!fs.existsSync(path.join(app, 'node_modules', 'tokenlane', addon)), 'the main package carries no addon')

  const use = `const t = await Tokenizer.fromEncoding('o200k_base'); console.log((await t.encodeBatch(['Hello, world!'])).ids.join())`
  const ids = '13225,11,2375,0'
  assert.equal(node(['--input-type=module', '-e', `import { Tokenizer } from 'tokenlane'; ${use}`], env), ids)
  const cjs = `const { Tokenizer } = require('tokenlane'); (async () => { ${use} })()`
  assert.equal(node(['--input-type=commonjs', '-e', cjs], env), ids)

  const dropins = `console.log(['tiktoken', 'gpt-tokenizer/model/gpt-4o', 'huggingface', 'transformers'].map((name) => typeof require('tokenlane/' + name)).join())`
  assert.equal(node(['--input-type=commonjs', '-e', dropins], env), 'object,object,object,object')

  const missing = `Tokenizer.fromPretrained('org/name').catch((error) => console.log(error.code, error.message))`
  assert.match(
    node(['--input-type=module', '-e', `import { Tokenizer } from 'tokenlane'; await ${missing}`], env),
    /^ERR_TOKENLANE_PACKAGE_MISSING .*run "npm install @huggingface\/hub"/,
  )

  // The CLI works without its optional dependencies, which are not installed here.
  assert.ok(!fs.existsSync(path.join(app, 'node_modules', 'fzstd')))
  const tool = path.join(app, 'node_modules', '.bin', 'tokenlane')
  assert.equal(node([tool, 'encode', '-x', 'Hello, world!'], env), ids.replaceAll(',', ' '))
  assert.equal(node([tool, 'decode', '-x', ids], env), 'Hello, world!')
  assert.equal(node([tool, 'count', '-t', 'gpt-4', '-x', 'Hello, world!'], env), '4')
  assert.match(node([tool, 'split', '-n', '2', '-x', 'Hello, world!'], env), /"text":"Hello,"/)
  assert.match(node([tool, 'inspect', '-x', 'Hello, world!'], env), /^o200k_base: 4 tokens/)
  assert.match(node([tool, 'bench', '--passes', '1', 'package.json'], env), /MiB\/s/)
  const compressed = path.join(root, '__test__', 'testdata', 'lines.zst')
  const refused = spawnSync(process.execPath, [tool, 'count', compressed], { cwd: app, env, encoding: 'utf8' })
  assert.match(refused.stderr, /lines\.zst: .*npm install fzstd.*PACKAGE_MISSING/)
  await page(spawn(process.execPath, [tool, 'inspect', '--web'], { cwd: app, env }))

  const chat = `t.applyChatTemplate([{ role: 'user', content: 'hi' }], { tokenize: false })`
  const file = JSON.stringify(path.join(root, '__test__', 'testdata', 'chat', 'tokenizer.json'))
  const load = `const t = Tokenizer.fromFileSync(${file}, { chatTemplate: '{{ messages[0].content }}!' })`
  assert.equal(
    node(
      ['--input-type=commonjs', '-e', `const { Tokenizer } = require('tokenlane'); ${load}; console.log(${chat})`],
      env,
    ),
    'hi!',
  )

  for (const extension of ['mts', 'cts']) {
    const code = `import { Tokenizer } from 'tokenlane'\nexport const ids = async (): Promise<Uint32Array> => (await (await Tokenizer.fromEncoding('o200k_base')).encodeBatch(['a'])).ids\n`
    fs.writeFileSync(path.join(app, `use.${extension}`), code)
  }
  const typeRoots = path.join(root, 'node_modules', '@types')
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2022',
    noEmit: true,
    typeRoots: [typeRoots],
    types: ['node'],
  }
  fs.writeFileSync(path.join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.mts', 'use.cts'] }))
  node([path.join(root, 'node_modules', 'typescript-7', 'bin', 'tsc'), '-p', '.'], env)
})
