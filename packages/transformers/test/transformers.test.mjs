// @tokenlane/transformers. docs/drop-ins/transformers.md has a comparison with the package itself.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import * as transformers from '@tokenlane/transformers'

import { Tokenizer } from '../../../index.mjs'
import { addedToken } from '../../../__test__/support/added-token.mjs'
import { bert, bertConfig } from '../../../__test__/support/bert.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { bytesOf, tiny } from '../../../__test__/support/tiny.mjs'

const { BertTokenizer, GPT2Tokenizer, PreTrainedTokenizer, Tensor, env } = transformers

const require = createRequire(import.meta.url)

const engine = Tokenizer.fromBufferSync(bytesOf(bert()))
const tokenizer = new BertTokenizer(bert(), bertConfig())
const code = (call) => failure(call).then((error) => error.code)
const arrays = { return_tensor: false }
const [CLS, SEP, MASK, PAD] = ['[CLS]', '[SEP]', '[MASK]', '[PAD]'].map((token) => engine.tokenToId(token))

test('a call returns int64 tensors, also for one text', () => {
  const { input_ids: ids, attention_mask: mask, token_type_ids: types } = tokenizer('The capital of France.')
  const expected = [...engine.encode('The capital of France.').ids]
  assert.deepEqual(
    [ids.type, ids.dims, ids.size, ids.location],
    ['int64', [1, expected.length], expected.length, 'cpu'],
  )
  assert.ok(ids.data instanceof BigInt64Array && ids instanceof Tensor)
  assert.deepEqual(ids.tolist(), [expected.map(BigInt)])
  assert.deepEqual(mask.tolist(), [expected.map(() => 1n)])
  assert.deepEqual(types.tolist(), [expected.map(() => 0n)])
})

test('without tensors the result has the shape of the input', () => {
  const ids = [...engine.encode('a cat').ids]
  const zeros = ids.map(() => 0)
  assert.deepEqual(tokenizer('a cat', arrays), {
    input_ids: ids,
    attention_mask: ids.map(() => 1),
    token_type_ids: zeros,
  })
  assert.deepEqual(tokenizer(['a cat'], { ...arrays, return_token_type_ids: false }), {
    input_ids: [ids],
    attention_mask: [ids.map(() => 1)],
  })
})

test('pairs have type ids; a batch can have texts with and without a pair', () => {
  const { ids, typeIds } = engine.encode('a cat', { pair: 'a dog' })
  const pair = tokenizer('a cat', { ...arrays, text_pair: 'a dog' })
  assert.deepEqual([pair.input_ids, pair.token_type_ids], [[...ids], [...typeIds]])
  const mixed = tokenizer(['a cat', 'the sky', 'a dog'], { ...arrays, text_pair: ['a dog', null, ''], padding: true })
  const rows = [
    engine.encode('a cat', { pair: 'a dog' }),
    engine.encode('the sky'),
    engine.encode('a dog', { pair: '' }),
  ]
  const fill = (row) => [...row, ...new Array(ids.length - row.length).fill(PAD)]
  assert.deepEqual(
    mixed.input_ids,
    rows.map((row) => fill(row.ids)),
  )
  assert.deepEqual(
    mixed.token_type_ids,
    rows.map((row) => fill(row.typeIds)),
  )
  assert.deepEqual(
    mixed.attention_mask.map((row) => row.filter((one) => one === 1).length),
    rows.map(({ length }) => length),
  )
})

test('the error of a row has its index', async () => {
  const options = { truncation: 'only_second', max_length: 5 }
  const texts = ['a', 'the capital of france', 'a', 'a city of france']
  const mixed = await failure(() => tokenizer(texts, { ...options, text_pair: ['dog', null, 'dog', null] }))
  assert.deepEqual([mixed.code, mixed.row], ['ERR_TOKENLANE_TRUNCATION_NO_SECOND_TEXT', 1])
  assert.equal((await failure(() => tokenizer(texts.slice(2), options))).row, 1)
})

test('padding: to the longest row, to max_length, on either side', () => {
  const texts = ['a', 'the capital of france']
  const [short, long] = texts.map((text) => [...engine.encode(text).ids])
  const filled = (length, side = 'right') =>
    [short, long].map((row) => {
      const missing = new Array(Math.max(0, length - row.length)).fill(PAD)
      return side === 'right' ? [...row, ...missing] : [...missing, ...row]
    })
  const ids = (options) => tokenizer(texts, { ...arrays, ...options }).input_ids
  assert.deepEqual(ids({ padding: true }), filled(long.length))
  assert.deepEqual(ids({ padding: 'longest' }), filled(long.length))
  assert.deepEqual(ids({ padding: 'max_length', max_length: 12 }), filled(12))
  assert.deepEqual(ids({ padding: 'max_length' }), filled(64))
  assert.deepEqual(ids({ padding: 'max_length', max_length: 100 }), filled(64), 'model_max_length is the most')
  assert.deepEqual(ids({ padding: 'do_not_pad' }), [short, long])
  const left = new BertTokenizer(bert(), { ...bertConfig(), padding_side: 'left' })
  assert.deepEqual(left(texts, { ...arrays, padding: true }).input_ids, filled(long.length, 'left'))
  const { input_ids, attention_mask } = left(texts, { padding: true })
  assert.deepEqual(
    input_ids.tolist(),
    filled(long.length, 'left').map((row) => row.map(BigInt)),
  )
  assert.deepEqual(attention_mask.tolist()[0], [
    ...new Array(long.length - short.length).fill(0n),
    ...short.map(() => 1n),
  ])
  left.padding_side = 'right'
  left.pad_token_id = MASK
  assert.deepEqual(left(texts, { ...arrays, padding: true }).input_ids[0].at(-1), MASK)
})

test('truncation keeps special tokens, as in Python', () => {
  const text = 'the capital of france is a city'
  const all = [...engine.encode(text, { addSpecialTokens: false }).ids]
  const ids = (options, of = tokenizer) => of(text, { ...arrays, ...options }).input_ids
  const expected = [CLS, ...all.slice(0, 3), SEP]
  assert.deepEqual(ids({ truncation: true, max_length: 5 }), expected)
  assert.deepEqual(ids({ max_length: 5 }), expected, 'max_length alone truncates')
  assert.deepEqual(ids({ truncation: false, max_length: 5 }), [CLS, ...all, SEP])
  assert.deepEqual(ids({ padding: true, max_length: 5 }), [CLS, ...all, SEP], 'padding: true ignores max_length')
  assert.deepEqual(ids({ padding: true, truncation: true, max_length: 5 }), expected)
  const side = new BertTokenizer(bert(), { ...bertConfig(), truncation_side: 'left', model_max_length: 6 })
  assert.deepEqual(ids({ truncation: true }, side), [CLS, ...all.slice(-4), SEP])
  const second = tokenizer(text, {
    ...arrays,
    text_pair: text,
    truncation: 'only_second',
    max_length: all.length + 5,
  }).input_ids
  assert.deepEqual(second, [CLS, ...all, SEP, ...all.slice(0, 2), SEP])
  assert.deepEqual(ids({ truncation: 'do_not_truncate', max_length: 5 }), [CLS, ...all, SEP])
})

test('a long text has the ids of a short one', () => {
  const part = 'The capital, of France: 12345 '
  const wide = new BertTokenizer(bert(), { ...bertConfig(), model_max_length: undefined })
  for (const count of [1, 1000, 1100, 3000]) {
    const [text, text_pair] = [part.repeat(count), 'a dog']
    const { ids, typeIds } = engine.encode(text, { pair: text_pair })
    const found = wide(text, { ...arrays, text_pair })
    assert.deepEqual([found.input_ids, found.token_type_ids], [[...ids], [...typeIds]], `${count}`)
    const { input_ids } = wide(text, { return_token_type_ids: false })
    assert.deepEqual(Array.from(input_ids.data, Number), [...engine.encode(text).ids])
  }
})

test('the truncation and padding of the file have no effect', () => {
  const file = { ...bert(), truncation: { direction: 'Right', max_length: 3, strategy: 'LongestFirst', stride: 0 } }
  file.padding = {
    strategy: { Fixed: 50 },
    direction: 'Right',
    pad_to_multiple_of: null,
    pad_id: 0,
    pad_type_id: 0,
    pad_token: '[PAD]',
  }
  const other = new BertTokenizer(file, bertConfig())
  const text = 'the sky is blue'
  assert.deepEqual(other(text, arrays), tokenizer(text, arrays))
  assert.deepEqual(other.encode(text), tokenizer.encode(text))
  assert.deepEqual(other.tokenize(text), ['the', 'sky', 'is', 'blue'])
})

test('wrong arguments are errors with the messages of the package and a code', async () => {
  const refused = [
    [() => tokenizer(), 'ARGUMENT_TYPE', 'text may not be null or undefined'],
    [() => tokenizer([]), 'ARGUMENT_VALUE', 'text array must be non-empty'],
    [() => tokenizer('a', { text_pair: ['b'] }), 'ARGUMENT_TYPE', /^When specifying `text_pair`/],
    [() => tokenizer(['a'], { text_pair: 'b' }), 'ARGUMENT_TYPE', 'text_pair must also be an array'],
    [
      () => tokenizer(['a'], { text_pair: ['b', 'c'] }),
      'ARGUMENT_VALUE',
      'text and text_pair must have the same length',
    ],
    [
      () => tokenizer(['a', 'the sky is']),
      'TENSOR_SHAPE',
      /^Unable to create tensor, you should probably activate truncation/,
    ],
    [() => tokenizer(['a', 5]), 'ARGUMENT_TYPE', 'text[1] must be a string'],
    [() => tokenizer(['a'], { text_pair: [5] }), 'ARGUMENT_TYPE', 'text_pair[0] must be a string'],
    [() => tokenizer('a', { max_length: -1 }), 'ARGUMENT_VALUE', /max_length/],
    [() => tokenizer('a', { max_length: '5' }), 'ARGUMENT_VALUE', /max_length/],
    [() => tokenizer('a', { padding: 'longer' }), 'ARGUMENT_VALUE', /padding must be/],
    [() => tokenizer('a', { truncation: 'shorter' }), 'ARGUMENT_VALUE', /truncation must be/],
    [() => tokenizer.decode([]), 'ARGUMENT_TYPE', 'token_ids must be a non-empty array of integers.'],
    [() => tokenizer.decode([0.5]), 'ARGUMENT_TYPE', 'token_ids must be a non-empty array of integers.'],
    [
      () => tokenizer.decode(new Array(2 ** 32 - 1)),
      'ARGUMENT_TYPE',
      'token_ids must be a non-empty array of integers.',
    ],
    [() => tokenizer.decode([-100]), 'ARGUMENT_VALUE', /-100/],
    [() => tokenizer.decode([2n ** 40n]), 'ARGUMENT_VALUE', /1099511627776/],
    [() => tokenizer.batch_decode(5), 'ARGUMENT_TYPE', /batch must be/],
    [() => tokenizer.decode(tokenizer(['a', 'a']).input_ids), 'TENSOR_SHAPE', /batch_decode/],
    [() => tokenizer.encode(), 'ARGUMENT_TYPE', 'text must be a string'],
    [() => tokenizer.tokenize('a', { pair: 5 }), 'ARGUMENT_TYPE', 'text_pair must be a string'],
    [() => new PreTrainedTokenizer('{}', {}), 'ARGUMENT_TYPE', /tokenizerJSON/],
    [() => new PreTrainedTokenizer(bert()), 'ARGUMENT_TYPE', /tokenizerConfig/],
    [() => new PreTrainedTokenizer({ model: 5n }, {}), 'ARGUMENT_TYPE', /tokenizerJSON must be/],
    [() => new PreTrainedTokenizer({}, {}), 'SHAPE', /model/],
    [() => new PreTrainedTokenizer(bert(), { pad_token: { id: 5 } }), 'ARGUMENT_TYPE', /Unknown token/],
    [
      () => new PreTrainedTokenizer(bert(), { chat_template: [{ name: 'x' }] }),
      'ARGUMENT_TYPE',
      /Chat template must be/,
    ],
  ]
  for (const [call, name, message] of refused) {
    const { code: found, message: said } = await failure(call)
    assert.equal(found, `ERR_TOKENLANE_${name}`, said)
    if (typeof message === 'string') assert.equal(said, message)
    else assert.match(said, message)
  }
  const withoutPadding = new PreTrainedTokenizer(bert(), {})
  assert.equal(withoutPadding.pad_token, null)
  assert.equal(await code(() => withoutPadding(['a', 'the sky'], { padding: true })), 'ERR_TOKENLANE_NO_SUCH_TOKEN')
  assert.deepEqual(withoutPadding(['a', 'a'], { padding: true }).input_ids.dims, [2, 3], 'nothing to fill')
  for (const id of [-100, 0.5, 2 ** 32, '0']) {
    withoutPadding.pad_token_id = id
    assert.equal(await code(() => withoutPadding(['a', 'the sky'], { padding: true })), 'ERR_TOKENLANE_NO_SUCH_TOKEN')
  }
  assert.equal(await code(() => withoutPadding('a', { padding: 'max_length' })), 'ERR_TOKENLANE_ARGUMENT_VALUE')
})

test('results that are too large are refused before they take memory', async () => {
  const wide = new BertTokenizer(bert(), { ...bertConfig(), model_max_length: 2 ** 31 })
  assert.equal(await code(() => wide('a', { padding: 'max_length' })), 'ERR_TOKENLANE_PADDING_TOO_LONG')
  assert.equal(
    await code(() => wide('a', { ...arrays, padding: 'max_length', max_length: 2 ** 23 })),
    'ERR_TOKENLANE_PADDING_TOO_LONG',
  )
  assert.equal(wide('a', { ...arrays, padding: 'max_length', max_length: 2 ** 10 }).input_ids.length, 2 ** 10)
})

test('encode and tokenize', () => {
  assert.deepEqual(tokenizer.encode('the cats'), [...engine.encode('the cats').ids])
  assert.deepEqual(tokenizer.encode('the cats', { add_special_tokens: false, text_pair: 'a' }), [
    ...engine.encode('the cats', { pair: 'a', addSpecialTokens: false }).ids,
  ])
  assert.deepEqual(tokenizer.tokenize('the cats'), ['the', 'cat', '##s'])
  assert.deepEqual(tokenizer.tokenize('cats', { pair: 'a', add_special_tokens: true }), [
    '[CLS]',
    'cat',
    '##s',
    '[SEP]',
    'a',
    '[SEP]',
  ])
  assert.deepEqual(tokenizer._encode_text('a'), ['[CLS]', 'a', '[SEP]'])
  assert.equal(tokenizer._encode_text(null), null)
  const { ids, tokens, attention_mask, token_type_ids } = tokenizer._tokenizer.encode('a', {
    text_pair: 'dog',
    return_token_type_ids: true,
  })
  assert.deepEqual(
    [ids.length, tokens, attention_mask, token_type_ids],
    [5, ['[CLS]', 'a', '[SEP]', 'dog', '[SEP]'], [1, 1, 1, 1, 1], [0, 0, 0, 1, 1]],
  )
  assert.ok(!('token_type_ids' in tokenizer._tokenizer.encode('a')))
})

test('decode cleans up spaces as the config says', () => {
  const bare = new BertTokenizer(
    { ...bert(), decoder: { type: 'WordPiece', prefix: '##', cleanup: false } },
    bertConfig(),
  )
  const ids = bare.encode("the cats, do n't sleep . is ' a ' ?")
  assert.equal(bare.decode(ids, { skip_special_tokens: true }), "the cats, don't sleep. is'a '?")
  const spaced = "the cats , do n ' t sleep . is ' a ' ?"
  assert.equal(bare.decode(ids, { clean_up_tokenization_spaces: false, skip_special_tokens: true }), spaced)
  const raw = new BertTokenizer(
    { ...bert(), decoder: { type: 'WordPiece', prefix: '##', cleanup: false } },
    { ...bertConfig(), clean_up_tokenization_spaces: false },
  )
  assert.equal(raw.decode(raw.encode('the sky.')), '[CLS] the sky . [SEP]')
  assert.equal(raw.decode(raw.encode('the sky.'), { clean_up_tokenization_spaces: true }), '[CLS] the sky. [SEP]')
})

test('decode takes numbers, bigints and tensors; batch_decode takes rows of them', () => {
  const texts = ['the sky is blue', 'a dog']
  const inputs = tokenizer(texts, { padding: true })
  const skip = { skip_special_tokens: true }
  assert.deepEqual(tokenizer.batch_decode(inputs.input_ids, skip), texts)
  assert.deepEqual(tokenizer.batch_decode(inputs.input_ids.tolist(), skip), texts)
  assert.equal(tokenizer.decode(inputs.input_ids[1], skip), 'a dog')
  assert.equal(tokenizer.decode(tokenizer('a dog').input_ids), '[CLS] a dog [SEP]')
  assert.equal(tokenizer.decode([CLS, 99_999, SEP]), '[CLS] [SEP]', 'unknown ids are skipped')
})

test('a suffix of words is a space', () => {
  const clip = { ...tiny(), added_tokens: [], post_processor: null }
  clip.model.end_of_word_suffix = '</w>'
  clip.model.vocab['o</w>'] = 14
  const other = new transformers.CLIPTokenizer(clip, { clean_up_tokenization_spaces: false })
  assert.equal(other.decode([8, 14, 3, 14]), 'heo oo ')
  assert.equal(other.decode([8, 14, 3, 14], { skip_special_tokens: true }), 'heo oo')
})

test('special tokens, ids and the config are properties', () => {
  assert.deepEqual(
    [tokenizer.mask_token, tokenizer.mask_token_id, tokenizer.pad_token, tokenizer.pad_token_id],
    ['[MASK]', MASK, '[PAD]', PAD],
  )
  assert.deepEqual([tokenizer.bos_token, tokenizer.bos_token_id], [null, undefined])
  assert.deepEqual(tokenizer.all_special_tokens, ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'])
  assert.deepEqual(tokenizer.all_special_ids, tokenizer.convert_tokens_to_ids(tokenizer.all_special_tokens))
  assert.strictEqual(tokenizer.all_special_ids, tokenizer.all_special_ids)
  assert.equal(tokenizer.convert_tokens_to_ids('no such token'), undefined)
  assert.deepEqual([tokenizer.model_max_length, tokenizer.padding_side, tokenizer.config], [64, 'right', bertConfig()])
  const other = new PreTrainedTokenizer(bert(), {
    eos_token: { __type: 'AddedToken', content: '[SEP]' },
    add_bos_token: true,
    padding_side: 'left',
  })
  assert.deepEqual(
    [other.eos_token, other.pad_token, other.pad_token_id],
    ['[SEP]', '[SEP]', SEP],
    'padding falls back to eos_token',
  )
  assert.deepEqual(
    [other.model_max_length, other.padding_side, other.add_bos_token, other.add_eos_token],
    [Infinity, 'left', true, undefined],
  )
  assert.deepEqual(other._tokenizerJSON.model.vocab, bert().model.vocab)
  assert.equal(typeof tokenizer, 'function')
  assert.match(
    String(require('node:util').inspect(tokenizer)),
    /^BertTokenizer \{ vocabSize: \d+, model_max_length: 64, padding_side: 'right' \}$/,
  )
})

test('added tokens have the ids that the tokenizer gives them', () => {
  const file = tiny()
  file.added_tokens[1].id = 99
  const other = new PreTrainedTokenizer(file, { eos_token: '</s>' })
  assert.deepEqual(other.encode('</s>', { add_special_tokens: false }), [other.eos_token_id])
  assert.equal(other.all_special_ids[1], other.eos_token_id)
})

test('get_vocab has added tokens, in order of ids', () => {
  const file = tiny()
  const vocab = new GPT2Tokenizer(file, {}).get_vocab()
  assert.deepEqual([...vocab], [...Object.entries(file.model.vocab), ['<s>', 14], ['</s>', 15]])
  assert.deepEqual([...new GPT2Tokenizer(file, {})._tokenizer.get_vocab(false)], Object.entries(file.model.vocab))
  const unigram = {
    ...file,
    model: {
      type: 'Unigram',
      unk_id: 0,
      vocab: [
        ['<unk>', 0],
        ['a', -1],
      ],
    },
    added_tokens: [],
    post_processor: null,
  }
  assert.deepEqual(
    [...new PreTrainedTokenizer(unigram, {}).get_vocab()],
    [
      ['<unk>', 0],
      ['a', 1],
    ],
  )
})

test('chat templates: rendering, variables, ids and lengths', async () => {
  const template =
    '{{ bos_token }}{% for message in messages %}{{ message.content }} {% endfor %}{{ mood }}{% if add_generation_prompt %}{{ sep_token }}{% endif %}'
  const other = new BertTokenizer(bert(), { ...bertConfig(), bos_token: '[CLS]', chat_template: template })
  const chat = [{ role: 'user', content: 'the sky' }]
  const text = (options) => other.apply_chat_template(chat, { tokenize: false, ...options })
  assert.equal(text({}), '[CLS]the sky ')
  assert.equal(text({ add_generation_prompt: true, mood: 'blue' }), '[CLS]the sky blue[SEP]')
  assert.equal(
    text({ chat_template: '{{ messages[0].role }} {{ tools | length }}', tools: [{ type: 'function' }] }),
    'user 1',
  )
  assert.equal(text({ continue_final_message: true }), '[CLS]the sky')
  const ids = [...engine.encode('[CLS]the sky ', { addSpecialTokens: false }).ids]
  const dict = other.apply_chat_template(chat)
  assert.deepEqual(Object.keys(dict), ['input_ids', 'attention_mask', 'token_type_ids'])
  assert.deepEqual(dict.input_ids.tolist(), [ids.map(BigInt)])
  assert.deepEqual(other.apply_chat_template(chat, { ...arrays, return_dict: false }), ids)
  assert.deepEqual(
    other.apply_chat_template(chat, { ...arrays, max_length: 2 }).input_ids,
    ids,
    'nothing is cut unless requested',
  )
  assert.deepEqual(
    other.apply_chat_template(chat, { ...arrays, max_length: 2, truncation: true }).input_ids,
    ids.slice(0, 2),
  )
  assert.equal(other.apply_chat_template(chat, { ...arrays, padding: 'max_length', max_length: 9 }).input_ids.length, 9)
  const more = { return_token_type_ids: false, add_special_tokens: true }
  assert.deepEqual(other.apply_chat_template(chat, { ...arrays, tokenizer_kwargs: more }), {
    input_ids: [CLS, ...ids, SEP],
    attention_mask: [1, 1, ...ids.map(() => 1)],
  })
  assert.equal(await code(() => tokenizer.apply_chat_template(chat)), 'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING')
  assert.equal(await code(() => text({ messages: [] })), 'ERR_TOKENLANE_ARGUMENT_VALUE')
  assert.equal(await code(() => text({ chat_template: '{% nonsense %}' })), 'ERR_TOKENLANE_CHAT_TEMPLATE')
})

test('chat templates: names, tools, and a template that is assigned', async () => {
  const named = (entries) => Object.entries(entries).map(([name, template]) => ({ name, template }))
  const other = new BertTokenizer(bert(), {
    ...bertConfig(),
    chat_template: named({ default: 'one', tool_use: 'two', rag: 'three' }),
  })
  const render = (options) =>
    other.apply_chat_template([{ role: 'user', content: '' }], { tokenize: false, ...options })
  assert.deepEqual(
    [render(), render({ tools: [] }), render({ chat_template: 'rag' }), render({ chat_template: 'four' })],
    ['one', 'two', 'three', 'four'],
  )
  assert.equal(other.get_chat_template({ chat_template: 'tool_use' }), 'two')
  other.chat_template = 'five'
  assert.equal(render(), 'five')
  other.chat_template = { rag: 'x' }
  assert.equal(await code(() => render()), 'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING')
})

test('a Tensor is indexed, iterated, listed and copied', async () => {
  const tensor = new Tensor('int64', [1, 2, 3, 4, 5, 6], [3, 2])
  assert.deepEqual([tensor.type, tensor.dims, tensor.size], ['int64', [3, 2], 6])
  assert.deepEqual(tensor.tolist(), [
    [1n, 2n],
    [3n, 4n],
    [5n, 6n],
  ])
  assert.deepEqual([tensor[1].tolist(), tensor[-1].tolist(), tensor[0][1].item()], [[3n, 4n], [5n, 6n], 2n])
  assert.deepEqual(
    [...tensor].map((row) => row.tolist()),
    tensor.tolist(),
  )
  assert.deepEqual([...tensor[2]], [5n, 6n])
  const copy = tensor.clone()
  copy.data[0] = 9n
  tensor[1].data[0] = 7n
  assert.deepEqual([tensor.data[0], tensor.data[2]], [1n, 7n], 'rows share the memory, copies do not')
  assert.deepEqual(
    [new Tensor('float32', [0.5], [1, 1, 1]).tolist(), new Tensor('bool', [1, 0], [2]).tolist()],
    [[[[0.5]]], [1, 0]],
  )
  const types = 'bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64'.split(' ')
  assert.deepEqual(
    types.map((type) => new Tensor(type, [1], [1]).data.constructor.name),
    'Uint8 Int8 Uint8 Int16 Uint16 Int32 Uint32 BigInt64 BigUint64 Float32 Float64'
      .split(' ')
      .map((name) => `${name}Array`),
  )
  assert.deepEqual([new Tensor('int64', [], [2, 0]).tolist(), new Tensor('int32', [5], []).tolist()], [[[], []], 5])
  assert.ok(!('slice' in tensor) && tensor.nothing === undefined && tensor.then === undefined)
  assert.match(require('node:util').inspect(tensor), /^Tensor \{\s+type: 'int64'/)
  assert.equal(await code(() => tensor[3]), 'ERR_TOKENLANE_ARGUMENT_VALUE')
  assert.equal(await code(() => tensor.item()), 'ERR_TOKENLANE_TENSOR_SHAPE')
  assert.equal(await code(() => new Tensor('int64', [1], [2])), 'ERR_TOKENLANE_TENSOR_SHAPE')
  for (const args of [
    ['int4', [], [0]],
    ['int64', 'x', [1]],
    ['int64', [1], 1],
    ['int64', [1], [-1]],
    ['int64', new Int32Array(1), [1]],
  ]) {
    assert.equal(await code(() => new Tensor(...args)), 'ERR_TOKENLANE_ARGUMENT_TYPE', String(args))
  }
})

test('results are tensors of the class that env names', () => {
  class Other {
    constructor(type, data, dims) {
      Object.assign(this, { type, data, dims, tolist: () => [Array.from(data)] })
    }
  }
  env.Tensor = Other
  try {
    const { input_ids } = tokenizer('a dog')
    assert.ok(input_ids instanceof Other)
    assert.equal(tokenizer.decode(input_ids), '[CLS] a dog [SEP]')
  } finally {
    env.Tensor = undefined
  }
  assert.ok(tokenizer('a dog').input_ids instanceof Tensor)
})

test('translation models put the token of a language first', async () => {
  const file = tiny()
  file.added_tokens = ['eng_Latn', 'fra_Latn', '</s>'].map((code, index) => addedToken(14 + index, code))
  file.post_processor.single = [
    { SpecialToken: { id: 'eng_Latn', type_id: 0 } },
    { Sequence: { id: 'A', type_id: 0 } },
    { SpecialToken: { id: '</s>', type_id: 0 } },
  ]
  file.post_processor.special_tokens = Object.fromEntries(
    ['eng_Latn', '</s>'].map((id) => [id, { id, ids: [id === '</s>' ? 16 : 14], tokens: [id] }]),
  )
  const nllb = new transformers.NllbTokenizer(file, { eos_token: '</s>' })
  assert.deepEqual(nllb.language_codes, ['eng_Latn', 'fra_Latn'])
  const generate = { src_lang: 'fra_Latn', tgt_lang: 'eng_Latn' }
  assert.deepEqual(nllb._build_translation_inputs('hello', arrays, generate), {
    input_ids: [15, 11, 16],
    attention_mask: [1, 1, 1],
  })
  assert.equal(generate.forced_bos_token_id, 14)
  assert.deepEqual(
    nllb._build_translation_inputs('hello', arrays, { src_lang: 'eng_Latn', tgt_lang: 'fra_Latn' }).input_ids,
    [14, 11, 16],
  )
  assert.equal(
    await code(() => nllb._build_translation_inputs('hello', arrays, { tgt_lang: 'deu_Latn' })),
    'ERR_TOKENLANE_ARGUMENT_VALUE',
  )
  file.added_tokens[0].content = '__en__'
  const m2m = new transformers.M2M100Tokenizer({ ...file, post_processor: null }, {})
  assert.deepEqual([m2m.language_codes, m2m.lang_to_token('en')], [['en'], '__en__'])
})

test('Whisper decodes timestamps, VITS every second token', async () => {
  const file = tiny()
  file.added_tokens.push({ ...file.added_tokens[0], id: 16, content: '<|notimestamps|>' })
  const whisper = new transformers.WhisperTokenizer(file, { clean_up_tokenization_spaces: false })
  assert.equal(whisper.timestamp_begin, 17)
  assert.equal(
    whisper.decode([17, 11, 12, 67, 117], { decode_with_timestamps: true }),
    '<|0.00|>hello w<|1.00|><|2.00|>',
  )
  assert.equal(whisper.decode([11, 12]), 'hello w')
  assert.equal(await code(() => whisper._decode_asr([])), 'ERR_TOKENLANE_UNSUPPORTED')
  assert.equal(new transformers.VitsTokenizer(file, {}).decode([3, 0, 3, 1, 3]), 'he')
})
