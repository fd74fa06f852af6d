// What people try first: callbacks, arrays, names of options from other libraries, --json and -V.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import vm from 'node:vm'

import { Tokenizer } from '../../index.mjs'
import { folderWithTokenizer, runIn } from '../support/cli.mjs'

const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
const run = runIn(folderWithTokenizer())
const isArgument = (message) => ({ name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE', message })

test('a method without its tokenizer says so', async () => {
  // Methods that take nothing are not given as callbacks.
  const without = ['stats', 'vocabSize', 'with', 'toBuffer', 'toJSON', 'constructor']
  const isMethod = ({ value }) => typeof value === 'function'
  const names = Object.entries(Object.getOwnPropertyDescriptors(Tokenizer.prototype))
    .filter(([name, property]) => !without.includes(name) && isMethod(property))
    .map(([name]) => name)
  assert.ok(names.length > 15)
  for (const name of names) {
    const call = async () => [['a']].map(tokenizer[name])[0]
    await assert.rejects(
      call,
      isArgument(
        new RegExp(`^${name} was called without its tokenizer: write \\(text\\) => tokenizer\\.${name}\\(text\\)`),
      ),
      name,
    )
  }
  assert.throws(() => ['a'].map(tokenizer.count, tokenizer), isArgument(/a callback of map\(\) gets an index/))
  assert.deepEqual(
    ['a', 'a b'].map((text) => tokenizer.count(text)),
    [1, 2],
  )
  for (const self of [null, 7, {}, Tokenizer.prototype])
    assert.throws(() => tokenizer.count.call(self, 'a'), isArgument(/without its tokenizer/))
})

test('an array where one text belongs', () => {
  const calls = [
    () => tokenizer.encode(['a']),
    () => tokenizer.encode(['a'], { pretokenized: false }),
    () => tokenizer.count(['a']),
    () => tokenizer.isWithin(['a'], 3),
    () => tokenizer.truncate(['a'], 3),
    () => tokenizer.encodeInto(['a'], new Uint32Array(3)),
  ]
  for (const call of calls)
    assert.throws(call, isArgument(/encodeBatch and countBatch take arrays of texts\), but it is an array/))
  assert.throws(() => tokenizer.split(['a'], { maxTokens: 3 }), isArgument(/must be a string, but it is an array/))
})

test('names of options of other libraries', () => {
  const wrong = [
    [() => tokenizer.split('a', { chunkSize: 3 }), /did you mean 'maxTokens'\?/],
    [() => tokenizer.split('a', { maxLength: 3 }), /did you mean 'maxTokens'\?/],
    [() => tokenizer.split('a', { chunk_length: 3 }), /did you mean 'maxTokens'\?/],
    [() => tokenizer.split('a', { maxTokens: 3, chunk_overlap: 1 }), /did you mean 'overlap'\?/],
    [() => tokenizer.split('a', { maxTokens: 3, separators: ['\n'] }), /did you mean 'boundary'\?/],
    [() => tokenizer.encode('a', { maxLength: 3 }), /did you mean 'truncation: { maxLength: … }'\?/],
    [() => tokenizer.encode('a', { max_length: 3 }), /did you mean 'truncation: { maxLength: … }'\?/],
    [() => tokenizer.encode('a', { text_pair: 'b' }), /did you mean 'pair'\?/],
    [() => tokenizer.encode('a', { allowedSpecial: 'all' }), /did you mean 'specialTokens'\?/],
    [
      () => tokenizer.encodeBatchSync(['a'], { return_attention_mask: true }),
      /did you mean 'columns: \['attentionMask', …\]'\?/,
    ],
    [() => tokenizer.encodeBatchSync(['a'], { return_offsets_mapping: true }), /did you mean 'offsets'\?/],
    [() => tokenizer.decode([1], { skip_special_tokens: true }), /did you mean 'skipSpecialTokens'\?/],
    // A name of another library that this call has no option for.
    [() => tokenizer.count('a', { maxLength: 3 }), /there is no option 'maxLength'; the options are/],
    [() => tokenizer.count('a', { constructor: 3 }), /there is no option 'constructor'; the options are/],
    [() => tokenizer.count('a', { ['x'.repeat(1 << 20)]: 3 }), /^there is no option 'x{200}…'/],
  ]
  for (const [call, message] of wrong)
    assert.throws(call, { name: 'TypeError', code: 'ERR_TOKENLANE_UNKNOWN_OPTION', message })
})

test('each name of another library has the option that it stands for', async () => {
  const names = (text) => text.split(' ')
  const refused = async (call, name, meant) => {
    const hint = (await assertFails(call, name)).message.split('did you mean ')[1]
    assert.ok(hint?.startsWith(`'${meant}`), `${name}: ${hint}`)
  }
  const assertFails = async (call, name) => {
    try {
      await call({ [name]: undefined })
    } catch (error) {
      assert.equal(error.code, 'ERR_TOKENLANE_UNKNOWN_OPTION', name)
      return error
    }
    return assert.fail(`${name} is an option`)
  }
  const calls = [
    [
      (options) => tokenizer.split('a', { maxTokens: 3, ...options }),
      {
        maxTokens: 'chunk_size chunk_length token_limit max_length max_len limit',
        overlap: 'stride chunk_overlap overlap_size',
        boundary: 'separator separators split_by mode',
      },
    ],
    [
      (options) => tokenizer.encode('a', options),
      {
        truncation: 'max_length maxLen max_tokens limit truncate stride',
        padding: 'pad pad_to_multiple_of',
        pair: 'text_pair',
        pretokenized: 'is_split_into_words isPretokenized',
        specialTokens: 'allowed_special disallowed_special allowed_special_tokens parse_special',
        addSpecialTokens: 'add_bos add_eos',
        offsets: 'return_offsets_mapping return_offsets',
      },
    ],
    [
      (options) => tokenizer.encodeBatch(['a'], options),
      {
        pairs: 'text_pair text_pairs',
        columns: 'return_attention_mask return_token_type_ids return_special_tokens_mask return_tokens',
        overflow: 'return_overflowing_tokens return_overflow',
        threads: 'concurrency parallelism num_threads workers',
        signal: 'abort_signal',
      },
    ],
    [(options) => tokenizer.decode([1], options), { skipSpecialTokens: 'skip_special' }],
    [
      (options) => Tokenizer.fromPretrained('a/b', options),
      { revision: 'branch', token: 'access_token auth_token', cacheDir: 'cache_folder', localFilesOnly: 'offline' },
    ],
  ]
  for (const [call, hints] of calls)
    for (const [meant, all] of Object.entries(hints)) for (const name of names(all)) await refused(call, name, meant)
})

test('countBatchSync counts like countBatch', async () => {
  const texts = ['', 'a', 'Hello, wörld! 🚀', Buffer.from('a b c'), 'x '.repeat(5000)]
  const counts = tokenizer.countBatchSync(texts, { threads: 2 })
  assert.deepEqual(counts, await tokenizer.countBatch(texts))
  assert.deepEqual(
    [...counts],
    texts.map((text) => tokenizer.count(text)),
  )
  assert.deepEqual(tokenizer.countBatchSync([]), new Uint32Array(0))
  assert.throws(() => tokenizer.countBatchSync(['a', 7]), { ...isArgument(/texts\[1\]/), row: 1 })
  assert.throws(() => tokenizer.countBatchSync('a'), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  assert.throws(() => tokenizer.countBatchSync(['a'], { signal: AbortSignal.abort() }), {
    code: 'ERR_TOKENLANE_UNKNOWN_OPTION',
  })
  assert.throws(() => tokenizer.countBatchSync(['a', '<|endoftext|>'], { specialTokens: 'throw' }), {
    code: 'ERR_TOKENLANE_SPECIAL_TOKEN',
    row: 1,
  })
})

test('errors in another context have a code and a name, as docs/guide/errors.md says', () => {
  const result = vm.runInNewContext(
    'try { tokenizer.count({}) } catch (error) { [error instanceof TypeError, error.name, error.code] }',
    { tokenizer },
  )
  assert.deepEqual([...result], [false, 'TypeError', 'ERR_TOKENLANE_ARGUMENT_TYPE'])
  assert.match(fs.readFileSync(new URL('../../docs/guide/errors.md', import.meta.url), 'utf8'), /jest/)
})

test('--json, -V, and options of other tools', () => {
  const out = (...args) => run(args).stdout
  assert.equal(out('count', '-x', 'a b', '--json'), '{"file":"--text","tokens":2}\n')
  assert.equal(out('count', '-x', 'a b', '--json', '--total'), '{"tokens":2}\n')
  assert.equal(JSON.parse(out('inspect', '-x', 'a', '--json')).id, 64)
  assert.equal(JSON.parse(out('bench', '-x', 'a b c', '--passes', '1', '--json')).tokens, 3)
  assert.equal(out('-V'), out('--version'))
  assert.match(out('-V'), /^\d+\.\d+\.\d+\n$/)
  assert.match(
    run(['count', '-x', 'a', '--json', '-f', 'text']).stderr,
    /'--json' means '--format jsonl', which contradicts '--format text'/,
  )
  const meant = [
    ['split', '--chunk-size', 'max-tokens'],
    ['split', '--max-length', 'max-tokens'],
    ['split', '--chunk-overlap', 'overlap'],
    ['encode', '--max-tokens', 'max-length'],
    ['count', '--model', 'tokenizer'],
    ['encode', '--out', 'output'],
    ['count', '--column', 'field'],
  ]
  for (const [command, option, name] of meant) {
    const { status, stderr } = run([command, option, '5', '-x', 'a'])
    assert.equal(status, 2)
    assert.match(stderr, new RegExp(`there is no option '${option}'; did you mean '--${name}'\\?`))
  }
})
