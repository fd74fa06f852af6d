// npm run maintain -- fit-requests [FILE... [TOKENIZER]]: fits the constants of
// packages/requests/prices to requests whose usage was recorded, and writes the table of
// docs/guide/requests.md.
//
// A request is counted as a sum: what rules give, and amounts of parts times their constants. Both
// numbers of each recording are in __test__/testdata/chat/recorded-usage.jsonl, without its texts.
// FILEs (.jsonl), which tools/data/recorded_requests.py prints, are measured again, with the
// requests in __test__/testdata/chat/usage.json, and replace it; those to Gemini with TOKENIZER,
// the tokenizer.json of Gemma 3.
//
// The constants of a family have the least sum of absolute errors (the weighted median of each
// part, in turn), so a recording that is wrong changes nothing. A part that a family has too few
// recordings of takes the constant of its pool of families.
//
// The errors that are written are those of projects that were left out: the constants that count
// a recording were fitted without the recordings of its project.

import fs from 'node:fs'
import path from 'node:path'
import readline from 'node:readline'
import { fileURLToPath } from 'node:url'

import { Tokenizer } from 'tokenlane'
import { measureRequest } from '../../packages/requests/src/request.js'
import { tokensOf } from '../../packages/requests/src/tally.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

const USAGE = path.join(root, '__test__/testdata/chat/usage.json')
const MEASURED = path.join(root, '__test__/testdata/chat/recorded-usage.jsonl')
const GUIDE = path.join(root, 'docs/guide/requests.md')
/** Constants that OpenAI documents. The result of a tool is a message. */
const DOCUMENTED = { message: 3, name: 1, functionResult: 1, result: 3 }
/** Texts of OpenAI's models are counted exactly. Constants of Claude have fractions. */
/** Recordings of a part below which all families together say more. */
const FEW = 3
/**
 * Parts in which the families of a pool differ: what the provider adds. How it writes what the
 * caller sends hardly differs.
 */
const OWN = {
  gemini: /^(message|system|image|smallImage|page|second|declaration)(@|$)/,
  openai: /^(tools|hosted.*|format|text|earlier)(@|$)/,
  anthropic: /^(tools|toolsForced|hosted.*|format|text|thinking.*)(@|$)/,
}
/** Parts in which they may differ. */
const LOOSE =
  /^(signature|call|turn|parallel|parallelTurn|line|noteOfParameters|earlier|encrypted|serial|choice.*|tool_choice)$/
/** Recordings that the constant of the pool weighs as much as. */
const OWN_PRIOR = 2
const PRIOR = 20
const PROVIDERS = {
  openai: { step: (part) => (part === 'encrypted' ? 0.001 : 1), fixed: DOCUMENTED, own: OWN.openai },
  gemini: { step: (part) => (part.endsWith('ignature') ? 0.001 : 0.1), fixed: {}, own: OWN.gemini },
  // Thoughts of earlier turns are not sent to older models, as Anthropic documents.
  anthropic: {
    step: (part) => (part === 'character' ? 0.001 : 0.01),
    fixed: { earlierThought: 0 },
    own: OWN.anthropic,
  },
}
/** Images, pages and seconds of audio, as Google documents them, or as its API reports them. */
const GEMINI_MEDIA = {
  'gemini-2.0': { smallImage: 258, image: 1290, page: 258, second: 25 },
  'gemini-2.5': { smallImage: 258, image: 258, page: 258, second: 32 },
  'gemini-3': { smallImage: 1088, image: 1088, page: 526, second: 25 },
}
/** An error within which a count is as good as exact. */
const SLACK = 2
/** Families in which texts have about the same tokens. A later pool starts from the one before. */
const GROUPS = { openai: ['chat', 'responses'], anthropic: ['messages'], gemini: ['contents'] }
/** The newer tokenizers of Claude make more tokens of the same texts. */
const NEWER = {
  pools: ['new', 'five'],
  factor: 1.3,
  parts:
    /^(tool|toolText|toolSchema|call|callField|callText|result|thought|formatSchema|document|citations|citedSentence)$/,
}
const POOLS = ['older', 'old', 'harmony', 'new', 'five', 'gemini-2.5', 'gemini-3', 'gemini-2.0']
/** Beyond this a recording is of something else: its usage was invented, or a page was added. */
const FOREIGN = 0.4

const files = process.argv.slice(2).filter((name) => name.endsWith('.jsonl'))
const geminiFile = process.argv.slice(2).find((name) => !name.endsWith('.jsonl'))
const loaded = new Map()
function tokenizerOf(model) {
  if (!loaded.has(model)) {
    try {
      loaded.set(model, model === geminiFile ? Tokenizer.fromFileSync(model) : Tokenizer.forModelSync(model))
    } catch {
      loaded.set(model, undefined)
    }
  }
  return loaded.get(model)
}

async function* recordings(files) {
  for (const { source, api, model, tokens, body } of JSON.parse(fs.readFileSync(USAGE, 'utf8')).requests) {
    const project = /^github\.com\/([^/]+\/[^/,]+)/.exec(source)?.[1] ?? source
    const licence = project.includes('/') ? 'see the project' : 'a published figure'
    yield {
      project,
      source,
      licence,
      api: api === 'responses' ? 'openai-responses' : 'openai-chat',
      model,
      tokens,
      body,
    }
  }
  for (const file of files)
    for await (const line of readline.createInterface({ input: fs.createReadStream(file) })) {
      const recording = JSON.parse(line)
      if (['openai', 'azure', 'anthropic', 'gemini'].includes(recording.provider)) yield recording
    }
}

/** What is not in the body: pages and files that the provider reads, and stored conversations. */
const isIncomplete = ({ reason, part }) =>
  /not in the request|unknown size|partTokens/.test(reason) || part === 'hosted'

/** A recording as its parts, or undefined. */
function measured({ project, source, licence, date, api, model, tokens, body }) {
  if (api === 'gemini') return measuredGemini({ project, source, licence, date, model, tokens, body })
  const isAnthropic = api === 'anthropic'
  if (!isAnthropic && api !== 'openai-chat' && api !== 'openai-responses') return undefined
  const named = /^(ft:|gpt|o\d|claude)/.test(body.model ?? '') ? body.model : model
  if (isAnthropic !== /claude/.test(named)) return undefined
  const tokenizer = isAnthropic ? tokenizerOf('gpt-4o') : tokenizerOf(named)
  if (tokenizer === undefined) return undefined
  let result
  try {
    result = measureRequest(tokenizer, { ...body, model: named }, { api, partTokens: () => 0 })
  } catch {
    return undefined
  }
  const { tally } = result
  if (tally.notes().some(isIncomplete) || isForeign(body)) return undefined
  const provider = isAnthropic ? 'anthropic' : 'openai'
  const fixed = Math.round(result.tokens - tokensOf(tally))
  const group = isAnthropic ? 'messages' : tally.api
  const { name, fitWith = name, pool } = tally.family
  return {
    ...{ project, source, licence, date: date?.slice(0, 16), provider, group, family: fitWith, pool },
    ...{ tokens, fixed, amounts: tally.amounts, isEstimate: tally.notes().length > 0 },
  }
}

/** Requests to Gemini are measured with its vocabulary, whose file is not in this repository. */
function measuredGemini({ project, source, licence, date, model, tokens, body }) {
  if (geminiFile === undefined) return undefined
  let result
  try {
    result = measureRequest(tokenizerOf(geminiFile), { ...body, model }, { api: 'gemini' })
  } catch {
    return undefined
  }
  const { tally } = result
  // Some projects cut the signatures of thoughts off, whose tokens were counted.
  const isCut = /"thought_?signature":"[^"]{0,60}"/i.test(JSON.stringify(body))
  if (tally.notes().some(isIncomplete) || isCut) return undefined
  const { name, pool } = tally.family
  return {
    ...{
      project,
      source,
      licence,
      date: date?.slice(0, 16),
      provider: 'gemini',
      group: 'contents',
      family: name,
      pool,
    },
    ...{ tokens, fixed: Math.round(result.tokens - tokensOf(tally)), amounts: tally.amounts, isEstimate: true },
  }
}

/** Bodies with fields and blocks for which servers of the provider add texts. */
const isForeign = (body) =>
  /"(mcp_servers|container|defer_loading|server_tool_use|container_upload|compaction|context_management)":/.test(
    JSON.stringify(body, (_, value) => (typeof value === 'string' && value.length > 100 ? '' : value)),
  ) || /"type":"(server_tool_use|tool_reference|redacted_thinking)"/.test(JSON.stringify(body))

const sumOf = ({ fixed, amounts }, prices) =>
  Object.entries(amounts).reduce((sum, [part, amount]) => sum + amount * (prices[part] ?? 0), fixed)

function groupBy(rows, nameOf) {
  const groups = new Map()
  for (const row of rows) groups.set(nameOf(row), [...(groups.get(nameOf(row)) ?? []), row])
  return groups
}

/** Each project weighs as much as the square root of its recordings. */
function weighted(rows) {
  const counts = groupBy(rows, ({ project }) => project)
  return rows.map((row) => ({
    ...row,
    weight: 1 / Math.max(row.tokens, 50) / Math.sqrt(counts.get(row.project).length),
  }))
}

/** The constants with the least sum of absolute errors, from constants to start with. */
function fitted(rows, start, { step, fixed, own: isOwn }) {
  const priorOf = (part) => (isOwn.test(part) || LOOSE.test(part) ? OWN_PRIOR : PRIOR)
  const prices = { ...start, ...fixed }
  const used = weighted(rows)
  const parts = [...new Set(used.flatMap(({ amounts }) => Object.keys(amounts)))].filter((part) => !(part in fixed))
  const having = new Map(parts.map((part) => [part, used.filter(({ amounts }) => part in amounts)]))
  const free = parts.filter((part) => having.get(part).length >= (part in start ? 1 : FEW))
  solve(used, free, prices, (part) => (part in start ? priorOf(part) : 0.01))
  for (let round = 0; round < 30; round++) {
    let moved = 0
    for (const part of free) {
      const points = having.get(part).map((row) => {
        const amount = row.amounts[part]
        const others = sumOf(row, prices) - amount * (prices[part] ?? 0)
        return [(row.tokens - others) / amount, row.weight * Math.abs(amount)]
      })
      const own = points.reduce((sum, [, weight]) => sum + weight, 0) / points.length
      if (part in start) points.push([start[part], own * priorOf(part)])
      const price = Math.round(median(points) / step(part)) * step(part)
      moved += Math.abs(price - (prices[part] ?? 0))
      prices[part] = Number(price.toFixed(3))
    }
    if (moved < 0.01) break
  }
  return prices
}

function median(points) {
  points.sort(([a], [b]) => a - b)
  const half = points.reduce((sum, [, weight]) => sum + weight, 0) / 2
  let sum = 0
  return points.find(([, weight]) => (sum += weight) >= half)[0]
}

/** Least absolute errors by least squares whose weights shrink with the errors; writes prices. */
function solve(rows, parts, prices, priorOf) {
  const n = parts.length
  const start = parts.map((part) => prices[part] ?? 0)
  const others = { ...prices, ...Object.fromEntries(parts.map((part) => [part, 0])) }
  const points = rows.map((row) => ({
    columns: parts.flatMap((part, i) => (part in row.amounts ? [[i, row.amounts[part]]] : [])),
    y: row.tokens - sumOf(row, others),
    weight: row.weight,
  }))
  const counts = parts.map((part) => rows.filter(({ amounts }) => part in amounts).length)
  let values = start
  for (let round = 0; round < 25; round++) {
    const matrix = parts.map(() => new Float64Array(n + 1))
    for (const { columns, y, weight: own } of points) {
      let error = y
      for (const [i, amount] of columns) error -= amount * values[i]
      const weight = own / Math.max(Math.abs(error), 0.2)
      for (const [i, amount] of columns) {
        const line = matrix[i]
        for (const [j, other] of columns) line[j] += weight * amount * other
        line[n] += weight * amount * y
      }
    }
    // What few recordings have stays near the constants of the pool.
    matrix.forEach((line, i) => {
      const pull = (line[i] * priorOf(parts[i])) / counts[i] + 1e-12
      line[i] += pull
      line[n] += pull * start[i]
    })
    values = gauss(matrix)
  }
  parts.forEach((part, i) => {
    prices[part] = values[i]
  })
}

function gauss(matrix) {
  const n = matrix.length
  for (let i = 0; i < n; i++) {
    let pivot = i
    for (let k = i + 1; k < n; k++) if (Math.abs(matrix[k][i]) > Math.abs(matrix[pivot][i])) pivot = k
    ;[matrix[i], matrix[pivot]] = [matrix[pivot], matrix[i]]
    for (let k = i + 1; k < n; k++) {
      const factor = matrix[k][i] / matrix[i][i]
      for (let j = i; j <= n; j++) matrix[k][j] -= factor * matrix[i][j]
    }
  }
  const values = new Array(n).fill(0)
  for (let i = n - 1; i >= 0; i--) {
    let rest = matrix[i][n]
    for (let j = i + 1; j < n; j++) rest -= matrix[i][j] * values[j]
    values[i] = rest / matrix[i][i]
  }
  return values
}

/** Only models that reason take more for calls of the current turn. */
function rulesOf(provider, pool) {
  const rules = PROVIDERS[provider]
  const fixed = pool === 'older' ? { turn: 0, parallelTurn: 0 } : GEMINI_MEDIA[pool]
  return { ...rules, fixed: { ...rules.fixed, ...fixed } }
}

/** Parts of which each family has a constant of its own, under names of their own. */
const ofFamily = (parts, family, isOwn) =>
  Object.fromEntries(
    Object.entries(parts).map(([part, value]) => [
      isOwn.test(part) && !part.includes('@') ? `${part}@${family}` : part,
      value,
    ]),
  )

const ownOf = (parts, family) =>
  Object.fromEntries(
    Object.entries(parts).flatMap(([part, value]) =>
      part.endsWith(`@${family}`) ? [[part.split('@')[0], value]] : [],
    ),
  )

const scaled = (prices) =>
  Object.fromEntries(
    Object.entries(prices).map(([part, price]) => [part, NEWER.parts.test(part) ? price * NEWER.factor : price]),
  )

/** The constants of no family: of parts with one for each, their middle. */
function averaged(parts) {
  const entries = Object.entries(parts)
  return Object.fromEntries(
    Array.from(
      groupBy(entries, ([part]) => part.split('@')[0]),
      ([part, values]) => [
        part,
        quantile(
          values.map(([, value]) => value),
          0.5,
        ),
      ],
    ),
  )
}

/** The constants of each family; first those of its pool, in which texts have the same tokens. */
function fitFamilies(rows, provider) {
  const pools = {}
  const families = {}
  let start = {}
  let old
  for (const [pool, some] of [...groupBy(rows, (row) => row.pool)].sort(
    ([a], [b]) => POOLS.indexOf(a) - POOLS.indexOf(b),
  )) {
    const rules = rulesOf(provider, pool)
    if (NEWER.pools.includes(pool)) start = scaled(old ?? start)
    const marked = some.map((row) => ({ ...row, amounts: ofFamily(row.amounts, row.family, rules.own) }))
    const names = [...new Set(some.map(({ family }) => family))]
    const first = Object.assign({}, start, ...names.map((family) => ofFamily(start, family, rules.own)))
    const together = fitted(marked, first, rules)
    pools[pool] = start = averaged(together)
    if (pool === 'old') old = start
    for (const [family, own] of groupBy(some, (row) => row.family))
      families[family] = fitted(own, { ...start, ...ownOf(together, family) }, rules)
  }
  return { pools, families }
}

/** The rows with their counts, by constants that were fitted without their project. */
function leftOut(rows, provider) {
  const projects = [...new Set(rows.map(({ project }) => project))]
  return projects.flatMap((project) => {
    const others = fitFamilies(
      rows.filter((row) => row.project !== project),
      provider,
    )
    return counts(
      rows.filter((row) => row.project === project),
      others,
    )
  })
}

/** The rows with their counts. */
const counts = (rows, { pools, families }) =>
  rows.map((row) => ({
    ...row,
    counted: Math.max(1, Math.round(sumOf(row, { ...pools[row.pool], ...families[row.family] }))),
  }))

const errorOf = ({ counted, tokens }) => {
  const error = Math.abs(counted - tokens)
  return error <= SLACK ? 0 : error / tokens
}
const quantile = (values, part) =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))]
const share = (rows, limit) => rows.filter((row) => errorOf(row) <= limit).length / rows.length
const percent = (value) => `${(100 * value).toFixed(1)} %`

/** A line of the table. */
function lineOf(name, rows) {
  const projects = new Set(rows.map(({ project }) => project)).size
  const errors = rows.map(errorOf)
  const figures = [quantile([...errors], 0.5), quantile(errors, 0.95), share(rows, 0.03), share(rows, 0.1)].map(percent)
  return `| ${[name, rows.length, projects, ...figures].join(' | ')} |`
}

/** Writes the constants, numbers of recordings and errors of a group of families. */
function write(list, rows, provider) {
  const { pools, families } = fitFamilies(rows, provider)
  const counted = leftOut(rows, provider)
  for (const family of list) {
    const name = family.fitWith ?? family.name
    const own = counted.filter((row) => row.family === name)
    const prices = { ...pools[family.pool], ...families[name] }
    const parts = Object.keys(prices).sort()
    family.error = Number(quantile((own.length < FEW ? counted : own).map(errorOf), 0.95).toFixed(3))
    family.parts = Object.fromEntries(
      parts.map((part) => {
        const having = own.filter(({ amounts }) => part in amounts)
        const judged = having.length < FEW ? counted.filter(({ amounts }) => part in amounts) : having
        const error = judged.length === 0 ? undefined : Number(quantile(judged.map(errorOf), 0.95).toFixed(3))
        return [part, { tokens: Number(prices[part].toFixed(3)), recordings: having.length, error }]
      }),
    )
  }
  return counted
}

/** Measures the recordings in files, and writes what was measured. */
async function measure(files) {
  const rows = new Map()
  for await (const recording of recordings(files)) {
    const row = measured(recording)
    if (row === undefined) continue
    const { project, group, family, tokens, fixed, amounts } = row
    const key = JSON.stringify([project, group, family, tokens, fixed, amounts])
    if (!rows.has(key)) rows.set(key, row)
  }
  fs.writeFileSync(MEASURED, Array.from(rows.values(), (row) => `${JSON.stringify(row)}\n`).join(''))
  return [...rows.values()]
}

const rows =
  files.length > 0
    ? await measure(files)
    : fs
        .readFileSync(MEASURED, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
const lines = [
  '| family | recordings | projects | median error | 95th percentile | within 3 % | within 10 % |',
  '|---|---|---|---|---|---|---|',
]
const judged = []
for (const provider of Object.keys(PROVIDERS)) {
  const file = path.join(root, `packages/requests/prices/${provider}.json`)
  const prices = JSON.parse(fs.readFileSync(file, 'utf8'))
  for (const group of GROUPS[provider]) {
    const { families } = provider === 'openai' ? prices[group] : prices
    const own = rows.filter((row) => row.provider === provider && row.group === group)
    const all = fitFamilies(own, provider)
    const foreign = counts(own, all).filter((row) => errorOf(row) > FOREIGN)
    const kept = own.filter(
      (row) => !foreign.some(({ source, tokens }) => source === row.source && tokens === row.tokens),
    )
    const counted = write(families, kept, provider)
    judged.push(...counted)
    for (const { name } of families) {
      const some = counted.filter(({ family }) => family === name)
      if (some.length === 0) continue
      lines.push(lineOf(`${name}${provider === 'openai' ? `, ${group}` : ''}`, some))
    }
    console.log(provider, group, 'recordings', kept.length, 'foreign', foreign.length)
  }
  fs.writeFileSync(file, `${JSON.stringify(prices, undefined, 1)}\n`)
}
console.log(`${rows.length} different recordings of ${new Set(rows.map(({ project }) => project)).size} projects`)
const estimates = judged.filter(({ isEstimate }) => isEstimate)
for (const [name, some] of [
  ['all', judged],
  ['all with estimates', estimates],
])
  lines.push(lineOf(name, some))
console.log(lines.join('\n'))
const guide = fs.readFileSync(GUIDE, 'utf8')
const marks = /(<!-- fit-requests -->\n)[\s\S]*?(<!-- \/fit-requests -->)/
if (marks.test(guide)) fs.writeFileSync(GUIDE, guide.replace(marks, `$1\n${lines.join('\n')}\n\n$2`))
if (process.env.WORST)
  fs.writeFileSync(process.env.WORST, judged.map((row) => JSON.stringify({ ...row, error: errorOf(row) })).join('\n'))
