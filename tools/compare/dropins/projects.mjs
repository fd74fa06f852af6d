#!/usr/bin/env node
// Runs published packages with the original tokenizers and with the drop-ins in their place, and
// compares what they return. Install the packages outside of this repository:
//
//   npm install --prefix /tmp/projects openai-gpt-token-counter@1.1.2 openai-chat-tokens@0.2.8 \
//     gpt-tokens@1.3.14 @langchain/textsplitters@1.0.2 @langchain/core
//   usage: node tools/compare/dropins/projects.mjs /tmp/projects

import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

import '../../model-entries.mjs'
import { stop } from '../../setup.mjs'

const [folder] = process.argv.slice(2)
if (folder === undefined) stop('the folder of the packages is missing: node tools/compare/dropins/projects.mjs FOLDER')
const own = createRequire(fileURLToPath(new URL('../../../package.json', import.meta.url)))
const SWAPPED = /^(tiktoken|js-tiktoken|gpt-tokenizer)(\/|$)/

/** The packages of the folder, each loaded anew, with the drop-ins in place of the originals. */
function loader(isSwapped) {
  const Module = own('node:module')
  const load = createRequire(path.resolve(folder, 'package.json'))
  const resolve = Module._resolveFilename
  return (name) => {
    for (const file of Object.keys(own.cache)) if (file.startsWith(path.resolve(folder))) delete own.cache[file]
    Module._resolveFilename = (request, ...rest) =>
      isSwapped && SWAPPED.test(request) ? own.resolve(`tokenlane/${request}`) : resolve(request, ...rest)
    try {
      return load(name)
    } finally {
      Module._resolveFilename = resolve
    }
  }
}

const TEXT = "The quick brown fox — naïve 日本語 👋🏽\n\n  jumps over 12345 lazy dogs, DON'T they?\t<b>".repeat(30)
const CHAT = [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', name: 'ann', content: 'What is the weather in Paris? 🌦️' },
  { role: 'assistant', content: '', function_call: { name: 'weather', arguments: '{"city":"Paris"}' } },
  { role: 'function', name: 'weather', content: '{"degrees": 21}' },
]
const TEXTS_ONLY = CHAT.slice(0, 2)
const FUNCTIONS = [
  {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', required: ['city'], properties: { city: { type: 'string', description: 'A city' } } },
  },
]

const PROJECTS = {
  'openai-gpt-token-counter': (load) => {
    const counter = load('openai-gpt-token-counter')
    const { chat, text } = counter.default ?? counter
    return ['gpt-4o', 'gpt-5', 'gpt-5-mini', 'gpt-4', 'gpt-3.5-turbo', 'o1', 'gpt-4.1'].flatMap((model) => [
      () => chat(TEXTS_ONLY, model),
      () => chat([], model),
      () => chat([{ role: 'user', content: TEXT }], model),
      () => text(TEXT, model),
      () => text('<|im_start|>user', model),
    ])
  },
  'openai-chat-tokens': (load) => {
    const { functionsTokensEstimate, messageTokensEstimate, promptTokensEstimate, stringTokens } =
      load('openai-chat-tokens')
    return [
      () => stringTokens(TEXT),
      ...CHAT.map((message) => () => messageTokensEstimate(message)),
      () => functionsTokensEstimate(FUNCTIONS),
      () => promptTokensEstimate({ messages: CHAT }),
      () => promptTokensEstimate({ messages: CHAT, functions: FUNCTIONS }),
      () => promptTokensEstimate({ messages: CHAT, functions: FUNCTIONS, function_call: { name: 'weather' } }),
    ]
  },
  'gpt-tokens': (load) => {
    const { GPTTokens } = load('gpt-tokens')
    const tools = FUNCTIONS.map((one) => ({ type: 'function', function: one }))
    const usage = (options) => () => {
      const { completionUsedTokens, promptUsedTokens, usedTokens, usedUSD } = new GPTTokens(options)
      return [completionUsedTokens, promptUsedTokens, usedTokens, usedUSD]
    }
    return ['gpt-4o', 'gpt-4', 'gpt-3.5-turbo', 'o1', 'o3-mini'].flatMap((model) => [
      usage({ model, messages: TEXTS_ONLY }),
      usage({ model, messages: TEXTS_ONLY, tools }),
      usage({ model, messages: [...TEXTS_ONLY, { role: 'assistant', content: TEXT }] }),
      usage({ model, training: { data: [{ messages: TEXTS_ONLY }], epochs: 3 } }),
      () => GPTTokens.contentUsedTokens(model, TEXT),
    ])
  },
  '@langchain/textsplitters': (load) => {
    const { RecursiveCharacterTextSplitter, TokenTextSplitter } = load('@langchain/textsplitters')
    const { Tiktoken } = load('js-tiktoken/lite')
    return ['cl100k_base', 'o200k_base', 'gpt2'].flatMap((name) => {
      // The splitter itself downloads ranks.
      const tokenizer = new Tiktoken(load(`js-tiktoken/ranks/${name}`))
      return [
        [64, 0],
        [100, 20],
        [7, 3],
      ].flatMap(([chunkSize, chunkOverlap]) => [
        async () => {
          const splitter = new TokenTextSplitter({ encodingName: name, chunkSize, chunkOverlap })
          splitter.tokenizer = tokenizer
          return (await splitter.createDocuments([TEXT])).map(({ pageContent }) => pageContent)
        },
        () => {
          const lengthFunction = (text) => tokenizer.encode(text).length
          return new RecursiveCharacterTextSplitter({ chunkSize, chunkOverlap, lengthFunction }).splitText(TEXT)
        },
      ])
    })
  },
}

/** Results and errors as text; errors by their messages. */
async function outcome(call) {
  try {
    return JSON.stringify(await call())
  } catch (error) {
    return `error: ${error.message}`
  }
}

let failed = false
for (const [name, calls] of Object.entries(PROJECTS)) {
  const [before, after] = [calls(loader(false)), calls(loader(true))]
  const differing = []
  for (const [index, call] of before.entries()) {
    const [wanted, found] = [await outcome(call), await outcome(after[index])]
    if (wanted !== found)
      differing.push(`${call}\n  original ${wanted.slice(0, 200)}\n  drop-in  ${found.slice(0, 200)}`)
  }
  console.log(`${name}: ${before.length} calls, ${differing.length} differ`)
  for (const difference of differing.slice(0, 5)) console.log(difference)
  failed ||= differing.length > 0
}
process.exit(failed ? 1 : 0)
