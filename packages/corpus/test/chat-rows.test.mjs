// @tokenlane/corpus: chats in the shapes of rows that people have, and the choice of what is
// learned. The oracle is text: what the tokens with the mask 1 decode to is built here by hand.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { parquetWriteBuffer } from 'hyparquet-writer'

import { Tokenizer } from 'tokenlane'
import { openTokens, tokenizeCorpus } from '@tokenlane/corpus'
import { runIn } from '../../../__test__/support/cli.mjs'
import { jsonl, record, scratch } from '../../../__test__/support/corpus.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
const TURN = "{{ '<|im_start|>' + m.role + '\\n' }}"
const PROMPT = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
const REASONING =
  "{% if m.reasoning_content %}{{ '<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n' }}{% endif %}"
const ORIGIN = `{% for m in messages %}${TURN}${REASONING}{{ m.content }}{{ '<|im_end|>\\n' }}{% endfor %}${PROMPT}`
const GENERATION = `{% for m in messages %}${TURN}{% if m.role == 'assistant' %}{% generation %}${REASONING}{{ m.content + '<|im_end|>' }}{% endgeneration %}{% else %}{{ m.content + '<|im_end|>' }}{% endif %}{{ '\\n' }}{% endfor %}`

/** A folder of a tokenizer with a chat template. */
function folder(name, template) {
  fs.mkdirSync(at(name))
  const file = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)
  fs.copyFileSync(file, at(name, 'tokenizer.json'))
  fs.writeFileSync(
    at(name, 'tokenizer_config.json'),
    JSON.stringify({ eos_token: '<|im_end|>', chat_template: template }),
  )
  return at(name)
}
const origin = folder('origin', ORIGIN)
const tagged = folder('generation', GENERATION)
const loaded = await Tokenizer.fromFile(origin)

/** The text of a chat, and that of its learned messages, as the template writes them. */
const textOf = (messages) => messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`).join('')
const answers = (...contents) => contents.map((content) => `${content}<|im_end|>\n`).join('')

let made = 0
/** Runs a job; returns its result, and for each row its text and what is learned of it. */
async function learned(rows, options = {}, input = `rows-${(made += 1)}.jsonl`) {
  if (rows !== undefined) fs.writeFileSync(at(input), jsonl(rows))
  const output = at(`out-${(made += 1)}`)
  const base = { inputs: at(input), tokenizer: origin, format: 'npy', concurrency: 1, output }
  const result = await tokenizeCorpus({ ...base, messages: 'messages', ...options })
  const tokens = await openTokens(output)
  const found = []
  for await (const { ids, lossMask } of tokens.rows()) {
    const kept = Uint32Array.from(ids).filter((_, index) => lossMask[index] === 1)
    found.push([
      loaded.decode(Uint32Array.from(ids), { skipSpecialTokens: false }),
      loaded.decode(kept, { skipSpecialTokens: false }),
    ])
  }
  await tokens.close()
  return { output, result, found }
}

const CHAT = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'One?' },
  { role: 'assistant', content: 'Two.' },
  { role: 'user', content: 'Three?' },
  { role: 'assistant', content: 'Four.' },
]
const LAST = CHAT.slice(0, 3)
const SHARE_NAMES = { system: 'system', user: 'human', assistant: 'gpt' }
const asShare = (messages) => messages.map(({ role, content }) => ({ from: SHARE_NAMES[role], value: content }))

test('rows of ShareGPT have the tokens of the same chat with roles', async () => {
  const { found } = await learned([{ conversations: asShare(CHAT) }], { messages: 'conversations' })
  assert.deepEqual(found, [[textOf(CHAT), answers('Two.', 'Four.')]])
  const names = [
    ['user', 'user'],
    ['chatgpt', 'assistant'],
    ['assistant', 'assistant'],
    ['tool', 'tool'],
    ['observation', 'tool'],
  ]
  const mixed = await learned([{ messages: names.map(([from]) => ({ from, value: from })) }])
  assert.equal(mixed.found[0][0], textOf(names.map(([from, role]) => ({ role, content: from }))))
  // A table has the fields of both shapes in each row.
  const nulls = CHAT.map(({ role, content }) => ({ from: role, value: content, role: null, content: null }))
  assert.deepEqual((await learned([{ conversations: nulls }], { messages: 'conversations' })).found, found)
  const wrong = await failure(() => learned([{ messages: [{ from: 'narrator', value: '{}' }] }]))
  assert.equal(wrong.code, 'ERR_TOKENLANE_FIELD')
  assert.match(wrong.message, /message 0 .* is from 'narrator', which is none of human, user, /)
})

test('prompt and completion, as texts and as messages; only the completion is learned', async () => {
  const options = { messages: 'prompt', completion: 'completion' }
  const rows = [
    { prompt: 'One?', completion: 'Two.' },
    { prompt: LAST, completion: CHAT.slice(3) },
    { prompt: JSON.stringify(LAST.slice(0, 2)), completion: JSON.stringify(LAST.slice(2)) },
  ]
  const { found } = await learned(rows, options)
  assert.deepEqual(found, [
    [textOf(CHAT.slice(1, 3)), answers('Two.')],
    [textOf(CHAT), answers('Four.')],
    [textOf(LAST), answers('Two.')],
  ])
  const texts = rows.slice(0, 1)
  const columnData = ['prompt', 'completion'].map((name) => ({
    name,
    data: texts.map((row) => row[name]),
    type: 'STRING',
  }))
  fs.writeFileSync(at('pairs.parquet'), Buffer.from(parquetWriteBuffer({ columnData })))
  assert.deepEqual((await learned(undefined, options, 'pairs.parquet')).found, found.slice(0, 1))
  // Texts that start as a list does.
  const brackets = [
    ['[INST] Hi', '[1, 2, 3]'],
    ['[]', '[{"role":'],
  ]
  const pairs = brackets.map(([prompt, completion]) => ({ prompt, completion }))
  const expected = brackets.map(([prompt, completion]) => [
    textOf([
      { role: 'user', content: prompt },
      { role: 'assistant', content: completion },
    ]),
    answers(completion),
  ])
  assert.deepEqual((await learned(pairs, options)).found, expected)
  const missing = await failure(() => learned([{ prompt: 'x' }], options))
  assert.match(missing.message, /the field 'completion' must be a text or an array of messages/)
})

test('chosen and rejected: each side is a job, and its rows are those of the other side', async () => {
  const rows = [
    { prompt: 'One?', chosen: 'Two.', rejected: 'No.' },
    { prompt: 'Three?', chosen: 'Four.', rejected: 'Never.' },
  ]
  const whole = rows.map(({ prompt, chosen }) => ({
    chosen: [
      { role: 'user', content: prompt },
      { role: 'assistant', content: chosen },
    ],
  }))
  const chosen = await learned(rows, { messages: 'prompt', completion: 'chosen' })
  const rejected = await learned(rows, { messages: 'prompt', completion: 'rejected' })
  assert.deepEqual(
    [chosen, rejected].map(({ found }) => found.map(([, text]) => text)),
    [
      [answers('Two.'), answers('Four.')],
      [answers('No.'), answers('Never.')],
    ],
  )
  assert.deepEqual((await learned(whole, { messages: 'chosen' })).found, chosen.found)
})

test('a row of another shape is an error that names the options for it', async () => {
  const cases = [
    [{ conversations: asShare(CHAT) }, /--messages conversations/],
    [{ prompt: 'x', completion: 'y' }, /--messages prompt --completion completion/],
    [{ prompt: 'x', chosen: 'y', rejected: 'z' }, /--messages prompt --completion chosen/],
    [{ chosen: CHAT, rejected: CHAT }, /--messages chosen/],
  ]
  for (const [row, words] of cases) {
    const { code, message } = await failure(() => learned([row]))
    assert.equal(code, 'ERR_TOKENLANE_FIELD')
    assert.match(message, words)
  }
})

for (const [name, tokenizer, end] of [
  ['origin', origin, '\n'],
  ['generation', tagged, ''],
])
  test(`masks by ${name}: the last answer, roles, flags of messages, without reasoning`, async () => {
    const of = (...contents) => contents.map((content) => `${content}<|im_end|>${end}`).join('')
    const masks = async (messages, options) => (await learned([{ messages }], { tokenizer, ...options })).found[0]?.[1]
    assert.equal(await masks(CHAT, {}), of('Two.', 'Four.'))
    assert.equal(await masks(CHAT, { maskTurns: 'last' }), of('Four.'))
    const step = { role: 'assistant', content: 'Or five.' }
    assert.equal(await masks([...CHAT, step], { maskTurns: 'last' }), of('Four.', 'Or five.'))
    assert.equal(await masks([...CHAT, { role: 'user', content: 'Five?' }], { maskTurns: 'last' }), undefined)
    assert.equal(await masks(CHAT, { maskRoles: ['user'] }), 'One?Three?')
    assert.equal(await masks(CHAT, { maskRoles: ['system', 'assistant'] }), `Be brief.${of('Two.', 'Four.')}`)
    const flagged = (index, flag) => CHAT.map((message, at) => (at === index ? { ...message, ...flag } : message))
    assert.equal(await masks(flagged(2, { weight: 0 }), {}), of('Four.'))
    assert.equal(await masks(flagged(2, { weight: 1 }), {}), of('Two.', 'Four.'))
    assert.equal(await masks(flagged(4, { train: false }), {}), of('Two.'))
    assert.equal(await masks(flagged(1, { train: true }), {}), `One?${of('Two.', 'Four.')}`)
    assert.equal(await masks(flagged(2, { train: true }), { maskTurns: 'last' }), of('Four.'))
    for (const flag of [{ weight: 0.5 }, { train: 'no' }, { weight: true }])
      assert.match(
        (await failure(() => masks(flagged(2, flag), {}))).message,
        /message 2 of the field 'messages' has a (?:weight|flag train) that is neither/,
      )

    const thought = flagged(2, { reasoning_content: 'Hm, one.' })
    assert.equal(await masks(thought, {}), of('<think>\nHm, one.\n</think>\n\nTwo.', 'Four.'))
    assert.equal(await masks(thought, { withoutReasoning: true }), of('Two.', 'Four.'))
    const spelled = flagged(4, { content: '<think>\nHm.\n</think>\n\nFour.' })
    assert.equal(await masks(spelled, { withoutReasoning: true, maskTurns: 'last' }), of('Four.'))
  })

test('reasoning is not learned wherever its tags are: behind a header, in the middle, again', async () => {
  const HEADER = '<|im_start|>assistant\n'
  const ignored = folder('noprompt', ORIGIN.replace(PROMPT, ''))
  const headed = folder(
    'headed',
    `{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}${TURN}{{ m.content + '<|im_end|>\n' }}{% endgeneration %}{% else %}${TURN}{{ m.content + '<|im_end|>\n' }}{% endif %}{% endfor %}`,
  )
  const split = folder(
    'split',
    GENERATION.replace('{{ m.content +', '{{ m.content[:9] }}{% endgeneration %}{% generation %}{{ m.content[9:] +'),
  )
  const cases = [
    ['<think>hm hm</think>\n\na1', 'a1'],
    ['\n<think>hm hm</think>a1', 'a1', '\na1'],
    // The vocabulary has ' <', which is not learned.
    ['Sure. <think>hm hm</think>a1', 'Sure.a1'],
    ['<think>one</think>a1<think>two</think>\na2', 'a1a2'],
    ['a1[THINK]one</think>[/THINK]a2<think>two</think>', 'a1a2'],
    ['<thinking>one</thinking>a1', '<thinking>one</thinking>a1'],
  ]
  for (const [content, kept, behindHeader = kept] of cases) {
    const rows = [{ messages: [CHAT[1], { role: 'assistant', content }] }]
    for (const [tokenizer, expected] of [
      [origin, answers(kept)],
      [ignored, HEADER + answers(behindHeader)],
      [headed, HEADER + answers(behindHeader)],
      [split, `${kept}<|im_end|>`],
    ]) {
      const { found } = await learned(rows, { tokenizer, withoutReasoning: true })
      assert.equal(found[0][1], expected, `${tokenizer}: ${content}`)
    }
  }
  const open = [{ messages: [CHAT[1], { role: 'assistant', content: 'Sure. <think>hm hm' }] }]
  assert.equal((await learned(open, { withoutReasoning: true })).found[0][1], 'Sure.')
})

test('rows without a token to learn from are left out and counted', async () => {
  const long = { role: 'user', content: 'a long question '.repeat(20) }
  const rows = [
    { messages: CHAT },
    { messages: CHAT.slice(0, 2) },
    { messages: [long, LAST[2]] },
    { messages: CHAT.map((message) => ({ ...message, weight: 0 })) },
    { messages: LAST },
  ]
  const all = await learned(rows)
  assert.deepEqual([all.result.documents, all.result.unlearned, all.result.skipped, all.result.empty], [3, 2, 0, 0])
  assert.equal(record(all.output, 'shard-00000000').unlearned, 2)
  const cut = await learned(rows, { maxTokens: 60 })
  assert.deepEqual([cut.result.documents, cut.result.unlearned], [2, 3])
  // The last token is eos, which is not learned.
  const [[text]] = cut.found.slice(1)
  assert.equal(text, textOf(LAST))
  const exact = loaded.encode(textOf(LAST)).length
  for (const [maxTokens, documents] of [
    [exact, 2],
    [exact - 4, 2],
    [20, 0],
  ]) {
    const few = await learned(rows, { maxTokens, eos: '</s>' })
    assert.equal(few.result.documents + few.result.unlearned, rows.length)
    for (const [, kept] of few.found) assert.notEqual(kept, '')
    assert.equal(few.result.documents, documents)
  }
})

test('options of masks need messages, and have known values', async () => {
  const cases = [
    [{ messages: undefined, maskTurns: 'last' }, 'ARGUMENT_TYPE'],
    [{ messages: undefined, completion: 'x' }, 'ARGUMENT_TYPE'],
    [{ messages: undefined, maskRoles: ['user'] }, 'ARGUMENT_TYPE'],
    [{ messages: undefined, withoutReasoning: true }, 'ARGUMENT_TYPE'],
    [{ maskTurns: 'first' }, 'ARGUMENT_VALUE'],
    [{ maskRoles: 'user' }, 'ARGUMENT_TYPE'],
    [{ maskRoles: [] }, 'ARGUMENT_VALUE'],
    [{ maskRoles: [''] }, 'ARGUMENT_VALUE'],
    [{ withoutReasoning: 1 }, 'ARGUMENT_TYPE'],
  ]
  for (const [options, code] of cases)
    assert.equal((await failure(() => learned([{ messages: CHAT }], options))).code, `ERR_TOKENLANE_${code}`)
  const hidden = folder('hidden', ORIGIN.replace('<think>', '[A]').replace('</think>', '[/A]'))
  const row = { messages: [CHAT[1], { ...CHAT[2], reasoning_content: 'Hm.' }] }
  const { code, message } = await failure(() => learned([row], { tokenizer: hidden, withoutReasoning: true }))
  assert.equal(code, 'ERR_TOKENLANE_CHAT_REFUSED')
  assert.match(message, /reasoning/)
})

test('tokenlane corpus has these options, and says how many chats were left out', async () => {
  fs.writeFileSync(
    at('cli.jsonl'),
    jsonl([
      { p: 'One?', c: 'Two.' },
      { p: 'One?', c: [CHAT[1]] },
    ]),
  )
  const args = ['--messages', 'p', '--completion', 'c', '--mask-turns', 'last', '--mask-roles', 'assistant,tool']
  const { status, stdout, stderr } = await runIn(at())([
    ...['corpus', 'cli.jsonl', '-t', 'origin', '-o', 'by-cli', '-f', 'npy', '--without-reasoning', ...args],
  ])
  assert.equal(status, 0, stderr)
  assert.match(stdout, /left out: 1 chat without a token to learn from/)
})
