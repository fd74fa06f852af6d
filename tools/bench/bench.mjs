#!/usr/bin/env node
// npm run bench: measures tokenlane's speed from JavaScript. Downloads corpora first if they are
// missing, and builds the addon.
//
//   usage: npm run bench -- [--encoding NAME …] [--tokenizer FILE …] [--corpus FILE …]
//                           [--reps N] [--out FOLDER]
//
// Writes benchmarks.md to docs/measurements/ or FOLDER. Each measurement is a process of its own.
// Repetitions iterate over all measurements, so that a busy phase of the machine does not affect a
// single one.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { execFile } from 'node:child_process'

import { corpus, corpusNames } from './corpora.mjs'
import { figures, key } from './figures.mjs'
import { markdown } from './report.mjs'
import { buildForSpeed, checkCompilers, checkNode, install, root, stop } from '../setup.mjs'

const ENCODINGS = ['o200k_base']
const run = promisify(execFile)

const options = commandLine()
checkNode()
checkCompilers()
install()
buildForSpeed()

const tokenizers = [
  ...options.encoding.map((name) => ({ name, source: { encoding: name } })),
  ...options.tokenizer.map((file) => ({ name: nameOf(file), source: { file: path.resolve(file) } })),
]
const corpora = options.corpus.length > 0 ? options.corpus.map(ownCorpus) : await fetched()
const jobs = figures(tokenizers, corpora)
const samples = await measure(jobs)
const results = { tokenizers, corpora, samples, reps: options.reps, command: command() }

fs.mkdirSync(options.out, { recursive: true })
fs.writeFileSync(path.join(options.out, 'benchmarks.md'), markdown(results))
console.log(`Written: ${path.relative('.', options.out) || '.'}/benchmarks.md`)

function commandLine() {
  const usage =
    'usage: npm run bench -- [--encoding NAME …] [--tokenizer FILE …] [--corpus FILE …] [--reps N] [--out FOLDER]'
  const many = /** @type {const} */ ({ type: 'string', multiple: true })
  try {
    const { values } = parseArgs({
      options: {
        encoding: many,
        tokenizer: many,
        corpus: many,
        reps: { type: 'string', default: '5' },
        out: { type: 'string', default: path.join(root, 'docs', 'measurements') },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help) {
      console.log(usage)
      process.exit(0)
    }
    const reps = Number(values.reps)
    if (!Number.isInteger(reps) || reps < 1) stop(`--reps must be a whole number, 1 or more, not ${values.reps}`)
    const { tokenizer = [], corpus = [] } = values
    for (const file of [...tokenizer, ...corpus]) if (!fs.existsSync(file)) stop(`the file ${file} does not exist`)
    const encoding = values.encoding ?? (tokenizer.length > 0 ? [] : ENCODINGS)
    return { encoding, tokenizer, corpus, reps, out: path.resolve(values.out) }
  } catch (error) {
    return stop(`${error.message}\n${usage}`)
  }
}

/** The name of a file in tables. tokenizer.json files have the name of their folder. */
function nameOf(file) {
  const { dir, base, name } = path.parse(path.resolve(file))
  return base === 'tokenizer.json' ? path.basename(dir) : name
}

function ownCorpus(file) {
  return { name: path.parse(file).name, about: path.basename(file), file: path.resolve(file) }
}

async function fetched() {
  try {
    return await Promise.all(corpusNames.map(corpus))
  } catch (error) {
    return stop(`${error.message}\nWith --corpus FILE nothing is downloaded.`)
  }
}

/** Runs every job `reps` times. Returns the printed results by the key of the job. */
async function measure(jobs) {
  const samples = new Map(jobs.map((job) => [key(job), []]))
  const worker = path.join(root, 'tools', 'bench', 'worker.mjs')
  for (let rep = 0; rep < options.reps; rep++) {
    for (const [at, job] of jobs.entries()) {
      progress(`${rep * jobs.length + at + 1} of ${options.reps * jobs.length}: ${key(job)}`)
      try {
        const { stdout } = await run(process.execPath, [worker, JSON.stringify(job)], { cwd: root })
        samples.get(key(job)).push(JSON.parse(stdout))
      } catch (error) {
        stop(`\n${key(job)} failed: ${(error.stderr || error.message).trim()}`)
      }
    }
  }
  progress('')
  return samples
}

/** A progress line that overwrites itself on a terminal. */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

function command() {
  const given = process.argv.slice(2).join(' ')
  return given === '' ? 'npm run bench' : `npm run bench -- ${given}`
}
