// Every JavaScript block of README and the guides runs as it is pasted, in order, in a folder with
// tokenlane installed. The blocks of a page are one program, until a block declares a name again:
// it begins the next. What a block prints is in its comments behind an arrow. Repositories come
// from a hub on this machine. Command lines have only commands and options that there are.

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
import { bert, bertConfig } from '../support/bert.mjs'
import { runIn } from '../support/cli.mjs'
import { bpeValues, gguf } from '../support/gguf.mjs'
import { noServer, startHub } from '../support/hub.mjs'
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

// The model takes type ids of 32 bits, and models of sentences 64 bits: element type 7, not 6.
const model = fs.readFileSync(`${root}__test__/testdata/mean-embedding.onnx`)
model[model.indexOf(Buffer.from([8, 6]), model.lastIndexOf('token_type_ids')) + 1] = 7
fs.writeFileSync(path.join(folder, 'model.onnx'), model)

const bytes = (value) => Buffer.from(JSON.stringify(value))
const chat = { chat_template: '{% for message in messages %}<s>{{ message.content }}</s>{% endfor %}' }
const withChat = { files: { 'tokenizer.json': bytes(tiny()), 'tokenizer_config.json': bytes(chat) } }
const withPairs = { files: { 'tokenizer.json': bytes(bert()), 'tokenizer_config.json': bytes(bertConfig()) } }
const hub = noServer
  ? undefined
  : await startHub({
      'Qwen/Qwen2.5-7B-Instruct': withChat,
      'sentence-transformers/all-MiniLM-L6-v2': withPairs,
      'Xenova/all-MiniLM-L6-v2': withPairs,
    })
test.after(() => hub?.close())

/** A page has the files of @tokenlane/web beside it. */
const FETCH = `
import fs from 'node:fs'
globalThis.fetch = async (name) => new Response(fs.readFileSync('node_modules/@tokenlane/web/dist' + name))
`
/** What a page has from its reader: a conversation, and a tokenizer. */
const given = (model) => `
import { Tokenizer } from 'tokenlane'
const messages = [{ role: 'user', content: 'Hello!' }]
const tools = [{ type: 'function', function: { name: 'f', description: 'A function', parameters: { type: 'object', properties: {} } } }]
Object.assign(globalThis, { Tokenizer, tokenizer: await Tokenizer.forModel('${model}'), messages, tools })
`
/** A server with raw completions, and a model of transformers.js, both of which say hello. */
const RUNNING = `
globalThis.fetch = async () =>
  new Response(
    ['<|channel|>fin', 'al<|message|>Hello.'].map((text) => 'data: ' + JSON.stringify({ choices: [{ text }] })).join('\\n\\n') +
      '\\n\\ndata: [DONE]\\n',
  )
globalThis.ids = [1n]
globalThis.model = {
  async generate({ streamer }) {
    const answer = tokenizer.encode('<|channel|>final<|message|>Hello.<|return|>', { specialTokens: 'parse' }).ids
    for (const part of [ids, [...answer].map(BigInt)]) streamer.put([part])
    streamer.end()
  },
}
`
/** The statements before the blocks of pages that do not stand alone. */
const BEFORE = {
  'docs/guide/web.md': FETCH,
  'docs/guide/recipes/edge.md': FETCH,
  'docs/guide/requests.md': given('gpt-4o'),
  'docs/guide/running.md': given('gpt-oss-20b') + RUNNING,
}

const pages = ['docs/drop-ins', 'docs/guide'].flatMap((folder) =>
  fs
    .readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
)

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

/** What separates the output of a block from that of the blocks before it. */
const END = '--- end of a block'

/** Pages about @tokenlane/web. */
const WEB = ['docs/guide/web.md', 'docs/guide/recipes/edge.md']
const webIsBuilt = fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'tokenlane.wasm'))

/** The names that a block declares or imports, apart from those within others. */
const declared = (code) =>
  Array.from(
    code.matchAll(/^(?:import|const|let|class|(?:async )?function\*?) (\w+|[{[][^}\]]*[}\]])/gm),
    ([, names]) => names.match(/\w+(?= *(?:[,}\]]|$))/g),
  ).flat()

/** The programs of a page: its blocks, in order. */
const programs = []
for (const page of pages) {
  const text = fs.readFileSync(root + page, 'utf8')
  let names = new Set()
  for (const { 1: code, index } of text.matchAll(/^```(?:js|ts)\n([^]*?)^```/gm)) {
    const own = declared(code)
    if (names.size === 0 || own.some((name) => names.has(name))) {
      names = new Set(['a program'])
      programs.push({ page, name: `${page}:${text.slice(0, index).split('\n').length}`, blocks: [] })
    }
    for (const name of own) names.add(name)
    programs.at(-1).blocks.push(code)
  }
}

test('the pages have programs', () => assert.ok(programs.length >= 30, String(programs.length)))

for (const [number, { page, name, blocks }] of programs.entries()) {
  const isWeb = WEB.includes(page)
  const all = blocks.join('\n')
  const missing = missingPackage(all)
  const skip =
    isWeb && !webIsBuilt
      ? 'npm run maintain -- web builds @tokenlane/web'
      : hub === undefined && /from_?[pP]retrained/.test(all)
        ? noServer
        : missing !== undefined && `${missing} is not installed here`
  test(`${name} runs`, { skip }, async () => {
    const file = path.join(folder, `program-${number}.mjs`)
    fs.writeFileSync(path.join(folder, `before-${number}.mjs`), BEFORE[page] ?? '')
    const code = blocks.join(`\nconsole.log('${END}')\n`)
    fs.writeFileSync(file, `import './before-${number}.mjs'\n${code}\nprocess.exit(0)\n`)
    const env = { ...process.env, HF_ENDPOINT: hub?.url, HF_HOME: path.join(folder, 'hub') }
    const child = spawn(process.execPath, [file], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (data) => (stdout += data))
    child.stderr.on('data', (data) => (stderr += data))
    const [status] = await once(child, 'close')
    assert.equal(status, 0, stderr)
    const printed = stdout.split(`${END}\n`)
    for (const [index, block] of blocks.entries()) {
      const promised = Array.from(block.matchAll(/\/\/ → (.+)$/gm), ([, line]) => line)
      if (promised.length > 0) assert.deepEqual(printed[index].trimEnd().split('\n'), promised)
    }
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
    const blocks = Array.from(text.matchAll(/^```sh\n([^]*?)^```/gm), ([, block]) => block.replaceAll(/ *\\\n */g, ' '))
    const inline = text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/`(npx tokenlane [a-z][^`]*)`/g)
    const commands = [
      ...blocks.flatMap((block) => block.match(/npx tokenlane .*/g) ?? []),
      ...Array.from(inline, ([, line]) => line.replaceAll('\n', ' ')),
    ]
    for (const line of commands) {
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
  assert.ok(lines >= 30, String(lines))
})
