// Masks of chats: which tokens the assistant wrote, and which message each token came from.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { PreTrainedTokenizer } from '../../packages/transformers/index.mjs'
import { CHATS, maskByPrefixes, unmarked } from '../support/prefix-masks.mjs'

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
  const call = '<tool_call>{"name": "f", "arguments": {"a": 5, "b": [true, "é😀"]}}</tool_call><|im_end|>\n'
  const wanted = [call, 'Done <|im_end|> now<|im_end|>\n']
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
  // Nothing that the template writes before an answer is a prompt.
  assert.deepEqual(masked(base, messages, { chatTemplate: plain }), ['assistant: Yes</s>', 'assistant: No</s>'])
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

const user = (content) => ({ role: 'user', content })
const said = (content, more) => ({ role: 'assistant', content, ...more })
const called = (name) => said('', { tool_calls: [{ id: '1', type: 'function', function: { name, arguments: {} } }] })
const result = (content) => ({ role: 'tool', tool_call_id: '1', content })

/** Templates with the habits of published ones, by what is special about them. */
const SHAPES = {
  'the header of a result names the function of the call': `{% for m in messages %}
    {%- if m.role == 'tool' %}{{ '<|start|>functions.' ~ last ~ ' to=assistant<|message|>' ~ m.content ~ '<|end|>' }}
    {%- else %}{{ '<|start|>' ~ m.role }}
      {%- for c in m.tool_calls or [] %}{% set ns.last = c.function.name %}{{ ' to=functions.' ~ c.function.name ~ '<|message|>{}<|call|>' }}
      {%- else %}{{ '<|message|>' ~ m.content ~ '<|end|>' }}{% endfor %}
    {%- endif %}{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}`
    .replace('{% for m in', "{% set ns = namespace(last='') %}{% for m in")
    .replace('~ last ~', '~ ns.last ~'),
  'results stand in the turn of the call, which a loop over numbers writes': `{% for i in range(messages|length) %}
    {%- set m = messages[i] %}
    {%- if m.role != 'tool' %}
      {%- if i == 0 or messages[i - 1].role != 'tool' %}{{ '<|turn>' ~ m.role ~ '\\n' }}{% endif %}
      {%- for c in m.tool_calls or [] %}{{ '<|call>' ~ c.function.name ~ '{}<call|>' }}{% endfor %}
      {%- set ns = namespace(results=0) %}
      {%- for k in range(i + 1, messages|length) %}
        {%- set next = messages[k] %}
        {%- if next.role == 'tool' and ns.results == k - i - 1 %}
          {%- set ns.results = ns.results + 1 %}{{ '<|response>' ~ (m.tool_calls[0]).function.name ~ '=' ~ next.content ~ '<response|>' }}
        {%- endif %}
      {%- endfor %}
      {%- if m.tool_calls and ns.results == 0 %}<|response>{% endif %}
      {%- if not m.tool_calls %}{{ m.content ~ '<turn|>\\n' }}{% endif %}
    {%- endif %}{% endfor %}
    {%- if add_generation_prompt and messages[-1].role != 'tool' %}{{ '<|turn>assistant\\n' }}{% endif %}`,
  'the prompt is empty': `{% for m in messages %}
    {%- if m.role == 'assistant' %}
      {%- if m.tool_calls %}{{ '[TOOL_CALLS] ' ~ m.tool_calls|tojson ~ '</s>' }}{% else %}{{ ' ' ~ m.content ~ '</s>' }}{% endif %}
    {%- elif m.role == 'tool' %}{{ '[RESULT] ' ~ m.content ~ '[/RESULT]' }}
    {%- else %}{{ '[INST] ' ~ m.content ~ ' [/INST]' }}{% endif %}{% endfor %}`,
  'the option for a prompt is ignored': `{% for m in messages %}{{ '<|' ~ m.role ~ '|>' }}
    {%- if m.role == 'assistant' %}<|response|>{% endif %}{{ m.content ~ '<|end|>' }}{% endfor %}`,
  'the prompt opens the reasoning': `{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\\n' }}
    {%- if m.role == 'assistant' and loop.last %}{{ '<think>\\n' ~ m.reasoning_content ~ '</think>' }}{% endif %}
    {%- for c in m.tool_calls or [] %}{{ '<tool_call>' ~ c.function.name ~ '</tool_call>' }}{% endfor %}
    {%- if m.content %}{{ m.content }}{% endif %}{{ '<|im_end|>\\n' }}{% endfor %}
    {%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}`,
  'the next turn writes the end of the turn': `{% for m in messages %}{% if not loop.first %}<|end|>{% endif %}
    {%- if m.content %}{{ '<|' ~ m.role ~ '|>' ~ m.content }}{% else %}{{ '<|' ~ m.role ~ '|>' }}{% endif %}{% endfor %}<|end|>
    {%- if add_generation_prompt %}<|assistant|>{% endif %}`,
  'turns are collected in a variable': `{% set ns = namespace(all='') %}{% for m in messages %}
    {%- set ns.all = ns.all ~ '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>' %}{% endfor %}{{ ns.all }}
    {%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`,
}
const shaped = (name, messages, options) => masked(base, messages, { chatTemplate: SHAPES[name], ...options })

test('text of one message in the turn of another is not learned', () => {
  const messages = [user('Hi'), called('get'), result('sun'), said('Yes')]
  // As in trl's training template of gpt-oss, but for the prompt.
  assert.deepEqual(shaped('the header of a result names the function of the call', messages), [
    ' to=functions.get<|message|>{}<|call|>',
    '<|message|>Yes<|end|>',
  ])
  // As Gemma 4: by <|response> the model asks for the result.
  const inTurn = 'results stand in the turn of the call, which a loop over numbers writes'
  assert.deepEqual(shaped(inTurn, messages), ['<|call>get{}<call|><|response>', 'Yes<turn|>\n'])
  assert.deepEqual(shaped(inTurn, messages.slice(0, 2)), ['<|call>get{}<call|><|response>'])
})

test('answers start behind the prompt, whatever it is', () => {
  const messages = [user('Hi'), called('get'), result('sun'), said('Yes', { reasoning_content: 'Hm' })]
  const call = '[TOOL_CALLS] [{"id": "1", "type": "function", "function": {"name": "get", "arguments": {}}}]</s>'
  assert.deepEqual(shaped('the prompt is empty', messages), [call, ' Yes</s>'])
  assert.deepEqual(shaped('the option for a prompt is ignored', [user('Hi'), said('Yes'), user('So'), said('No')]), [
    '<|assistant|><|response|>Yes<|end|>',
    '<|assistant|><|response|>No<|end|>',
  ])
  // The earlier call has no reasoning.
  assert.deepEqual(shaped('the prompt opens the reasoning', messages), [
    '<tool_call>get</tool_call><|im_end|>\n',
    'Hm</think>Yes<|im_end|>\n',
  ])
})

test('the end of an empty answer is learned, also where the next turn writes it', () => {
  const messages = [user('Hi'), said(''), user('So'), said(''), user('Ok')]
  const prompted = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
  const tagged =
    `{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\\n' }}{% generation %}{{ m.content ~ '<|im_end|>' }}{% endgeneration %}{% endfor %}${prompted}`
      .replace('{% generation %}', "{% if m.role == 'assistant' %}{% generation %}")
      .replace('{% endgeneration %}', "{% endgeneration %}{% else %}{{ m.content ~ '<|im_end|>' }}{% endif %}")
  const masks = [tagged, unmarked(tagged)].map((chatTemplate) => masked(base, messages, { chatTemplate }))
  assert.deepEqual(masks, [
    ['<|im_end|>', '<|im_end|>'],
    ['<|im_end|>', '<|im_end|>'],
  ])
  assert.deepEqual(shaped('the next turn writes the end of the turn', messages), ['<|end|>', '<|end|>'])
})

test('an answer is what the rendering up to it, with a generation prompt, lacks', () => {
  const { styles } = read('chats.json')
  const published = Object.entries(styles).flatMap(([style, { chat_template: given, ...config }]) =>
    [given].flat().map((one) => [style, unmarked(one.template ?? one), config]),
  )
  let judged = 0
  for (const [name, chatTemplate, config = {}] of [...Object.entries(SHAPES), ...published]) {
    const tokenizer = Tokenizer.fromBufferSync(base.toBuffer(), { config })
    const textOf = (messages, options) =>
      tried(() => tokenizer.applyChatTemplate(messages, { ...options, chatTemplate, tokenize: false }))
    for (const [kind, [messages, options = {}]] of Object.entries(CHATS)) {
      const request = { ...options, chatTemplate, returnAssistantMask: { by: 'origin' } }
      const made = tried(() => tokenizer.applyChatTemplate(messages, request))
      const wanted = made && maskByPrefixes(textOf, messages, options, made.offsets)
      // Without a loop that writes, nothing shows where an empty answer is.
      const isLost = name.includes('variable') && messages.some(({ content }) => !content)
      if (wanted === undefined || isLost) continue
      judged++
      assert.deepEqual(made.assistantMask, wanted, `${name}, ${kind}`)
    }
  }
  assert.ok(judged > 80, `${judged}`)
})

function tried(work) {
  try {
    return work()
  } catch (failure) {
    if (!/CHAT_(REFUSED|TEMPLATE)$/.test(failure.code)) throw failure
    return undefined
  }
}

test('the cost of a mask is linear in the number of messages', () => {
  const rendered = (turns) => {
    let count = 0
    const see = () => {
      count++
      return ''
    }
    const messages = Array.from({ length: turns }, (_, i) => [
      { role: i % 3 ? 'user' : `role ${i}`, content: 'Hi' },
      i % 2 ? called('get') : said('Yes'),
    ]).flat()
    const chatTemplate = CHATML.replace('{{ m.content }}', '{{ m.content }}{{ see() }}')
    const options = {
      chatTemplate: `{% for m in messages %}{{ see() }}{% endfor %}${chatTemplate}`,
      variables: { see },
    }
    const { assistantMask } = base.applyChatTemplate(messages, { ...options, returnAssistantMask: true })
    assert.ok(assistantMask.includes(1))
    return count
  }
  assert.ok(rendered(400) < 12 * rendered(50), 'eight times the messages')
})

test('a template that collects its turns: where it does not only append, a special token ends an answer', () => {
  const name = 'turns are collected in a variable'
  const messages = [user('Hi'), said('Yes'), user('So'), said(''), user('Ok'), said('No')]
  assert.deepEqual(shaped(name, messages), ['Yes<|im_end|>', 'No<|im_end|>'], 'an answer without text has no mask')
  const appending = SHAPES[name].replace("m.content ~ '<|im_end|>'", "m.content ~ '<|end|></s>'")
  const added = { addedTokens: [{ content: '<|end|>', special: true }] }
  const named = Tokenizer.fromFileSync(new URL('tokenizer.json', DATA), { config: { eos_token: '</s>' } })
  const masks = (tokenizer, chatTemplate) => masked(tokenizer.with(added), messages.slice(0, 3), { chatTemplate })
  assert.deepEqual(masks(base, appending), ['Yes<|end|></s>'])
  const ended = `${appending}The end.`
  assert.deepEqual(masks(base, ended), ['Yes<|end|>'], 'the first special token')
  assert.deepEqual(masks(named, ended), ['Yes<|end|></s>'], 'the eos_token')
})

test('besides the conversation, eight beginnings and eight ends are rendered at most', () => {
  let renderings = 0
  const variables = { see: () => void renderings++ }
  const kinds = Array.from({ length: 40 }, (_, i) => [{ role: `role ${i}`, content: 'Hi' }, said('Yes')]).flat()
  const chatTemplate = `{% set _ = see() %}${CHATML}`
  base.applyChatTemplate(kinds, { chatTemplate, variables, returnAssistantMask: true })
  // Each beginning twice, with and without the prompt.
  assert.ok(renderings > 8 && renderings <= 1 + 2 * 8 + 8, String(renderings))
  const after = renderings
  base.applyChatTemplate(kinds, { chatTemplate, variables })
  assert.equal(renderings, after + 1)
})
