// The chat templates of a folder, and the special tokens that they write, are those that
// AutoTokenizer of transformers 5.24 has. The expected texts are what it rendered.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { folderWriter } from '../support/folders.mjs'
import { sentencePieceModel } from '../support/sentencepiece-model.mjs'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-folder-chats-'))
after(() => fs.rmSync(root, { recursive: true, force: true }))
const folder = folderWriter(root)
const TOKENIZERS = new URL('../../crates/core/testdata/conformance/tokenizers/', import.meta.url)
const baseOf = (name) => JSON.parse(fs.readFileSync(new URL(`${name}.json`, TOKENIZERS), 'utf8'))

const NAMES = ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask', 'image', 'foo']
const TEMPLATE = NAMES.map((name) => `{{ ${name}_token|default('-') }}`).join(' ')
const CHAT = [{ role: 'user', content: 'Hi' }]

/** What both loaders render. */
async function rendered(place, options = {}, loading = undefined) {
  const render = (tokenizer) => tokenizer.applyChatTemplate(CHAT, { ...options, tokenize: false })
  const text = render(await Tokenizer.fromFile(place, loading))
  assert.equal(render(Tokenizer.fromFileSync(place, loading)), text)
  return text
}

const MAP = 'special_tokens_map.json'
const CONFIG = 'tokenizer_config.json'
const TOKENS = [
  ['GPT2Tokenizer', 's_trim_pair_strings', {}, {}, '<|endoftext|> <|endoftext|> <|endoftext|> - - - - - -'],
  ['LlamaTokenizer', 's_metaspace_first', {}, {}, '<s> </s> <unk> - - - - - -'],
  ['BertTokenizer', 'w_cased', { pad_token: null }, {}, '- - [UNK] [SEP] - [CLS] [MASK] - -'],
  [
    'RobertaTokenizer',
    's_roberta',
    { cls_token: { __type: 'AddedToken', content: '[C]' } },
    {},
    '<s> </s> <unk> </s> <pad> [C] <mask> - -',
  ],
  ['PreTrainedTokenizerFast', 's_roberta', { foo_token: '<f>' }, {}, '- - - - - - - - <f>'],
  [
    'PreTrainedTokenizerFast',
    's_roberta',
    { bos_token: '<c>' },
    { bos_token: '<m>', eos_token: { content: '<e>', lstrip: false }, image_token: '<i>' },
    '<m> <e> - - - - - <i> -',
  ],
  [
    'PreTrainedTokenizerFast',
    's_roberta',
    { bos_token: '<c>', added_tokens_decoder: {} },
    { bos_token: '<m>', eos_token: '<e>' },
    '<c> - - - - - - - -',
  ],
]

test('templates write the special tokens of the class and of special_tokens_map.json', async () => {
  for (const [tokenizer_class, base, config, map, text] of TOKENS) {
    const configs = { [CONFIG]: { tokenizer_class, ...config }, [MAP]: map }
    const place = folder({ 'tokenizer.json': baseOf(base), 'chat_template.jinja': TEMPLATE, ...configs })
    assert.equal(await rendered(place), text, tokenizer_class)
    // A template of the caller gets the same tokens, and those of a config of the caller only.
    assert.equal(await rendered(place, { chatTemplate: TEMPLATE }), text)
    assert.equal(await rendered(place, {}, { chatTemplate: `${TEMPLATE}!` }), `${text}!`)
    const own = { config: { eos_token: '<own>' }, chatTemplate: TEMPLATE }
    assert.equal(await rendered(place, {}, own), '- <own> - - - - - - -')
  }
})

test('a file with a template of the caller has the tokens of the config beside it', async () => {
  const place = folder({ 'tokenizer.json': baseOf('s_roberta'), [CONFIG]: { bos_token: '<c>' } })
  assert.equal(await rendered(path.join(place, 'tokenizer.json'), {}, { chatTemplate: '{{ bos_token }}' }), '<c>')
})

test('the ids of special tokens are those of the class and of special_tokens_map.json', async () => {
  const place = folder({
    'tokenizer.json': baseOf('s_metaspace_first'),
    [CONFIG]: { tokenizer_class: 'LlamaTokenizer' },
  })
  for (const tokenizer of [await Tokenizer.fromFile(place), Tokenizer.fromFileSync(place)]) {
    const { bosId, eosId, unkId, padId } = tokenizer
    assert.deepEqual(
      [bosId, eosId, unkId, padId],
      ['<s>', '</s>', '<unk>'].map((token) => tokenizer.tokenToId(token)).concat(undefined),
    )
  }
})

test('a vocabulary in a folder has the special tokens of its class', async () => {
  const vocab = ['[UNK]', '[CLS]', '[SEP]', '[PAD]', '[MASK]', 'hi'].join('\n')
  const files = { 'vocab.txt': vocab, 'chat_template.jinja': TEMPLATE }
  assert.equal(await rendered(folder(files)), '- - [UNK] [SEP] [PAD] [CLS] [MASK] - -')
  assert.equal(
    await rendered(folder({ ...files, [MAP]: { image_token: '<i>' } })),
    '- - [UNK] [SEP] [PAD] [CLS] [MASK] <i> -',
  )
})

test('additional_chat_templates/default.jinja has precedence over chat_template.jinja', async () => {
  const files = { 'tokenizer.json': baseOf('s_roberta'), 'chat_template.jinja': 'one' }
  const place = folder(files)
  fs.mkdirSync(path.join(place, 'additional_chat_templates'))
  fs.writeFileSync(path.join(place, 'additional_chat_templates', 'rag.jinja'), 'two')
  assert.equal(await rendered(place), 'one')
  fs.writeFileSync(path.join(place, 'additional_chat_templates', 'default.jinja'), 'three')
  assert.equal(await rendered(place), 'three')
})

test('a config may have the numbers that Python writes', async () => {
  const text = `{"model_max_length": Infinity, "a": [NaN, -Infinity], "bos_token": "NaN \\" Infinity", "pad_token": "[PAD]"}`
  const place = folder({ 'tokenizer.json': baseOf('w_cased'), 'chat_template.jinja': '{{ bos_token }}' })
  fs.writeFileSync(path.join(place, CONFIG), text)
  assert.equal(await rendered(place), 'NaN " Infinity')
  const tokenizer = await Tokenizer.fromFile(place)
  assert.equal(tokenizer.source.note, undefined)
  assert.deepEqual([tokenizer.modelMaxLength, tokenizer.padId], [undefined, tokenizer.tokenToId('[PAD]')])
  fs.writeFileSync(path.join(place, CONFIG), `{"a": NaN, "b": "${'\\"'.repeat(1_000_000)}`)
  await assert.rejects(rendered(place), { code: 'ERR_TOKENLANE_CHAT_TEMPLATE' })
})

test('a chat of a SentencePiece model has the control symbols of its template, a text has none', async () => {
  // Control symbols stand first in some models. A space at the start of a text decodes to nothing.
  const CONTROL = 3
  const letters = [...'</>s'].map((letter) => [letter, -9])
  const pieces = [['<s>', 0, CONTROL], ['</s>', 0, CONTROL], ['\u2581', -9], ['hi', -1], ...letters]
  const place = folder({
    [CONFIG]: { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>', pad_token: '<p>' },
    'chat_template.jinja': TEMPLATE,
  })
  fs.writeFileSync(path.join(place, 'tokenizer.model'), sentencePieceModel(pieces))
  assert.equal(await rendered(place), '<s> </s> <unk> - <p> - - - -')
  const tokenizer = await Tokenizer.fromFile(place)
  const [bos, eos] = [tokenizer.bosId, tokenizer.eosId]
  assert.deepEqual([bos, eos], [1, 2])
  const chatTemplate = '{% for m in messages %}{{ bos_token }}{{ m.content }}{{ eos_token }}{% endfor %}'
  const idsOf = (content, options) =>
    Array.from(tokenizer.applyChatTemplate([{ role: 'assistant', content }], { chatTemplate, ...options }).ids)
  const hi = tokenizer.tokenToId('hi')
  assert.deepEqual(idsOf('hi'), [bos, hi, eos])
  assert.equal(tokenizer.countChat([{ role: 'user', content: 'hi' }], { chatTemplate }), 3)
  // What a user writes is text.
  const text = Array.from(tokenizer.encode('hi<s>').ids)
  assert.ok(!text.includes(bos) && text.length > 3)
  assert.deepEqual(idsOf('hi<s>'), [bos, ...text, eos])
  assert.deepEqual(idsOf('hi<s>', { content: 'parse' }), [bos, hi, bos, eos])
  assert.throws(() => idsOf('hi<s>', { content: 'throw' }), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN' })
  const masked = tokenizer.applyChatTemplate([{ role: 'assistant', content: 'hi' }], {
    chatTemplate,
    returnAssistantMask: true,
  })
  // The template has no prompt: all that it appends for an answer is learned.
  assert.deepEqual([...masked.assistantMask], [1, 1, 1])
  // One that finds them already stays as it is.
  const changed = tokenizer.with({ addedTokens: [{ content: '<s>', special: true }] })
  assert.deepEqual(
    [...changed.applyChatTemplate([{ role: 'user', content: 'hi' }], { chatTemplate }).ids],
    [bos, hi, eos],
  )
})
