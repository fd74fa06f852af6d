// Requests to Gemini: what the parts of a body add, and how sure that is. The small tokenizer of
// the test data stands for Gemini's vocabulary.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { countRequest } from '@tokenlane/requests'
import { TYPE, UNDOCUMENTED, local, of, placesOf } from './support.mjs'

const gpt4o = of('gpt-4o')
const gemma = {
  count: (text, options) => local.count(text, options),
  countChat: (messages, options) => local.countChat(messages, options),
  vocabSize: () => 262_145,
}
const gemini = (body, model = 'gemini-2.5-flash', options) => countRequest(gemma, body, { model, ...options })
const wordsOf = (...texts) => texts.reduce((sum, one) => sum + local.count(one, { addSpecialTokens: false }), 0)
const contents = (...parts) => [{ role: 'user', parts }]

test('Gemini: texts are counted, in every form of a body, with a token for each message since 2.5', () => {
  const systemInstruction = { parts: [{ text: 'Be brief.' }] }
  const texts = wordsOf('Be brief.', 'Hello')
  const counted = gemini({ systemInstruction, contents: contents({ text: 'Hello' }) })
  assert.deepEqual(counted, { tokens: texts + 2, estimated: [], api: 'gemini' })
  assert.equal(gemini({ systemInstruction, contents: contents({ text: 'Hello' }) }, 'gemini-2.0-flash').tokens, texts)
  for (const body of [
    { system_instruction: 'Be brief.', contents: 'Hello' },
    { systemInstruction: { parts: { text: 'Be brief.' } }, contents: { parts: ['Hello'] } },
  ])
    assert.equal(gemini(body, 'models/gemini-2.5-pro').tokens, texts + 2)
  assert.deepEqual(placesOf(countRequest(gemma, { contents: 'Hello' })), ['model'])
  assert.deepEqual(placesOf(countRequest(gpt4o, { contents: 'Hello' }, { model: 'gemini-2.5-pro' })), ['model'])
})

test('Gemini: functions, calls, results and signatures take tokens and are estimates', () => {
  const declaration = (description) => ({
    name: 'get',
    description,
    parameters: { type: 'OBJECT', properties: { city: { type: 'STRING', description } }, required: ['city'] },
  })
  const body = (description) => ({
    contents: 'Hello',
    tools: [{ functionDeclarations: [declaration(description)] }],
  })
  const short = gemini(body('A'))
  assert.deepEqual(placesOf(short), ['tools[0]'])
  const longer = 'A text that says what it is.'
  assert.equal(gemini(body(longer)).tokens - short.tokens, 2 * (wordsOf(longer) - wordsOf('A')))
  const python = { contents: 'Hello', tools: { function_declarations: [declaration('A')] } }
  assert.equal(gemini(python).tokens, short.tokens)
  const turn = (thoughtSignature, args) => [
    ...contents({ text: 'x' }),
    { role: 'model', parts: [{ functionCall: { name: 'get', args }, thoughtSignature }] },
    { role: 'user', parts: [{ functionResponse: { name: 'get', response: { result: 'y' } } }] },
  ]
  const tokens = (model, ...given) => gemini({ contents: turn(...given) }, model).tokens
  assert.equal(
    tokens('gemini-2.5-flash', undefined, { a: 'long text' }) - tokens('gemini-2.5-flash', undefined, {}),
    wordsOf('{"a":"long text"}') - wordsOf('{}'),
  )
  const signed = tokens('gemini-3-pro-preview', 's'.repeat(5000), {}) - tokens('gemini-3-pro-preview', undefined, {})
  assert.ok(signed > 5000 / 7 && signed < 5000 / 4, `${signed} tokens`)
})

test('Gemini: images, pages of PDF and seconds of audio are counted by rules, other files by the caller', () => {
  const media = (mimeType, bytes, model, options) =>
    gemini(
      { contents: contents({ inlineData: { mimeType, data: Buffer.from(bytes, 'latin1').toString('base64') } }) },
      model,
      options,
    ).tokens
  const imageSize = (side) => ({ imageSize: () => ({ width: side, height: side }) })
  assert.equal(media('image/png', 'x', 'gemini-2.5-flash', imageSize(3000)), 259)
  assert.equal(media('image/png', 'x', 'gemini-2.0-flash', imageSize(384)), 258)
  assert.equal(media('image/png', 'x', 'gemini-2.0-flash', imageSize(385)), 1290)
  const pdf = '%PDF-1.4 << /Type /Pages >> << /Type /Page >> << /Type/Page >>'
  assert.equal(media('application/pdf', pdf, 'gemini-2.5-flash'), 2 * 258 + 1)
  const header = Buffer.alloc(44)
  header.write('RIFF')
  header.writeUInt32LE(8000, 28)
  const wav = header.toString('latin1') + 'x'.repeat(20_000)
  assert.equal(media('audio/wav', wav, 'gemini-2.5-flash'), 3 * 32 + 1)
  assert.throws(() => media('video/mp4', 'x', 'gemini-2.5-flash'), { code: UNDOCUMENTED, message: /contents\[0\]/ })
  assert.equal(media('video/mp4', 'x', 'gemini-2.5-flash', { partTokens: () => 70 }), 71)
  assert.throws(() => gemini({ contents: contents({ inlineData: { mimeType: 'audio/wav', data: '!' } }) }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
  })
})

test('Gemini: a body with fields of other types is refused by its place', () => {
  for (const [body, place] of [
    [{ contents: 7 }, 'contents'],
    [{ contents: [{ parts: [{ text: 7 }] }] }, 'contents[0].parts[0].text'],
    [{ contents: 'x', systemInstruction: 7 }, 'systemInstruction'],
    [{ contents: 'x', tools: [{ functionDeclarations: [{ name: 7 }] }] }, 'tools[0].functionDeclarations[0].name'],
  ])
    assert.throws(
      () => gemini(body),
      (error) => error.code === TYPE && error.message.includes(place),
      place,
    )
})

test('Gemini: parts without a content around them are counted, in contents and in instructions', () => {
  const texts = wordsOf('Be brief.', 'Hello')
  const [one] = contents({ text: 'Hello' })
  for (const given of [{ text: 'Hello' }, [{ text: 'Hello' }], ['Hello'], one, [one]])
    for (const systemInstruction of ['Be brief.', { text: 'Be brief.' }, [{ text: 'Be brief.' }], ['Be brief.']])
      assert.equal(gemini({ systemInstruction, contents: given }).tokens, texts + 2, JSON.stringify(given))
  // Parts beside each other are one message.
  assert.equal(gemini({ contents: ['Be brief.', { text: 'Hello' }] }).tokens, texts + 1)
  assert.equal(gemini({ contents: [{ role: 'user', text: 'Hello' }] }).tokens, wordsOf('Hello') + 1)
  assert.throws(() => gemini({ contents: [[one]] }), { code: TYPE, message: /contents\[0\]/ })
})

test('Gemini: types of media and values of enums are never coerced', () => {
  const hostile = { toString: 1, valueOf: 1 }
  for (const [part, place] of [
    [{ inlineData: { mimeType: hostile, data: 'x' } }, 'inlineData.mimeType'],
    [{ inline_data: { mime_type: 'image/png', data: hostile } }, 'inline_data.data'],
    [{ fileData: { mimeType: hostile, fileUri: 'x' } }, 'fileData.mimeType'],
    [{ file_data: { mime_type: 'image/png', file_uri: hostile } }, 'file_data.file_uri'],
  ])
    assert.throws(
      () => gemini({ contents: contents(part) }),
      (error) => error.code === TYPE && error.message.includes(`contents[0].parts[0].${place} `),
      place,
    )
  const parameters = { properties: { a: { enum: [hostile, 1, 'b'] } } }
  const tools = [{ functionDeclarations: [{ name: 'f', parameters }] }]
  assert.ok(gemini({ contents: 'x', tools }).tokens > gemini({ contents: 'x' }).tokens)
})

test('Gemini: fields that are not counted are estimates, and config is counted like the body', () => {
  const tools = [{ functionDeclarations: [{ name: 'f', description: 'A function.' }] }]
  const fields = { systemInstruction: 'Be brief.', tools, toolConfig: { functionCallingConfig: { mode: 'ANY' } } }
  const response = { name: 'f', response: {}, parts: [{ inlineData: { mimeType: 'image/png', data: 'x' } }] }
  const turn = contents({ functionResponse: response })
  const body = gemini({ contents: turn, ...fields, generationConfig: { responseSchema: {}, temperature: 1 } })
  const places = ['tools[0]', 'toolConfig', 'contents[0].parts[0]', 'contents[0].parts[0].functionResponse.parts']
  assert.deepEqual(placesOf(body), [...places, 'generationConfig.responseSchema'])
  const abortSignal = new AbortController().signal
  const config = gemini({ contents: turn, config: { ...fields, responseJsonSchema: {}, abortSignal } })
  const inConfig = places.map((place) => (place.startsWith('tool') ? `config.${place}` : place))
  assert.deepEqual(placesOf(config), [...inConfig, 'config.responseJsonSchema'])
  assert.equal(config.tokens, body.tokens)
  assert.ok(body.estimated.some(({ place, error }) => place === 'toolConfig' && error === 0.5))
})

test('Gemini: another model, and a tokenizer with a vocabulary of another size, are estimates', () => {
  for (const model of ['gpt-4o', 'foo']) assert.deepEqual(placesOf(gemini({ contents: 'x' }, model)), ['model'], model)
  for (const model of ['models/gemini-2.5-pro', 'google/gemini-3-pro-preview'])
    assert.deepEqual(placesOf(gemini({ contents: 'x' }, model)), [], model)
  assert.deepEqual(placesOf(countRequest(local, { contents: 'x' }, { model: 'gemini-2.5-pro' })), ['model'])
})

test('Gemini: places are those of the body, and a refusal names the field of the part', () => {
  const image = (...names) => ({ [names[0]]: { [names[1]]: 'image/png', data: 'x' } })
  const snake = { contents: { parts: image('inline_data', 'mime_type') }, system_instruction: { parts: ['x'] } }
  assert.deepEqual([...new Set(placesOf(gemini(snake)))], ['contents.parts'])
  const inSystem = { contents: 'x', system_instruction: { parts: [image('inlineData', 'mimeType')] } }
  assert.deepEqual([...new Set(placesOf(gemini(inSystem)))], ['system_instruction.parts[0]'])
  const wav = { contents: { parts: [{ inline_data: { mime_type: 'audio/wav', data: '!' } }] } }
  assert.throws(() => gemini(wav), { message: /contents\.parts\[0\]\.inline_data\.data/ })
  const code = { contents: contents({ executableCode: { code: '1' } }) }
  assert.throws(() => gemini(code), { code: UNDOCUMENTED, message: /parts\[0\] \(a part with "executableCode"\)/ })
})

test('Gemini: pages of PDF are counted where partTokens returns nothing', () => {
  const data = Buffer.from('%PDF-1.4 << /Type /Page >>').toString('base64')
  const body = { contents: contents({ inlineData: { mimeType: 'application/pdf', data } }) }
  assert.equal(gemini(body, undefined, { partTokens: () => undefined }).tokens, 258 + 1)
  assert.equal(gemini(body, undefined, { partTokens: () => 7 }).tokens, 7 + 1)
})
