// The package in a bundle of esbuild: where its addon and encodings are found, and what the error
// says if not. `npm run maintain bundlers` tries the other bundlers.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

import { copyOwnPackages } from '../support/own-packages.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-bundlers-')))
after(() => fs.rmSync(folder, { recursive: true, force: true }))

const ADDON = fs.readdirSync(root).find((name) => /^tokenlane\..*\.node$/.test(name))
const PLATFORM = ADDON.split('.')[1]

// A project with the package and its platform package, as npm installs them.
const project = path.join(folder, 'project')
const modules = path.join(project, 'node_modules')
for (const name of ['package.json', 'index.js', 'index.mjs', 'native.js', 'lib', 'encodings']) {
  fs.cpSync(path.join(root, name), path.join(modules, 'tokenlane', name), { recursive: true })
}
const OWN = ['jinja', 'tiktoken', 'js-tiktoken', 'gpt-tokenizer', 'tokenizers', 'transformers']
copyOwnPackages(modules, OWN)
fs.cpSync(path.join(root, 'npm', PLATFORM), path.join(modules, `tokenlane-${PLATFORM}`), { recursive: true })
fs.copyFileSync(path.join(root, ADDON), path.join(modules, `tokenlane-${PLATFORM}`, ADDON))

const CODE = {
  cjs: "const { Tokenizer } = require('tokenlane'); console.log(Tokenizer.forModelSync('gpt-4o').count('Hello, world!'), require('@tokenlane/tiktoken').get_encoding('gpt2').encode('hello world').length)",
  esm: "import { Tokenizer } from 'tokenlane'; console.log(Tokenizer.forModelSync('gpt-4o').count('Hello, world!'))",
}

/** Bundles a program to `dist` of the project. */
async function bundle(format, options = {}) {
  const entry = path.join(project, `in.${format === 'cjs' ? 'cjs' : 'mjs'}`)
  fs.writeFileSync(entry, CODE[format])
  const outfile = path.join(
    project,
    'dist',
    `${format}-${Object.keys(options).join('-')}.${format === 'cjs' ? 'cjs' : 'mjs'}`,
  )
  const { warnings } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format,
    outfile,
    logLevel: 'silent',
    ...options,
  })
  assert.deepEqual(warnings, [], 'a build without warnings')
  return outfile
}

const run = (file, cwd = path.dirname(file)) => {
  const { stdout, stderr } = spawnSync(process.execPath, [file], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', NAPI_RS_NATIVE_LIBRARY_PATH: undefined },
  })
  return stdout || stderr
}

/** A copy of a bundle in a folder without the package. */
function moved(file) {
  const place = fs.mkdtempSync(path.join(folder, 'moved-'))
  fs.copyFileSync(file, path.join(place, path.basename(file)))
  return path.join(place, path.basename(file))
}

const LINES = [
  '--external:tokenlane',
  "externals: { tokenlane: 'commonjs tokenlane' }",
  "serverExternalPackages: ['tokenlane']",
  "ssr: { external: ['tokenlane'] }",
]

function assertBundled(output, reason) {
  assert.match(output, reason)
  assert.match(output, /ERR_TOKENLANE_BUNDLED/)
  for (const line of LINES) assert.ok(output.includes(line), line)
}

test('a CommonJS bundle finds the installed package', async () => {
  for (const options of [{}, { loader: { '.node': 'copy' } }, { minify: true }, { external: ['tokenlane'] }]) {
    assert.equal(run(await bundle('cjs', options)), '4 2\n', JSON.stringify(options))
  }
  // By the working directory too.
  assert.equal(run(moved(await bundle('cjs')), project), '4 2\n')
})

test('elsewhere the error has the line to add', async () => {
  assertBundled(run(moved(await bundle('cjs'))), /it is bundled, and its folder is not in a node_modules/)
})

test('a bundle of ES modules has no require, and says so', async () => {
  const file = await bundle('esm')
  for (const place of [file, moved(file)])
    assertBundled(run(place), /it was bundled as an ES module, in which require does not work/)
  assert.equal(run(await bundle('esm', { external: ['tokenlane'] })), '4\n')
  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" }
  assert.equal(run(await bundle('esm', { banner })), '4\n')
})

test('a bundle of ES modules with a drop-in says so too', async () => {
  for (const name of [
    'tiktoken',
    'tiktoken/lite',
    'js-tiktoken',
    'gpt-tokenizer/model/gpt-4o',
    'tokenizers',
    'transformers',
  ]) {
    CODE.esm = `import * as all from '@tokenlane/${name}'; console.log(Object.keys(all).length)`
    assertBundled(run(await bundle('esm')), /it was bundled as an ES module, in which require does not work/)
  }
})

test('the standalone output of Turbopack works, from each package manager', async () => {
  // As Next 16.4 leaves it: the files of both packages, without the links of pnpm, and with the
  // path of the project in __filename.
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const layouts = {
    npm: ['node_modules/tokenlane', `node_modules/tokenlane-${PLATFORM}`],
    pnpm: [
      `node_modules/.pnpm/tokenlane@${version}/node_modules/tokenlane`,
      `node_modules/.pnpm/tokenlane-${PLATFORM}@${version}/node_modules/tokenlane-${PLATFORM}`,
    ],
  }
  for (const [manager, [own, platform]] of Object.entries(layouts)) {
    const place = fs.mkdtempSync(path.join(folder, `standalone-${manager}-`))
    fs.cpSync(path.join(modules, 'tokenlane'), path.join(place, own), { recursive: true })
    copyOwnPackages(path.join(place, path.dirname(own)), OWN)
    fs.cpSync(path.join(modules, `tokenlane-${PLATFORM}`), path.join(place, platform), { recursive: true })
    const define = { __filename: JSON.stringify(`/ROOT/${own}/lib/package-root.js`) }
    const chunks = path.join(place, '.next', 'server')
    fs.mkdirSync(chunks, { recursive: true })
    fs.copyFileSync(await bundle('cjs', { define }), path.join(chunks, 'bundled.cjs'))
    fs.symlinkSync(path.join('..', own), path.join(place, '.next', 'external'), 'junction')
    fs.writeFileSync(
      path.join(chunks, 'external.cjs'),
      CODE.cjs
        .replaceAll("'@tokenlane/tiktoken'", `'../../${path.dirname(own)}/@tokenlane/tiktoken/index.js'`)
        .replaceAll("'tokenlane'", "'../external'"),
    )
    for (const chunk of ['bundled', 'external']) {
      const server = path.join(place, `${chunk}.cjs`)
      fs.writeFileSync(server, `require('./.next/server/${chunk}.cjs')`)
      const output = run(server, os.tmpdir())
      assert.equal(output, '4 2\n', `${manager}, ${chunk}: ${output}`)
    }
  }
})

test('a package of another version is refused', async () => {
  const file = await bundle('cjs')
  const manifest = path.join(modules, 'tokenlane', 'package.json')
  const content = fs.readFileSync(manifest, 'utf8')
  fs.writeFileSync(manifest, content.replace(/"version": "[^"]+"/, '"version": "99.0.0"'))
  try {
    assertBundled(run(file), /it is bundled in version \d+\.\d+\.\d+, and \S+tokenlane has version 99\.0\.0/)
  } finally {
    fs.writeFileSync(manifest, content)
  }
})

test('without the platform package the error says that it is missing', async () => {
  const platform = path.join(modules, `tokenlane-${PLATFORM}`)
  const file = await bundle('cjs')
  fs.renameSync(platform, `${platform}.away`)
  try {
    assert.match(run(file), new RegExp(`ERR_TOKENLANE_ADDON_MISSING|the package tokenlane-${PLATFORM} is missing`))
  } finally {
    fs.renameSync(`${platform}.away`, platform)
  }
})

test('the optional package of the hub is not needed for a build, and reported when it is used', async () => {
  const entry = path.join(project, 'hub.cjs')
  fs.writeFileSync(
    entry,
    "require('tokenlane').Tokenizer.fromPretrained('a/b', { cacheDir: __dirname + '/none', token: false }).catch(({ code }) => console.log(code))",
  )
  const outfile = path.join(project, 'dist', 'hub.cjs')
  const { warnings } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile,
    logLevel: 'silent',
  })
  assert.deepEqual(warnings, [])
  assert.equal(run(outfile), 'ERR_TOKENLANE_PACKAGE_MISSING\n')
})
