#!/usr/bin/env node
// Gives hostile jobs (job-cases.mjs) to the code that a worker of a queue runs for them. Each has
// to end with a result, or with an error that has a code. Nothing outside of the allowed folder may
// be read or written, and no hub may be asked.
//
//   usage: npm run maintain -- hostile jobs [--count 2000] [--seed 1]

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'

import { bytesOf, tiny } from '../../../../__test__/support/tiny.mjs'
import { root } from '../../../../tools/setup.mjs'
import { isDocumented, runChild, runChildren } from '../../../../tools/check/hostile/child.mjs'
import { ValidJob, hostile } from './job-cases.mjs'
import { random } from '../../../../tools/check/hostile/random.mjs'

const JOBS_PER_CHILD = 500
/** A job that takes longer counts as hanging. */
const MAX_MS = 30_000
const MAX_RSS_MIB = 1024
/** A word that is nowhere but outside. */
const SECRET = 'hello hell'
const TOKEN = 'hf_thisTokenIsSentToNobody'

if (process.argv[2] === '--child') await child(...process.argv.slice(3).map(Number))
else if (process.argv[1] === fileURLToPath(import.meta.url)) main()

function main() {
  const { values } = parseArgs({
    options: { count: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } },
    allowPositionals: true,
  })
  const [count, seed] = [Number(values.count), Number(values.seed)]
  runChildren({ count, seed, perChild: JOBS_PER_CHILD, inChild }, noTotals())
}

function noTotals() {
  return { jobs: 0, done: 0, refused: 0, codes: {}, mostMiB: 0 }
}

/** Runs jobs in a child process. Returns whether it failed, and its totals. */
export function inChild(seed, count) {
  return runChild(fileURLToPath(import.meta.url), seed, count, root)
}

async function child(seed, count) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-hostile-'))
  const asked = []
  const hub = http.createServer((request, response) => asked.push(request.url) && response.writeHead(404).end())
  await new Promise((listening) => hub.listen(0, '127.0.0.1', () => listening(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (hub.address())
  const home = path.join(scratch, 'home')
  Object.assign(process.env, { HF_ENDPOINT: `http://127.0.0.1:${port}`, HF_TOKEN: TOKEN, HF_HOME: home })
  const [valid, outside] = [path.join(scratch, 'valid'), path.join(scratch, 'outside')]
  await prepare(scratch, valid, outside)
  const before = stateOf(outside)
  const hidden = hiddenIn(outside)
  const { Jobs, checkData } = await import('../../src/queue/jobs.mjs')
  const { Allowed } = await import('../../src/store/allowed.mjs')
  const draw = random(seed)
  const totals = noTotals()
  const wrong = []
  const last = fs.openSync(process.env.TOKENLANE_LAST ?? path.join(scratch, 'last'), 'w')
  const allowed = path.join(scratch, 'allowed')
  for (let at = 0; at < count; at++) {
    fs.rmSync(allowed, { recursive: true, force: true })
    fs.cpSync(valid, allowed, { recursive: true, verbatimSymlinks: true })
    const job = new ValidJob(allowed, outside)
    const what = hostile(draw, job)
    fs.writeSync(last, `${at} ${what.slice(0, 150)}`.padEnd(160), 0)
    totals.jobs++
    const jobs = new Jobs({ allowed: new Allowed([allowed]), allowHub: false, concurrency: 1 })
    const report = (problem) => wrong.push(`job ${at} ${what}\n  ${problem}`)
    try {
      await inTime(run(jobs, checkData, job.data))
      totals.done++
    } catch (error) {
      totals.refused++
      totals.codes[error.code] = (totals.codes[error.code] ?? 0) + 1
      if (!isDocumented(error)) report(error.stack)
      if (hidden.some((text) => error.message.includes(text))) report(`tells what is outside: ${error.message}`)
    }
    await jobs.end()
    if (stateOf(outside) !== before) report('something was written outside')
    if (hasSecret(allowed, outside, valid)) report('something outside was read')
    if (asked.length > 0 || fs.existsSync(home)) report(`the hub was asked: ${asked}`)
    if ('polluted' in {}) report('Object.prototype was changed')
  }
  totals.mostMiB = Math.round(process.resourceUsage().maxRSS / 1024)
  if (totals.mostMiB > MAX_RSS_MIB) wrong.push(`${totals.mostMiB} MiB of memory`)
  const left = fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith(`tokenlane-tokenizer-${process.pid}-`))
  if (left.length > 0) wrong.push(`copies of tokenizers are left: ${left}`)
  fs.rmSync(scratch, { recursive: true, force: true })
  hub.close()
  if (wrong.length > 0) {
    console.log(wrong.slice(0, 10).join('\n'))
    process.exitCode = 1
  }
  console.log(JSON.stringify(totals))
}

/** A finished job in the folder `valid`, and the folder that it may not use. */
async function prepare(scratch, valid, outside) {
  const allowed = path.join(scratch, 'allowed')
  for (const folder of [path.join(allowed, 'data'), path.join(allowed, 'tok'), path.join(outside, 'tok')])
    fs.mkdirSync(folder, { recursive: true })
  for (const folder of [allowed, outside]) fs.writeFileSync(path.join(folder, 'tok', 'tokenizer.json'), bytesOf(tiny()))
  fs.appendFileSync(path.join(outside, 'tok', 'tokenizer.json'), '\n')
  fs.writeFileSync(path.join(allowed, 'tok', 'tokenizer_config.json'), '{}')
  for (const number of [0, 1])
    fs.writeFileSync(path.join(allowed, 'data', `${number}.jsonl`), '{"text":"world"}\n'.repeat(20))
  fs.writeFileSync(path.join(outside, 'secret.jsonl'), `{"text":"${SECRET}"}\n`.repeat(20))
  fs.writeFileSync(path.join(outside, '0.jsonl'), `{"text":"${SECRET}"}\n`.repeat(20))
  fs.symlinkSync(outside, path.join(allowed, 'link'))
  fs.symlinkSync(path.join(outside, 'secret.jsonl'), path.join(allowed, 'linked.jsonl'))
  const { tokenizeCorpus } = await import('@tokenlane/corpus')
  const tokenizer = path.join(allowed, 'tok', 'tokenizer.json')
  const inputs = ['0', '1'].map((name) => path.join(allowed, 'data', `${name}.jsonl`))
  const options = { tokenizer, inputs, shardSize: 300, concurrency: 1 }
  await tokenizeCorpus({ ...options, format: 'jsonl', output: path.join(allowed, 'tokens') })
  fs.cpSync(allowed, valid, { recursive: true, verbatimSymlinks: true })
  for (const name of fs.readdirSync(path.join(allowed, 'tokens')))
    fs.copyFileSync(path.join(allowed, 'tokens', name), path.join(outside, name))
}

function run(jobs, checkData, { name, ...data }) {
  checkData(name, data)
  return jobs.checkVersion(data).then(() => (name === 'manifest' ? jobs.manifest(data) : jobs.shard(data, () => {})))
}

async function inTime(work) {
  let timer
  const late = new Promise((_resolve, reject) => (timer = setTimeout(reject, MAX_MS, new Error('it hangs'))))
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Names, sizes and times of all files. */
function stateOf(folder) {
  const names = fs.readdirSync(folder, { recursive: true }).map(String).sort()
  return names.map((name) => `${name} ${describe(fs.lstatSync(path.join(folder, name)))}`).join('\n')
}

function describe({ size, mtimeMs }) {
  return `${size} ${mtimeMs}`
}

/** What no message may have: texts and hashes of the files outside. */
function hiddenIn(outside) {
  const hashes = ['secret.jsonl', 'tok/tokenizer.json'].map((name) => {
    const bytes = fs.readFileSync(path.join(outside, name))
    return createHash('sha256').update(bytes).digest('hex')
  })
  return [SECRET, TOKEN, ...hashes]
}

/** Whether a job wrote tokens of the secret, or counted documents of an input that lies outside. */
function hasSecret(allowed, outside, valid) {
  const folder = path.join(allowed, 'tokens')
  if (!fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false
  return fs.readdirSync(folder).some((name) => {
    const place = path.join(folder, name)
    const stat = fs.lstatSync(place)
    if (!name.startsWith('shard-') || !stat.isFile() || stat.size > 1 << 20) return false
    const text = fs.readFileSync(place, 'utf8')
    const own = path.join(valid, 'tokens', name)
    if (fs.existsSync(own) && fs.readFileSync(own, 'utf8') === text) return false
    // The ids of `hell` and `hello`.
    if (name.endsWith('.jsonl')) return /\b1[01]\b/.test(text)
    return name.endsWith('.json') && namesIn(text).some((input) => isOutside(path.resolve(allowed, input), outside))
  })
}

function namesIn(text) {
  try {
    return Object.entries(JSON.parse(text).sources).flatMap(([name, { documents }]) => (documents > 0 ? [name] : []))
  } catch {
    return []
  }
}

function isOutside(place, outside) {
  try {
    return fs.realpathSync(place).startsWith(outside)
  } catch {
    return false
  }
}
