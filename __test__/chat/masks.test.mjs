// Masks of chats: which tokens the assistant wrote, and which message each token came from.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { PreTrainedTokenizer } from '../../dropins/transformers/index.mjs'

const DATA = new URL('../testdata/chat/', import.meta.url)
const read = (name) => JSON.parse(fs.readFileSync(new URL(name, DATA), 'utf8'))
const base = Tokenizer.fromFileSync(new URL('tokenizer.json', DATA))
const { templates, cases } = read('masks.json')

test('masks by generation equal those of transformers', () => {
  for (const { name, messages, options, ids, mask } of cases.filter(
    ({ options }) => Object.keys(options).length === 0,
  )) {
    const request = { chatTemplate: templates[name], content: 'parse', returnAssistantMask: { by: 'generation' } }
    if (name === 'none') {
      assert.throws(() => base.applyChatTemplate(messages, request), { code: 'ERR_TOKENLANE_CHAT_REFUSED' })
      continue
    }
    const made = base.applyChatTemplate(messages, request)
    assert.deepEqual([...made.ids], ids, name)
    assert.deepEqual([...made.assistantMask], mask, `${name} ${JSON.stringify(messages)}`)
    assert.deepEqual(
      base.applyChatTemplate(messages, { ...request, returnAssistantMask: true }).assistantMask,
      made.assistantMask,
    )
    assert.ok(options !== undefined)
  }
})

test('the drop-in has the masks of transformers, with truncation and padding', () => {
  const config = { pad_token: '<s>', model_max_length: 1000 }
  const tokenizer = new PreTrainedTokenizer(base.toJSON(), config)
  for (const { name, messages, options, ids, mask } of cases) {
    const request = { chat_template: templates[name], return_assistant_tokens_mask: true, ...options }
    const made = tokenizer.apply_chat_template(messages, { ...request, return_tensor: false })
    assert.deepEqual(made.input_ids, ids, name)
    assert.deepEqual(made.assistant_masks, mask, `${name} ${JSON.stringify([messages, options])}`)
    const { assistant_masks: tensor } = tokenizer.apply_chat_template(messages, request)
    assert.deepEqual(Array.from(tensor.data, Number), mask)
  }
  const chat = [{ role: 'user', content: 'x' }]
  for (const options of [{ tokenize: false }, { return_dict: false }, { continue_final_message: true }])
    assert.throws(
      () =>
        tokenizer.apply_chat_template(chat, {
          chat_template: templates.turns,
          return_assistant_tokens_mask: true,
          ...options,
        }),
      { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' },
    )
})

const CHATML = `{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{% if m.content %}{{ m.content }}{% endif %}
{%- for call in m.tool_calls or [] %}<tool_call>{{ call|tojson }}</tool_call>{% endfor %}{{ '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`

/** The tokens of a mask as text, by the runs of the mask. */
function masked(tokenizer, messages, options) {
  const made = tokenizer.applyChatTemplate(messages, { returnAssistantMask: true, ...options })
  const runs = []
  made.ids.forEach((id, i) => {
    if (!made.assistantMask[i]) return
    if (i === 0 || !made.assistantMask[i - 1]) runs.push([])
    runs.at(-1).push(id)
  })
  return runs.map((ids) => tokenizer.decode(ids))
}

test('masks by origin have the text of the assistant, its calls and the end of its turns', () => {
  const messages = [
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: 'Hi <|im_end|>' },
    { role: 'assistant', content: '', tool_calls: [{ name: 'f', arguments: { a: 5, b: [true, 'é😀'] } }] },
    { role: 'tool', content: 'x' },
    { role: 'assistant', content: 'Done <|im_end|> now' },
  ]
  const call = '<tool_call>{"name": "f", "arguments": {"a": 5, "b": [true, "é😀"]}}</tool_call><|im_end|>'
  const wanted = [call, 'Done <|im_end|> now<|im_end|>']
  assert.deepEqual(masked(base, messages, { chatTemplate: CHATML }), wanted)
  assert.deepEqual(masked(base, messages, { chatTemplate: CHATML, addGenerationPrompt: true }), wanted)
  const configured = base.with({ addedTokens: [] })
  assert.deepEqual(
    masked(configured, messages, { chatTemplate: CHATML, returnAssistantMask: { by: 'origin' } }),
    wanted,
  )
  const { ids, messageIds, assistantMask } = base.applyChatTemplate(messages, {
    chatTemplate: CHATML,
    returnAssistantMask: true,
  })
  assert.deepEqual([messageIds.length, assistantMask.length], [ids.length, ids.length])
  const of = (index) => base.decode(ids.filter((_, i) => messageIds[i] === index))
  assert.equal(of(0), 'Be brief')
  assert.equal(of(1), 'Hi <|im_end|>')
  assert.equal(of(3), 'x')
  assert.match(of(-1), /^<\|im_start\|>system\n<\|im_end\|>\n<\|im_start\|>user\n/)
})

test('a template without an end of turn, and one without a generation prompt', () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Yes' },
    { role: 'user', content: 'Ok' },
    { role: 'assistant', content: 'No' },
  ]
  const open = "{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\\n' ~ m.content }}{% endfor %}"
  const prompt = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
  assert.deepEqual(masked(base, messages, { chatTemplate: open + prompt }), ['Yes', 'No'])
  const plain = "{% for m in messages %}{{ m.role ~ ': ' ~ m.content ~ '</s>' }}{% endfor %}"
  assert.deepEqual(masked(base, messages, { chatTemplate: plain }), ['Yes</s>', 'No</s>'])
})

test('masks of gpt-oss have the channels of the assistant', async () => {
  const oss = await Tokenizer.forModel('gpt-oss-20b')
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', thinking: 'Hm <|end|>', content: 'Yes' },
  ]
  assert.deepEqual(masked(oss, messages), [
    '<|channel|>analysis<|message|>Hm <|end|><|end|><|start|>assistant<|channel|>final<|message|>Yes<|return|>',
  ])
  const { ids } = oss.applyChatTemplate(messages, {})
  assert.equal(ids.filter((id) => id === oss.tokenToId('<|end|>')).length, 3)
  assert.equal(oss.countChat(messages), ids.length)
})
