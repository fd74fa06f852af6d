// The options of each call are those of its typings. Both lists are written by hand.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'

import * as corpus from '@tokenlane/corpus'
import * as completions from '@tokenlane/completions'
import * as requests from '@tokenlane/requests'

import { Tokenizer, memory } from '../../index.mjs'
import { folderWithTokenizer } from '../support/cli.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = folderWithTokenizer()
const gpt = Tokenizer.fromEncodingSync('r50k_base')
const chatOfOpenAi = Tokenizer.fromEncodingSync('o200k_base')
const withTemplate = Tokenizer.fromFileSync(`${folder}/tiny.json`, { chatTemplate: '{{ messages[0].content }}' })
const messages = [{ role: 'user', content: 'a' }]
const file = `${folder}/tiny.json`
const bytes = Buffer.from(gpt.toBuffer())
/** The arguments before the options of each call. */
const FIRST = {
  ...{ fromFile: [file], fromFileSync: [file], fromBuffer: [bytes], fromBufferSync: [bytes] },
  ...{ fromPretrained: ['a/b'], fromEncoding: ['r50k_base'], fromEncodingSync: ['r50k_base'] },
  ...{ forModel: ['gpt-4'], forModelSync: ['gpt-4'], encode: ['a'], encodeBatch: [['a']], encodeBatchSync: [['a']] },
  ...{ count: ['a'], countBatch: [['a']], countBatchSync: [['a']], isWithin: ['a', 1] },
  ...{ encodeInto: ['a', new Uint32Array(1)], truncate: ['a', 1], split: ['a'], splitAsync: ['a'] },
  ...{
    live: ['a'],
    encodeChunks: [['a']],
    encodeStream: [['a']],
    countStream: [['a']],
    applyChatTemplate: [messages],
    countChat: [messages],
  },
  ...{
    countRequest: [gpt, { messages }],
    fitChat: [gpt, messages],
    decode: [[1]],
    decodeBytes: [[1]],
    decodeBatch: [[[1]]],
  },
  ...{ decodeWithOffsets: [[1]], decodeStream: [[1]], extendTokenizer: [gpt], pruneTokenizer: [gpt] },
  ...{ completionStream: [undefined], parseCompletion: [undefined, ''] },
  ...{ verifyCorpus: [folder], cleanCorpus: [folder], writeReport: [folder, file] },
}

const PACKAGES = { corpus, requests, completions }
const FILES = ['', ...Object.keys(PACKAGES).map((name) => `packages/${name}/`)].map(
  (name) => `${root}${name}index.d.ts`,
)
const program = ts.createProgram(FILES, {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  types: ['node'],
})
const checker = program.getTypeChecker()

/** The names of the options of a call, those of all its overloads. */
function optionsOf(symbol, node) {
  const type = checker.getTypeOfSymbolAtLocation(symbol, node)
  const names = type.getCallSignatures().flatMap((signature) => {
    const last = signature.parameters.at(-1)
    if (last?.name !== 'options') return []
    const given = checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(last, node))
    return (given.isUnion() ? given.types : [given]).flatMap((one) => one.getProperties().map(({ name }) => name))
  })
  return [...new Set(names)]
}

/** Yields the name of each call that has options, itself, and their names. */
function* calls() {
  const [main, ...others] = FILES.map((name) => checker.getSymbolAtLocation(program.getSourceFile(name)))
  const exported = new Map(checker.getExportsOfModule(main).map((symbol) => [symbol.name, symbol]))
  const tokenizer = exported.get('Tokenizer')
  const node = tokenizer.valueDeclaration
  for (const [holder, members] of [
    [Tokenizer, tokenizer.exports],
    [gpt, tokenizer.members],
  ]) {
    for (const [name, symbol] of members) {
      const options = symbol.flags & ts.SymbolFlags.Method ? optionsOf(symbol, node) : []
      if (options.length > 0) yield [name, holder[name].bind(holder), options]
    }
  }
  const service = exported.get('memory')
  const configure = checker.getTypeOfSymbolAtLocation(service, service.valueDeclaration).getProperty('configure')
  yield ['configure', memory.configure, optionsOf(configure, service.valueDeclaration)]
  for (const [index, module] of Object.values(PACKAGES).entries()) {
    for (const symbol of checker.getExportsOfModule(others[index])) {
      const options = symbol.flags & ts.SymbolFlags.Function ? optionsOf(symbol, symbol.valueDeclaration) : []
      if (options.length > 0) yield [symbol.name, module[symbol.name], options]
    }
  }
}

/** The options that a call says it has, when it is given another one. */
async function namesOf(call, first, more) {
  try {
    const result = await call(...first, { ...more, zzzzzzzz: 1 })
    await result?.[Symbol.asyncIterator]?.().next()
  } catch ({ code, message }) {
    assert.equal(code, 'ERR_TOKENLANE_UNKNOWN_OPTION', message)
    return message.match(/the options are (.*)$/)[1].split(', ')
  }
  return assert.fail('an unknown option is accepted')
}

test('the options of each call are those of the typings', async () => {
  let count = 0
  const differences = []
  for (const [name, call, options] of calls()) {
    // Its options but four are those of countChat, which checks them.
    if (name === 'fitChat') continue
    const first = FIRST[name] ?? []
    const more = options.includes('maxTokens') ? { maxTokens: 5 } : {}
    const names = await namesOf(call, first, more)
    // A chat of an encoding has other options than that of a template.
    if (/chat/i.test(name)) names.push(...(await namesOf(withTemplate[name].bind(withTemplate), first, more)))
    const [ofCode, ofTypings] = [new Set(names), new Set(options)]
    const lacks = [...ofTypings].filter((option) => !ofCode.has(option)).map((option) => `${name} lacks ${option}`)
    const hides = [...ofCode].filter((option) => !ofTypings.has(option)).map((option) => `${name} hides ${option}`)
    differences.push(...lacks, ...hides)
    count += options.length
  }
  assert.deepEqual(differences, [])
  assert.ok(count > 250, `${count} options`)
})

test('calls for chats have no options detail and undocumented', () => {
  const code = 'ERR_TOKENLANE_UNKNOWN_OPTION'
  for (const option of [{ detail: true }, { undocumented: 'throw' }]) {
    assert.throws(() => chatOfOpenAi.countChat(messages, option), { code })
    assert.throws(() => requests.fitChat(chatOfOpenAi, messages, { maxTokens: 50, ...option }), { code })
    assert.throws(() => requests.countRequest(chatOfOpenAi, { messages }, option), { code })
  }
})
