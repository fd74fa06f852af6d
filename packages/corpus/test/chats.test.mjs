// @tokenlane/corpus: chats become ids with a loss mask, in every format.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'

import { Tokenizer } from 'tokenlane'
import { createWorker, mergeCorpora, openTokens, tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { FORMATS as ALL } from '../src/formats/names.mjs'
import { parsePythonJson } from '../src/python-json.mjs'
import { runIn } from '../../../__test__/support/cli.mjs'
import {
  hashes,
  jsonl,
  numbers,
  readMds,
  readMegatron,
  readNpy,
  record,
  scratch,
  split,
  stems,
} from '../../../__test__/support/corpus.mjs'
import { parseJsonLines } from '../../../__test__/support/json-lines.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { failure, text } from '../../../__test__/support/texts.mjs'

const at = scratch()
const run = runIn(at())
/** The formats with rows. */
const FORMATS = ALL.filter((format) => format !== 'llmc')
/** Bytes of the header of llm.c. */
const LLMC_HEADER = 1024
const START = "{{ '<|im_start|>' + m.role + '\\n' }}"
const TOOLS = "{% if tools %}{{ '<|im_start|>system\\n' + tools|tojson + '<|im_end|>\\n' }}{% endif %}"
const ORIGIN = `${TOOLS}{% for m in messages %}${START}{{ m.content }}{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`
const GENERATION = `${TOOLS}{% for m in messages %}${START}{% if m.role == 'assistant' %}{% generation %}{{ m.content + '<|im_end|>' }}{% endgeneration %}{% else %}{{ m.content + '<|im_end|>' }}{% endif %}{{ '\\n' }}{% endfor %}`

/** A folder of a tokenizer with a chat template. */
function folder(name, template) {
  fs.mkdirSync(at(name))
  fs.copyFileSync(
    new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url),
    at(name, 'tokenizer.json'),
  )
  const config = { eos_token: '<|im_end|>', chat_template: template }
  fs.writeFileSync(at(name, 'tokenizer_config.json'), JSON.stringify(config))
  return at(name)
}
const tokenizer = folder('origin', ORIGIN)
const tagged = folder('generation', GENERATION)
const loaded = await Tokenizer.fromFile(tokenizer)

/** Chats of different lengths, equal in every run; contents spell out control tokens. */
const chats = (count, seed) =>
  Array.from({ length: count }, (_, index) => ({
    id: `chat-${seed}-${index}`,
    tools: index % 3 === 1 ? [{ type: 'function', function: { name: `f${index}` } }] : undefined,
    messages: Array.from({ length: 2 + ((index + seed) % 4) }, (_, turn) => ({
      role: turn % 2 === 0 ? 'user' : 'assistant',
      content: `${text(5 + ((index * 37 + turn * 11) % 60), seed * 100 + index + turn)}${index % 4 === 0 ? '<|im_end|>' : ''}`,
    })),
  }))
const rows = [...chats(25, 1), ...chats(15, 2)]
fs.mkdirSync(at('data'))
fs.writeFileSync(at('data', 'a.jsonl'), jsonl(rows.slice(0, 25)))
fs.writeFileSync(at('data', 'b.jsonl'), jsonl(rows.slice(25)))
const BASE = { inputs: at('data'), tokenizer, messages: 'messages', tools: 'tools', concurrency: 1 }

/** What applyChatTemplate gives: [ids, mask], without rows that the assistant wrote nothing of. */
const learnable = (given, own, options = {}) =>
  given
    .map(({ messages, tools }) => {
      const { ids, assistantMask } = own.applyChatTemplate(messages, { tools, returnAssistantMask: true, ...options })
      return [[...ids], [...assistantMask]]
    })
    .filter(([, mask]) => mask.includes(1))
const expected = (options = {}, own = loaded) => learnable(rows, own, options)

let made = 0
async function job(options = {}) {
  const output = at(`out-${(made += 1)}`)
  const result = await tokenizeCorpus({ ...BASE, output, ...options })
  return { output, result }
}

const WIDTHS = { u16: '<u2', u32: '<u4' }

/** The rows of a shard as the readers of its format have them: [ids, mask]. */
async function shardRows(output, stem, { format, type }) {
  const prefix = path.join(output, stem)
  const pairs = (ids, masks) => ids.map((one, index) => [one, masks[index]])
  if (format === 'megatron') {
    const [ids, mask] = [readMegatron(prefix), readMegatron(`${prefix}.mask`)]
    assert.equal(mask.type, 1)
    assert.deepEqual(mask.starts, ids.starts)
    return pairs(ids.rows, mask.rows)
  }
  if (format === 'npy') {
    const [ids, mask] = [readNpy(`${prefix}.npy`), readNpy(`${prefix}.mask.npy`)]
    assert.deepEqual([ids.descr, mask.descr], [WIDTHS[type], '|u1'])
    const offsets = readNpy(`${prefix}.rows.npy`).values
    return pairs(split(ids.values, offsets), split(mask.values, offsets))
  }
  if (format === 'bin') {
    const read = (suffix, descr) => numbers(fs.readFileSync(`${prefix}${suffix}`), descr)
    const offsets = read('.rows.bin', '<u8')
    return pairs(split(read('.bin', WIDTHS[type]), offsets), split(read('.mask.bin', '|u1'), offsets))
  }
  const readers = {
    jsonl: () => parseJsonLines(fs.readFileSync(`${prefix}.jsonl`, 'utf8')),
    parquet: async () => parquetReadObjects({ file: await asyncBufferFromFile(`${prefix}.parquet`) }),
  }
  assert.ok(format in readers, `this spec has no reader of ${format}`)
  const lines = await readers[format]()
  return lines.map(({ ids, loss_mask: mask }) => [[...ids], [...mask]])
}

async function rowsOf(output) {
  const { options } = JSON.parse(fs.readFileSync(path.join(output, 'job.json'), 'utf8'))
  if (options.format === 'mds') return readMds(output).map(({ tokens, loss_mask: mask }) => [tokens, mask])
  const all = []
  for (const stem of stems(output)) all.push(...(await shardRows(output, stem, options)))
  return all
}

/** Documents in rows of `pack` tokens. */
function packed(documents, pack) {
  const [ids, mask] = [0, 1].map((column) => documents.flatMap((document) => document[column]))
  const starts = Array.from({ length: Math.ceil(ids.length / pack) }, (_, row) => row * pack)
  return starts.map((start) => [ids.slice(start, start + pack), mask.slice(start, start + pack)])
}

for (const format of FORMATS)
  test(`${format}: ids and masks are those of applyChatTemplate, also packed`, async () => {
    const rowsOfDocuments = await job({ format, type: format === 'bin' ? 'u32' : undefined })
    assert.deepEqual(await rowsOf(rowsOfDocuments.output), expected())
    assert.equal(rowsOfDocuments.result.documents, rows.length)
    assert.equal(
      rowsOfDocuments.result.lossTokens,
      expected()
        .flatMap(([, mask]) => mask)
        .filter(Boolean).length,
    )
    const { output } = await job({ format, pack: 64 })
    assert.deepEqual(await rowsOf(output), packed(expected(), 64))
    assert.ok((await verifyCorpus(output)).isWhole)
    const names = record(output, stems(output)[0]).files.map(({ name }) => name)
    assert.deepEqual(names.sort(), Object.keys(hashes(output)))
    if (format !== 'npy') return
    const all = await job({ format, maxTokens: 20, eos: '</s>' })
    const cut = ([ids, mask]) => [
      [...ids.slice(0, 19), loaded.tokenToId('</s>')],
      [...mask.slice(0, 19), 0],
    ]
    // A chat whose answer is cut off teaches nothing.
    const learned = expected()
      .map(cut)
      .filter(([, mask]) => mask.includes(1))
    assert.deepEqual(await rowsOf(all.output), learned)
    assert.equal(all.result.unlearned, rows.length - learned.length)
  })

test('llmc has a file of masks beside its tokens', async () => {
  const [ids, mask] = [0, 1].map((column) => expected().flatMap((row) => row[column]))
  for (const [type, descr] of Object.entries(WIDTHS)) {
    const { output } = await job({ format: 'llmc', type })
    const read = (name) => fs.readFileSync(path.join(output, `shard-00000000${name}`))
    assert.deepEqual(numbers(read('.bin').subarray(LLMC_HEADER), descr), ids)
    assert.deepEqual([...read('.mask.bin')], mask)
    assert.equal(read('.bin').readInt32LE(8), ids.length)
    if (type === 'u32') continue
    const whole = await job({ format: 'npy', type })
    await mergeCorpora({ inputs: [whole.output], format: 'llmc', output: at('merged-llmc') })
    assert.deepEqual(hashes(at('merged-llmc')), hashes(output))
  }
})

test('by {% generation %} or by origin, and special tokens as text or parsed', async () => {
  const own = await Tokenizer.fromFile(tagged)
  const both = await job({ tokenizer: tagged, format: 'jsonl' })
  assert.deepEqual(await rowsOf(both.output), expected({}, own))
  const byOrigin = await job({ tokenizer: tagged, format: 'jsonl', maskBy: 'origin' })
  assert.deepEqual(await rowsOf(byOrigin.output), expected({ returnAssistantMask: { by: 'origin' } }, own))
  const parsed = await job({ format: 'jsonl', specialTokens: 'parse' })
  assert.deepEqual(await rowsOf(parsed.output), expected({ content: 'parse' }))
  assert.notDeepEqual(expected({ content: 'parse' }), expected())
  const thrown = await job({ format: 'jsonl', specialTokens: 'throw', onError: 'skip' })
  const kept = rows.map(({ messages }) => !messages.some(({ content }) => content.includes('<|im_end|>')))
  assert.deepEqual(
    await rowsOf(thrown.output),
    expected().filter((_, index) => kept[index]),
  )
  assert.deepEqual(record(thrown.output, 'shard-00000000').skipped.codes, {
    ERR_TOKENLANE_SPECIAL_TOKEN: kept.filter((is) => !is).length,
  })
  fs.writeFileSync(at('template.jinja'), GENERATION)
  const given = await job({ format: 'jsonl', template: at('template.jinja') })
  assert.deepEqual(await rowsOf(given.output), expected({}, own))
})

test('another template is another job', async () => {
  const { output } = await job({ format: 'npy' })
  const changed = { ...BASE, output, format: 'npy', template: at('template.jinja') }
  const { code, message } = await failure(() => tokenizeCorpus(changed))
  assert.equal(code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
  assert.match(message, /there the SHA-256 of the chat template is "[0-9a-f]{64}", here it is "[0-9a-f]{64}"/)
  // So is another template of the tokenizer's folder.
  const own = folder('changing', ORIGIN)
  const first = await job({ tokenizer: own, format: 'npy' })
  fs.writeFileSync(path.join(own, 'chat_template.jinja'), `${ORIGIN}\n`)
  const again = tokenizeCorpus({ ...BASE, tokenizer: own, output: first.output, format: 'npy' })
  assert.equal((await failure(() => again)).code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
})

test('Parquet: lists of structs, and messages and tools as JSON', async () => {
  const input = at('chats.parquet')
  const columnData = [
    { name: 'messages', data: rows.map(({ messages }) => JSON.stringify(messages)), type: 'STRING' },
    {
      name: 'tools',
      data: rows.map(({ tools }) => (tools === undefined ? null : JSON.stringify(tools))),
      type: 'STRING',
    },
    { name: 'id', data: rows.map(({ id }) => id), type: 'STRING' },
  ]
  fs.writeFileSync(input, Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 7 })))
  const asJson = await job({ inputs: input, format: 'npy', idField: 'id' })
  assert.deepEqual(await rowsOf(asJson.output), expected())
  const again = await tokenizeCorpus({ ...BASE, inputs: input, output: asJson.output, format: 'npy', idField: 'id' })
  assert.equal(again.kept, again.shards)

  const text = { repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY', converted_type: 'UTF8' }
  const schema = [
    { name: 'root', num_children: 1 },
    { name: 'messages', repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', num_children: 2 },
    { name: 'role', ...text },
    { name: 'content', ...text },
  ]
  const nested = [{ name: 'messages', data: rows.map(({ messages }) => messages) }]
  fs.writeFileSync(at('nested.parquet'), Buffer.from(parquetWriteBuffer({ columnData: nested, schema })))
  const structs = await job({ inputs: at('nested.parquet'), tools: undefined, format: 'npy' })
  assert.deepEqual(
    await rowsOf(structs.output),
    learnable(
      rows.map(({ messages }) => ({ messages })),
      loaded,
    ),
  )
})

test('Parquet: structs and lists that are null are those of pyarrow', async () => {
  // testdata/pyarrow-nulls.parquet was written by pyarrow 26; this is its Table.to_pylist().
  const message = (role, content, calls, meta) => ({ role, content, tool_calls: calls, meta })
  const pylist = [
    [message('user', 'a', null, { n: 1, s: null }), message('assistant', null, [{ name: 'f', args: null }], null)],
    [message('assistant', 'b', [], { n: null, s: 'x' })],
    null,
    [],
    [null, message('assistant', 'c', [null, { name: null, args: ['x', null] }], null)],
  ]
  const input = new URL('../../../__test__/testdata/pyarrow-nulls.parquet', import.meta.url)
  const template = folder('fields', "{% for m in messages %}{{ m | tojson }}{{ '\\n' }}{% endfor %}")
  const options = { tools: undefined, tokenizer: template, format: 'jsonl', onError: 'skip' }
  const { output, result } = await job({ ...options, inputs: fileURLToPath(input) })
  const own = await Tokenizer.fromFile(template)
  const idsOf = (messages) => [...own.applyChatTemplate(messages).ids]
  assert.deepEqual(
    (await rowsOf(output, { format: 'jsonl' })).map(([ids]) => ids),
    [idsOf(pylist[0]), idsOf(pylist[1])],
  )
  // A chat that is null or empty, or that has a message that is null, is no chat.
  assert.equal(result.skipped, 3)
})

test('NaN and Infinity in a field that is not used are those of Python; in the chat they are refused', async () => {
  const messages = '[{"role":"assistant","content":"NaN is \\"NaN\\""}]'
  const lines = [
    `{"score":NaN,"messages":${messages}}`,
    `{"messages":${messages},"more":[1.0,-Infinity,Infinity]}`,
    `{"messages":[{"role":"user","content":"a","score":NaN}]}`,
    `{"messages":${messages},"score":NaNa}`,
  ]
  fs.writeFileSync(at('nan.jsonl'), `${lines.join('\n')}\n`)
  const { result, output } = await job({ inputs: at('nan.jsonl'), format: 'jsonl', onError: 'skip' })
  const { ids } = loaded.applyChatTemplate([{ role: 'assistant', content: 'NaN is "NaN"' }])
  assert.deepEqual(
    (await rowsOf(output, { format: 'jsonl' })).map(([one]) => one),
    [[...ids], [...ids]],
  )
  assert.equal(result.skipped, 2)
  assert.equal(record(output, stems(output)[0]).skipped.codes.ERR_TOKENLANE_JSON, 2)
  const texts = ['{"text":"a","score":NaN}', '{"text":NaN}', '{"score":-Infinity,"text":"b"}']
  fs.writeFileSync(at('nan-texts.jsonl'), `${texts.join('\n')}\n`)
  const plain = { messages: undefined, tools: undefined, onError: 'skip', format: 'npy' }
  const read = (await job({ ...plain, inputs: at('nan-texts.jsonl') })).result
  assert.deepEqual([read.documents, read.skipped], [2, 1])
})

test('chats of ShareGPT have the ids and masks of messages with roles', async () => {
  const from = { user: 'human', assistant: 'gpt' }
  const shared = rows.map(({ messages }) => ({
    conversations: messages.map(({ role, content }) => ({ from: from[role], value: content })),
  }))
  fs.writeFileSync(at('shared.jsonl'), jsonl(shared))
  const options = { inputs: at('shared.jsonl'), messages: 'conversations', tools: undefined, format: 'npy' }
  const { output } = await job(options)
  const wanted = rows.map(({ messages }) => {
    const { ids, assistantMask } = loaded.applyChatTemplate(messages, { returnAssistantMask: true })
    return [[...ids], [...assistantMask]]
  })
  assert.deepEqual(await rowsOf(output), wanted)
  fs.writeFileSync(at('unknown.jsonl'), jsonl([{ conversations: [{ from: 'oracle', value: 'a' }] }]))
  const unknown = await failure(() => job({ ...options, inputs: at('unknown.jsonl') }))
  assert.match(unknown.message, /message 0 of the field 'conversations' is from 'oracle', which is none of user|human/)
})

/** A mask with only some of the runs of ones: the runs are the answers in their order. */
function runsOf(mask, isKept) {
  let run = -1
  return mask.map((bit, at) => {
    if (bit === 1 && mask[at - 1] !== 1) run += 1
    return bit === 1 && isKept(run) ? 1 : 0
  })
}

test('masks leave out messages that say so, and all turns but the last; what teaches nothing is left out', async () => {
  const flags = [
    { weight: 0 },
    { weight: 1 },
    { train: false },
    { train: true },
    { training: false },
    { weight: null },
    {},
  ]
  const isOff = (index) => [0, 2, 4].includes(index % flags.length)
  const answers = [...chats(40, 3)].map(({ messages }, row) =>
    messages.map((message, turn) => (turn % 2 === 0 ? message : { ...message, ...flags[(row + turn) % flags.length] })),
  )
  // The answers are apart, so that each is a run of the mask.
  fs.writeFileSync(at('flags.jsonl'), jsonl(answers.map((messages) => ({ messages }))))
  for (const [template, options] of /** @type {[string, any][]} */ ([
    [tokenizer, { maskBy: 'origin' }],
    [tagged, { maskBy: 'generation' }],
    [tokenizer, { maskTurns: 'last' }],
  ])) {
    const own = await Tokenizer.fromFile(template)
    const expectedRows = answers.map((messages, row) => {
      const { ids, assistantMask } = own.applyChatTemplate(messages, { returnAssistantMask: true })
      const turns = messages.flatMap((message, turn) => (message.role === 'assistant' ? [turn] : []))
      const isKept = (run) =>
        !isOff(row + turns[run]) && (options.maskTurns !== 'last' || turns[run] === messages.length - 1)
      return [[...ids], runsOf([...assistantMask], isKept)]
    })
    const learned = expectedRows.filter(([, mask]) => mask.includes(1))
    assert.ok(learned.length > 5 && learned.length < answers.length - 5)
    for (const more of [{}, { maxTokens: 40, format: 'jsonl' }]) {
      const { output, result } = await job({
        ...{ inputs: at('flags.jsonl'), tokenizer: template, tools: undefined, format: 'npy' },
        ...options,
        ...more,
      })
      const kept = expectedRows
        .map((pair) => pair.map((values) => values.slice(0, more.maxTokens)))
        .filter(([, mask]) => mask.includes(1))
      assert.deepEqual(await rowsOf(output), kept)
      assert.deepEqual([result.documents, result.unlearned], [kept.length, answers.length - kept.length])
    }
  }
  fs.writeFileSync(at('half.jsonl'), jsonl([{ messages: [{ role: 'assistant', content: 'a', weight: 0.5 }] }]))
  const half = await failure(() => job({ inputs: at('half.jsonl') }))
  assert.match(half.message, /message 0 of the field 'messages' has a weight that is neither 0 nor 1/)
})

test('masks stay with their ids: shuffled, merged in another format, resumed, read', async () => {
  const sorted = (pairs) => pairs.map((pair) => JSON.stringify(pair)).sort()
  const wanted = sorted(expected())
  const inputs = []
  for (const format of ['megatron', 'npy', 'bin']) {
    const { output } = await job({ format, shuffle: 3, shardSize: 4000, ...(format === 'npy' && { type: 'u32' }) })
    assert.ok(stems(output).length > 2)
    assert.deepEqual(sorted(await rowsOf(output)), wanted)
    inputs.push(output)
  }
  for (const format of FORMATS) {
    const whole = at(`merged-${format}`)
    const { lossTokens } = await mergeCorpora({ inputs, output: whole, format })
    const all = (await Promise.all(inputs.map((input) => rowsOf(input)))).flat()
    assert.equal(lossTokens, all.flatMap(([, mask]) => mask).filter(Boolean).length)
    assert.deepEqual(await rowsOf(whole), all)
    const mixed = at(`mixed-${format}`)
    await mergeCorpora({ inputs, output: mixed, format, shuffle: 5, tokensPerFile: 2000 })
    assert.deepEqual(sorted(await rowsOf(mixed)), sorted(all))
    assert.ok((await verifyCorpus(mixed)).isWhole)
  }
  for (const [index, output] of inputs.entries()) {
    const before = hashes(output)
    const [stem] = stems(output)
    const mask = record(output, stem).files.find(({ name }) => /\.mask\.(?:bin|npy)$/.test(name))
    fs.writeFileSync(path.join(output, mask.name), Buffer.alloc(mask.bytes))
    const { listed } = await verifyCorpus(output)
    assert.deepEqual(
      listed.map(({ file }) => file),
      [mask.name],
    )
    const { options } = JSON.parse(fs.readFileSync(path.join(output, 'job.json'), 'utf8'))
    const { format, type } = options
    const { kept, shards } = await tokenizeCorpus({ ...BASE, output, format, type, shuffle: 3, shardSize: 4000 })
    assert.equal(kept, shards - 1)
    assert.deepEqual(hashes(output), before)

    const tokens = await openTokens(output)
    assert.equal(tokens.hasLossMask, true)
    const read = []
    for await (const { ids, lossMask } of tokens.rows()) {
      assert.equal(ids.constructor, index === 1 ? Uint32Array : Uint16Array)
      read.push([[...ids], [...lossMask]])
    }
    assert.deepEqual(read, await rowsOf(output))
    assert.deepEqual([...(await tokens.lossMask(2))], read[2][1])
    await tokens.close()
  }
  fs.writeFileSync(at('texts.jsonl'), jsonl([{ text: 'x' }]))
  const texts = at('texts')
  await tokenizeCorpus({ inputs: at('texts.jsonl'), tokenizer, output: texts })
  const { code } = await failure(() => mergeCorpora({ inputs: [inputs[0], texts], output: at('both') }))
  assert.equal(code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
})

const REFUSING = `{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}${ORIGIN}`
const user = { role: 'user', content: 'x' }
/** Lines that are no chats: the line, its code, and what the message says. */
const BAD = [
  ['{"messages":', 'JSON', /not valid JSON/],
  ['{"other":1}', 'FIELD', /the field 'messages' must be an array of messages, but the field is missing/],
  ['{"messages":null}', 'FIELD', /must be an array of messages, but it is null/],
  ['{"messages":{"role":"user"}}', 'FIELD', /must be an array of messages, but it is of the type object/],
  ['{"messages":"no JSON"}', 'FIELD', /is a string that is not JSON/],
  ['{"messages":[]}', 'FIELD', /has no messages/],
  ['{"messages":[1]}', 'FIELD', /message 0 .* not an object/],
  ['{"messages":[{"by":"human","text":"x"}]}', 'FIELD', /message 0 .* must have a role, but it has only by, text/],
  [JSON.stringify({ messages: [user], tools: {} }), 'FIELD', /the field 'tools' must be an array of tools/],
  [JSON.stringify({ messages: [user], tools: [1] }), 'ARGUMENT_TYPE', /tools\[0\]/],
  [JSON.stringify({ messages: [{ role: 'system', content: 'x' }] }), 'CHAT_REFUSED', /no system/],
  [JSON.stringify({ messages: [{ role: 'user', content: 5 }] }), 'CHAT_TEMPLATE', /template failed/],
]

test('rows of best fit have the masks of their chats', async () => {
  const { output, result } = await job({ format: 'npy', pack: 200, packing: 'best-fit' })
  const tokens = await openTokens(output)
  const found = []
  for await (const { ids, lossMask, cuSeqlens } of tokens.rows({ documents: true }))
    cuSeqlens.slice(1).forEach((end, index) => {
      const from = cuSeqlens[index]
      found.push([[...ids.subarray(from, end)], [...lossMask.subarray(from, end)]])
    })
  await tokens.close()
  const whole = expected().filter(([ids]) => ids.length <= 200)
  const texts = (all) => all.map((one) => JSON.stringify(one)).sort()
  const kept = new Set(texts(found))
  assert.ok(whole.length > 20 && texts(whole).every((one) => kept.has(one)))
  assert.equal(result.cutDocuments, rows.length - whole.length)
  const merged = at('best-llmc')
  await mergeCorpora({ inputs: [output], format: 'llmc', output: merged })
  const bytes = (name) => fs.statSync(path.join(merged, name)).size
  assert.equal(bytes('shard-00000000.mask.bin'), (bytes('shard-00000000.bin') - 1024) / 2)
})

test('rows that cannot be rendered have a place and a code, and can be skipped', async () => {
  const own = folder('refusing', REFUSING.replaceAll('{{ m.content }}', '{{ "" + m.content }}'))
  const good = { messages: [user, { role: 'assistant', content: 'y' }] }
  const [, , [line, code, words]] = BAD
  fs.writeFileSync(at('bad.jsonl'), `${JSON.stringify(good)}\n${line}\n`)
  const thrown = await failure(() => job({ inputs: at('bad.jsonl'), tokenizer: own }))
  assert.equal(thrown.code, `ERR_TOKENLANE_${code}`)
  assert.match(thrown.message, words)
  assert.match(thrown.message, /bad\.jsonl, line 2: /)
  fs.writeFileSync(at('bad.jsonl'), `${BAD.map(([line]) => line).join('\n')}\n\n${JSON.stringify(good)}\n`)
  const { output, result } = await job({ inputs: at('bad.jsonl'), tokenizer: own, onError: 'skip' })
  assert.deepEqual([result.documents, result.skipped], [1, BAD.length])
  const { listed } = record(output, 'shard-00000000').skipped
  assert.deepEqual(
    listed.map(({ line, code }) => [line, code]),
    BAD.map(([, code], index) => [index + 1, `ERR_TOKENLANE_${code}`]),
  )
  for (const [index, { message }] of listed.entries()) assert.match(message, BAD[index][2])
})

/** Numbers in JSON, as Python writes them with json.dumps(json.loads(…)), and of JavaScript. */
const NUMBERS = [
  ['1.0', '1.0', 1],
  ['-0', '0', 0],
  ['-0.0', '-0.0', 0],
  ['1e3', '1000.0', 1000],
  ['1E-2', '0.01', 0.01],
  ['2.50', '2.5', 2.5],
  ['36893488147419103232', '36893488147419103232', 2 ** 65],
  ['9007199254740991', '9007199254740991', 9007199254740991],
  ['7', '7', 7],
]

test('templates see the numbers of Python', async () => {
  const template = '{% for m in messages %}{{ m.content ~ m.value|tojson }}{% endfor %}'
  fs.writeFileSync(at('numbers.jinja'), template)
  const strings = [String.raw`"1.0 \"2.0\\"`, String.raw`"\\"`]
  const value = (list) => `{"a":[${list.join(',')}],"__proto__":{"1.0":${list[0]}},"s":[${strings}]}`
  const line = `{"messages":[{"role":"assistant","content":"","value":${value(NUMBERS.map(([json]) => json))}}]}`
  fs.writeFileSync(at('numbers.jsonl'), `${line}\n`)
  const { output } = await job({ inputs: at('numbers.jsonl'), template: at('numbers.jinja'), format: 'jsonl' })
  const [[ids]] = await rowsOf(output)
  const wanted = value(NUMBERS.map(([, python]) => python))
  assert.equal(loaded.decode(ids), wanted.replaceAll(/[,:](?=["[{\d-])/g, '$& '))
})

test('JSON with other numbers is that of JSON.parse', () => {
  let state = 46
  const random = (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * count)
  }
  const value = (depth) => {
    const kinds = [
      () => NUMBERS[random(NUMBERS.length)],
      () => Array(3).fill(JSON.stringify(['1.0', '\\', '"', '-0 \n', 'é 1e5'][random(5)])),
      () => Array(3).fill(['true', 'null', '[]', '{}'][random(4)]),
    ]
    if (depth === 0 || random(3) === 0) {
      const [json, , plain] = kinds[random(3)]()
      return [json, typeof plain === 'number' ? plain : JSON.parse(json)]
    }
    const parts = Array.from({ length: random(4) }, () => value(depth - 1))
    if (random(2) === 0) return [`[ ${parts.map(([json]) => json).join(' , ')}]`, parts.map(([, plain]) => plain)]
    const entries = parts.map(([json, plain], index) => [
      `${JSON.stringify(`k1.0 ${index}`)} :${json}`,
      [`k1.0 ${index}`, plain],
    ])
    return [`{${entries.map(([json]) => json).join(',')}}`, Object.fromEntries(entries.map(([, entry]) => entry))]
  }
  /** Numbers as JavaScript has them. */
  const plainOf = (one) => {
    if (typeof one === 'bigint') return Number(one)
    if (typeof one !== 'object' || one === null) return one
    if (one.constructor.name === 'Float') return one.value + 0
    if (Array.isArray(one)) return one.map(plainOf)
    return Object.fromEntries(Object.entries(one).map(([name, part]) => [name, plainOf(part)]))
  }
  for (let round = 0; round < 2000; round++) {
    const [json, plain] = value(4)
    assert.deepEqual(plainOf(parsePythonJson(json)), plain, json)
  }
  assert.throws(() => parsePythonJson('['.repeat(1000) + '1.0' + ']'.repeat(1000)), {
    code: 'ERR_TOKENLANE_CHAT_LIMIT',
  })
  assert.throws(() => parsePythonJson('9'.repeat(5000)), { code: 'ERR_TOKENLANE_JSON' })
})

test('a template that writes the date gets that of the job', async () => {
  const own = folder('dated', `{{ strftime_now('%d %b %Y') }}${ORIGIN}`)
  const { code, message } = await failure(() => job({ tokenizer: own }))
  assert.equal(code, 'ERR_TOKENLANE_ARGUMENT_VALUE')
  assert.match(message, /--date/)
  for (const date of ['2026-02-30', '26-01-01', 'today'])
    assert.equal((await failure(() => job({ tokenizer: own, date }))).code, 'ERR_TOKENLANE_ARGUMENT_VALUE')
  const { output } = await job({ tokenizer: own, date: '2026-01-31', format: 'jsonl' })
  const [[ids]] = await rowsOf(output)
  assert.match(loaded.decode(ids), /^31 Jan 2026/)
})

test('gpt-oss renders harmony', async () => {
  const own = await Tokenizer.fromEncoding('o200k_harmony')
  const variables = { strftime_now: () => '2026-01-31' }
  const { output } = await job({ tokenizer: 'o200k_harmony', date: '2026-01-31', format: 'npy', tools: undefined })
  const wanted = rows.map(({ messages }) => {
    const { ids, assistantMask } = own.applyChatTemplate(messages, { returnAssistantMask: true, variables })
    return [[...ids], [...assistantMask]]
  })
  assert.deepEqual(await rowsOf(output), wanted)
})

test('options and templates that cannot be used end the job at once', async () => {
  const cases = [
    [{ field: 'text' }, 'ARGUMENT_TYPE'],
    [{ rows: 'lines' }, 'ARGUMENT_TYPE'],
    [{ messages: undefined }, 'ARGUMENT_TYPE'],
    [{ messages: undefined, tools: undefined, date: '2026-01-31' }, 'ARGUMENT_TYPE'],
    [{ messages: undefined, tools: undefined, maskBy: 'origin' }, 'ARGUMENT_TYPE'],
    [{ messages: undefined, tools: undefined, template: 'x' }, 'ARGUMENT_TYPE'],
    [{ maskBy: 'generation' }, 'CHAT_REFUSED'],
    [{ maskBy: 'both' }, 'ARGUMENT_VALUE'],
    [{ messages: 5 }, 'ARGUMENT_TYPE'],
    [{ template: at('missing.jinja') }, 'FILE_NOT_FOUND'],
    [{ template: at() }, 'NOT_A_FILE'],
    [{ tokenizer: 'o200k_base' }, 'CHAT_TEMPLATE_MISSING'],
    [{ chat: {} }, 'UNKNOWN_OPTION'],
  ]
  for (const [options, code] of cases)
    assert.equal((await failure(() => job(options))).code, `ERR_TOKENLANE_${code}`, JSON.stringify(options))
  fs.writeFileSync(at('broken.jinja'), '{% for %}')
  const broken = await failure(() => job({ template: at('broken.jinja'), onError: 'skip' }))
  assert.equal(broken.code, 'ERR_TOKENLANE_CHAT_TEMPLATE')
  fs.writeFileSync(at('plain.txt'), 'x\n')
  assert.equal((await failure(() => job({ inputs: at('plain.txt') }))).code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
})

test('tokenlane corpus --messages, and a worker of a queue that has no template', { skip: missing }, async () => {
  const { output } = await job({ format: 'npy' })
  const args = ['--messages', 'messages', '--tools', 'tools', '-f', 'npy']
  const { status, stderr } = await run(['corpus', at('data'), '-t', 'origin', '-o', 'by-command', ...args])
  assert.equal(status, 0, stderr)
  assert.deepEqual(hashes(at('by-command')), hashes(output))

  const redis = await TestRedis.start()
  const worker = await createWorker({ queue: redis.url, allow: at() })
  try {
    // The template is in job.json, and not in a place that the worker can read.
    const own = folder('without-template', undefined)
    fs.mkdirSync(path.join(path.dirname(at()), `${path.basename(at())}-elsewhere`))
    const elsewhere = path.join(path.dirname(at()), `${path.basename(at())}-elsewhere`, 'template.jinja')
    fs.writeFileSync(elsewhere, ORIGIN)
    const queued = at('queued')
    await tokenizeCorpus({
      ...BASE,
      tokenizer: own,
      template: elsewhere,
      output: queued,
      format: 'npy',
      queue: redis.url,
    })
    fs.rmSync(path.dirname(elsewhere), { recursive: true })
    assert.deepEqual(hashes(queued), hashes(output))
  } finally {
    await worker.close()
    await redis.end()
  }
})
