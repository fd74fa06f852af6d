// Loading with @tokenlane/transformers: folders, the hub, the settings of `env`, and the class of
// the results.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

import { AutoTokenizer, BertTokenizer, LlamaTokenizer, PreTrainedTokenizer, env } from '@tokenlane/transformers'

import { bert, bertConfig } from '../../../__test__/support/bert.mjs'
import { startHub } from '../../../__test__/support/hub.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { bytesOf, tiny } from '../../../__test__/support/tiny.mjs'

const require = createRequire(import.meta.url)
const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-transformers-'))
test.after(() => fs.rmSync(temporary, { recursive: true, force: true }))

const tokenizer = new BertTokenizer(bert(), bertConfig())
const code = (call) => failure(call).then((error) => error.code)
const arrays = { return_tensor: false }

/** Writes a folder with a tokenizer, and returns its path. */
function folderOf(name, files) {
  const folder = path.join(temporary, name)
  for (const [file, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.writeFileSync(path.join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

test('AutoTokenizer loads a folder as the class that its config names', async () => {
  const folder = folderOf('bert', { 'tokenizer.json': bert(), 'tokenizer_config.json': bertConfig() })
  const events = []
  const loaded = await AutoTokenizer.from_pretrained(folder, { progress_callback: (info) => events.push(info) })
  assert.ok(loaded instanceof BertTokenizer && loaded instanceof PreTrainedTokenizer)
  assert.deepEqual(loaded('the sky', arrays), tokenizer('the sky', arrays))
  assert.deepEqual([loaded.all_special_tokens, loaded.config], [tokenizer.all_special_tokens, bertConfig()])
  const stages = ['initiate', 'download', 'progress', 'done']
  const expected = ['tokenizer.json', 'tokenizer_config.json'].flatMap((file) =>
    stages.map((status) => [folder, file, status]),
  )
  assert.deepEqual(
    events.map(({ name, file, status }) => [name, file, status]),
    expected,
  )
  assert.deepEqual(
    events.filter(({ status }) => status === 'progress').map(({ progress }) => progress),
    [100, 100],
  )
  assert.equal((await LlamaTokenizer.from_pretrained(folder)).constructor, LlamaTokenizer)
  const fast = folderOf('fast', {
    'tokenizer.json': bert(),
    'tokenizer_config.json': { ...bertConfig(), tokenizer_class: 'BertTokenizerFast' },
  })
  assert.equal((await AutoTokenizer.from_pretrained(fast)).constructor, BertTokenizer)
  const own = class extends PreTrainedTokenizer {
    constructor(json, config) {
      super(json, { ...config, model_max_length: 5 })
    }
  }
  assert.equal((await own.from_pretrained(folder)).model_max_length, 5)
})

test('an unknown class is a warning, a folder without a config a tokenizer without defaults', async () => {
  const folder = folderOf('unknown', {
    'tokenizer.json': bert(),
    'tokenizer_config.json': { tokenizer_class: 'constructor' },
  })
  const warning = new Promise((resolve) => process.once('warning', resolve))
  assert.equal((await AutoTokenizer.from_pretrained(folder)).constructor, PreTrainedTokenizer)
  assert.match((await warning).message, /^Unknown tokenizer class "constructor"/)
  const none = { 'tokenizer.json': bert(), 'tokenizer_config.json': { tokenizer_class: null } }
  assert.equal((await AutoTokenizer.from_pretrained(folderOf('null', none))).constructor, PreTrainedTokenizer)
  const files = []
  const bare = await AutoTokenizer.from_pretrained(folderOf('bare', { 'tokenizer.json': bert() }), {
    progress_callback: ({ file }) => files.push(file),
  })
  assert.deepEqual([...new Set(files)], ['tokenizer.json'])
  assert.deepEqual([bare.constructor, bare.config, bare.chat_template], [PreTrainedTokenizer, {}, null])
})

test('templates beside the tokenizer have precedence over the config', async () => {
  const files = {
    'tokenizer.json': bert(),
    'tokenizer_config.json': { ...bertConfig(), chat_template: 'config' },
    'chat_template.jinja': 'file',
  }
  assert.equal((await AutoTokenizer.from_pretrained(folderOf('one', files))).chat_template, 'file')
  const more = await AutoTokenizer.from_pretrained(
    folderOf('more', { ...files, 'additional_chat_templates/rag.jinja': 'rag' }),
  )
  assert.deepEqual({ ...more.chat_template }, { default: 'file', rag: 'rag' })
  assert.equal(more.get_chat_template({ chat_template: 'rag' }), 'rag')
})

test('folders that cannot be loaded are errors that name what is wrong', async () => {
  const load = (name) => code(() => AutoTokenizer.from_pretrained(name))
  assert.equal(await load(5), 'ERR_TOKENLANE_ARGUMENT_TYPE')
  assert.equal(await load(''), 'ERR_TOKENLANE_ARGUMENT_TYPE')
  assert.equal(await load('./no such folder'), 'ERR_TOKENLANE_FILE_NOT_FOUND')
  assert.equal(await load(path.join(temporary, 'none')), 'ERR_TOKENLANE_FILE_NOT_FOUND')
  assert.match(await load(folderOf('empty', { 'README.md': '' })), /^ERR_TOKENLANE_/)
  assert.equal(await load(folderOf('broken', { 'tokenizer.json': '{"model": ' })), 'ERR_TOKENLANE_JSON')
  assert.equal(
    await load(folderOf('config', { 'tokenizer.json': bert(), 'tokenizer_config.json': '{' })),
    'ERR_TOKENLANE_JSON',
  )
  assert.equal(
    await load(folderOf('list', { 'tokenizer.json': bert(), 'tokenizer_config.json': '5' })),
    'ERR_TOKENLANE_JSON',
  )
  assert.equal(
    await code(() => AutoTokenizer.from_pretrained('x', { progress_callback: 5 })),
    'ERR_TOKENLANE_ARGUMENT_TYPE',
  )
})

test('a repository is downloaded once, with its progress, and is in the cache then', async () => {
  const contents = {
    'tokenizer.json': bert(),
    'tokenizer_config.json': { ...bertConfig(), model_max_length: 7 },
    'chat_template.jinja': '{{ messages[0].content }}',
  }
  const files = Object.fromEntries(Object.entries(contents).map(([name, value]) => [name, Buffer.from(bytesOf(value))]))
  const hub = await startHub({ 'org/name': { files, tags: ['v1'] } })
  const before = process.env.HF_ENDPOINT
  process.env.HF_ENDPOINT = hub.url
  const cache_dir = path.join(temporary, 'cache')
  try {
    const events = []
    const loaded = await AutoTokenizer.from_pretrained('org/name', {
      cache_dir,
      revision: 'v1',
      progress_callback: (info) => events.push(info),
    })
    assert.deepEqual([loaded.constructor, loaded.model_max_length], [BertTokenizer, 7])
    assert.equal(loaded.apply_chat_template([{ role: 'user', content: 'x' }], { tokenize: false }), 'x')
    assert.deepEqual(loaded('the sky', arrays), tokenizer('the sky', arrays))
    for (const file of Object.keys(files)) {
      const own = events.filter((info) => info.file === file)
      assert.deepEqual([own[0].status, own[1].status, own.at(-1).status], ['initiate', 'download', 'done'], file)
      const { progress, loaded: bytes, total } = own.at(-2)
      assert.deepEqual([progress, bytes, total], [100, files[file].length, files[file].length], file)
    }
    assert.equal(
      await code(() => AutoTokenizer.from_pretrained('org/none', { cache_dir })),
      'ERR_TOKENLANE_HUB_REPO_NOT_FOUND',
    )
    hub.close()
    env.allowRemoteModels = false
    env.cacheDir = cache_dir
    assert.equal((await BertTokenizer.from_pretrained('org/name', { revision: 'v1' })).model_max_length, 7)
    assert.equal(await code(() => AutoTokenizer.from_pretrained('org/other')), 'ERR_TOKENLANE_HUB_NOT_CACHED')
    env.allowRemoteModels = true
    assert.equal(
      await code(() => AutoTokenizer.from_pretrained('org/other', { local_files_only: true })),
      'ERR_TOKENLANE_HUB_NOT_CACHED',
    )
    env.localModelPath = temporary
    folderOf('org/other', { 'tokenizer.json': bert(), 'tokenizer_config.json': bertConfig() })
    assert.equal((await AutoTokenizer.from_pretrained('org/other', { local_files_only: true })).model_max_length, 64)
    env.allowLocalModels = false
    assert.equal(
      await code(() => AutoTokenizer.from_pretrained('org/other', { local_files_only: true })),
      'ERR_TOKENLANE_HUB_NOT_CACHED',
    )
    assert.equal(
      await code(() => AutoTokenizer.from_pretrained(path.join(temporary, 'bert'))),
      'ERR_TOKENLANE_FILE_NOT_FOUND',
    )
  } finally {
    hub.close()
    Object.assign(env, {
      allowRemoteModels: true,
      allowLocalModels: true,
      localModelPath: undefined,
      cacheDir: undefined,
    })
    if (before === undefined) delete process.env.HF_ENDPOINT
    else process.env.HF_ENDPOINT = before
  }
})

test('env has the settings of tokenizers and refuses others', async () => {
  assert.equal(await code(() => (env.cacheDir = 5)), 'ERR_TOKENLANE_ARGUMENT_TYPE')
  assert.equal(await code(() => (env.allowLocalModels = undefined)), 'ERR_TOKENLANE_ARGUMENT_TYPE')
  assert.throws(() => (env.useBrowserCache = false), TypeError)
  assert.deepEqual(
    { ...env },
    {
      allowLocalModels: true,
      localModelPath: undefined,
      allowRemoteModels: true,
      cacheDir: undefined,
      Tensor: undefined,
    },
  )
})

test('results and tokenizers are instances of the classes of @huggingface/transformers if it is installed', () => {
  const folder = folderOf('installed', { 'tokenizer.json': bert(), 'tokenizer_config.json': bertConfig() })
  const peer = path.join(folder, 'peer')
  folderOf('installed/peer', {
    'peer.mjs':
      'export class Tensor { constructor(...args) { this.args = args } }; export class PreTrainedTokenizer { decode() { throw 1 } }',
    'peer.cjs':
      'exports.Tensor = class { constructor(...args) { this.args = args } }; exports.PreTrainedTokenizer = class { decode() { throw 1 } }',
  })
  const entry = require.resolve('@tokenlane/transformers')
  const moduleEntry = pathToFileURL(entry.replace(/index\.js$/, 'index.mjs')).href
  const check = `
    const tokenizer = await AutoTokenizer.from_pretrained(${JSON.stringify(folder)})
    const { input_ids } = tokenizer('a dog')
    if (!(tokenizer instanceof PreTrainedTokenizer)) throw new Error('not an instance')
    if (tokenizer.call(null, 'a dog').input_ids.args[2][1] !== 4) throw new Error('call')
    tokenizer.decode([1])
    if (!(input_ids instanceof Tensor)) throw new Error('another class')
    console.log(input_ids.args[0], input_ids.args[2])`
  const find = `
    const Module = require('node:module')
    const { pathToFileURL } = require('node:url')
    const resolve = Module._resolveFilename
    Module._resolveFilename = (name, ...rest) => (name === '@huggingface/transformers' ? ${JSON.stringify(`${peer}/peer.cjs`)} : resolve(name, ...rest))
    const hooks = \`export const resolve = (name, context, next) => name === '@huggingface/transformers' ? { url: '\${pathToFileURL(${JSON.stringify(`${peer}/peer.mjs`)})}', shortCircuit: true } : next(name, context)\`
    Module.register('data:text/javascript,' + encodeURIComponent(hooks))`
  fs.writeFileSync(path.join(folder, 'find.cjs'), find)
  fs.writeFileSync(
    path.join(folder, 'cjs.cjs'),
    `const { AutoTokenizer } = require(${JSON.stringify(entry)}); const { PreTrainedTokenizer, Tensor } = require('@huggingface/transformers'); (async () => {${check}})()`,
  )
  fs.writeFileSync(
    path.join(folder, 'esm.mjs'),
    `import { AutoTokenizer } from ${JSON.stringify(moduleEntry)}; import { PreTrainedTokenizer, Tensor } from '@huggingface/transformers'; ${check}`,
  )
  for (const name of ['cjs.cjs', 'esm.mjs']) {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--require', path.join(folder, 'find.cjs'), path.join(folder, name)],
      { encoding: 'utf8' },
    )
    assert.equal(stdout, 'int64 [ 1, 4 ]\n', name + stderr)
  }
})

test('the settings of a tokenizer are its file without vocabulary and merges', () => {
  const { Backend } = require('../backend.js')
  for (const file of [bert(), tiny()]) {
    const { model, ...rest } = file
    const { model: ofModel, ...found } = Backend.fromJson(file, {}).settings
    assert.deepEqual({ ...rest, ...found }, found)
    assert.deepEqual([ofModel.type, ofModel.vocab, ofModel.merges], [model.type, null, null])
  }
})
