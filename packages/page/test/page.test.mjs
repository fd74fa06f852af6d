// npx tokenlane inspect --web: the responses of the page's server, and the clients that it accepts.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import { test } from 'node:test'

import { Tokenizer, encodings } from '../../../index.mjs'
import { partsOf, signed } from '../page/visible.mjs'
import { visible } from '../../../cli/terminal.mjs'
import { tokensPerLine, tokensWithin } from '../../../lib/internal/tokens.mjs'
import { SENTENCES } from '../src/languages.mjs'
import { bert } from '../../../__test__/support/bert.mjs'
import { folderWithTokenizer, runIn, servePage, startIn } from '../../../__test__/support/cli.mjs'
import { text } from '../../../__test__/support/texts.mjs'

const folder = folderWithTokenizer()
const { child, ended, url } = await servePage(folder, ['tiny.json', '-x', 'first text'])
test.after(() => child.kill())
const port = Number(new URL(url).port)

/** A request with any headers; fetch does not allow to set `host`. */
async function send(method, path, { body, headers = {} } = {}) {
  const request = http.request({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
  })
  request.end(body)
  const [response] = await once(request, 'response')
  const chunks = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() }
}

async function post(path, body) {
  const { status, text } = await send('POST', path, { body: JSON.stringify(body) })
  assert.equal(status, 200, text)
  return JSON.parse(text)
}

const fails = async (status, ...call) => assert.equal((await send(...call)).status, status, JSON.stringify(call))

test('the page has the symbols of the command line for white space', () => {
  const text = 'a b\tc\nd\re\u00a0f\u3000g'
  assert.equal(signed(text), 'a·b→c⏎d␍e⍽f□g')
  assert.equal(visible(text), signed(text))
})

test('the page and its files load nothing from elsewhere', async () => {
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
  const names = fs.readdirSync(new URL('../page/', import.meta.url))
  for (const path of ['/', ...names.map((name) => `/${name}`)]) {
    const { status, headers, text } = await send('GET', path)
    assert.equal(status, 200, path)
    assert.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self';/)
    assert.ok(!/unsafe|\*|https?:/.test(headers['content-security-policy']))
    assert.equal(headers['x-content-type-options'], 'nosniff')
    const links = [...text.matchAll(/(?:src|href|from|url\()\s*=?\s*['"]([^'"]+)['"]/g)].map(([, link]) => link)
    for (const link of links)
      assert.ok(link.startsWith('#') || names.includes(link.replace(/^\.\//, '')), `${path}: ${link}`)
    assert.ok(
      !/ style=| on[a-z]+=/.test(path.endsWith('.html') ? text : ''),
      'neither styles nor handlers in the markup',
    )
  }
  assert.match((await send('GET', '/page.mjs')).headers['content-type'], /^text\/javascript/)
})

test('only its own host names, origins and paths are accepted', async () => {
  for (const name of ['127.0.0.1', 'localhost', '[::1]'])
    await fails(200, 'GET', '/', { headers: { host: `${name}:${port}` } })
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
  ]) {
    await fails(403, 'GET', '/', { headers: { host } })
    await fails(403, 'POST', '/api/tokens', { body: '{}', headers: { host } })
  }
  const body = JSON.stringify({ tokenizer: 'gpt2', text: '' })
  await fails(403, 'POST', '/api/tokens', { body, headers: { origin: 'http://evil.example' } })
  await fails(403, 'POST', '/api/tokens', { body, headers: { origin: 'null' } })
  await fails(415, 'POST', '/api/tokens', { body, headers: { 'content-type': 'text/plain' } })
  await fails(415, 'POST', '/api/tokens')
  for (const path of [
    '/nothing',
    '/../package.json',
    '/%2e%2e/package.json',
    '/page',
    '/.',
    '/api/tokens',
    '/constructor',
  ])
    await fails(404, 'GET', path)
  await fails(405, 'POST', '/', { body: '{}' })
  await fails(404, 'DELETE', '/api/tokens')
})

test('other machines of the network cannot connect', async (t) => {
  const outside = Object.values(os.networkInterfaces())
    .flat()
    .find(({ internal, family }) => !internal && family === 'IPv4')
  if (outside === undefined) return t.skip('this machine has no other address')
  const socket = net.connect(port, outside.address)
  const [error] = await once(socket, 'error')
  assert.equal(error.code, 'ECONNREFUSED')
})

test('the tokenizers: those of the command line first, and no other files', async () => {
  const { names, shown, text } = JSON.parse((await send('GET', '/api/tokenizers')).text)
  assert.deepEqual([...names].sort(), ['tiny.json', ...encodings()].sort())
  assert.deepEqual(shown, ['tiny.json', 'o200k_base'])
  assert.equal(text, 'first text')
  for (const tokenizer of ['package.json', '/etc/passwd', 'gpt-4o', '', null, undefined]) {
    await fails(404, 'POST', '/api/tokens', { body: JSON.stringify({ tokenizer, text: '' }) })
  }
})

test('errors of requests', async () => {
  for (const body of ['{', '[', 'null', '1']) await fails(400, 'POST', '/api/tokens', { body })
  for (const wrong of [{}, { text: 1 }, { text: '', at: -1 }, { text: '', at: 'x' }, { text: '', at: 0.5 }]) {
    await fails(400, 'POST', '/api/tokens', { body: JSON.stringify({ tokenizer: 'tiny.json', ...wrong }) })
  }
  await fails(413, 'POST', '/api/tokens', {
    body: JSON.stringify({ tokenizer: 'tiny.json', text: 'x'.repeat(21 << 20) }),
  })
})

test('tokens equal those of the library', async () => {
  const whole = 'é <b>🚀</b>\n<|endoftext|> \ud800 end'
  const tokenizer = Tokenizer.fromEncodingSync('r50k_base')
  const { ids, offsets } = tokenizer.encode(whole, { specialTokens: 'parse' })
  const answer = await post('/api/tokens', { tokenizer: 'r50k_base', text: whole })
  assert.deepEqual(
    [answer.count, answer.characters, answer.bytes],
    [ids.length, [...whole].length, Buffer.byteLength(whole)],
  )
  assert.deepEqual(
    answer.tokens.map(({ id, start, end }) => [id, start, end]),
    Array.from(ids, (id, index) => [id, offsets[2 * index], offsets[2 * index + 1]]),
  )
  const kinds = (kind) => answer.tokens.filter((token) => token.kind === kind)
  assert.deepEqual(
    kinds('special').map(({ token }) => token),
    ['<|endoftext|>'],
  )
  assert.deepEqual(
    kinds('half')
      .map(({ bytes, start, end }) => [bytes, start, end])
      .slice(0, 2),
    [
      ['f0 9f', 5, 7],
      ['9a', 5, 7],
    ],
  )
  assert.equal(kinds('added').length, 0)
  const tiny = await post('/api/tokens', { tokenizer: 'tiny.json', text: 'hello\nhe' })
  assert.deepEqual(
    tiny.tokens.map(({ kind, token }) => [kind, token]),
    [
      ['added', '<s>'],
      ['text', 'hello'],
      ['text', 'he'],
      ['added', '</s>'],
    ],
  )
  assert.deepEqual(tiny.lines, { total: 2, per: 1, counts: [1, 1] })
  assert.deepEqual(await post('/api/tokens', { tokenizer: 'r50k_base', text: '' }), {
    count: 0,
    characters: 0,
    bytes: 0,
    start: 0,
    end: 0,
    step: answer.step,
    tokens: [],
    lines: { total: 1, per: 1, counts: [0] },
  })
})

test('a BERT tokenizer is shown beside a BPE one', async () => {
  fs.writeFileSync(`${folder}/bert.json`, JSON.stringify(bert()))
  const { child, url } = await servePage(folder, ['bert.json', 'r50k_base'])
  try {
    const json = async (path, body) => {
      const init = body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }
      return (await fetch(url + path, init)).json()
    }
    assert.deepEqual((await json('/api/tokenizers')).shown, ['bert.json', 'r50k_base'])
    const text = 'Sleeping Café 🚀'
    const spelled = async (tokenizer) => {
      const { tokens } = await json('/api/tokens', { tokenizer, text })
      return tokens.map(({ kind, token, start, end }) => [kind, token, text.slice(start, end)])
    }
    assert.deepEqual(await spelled('bert.json'), [
      ['added', '[CLS]', ''],
      ['text', 'sleep', 'Sleep'],
      ['text', '##ing', 'ing'],
      ...['c', '##a', '##f', '##e'].map((piece, at) => ['text', piece, 'Café'[at]]),
      ['special', '[UNK]', '🚀'],
      ['added', '[SEP]', ''],
    ])
    assert.equal(
      (await spelled('r50k_base'))
        .map(([, , text]) => text)
        .join('')
        .startsWith('Sleeping Café'),
      true,
    )
  } finally {
    child.kill()
  }
})

test('a long text is sent in parts, and the parts make the whole', async () => {
  const whole = text(60_000)
  for (const tokenizer of ['o200k_base', 'tiny.json']) {
    const all = []
    let at = 0
    let answer
    do {
      answer = await post('/api/tokens', { tokenizer, text: whole, at })
      all.push(...answer.tokens)
      at = answer.end
    } while (at < whole.length)
    assert.deepEqual(
      all.map(({ index }) => index),
      Array.from({ length: answer.count }, (_, index) => index),
    )
    const { total, per, counts } = answer.lines
    assert.equal(total, whole.split('\n').length)
    assert.ok(counts.length <= 120 && counts.length === Math.ceil(total / per))
    assert.equal(
      counts.reduce((a, b) => a + b, 0),
      all.filter(({ kind }) => kind !== 'added').length,
    )
  }
})

test('tokens of lines and of parts equal single counts', () => {
  const whole = text(2000).replaceAll(' ', ' \n')
  const { ids, offsets } = Tokenizer.fromEncodingSync('r50k_base').encode(whole)
  const specialTokensMask = new Uint8Array(ids.length)
  const starts = Array.from(ids, (_, index) => offsets[2 * index])
  let start = 0
  const lines = whole.split('\n').map((line) => {
    const [from, to] = [start, start + line.length + 1]
    start = to
    return starts.filter((place) => place >= from && place < to).length
  })
  assert.deepEqual(tokensPerLine(whole, { ids, offsets, specialTokensMask }), lines)
  for (const [from, to] of [
    [0, 10],
    [7, 8],
    [100, 900],
    [1990, Infinity],
  ]) {
    const found = tokensWithin({ ids, offsets, specialTokensMask }, from, to)
    const inside = starts.flatMap((place, index) => (place >= from && place < to ? [index] : []))
    assert.deepEqual(
      Array.from({ length: found[1] - found[0] }, (_, index) => found[0] + index),
      inside,
    )
  }
})

test('the costs of each language', async () => {
  const tokenizer = Tokenizer.fromEncodingSync('cl100k_base')
  const costs = await post('/api/languages', { tokenizer: 'cl100k_base' })
  assert.deepEqual(
    costs.map(({ text, tokens }) => [text, tokens]),
    SENTENCES.map(([, , text]) => [text, tokenizer.count(text)]),
  )
  const [english, , french] = costs
  assert.equal(english.timesEnglish, 1)
  assert.equal(french.perCharacter, french.tokens / french.text.length)
  assert.equal(english.perWord, english.tokens / english.text.split(' ').length)
})

test('each language has its name', () => {
  const names = new Intl.DisplayNames(['en'], { type: 'language' })
  for (const [name, code] of SENTENCES) assert.ok(names.of(code).startsWith(name), `${code}: ${name}`)
  assert.equal(new Set(SENTENCES.map(([name]) => name)).size, SENTENCES.length)
  assert.ok(SENTENCES.every(([name]) => name !== ''))
})

test('invisible characters are shown by symbols, and nothing is lost', () => {
  assert.equal(signed('a b\t\n\r\u00a0\u200d\u202e\x1b'), 'a·b→⏎␍⍽U+200DU+202EU+001B')
  assert.equal(signed('<b>&amp;</b>'), '<b>&amp;</b>')
  assert.deepEqual(partsOf('a\nb'), ['a', { sign: '⏎', end: true }, 'b'])
  assert.deepEqual(partsOf(''), [])
})

test('Ctrl-C ends the server; a port in use and an invalid tokenizer are errors of one line', async () => {
  const run = runIn(folder)
  const taken = run(['inspect', '--web', '--port', String(port)])
  assert.equal(taken.status, 1)
  assert.match(taken.stderr, /^tokenlane: port \d+: another program uses it \(ERR_TOKENLANE_PORT\)\n$/)
  assert.match(
    run(['inspect', '--web', 'nowhere.json']).stderr,
    /^tokenlane: nowhere\.json: there is no such file .*\n$/,
  )
  const chosen = startIn(folder, ['inspect', '--web', '--port', '0', '-t', 'tiny.json'])
  while (!chosen.written.stderr.includes('Ctrl-C')) await new Promise((resolve) => setTimeout(resolve, 20))
  chosen.child.kill('SIGTERM')
  await chosen.ended
  if (process.platform === 'win32') return
  child.kill('SIGINT')
  assert.equal((await ended).status, 130)
})
