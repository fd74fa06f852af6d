// Every JavaScript block of README and the guides runs in a folder with tokenlane installed.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { tiny } from '../support/tiny.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-snippets-'))
test.after(() => fs.rmSync(folder, { recursive: true, force: true }))

const modules = path.join(folder, 'node_modules')
fs.mkdirSync(modules)
fs.symlinkSync(root, path.join(modules, 'tokenlane'), 'junction')
fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }')
fs.writeFileSync(path.join(folder, 'tokenizer.json'), JSON.stringify(tiny()))
fs.mkdirSync(path.join(folder, 'data'))
fs.writeFileSync(path.join(folder, 'data', 'a.txt'), 'some text\n')

/** What the text around a block has defined already. */
const GIVEN = `
import * as all from 'tokenlane'
Object.assign(globalThis, all, {
  tokenizer: all.Tokenizer.forModelSync('gpt-4o'),
  text: 'Hello, world! How are you?',
  texts: ['Hello', 'world wide'],
  document: '# A\\n\\nText of a document.',
  passages: ['one', 'two'],
  query: 'which?',
  messages: [{ role: 'user', content: 'Hello!' }],
  tools: [{ type: 'function', function: { name: 'f', description: 'A function', parameters: { type: 'object', properties: {} } } }],
  ids: [13225, 11, 2375, 0],
  sizes: new Map(),
  controller: new AbortController(),
  index() {},
})
`

const pages = [
  'README.md',
  'docs/drop-ins.md',
  ...fs.readdirSync(`${root}docs/guide`).map((name) => `docs/guide/${name}`),
]

/** The package that a block needs and this checkout does not have, if there is one. */
function missingPackage(code) {
  // `npm run maintain clients` has the newest clients in a folder of its own.
  const require = createRequire(process.env.TOKENLANE_CLIENTS ?? import.meta.url)
  const names = [...code.matchAll(/(?:from|import\() ?'((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name]) => name)
  return names.find((name) => {
    if (name === 'tokenlane' || name.startsWith('node')) return false
    const place = require.resolve.paths(name).find((one) => fs.existsSync(path.join(one, name)))
    if (place === undefined) return true
    link(place, name)
    return false
  })
}

function link(place, name) {
  const target = path.join(modules, name)
  fs.mkdirSync(path.dirname(target), { recursive: true })
  if (!fs.existsSync(target)) fs.symlinkSync(path.join(place, name), target, 'junction')
}

/** A block that loads from the hub ends like this where there is no connection. */
const NO_HUB = /ERR_TOKENLANE_(HUB_\w+|PACKAGE_MISSING|DOWNLOAD)/

const found = []
for (const page of pages) {
  const text = fs.readFileSync(root + page, 'utf8')
  for (const { 1: code, index } of text.matchAll(/^```js\n([^]*?)^```/gm))
    found.push({ code, name: `${page}:${text.slice(0, index).split('\n').length}` })
}

test('the pages have blocks', () => assert.ok(found.length >= 20, String(found.length)))

for (const [number, { code, name }] of found.entries()) {
  const missing = missingPackage(code)
  // A block of LangChain's messages goes on from such messages.
  const skip = missing ?? (/messages\.map\(\(message\)/.test(code) ? '@langchain/core' : undefined)
  test(`${name} runs`, { skip: skip !== undefined && `${skip} is not installed here` }, async () => {
    const file = path.join(folder, `block-${number}.mjs`)
    fs.writeFileSync(path.join(folder, 'given.mjs'), GIVEN)
    fs.writeFileSync(file, `import './given.mjs'\n${code}\nprocess.exit(0)\n`)
    const env = { ...process.env, HF_ENDPOINT: 'http://127.0.0.1:9', HF_HOME: path.join(folder, 'hub') }
    const child = spawn(process.execPath, [file], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (data) => (stderr += data))
    const [status] = await once(child, 'close')
    const isHub = /fromPretrained|from_pretrained/.test(code) && NO_HUB.test(stderr)
    assert.ok(status === 0 || isHub, stderr)
  })
}
