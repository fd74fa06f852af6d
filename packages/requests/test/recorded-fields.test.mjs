// Each field of each recorded message and request changes the result, or is listed here as one
// without effect. A field that is dropped on the way, or read from the wrong place, shows up.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'
import { countRequest, fromAiSdk, fromAnthropic, fromLangChain, fromResponses } from '@tokenlane/requests'
import { changedLeaves } from '../../../__test__/support/changed-leaf.mjs'

const url = (name) => new URL(`../../../__test__/testdata/chat/${name}`, import.meta.url)
const read = (name) => JSON.parse(fs.readFileSync(url(name), 'utf8'))
const { clients } = read('clients.json')

/** The result as JSON, or the code of its error. `recorded` is the value without the change. */
function resultOf(convert, value, recorded) {
  try {
    return JSON.stringify(convert(value, recorded))
  } catch ({ code = 'an error without a code' }) {
    return code
  }
}

/**
 * The places without effect: `never`, or `at times` where the field has an effect elsewhere.
 *
 * @param {any[]} recorded
 * @param {(value: any, recorded: any) => any} convert
 * @param {(place: string) => string} [nameOf]
 */
function withoutEffect(recorded, convert, nameOf = (place) => place) {
  const effects = new Map()
  for (const value of recorded) {
    const before = resultOf(convert, value, value)
    assert.match(before, /^[[{"]/, 'the recording itself has a result')
    for (const { place, change, copy } of changedLeaves(value)) {
      const after = resultOf(convert, copy, value)
      assert.notEqual(after, 'an error without a code', place)
      const name = change === 'missing' ? `${nameOf(place)} (missing)` : nameOf(place)
      effects.set(name, [...(effects.get(name) ?? []), after !== before])
    }
  }
  assert.ok(effects.size > 0)
  const dead = [...effects].filter(([, each]) => each.includes(false))
  const often = Object.fromEntries(dead.map(([name, each]) => [name, each.includes(true) ? 'at times' : 'never']))
  return Object.fromEntries(
    Object.entries(often).filter(([name, how]) => !name.endsWith(' (missing)') || often[name.slice(0, -10)] !== how),
  )
}

test('adapters: the fields of recorded messages without effect', () => {
  const recorded = (...names) => names.map((name) => clients[name])
  const places = {
    ai: withoutEffect(recorded('ai, ModelMessage', 'ai, UIMessage', 'ai, UIMessage converted'), fromAiSdk),
    langchain: withoutEffect(recorded('langchain, stored messages', 'langchain, fields of messages'), fromLangChain),
    anthropic: withoutEffect(recorded('anthropic', 'anthropic, with its answer'), (messages) =>
      fromAnthropic({ messages }),
    ),
    responses: withoutEffect(
      recorded('openai responses', 'openai responses, messages only', 'ai, sent to responses'),
      (input) => fromResponses({ input }),
    ),
  }
  assert.deepEqual(places, {
    // The type of a part with a text, and of a file whose data: URL has its own, is not read.
    ai: {
      '[].id': 'never',
      '[].content[].type': 'at times',
      '[].content[].mediaType': 'at times',
      // A result that is no text is JSON, whatever its type.
      '[].content[].output.type': 'never',
      '[].parts[].type': 'at times',
      '[].parts[].mediaType': 'never',
      // Whether a text or reasoning is done.
      '[].parts[].state': 'at times',
    },
    langchain: {
      '[].content[].type': 'at times',
      '[].data.content[].type': 'at times',
      '[].data.status': 'never',
      '[].data.tool_calls[].type': 'never',
      '[].tool_calls[].type': 'never',
    },
    anthropic: {
      // Of an answer that is sent back.
      '[].id': 'never',
      '[].type': 'never',
      '[].model': 'never',
      '[].stop_reason': 'never',
      '[].usage.input_tokens': 'never',
      '[].usage.output_tokens': 'never',
      '[].usage (missing)': 'never',
      // Results of tools alone are messages of their own role.
      '[].role': 'at times',
      '[].content[].type': 'at times',
      '[].content[].signature': 'never',
      '[].content[].content[].type': 'never',
      '[].content[].is_error': 'never',
    },
    responses: {
      '[].id': 'never',
      '[].status': 'never',
      // With a role, an item is a message.
      '[].type': 'at times',
      '[].content[].type': 'at times',
      '[].summary[].type': 'never',
      // No arguments are those of an empty object.
      '[].arguments (missing)': 'at times',
    },
  })
})

test('fields of LangChain messages are converted as its stored messages are', () => {
  const messages = fromLangChain(clients['langchain, stored messages'])
  assert.equal(messages.filter(({ tool_calls: calls }) => calls?.length === 2).length, 1)
  assert.deepEqual(fromLangChain(clients['langchain, fields of messages']), messages)
})

const loaded = new Map()
const counterOf = (model) => {
  if (!loaded.has(model)) loaded.set(model, Tokenizer.forModelSync(model))
  return loaded.get(model)
}
const gpt4o = counterOf('gpt-4o')

// The type of a call, its id where it is the only one, and the name of a tool beside its result;
// no arguments are counted as empty ones.
const CALLS = {
  '[].name': 'at times',
  '[].tool_call_id': 'at times',
  '[].tool_calls[].id': 'at times',
  '[].tool_calls[].type': 'never',
  '[].tool_calls[].function.arguments (missing)': 'at times',
}

test('countRequest: the fields of recorded messages without effect', () => {
  const sent = Object.keys(clients).filter((name) => /^openai, |chat completions$/.test(name))
  const partTokens = (part) => JSON.stringify(part).length
  assert.deepEqual(
    withoutEffect(
      sent.map((name) => clients[name]),
      (messages) => countRequest(gpt4o, { messages }, { model: 'gpt-4o', partTokens }),
    ),
    {
      ...CALLS,
      // The id of an audio answer stands for it.
      '[].audio.id': 'never',
      '[].audio.data': 'never',
      '[].audio.expires_at': 'never',
      // Detail `low` has one price.
      '[].content[].image_url.url': 'at times',
    },
  )
})

const SCHEMA = {
  'schema: $defs (missing)': 'never',
  'schema: a property (missing)': 'at times',
  'schema: additionalProperties': 'never',
  'schema: const': 'at times',
  'schema: default': 'never',
  'schema: items (missing)': 'at times',
  'schema: properties (missing)': 'at times',
  'schema: required (missing)': 'at times',
  'schema: required[]': 'at times',
  'schema: type': 'at times',
}

/** A schema has objects in each other: only the last name counts. */
const ofSchema = (place) => {
  const schema = /^((?:tools|functions)\[\](?:\.function)?\.parameters|.*\bschema)\.(.*)$/.exec(place)
  if (schema === null) return place
  const [, , below] = schema
  const keyword = /(?:^|\.)(?:properties|\$defs)\.[^.[]+$/.test(below) ? 'a property' : /[^.]+$/.exec(below)[0]
  return `schema: ${keyword}`
}

test('countRequest: the fields of requests with published usage without effect', () => {
  const { requests } = read('usage.json')
  const bodies = requests.map(({ body, model }) => ({ ...body, model }))
  const count = (body, { model }) => countRequest(counterOf(model), body)
  const [chats, responses] = [false, true].map((isOfResponses) =>
    bodies.filter(({ input }) => (input !== undefined) === isOfResponses),
  )
  assert.deepEqual(withoutEffect(chats, count, ofSchema), {
    ...Object.fromEntries(Object.entries(CALLS).map(([place, how]) => [`messages${place}`, how])),
    ...SCHEMA,
    'functions[].parameters (missing)': 'at times',
    'tools[].function.parameters (missing)': 'at times',
    'tools[].function.strict': 'never',
    'tools[].type': 'never',
    'response_format.json_schema.strict': 'never',
    tool_choice: 'at times',
    'tool_choice.type': 'never',
    // Without rules of OpenAI every count is an estimate. The tokenizer has a model, too.
    model: 'at times',
    'model (missing)': 'never',
  })
  assert.deepEqual(withoutEffect(responses, count, ofSchema), {
    'input[].call_id': 'at times',
    'input[].id': 'never',
    'input[].status': 'never',
    'schema: additionalProperties': 'never',
    'schema: items (missing)': 'at times',
    'schema: required (missing)': 'at times',
    'schema: required[]': 'at times',
    'schema: type': 'at times',
    'tools[].parameters (missing)': 'at times',
    'tools[].strict': 'never',
    tool_choice: 'never',
    model: 'never',
  })
})

test('templates: the fields of recorded chats without effect', () => {
  const { styles, chats } = read('chats.json')
  const tokenizers = Object.values(styles).map((config) =>
    Tokenizer.fromFileSync(url('tokenizer.json'), { config, chatTemplate: config.chat_template }),
  )
  const texts = (messages) =>
    tokenizers.map((one) => resultOf((given) => one.applyChatTemplate(given, { tokenize: false }), messages))
  assert.deepEqual(withoutEffect(Object.values(chats), texts), {
    // Both `stop: false` and no `stop` are false.
    '[].stop (missing)': 'at times',
    '[].tool_calls[].type': 'at times',
  })
})
