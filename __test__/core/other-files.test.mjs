// Files other than tokenizer.json: SentencePiece models, vocab.txt, vocab.json with merges.txt, and
// the folder of a model.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import zlib from 'node:zlib'

import { Tokenizer } from '../../index.mjs'
import { tokenizeCorpus } from '@tokenlane/corpus'
import { folderWriter } from '../support/folders.mjs'
import { COMMIT, noServer, startHub } from '../support/hub.mjs'
import { failure } from '../support/texts.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const models = fileURLToPath(new URL('../../crates/core/testdata/sentencepiece/', import.meta.url))
const cli = fileURLToPath(new URL('../../cli/main.mjs', import.meta.url))
const cases = JSON.parse(zlib.gunzipSync(fs.readFileSync(path.join(models, 'cases.json.gz'))))
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-files-'))
after(() => fs.rmSync(root, { recursive: true, force: true }))

const folder = folderWriter(root)

const VOCAB = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'hello', 'world', '##s', 'Hello', 'é', 'e', '中']
const vocabText = (tokens = VOCAB) => tokens.map((token) => `${token}\n`).join('')
const BPE = {
  vocab: {
    '<|endoftext|>': 0,
    h: 1,
    e: 2,
    l: 3,
    o: 4,
    Ġ: 5,
    he: 6,
    ll: 7,
    hell: 8,
    hello: 9,
    '<s>': 10,
    '</s>': 11,
    '<mask>': 12,
  },
  merges: '#version: 0.2\nh e\nl l\nhe ll\nhell o\n',
}

for (const [name, { texts, rows }] of Object.entries(cases.models)) {
  test(`the SentencePiece model ${name} answers as sentencepiece ${cases.sentencepiece}`, async () => {
    const file = path.join(models, `${name}.model`)
    const tokenizer = await Tokenizer.fromFile(file)
    for (const [text, ids, pieces] of texts) {
      const encoding = tokenizer.encode(text)
      assert.deepEqual([...encoding.ids], ids, text)
      assert.deepEqual(encoding.tokens, pieces, text)
    }
    const batch = await tokenizer.encodeBatch(texts.map(([text]) => text))
    texts.forEach(([, ids], row) => assert.deepEqual([...batch.row(row)], ids))
    for (const [ids, text] of rows) {
      assert.equal(tokenizer.decode(ids), text)
      const stream = tokenizer.decodeStream()
      assert.equal(ids.map((id) => stream.push(id)).join('') + stream.end(), text)
    }
    assert.equal((await Tokenizer.fromBuffer(fs.readFileSync(file))).count('the cat'), tokenizer.count('the cat'))
    assert.equal((await failure(() => tokenizer.toBuffer())).code, 'ERR_TOKENLANE_SAVE')
  })
}

test('a SentencePiece model takes limits, added tokens and a post-processor', async () => {
  const tokenizer = Tokenizer.fromFileSync(path.join(models, 'unigram_bytes.model'))
  const text = 'the cat sat on the mat, 中文 🙂 '.repeat(20)
  for (const limit of [0, 1, 7, 100]) {
    const prefix = tokenizer.truncate(text, limit)
    assert.ok(tokenizer.count(prefix) <= limit && text.startsWith(prefix))
    assert.equal(tokenizer.isWithin(text, limit), tokenizer.count(text) <= limit)
  }
  assert.equal(
    tokenizer
      .split(text, { maxTokens: 20 })
      .map((piece) => piece.text ?? piece)
      .join(''),
    text,
  )
  const bos = tokenizer.tokenToId('<s>')
  const postProcessor = {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
    pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
    special_tokens: { '<s>': { id: '<s>', ids: [bos], tokens: ['<s>'] } },
  }
  const changed = tokenizer.with({ addedTokens: [{ content: '<new>', special: true }], postProcessor })
  assert.deepEqual([...changed.encode('a').ids], [bos, ...tokenizer.encode('a').ids])
  assert.ok([...changed.encode('a<new>b').ids].includes(tokenizer.vocabSize()))
  assert.equal((await failure(() => tokenizer.with({ decoder: null }))).code, 'ERR_TOKENLANE_UNSUPPORTED')
})

test('a SentencePiece model that is cut or changed is an error with a code', async () => {
  const whole = fs.readFileSync(path.join(models, 'unigram.model'))
  for (const end of [1, 2, 10, 30, 100, 1000, whole.length >> 1]) {
    const { code } = await failure(() => Tokenizer.fromBufferSync(whole.subarray(0, end)))
    assert.ok(
      ['ERR_TOKENLANE_PROTOBUF', 'ERR_TOKENLANE_UNKNOWN_FORMAT', 'ERR_TOKENLANE_EMPTY_FILE'].includes(code),
      `${end}: ${code}`,
    )
  }
  // A piece that is said to have 2^32 bytes.
  const long = Buffer.concat([whole.subarray(0, 2 + whole[1]), Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])])
  const { code, message } = await failure(() => Tokenizer.fromBufferSync(long))
  assert.equal(code, 'ERR_TOKENLANE_PROTOBUF')
  assert.match(message, /4294967295 bytes, and 0 are left/)
})

test('vocab.txt becomes the tokenizer of BERT, as its config says', async () => {
  const lower = await Tokenizer.fromFile(folder({ 'vocab.txt': vocabText() }))
  assert.deepEqual(lower.encode('Hellos WORLD é 中!').tokens, [
    '[CLS]',
    'hello',
    '##s',
    'world',
    'e',
    '中',
    '[UNK]',
    '[SEP]',
  ])
  const cased = folder({
    'vocab.txt': vocabText(),
    'tokenizer_config.json': { do_lower_case: false, tokenizer_class: 'BertTokenizerFast' },
  })
  const tokenizer = Tokenizer.fromFileSync(cased)
  assert.deepEqual(tokenizer.encode('Hellos é [MASK]').tokens, ['[CLS]', 'Hello', '##s', 'é', '[MASK]', '[SEP]'])
  assert.deepEqual([...tokenizer.encode('Hello', { pair: 'world' }).typeIds], [0, 0, 0, 1, 1])
  assert.equal(tokenizer.decode(tokenizer.encode('Hellos é').ids, { skipSpecialTokens: true }), 'Hellos é')
  const saved = await Tokenizer.fromBuffer(tokenizer.toBuffer())
  assert.deepEqual(saved.toJSON(), tokenizer.toJSON())
  // The file itself is read with the configs beside it.
  const file = await Tokenizer.fromFile(path.join(cased, 'vocab.txt'))
  assert.deepEqual(file.toJSON(), tokenizer.toJSON())
})

test('special tokens come from added_tokens_decoder, special_tokens_map.json and added_tokens.json', () => {
  const legacy = folder({
    'vocab.txt': vocabText(),
    'special_tokens_map.json': { mask_token: { content: '[MASK]', lstrip: true }, additional_special_tokens: ['<x>'] },
    'added_tokens.json': { word: 12 },
  })
  const { added_tokens: tokens } = Tokenizer.fromFileSync(legacy).toJSON()
  assert.deepEqual(
    tokens.map(({ id, content, special, lstrip }) => [id, content, special, lstrip]),
    [
      [0, '[PAD]', true, false],
      [1, '[UNK]', true, false],
      [2, '[CLS]', true, false],
      [3, '[SEP]', true, false],
      [4, '[MASK]', true, true],
      [12, 'word', false, false],
      [13, '<x>', true, false],
    ],
  )
})

/** The added tokens of a folder: id, content, whether it is special, and normalized. */
function addedTokens(files) {
  const { added_tokens: tokens } = Tokenizer.fromFileSync(folder({ 'vocab.txt': vocabText(), ...files })).toJSON()
  return tokens.map(({ id, content, special, normalized }) => [id, content, special, normalized])
}

test('special tokens of several configs are merged as transformers 5.23.0 does', () => {
  const special = (content, more) => ({ __type: 'AddedToken', content, ...more })
  const first = [
    [0, '[PAD]', true, false],
    [1, '[UNK]', true, false],
    [2, '[CLS]', true, false],
    [3, '[SEP]', true, false],
    [4, '[MASK]', true, false],
  ]
  // Of several entries with the same content, the last one counts.
  const unknown = { unk_token: special('[UNK]', { normalized: true }), sep_token: '[UNK]' }
  assert.deepEqual(addedTokens({ 'tokenizer_config.json': unknown }).slice(1, 3), [first[1], first[2]])
  // additional_special_tokens of tokenizer_config.json hide those of special_tokens_map.json.
  const additional = (content) => ({ additional_special_tokens: [content] })
  assert.deepEqual(
    addedTokens({ 'tokenizer_config.json': additional('<a>'), 'special_tokens_map.json': additional('<b>') }),
    [...first, [12, '<a>', true, false]],
  )
  const extra = (content) => ({ extra_special_tokens: [content] })
  assert.deepEqual(
    addedTokens({ 'tokenizer_config.json': extra('<a>'), 'special_tokens_map.json': extra({ content: '<b>' }) }),
    [...first, [12, '<a>', true, false], [13, '<b>', true, false]],
  )
  // Other fields that end in _token, and extra tokens with names, are special tokens too.
  const named = { image_token: '<image>', extra_special_tokens: { x: special('<x>', { normalized: true }) } }
  assert.deepEqual(addedTokens({ 'tokenizer_config.json': named }), [
    ...first,
    [12, '<image>', true, false],
    [13, '<x>', true, true],
  ])
  // A token of added_tokens.json is normalized unless a text or special_tokens_map.json names it.
  const files = { 'tokenizer_config.json': { mask_token: special('[MASK]') }, 'added_tokens.json': { '[MASK]': 4 } }
  assert.deepEqual(addedTokens(files)[4], [4, '[MASK]', true, true])
})

test('vocab.json with merges.txt becomes GPT-2, RoBERTa or CLIP', async () => {
  const files = { 'vocab.json': BPE.vocab, 'merges.txt': BPE.merges }
  const gpt2 = await Tokenizer.fromFile(
    folder({ ...files, 'tokenizer_config.json': { tokenizer_class: 'GPT2Tokenizer' } }),
  )
  assert.deepEqual(gpt2.encode('hello').tokens, ['hello'])
  const vocab = { ...BPE.vocab, '<unk>': 13, '<pad>': 14 }
  for (const config of [
    { 'tokenizer_config.json': { tokenizer_class: 'RobertaTokenizer' } },
    { 'config.json': { model_type: 'roberta' } },
    {},
  ]) {
    const roberta = await Tokenizer.fromFile(folder({ 'vocab.json': vocab, 'merges.txt': BPE.merges, ...config }))
    assert.deepEqual(roberta.encode('hello').tokens, ['<s>', 'hello', '</s>'])
  }
  const clip = { '<|startoftext|>': 0, '<|endoftext|>': 1, h: 2, i: 3, 'i</w>': 4, 'hi</w>': 5, 'a</w>': 6, 'h</w>': 7 }
  const tokenizer = await Tokenizer.fromFile(folder({ 'vocab.json': clip, 'merges.txt': 'h i</w>\n' }))
  assert.deepEqual(tokenizer.encode('HI  a').tokens, ['<|startoftext|>', 'hi</w>', 'a</w>', '<|endoftext|>'])
  assert.equal(tokenizer.decode([5, 6]), 'hi a')
})

test('vocab.json with merges.txt of OpenAI GPT is what transformers 5.24.0 makes of it', async () => {
  const letters = [...'helowrd,!é']
  const longer = ['he', 'll', 'hell', 'hello</w>', 'wo', 'wor', 'ld</w>', 'world</w>']
  const tokens = ['<unk>', ...letters, ...letters.map((letter) => `${letter}</w>`), ...longer]
  const files = {
    'vocab.json': Object.fromEntries(tokens.map((token, id) => [token, id])),
    'merges.txt': '#version: 0.2\nh e\nl l\nhe ll\nhell o</w>\nw o\nwo r\nl d</w>\nwor ld</w>\n',
  }
  const texts = ['Hello, world!', 'HELLO wörld', 'x hell', 'hello<unk>é', '']
  const plain = [[24, 18, 28, 19], [24, 28], [0, 21, 3, 13], [24, 0, 12], []]
  const withBos = [[21, 24, 18, 28, 19], [21, 24, 28], [21, 0, 21, 3, 13], [21, 21, 22, 14, 0, 12], [21]]
  const bos = { tokenizer_class: 'OpenAIGPTTokenizerFast', bos_token: 'he', add_bos_token: true, pad_token: '<pad>' }
  for (const [configs, ids] of [
    [{ 'tokenizer_config.json': { tokenizer_class: 'OpenAIGPTTokenizer' } }, plain],
    [{ 'config.json': { model_type: 'openai-gpt' } }, plain],
    [{ 'tokenizer_config.json': bos }, withBos],
  ]) {
    const tokenizer = await Tokenizer.fromFile(folder({ ...files, ...configs }))
    assert.deepEqual([tokenizer.source.class, tokenizer.source.note], ['OpenAIGPTTokenizer', undefined])
    assert.deepEqual(
      texts.map((text) => Array.from(tokenizer.encode(text).ids)),
      ids,
    )
    assert.deepEqual(
      plain.map((row) => tokenizer.decode(row)),
      ['hello , world !', 'hello world', '<unk>hell', 'hello <unk>e', ''],
    )
  }
})

test('a folder is read in the order of transformers', async () => {
  const sentencePiece = fs.readFileSync(path.join(models, 'bpe.model'))
  const all = {
    'tokenizer.json': bytesOf(tiny()),
    'tokenizer.model': sentencePiece,
    'vocab.txt': vocabText(),
    'vocab.json': BPE.vocab,
    'merges.txt': BPE.merges,
  }
  const size = async (files) => (await Tokenizer.fromFile(folder(files))).vocabSize()
  const without = (...names) => Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)))
  const sizes = [
    Tokenizer.fromBufferSync(bytesOf(tiny())).vocabSize(),
    Tokenizer.fromBufferSync(sentencePiece).vocabSize(),
    Object.keys(BPE.vocab).length + 2,
    VOCAB.length,
  ]
  assert.equal(await size(all), sizes[0])
  assert.equal(await size(without('tokenizer.json')), sizes[1])
  assert.equal(await size(without('tokenizer.json', 'tokenizer.model')), sizes[2])
  assert.equal(await size(without('tokenizer.json', 'tokenizer.model', 'merges.txt')), sizes[3])
  // The class decides where there is one.
  const config = { 'tokenizer_config.json': { tokenizer_class: 'BertTokenizer' } }
  assert.equal(await size({ ...without('tokenizer.json'), ...config }), sizes[3])
  assert.equal(
    await size({ 'spiece.model': sentencePiece, 'tokenizer_config.json': { tokenizer_class: 'T5Tokenizer' } }),
    // With the pad token and the sentinels of the class.
    sizes[1] + 101,
  )
})

test('errors of a folder name the fault, with a code', async () => {
  const sentencePiece = fs.readFileSync(path.join(models, 'bpe.model'))
  const wrong = [
    [
      {},
      'FILE_NOT_FOUND',
      /looked for tokenizer\.json, tekken\.json, tokenizer\.model, .*vocab\.json with merges\.txt, vocab\.txt/,
    ],
    [
      { 'vocab.txt': vocabText(), 'config.json': { tokenizer_class: 'Long'.repeat(1e5) } },
      'UNSUPPORTED',
      /^.*tokenizer_class: (Long){25}… is not supported without a tokenizer\.json/,
    ],
    [{ 'vocab.json': BPE.vocab }, 'FILE_NOT_FOUND', /vocab\.json with merges\.txt/],
    [{ 'vocab.txt': vocabText(VOCAB.slice(0, 2)) }, 'SHAPE', /vocab\.txt: it has no "\[CLS\]", the cls_token/],
    [{ 'vocab.txt': '' }, 'EMPTY_FILE', /vocab\.txt/],
    [{ 'vocab.txt': Buffer.from([0xff, 0x0a]) }, 'UNKNOWN_FORMAT', /vocab\.txt: it is not UTF-8/],
    [
      { 'vocab.txt': vocabText(), 'tokenizer_config.json': '{' },
      'JSON',
      /tokenizer_config\.json: the JSON does not parse/,
    ],
    [{ 'vocab.txt': vocabText(), 'tokenizer_config.json': [] }, 'SHAPE', /an object is expected/],
    [
      { 'vocab.txt': vocabText(), 'tokenizer_config.json': { do_lower_case: 'yes' } },
      'SHAPE',
      /do_lower_case must be true or false/,
    ],
    [{ 'vocab.txt': vocabText(), 'tokenizer_config.json': { cls_token: null } }, 'SHAPE', /cls_token is missing/],
    [
      { 'vocab.txt': vocabText(), 'tokenizer_config.json': { tokenizer_class: 'MPNetTokenizer' } },
      'UNSUPPORTED',
      /MPNetTokenizer/,
    ],
    [
      { 'sentencepiece.bpe.model': sentencePiece, 'tokenizer_config.json': { tokenizer_class: 'LayoutXLMTokenizer' } },
      'UNSUPPORTED',
      /LayoutXLMTokenizer/,
    ],
    [{ 'vocab.json': [], 'merges.txt': '' }, 'SHAPE', /a map from tokens to ids/],
    [{ 'vocab.json': { a: 1.5 }, 'merges.txt': '' }, 'SHAPE', /the id of "a"/],
    [{ 'vocab.json': BPE.vocab, 'merges.txt': 'h e\nh\n' }, 'MERGE', /merges\.txt: line 2/],
    [{ 'vocab.json': BPE.vocab, 'merges.txt': 'h x\n' }, 'MERGE', /not in the vocabulary/],
  ]
  for (const [files, code, message] of wrong) {
    const place = folder(files)
    const errors = [
      await Tokenizer.fromFile(place).catch((error) => error),
      await failure(() => Tokenizer.fromFileSync(place)),
    ]
    for (const error of errors) {
      assert.equal(error.code, `ERR_TOKENLANE_${code}`, error.message)
      assert.match(error.message, message)
    }
  }
  assert.equal(
    (await Tokenizer.fromFile(path.join(root, 'none')).catch((error) => error)).code,
    'ERR_TOKENLANE_FILE_NOT_FOUND',
  )
})

test('fromPretrained gets the other files of a repository without a tokenizer.json', { skip: noServer }, async (t) => {
  const config = Buffer.from(JSON.stringify({ tokenizer_class: 'BertTokenizer', do_lower_case: false }))
  const gpt2 = {
    'vocab.json': Buffer.from(JSON.stringify(BPE.vocab)),
    'merges.txt': Buffer.from(BPE.merges),
    'config.json': Buffer.from('{"model_type":"gpt2"}'),
  }
  const hub = await startHub({
    'org/bert': { files: { 'vocab.txt': Buffer.from(vocabText()), 'tokenizer_config.json': config } },
    'org/gpt2': { files: gpt2 },
    'org/sp': { files: { 'spiece.model': fs.readFileSync(path.join(models, 'unigram.model')) } },
  })
  const endpoint = process.env.HF_ENDPOINT
  t.after(() => {
    hub.close()
    if (endpoint === undefined) delete process.env.HF_ENDPOINT
    else process.env.HF_ENDPOINT = endpoint
  })
  process.env.HF_ENDPOINT = hub.url
  const load = (repo, options) =>
    Tokenizer.fromPretrained(repo, { cacheDir: path.join(root, 'cache'), token: false, ...options })
  for (const options of [{}, { localFilesOnly: true }, { revision: COMMIT }]) {
    if (options.revision !== undefined) hub.requests.length = 0
    assert.deepEqual((await load('org/bert', options)).encode('Hello').tokens, ['[CLS]', 'Hello', '[SEP]'])
    assert.deepEqual((await load('org/gpt2', options)).encode('hello').tokens, ['hello'])
    assert.equal(
      (await load('org/sp', options)).count('the cat'),
      Tokenizer.fromFileSync(path.join(models, 'unigram.model')).count('the cat'),
    )
  }
  assert.deepEqual(hub.requests, [], 'a cached commit makes no request')
})

test('npx tokenlane count takes a folder of each kind', () => {
  const folders = [
    folder({ 'tokenizer.model': fs.readFileSync(path.join(models, 'bpe.model')) }),
    folder({ 'vocab.txt': vocabText() }),
    folder({ 'vocab.json': BPE.vocab, 'merges.txt': BPE.merges }),
    path.join(models, 'unigram.model'),
  ]
  for (const place of folders) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'count', '-t', place, '-x', 'hello'], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    assert.match(stdout, new RegExp(`\\b${Tokenizer.fromFileSync(place).count('hello')}\\b`))
  }
})

test('a corpus job finds the tokenizer of a folder or a repository as fromFile and fromPretrained do', {
  skip: noServer,
}, async (t) => {
  const sentencePiece = fs.readFileSync(path.join(models, 'unigram.model'))
  const named = (name) => Buffer.from(JSON.stringify({ tokenizer_class: name }))
  const of = (config) => ({ 'tokenizer.model': sentencePiece, 'tokenizer_config.json': config })
  const hub = await startHub({
    'org/t5': { files: of(named('T5Tokenizer')) },
    'org/roberta': { files: of(named('XLMRobertaTokenizer')) },
    'org/bert': { files: { 'vocab.txt': Buffer.from(vocabText()) } },
  })
  const before = { HF_ENDPOINT: process.env.HF_ENDPOINT, HF_HOME: process.env.HF_HOME }
  t.after(() => {
    hub.close()
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  })
  Object.assign(process.env, { HF_ENDPOINT: hub.url, HF_HOME: path.join(root, 'corpus-home') })
  const inputs = path.join(root, 'cats.txt')
  fs.writeFileSync(inputs, 'the cat\n')
  const tokens = async (name) => (await tokenizeCorpus({ inputs, tokenizer: name, dryRun: true })).tokens
  const count = Tokenizer.fromFileSync(path.join(models, 'unigram.model')).count('the cat', { addSpecialTokens: false })
  assert.equal(await tokens('org/t5'), count)
  assert.equal(await tokens(folder(of(named('T5Tokenizer')))), count)
  // Its ids are not those of the file, so the file alone is refused, as by `encode`.
  for (const name of ['org/roberta', folder(of(named('XLMRobertaTokenizer')))])
    await assert.rejects(tokens(name), { code: 'ERR_TOKENLANE_UNSUPPORTED', message: /XLMRobertaTokenizer/ }, name)
  await assert.rejects(tokens('org/bert'), { code: 'ERR_TOKENLANE_UNSUPPORTED', message: /^org\/bert: .* in one file/ })
})
