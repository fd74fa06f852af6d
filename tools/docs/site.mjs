#!/usr/bin/env node
// npm run maintain -- site: writes the page of `tokenlane inspect --web` as a static site over
// @tokenlane/web, which needs no server but one for files.
//
//   usage: npm run maintain -- site [FOLDER]     (default: target/site)
//
// Needs packages/web/dist: npm run maintain -- web

import fs from 'node:fs'
import path from 'node:path'

import { build } from 'esbuild'

import { root, stop } from '../setup.mjs'

const folder = path.resolve(process.argv[2] ?? path.join(root, 'target', 'site'))
if (!fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'core.mjs')))
  stop('packages/web/dist is missing: run "npm run maintain -- web" first')
if (fs.existsSync(folder) && !fs.existsSync(path.join(folder, 'api.mjs')) && fs.readdirSync(folder).length > 0)
  stop(`${folder} has other files than those of a site`)

fs.rmSync(folder, { recursive: true, force: true })
fs.cpSync(path.join(root, 'packages', 'page', 'page'), folder, { recursive: true })
await build({
  entryPoints: { api: path.join(root, 'tools', 'docs', 'site-api.mjs') },
  outdir: folder,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // An encoding is a file of its own, which is loaded when it is chosen.
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  keepNames: true,
  logLevel: 'warning',
})
const bytes = fs.readdirSync(folder).map((name) => fs.statSync(path.join(folder, name)).size)
console.log(`${folder}: ${bytes.length} files, ${bytes.reduce((sum, one) => sum + one, 0)} bytes`)
