// Every JavaScript block of README and the guides runs in a folder with tokenlane installed. What
// it prints is in its comments behind an arrow. The blocks of a recipe continue each other. Blocks
// about @tokenlane/web run in Node. Those of README run as they are pasted, with nothing defined
// before. Command lines have only commands and options that there are.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { tokenizeCorpus } from '@tokenlane/corpus'
import { addedToken } from '../support/added-token.mjs'
import { runIn } from '../support/cli.mjs'
import { bpeValues, gguf } from '../support/gguf.mjs'
import { nextIdModel } from '../support/onnx.mjs'
import { tiny } from '../support/tiny.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-snippets-'))
test.after(() => fs.rmSync(folder, { recursive: true, force: true }))

const modules = path.join(folder, 'node_modules')
fs.mkdirSync(modules)
fs.symlinkSync(root, path.join(modules, 'tokenlane'), 'junction')
fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }')
fs.writeFileSync(path.join(folder, 'tokenizer.json'), JSON.stringify(tiny()))
const template = ['tokenizer.chat_template', 'text', '{{ messages[0].content }}']
fs.writeFileSync(path.join(folder, 'model.gguf'), gguf(bpeValues(tiny(), [template])))
for (const name of ['data', 'model']) fs.mkdirSync(path.join(folder, name))
fs.writeFileSync(path.join(folder, 'data', 'a.txt'), 'some text\n')

// A model that writes one id after the other, and the tokens of a prompt and an answer in a row.
const decoder = path.join(folder, 'decoder')
fs.mkdirSync(decoder)
const answer = ['<|assistant|>', '<tool_call>', '{"name": "f", ', '"arguments": {}}', '</tool_call>', '<|im_end|>']
const decoderFile = tiny()
decoderFile.added_tokens.push(...answer.map((content, i) => addedToken(16 + i, content)))
const decoderConfig = {
  eos_token: '<|im_end|>',
  chat_template: `{% for message in messages %}{{ message.content or '' }}{% for call in message.tool_calls or [] %}<tool_call>
{{ call.function | tojson }}</tool_call>{% endfor %}<|im_end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}`,
}
fs.writeFileSync(path.join(decoder, 'tokenizer.json'), JSON.stringify(decoderFile))
fs.writeFileSync(path.join(decoder, 'tokenizer_config.json'), JSON.stringify(decoderConfig))
fs.writeFileSync(path.join(decoder, 'model.onnx'), nextIdModel(16 + answer.length))

await tokenizeCorpus({
  inputs: path.join(folder, 'data'),
  output: path.join(folder, 'train'),
  tokenizer: 'o200k_base',
  pack: 2,
})

/** What the text around a block has defined already. */
const GIVEN = `
import fs from 'node:fs'
import { trainTokenizer } from '@tokenlane/corpus'
const all = await import(process.env.GIVEN_PACKAGE)
Object.assign(globalThis, all, {
  // A page has the files of @tokenlane/web beside it, and a gateway a server with completions.
  fetch: async (name) =>
    new Response(
      name.endsWith('/v1/completions')
        ? ['<|channel|>fin', 'al<|message|>Hello.'].map((text) => 'data: ' + JSON.stringify({ choices: [{ text }] })).join('\\n\\n') + '\\n\\ndata: [DONE]\\n'
        : fs.readFileSync('node_modules/@tokenlane/web/dist' + name),
    ),
  model: {
    async generate({ streamer }) {
      const answer = tokenizer.encode('<|channel|>final<|message|>Hello.<|return|>', { specialTokens: 'parse' }).ids
      for (const ids of [[1n], [...answer].map(BigInt)]) streamer.put([ids])
      streamer.end()
    },
  },
  trainTokenizer,
  database: { async *query() { yield { title: 'A', body: 'some text' } } },
  // The guide of chats is about tokenizers with a template.
  tokenizer: await all.Tokenizer.forModel(process.env.GIVEN_MODEL),
  step() {},
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
  'docs/drop-ins.md',
  ...fs
    .readdirSync(`${root}docs/guide`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/guide/${name.replaceAll('\\', '/')}`),
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

/** What separates the output of a block from that of the blocks before it. */
const END = '--- end of a block'

/** Pages about @tokenlane/web. */
const WEB = ['docs/guide/web.md', 'docs/guide/recipes/edge.md']
const webIsBuilt = fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'tokenlane.wasm'))

const found = []
for (const page of pages) {
  const text = fs.readFileSync(root + page, 'utf8')
  let before = ''
  for (const { 1: code, index } of text.matchAll(/^```(?:js|ts)\n([^]*?)^```/gm)) {
    found.push({ code, before, name: `${page}:${text.slice(0, index).split('\n').length}` })
    if (page.startsWith('docs/guide/recipes/')) before += `${code}\nconsole.log('${END}')\n`
  }
}

test('the pages have blocks', () => assert.ok(found.length >= 20, String(found.length)))

/** Blocks after each other. An import that an earlier block has is left out. */
function merged(before, code) {
  const had = new Set(before.match(/^import .*$/gm) ?? [])
  return before + code.replace(/^import .*$/gm, (line) => (had.has(line) ? '' : line))
}

for (const [number, { code, before, name }] of found.entries()) {
  const isWeb = WEB.some((page) => name.startsWith(page))
  const missing = missingPackage(before + code)
  const skip =
    isWeb && !webIsBuilt
      ? 'npm run maintain -- web builds @tokenlane/web'
      : missing !== undefined && `${missing} is not installed here`
  test(`${name} runs`, { skip }, async () => {
    const file = path.join(folder, `block-${number}.mjs`)
    fs.writeFileSync(path.join(folder, 'given.mjs'), GIVEN)
    fs.writeFileSync(file, `import './given.mjs'\n${merged(before, code)}\nprocess.exit(0)\n`)
    const model = /^docs\/guide\/(chats|running)\.md/.test(name) ? 'gpt-oss-20b' : 'gpt-4o'
    const env = {
      ...process.env,
      GIVEN_MODEL: model,
      GIVEN_PACKAGE: isWeb ? '@tokenlane/web' : 'tokenlane',
      HF_ENDPOINT: 'http://127.0.0.1:9',
      HF_HOME: path.join(folder, 'hub'),
    }
    const child = spawn(process.execPath, [file], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (data) => (stdout += data))
    child.stderr.on('data', (data) => (stderr += data))
    const [status] = await once(child, 'close')
    const isHub = /fromPretrained|from_pretrained/.test(code) && NO_HUB.test(stderr)
    assert.ok(status === 0 || isHub, stderr)
    const promised = Array.from(code.matchAll(/\/\/ → (.+)$/gm), ([, line]) => line)
    if (promised.length > 0) assert.deepEqual(stdout.split(`${END}\n`).at(-1).trimEnd().split('\n'), promised)
  })
}

test('the blocks of README run as they are pasted, and their values are those of the comments', () => {
  const text = fs.readFileSync(`${root}README.md`, 'utf8')
  const blocks = Array.from(text.matchAll(/^```js\n([^]*?)^```/gm), ([, code]) => code)
  const code = blocks.join('\n')
  // A line with a value in its comment is an expression.
  const printed = code.replaceAll(/^(\w+\..+?) \/\/ .*$/gm, 'console.log(inspect($1))')
  const promised = Array.from(code.matchAll(/^\w+\..+? \/\/ ([^;\n]*)/gm), ([, value]) => value)
  fs.writeFileSync(path.join(folder, 'readme.mjs'), `import { inspect } from 'node:util'\n${printed}`)
  const { status, stdout, stderr } = spawnSync(process.execPath, ['readme.mjs'], { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.deepEqual(stdout.trimEnd().split('\n'), promised)
  assert.ok(promised.length >= 7)
  assert.ok(text.split(/\s+/).length <= 600, 'README is one screen')
})

test('command lines of the pages have only commands and options that there are', () => {
  const run = runIn(folder)
  const helps = new Map()
  let lines = 0
  for (const page of ['README.md', ...pages]) {
    const text = fs.readFileSync(root + page, 'utf8')
    for (const [, block] of text.matchAll(/^```sh\n([^]*?)^```/gm)) {
      for (const [line] of block.replaceAll(/ *\\\n */g, ' ').matchAll(/npx tokenlane .*/g)) {
        // The name of a command is one word or two.
        const words = line.replaceAll(/'[^']*'/g, 'x').split(/[ ;|&]+/)
        const names = [words.slice(2, 4), words.slice(2, 3)].map((some) => some.join(' '))
        for (const name of names) if (!helps.has(name)) helps.set(name, run([...name.split(' '), '--help', '--all']))
        const help = names.map((name) => helps.get(name)).find(({ status }) => status === 0)
        assert.ok(help, `${page}: ${line}`)
        for (const option of words.filter((word) => /^--?[a-z]/.test(word)))
          assert.match(help.stdout, new RegExp(`(^|[ ,])${option.split('=')[0]}\\b`, 'm'), `${page}: ${line}`)
        lines += 1
      }
    }
  }
  assert.ok(lines >= 30, String(lines))
})
