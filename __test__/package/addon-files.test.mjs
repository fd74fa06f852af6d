// The readers of ELF and Mach-O files, and the inspection of addons that this machine cannot run:
// glibc 2.17, macOS 10.15, no path of the machine that built them.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { newestGlibc, readElf } from '../../tools/platforms/elf.mjs'
import { inspect, inspectBytes } from '../../tools/platforms/inspect.mjs'
import { readMachO } from '../../tools/platforms/macho.mjs'
import { PLATFORMS, addonOf } from '../../tools/platforms/table.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const linux = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch)
const here = PLATFORMS.find(({ name }) => name === `linux-${process.arch}-gnu`)
const ENTRY = 'napi_register_module_v1'

test('the addon of this machine, and Node, are read as ELF files', { skip: !linux && 'they are none here' }, () => {
  const name = fs.readdirSync(root).find((name) => /^tokenlane\.linux.*\.node$/.test(name))
  const addon = readElf(fs.readFileSync(path.join(root, name)))
  assert.deepEqual([addon.arch, addon.exported], [process.arch, [ENTRY]])
  assert.deepEqual([addon.executableStack, addon.textRelocations, addon.runPaths], [false, false, []])
  const node = readElf(fs.readFileSync(process.execPath))
  for (const name of ['napi_create_string_utf8', 'napi_create_external_arraybuffer', 'uv_run'])
    assert.ok(node.exported.includes(name), name)
  const { glibcVersionRuntime } = process.report.getReport().header
  if (glibcVersionRuntime !== undefined) {
    const [major, minor] = newestGlibc(node.versions)
    const [, have] = glibcVersionRuntime.split('.').map(Number)
    assert.ok(major === 2 && minor <= have, `Node needs ${major}.${minor}, and runs with ${glibcVersionRuntime}`)
  }
})

test('the newest version of glibc is found by its numbers', () => {
  assert.deepEqual(newestGlibc(['GLIBC_2.9', 'GLIBC_2.17', 'GLIBC_2.2.5', 'GCC_4.2']), [2, 17])
  assert.equal(newestGlibc(['GCC_4.2']), undefined)
})

test('an addon that needs a newer glibc, or another library, is refused', { skip: !linux && 'for Linux' }, () => {
  // Node itself needs glibc 2.28 and libstdc++, and is no addon.
  const { wrong } = inspectBytes(here, fs.readFileSync(process.execPath))
  assert.ok(
    wrong.some((what) => /^it needs glibc 2\.\d+, newer than 2\.17$/.test(what)),
    wrong.join('\n'),
  )
  assert.ok(wrong.some((what) => /^it exports .*napi_create_string_utf8/.test(what)))
  const swapped = { ...here, name: process.arch === 'x64' ? 'linux-arm64-gnu' : 'linux-x64-gnu' }
  assert.ok(inspectBytes(swapped, fs.readFileSync(process.execPath)).wrong.includes(`it is for ${process.arch}`))
})

test('other files and cut files are errors', () => {
  for (const read of [readElf, readMachO]) assert.throws(() => read(Buffer.from('this is text')), /this is no/)
  if (linux) assert.throws(() => readElf(fs.readFileSync(process.execPath).subarray(0, 5000)), /cut/)
})

/** A library of macOS with these load commands and one undefined symbol, signed ad hoc or not. */
function machO({ minimum = [11, 0], id = '@rpath/tokenlane.node', symbol = '_malloc', signed = true } = {}) {
  const command = (type, ...parts) => {
    const body = Buffer.concat(parts)
    const size = 8 + Math.ceil(body.length / 8) * 8
    return Buffer.concat([words(type, size), body, Buffer.alloc(size - 8 - body.length)])
  }
  const dylib = (type, name) => command(type, words(24, 0, 0, 0), Buffer.from(`${name}\0`))
  const strings = Buffer.from(`\0_${ENTRY}\0${symbol}\0`)
  const nlist = (at, type, ordinal) => Buffer.concat([words(at), Buffer.from([type, 0, 0, ordinal]), words(0, 0)])
  const symbols = Buffer.concat([nlist(1, 0x0f, 0), nlist(1 + ENTRY.length + 2, 0x01, 1)])
  const commands = (table) => [
    dylib(0xd, id),
    dylib(0xc, '/usr/lib/libSystem.B.dylib'),
    command(0x32, words(1, (minimum[0] << 16) | (minimum[1] << 8), 0, 0)),
    command(0x2, words(table, 2, table + symbols.length, strings.length)),
    ...(signed ? [command(0x1d, words(table + symbols.length + strings.length, 0))] : []),
  ]
  const table = 32 + Buffer.concat(commands(0)).length
  const all = commands(table)
  const head = words(0xfeedfacf, 0x0100000c, 0, 6, all.length, table - 32, 0, 0)
  const file = Buffer.concat([head, ...all, symbols, strings])
  return signed ? Buffer.concat([file, signature(file)]) : file
}

const words = (...numbers) => Buffer.from(Uint32Array.from(numbers).buffer)

/** A signature with the hashes of all pages of 4 KiB. */
function signature(file) {
  const pages = Math.ceil(file.length / 4096)
  const directory = Buffer.alloc(44 + pages * 32)
  const big = { 0: 0xfade0c02, 4: directory.length, 12: 2, 16: 44, 28: pages, 32: file.length }
  for (const [at, value] of Object.entries(big)) directory.writeUInt32BE(value, Number(at))
  directory[36] = 32
  directory[37] = 2
  directory[39] = 12
  for (let page = 0; page < pages; page += 1)
    createHash('sha256')
      .update(file.subarray(page * 4096, (page + 1) * 4096))
      .digest()
      .copy(directory, 44 + page * 32)
  const blob = Buffer.alloc(20)
  const head = { 0: 0xfade0cc0, 4: 20 + directory.length, 8: 1, 16: 20 }
  for (const [at, value] of Object.entries(head)) blob.writeUInt32BE(value, Number(at))
  return Buffer.concat([blob, directory])
}

test('a library of macOS is read, and each fault is named', () => {
  const platform = PLATFORMS.find(({ name }) => name === 'darwin-arm64')
  const faults = (bytes) => inspectBytes(platform, bytes).wrong
  const good = machO()
  assert.deepEqual(faults(good), [])
  const { undefined: needed, exported, minimum } = readMachO(good)
  assert.deepEqual(needed, [{ name: '_malloc', library: '/usr/lib/libSystem.B.dylib' }])
  assert.deepEqual([exported, minimum], [[`_${ENTRY}`], '11.0'])
  assert.deepEqual(faults(machO({ minimum: [15, 0] })), ['it needs macOS 15.0, newer than 11.0'])
  assert.deepEqual(faults(machO({ signed: false })), ['it has no code signature'])
  assert.deepEqual(faults(machO({ id: '/build/libtokenlane.dylib' })), [
    'it has the absolute path /build/libtokenlane.dylib',
  ])
  const changed = Buffer.from(good)
  changed[changed.indexOf('_malloc') + 1] ^= 1
  assert.deepEqual(faults(changed), ['the signature does not fit 1 pages'])
  assert.ok(faults(machO({ id: `${root}x` })).includes(`it has the path ${root}`))
})

const built = PLATFORMS.filter((platform) => fs.existsSync(addonOf(platform)))

test('the builds of npm run maintain platforms have no fault', {
  skip: built.length === 0 && 'there are none: npm run maintain platforms',
}, () => {
  for (const platform of built) assert.deepEqual(inspect(platform).wrong, [], platform.built)
})
