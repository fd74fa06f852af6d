// The errors of an addon that does not load: it is missing, the runtime does not permit it, or the
// system cannot load it.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { copyOwnPackages } from '../support/own-packages.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-loader-')))
after(() => fs.rmSync(folder, { recursive: true, force: true }))

const ADDON = fs.readdirSync(root).find((name) => /^tokenlane\..*\.node$/.test(name))
const PLATFORM = ADDON.split('.')[1]

let made = 0

/**
 * Creates a project with the package and one platform package with these bytes. Returns the path of
 * a script in it that loads the package.
 */
function project({ platform = PLATFORM, addon, version = '0.1.0' } = {}) {
  const place = path.join(folder, `project-${(made += 1)}`)
  const installed = path.join(place, 'node_modules', 'tokenlane')
  fs.mkdirSync(installed, { recursive: true })
  for (const name of ['package.json', 'index.js', 'native.js'])
    fs.copyFileSync(path.join(root, name), path.join(installed, name))
  for (const name of ['lib', 'encodings'])
    fs.cpSync(path.join(root, name), path.join(installed, name), { recursive: true })
  copyOwnPackages(path.join(place, 'node_modules'))
  if (addon !== undefined) {
    const beside = path.join(place, 'node_modules', `tokenlane-${platform}`)
    fs.mkdirSync(beside)
    fs.writeFileSync(
      path.join(beside, 'package.json'),
      JSON.stringify({ name: `tokenlane-${platform}`, version, main: 'a.node' }),
    )
    fs.writeFileSync(path.join(beside, 'a.node'), addon)
  }
  const script = path.join(place, 'script.cjs')
  const code = `try {
    console.log(require('tokenlane').Tokenizer.fromEncodingSync('r50k_base').count('hello world'))
  } catch ({ code, message }) {
    console.log(code, message)
  }`
  fs.writeFileSync(script, code)
  return script
}

const REAL = fs.readFileSync(path.join(root, ADDON))

function run(script, args = [], command = process.execPath) {
  const { stdout, stderr } = spawnSync(command, [...args, script], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', NAPI_RS_NATIVE_LIBRARY_PATH: undefined },
  })
  return stdout || stderr
}

test('an installed addon loads', () => {
  assert.equal(run(project({ addon: REAL })), '2\n')
})

test('the error for a missing addon says how to install it', () => {
  assert.match(
    run(project()),
    new RegExp(
      `^ERR_TOKENLANE_ADDON_MISSING tokenlane has no addon for this machine: the package tokenlane-${PLATFORM} is missing\\. Run "npm install tokenlane-${PLATFORM}"`,
    ),
  )
  // Like node_modules that were copied from another system.
  const other = PLATFORM === 'win32-arm64-msvc' ? 'darwin-x64' : 'win32-arm64-msvc'
  assert.match(
    run(project({ platform: other, addon: REAL })),
    new RegExp(`^ERR_TOKENLANE_ADDON_MISSING .* tokenlane-${other} is installed, but it is for another platform\\.`),
  )
})

test('an addon of another version is refused, with both versions', () => {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const message = run(project({ addon: REAL, version: '99.0.0' }))
  const start = `ERR_TOKENLANE_ADDON_VERSION tokenlane ${version} found its addon, tokenlane-${PLATFORM}, in version 99.0.0: both must be the same.`
  assert.ok(message.startsWith(start), message)
  assert.ok(message.includes(`npm install tokenlane@${version} tokenlane-${PLATFORM}@${version}`))
  // The variable that the check uses does not stay.
  const script = project({ addon: REAL })
  fs.appendFileSync(script, "\nconsole.log('NAPI_RS_ENFORCE_VERSION_CHECK' in process.env)")
  assert.equal(run(script), '2\nfalse\n')
})

test('the error for an addon that the system cannot load says that it is installed', () => {
  const damaged = run(project({ addon: 'this is no library' }))
  assert.match(
    damaged,
    /^ERR_TOKENLANE_ADDON_LOAD tokenlane's addon .* is installed, but this system cannot load it: ./,
  )
  assert.doesNotMatch(damaged, /missing|npm install tokenlane/)
  // Messages of the loaders of glibc and musl.
  const words = [
    "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.99' not found",
    'Error relocating a.node: __memcpy_chk: symbol not found',
    'libc.musl-x86_64.so.1: cannot open shared object file',
  ]
  for (const said of words) {
    const script = project({ addon: 'x' })
    const preload = path.join(path.dirname(script), 'preload.cjs')
    fs.writeFileSync(
      preload,
      `require('node:module')._extensions['.node'] = () => { throw Object.assign(new Error(${JSON.stringify(said)}), { code: 'ERR_DLOPEN_FAILED' }) }`,
    )
    const message = run(script, ['-r', preload])
    assert.match(message, /^ERR_TOKENLANE_ADDON_LOAD .*It was built for another C library \(glibc or musl\)/)
    assert.ok(message.includes(said), message)
  }
})

test('the error for an addon that Node does not permit names the flag', () => {
  const script = project({ addon: REAL })
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission'
  const read = '--allow-fs-read=*'
  const answer = (args) => run(script, ['--no-warnings', ...args])
  const denied = answer([permission, read])
  assert.match(
    denied,
    /^ERR_TOKENLANE_ADDON_NOT_PERMITTED .*permission model does not allow addons\. Run with --allow-addons\n$/,
  )
  assert.doesNotMatch(denied, /missing|npm install/)
  assert.equal(answer([permission, read, '--allow-addons']), '2\n')
  assert.match(
    answer(['--no-addons']),
    /^ERR_TOKENLANE_ADDON_NOT_PERMITTED .*runs with --no-addons\. Run with --addons\n$/,
  )
  // Everything is readable except the loader and the addon.
  const tokenlane = path.join(path.dirname(script), 'node_modules', 'tokenlane')
  const some = [script, ...['package.json', 'index.js', 'lib'].map((name) => path.join(tokenlane, name))].map(
    (place) => `--allow-fs-read=${place}`,
  )
  assert.match(
    answer([permission, ...some, '--allow-addons']),
    /^ERR_TOKENLANE_ADDON_NOT_PERMITTED .*does not allow FileSystemRead of .*tokenlane.*\. Run with --allow-fs-read=.*tokenlane/,
  )
})

const DENO = [
  process.env.DENO_PATH,
  path.join(root, '.cache', 'runtimes', 'deno-latest', 'node_modules', 'deno', 'deno'),
].find((place) => place && fs.existsSync(place))

test('the error for an addon that Deno does not permit names the flag', {
  skip:
    DENO === undefined &&
    'there is no Deno: "npm run maintain -- runtimes --only deno" gets one, or say where one is with DENO_PATH',
}, () => {
  const script = project({ addon: REAL })
  const answer = (...flags) => run(script, ['run', '--no-prompt', '--quiet', ...flags], DENO)
  const denied = answer('--allow-read', '--allow-env')
  assert.match(
    denied,
    /^ERR_TOKENLANE_ADDON_NOT_PERMITTED .*Deno does not allow ffi access to ".*"\. Run with --allow-ffi\n$/,
  )
  assert.doesNotMatch(denied, /missing|npm install/)
  assert.match(answer('--allow-read'), /^ERR_TOKENLANE_ADDON_NOT_PERMITTED .*Run with --allow-env --allow-ffi\n$/)
  assert.equal(answer('--allow-read', '--allow-env', '--allow-ffi'), '2\n')
})
