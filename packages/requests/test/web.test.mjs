// The bundle for browsers and edges, over @tokenlane/web, counts as the package over the addon
// does. `npm test` and `npm run maintain -- web` build it; without a build, the spec is skipped.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import * as requests from '@tokenlane/requests'
import { Tokenizer } from 'tokenlane'

const bundle = new URL('../web/bundle.mjs', import.meta.url)
const skip = !fs.existsSync(bundle) && 'npm run maintain -- web builds it'
const data = (name) => new URL(`../../../__test__/testdata/chat/${name}`, import.meta.url)

/** What `code`, the body of an async function, returns in a process with the condition. */
function answered(condition, code) {
  const script = `
    import * as requests from '@tokenlane/requests'
    import { Tokenizer, limits } from '@tokenlane/web'
    const answer = async () => {${code}}
    console.log(JSON.stringify(await answer()))`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['-C', condition, '--input-type=module', '-e', script],
    // A file of packages/, in which the names of the packages are known.
    { cwd: fileURLToPath(new URL('.', import.meta.url)), encoding: 'utf8' },
  )
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}

test('package.json selects the bundle for browsers, workerd and edge-light', () => {
  const { exports: entries } = JSON.parse(fs.readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  for (const condition of ['browser', 'workerd', 'edge-light'])
    assert.equal(fileURLToPath(new URL(`../${entries['.'][condition]}`, import.meta.url)), fileURLToPath(bundle))
})

test('the bundle has the names of the package, and counts what the package counts', { skip }, () => {
  const bodies = JSON.parse(fs.readFileSync(data('usage.json'), 'utf8'))
    .requests.slice(0, 40)
    .map(({ model, body }) => ({ ...body, model }))
  const file = fileURLToPath(data('usage.json'))
  const found = answered(
    'browser',
    `const { readFileSync } = await import('node:fs')
    const { requests: recorded } = JSON.parse(readFileSync(${JSON.stringify(file)}, 'utf8'))
    const counted = []
    for (const { model, body } of recorded.slice(0, 40))
      counted.push(requests.countRequest(await Tokenizer.forModel(model), { ...body, model }))
    const oss = await Tokenizer.forModel('gpt-oss-20b')
    const messages = [{ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Yes' }]
    counted.push(requests.countRequest(oss, { messages }))
    counted.push(requests.fitChat(await Tokenizer.forModel('gpt-4o'), messages, { maxTokens: 10 }))
    return { names: Object.keys(requests).sort(), counted }`,
  )
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Yes' },
  ]
  const counted = [
    ...bodies.map((body) => requests.countRequest(Tokenizer.forModelSync(body.model), body)),
    requests.countRequest(Tokenizer.forModelSync('gpt-oss-20b'), { messages }),
    requests.fitChat(Tokenizer.forModelSync('gpt-4o'), messages, { maxTokens: 10 }),
  ]
  const names = Object.keys(requests).filter((name) => !['default', 'module.exports'].includes(name))
  assert.deepEqual(found, { names: names.sort(), counted })
})

test('the limits of @tokenlane/web hold for the bundle', { skip }, () => {
  const codes = answered(
    'browser',
    `const tokenizer = await Tokenizer.forModel('gpt-4o')
    const properties = Object.fromEntries(Array.from({ length: 900 }, (_, i) => ['p' + i, { type: 'string' }]))
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties } } }]
    const body = { messages: [{ role: 'user', content: 'x'.repeat(200) }], tools }
    const codeOf = (call) => { try { return call().tokens > 0 } catch ({ code }) { return code } }
    const count = () => codeOf(() => requests.countRequest(tokenizer, body))
    const codes = [count(), codeOf(() => requests.countRequest({}, body))]
    limits.configure({ maxChatOutput: 1000 })
    codes.push(count())
    limits.configure({ maxChatOutput: Infinity, maxInputBytes: 100 })
    codes.push(count())
    return codes`,
  )
  assert.deepEqual(codes, [
    true,
    'ERR_TOKENLANE_ARGUMENT_TYPE',
    'ERR_TOKENLANE_CHAT_LIMIT',
    'ERR_TOKENLANE_INPUT_TOO_LARGE',
  ])
})
