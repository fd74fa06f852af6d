// The platforms of npm/, and how this repository builds each of them on one Linux machine.

import path from 'node:path'

import { root } from '../setup.mjs'

/** All builds and packages of `npm run maintain platforms` are below this folder. */
export const folder = path.join(root, 'target', 'platforms')

/** The only function that an addon exports. */
export const ENTRY = 'napi_register_module_v1'

/**
 * A platform: `name` is its folder in npm/, and `target` is Rust's name for it. `built` is the name
 * of this machine's build. It differs for Windows, because the release workflow uses MSVC and this
 * machine uses a GNU tool chain.
 *
 * @typedef {object} Platform
 * @property {string} name
 * @property {string} built
 * @property {string} target
 * @property {'zig' | 'mingw'} tool
 */

/** @type {Platform[]} */
export const PLATFORMS = [
  // The suffix is the version of glibc that zig links against.
  { name: 'linux-x64-gnu', built: 'linux-x64-gnu', target: 'x86_64-unknown-linux-gnu.2.17', tool: 'zig' },
  { name: 'linux-arm64-gnu', built: 'linux-arm64-gnu', target: 'aarch64-unknown-linux-gnu.2.17', tool: 'zig' },
  { name: 'linux-x64-musl', built: 'linux-x64-musl', target: 'x86_64-unknown-linux-musl', tool: 'zig' },
  { name: 'linux-arm64-musl', built: 'linux-arm64-musl', target: 'aarch64-unknown-linux-musl', tool: 'zig' },
  { name: 'darwin-x64', built: 'darwin-x64', target: 'x86_64-apple-darwin', tool: 'zig' },
  { name: 'darwin-arm64', built: 'darwin-arm64', target: 'aarch64-apple-darwin', tool: 'zig' },
  { name: 'win32-x64-msvc', built: 'win32-x64-gnu', target: 'x86_64-pc-windows-gnu', tool: 'mingw' },
  { name: 'win32-arm64-msvc', built: 'win32-arm64-gnullvm', target: 'aarch64-pc-windows-gnullvm', tool: 'zig' },
]

/** The folder with the addon of a platform. */
export const builtFolder = ({ built }) => path.join(folder, 'built', built)

/** The path of the addon of a platform. */
export const addonOf = (platform) => path.join(builtFolder(platform), `tokenlane.${platform.built}.node`)
