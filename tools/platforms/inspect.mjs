// Inspects the addon of a platform without running it: whether the systems that Node 20 supports
// can load it, and whether it has anything of the machine that built it.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'

import { root } from '../setup.mjs'
import { newestGlibc, readElf } from './elf.mjs'
import { readMachO } from './macho.mjs'
import { readPe } from './pe.mjs'
import { ENTRY, addonOf } from './table.mjs'

/** The newest allowed version of glibc. Debian 8 and RHEL 7 have it; Node 20 needs 2.28. */
const NEWEST_GLIBC = [2, 17]
/** The libraries of glibc. */
const GNU_LIBRARIES = /^(lib(c|m|dl|rt|pthread|util)\.so\.\d|ld-linux(-x86-64|-aarch64)\.so\.\d|libgcc_s\.so\.1)$/
const MUSL_LIBRARIES = /^(libc\.so|libc\.musl-\w+\.so\.1|libgcc_s\.so\.1)$/
/** The oldest macOS that Node 20 runs on, and the first one for arm64. */
const OLDEST_MACOS = { x64: '10.15', arm64: '11.0' }
/** Libraries that every macOS has. Rust's libc crate links the second one. */
const MACOS_LIBRARIES = ['/usr/lib/libSystem.B.dylib', '/usr/lib/libiconv.2.dylib', '/usr/lib/libcharset.1.dylib']
/**
 * Libraries that Windows 10 has. It lacks those of a GNU tool chain, such as libwinpthread-1.dll.
 */
const WINDOWS_LIBRARIES =
  /^(kernel32|ntdll|advapi32|userenv|ws2_32|bcrypt|bcryptprimitives|msvcrt|ucrtbase|api-ms-win-(core|crt)-[\w-]+)\.dll$/

/**
 * Inspects the addon of a platform.
 *
 * @param {import('./table.mjs').Platform} platform
 * @returns {{ facts: string[], wrong: string[] }}
 */
export function inspect(platform) {
  return inspectBytes(platform, fs.readFileSync(addonOf(platform)))
}

/** Like {@link inspect}, for bytes. */
export function inspectBytes(platform, bytes) {
  const report = inspectorOf(platform.name)(bytes, platform.name)
  for (const place of foreignPaths()) if (bytes.includes(place)) report.wrong.push(`it has the path ${place}`)
  report.wrong.push(...unknownNodeFunctions(bytes))
  return report
}

function inspectorOf(name) {
  if (name.startsWith('linux')) return linux
  return name.startsWith('darwin') ? macos : windows
}

/** Folders of this machine, whose names must not be in the addon. */
function foreignPaths() {
  return [root, os.homedir(), execFileSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' }).trim()]
}

/**
 * Names of functions that the addon looks up when it is loaded and that the running Node lacks. The
 * running Node should be the oldest supported one.
 */
function unknownNodeFunctions(bytes) {
  const known = nodeFunctions()
  if (known === undefined) return []
  return asked(bytes)
    .filter((name) => !known.has(name))
    .map((name) => `it asks for ${name}, which Node ${process.versions.node} lacks`)
}

/** The functions that the running Node exports; undefined if it is not an ELF file. */
function nodeFunctions() {
  try {
    const { exported } = readElf(fs.readFileSync(process.execPath))
    return new Set(exported)
  } catch {
    return undefined
  }
}

/** The functions that napi-rs looks up. The addon has an error message with the name of each. */
function asked(bytes) {
  const names = bytes.toString('latin1').matchAll(/Node-API symbol (\w+) has not been loaded/g)
  return [...new Set([...names].map(([, name]) => name))]
}

function linux(bytes, name) {
  const elf = readElf(bytes)
  const musl = name.endsWith('musl')
  const newest = newestGlibc(elf.versions)
  const facts = [
    `ELF for ${elf.arch}; needs ${elf.needed.join(', ')}${newest ? `; symbols of glibc ${newest.join('.')} or older` : ''}`,
  ]
  const wrong = [
    !name.includes(`-${elf.arch}-`) && `it is for ${elf.arch}`,
    musl && newest && 'it needs glibc',
    !musl && newest === undefined && 'it needs no glibc',
    !musl &&
      newest !== undefined &&
      isNewer(newest) &&
      `it needs glibc ${newest.join('.')}, newer than ${NEWEST_GLIBC.join('.')}`,
    elf.executableStack && 'its stack is executable',
    elf.textRelocations && 'it writes to its code when it is loaded',
    elf.runPaths.length > 0 && `it looks for libraries in ${elf.runPaths}`,
    elf.exported.join() !== ENTRY && `it exports ${elf.exported.join(', ')}`,
    ...elf.needed
      .filter((library) => !(musl ? MUSL_LIBRARIES : GNU_LIBRARIES).test(library))
      .map((library) => `it needs ${library}`),
  ]
  return { facts, wrong: wrong.filter(Boolean) }
}

/** Whether a version of glibc is newer than the one that is allowed. */
function isNewer([major, minor]) {
  return major > NEWEST_GLIBC[0] || (major === NEWEST_GLIBC[0] && minor > NEWEST_GLIBC[1])
}

function macos(bytes, name) {
  const file = readMachO(bytes)
  const { signature } = file
  const limit = OLDEST_MACOS[file.arch]
  const facts = [
    `Mach-O for ${file.arch}; macOS ${file.minimum}; needs ${file.libraries.join(', ')}`,
    `${file.undefined.length} symbols of other libraries; signature ${signature?.adHoc ? 'ad hoc' : 'missing'}`,
  ]
  const paths = [file.id ?? '', ...file.libraries, ...file.runPaths].filter((place) => place.startsWith('/'))
  const wrong = [
    !name.endsWith(file.arch) && `it is for ${file.arch}`,
    (file.minimum === undefined || isHigher(file.minimum, limit)) &&
      `it needs macOS ${file.minimum}, newer than ${limit}`,
    !file.exported.includes(`_${ENTRY}`) && `it does not export ${ENTRY}`,
    // Unsigned code does not run on arm64.
    signature === undefined ? file.arch === 'arm64' && 'it has no code signature' : signatureFault(signature),
    ...paths.filter((place) => !MACOS_LIBRARIES.includes(place)).map((place) => `it has the absolute path ${place}`),
    ...file.undefined
      .filter((symbol) => !MACOS_LIBRARIES.includes(symbol.library) && !/^_(napi|node_api)_/.test(symbol.name))
      .map((symbol) => `it needs ${symbol.name} of ${symbol.library}`),
  ]
  return { facts, wrong: wrong.filter(Boolean) }
}

function signatureFault({ adHoc, broken, covers }) {
  if (!adHoc) return 'its signature is not ad hoc'
  if (broken > 0) return `the signature does not fit ${broken} pages`
  return !covers && 'the signature does not cover the file'
}

/** Whether a version such as 10.15 is higher than another. */
function isHigher(version, limit) {
  const [[major, minor], [most, mostMinor]] = [version, limit].map((text) => text.split('.').map(Number))
  return major > most || (major === most && minor > mostMinor)
}

function windows(bytes, name) {
  const pe = readPe(bytes)
  const wrong = [
    !name.includes(`-${pe.arch}-`) && `it is for ${pe.arch}`,
    pe.exported.join() !== ENTRY && `it exports ${pe.exported.join(', ')}`,
    !pe.randomized && 'it has a fixed address',
    !pe.noExecute && 'its data can be executed',
    ...pe.libraries.filter((library) => !WINDOWS_LIBRARIES.test(library)).map((library) => `it needs ${library}`),
  ]
  const facts = [`PE for ${pe.arch}; needs ${[...new Set(pe.libraries)].join(', ')}`]
  return { facts, wrong: wrong.filter(Boolean) }
}
