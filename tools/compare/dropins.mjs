#!/usr/bin/env node
// Compares the drop-ins with their originals, call by call. Install the originals outside of this
// repository:
//
//   npm install --prefix /tmp/originals tiktoken@1.0.22 js-tiktoken@1.0.21 \
//     gpt-tokenizer@4.0.0 tokenizers@0.23.2
//   usage: node tools/compare/dropins.mjs --only js-tiktoken /tmp/originals
//   usage: node tools/compare/dropins.mjs /tmp/originals [tokenizer.json …]
//
// Known differences (docs/drop-ins.md) are excluded and marked below.

import { createRequire } from 'node:module'
import path from 'node:path'
import { parseArgs } from 'node:util'

import '../model-entries.mjs'
import { stop } from '../setup.mjs'

const { positionals, values } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } })
const isWanted = (name) => (values.only ?? name) === name
const [folder, ...files] = positionals
if (folder === undefined)
  stop('the folder of the originals is missing: node tools/compare/dropins.mjs FOLDER [tokenizer.json …]')
const original = createRequire(path.resolve(folder, 'package.json'))
const ours = createRequire(import.meta.url)

const TEXTS = [
  '',
  'a',
  'Hello 👋 world',
  '  x  y ',
  'naïve café\n\n日本語',
  'a'.repeat(50),
  'The quick brown fox. '.repeat(20),
]
TEXTS.push("we're I'LL don't", '  \t\n  ', 'hello fanta', '日', '\u00a0\u2003 x', 'e\u0301 é')
const SPECIAL = ['<|endoftext|> hi', '\ud800x', 'foo<|fim_prefix|>bar<|endofprompt|>']

let compared = 0
const differing = new Map()

/**
 * Compares the results of a call. Error messages are compared only if they are among the original's
 * documented messages (see `outcome`).
 */
function same(what, call) {
  const [wanted, found] = [original, ours].map((_, index) => outcome(() => call(index)))
  compared += 1
  if (wanted !== found && !differing.has(what)) differing.set(what, [wanted, found])
}

async function sameAsync(what, call) {
  const [wanted, found] = await Promise.all([0, 1].map(async (index) => JSON.stringify(await call(index))))
  compared += 1
  if (wanted !== found && !differing.has(what)) differing.set(what, [wanted, found])
}

function outcome(call) {
  try {
    const value = /** @type {any} */ (call())
    return (
      JSON.stringify(value instanceof Uint32Array || value instanceof Uint8Array ? [...value] : value) ?? 'undefined'
    )
  } catch (error) {
    const known =
      /special token|cannot both be|Invalid (model|encoding|value)|Unknown (model|encoding)|byte pair encoder|does not support chat|Content must/
    return known.test(error.message) ? `error: ${error.message}` : 'error'
  }
}

function compareTiktoken() {
  const libraries = [original('tiktoken'), ours('tokenlane/tiktoken')]
  for (const name of ['gpt2', 'r50k_base', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base']) {
    const encoders = libraries.map((library) => library.get_encoding(name, { '<|x|>': 300000 }))
    const [, encoder] = encoders
    for (const text of [...TEXTS, ...SPECIAL]) {
      for (const allowed of [undefined, [], 'all', ['<|endoftext|>'], ['nope'], 'some']) {
        for (const disallowed of [undefined, [], 'all', ['<|endoftext|>'], ['fanta'], 'some']) {
          const call = `encode(${JSON.stringify([text, allowed, disallowed])})`
          same(`tiktoken ${name} ${call}`, (index) => encoders[index].encode(text, allowed, disallowed))
        }
      }
      same(`tiktoken ${name} encode_ordinary`, (index) => encoders[index].encode_ordinary(text))
      const ids = encoder.encode_ordinary(text)
      same(`tiktoken ${name} decode`, (index) => encoders[index].decode(ids))
      for (const id of ids) {
        same(`tiktoken ${name} bytes of ${id}`, (index) => encoders[index].decode_single_token_bytes(id))
        const bytes = encoder.decode_single_token_bytes(id)
        same(`tiktoken ${name} id of ${bytes}`, (index) => encoders[index].encode_single_token(bytes))
      }
      if (text.length > 30 || !['gpt2', 'cl100k_base'].includes(name)) continue
      same(`tiktoken ${name} unstable ${JSON.stringify(text)}`, (index) => {
        const [stable, completions] = encoders[index].encode_with_unstable(text, 'all')
        // Two calls of the original have two orders: they come from a hash map with random keys.
        return [[...stable], completions.map(String).sort()]
      })
    }
    same(`tiktoken ${name} token_byte_values`, (index) => encoders[index].token_byte_values())
  }
  for (const model of [...Object.keys(original('tiktoken/model_to_encoding.json')), 'nope']) {
    same(`tiktoken ${model}`, (index) => libraries[index].get_encoding_name_for_model(model))
  }
  for (const special of SHARED_IDS) {
    const encoders = libraries.map((library) => library.get_encoding('gpt2', special))
    compareShared('tiktoken', encoders, special)
  }
  const { bpe_ranks, special_tokens, pat_str } = original('tiktoken/encoders/cl100k_base.json')
  const custom = libraries.map((library) => new library.Tiktoken(bpe_ranks, special_tokens, pat_str))
  for (const text of TEXTS) same('tiktoken ranks of its own', (index) => custom[index].encode(text, 'all'))
}

/** Special tokens whose ids other tokens have. */
const SHARED_IDS = [
  { '<|im_start|>': 100 },
  { '<|x|>': 50256 },
  { '<|x|>': 60000, '<|y|>': 60000, '<|z|>': 60001 },
  { ' world': 995 },
  { hello: 300, '<|a|>': 300 },
  { '<|x|>': 50257, '<|y|>': 0 },
  { '<|x|>': 4294967295 },
]

function compareShared(name, encoders, special) {
  const tokens = Object.keys(special)
  const texts = [tokens.join('a b'), `hello world${tokens[0]}  hello`, `${tokens[0]}<|endoftext|>${tokens[0]}`]
  for (const text of texts) {
    for (const allowed of ['all', [], [tokens[0]]]) {
      for (const disallowed of [undefined, [], 'all']) {
        const what = `${name} ${JSON.stringify([special, text, allowed, disallowed])}`
        same(what, (index) => encoders[index].encode(text, allowed, disallowed))
      }
    }
  }
  for (const id of Object.values(special).filter((one) => one < 50256))
    same(`${name} ${JSON.stringify(special)} decode ${id}`, (index) => encoders[index].decode(Uint32Array.of(id)))
}

function compareJsTiktoken() {
  const libraries = [original('js-tiktoken'), ours('tokenlane/js-tiktoken')]
  const lite = [original('js-tiktoken/lite'), ours('tokenlane/js-tiktoken/lite')]
  const own = (name) =>
    [original, ours].map((load, index) => load(`${index === 0 ? '' : 'tokenlane/'}js-tiktoken/ranks/${name}`))
  for (const name of ['gpt2', 'r50k_base', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base']) {
    const ranks = own(name)
    const encoders = {
      bundled: libraries.map((library) => library.getEncoding(name, { '<|x|>': 300000 })),
      'own ranks': lite.map(({ Tiktoken }, index) => new Tiktoken(ranks[index])),
      "the original's ranks": lite.map(({ Tiktoken }) => new Tiktoken(ranks[0])),
    }
    for (const [kind, both] of Object.entries(encoders)) {
      for (const text of [...TEXTS, ...SPECIAL]) {
        for (const allowed of [undefined, null, [], 'all', ['<|endoftext|>'], ['nope']]) {
          for (const disallowed of [undefined, null, [], 'all', ['<|endoftext|>'], ['fanta']]) {
            const call = `encode(${JSON.stringify([text, allowed, disallowed])})`
            same(`js-tiktoken ${name} ${kind} ${call}`, (index) => both[index].encode(text, allowed, disallowed))
          }
        }
        const ids = both[1].encode(text, 'all')
        const others = [ids, ids.slice(1), ids.slice(0, -1), [...ids, 10_000_000, -1, 0.5], Uint32Array.from(ids)]
        for (const list of others)
          same(`js-tiktoken ${name} ${kind} decode ${list}`, (index) => both[index].decode(list))
      }
    }
  }
  for (const special of SHARED_IDS) {
    const encoders = libraries.map((library) => library.getEncoding('gpt2', special))
    compareShared('js-tiktoken', encoders, special)
    // Two special tokens of one id: the last one is decoded. In tiktoken the order is not defined.
    for (const id of Object.values(special))
      same(`js-tiktoken ${JSON.stringify(special)} decode ${id}`, (index) => encoders[index].decode([id]))
  }
  for (const model of [...Object.keys(original('tiktoken/model_to_encoding.json')), 'nope', 'constructor']) {
    same(`js-tiktoken ${model}`, (index) => libraries[index].getEncodingNameForModel(model))
  }
  same('js-tiktoken unknown encoding', (index) => libraries[index].getEncoding('nope'))
}

const CHATS = [
  [],
  [{ role: 'user', content: 'Hello 👋' }],
  [{ role: 'system', name: 'bob', content: 'a b' }, { content: 'x' }],
  [
    {
      role: 'assistant',
      content: '',
      channel: 'final',
      recipient: 'functions.x',
      constraint: 'json',
      terminator: '<|call|>',
    },
  ],
  [{ role: 'tool', content: 'q', recipient: 'assistant', recipientPlacement: 'role', channel: 'commentary' }],
  [{ role: 'user' }],
]

const REQUEST = {
  messages: [
    { role: 'system', content: 'x' },
    { role: 'user', content: 'y', name: 'z' },
    { role: 'function', name: 'f', content: '{}' },
  ],
  functions: [
    {
      name: 'f',
      description: 'd',
      parameters: {
        type: 'object',
        properties: {
          a: { type: 'string', enum: ['x', 'y'], description: 'q' },
          b: {
            type: 'array',
            items: { type: 'object', properties: { c: { type: 'integer', description: 'w' }, d: { type: 'null' } } },
          },
          e: { type: 'object' },
        },
        required: ['a'],
      },
    },
  ],
  function_call: { name: 'f' },
}

function compareGptTokenizer() {
  const libraries = [(name) => original(`gpt-tokenizer/${name}`), (name) => ours(`tokenlane/gpt-tokenizer/${name}`)]
  const { encodingNames, chatModelParams } = ours('tokenlane/gpt-tokenizer/mapping')
  const { modelNames } = ours('../../dropins/gpt-tokenizer/internal/models.js')
  for (const name of encodingNames) {
    const encodings = libraries.map((library) => library(`encoding/${name}`))
    for (const ids of [[0, 3e5, 1], [-1], [1.5], [undefined], ['a']])
      same(`gpt-tokenizer ${name} decode ${ids}`, (index) => encodings[index].decode(ids))
    same(`gpt-tokenizer ${name} vocabularySize`, (index) => encodings[index].vocabularySize)
    // The original misses special tokens that follow other text, so only those at the start are
    // compared.
    for (const text of [...TEXTS, ...SPECIAL.slice(0, 2)]) {
      for (const allowedSpecial of [undefined, [], 'all', ['<|endoftext|>'], ['nope']]) {
        for (const disallowedSpecial of [undefined, [], 'all', ['<|endoftext|>'], ['fanta']]) {
          // A call of the original may modify the sets.
          const sets = (value) => (Array.isArray(value) ? new Set(value) : value)
          const options = () => ({ allowedSpecial: sets(allowedSpecial), disallowedSpecial: sets(disallowedSpecial) })
          const what = `gpt-tokenizer ${name} ${JSON.stringify([text, allowedSpecial, disallowedSpecial])}`
          same(`${what} encode`, (index) => encodings[index].encode(text, options()))
          same(`${what} countTokens`, (index) => encodings[index].countTokens(text, options()))
          same(`${what} encodeGenerator`, (index) => [...encodings[index].encodeGenerator(text, options())])
          for (const limit of [0, 3, 100]) {
            same(`${what} isWithinTokenLimit`, (index) => encodings[index].isWithinTokenLimit(text, limit, options()))
          }
        }
      }
      // Only complete characters: after half of one, the next call of the original returns the
      // other half.
      const ids = encodings[1].encode(text, { allowedSpecial: 'all' })
      same(`gpt-tokenizer ${name} decode ${JSON.stringify(text)}`, (index) => encodings[index].decode(ids))
      same(`gpt-tokenizer ${name} decodeGenerator`, (index) => [...encodings[index].decodeGenerator(ids)])
    }
  }
  for (const name of modelNames) {
    const models = libraries.map((library) => library(`model/${name}`))
    same(`gpt-tokenizer ${name}`, (index) => [
      models[index].vocabularySize,
      typeof models[index].countChatCompletionTokens,
    ])
    if (!(name in chatModelParams)) continue
    for (const chat of CHATS) {
      same(`gpt-tokenizer ${name} encodeChat`, (index) => models[index].encodeChat(chat))
      same(`gpt-tokenizer ${name} countTokens`, (index) => models[index].countTokens(chat))
      same(`gpt-tokenizer ${name} isWithinTokenLimit`, (index) => models[index].isWithinTokenLimit(chat, 5))
      same(`gpt-tokenizer ${name} without prime`, (index) =>
        models[index].encodeChat(chat, undefined, { primeWithAssistantResponse: '' }),
      )
    }
    same(`gpt-tokenizer ${name} functions`, (index) => models[index].countChatCompletionTokens?.(REQUEST))
  }
}

const GETTERS = [
  'getLength',
  'getNSequences',
  'getIds',
  'getTypeIds',
  'getAttentionMask',
  'getSpecialTokensMask',
  'getTokens',
  'getOffsets',
  'getSequenceIds',
]

/**
 * All columns of an encoding. If the tokenizer truncated, the original drops parts and renumbers
 * words.
 */
const dump = (encoding, isCut) => [
  ...GETTERS.map((name) => encoding[name]()),
  isCut ? [] : [encoding.getWordIds(), encoding.getOverflowing().map((part) => dump(part)), spans(encoding)],
]

const spans = (encoding) =>
  [0, 1, 2, 5, 9].map((at) => [
    encoding.charToToken(at),
    encoding.charToWord(at),
    encoding.wordToTokens(at),
    encoding.wordToChars(at),
    encoding.tokenToChars(at),
    encoding.tokenToWord(at),
    encoding.tokenToSequence(at),
  ])

const SETTINGS = {
  nothing: () => {},
  truncation: (tokenizer) => tokenizer.setTruncation(8, { stride: 1 }),
  'left truncation': (tokenizer) => tokenizer.setTruncation(8, { direction: 'left' }),
  'truncation and padding': (tokenizer) => {
    tokenizer.setTruncation(5)
    tokenizer.setPadding({ padToMultipleOf: 8, padToken: '<p>', padId: 3 })
  },
  'left padding': (tokenizer) => tokenizer.setPadding({ maxLength: 12, direction: 'left' }),
  'added tokens': (tokenizer) => {
    tokenizer.addTokens(['foo', 'Hello'])
    tokenizer.addSpecialTokens(['<x>'])
  },
}

async function compareHuggingFace(file) {
  const libraries = [original('tokenizers'), ours('tokenlane/huggingface')]
  for (const [setting, set] of Object.entries(SETTINGS)) {
    const name = `tokenizers ${path.basename(path.dirname(file))} ${setting}`
    const isCut = setting.includes('truncation')
    const tokenizers = libraries.map((library) => library.Tokenizer.fromFile(file))
    tokenizers.forEach(set)
    same(`${name} sizes`, (index) => [true, false].map((all) => tokenizers[index].getVocabSize(all)))
    same(`${name} tokens`, (index) => [
      tokenizers[index].idToToken(5),
      tokenizers[index].tokenToId('Hello'),
      tokenizers[index].tokenToId('no such'),
    ])
    for (const text of [...TEXTS, SPECIAL[0]]) {
      const encode = (index, ...args) => tokenizers[index].encode(text, ...args)
      await sameAsync(`${name} encode ${text}`, async (index) => dump(await encode(index), isCut))
      await sameAsync(`${name} pair ${text}`, async (index) => dump(await encode(index, 'a pair'), isCut))
      await sameAsync(`${name} bare ${text}`, async (index) =>
        dump(await encode(index, null, { addSpecialTokens: false }), isCut),
      )
      const ids = (await encode(1)).getIds()
      for (const skip of [true, false])
        await sameAsync(`${name} decode ${text}`, (index) => tokenizers[index].decode(ids, skip))
      if (isCut) continue
      for (const [length, stride, direction] of [[3, 1, 'left'], [3, 0, 'right'], [0], [2, 1]]) {
        await sameAsync(`${name} truncate and pad ${text}`, async (index) => {
          const encoding = await encode(index)
          encoding.truncate(length, stride, direction)
          const cut = dump(encoding)
          encoding.pad(9, { direction: 'left', padId: 4 })
          return [cut, dump(encoding)]
        })
      }
      for (const growing of [true, false]) {
        await sameAsync(`${name} merge ${text}`, async (index) => {
          const both = [await encode(index), await tokenizers[index].encode('x y')]
          return dump(libraries[index].mergeEncodings(both, growing))
        })
      }
    }
    await sameAsync(`${name} batch`, async (index) =>
      (await tokenizers[index].encodeBatch(TEXTS)).map((one) => dump(one, isCut)),
    )
  }
}

if (isWanted('tiktoken')) compareTiktoken()
if (isWanted('js-tiktoken')) compareJsTiktoken()
if (isWanted('gpt-tokenizer')) compareGptTokenizer()
for (const file of files) await compareHuggingFace(path.resolve(file))

console.log(`${compared} calls compared, ${differing.size} kinds of them differ`)
for (const [what, [wanted, found]] of [...differing].slice(0, 20)) {
  console.log(`\n${what}\n  original ${wanted?.slice(0, 300)}\n  tokenlane ${found?.slice(0, 300)}`)
}
process.exit(differing.size > 0 ? 1 : 0)
