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

import { workspaces } from '../../tools/setup.mjs'
import { addon, installed, pack, packAddon } from '../support/packed.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-pack-'))
test.after(() => fs.rmSync(folder, { recursive: true, force: true }))

const windows = process.platform === 'win32'

/** What npm packs of the working copy, which takes seconds. */
let main
const packedMain = () => (main ??= pack(root, folder))

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

test('docs/measurements/sizes.md has the sizes of all packages, in MB packed and installed', () => {
  const page = fs.readFileSync(path.join(root, 'docs', 'measurements', 'sizes.md'), 'utf8')
  const sizes = (name) => {
    const row = page.match(new RegExp(`^\\| \`${name}\` \\| ([\\d.]+|–) \\| ([\\d.]+|–) \\|`, 'm'))
    assert.ok(row, `${name} is not there`)
    return row
      .slice(1)
      .filter((size) => size !== '–')
      .map(Number)
  }
  for (const name of fs.readdirSync(path.join(root, 'npm'))) sizes(`tokenlane-${name}`)
  assert.equal(sizes('tokenlane').length, 2)
  // The builds for releases write their sizes: npm run maintain platforms.
  const { name, files } = packedMain()
  const [, installed] = sizes(name)
  const megabytes = files.reduce((sum, { size }) => sum + size, 0) / 1e6
  assert.ok(megabytes > 1 && megabytes < 1.1 * installed, `${name}: ${megabytes} MB, in the table ${installed}`)
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

test('every relative link of a document leads to a file of the repository, and to a heading of it', () => {
  const { stdout } = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  const repository = new Set(stdout.split('\n'))
  assert.ok(repository.has('README.md'), 'the repository is one of git')
  const folders = new Set([...repository].flatMap((name) => path.posix.dirname(name)))
  const broken = []
  const documents = [...repository].filter((file) => /^(?:docs\/.*|[^/]*|packages\/[^/]+\/README)\.md$/.test(file))
  for (const name of documents) {
    const text = fs.readFileSync(path.join(root, name), 'utf8').replaceAll(/^```.*?^```/gms, '')
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:|^#/.test(target)) continue
      const [to, anchor] = target.split('#')
      const file = to === '' ? name : path.posix.join(path.posix.dirname(name), to).replace(/\/$/, '')
      if (!repository.has(file) && !folders.has(file)) broken.push(`${name}: ${target}`)
      // Headings of the generated reference repeat, and are numbered.
      else if (anchor && !file.startsWith('docs/api/') && !anchorsOf(file).has(anchor))
        broken.push(`${name}: ${target}`)
    }
  }
  assert.deepEqual(broken, [])
})

/** The archives of all packages by name; packing takes seconds. */
let packed
function tarballs() {
  packed ??= new Map(
    [packedMain(), ...workspaces().map((from) => pack(from, folder))].map((one) => [one.name, one.tarball]),
  )
  return packed
}

/** What the tools say of the types of each package that is as it is meant. */
const ACCEPTED = {
  // ES modules only.
  '@tokenlane/web': ['. node16-cjs CJSResolvesToESM'],
  '@tokenlane/page': ['. node16-cjs CJSResolvesToESM'],
  // Other names than those of files, which TypeScript below 6 with `module: commonjs` looks for.
  '@tokenlane/gpt-tokenizer': ['./cjs node10 NoResolution'],
}

/** Some files of this package are built by Rust. */
const isWebBuilt = fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'tokenlane.wasm'))

test('publint and arethetypeswrong accept the packages', async () => {
  for (const [name, file] of tarballs()) {
    if (name === '@tokenlane/web' && !isWebBuilt) continue
    const archive = fs.readFileSync(file)
    const { buffer, byteOffset, byteLength } = archive
    const { messages } = await publint({
      strict: true,
      pack: { tarball: buffer.slice(byteOffset, byteOffset + byteLength) },
    })
    // As in gpt-tokenizer, the CommonJS form has a default export. That is an object with all
    // names, as is what Node's `import` of CommonJS gives.
    const isCommonJs = ({ code, path: [, entry] }) =>
      name === '@tokenlane/gpt-tokenizer' && code === 'CJS_WITH_ESMODULE_DEFAULT_EXPORT' && entry.startsWith('./cjs')
    const isUnbuilt = ({ code }) => !isWebBuilt && /NO_MATCHED_FILES|DOES_NOT_EXIST/.test(code)
    assert.deepEqual(
      messages.filter((message) => message.type !== 'suggestion' && !isCommonJs(message) && !isUnbuilt(message)),
      [],
      name,
    )
    const { problems } = await checkPackage(createPackageFromTarballData(archive))
    // What siblings import is not typed.
    const isInternal = ({ entrypoint }) => /^\.\/(internal|commands)/.test(entrypoint)
    assert.deepEqual(
      problems
        .filter((problem) => !isInternal(problem))
        .map(({ entrypoint, resolutionKind, kind }) => `${entrypoint} ${resolutionKind} ${kind}`)
        .sort(),
      ACCEPTED[name] ?? [],
      name,
    )
  }
})

test('the packed package can be installed and used without a compiler', {
  skip: windows && 'the PATH is cut with symbolic links',
}, async () => {
  // The packages that npm would download; no registry is used here.
  const archives = [packAddon(folder), ...tarballs().values()]

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
  installed(app, archives, env)
  assert.ok(!fs.existsSync(path.join(app, 'node_modules', 'tokenlane', addon)), 'the main package carries no addon')

  const use = `const t = await Tokenizer.fromEncoding('o200k_base'); console.log((await t.encodeBatch(['Hello, world!'])).ids.join())`
  const ids = '13225,11,2375,0'
  assert.equal(node(['--input-type=module', '-e', `import { Tokenizer } from 'tokenlane'; ${use}`], env), ids)
  const cjs = `const { Tokenizer } = require('tokenlane'); (async () => { ${use} })()`
  assert.equal(node(['--input-type=commonjs', '-e', cjs], env), ids)

  // The first block of each README, where each expression has its value in the comment below it.
  const readme = (name) =>
    fs.readFileSync(path.join(app, 'node_modules', name, 'README.md'), 'utf8').match(/```js\n(.*?)```/s)[1]
  for (const name of tarballs().keys()) {
    if (name === 'tokenlane' || (name === '@tokenlane/web' && !isWebBuilt)) continue
    const code = readme(name).replaceAll(/^(\w.*)\n\/\/ (.*)$/gm, 'assert.deepEqual($1, $2)')
    assert.match(code, /assert\.deepEqual/, name)
    const isModule = /^import /m.test(code)
    const assertion = isModule ? "import assert from 'node:assert'\n" : "const assert = require('node:assert')\n"
    node([`--input-type=${isModule ? 'module' : 'commonjs'}`, '-e', assertion + code], env)
  }

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
