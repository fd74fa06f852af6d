// Hostile jobs for workers: a valid job whose data in the queue, job.json, plan, record or files
// are changed.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

import { idOf } from '../../src/job-file.mjs'

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

const VALUES = [
  ...[-1, 0, 1, 0.5, 2 ** 31, 3e9, 2 ** 32, 2 ** 53, 1e300, null, true, '', '0', 'NaN', '-1', [], {}, [[]], { a: 1 }],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '\0',
    '\x1b[31m\u202e',
    '\ud800',
    '..',
    '../../..',
    '/',
    'x'.repeat(100_000),
  ],
  ...['s3://lake/x', 's3://../x', 'https://127.0.0.1:1/x', 'file:///etc/passwd', '/dev/zero', '/proc/self/mem', '~'],
  JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
]

/** Names by which a job may ask for something in the folder `outside`, which is not allowed. */
const namesOf = (outside, allowed) => [
  path.join(outside, 'secret.jsonl'),
  path.join(outside, 'nothing'),
  path.join(outside, 'tok'),
  path.join(outside, 'tok', 'tokenizer.json'),
  path.relative(allowed, path.join(outside, 'secret.jsonl')),
  path.join(allowed, '..', path.basename(outside), 'secret.jsonl'),
  path.join(allowed, 'link', 'secret.jsonl'),
  path.join(allowed, 'link', 'tok'),
  path.join(allowed, 'linked.jsonl'),
  `${allowed}x/secret.jsonl`,
  outside,
  'openai-community/gpt2',
  'owner/name@../../x',
  'gpt2',
  '/dev/zero',
  '/proc/self/environ',
]

/** Sets a random value of a tree, or removes it. */
function changed(draw, tree, values) {
  const copy = structuredClone(tree)
  const holders = []
  const visit = (value) => {
    if (typeof value !== 'object' || value === null) return
    if (Object.keys(value).length > 0) holders.push(value)
    Object.values(value).forEach(visit)
  }
  visit(copy)
  for (let left = 1 + draw.below(2); left > 0; left--) {
    const holder = draw.of(holders)
    const key = draw.chance(0.05) ? 'more' : draw.of(Object.keys(holder))
    if (key === undefined) continue
    if (draw.chance(0.1)) delete holder[key]
    else holder[key] = draw.of(values)
  }
  return copy
}

function isRegular(place) {
  try {
    return fs.statSync(place).isFile()
  } catch {
    return false
  }
}

/** What can stand where a file is expected. The path is free. */
const SHAPES = {
  pipe: (place) => spawnSync('mkfifo', [place]),
  folder: (place) => fs.mkdirSync(place),
  empty: (place) => fs.writeFileSync(place, ''),
  brackets: (place) => fs.writeFileSync(place, '['.repeat(200_000)),
  quotes: (place) => fs.writeFileSync(place, `"${'x'.repeat(2_000_000)}`),
  large: (place) => fs.writeFileSync(place, '') ?? fs.truncateSync(place, 3 * 2 ** 30),
  zeros: (place) => fs.symlinkSync('/dev/zero', place),
  terminal: (place) => fs.symlinkSync('/dev/tty', place),
  loop: (place) => fs.symlinkSync(path.basename(place), place),
  dangling: (place, { outside }) => fs.symlinkSync(path.join(outside, 'nothing'), place),
  outside: (place, { outside }) => fs.symlinkSync(path.join(outside, path.basename(place)), place),
  secret: (place, { outside }) => fs.symlinkSync(path.join(outside, 'secret.jsonl'), place),
  tokenizer: (place, { outside }) => fs.symlinkSync(path.join(outside, 'tok', 'tokenizer.json'), place),
}

/** The kinds of cases. Each changes the files or the data of `job`, and returns what it did. */
const KINDS = {
  data(draw, job) {
    job.data = changed(draw, job.data, [...VALUES, ...job.names])
    return JSON.stringify(job.data).slice(0, 300)
  },

  jobFile(draw, job) {
    const file = changed(draw, job.file, [...VALUES, ...job.names])
    job.forge(file)
    return `job.json ${JSON.stringify(file).slice(0, 600)}`
  },

  tokenizer(draw, job) {
    const { file } = job
    const name = draw.of([...job.names, 'tok', 'tok/tokenizer.json', 'folder'])
    const place = path.resolve(job.data.base, name)
    const readable = [place, path.join(place, 'tokenizer.json')].find(isRegular)
    const hash = readable === undefined ? file.tokenizer.sha256 : sha256(fs.readFileSync(readable))
    const tokenizer = {
      ...file.tokenizer,
      name,
      kind: draw.of(['file', 'file', 'encoding', 'encoding', 'hub', 'other', '__proto__']),
      encoding: draw.of([undefined, name, 'r50k_base', '../encodings/r50k_base', '__proto__']),
      sha256: hash,
    }
    job.forge({ ...file, tokenizer })
    return `tokenizer ${JSON.stringify(tokenizer)}`
  },

  plan(draw, job) {
    const part = draw.chance(0.5)
      ? changed(draw, job.part, VALUES)
      : { ...job.part, path: draw.of(job.names), rows: draw.of(['json', 'lines', 'files', 'parquet']) }
    const input = path.resolve(job.data.base, String(part.path))
    if (isRegular(input) && draw.chance(0.7)) Object.assign(part, job.rangeOf(input))
    const line = draw.chance(0.9) ? JSON.stringify(part) : draw.of(['{', '[]', 'null', '"', '\ufeff{}', '{}\r'])
    const text = `${line}\n`.repeat(draw.of([1, 1, 1, 2, line.length < 1000 ? 5000 : 2]))
    fs.writeFileSync(job.at('tokens', 'plan.jsonl'), text)
    job.data.from = 0
    job.data.to = draw.of([Buffer.byteLength(text), Buffer.byteLength(text), 1, 3e9])
    return `plan ${text.slice(0, 400)}`
  },

  record(draw, job) {
    const record = changed(draw, job.record, [...VALUES, ...job.names])
    if (draw.chance(0.3))
      record.files = [{ ...job.record.files[0], name: draw.of([...job.names, 'job.json', 'plan.jsonl']) }]
    job.data.name = draw.of(['shard', 'manifest'])
    fs.writeFileSync(job.at('tokens', 'shard-00000000.json'), JSON.stringify(record))
    return `${job.data.name}, record ${JSON.stringify(record).slice(0, 600)}`
  },

  shape(draw, job) {
    const place = draw.of([
      'tokens/job.json',
      'tokens/plan.jsonl',
      'tokens/shard-00000000.json',
      'tokens/shard-00000000.jsonl',
      'tokens',
      'tok/tokenizer.json',
      'tok/tokenizer_config.json',
      'tok',
      'data/0.jsonl',
      'data',
    ])
    const shape = draw.of(Object.keys(SHAPES))
    fs.rmSync(job.at(place), { recursive: true, force: true })
    SHAPES[shape](job.at(place), job)
    job.data.name = draw.chance(0.8) ? 'shard' : 'manifest'
    return `${job.data.name}, ${place} is ${shape}`
  },
}

/**
 * Changes a job at random.
 *
 * @param {ReturnType<typeof import('../../../../tools/check/hostile/random.mjs').random>} draw
 * @param {any} job its folder is a new copy
 * @returns {string} what was done
 */
export function hostile(draw, job) {
  const kind = draw.of(Object.keys(KINDS))
  return `${kind}: ${KINDS[kind](draw, job)}`
}

/** A valid job in a folder, with everything that the cases change. */
export class ValidJob {
  /**
   * @param {string} allowed the folder of the job
   * @param {string} outside a folder that is not allowed
   */
  constructor(allowed, outside) {
    this.at = (...names) => path.join(allowed, ...names)
    this.outside = outside
    this.names = namesOf(outside, allowed)
    const read = (name) => JSON.parse(fs.readFileSync(this.at('tokens', name), 'utf8'))
    this.file = read('job.json')
    this.record = read('shard-00000000.json')
    this.plan = fs.readFileSync(this.at('tokens', 'plan.jsonl'), 'utf8')
    this.part = JSON.parse(this.plan.split('\n')[0])
    const { id, tokenlane } = this.file
    const to = Buffer.byteLength(this.plan.split('\n')[0]) + 1
    this.data = { name: 'shard', id, tokenlane, output: this.at('tokens'), base: allowed, shard: 0, from: 0, to }
  }

  /** Writes a job.json, with the id of its content in the file and in the queue. */
  forge(file) {
    const id = idOf({ tokenizer: {}, ...file })
    fs.writeFileSync(this.at('tokens', 'job.json'), JSON.stringify({ ...file, id }))
    this.data.id = id
  }

  /** The range of a part that is a whole file. */
  rangeOf(file) {
    const bytes = fs.readFileSync(file)
    return { start: 0, end: bytes.length, size: bytes.length, sample: sha256(bytes) }
  }
}
