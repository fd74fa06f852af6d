// A folder or a repository with a tokenizer.json is what AutoTokenizer of transformers makes of it;
// tools/data/record.py recorded the cases.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import zlib from 'node:zlib'

import { Tokenizer } from '../../index.mjs'
import { tokenizeCorpus } from '@tokenlane/corpus'
import { assertRecorded, folderWriter, idsOf } from '../support/folders.mjs'
import { noServer, startHub } from '../support/hub.mjs'

const at = (name) => fileURLToPath(new URL(name, import.meta.url))
const recorded = JSON.parse(zlib.gunzipSync(fs.readFileSync(at('../testdata/folder-configs.json.gz'))))
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-configs-'))
after(() => fs.rmSync(root, { recursive: true, force: true }))

const folder = folderWriter(root)

const baseOf = (name) =>
  JSON.parse(fs.readFileSync(at(`../../crates/core/testdata/conformance/tokenizers/${name}.json`), 'utf8'))
const fileOf = ({ base, changes }) => ({ ...(typeof base === 'string' ? baseOf(base) : base), ...changes })
const folderOf = (recording) => folder({ 'tokenizer.json': fileOf(recording), ...recording.files })
const caseOf = (name) => recorded.cases.find((one) => one.name === name)

for (const recording of recorded.cases) {
  test(`a folder equals transformers ${recorded.transformers}: ${recording.name}`, async () => {
    const place = folderOf(recording)
    for (const tokenizer of [await Tokenizer.fromFile(place), Tokenizer.fromFileSync(place)]) {
      assert.deepEqual(tokenizer.source, {
        from: place,
        class: recording.class,
        ...(recording.name === 'split_special_tokens' && { splitsSpecialTokens: true }),
      })
      assertRecorded(tokenizer, recording)
    }
  })
}

test('a file, bytes, and a folder with { configs: false } are what tokenizers makes of the file', async () => {
  const recording = caseOf('tokens that only tokenizer_config.json has')
  const place = folderOf(recording)
  const file = path.join(place, 'tokenizer.json')
  const bare = [
    await Tokenizer.fromFile(file),
    Tokenizer.fromFileSync(file),
    await Tokenizer.fromBuffer(fs.readFileSync(file)),
    await Tokenizer.fromFile(place, { configs: false }),
    Tokenizer.fromFileSync(place, { configs: false }),
  ]
  for (const tokenizer of bare) assert.deepEqual(idsOf(tokenizer, ['a [EXTRA] b']), [[1, 0, 2]])
  assert.deepEqual(
    bare.map(({ source }) => source.class),
    Array(5).fill(undefined),
  )
  await assert.rejects(Tokenizer.fromFile(place, { configs: 0 }), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  await assert.rejects(Tokenizer.fromBuffer(fs.readFileSync(file), { configs: false }), {
    code: 'ERR_TOKENLANE_UNKNOWN_OPTION',
  })
})

test('a folder whose configs change nothing shares its tables with the file', async () => {
  const place = folder({ 'tokenizer.json': baseOf('w_cased'), 'tokenizer_config.json': { pad_token: '[PAD]' } })
  const [changed, file] = [
    await Tokenizer.fromFile(place),
    await Tokenizer.fromFile(path.join(place, 'tokenizer.json')),
  ]
  file.encode('Hello')
  assert.deepEqual(changed.stats(), file.stats())
  assert.equal(changed.source.class, 'TokenizersBackend')
})

test('a class that is not built here uses the file with the tokens of the configs, and says so', async () => {
  const configs = { pad_token: '[NEW]' }
  const cases = [
    ['s_roberta', 'LayoutLMv3Tokenizer', /transformers builds LayoutLMv3Tokenizer again, tokenlane does not/],
    ['s_roberta', 'MarianTokenizer', /MarianTokenizer does not use tokenizer\.json in transformers/],
    ['w_cased', 'GPT2Tokenizer', /for a model of the type BPE, the file has WordPiece/],
  ]
  for (const [base, tokenizer_class, note] of cases) {
    const place = folder({ 'tokenizer.json': baseOf(base), 'tokenizer_config.json': { ...configs, tokenizer_class } })
    const tokenizer = await Tokenizer.fromFile(place)
    assert.equal(tokenizer.source.class, tokenizer_class)
    assert.match(tokenizer.source.note, note)
    assert.match(inspect(tokenizer), /note: /)
    const id = Tokenizer.fromFileSync(path.join(place, 'tokenizer.json')).vocabSize()
    assert.ok(tokenizer.encode('x [NEW]').ids.includes(id))
  }
})

test('fix_mistral_regex replaces the pattern of a large vocabulary, as transformers does', async () => {
  const { base } = caseOf('null in configs')
  const fix = { fix_mistral_regex: true }
  const [fixed, kept] = [
    [0, 1, 2],
    [3, 3, 3],
  ]
  const load = async (size, config, model) => {
    const words = ['Hello', '1', '!', '[UNK]', ...Array.from({ length: size - 4 }, (_, id) => `w${id}`)]
    const vocab = Object.fromEntries(words.map((word, id) => [word, id]))
    const place = folder({
      'tokenizer.json': { ...base, model: { type: 'WordLevel', vocab, unk_token: '[UNK]' } },
      'tokenizer_config.json': config,
      ...(model && { 'config.json': model }),
    })
    return Array.from((await Tokenizer.fromFile(place)).encode('Hello1! Hello1 1!').ids)
  }
  for (const [model, expected] of [
    [{ model_type: 'mistral' }, fixed],
    [{ model_type: 'pixtral', transformers_version: '4.57.1' }, fixed],
    [{ architectures: [], transformers_version: '5.0.0.dev0' }, fixed],
    [{ model_type: 'mistral', transformers_version: '5.0.0' }, kept],
    [{ model_type: 'mistral', transformers_version: '10.1' }, kept],
    [{ model_type: 'qwen2' }, kept],
    [undefined, kept],
  ]) {
    const ids = await load(100_001, fix, model)
    assert.deepEqual(ids.slice(0, 3), expected, JSON.stringify(model))
  }
  assert.deepEqual(await load(100_000, fix, { model_type: 'mistral' }), kept)
  assert.deepEqual(await load(100_001, {}, { model_type: 'mistral' }), kept)
})

test('the name in a config.json counts where transformers has no config for its type', async () => {
  const load = async (model) => {
    const files = { 'tokenizer.json': baseOf('s_roberta'), 'config.json': model }
    return (
      await Tokenizer.fromFile(folder({ ...files, 'tokenizer_config.json': { tokenizer_class: 'GPT2Tokenizer' } }))
    ).source.class
  }
  const name = 'deepseek-ai/deepseek-coder-1.3b'
  assert.equal(await load({ model_type: 'own', _name_or_path: name }), 'TokenizersBackend')
  assert.equal(await load({ model_type: 'own', _name_or_path: 'org/own' }), 'GPT2Tokenizer')
  assert.equal(await load({ model_type: 'gpt2', _name_or_path: name }), 'GPT2Tokenizer')
})

test('a tokenizer of other files has its class, and a note where the configs are not used', async () => {
  const vocabulary = { 'vocab.txt': '[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n' }
  const bert = folder({ ...vocabulary, 'tokenizer_config.json': { tokenizer_class: 'BertTokenizer' } })
  const unnamed = folder(vocabulary)
  for (const load of [Tokenizer.fromFile, Tokenizer.fromFileSync]) {
    assert.deepEqual((await load(bert)).source, { from: bert, class: 'BertTokenizer' })
    assert.deepEqual((await load(unnamed)).source, { from: unnamed })
  }
  const model = fs.readFileSync(at('../../crates/core/testdata/sentencepiece/unigram.model'))
  const place = folder({ 'spiece.model': model, 'tokenizer_config.json': { tokenizer_class: 'FNetTokenizer' } })
  const { source } = await Tokenizer.fromFile(place)
  assert.equal(source.class, 'FNetTokenizer')
  assert.match(source.note, /the file alone: transformers converts it/)
  assert.deepEqual((await Tokenizer.fromFile(place, { configs: false })).source, { from: place })
})

test('code of a repository is not run: the file is used, and source says so', async () => {
  const config = {
    tokenizer_class: 'QWenTokenizer',
    auto_map: { AutoTokenizer: ['tokenization_qwen.QWenTokenizer', null] },
  }
  const { source } = await Tokenizer.fromFile(
    folder({ 'tokenizer.json': baseOf('s_roberta'), 'tokenizer_config.json': config }),
  )
  assert.equal(source.class, 'QWenTokenizer')
  assert.match(source.note, /code of the repository/)
})

test('configs that cannot be used leave the tokenizer of the file, which says so', async () => {
  const many = Object.fromEntries(Array.from({ length: 200_001 }, (_, id) => [`t${id}`, id]))
  const broken = [
    [{ 'tokenizer_config.json': '{' }, /does not parse/],
    [{ 'config.json': '[]' }, /an object is expected/],
    [{ 'tokenizer_config.json': { added_tokens_decoder: null } }, /added_tokens_decoder must be an object/],
    [{ 'tokenizer_config.json': { extra_special_tokens: 5 } }, /must be a list or an object/],
    [{ 'tokenizer_config.json': { added_tokens_decoder: { 0: { content: 7 } } } }, /must be a string/],
    [{ 'tokenizer_config.json': { additional_special_tokens: [null] } }, /must be a string/],
    [{ 'tokenizer_config.json': { tokenizer_class: 'T5Tokenizer', extra_ids: 1e9 } }, /type Unigram/],
    [{ 'tokenizer_config.json': { tokenizer_class: 'BertTokenizer', do_lower_case: 'yes' } }, /do_lower_case must be/],
    [{ 'added_tokens.json': { x: 'y' } }, /is not a whole number/],
    [{ 'added_tokens.json': many }, /at most 200000/],
    [{ 'tokenizer_config.json': ' '.repeat(4 * 2 ** 20 + 1) }, /more than 4194304 bytes/],
  ]
  for (const [files, note] of broken) {
    const place = folder({ 'tokenizer.json': baseOf('w_cased'), ...files })
    for (const tokenizer of [await Tokenizer.fromFile(place), Tokenizer.fromFileSync(place)]) {
      assert.match(tokenizer.source.note, note)
      assert.deepEqual(
        idsOf(tokenizer, ['Hello world']),
        idsOf(Tokenizer.fromFileSync(path.join(place, 'tokenizer.json')), ['Hello world']),
      )
    }
  }
})

test('split_special_tokens holds for chats and for changed tokenizers', async () => {
  const { base } = caseOf('split_special_tokens')
  const config = { eos_token: 'b', chat_template: "{% for m in messages %}{{ m['content'] }} b{% endfor %}" }
  const load = (more) =>
    Tokenizer.fromFile(folder({ 'tokenizer.json': base, 'tokenizer_config.json': { ...config, ...more } }))
  const [split, parsed] = [await load({ split_special_tokens: true }), await load({})]
  const messages = [{ role: 'user', content: 'ab' }]
  // `ab` is a word that the vocabulary lacks; as special token, b is found in it.
  assert.deepEqual(Array.from(split.applyChatTemplate(messages).ids), [0, 2])
  assert.deepEqual(Array.from(parsed.applyChatTemplate(messages, { content: 'parse' }).ids), [1, 2, 2])
  assert.deepEqual(Array.from(parsed.applyChatTemplate(messages).ids), [0, 2])
  assert.equal(split.countChat(messages), 2)
  assert.equal(split.with({ addedTokens: ['x'] }).count('ab'), 1)
  assert.equal(split.count('ab', { specialTokens: 'parse' }), 2)
})

test('fromPretrained reads the configs of a repository, and not with configs: false', { skip: noServer }, async (t) => {
  const recording = caseOf('special_tokens_map.json and added_tokens.json')
  const names = ['tokenizer.json', ...Object.keys(recording.files), 'config.json']
  const contents = { 'tokenizer.json': fileOf(recording), ...recording.files, 'config.json': { model_type: 'own' } }
  const files = Object.fromEntries(names.map((name) => [name, Buffer.from(JSON.stringify(contents[name]))]))
  const hub = await startHub({ 'org/model': { files } })
  const before = process.env.HF_ENDPOINT
  t.after(() => {
    hub.close()
    if (before === undefined) delete process.env.HF_ENDPOINT
    else process.env.HF_ENDPOINT = before
  })
  process.env.HF_ENDPOINT = hub.url
  const options = { cacheDir: path.join(root, 'cache'), token: false }
  for (const more of [{}, { localFilesOnly: true }]) {
    const tokenizer = await Tokenizer.fromPretrained('org/model', { ...options, ...more })
    assert.deepEqual(idsOf(tokenizer, recording.texts), recording.ids)
  }
  for (const more of [{ configs: false }, { file: 'tokenizer.json' }]) {
    hub.requests.length = 0
    const bare = await Tokenizer.fromPretrained('org/model', {
      ...options,
      cacheDir: path.join(root, Object.keys(more)[0]),
      ...more,
    })
    assert.deepEqual(idsOf(bare, ['a [M] new']), [[1, 0, 0]])
    assert.ok(!JSON.stringify(hub.requests).includes('added_tokens.json'))
  }
})

test('the command line and corpus jobs read the configs of a folder', async () => {
  const recording = caseOf('tokens that only tokenizer_config.json has')
  const place = folderOf(recording)
  const cli = at('../../cli/main.mjs')
  const run = spawnSync(process.execPath, [cli, 'encode', '-t', place, '-x', 'a [EXTRA] b'], { encoding: 'utf8' })
  assert.equal(run.status, 0, run.stderr)
  assert.match(run.stdout, /\b1\b.*\b7\b.*\b2\b/s)
  const inputs = path.join(root, 'texts.txt')
  fs.writeFileSync(inputs, 'a [EXTRA] b\n')
  const job = async (output) => {
    await tokenizeCorpus({ inputs, tokenizer: place, output: path.join(root, output), type: 'u16', eos: false })
    const names = fs.readdirSync(path.join(root, output))
    const data = names.find((name) => /^shard.*\.(?:bin|npy)$/.test(name))
    const { tokenizer } = JSON.parse(fs.readFileSync(path.join(root, output, 'job.json'), 'utf8'))
    return { sha256: tokenizer.sha256, bytes: fs.readFileSync(path.join(root, output, data)) }
  }
  const first = await job('first')
  assert.ok(first.bytes.includes(Buffer.from(Uint16Array.of(1, 7, 2).buffer)))
  // The configs are part of what identifies a job's tokenizer.
  fs.writeFileSync(path.join(place, 'tokenizer_config.json'), JSON.stringify({ pad_token: '[EXTRA]' }))
  const second = await job('second')
  assert.notEqual(second.sha256, first.sha256)
  assert.ok(second.bytes.includes(Buffer.from(Uint16Array.of(1, 6, 2).buffer)))
})

test('a corpus job of the hub loads the tokenizer by its name', { skip: noServer }, async (t) => {
  const recording = caseOf('LlamaTokenizer with Prepend and Replace')
  const contents = { 'tokenizer.json': fileOf(recording), ...recording.files, 'config.json': { model_type: 'llama' } }
  const files = Object.fromEntries(
    Object.entries(contents).map(([name, one]) => [name, Buffer.from(JSON.stringify(one))]),
  )
  const hub = await startHub({ 'deepseek-ai/deepseek-coder-x': { files }, 'org/x': { files } })
  const before = { HF_ENDPOINT: process.env.HF_ENDPOINT, HF_HUB_CACHE: process.env.HF_HUB_CACHE }
  t.after(() => {
    hub.close()
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  Object.assign(process.env, { HF_ENDPOINT: hub.url, HF_HUB_CACHE: path.join(root, 'hub') })
  const inputs = path.join(root, 'hello.txt')
  fs.writeFileSync(inputs, ' hello\n')
  const answers = []
  // transformers uses the file as it is for some names of repositories.
  for (const [repository, name] of [
    ['deepseek-ai/deepseek-coder-x', 'TokenizersBackend'],
    ['org/x', 'LlamaTokenizer'],
  ]) {
    const output = path.join(root, name)
    await tokenizeCorpus({ inputs, tokenizer: repository, output, type: 'u16', eos: false })
    const shard = fs.readdirSync(output).find((one) => /^shard.*\.(?:bin|npy)$/.test(one))
    const tokenizer = await Tokenizer.fromPretrained(repository)
    assert.equal(tokenizer.source.class, name)
    const { ids } = tokenizer.encode(' hello', { addSpecialTokens: false })
    assert.deepEqual(fs.readFileSync(path.join(output, shard)), Buffer.from(Uint16Array.from(ids).buffer))
    answers.push(String(ids))
  }
  assert.notEqual(answers[0], answers[1])
})

test('sentencepiece.model is found, and a class with .spm files is named', async () => {
  const model = fs.readFileSync(at('../../crates/core/testdata/sentencepiece/unigram.model'))
  const unnamed = folder({ 'sentencepiece.model': model, 'config.json': { model_type: 'own' } })
  const alone = await Tokenizer.fromBuffer(model)
  assert.deepEqual(idsOf(await Tokenizer.fromFile(unnamed), ['the cat']), idsOf(alone, ['the cat']))
  const marian = { 'source.spm': model, 'target.spm': model }
  for (const files of [
    { ...marian, 'vocab.json': {}, 'tokenizer_config.json': { tokenizer_class: 'MarianTokenizer' } },
    { ...marian, 'config.json': { model_type: 'marian' } },
  ]) {
    const place = folder(files)
    const refused = { code: 'ERR_TOKENLANE_UNSUPPORTED', message: /MarianTokenizer is not supported without/ }
    await assert.rejects(Tokenizer.fromFile(place), refused)
    assert.throws(() => Tokenizer.fromFileSync(place), refused)
    const run = spawnSync(process.execPath, [at('../../cli/main.mjs'), 'count', '-t', place, '-x', 'a'], {
      encoding: 'utf8',
    })
    assert.match(run.stderr, /MarianTokenizer/)
  }
})
