// Runs both columns of the tables in docs/drop-ins/, which translate calls of other libraries to
// tokenlane's own API, and compares the results.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import '../../tools/model-entries.mjs'
import { Tokenizer, encodingForModel } from '../../index.mjs'
import { bert, bertConfig } from '../support/bert.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-migration-'))
test.after(() => fs.rmSync(folder, { recursive: true, force: true }))
const file = path.join(folder, 'tokenizer.json')
fs.writeFileSync(file, bytesOf(tiny()))

/** Rows without a result to compare: they load, free or write. */
const EFFECTS = /^(new Tiktoken|encoder\.free|original\.save|AutoTokenizer)/

/**
 * The rows of a page's table with one expression on the left, and on the right one expression,
 * optionally followed by a comma and a remark.
 */
function rowsOf(page) {
  const rows = fs
    .readFileSync(new URL(`../../docs/drop-ins/${page}.md`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(/(?<!\\) \| /))
  return rows.flatMap((cells) => {
    const [left, right] = cells.map((cell) => cell.replaceAll('\\|', '|'))
    const [, before] = left.match(/^`([^`]+)`$/) ?? []
    const [, after] = right.match(/^`([^`]+)`(?:$|,)/) ?? []
    return before && after && !EFFECTS.test(before) ? [[before, after]] : []
  })
}

const AsyncFunction = (async () => {}).constructor

/** The value of an expression, as plain arrays. */
async function valueOf(expression, variables) {
  const value = await new AsyncFunction(...Object.keys(variables), `return (${expression})`)(
    ...Object.values(variables),
  )
  const plain = (_, one) => (ArrayBuffer.isView(one) ? Array.from(one) : typeof one === 'bigint' ? Number(one) : one)
  return JSON.parse(JSON.stringify(value, plain))
}

async function compare(page, least, original, tokenizer, texts) {
  const rows = rowsOf(page)
  assert.ok(rows.length >= least, `${rows.length} rows of ${page}`)
  const [text, second] = texts
  const ids = tokenizer.encode(text).ids
  const shared = {
    text,
    second,
    texts,
    special: `${text}<|endoftext|>`,
    ids,
    pairs: texts.toReversed(),
    rows: texts.map((one) => Array.from(tokenizer.encode(one).ids)),
    Buffer,
    TextDecoder,
  }
  for (const [left, right] of rows) {
    const [before, after] = [
      await valueOf(left, { ...shared, ids: left.startsWith('encoder') ? ids : Array.from(ids), ...original }),
      await valueOf(right, { ...shared, messages: original.messages, tokenizer, encodingForModel }),
    ]
    assert.deepEqual(after, before, `${left} is not ${right}`)
  }
}

const TEXTS = ['Hello, wörld! 🚀 it is', 'a second text']

test('the calls of tiktoken', async () => {
  const { get_encoding } = await import('@tokenlane/tiktoken')
  await compare(
    'tiktoken',
    8,
    { encoder: get_encoding('o200k_base') },
    await Tokenizer.fromEncoding('o200k_base'),
    TEXTS,
  )
})

test('the calls of js-tiktoken', async () => {
  const { getEncoding, getEncodingNameForModel } = await import('@tokenlane/js-tiktoken')
  const original = { js: getEncoding('o200k_base'), getEncodingNameForModel, encodingForModel }
  await compare('js-tiktoken', 7, original, await Tokenizer.fromEncoding('o200k_base'), TEXTS)
})

test('the calls of gpt-tokenizer', async () => {
  const { encode, countTokens, isWithinTokenLimit, decode } = await import('@tokenlane/gpt-tokenizer')
  await compare(
    'gpt-tokenizer',
    6,
    { encode, countTokens, isWithinTokenLimit, decode },
    await Tokenizer.fromEncoding('o200k_base'),
    TEXTS,
  )
})

test('the calls of tokenizers', async () => {
  const { Tokenizer: Other } = await import('@tokenlane/tokenizers')
  await compare('tokenizers', 9, { original: Other.fromFile(file) }, await Tokenizer.fromFile(file), [
    'hello he',
    'hell',
  ])
})

test('the calls of @huggingface/transformers', async () => {
  const { AutoTokenizer } = await import('@tokenlane/transformers')
  const model = path.join(folder, 'bert')
  fs.mkdirSync(model)
  const template =
    '{% for message in messages %}{{ message.content }} {{ sep_token }}{% endfor %}{{ add_generation_prompt }}'
  fs.writeFileSync(path.join(model, 'tokenizer.json'), bytesOf(bert()))
  fs.writeFileSync(
    path.join(model, 'tokenizer_config.json'),
    JSON.stringify({ ...bertConfig(), chat_template: template }),
  )
  const original = await AutoTokenizer.from_pretrained(model)
  const tokenizer = await Tokenizer.fromFile(path.join(model, 'tokenizer.json'))
  const messages = [
    { role: 'user', content: 'the sky' },
    { role: 'assistant', content: 'blue' },
  ]
  await compare('transformers', 6, { original, messages }, tokenizer, ['the capital of France', 'a dog'])
})
