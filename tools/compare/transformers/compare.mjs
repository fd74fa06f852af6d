#!/usr/bin/env node
// Compares tokenlane/transformers with @huggingface/transformers, call by call, with random texts
// and options, on the tokenizers of some folders. The package is installed to .cache/transformers.
// Where ids, tokens or decoded texts differ, or a row is truncated, PyPI tokenizers 0.23.3 decides
// which result is right.
//
//   usage: node tools/compare/transformers/compare.mjs --python PYTHON [--calls N] [--seed N]
//            [--corpus FOLDER] [--show] FOLDER …
//
// Each FOLDER has folders with a tokenizer.json and a tokenizer_config.json. Tokenizers without a
// config get one from CONFIGS or `configOf`. docs/transformers.md has the result of the last run.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

import * as tokenlane from '../../../dropins/transformers/index.mjs'
import { installInto, root, stop } from '../../setup.mjs'
import { bert as tinyBert, bertConfig as tinyConfig } from '../../../__test__/support/bert.mjs'
import { random as generator } from '../../check/hostile/random.mjs'
import { linesOf, randomCall, randomText } from './texts.mjs'

const { AutoTokenizer, env, Tensor } = tokenlane

const PINNED = '4.3.1'
const cache = path.join(root, '.cache', 'transformers')

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: 'string' },
    calls: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    corpus: { type: 'string' },
    show: { type: 'boolean' },
  },
})
if (positionals.length === 0 || values.python === undefined)
  stop('usage: compare.mjs --python PYTHON [--calls N] [--seed N] [--corpus FOLDER] FOLDER …')

/** Configs of tokenizers that have none. */
const CONFIGS = {
  bert_base_uncased: bert('BertTokenizer', { clean_up_tokenization_spaces: true }),
  w_cased: bert('DistilBertTokenizer', {}),
  u_xlmr_like: {
    tokenizer_class: 'XLMRobertaTokenizer',
    bos_token: '<s>',
    eos_token: '</s>',
    sep_token: '</s>',
    cls_token: '<s>',
    pad_token: '<pad>',
    unk_token: '<unk>',
    model_max_length: 24,
  },
  s_roberta: { tokenizer_class: 'RobertaTokenizer', pad_token: '<pad>', padding_side: 'left' },
  s_clip: { tokenizer_class: 'CLIPTokenizer', pad_token: '<|endoftext|>', model_max_length: 20 },
}
function bert(tokenizer_class, more) {
  return {
    tokenizer_class,
    unk_token: '[UNK]',
    sep_token: '[SEP]',
    pad_token: '[PAD]',
    cls_token: '[CLS]',
    mask_token: { __type: 'AddedToken', content: '[MASK]' },
    model_max_length: 32,
    ...more,
  }
}

const CHATS = [
  [{ role: 'user', content: 'Hello, how are you?' }],
  [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Why is the sky blue?\n' },
    { role: 'assistant', content: ' Rayleigh scattering. ' },
    { role: 'user', content: 'Thanks — naïve 🚀' },
  ],
  [
    { role: 'user', content: 'What is the weather in Paris?' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ type: 'function', function: { name: 'weather', arguments: { city: 'Paris' } } }],
    },
    { role: 'tool', name: 'weather', content: '{"celsius": 21}' },
  ],
]
const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'weather',
      description: 'The weather of a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
]

const peer = await loadPeer()
peer.env.logLevel = peer.LogLevel.ERROR
const lines = linesOf(values.corpus)
const questions = []
const faults = []
const table = []

for (const folder of positionals) {
  for (const name of fs.readdirSync(folder).sort()) {
    const file = path.resolve(folder, name, 'tokenizer.json')
    if (fs.existsSync(file)) table.push(await compare(name, file))
  }
}
table.push(compareClasses(), await compareModels())
decide()
print()
process.exit(faults.length > 0 ? 1 : 0)

async function loadPeer() {
  const place = path.join(cache, 'node_modules', '@huggingface', 'transformers')
  const isThere =
    fs.existsSync(place) && JSON.parse(fs.readFileSync(path.join(place, 'package.json'), 'utf8')).version === PINNED
  if (!isThere) installInto(cache, [`@huggingface/transformers@${PINNED}`], { scripts: false })
  return import(pathToFileURL(path.join(place, 'dist', 'transformers.node.mjs')).href)
}

/** Copies the tokenizer to a folder with a config, which the package needs. */
function folderOf(name, file) {
  const folder = path.join(cache, 'tokenizers', name)
  fs.mkdirSync(folder, { recursive: true })
  fs.copyFileSync(file, path.join(folder, 'tokenizer.json'))
  const config = path.join(path.dirname(file), 'tokenizer_config.json')
  const text = fs.existsSync(config) ? fs.readFileSync(config, 'utf8') : JSON.stringify(CONFIGS[name] ?? configOf(file))
  fs.writeFileSync(path.join(folder, 'tokenizer_config.json'), text)
  return folder
}

/** A config with a token of the file for padding. */
function configOf(file) {
  const { added_tokens: added, model } = JSON.parse(fs.readFileSync(file, 'utf8'))
  const [first] = Array.isArray(model.vocab) ? model.vocab[0] : Object.keys(model.vocab)
  return { pad_token: added.find(({ special }) => special)?.content ?? first, clean_up_tokenization_spaces: false }
}

async function compare(name, file) {
  const folder = folderOf(name, file)
  const row = rowOf(name)
  let theirs
  try {
    theirs = await peer.AutoTokenizer.from_pretrained(folder)
  } catch (failure) {
    return { ...row, refused: failure.message }
  }
  const found = await AutoTokenizer.from_pretrained(folder)
  const subject = { row, file, theirs, ours: found, random: generator(Number(values.seed) + table.length) }
  const added = found._tokenizer.get_added_tokens_decoder()
  subject.sources = { lines, added: [...added.values()].map(({ content }) => content).slice(0, 40) }
  compareFaces(subject)
  for (let index = 0; index < Number(values.calls); index++) {
    env.Tensor = index % 2 === 0 ? Tensor : peer.Tensor
    compareCall(subject, randomCall(subject.random, subject.sources))
    compareText(subject, randomText(subject.random, subject.sources))
  }
  if (theirs.chat_template !== null) for (const chat of CHATS) compareChat(subject, chat)
  return row
}

/** Counts a comparison; a difference is a fault. */
function same(subject, what, expected, actual) {
  subject.row.calls += 1
  try {
    assert.deepEqual(actual, expected)
    subject.row.equal += 1
  } catch {
    subject.row.wrong += 1
    faults.push(`${subject.row.name}: ${what}\n  package   ${shown(expected)}\n  tokenlane ${shown(actual)}`)
  }
}

function shown(value) {
  return JSON.stringify(value)?.slice(0, 400)
}

function compareFaces(subject) {
  const { ours, theirs } = subject
  for (const name of ['mask', 'pad', 'sep', 'unk', 'bos', 'eos'].flatMap((token) => [
    `${token}_token`,
    `${token}_token_id`,
  ])) {
    same(subject, name, theirs[name], ours[name])
  }
  for (const name of [
    'padding_side',
    'model_max_length',
    'chat_template',
    'return_token_type_ids',
    'add_bos_token',
    'add_eos_token',
    'all_special_ids',
    'all_special_tokens',
    'config',
  ]) {
    same(subject, name, theirs[name], ours[name])
  }
  same(subject, 'class', theirs.constructor.name, ours.constructor.name)
  const known = [...theirs.get_vocab()].filter(([token]) => token !== undefined)
  same(subject, 'get_vocab', known, [...ours.get_vocab()])
  const tokens = [...known.slice(0, 500).map(([token]) => token), 'no such token']
  same(subject, 'convert_tokens_to_ids', theirs.convert_tokens_to_ids(tokens), ours.convert_tokens_to_ids(tokens))
}

/**
 * Adds a question that the reference answers at the end. `isRight(answer)` says whether tokenlane
 * is right. `why` is the kind of result that differs from the package, or `cut` for a truncated
 * row, which always differs.
 */
function ask(subject, why, question, isRight) {
  subject.row[why] += 1
  questions.push({ subject, question: { file: subject.file, ...question }, isRight })
  if (values.show && why !== 'cut') console.log(subject.row.name, why, shown(question))
}

function isEqual(one, other) {
  return JSON.stringify(one) === JSON.stringify(other)
}

/**
 * Compares `tokenizer(text, options)`. The reference decides where ids differ or rows are
 * truncated.
 */
function compareCall(subject, { text, options }) {
  const { ours, theirs } = subject
  const texts = [text].flat()
  const pairs = options.text_pair === undefined ? texts.map(() => null) : [options.text_pair].flat()
  const special = options.add_special_tokens ?? true
  const whole = texts.map((one, row) => ours.encode(one, { text_pair: pairs[row], add_special_tokens: special }))
  const theirWhole = texts.map((one, row) => theirs.encode(one, { text_pair: pairs[row], add_special_tokens: special }))
  const [expected, actual] = [theirs, ours].map((tokenizer) => outcome(() => tokenizer(text, options)))
  const isOther = !isEqual(whole, theirWhole)
  if (isOther) {
    subject.row.calls += 1
    texts.forEach((one, row) => {
      if (isEqual(whole[row], theirWhole[row])) return
      const options = { text_pair: pairs[row], add_special_tokens: special, return_token_type_ids: true }
      const { ids, token_type_ids: types } = ours._tokenizer.encode(one, options)
      askRow(subject, 'ids', { text: one, pair: pairs[row], special, truncation: null }, { ids, types })
    })
    return
  }
  if (actual.error !== undefined || expected.error !== undefined) {
    // `outcome` keeps the only message that both libraries have.
    same(subject, `error of ${shown([text, options])}`, expected.error, actual.error)
    return
  }
  // Without a post-processor the package never returns type ids, even if they are requested.
  if (!expected.types && options.return_token_type_ids) delete actual.types
  const masks = actual.mask.map((mask) => mask.filter((one) => one === 1).length)
  const isCut = masks.some((length, row) => length < whole[row].length)
  const face = (one) => [one.dims, one.kinds, one.mask, columns(one)]
  same(subject, `shape of ${shown([text, options])}`, face(expected), face(actual))
  if (!isCut) {
    same(subject, `ids of ${shown([text, options])}`, expected.ids, actual.ids)
    if (!isEqual(expected.types, actual.types))
      actual.types.forEach((_, row) =>
        askRow(subject, 'types', { text: texts[row], pair: pairs[row], special, truncation: null }, own(actual, row)),
      )
    return
  }
  texts.forEach((one, row) => {
    const direction = ours.config.truncation_side ?? 'right'
    const max_length = Math.min(options.max_length ?? Infinity, ours.model_max_length)
    const truncation = { max_length, direction, strategy: 'longest_first' }
    if (masks[row] < whole[row].length)
      askRow(subject, 'cut', { text: one, pair: pairs[row], special, truncation }, own(actual, row))
  })
}

/** Ids and type ids of a row without padding. */
function own({ ids, types, mask }, row) {
  const keep = (list) => list?.[row].filter((_, at) => mask[row][at] === 1)
  return { ids: keep(ids), types: keep(types) }
}

function askRow(subject, why, row, { ids, types }) {
  ask(
    subject,
    why,
    { kind: 'encode', ...row },
    (answer) => isEqual(answer.ids, ids) && (types === undefined || isEqual(answer.types, types)),
  )
}

/** The number of columns. */
function columns({ types }) {
  return types === undefined ? 2 : 3
}

/**
 * A result as lists of rows, or { error }.
 *
 * @returns {any}
 */
function outcome(call) {
  try {
    const result = call()
    const { input_ids: ids, attention_mask: mask, token_type_ids: types } = result
    if (ids.dims !== undefined) {
      const rows = (tensor) => tensor && rowsOf(tensor)
      return {
        dims: ids.dims,
        kinds: [ids.type, mask.type, ids.data.constructor.name, ids.size],
        ids: rows(ids),
        mask: rows(mask),
        types: rows(types),
      }
    }
    const isBatch = Array.isArray(ids[0])
    const rows = (list) => (list === undefined || isBatch ? list : [list])
    return { dims: isBatch, kinds: 'arrays', ids: rows(ids), mask: rows(mask), types: rows(types) }
  } catch (failure) {
    return { error: failure.message.startsWith('Unable to create tensor') ? failure.message : 'error' }
  }
}

/** The rows of a tensor. The package's own `tolist` loses empty rows. */
function rowsOf({ data, dims: [count, width] }) {
  return Array.from({ length: count }, (_, row) => Array.from(data.subarray(row * width, (row + 1) * width), Number))
}

/** Compares `encode`, `tokenize` and decoding for one text. */
function compareText(subject, text) {
  const { ours, theirs, random } = subject
  const special = random.chance(0.5)
  const [expected, actual] = [theirs, ours].map((tokenizer) =>
    tokenizer.tokenize(text, { add_special_tokens: special }),
  )
  if (isEqual(expected, actual)) same(subject, 'tokenize', expected, actual)
  else {
    subject.row.calls += 1
    ask(subject, 'tokens', { kind: 'encode', text, pair: null, special, truncation: null }, (answer) =>
      isEqual(answer.tokens, actual),
    )
  }
  const ids = ours.encode(text, { add_special_tokens: special })
  if (ids.length === 0) return
  const options = {
    skip_special_tokens: random.chance(0.5),
    clean_up_tokenization_spaces: random.of([undefined, true, false]),
  }
  const [before, after] = [theirs, ours].map((tokenizer) => tokenizer.decode(ids, options))
  same(subject, 'batch_decode', [after, after], ours.batch_decode([ids, ids.map(BigInt)], options))
  if (before === after) return same(subject, 'decode', before, after)
  subject.row.calls += 1
  const clean = options.clean_up_tokenization_spaces ?? ours.config.clean_up_tokenization_spaces ?? true
  ask(
    subject,
    'text',
    { kind: 'decode', ids, skip: options.skip_special_tokens, clean },
    (answer) => answer.text === after,
  )
}

function compareChat(subject, chat) {
  const { ours, theirs } = subject
  for (const options of [
    {},
    { add_generation_prompt: true },
    { tools: TOOLS, add_generation_prompt: true },
    { date_string: '1 May 2026', variable: [1] },
  ]) {
    const text = (tokenizer) =>
      tokenizer.apply_chat_template(chat, { tokenize: false, date_string: '2 May 2026', ...options })
    const [expected, actual] = [theirs, ours].map((tokenizer) => chatOutcome(() => text(tokenizer)))
    same(subject, `chat ${shown([chat, options])}`, expected, actual)
    if (actual.error !== undefined) continue
    for (const more of [
      {},
      { return_tensor: false },
      { return_dict: false },
      { padding: 'max_length', max_length: 300, truncation: true },
      { tokenizer_kwargs: { return_token_type_ids: false } },
    ]) {
      const ids = (tokenizer) => tokenizer.apply_chat_template(chat, { date_string: '2 May 2026', ...options, ...more })
      const listed = (value) =>
        JSON.parse(
          JSON.stringify(
            value.dims
              ? value.tolist()
              : Object.fromEntries(Object.entries(value).map(([key, one]) => [key, one.tolist?.() ?? one])),
            (_, one) => (typeof one === 'bigint' ? Number(one) : one),
          ),
        )
      same(subject, `chat ${shown([options, more])}`, listed(ids(theirs)), listed(ids(ours)))
    }
  }
}

/** A row of the printed table. */
function rowOf(name) {
  return { name, calls: 0, equal: 0, wrong: 0, ids: 0, types: 0, tokens: 0, text: 0, cut: 0 }
}

/** Compares the defaults of all classes, and the inputs of a translation model. */
function compareClasses() {
  const subject = { row: rowOf('classes') }
  const names = Object.keys(peer).filter(
    (name) => /Tokenizer$|^TokenizersBackend$/.test(name) && name !== 'AutoTokenizer',
  )
  for (const name of names) {
    const faces = [peer, tokenlane].map((library) => {
      const tokenizer = new library[name](tinyBert(), tinyConfig())
      return [
        tokenizer.constructor.name,
        tokenizer.return_token_type_ids,
        tokenizer.padding_side,
        tokenizer.model_max_length,
      ]
    })
    same(subject, name, ...faces)
    const [expected, actual] = [peer, tokenlane].map((library) =>
      new library[name](tinyBert(), tinyConfig())('a', { return_tensor: false }),
    )
    same(subject, `${name} call`, expected, actual)
  }
  const languages = ['eng_Latn', 'fra_Latn']
  const file = tinyBert()
  languages.forEach((content, index) =>
    file.added_tokens.push({ ...file.added_tokens[0], id: Object.keys(file.model.vocab).length + index, content }),
  )
  file.post_processor.single[0].SpecialToken.id = languages[0]
  file.post_processor.special_tokens[languages[0]] = {
    id: languages[0],
    ids: [file.added_tokens.at(-2).id],
    tokens: [languages[0]],
  }
  const translated = [peer, tokenlane].map(({ NllbTokenizer }) => {
    const tokenizer = new NllbTokenizer(structuredClone(file), tinyConfig())
    return [languages, languages.toReversed(), languages].map(([src_lang, tgt_lang]) => {
      const generate = { src_lang, tgt_lang }
      return [
        tokenizer._build_translation_inputs('the sky', { return_tensor: false }, generate),
        generate,
        tokenizer.language_codes,
      ]
    })
  })
  same(subject, 'translation', ...translated)
  return subject.row
}

/** Runs a model, a pipeline and a streamer of the package with either tokenizer. */
async function compareModels() {
  const folder = path.join(cache, 'tokenizers', 'reranker')
  fs.mkdirSync(path.join(folder, 'onnx'), { recursive: true })
  fs.copyFileSync(path.join(root, '__test__/testdata/overlap-reranker.onnx'), path.join(folder, 'onnx', 'model.onnx'))
  const id2label = { 0: 'relevant' }
  const files = {
    'tokenizer.json': tinyBert(),
    'tokenizer_config.json': tinyConfig(),
    'config.json': { model_type: 'bert', id2label },
  }
  for (const [name, json] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), JSON.stringify(json))
  env.Tensor = peer.Tensor
  const theirs = await peer.AutoTokenizer.from_pretrained(folder)
  const ours = await AutoTokenizer.from_pretrained(folder)
  const subject = { row: rowOf('models of the package') }
  const model = await peer.AutoModelForSequenceClassification.from_pretrained(folder, { dtype: 'fp32' })
  const queries = ['the capital of france', 'bake bread', 'a']
  const passages = ['paris is the capital', 'bread and flour', 'the dog']
  const inputs = { text_pair: passages, padding: true, truncation: true }
  const logits = async (tokenizer) => [...(await model(tokenizer(queries, inputs))).logits.data]
  same(subject, 'a model', await logits(theirs), await logits(ours))
  const pipeline = (tokenizer) => new peer.TextClassificationPipeline({ task: 'text-classification', model, tokenizer })
  const classify = (tokenizer) => pipeline(tokenizer)(queries).catch((failure) => failure.message)
  same(subject, 'a pipeline', await classify(theirs), await classify(ours))
  const streamed = (tokenizer) => {
    const parts = []
    const streamer = new peer.TextStreamer(tokenizer, {
      skip_special_tokens: true,
      callback_function: (text) => parts.push(text),
    })
    for (const id of theirs.encode('the capital of france, bread')) streamer.put([[BigInt(id)]])
    streamer.end()
    return parts
  }
  same(subject, 'a streamer', streamed(theirs), streamed(ours))
  return subject.row
}

function chatOutcome(call) {
  try {
    return { text: call() }
  } catch (failure) {
    return { error: failure.name.length > 0 }
  }
}

/** Lets the reference answer all questions. */
function decide() {
  const input = questions.map(({ question }) => `${JSON.stringify(question)}\n`).join('')
  const script = path.join(root, 'tools', 'compare', 'transformers', 'reference.py')
  const { status, stdout, stderr } = spawnSync(values.python, [script], { input, encoding: 'utf8', maxBuffer: 2 ** 30 })
  if (status !== 0) stop(`the reference failed: ${stderr}`)
  const answers = stdout.trimEnd().split('\n')
  questions.forEach(({ subject, question, isRight }, index) => {
    if (isRight(JSON.parse(answers[index]))) return
    subject.row.wrong += 1
    faults.push(
      `${subject.row.name}: not as tokenizers\n  question  ${shown(question)}\n  reference ${answers[index].slice(0, 400)}`,
    )
  })
}

function print() {
  console.log('| tokenizer | comparisons | equal | other ids | type ids | tokens | text | rows cut | tokenlane wrong |')
  console.log('|---|---|---|---|---|---|---|---|---|')
  for (const { name, refused, ...row } of table) {
    const { calls, equal, ids, types, tokens, text, cut, wrong } = row
    const cells =
      refused === undefined
        ? [calls, equal, ids, types, tokens, text, cut, wrong]
        : [`not loaded by the package: ${refused.slice(0, 60)}`, ...' '.repeat(7)]
    console.log(`| ${[name, ...cells].join(' | ')} |`)
  }
  for (const fault of faults.slice(0, 30)) console.log(`\n${fault}`)
  console.log(`\n${faults.length} differences that are tokenlane's`)
}
