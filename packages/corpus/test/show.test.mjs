// tokenlane corpus show: rows of a finished job as text.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'
import { tokenizeCorpus } from '@tokenlane/corpus'
import { runIn } from '../../../__test__/support/cli.mjs'
import { jsonl, scratch } from '../../../__test__/support/corpus.mjs'

const at = scratch()
const run = runIn(at())
const TEMPLATE =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
fs.mkdirSync(at('model'))
const file = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)
fs.copyFileSync(file, at('model', 'tokenizer.json'))
fs.writeFileSync(at('model', 'tokenizer_config.json'), JSON.stringify({ chat_template: TEMPLATE }))
const chat = (question, answer) => ({
  messages: [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ],
})
const CHATS = [chat('One?', 'Two.'), chat('Emoji?', '🙂 \u001b[31mé')]
fs.writeFileSync(at('chats.jsonl'), jsonl(CHATS))
const base = { inputs: at('chats.jsonl'), tokenizer: at('model'), messages: 'messages', format: 'npy' }
await tokenizeCorpus({ ...base, output: at('chats') })
await tokenizeCorpus({ ...base, output: at('packed'), pack: 1000 })
fs.writeFileSync(at('texts.txt'), 'First line.\nSecond line.\n')
await tokenizeCorpus({ inputs: at('texts.txt'), output: at('texts'), eos: true, pack: 100 })

/** A chat as text, with what is learned between two marks. */
const shown = ({ messages: [{ content: question }, { content: answer }] }, [from, to] = ['⟦', '⟧']) =>
  `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n${from}${answer}<|im_end|>\n${to}`

test('a row is its text, with what is learned in marks, or in colour', async () => {
  for (const [index, row] of CHATS.entries()) {
    const { status, stdout, stderr } = await run(['corpus', 'show', 'chats', String(index)])
    assert.equal(status, 0, stderr)
    const [head, ...lines] = stdout.split('\n')
    assert.match(head, new RegExp(`^row ${index} of 2: \\d+ tokens, \\d+ of them learned$`))
    assert.equal(lines.join('\n'), `${shown(row)}\n`)
  }
  const first = await run(['corpus', 'show', 'chats', '--color', 'always'])
  assert.ok(first.stdout.endsWith(`${shown(CHATS[0], ['\u001b[1;38;5;231;48;5;96m', '\u001b[0m'])}\n`), first.stdout)
})

test('the documents of a packed row are apart, and have positions', async () => {
  const tokenizer = await Tokenizer.fromFile(at('model'))
  const { length } = tokenizer.encode(shown(CHATS[0], ['', '']), { addSpecialTokens: false })
  const { stdout } = await run(['corpus', 'show', 'packed'])
  const [, ...lines] = stdout.split('\n')
  const boundary = (position) => `-- document at token ${position} --\n`
  assert.equal(lines.join('\n'), `${boundary(0)}${shown(CHATS[0])}\n${boundary(length)}${shown(CHATS[1])}\n`)
  const texts = await run(['corpus', 'show', 'texts'])
  assert.match(texts.stdout, /^row 0 of 1: \d+ tokens\n-- document at token 0 --\nFirst line\.<\|endoftext\|>\n/)
})

test('as JSON a row has documents, each with its parts', async () => {
  const { stdout } = await run(['corpus', 'show', 'packed', '0', '--json'])
  const { row, rows, documents } = JSON.parse(stdout)
  assert.deepEqual([row, rows, documents.length], [0, 1, 2])
  const texts = documents.map(({ parts }) =>
    parts.map(({ text, isLearned }) => (isLearned ? `⟦${text}⟧` : text)).join(''),
  )
  assert.deepEqual(
    texts,
    CHATS.map((one) => shown(one)),
  )
})

test('rows and tokenizers that are not there are errors', async () => {
  const failing = [
    [['chats', '2'], /row from 0 to 1/],
    [['chats', 'x'], /whole number/],
    [['chats', '0', '1'], /one folder and a row/],
    [[], /one folder and a row/],
    [['chats', '-t', 'gpt-4o'], /SHA-256/],
  ]
  for (const [args, words] of failing) {
    const { status, stderr } = await run(['corpus', 'show', ...args])
    assert.notEqual(status, 0)
    assert.match(stderr, words)
  }
  fs.renameSync(at('model'), at('moved'))
  const { stdout, stderr } = await run(['corpus', 'show', 'chats', '-t', 'moved'])
  assert.ok(stdout.includes(shown(CHATS[0])), stderr)
})
