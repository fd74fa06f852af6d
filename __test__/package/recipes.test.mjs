// What people copy from the recipes and guides, run with what strangers send: the functions of a
// page's blocks, as modules.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { Tokenizer, encodingForModel, limits } from '../../index.mjs'
import * as gptTokenizer from '../../packages/gpt-tokenizer/model/gpt-4o.mjs'
import * as jsTiktoken from '../../packages/js-tiktoken/index.js'
import * as tiktoken from '../../packages/tiktoken/index.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-recipes-'))
test.after(() => fs.rmSync(folder, { recursive: true, force: true }))
const modules = path.join(folder, 'node_modules')
fs.mkdirSync(path.join(modules, '@tokenlane'), { recursive: true })
fs.symlinkSync(root, path.join(modules, 'tokenlane'), 'junction')
for (const name of ['requests', 'web'])
  fs.symlinkSync(path.join(root, 'packages', name), path.join(modules, '@tokenlane', name), 'junction')

/** The blocks of a page that a word selects as one module, which exports names. */
async function moduleOf(page, names, word = '') {
  const text = fs.readFileSync(`${root}docs/guide/${page}`, 'utf8')
  const blocks = Array.from(text.matchAll(/^```(?:js|ts)\n([^]*?)^```/gm), ([, code]) => code)
  const code = blocks
    .filter((block) => block.includes(word))
    .join('\n')
    .replaceAll(/^console\.log\(.*$|^for await .*\) .*[^{]$|^for await \([^]*?^}$/gm, '')
  const file = path.join(folder, `${page.replaceAll('/', '-')}.mjs`)
  fs.writeFileSync(file, names.length === 0 ? code : `${code}\nexport { ${names.join(', ')} }\n`)
  return import(pathToFileURL(file).href)
}

test('training-data: documents of any length become windows, in order and once', async () => {
  const { windows, tokenizer, WINDOW } = await moduleOf('recipes/training-data.md', ['windows', 'tokenizer', 'WINDOW'])
  const documents = ['a b c d '.repeat(400_000), '', '<|endoftext|>', 'x', 'One document.']
  const wanted = documents.flatMap((text) => [...tokenizer.encode(text).ids, tokenizer.eosId])
  const ids = []
  for await (const window of windows(documents)) {
    assert.equal(window.length, WINDOW)
    for (const id of window) ids.push(id)
  }
  assert.ok(ids.length > 1_500_000 && wanted.length - ids.length < WINDOW)
  assert.ok(ids.every((id, at) => id === wanted[at]))
})

test('streaming: the limit holds for any text, and nothing within it is cut', async () => {
  const { limited, tokenizer } = await moduleOf('recipes/streaming.md', ['limited', 'tokenizer'])
  const texts = {
    words: 'word '.repeat(3000),
    'three tokens a unit': 'ᚠꦱᠮ'.repeat(700),
    emoji: '👩‍🚀🚀'.repeat(400),
    spaces: ' '.repeat(9000),
    'spaces and letters': `${' '.repeat(81)}y`.repeat(60),
    numbers: '1234567890'.repeat(500),
  }
  const { count } = tokenizer
  for (const [name, text] of Object.entries(texts)) {
    for (const [size, limit] of [
      [1, 100],
      [3, 1],
      [7, 1000],
      [50, 10],
      [5, 100_000],
    ]) {
      const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.slice(i * size, (i + 1) * size),
      )
      const controller = new AbortController()
      let counted = 0
      tokenizer.count = (...args) => {
        counted += 1
        return count.apply(tokenizer, args)
      }
      let answer = ''
      for await (const part of limited(parts, limit, controller)) {
        answer += part
        if (answer.length % 97 === 0) assert.ok(tokenizer.isWithin(answer, limit), `${name}, ${limit}`)
      }
      const what = `${name}, parts of ${size}, limit ${limit}`
      assert.ok(tokenizer.isWithin(answer, limit), what)
      assert.equal(controller.signal.aborted, answer !== text, what)
      if (answer !== text) assert.ok(!tokenizer.isWithin(text.slice(0, answer.length + size), limit), what)
      // Not at each part: only behind the limit's last tokens.
      assert.ok(counted <= 40 + 16 * (answer.length / Math.max(1, limit)) + 120, `${what}: ${counted} counts`)
      delete tokenizer.count
    }
  }
})

test('gateway: requests of strangers are refused, and buckets stay numbers', async () => {
  const { check, admit, counts } = await moduleOf('recipes/gateway.md', ['check', 'admit', 'counts'])
  try {
    assert.equal(check('<|endoftext|>').status, 200)
    const messages = [{ role: 'user', content: 'Hello!' }]
    for (const answer of [undefined, null, NaN, -1, 1.5, '600', {}, [5], 2 ** 60])
      assert.deepEqual(admit('eve', { messages, max_tokens: answer }, 0), { status: 400 }, String(answer))
    for (const hostile of [undefined, null, 5, 'x', {}, [], [null], [{ role: 'user', content: 7 }]])
      assert.throws(() => admit('eve', { messages: hostile, max_tokens: 1 }, 0), { code: /^ERR_TOKENLANE_/ })
    assert.deepEqual(admit('eve', { messages, max_tokens: 600 }, 0), { status: 200, cost: 608 })
    assert.equal(admit('__proto__', { messages, max_tokens: 600 }, 0).status, 200)
    assert.equal(admit('eve', { messages, max_tokens: 600 }, 0).status, 429)
    const circular = []
    circular.push(circular)
    for (const hostile of [undefined, null, 5, {}, [null], [5], circular, [[[]]]])
      assert.equal((await counts(hostile)).status, 400)
    const loaded = await Promise.all(Array.from({ length: 200 }, () => counts(['word '.repeat(20_000)])))
    const statuses = new Set(loaded.map(({ status }) => status))
    assert.ok(
      [...statuses].every((status) => [200, 503, 504].includes(status)),
      [...statuses].join(),
    )
  } finally {
    limits.configure({ maxInputBytes: Infinity, maxQueuedBatches: Infinity })
  }
})

test('tenants: the cache has encodings, whatever names users make up', async () => {
  const { tokenizerOf, loading } = await moduleOf('recipes/tenants.md', ['tokenizerOf', 'loading'], 'tokenizerOf')
  for (let i = 0; i < 200; i++) await tokenizerOf(`ft:gpt-4o:organization::${i}`)
  for (const name of [undefined, null, {}, '', '__proto__', 'gpt-9000', 'x'.repeat(1e6)])
    await assert.rejects(tokenizerOf(name), { code: /^ERR_TOKENLANE_/ })
  assert.deepEqual(
    [...loading.keys()].filter((name) => name !== encodingForModel('gpt-5')),
    [],
  )
})

test('costs: a user may have any name', async () => {
  const text = fs.readFileSync(`${root}docs/guide/recipes/costs.md`, 'utf8')
  const [, block] = /^```js\n([^]*?)^```/m.exec(text)
  const file = path.join(folder, 'costs.mjs')
  fs.writeFileSync(file, `${block.replaceAll("'ann'", "'__proto__'")}\nexport { report }\n`)
  const { report } = await import(pathToFileURL(file).href)
  assert.equal(report.get('__proto__').tokens, 13)
  assert.deepEqual(Object.keys(Object.prototype), [])
  assert.equal(/** @type {any} */ ({}).tokens, undefined)
})

const HOSTILE = ['', '<|endoftext|>', 'a <|endofprompt|> b', '\ud800', '\0', 'ᚠ'.repeat(5000), '👩‍🚀'.repeat(500)]
const webIsBuilt = fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'tokenlane.wasm'))
const skip = !webIsBuilt && 'npm run maintain -- web builds @tokenlane/web'

test('the Workers of web and edge take any text', { skip }, async () => {
  const { default: worker } = await moduleOf('web.md', [], 'export default')
  const post = (body) => new Request('http://localhost', { method: 'POST', body })
  const gpt4o = Tokenizer.forModelSync('gpt-4o')
  for (const text of HOSTILE) {
    const response = await worker.fetch(post(text))
    const { tokens } = await response.json()
    assert.equal(
      tokens,
      gpt4o.count(await post(text).text(), { specialTokens: 'text' }),
      JSON.stringify(text.slice(0, 20)),
    )
  }
  const { default: edge } = await moduleOf('recipes/edge.md', [])
  const { fetch } = globalThis
  const passed = []
  globalThis.fetch = async (_, { body }) => {
    passed.push(body)
    return new Response('ok')
  }
  try {
    for (const text of HOSTILE.slice(0, 5)) assert.equal((await edge.fetch(post(text))).status, 200)
    assert.equal((await edge.fetch(post('word '.repeat(9000)))).status, 413)
    assert.equal(passed.length, 5)
  } finally {
    globalThis.fetch = fetch
  }
})

test('the calls of drop-ins that the web guide names take any text', () => {
  const gpt4o = Tokenizer.forModelSync('gpt-4o')
  const ofJs = jsTiktoken.getEncoding('o200k_base')
  const ofTiktoken = tiktoken.get_encoding('o200k_base')
  for (const text of HOSTILE) {
    const wanted = gpt4o.count(text, { specialTokens: 'text' })
    const found = [
      ofJs.encode(text, [], []).length,
      ofTiktoken.encode(text, [], []).length,
      gptTokenizer.countTokens(text, { disallowedSpecial: new Set() }),
    ]
    assert.deepEqual(found, [wanted, wanted, wanted], JSON.stringify(text.slice(0, 20)))
  }
  for (const call of [ofJs.encode, ofTiktoken.encode].map(
    (encode, i) => () => encode.call([ofJs, ofTiktoken][i], '<|endoftext|>'),
  ))
    assert.throws(call)
  assert.throws(() => gptTokenizer.encode('<|endoftext|>'))
})

test('ai-sdk: what is left of a conversation is within the limit, with the system message and whole calls', async () => {
  const { fit, tokenizer } = await moduleOf('ai-sdk.md', ['fit', 'tokenizer'], 'function fit')
  const { countRequest, fromAiSdk } = await import('@tokenlane/requests')
  const history = [{ role: 'system', content: 'Be brief.' }]
  for (let i = 0; i < 200; i++)
    history.push(
      { role: 'user', content: `Question ${i}: what time is it?` },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: `${i}`, toolName: 'now', input: {} }] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: `${i}`, toolName: 'now', output: { type: 'text', value: '12:00' } },
        ],
      },
      { role: 'assistant', content: 'Noon.' },
    )
  const tokensOf = (messages) => countRequest(tokenizer, { messages: fromAiSdk(messages) }).tokens
  const { count } = tokenizer
  for (const maxTokens of [100, 1000, 5000, 1e6]) {
    let counted = 0
    tokenizer.count = (...args) => {
      counted++
      return count.apply(tokenizer, args)
    }
    const left = fit(history, maxTokens)
    delete tokenizer.count
    // Its cost grows with the part that fits (fit.test.mjs of @tokenlane/requests).
    assert.ok(counted < 50 * (left.length + 10), `${counted} texts for ${left.length} messages`)
    assert.ok(left.every((message) => history.includes(message)))
    assert.equal(left[0], history[0])
    assert.deepEqual(left.slice(1), history.slice(history.length - left.length + 1))
    assert.equal(left[1].role, 'user')
    assert.ok(tokensOf(left) <= maxTokens)
    if (left.length < history.length) {
      const more = [history[0], ...history.slice(history.length - left.length - 3)]
      assert.ok(tokensOf(more) > maxTokens, 'no more would fit')
    }
  }
  assert.throws(() => fit(history, 5), { code: 'ERR_TOKENLANE_LIMIT_TOO_SMALL' })
})
