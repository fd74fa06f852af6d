// Platforms without a package of their own: the error names @tokenlane/web, which runs there.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { copyOwnPackages } from '../support/own-packages.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-platforms-')))
after(() => fs.rmSync(folder, { recursive: true, force: true }))

const installed = path.join(folder, 'node_modules', 'tokenlane')
fs.mkdirSync(installed, { recursive: true })
for (const name of ['package.json', 'index.js', 'native.js'])
  fs.copyFileSync(path.join(root, name), path.join(installed, name))
fs.cpSync(path.join(root, 'lib'), path.join(installed, 'lib'), { recursive: true })
copyOwnPackages(path.join(folder, 'node_modules'))

/** What loading the package prints on a platform, with this C library if it is Linux. */
function loaded(platform, arch, glibc) {
  const code = `
    Object.defineProperty(process, 'platform', { value: ${JSON.stringify(platform)} })
    Object.defineProperty(process, 'arch', { value: ${JSON.stringify(arch)} })
    process.report.getReport = () => ({ header: { glibcVersionRuntime: ${JSON.stringify(glibc)} }, sharedObjects: [] })
    try {
      console.log(typeof require('tokenlane').Tokenizer)
    } catch ({ code, message }) {
      console.log(code, message)
    }`
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8' })
  return stdout.trim() || stderr
}

const WITHOUT = [
  ['freebsd', 'x64', 'freebsd-x64'],
  ['freebsd', 'arm64', 'freebsd-arm64'],
  ['openbsd', 'x64', 'openbsd-x64'],
  ['sunos', 'x64', 'sunos-x64'],
  ['aix', 'ppc64', 'aix-ppc64'],
  ['android', 'arm64', 'android-arm64'],
  ['win32', 'ia32', 'win32-ia32-msvc'],
  ['linux', 'ia32', 'linux-ia32-gnu', '2.36'],
  ['linux', 'arm', 'linux-arm-gnu', '2.36'],
  ['linux', 'arm', 'linux-arm-musl'],
  ['linux', 'riscv64', 'linux-riscv64-gnu', '2.36'],
  ['linux', 's390x', 'linux-s390x-gnu', '2.36'],
  ['linux', 'loong64', 'linux-loong64-gnu', '2.36'],
]

test('the error on a platform without a package names the part that runs there', () => {
  for (const [platform, arch, name, glibc] of WITHOUT) {
    assert.equal(
      loaded(platform, arch, glibc),
      `ERR_TOKENLANE_ADDON_MISSING tokenlane has no addon for this machine, ${name}. ` +
        'Install and import @tokenlane/web, which is WebAssembly and runs everywhere, on one thread.',
    )
  }
})

test('the error on each platform with a package names the package, not WebAssembly', () => {
  for (const name of fs.readdirSync(path.join(root, 'npm'))) {
    const [platform, arch, abi] = name.split('-')
    const message = loaded(platform, arch, abi === 'gnu' ? '2.36' : undefined)
    assert.ok(message.startsWith('ERR_TOKENLANE_ADDON_MISSING '), message)
    assert.ok(message.includes(`Run "npm install tokenlane-${name}"`), message)
    assert.doesNotMatch(message, /wasm/)
  }
})
