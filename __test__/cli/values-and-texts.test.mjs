// npx tokenlane: values of options are those of the library, texts that are given as files, special
// tokens in each command, chats, and warnings.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer, encodings } from '../../index.mjs'
import { folderWithTokenizer, processIn, runIn } from '../support/cli.mjs'
import { parseJsonLines } from '../support/json-lines.mjs'

const { commands: ofCorpus } = await import('@tokenlane/corpus/commands')
const { tokenizeCorpus } = await import('@tokenlane/corpus')

const folder = folderWithTokenizer()
const run = runIn(folder)
const write = (name, content) => fs.writeFileSync(path.join(folder, name), content)
const load = async (name) => (await import(`../../cli/commands/${name}.mjs`))[name]

function output(...args) {
  const { status, stdout, stderr } = run(args)
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`)
  return stdout
}

/** The values that the library's error names for an option that is not one of them. */
async function valuesOf(call) {
  const { message } = await Promise.resolve()
    .then(call)
    .then(
      () => assert.fail('the value is refused'),
      (error) => error,
    )
  return Array.from(message.split(', but it is')[0].matchAll(/'([\w-]+)'/g), ([, value]) => value)
}

test('the values of options are the values that the library takes', async () => {
  const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
  const wrong = /** @type {any} */ ('?')
  const [encode, split, inspect, count] = await Promise.all(['encode', 'split', 'inspect', 'count'].map(load))
  const special = await valuesOf(() => tokenizer.count('', { specialTokens: wrong }))
  const job = (options) => valuesOf(() => tokenizeCorpus({ inputs: ['x'], dryRun: true, ...options }))
  const corpus = await ofCorpus.corpus(undefined)
  const train = await ofCorpus.train(undefined)
  const lists = [
    [split.options.boundary, await valuesOf(() => tokenizer.split('', { maxTokens: 1, boundary: wrong }))],
    [encode.options.offsets, await valuesOf(() => tokenizer.encode('', { offsets: wrong }))],
    ...[encode, split, inspect, count, corpus].map(({ options }) => [options['special-tokens'], special]),
    [corpus.options.type, await job({ type: '?' })],
    [corpus.options.packing, await job({ packing: '?' })],
    [corpus.options['mask-by'], await job({ maskBy: '?' })],
    [corpus.options['resume-check'], await job({ resumeCheck: '?' })],
    ...[corpus, train].map(({ options }) => [options['on-error'], ['fail', 'skip']]),
    ...[corpus, train].map(({ options }) => [options.rows, ['json', 'lines', 'files']]),
  ]
  assert.deepEqual(await job({ onError: '?' }), ['fail', 'skip'])
  assert.deepEqual(await job({ rows: '?' }), ['json', 'lines', 'files'])
  for (const [{ choices, help }, values] of lists) assert.deepEqual(choices, values, help)
  for (const boundary of split.options.boundary.choices) {
    const pieces = parseJsonLines(
      output('split', '-n', '4', '--boundary', boundary, '-x', 'def f():\n  return 1\n\nx = 2\n'),
    )
    const expected = tokenizer.split('def f():\n  return 1\n\nx = 2\n', { maxTokens: 4, boundary })
    assert.deepEqual(
      pieces.map(({ text }) => text),
      expected.map(({ text }) => text),
    )
  }
})

test('a list of values in a short help is that of the option', async () => {
  for (const name of ['encode', 'decode', 'count', 'split', 'inspect', 'bench']) {
    const { options, brief } = await load(name)
    for (const [option, text] of Object.entries(brief)) {
      const line = Array.isArray(text) ? text[1] : text
      if (options[option].choices === undefined || !/\{choices\}|,| or /.test(line)) continue
      assert.match(line, /\{choices\}/, `${name} --${option}`)
    }
  }
})

test('a text that is given as a file is suggested with -x', () => {
  const hints = [
    [['count', 'Hello'], "tokenlane count -x 'Hello'"],
    [['count', 'Hello', 'world'], "tokenlane count -x 'Hello world'"],
    [['encode', "It's fine."], "tokenlane encode -x 'It'\\''s fine.'"],
    [['split', '-n', '9', 'What is this?'], "tokenlane split -n 9 -x 'What is this?'"],
    [['count', '-t', 'o200k_base', 'o200k'], "tokenlane count -t o200k_base -x 'o200k'"],
    [['inspect', 'a/b and c'], "tokenlane inspect -x 'a/b and c'"],
    [['bench', 'Hello'], "tokenlane bench -x 'Hello'"],
    [['decode', '[1,', '2]'], "tokenlane decode -x '[1, 2]'"],
  ]
  for (const [args, hint] of hints) {
    const { status, stderr } = run(args)
    assert.notEqual(status, 0)
    assert.ok(stderr.includes(`given with -x: ${hint} (`), stderr)
  }
  for (const name of ['nowhere.txt', 'docs/nowhere', '*.rs', './x'])
    assert.doesNotMatch(run(['count', name]).stderr, /-x/, name)
  assert.doesNotMatch(run(['count', 'tiny.json', 'Hello']).stderr, /-x/, 'one of them is a file')
  // The hint works as it is written.
  assert.equal(output('count', '-x', 'Hello world'), '2\n')
})

test('inspect, count and encode treat special tokens alike', () => {
  const texts = ['a<|endoftext|>b', 'a</s>b', 'plain']
  for (const name of ['gpt2', 'o200k_base', 'tiny.json']) {
    for (const options of [
      [],
      ['--special-tokens', 'parse'],
      ['--special-tokens', 'text'],
      ['--no-add-special-tokens'],
    ]) {
      for (const text of texts) {
        const args = ['-t', name, ...options, '-x', text]
        const tokens = parseJsonLines(output('inspect', '--json', ...args)).map(({ id }) => id)
        assert.equal(output('encode', '--rows', 'files', ...args), `${tokens.join(' ')}\n`, args.join(' '))
        assert.equal(output('count', ...args), `${tokens.length}\n`)
      }
    }
  }
  assert.equal(
    output('inspect', '--json', '-t', 'gpt2', '--special-tokens', 'parse', '-x', '<|endoftext|>').split('\n').length,
    2,
  )
})

test('split knows --json, which contradicts another format', () => {
  assert.equal(
    output('split', '-n', '9', '--json', '-x', 'a b'),
    output('split', '-n', '9', '-f', 'jsonl', '-x', 'a b'),
  )
  assert.match(run(['split', '-n', '9', '--json', '-f', 'text', '-x', 'a']).stderr, /contradicts '--format text'/)
})

test('count counts the chats of JSON Lines as countChat does', () => {
  const tools = [
    {
      type: 'function',
      function: { name: 'now', description: 'The time.', parameters: { type: 'object', properties: {} } },
    },
  ]
  const chats = [
    { messages: [{ role: 'user', content: 'Hi <|endoftext|>' }] },
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Wörld 🚀' },
      ],
      tools,
    },
    { messages: [{ role: 'user', content: 'a' }], tools: null },
  ]
  write('chats.jsonl', `${chats.map((chat) => JSON.stringify({ chat })).join('\n')}\n\n`)
  const gpt4o = Tokenizer.fromEncodingSync('o200k_base')
  const counts = chats.map(({ messages, tools }) => gpt4o.countChat(messages, { tools: tools ?? undefined }))
  const args = ['count', '-t', 'gpt-4o', '--messages', 'chat.messages', '--tools', 'chat.tools']
  assert.equal(output(...args, 'chats.jsonl'), `${counts.join('\n')}\n`)
  assert.equal(output(...args, '--total', 'chats.jsonl'), `${counts.reduce((a, b) => a + b)}\n`)
  const template = '{% for m in messages %}{{ m.role + m.content }}{% endfor %}'
  fs.mkdirSync(path.join(folder, 'model'))
  fs.copyFileSync(path.join(folder, 'tiny.json'), path.join(folder, 'model', 'tokenizer.json'))
  write('model/tokenizer_config.json', JSON.stringify({ chat_template: template }))
  write('hello.jsonl', '{"messages":[{"role":"h","content":"ello"}]}')
  const model = Tokenizer.fromFileSync(path.join(folder, 'model'))
  assert.equal(
    output('count', '-t', 'model', '--messages', 'messages', 'hello.jsonl'),
    `${model.countChat([{ role: 'h', content: 'ello' }])}\n`,
  )
  write('bad.jsonl', '{"messages":"x"}\n{"messages":[]}\n{"messages":[{"role":"user","content":"a"}]}\n')
  const failed = run(['count', '--messages', 'messages', 'bad.jsonl'])
  assert.match(failed.stderr, /bad\.jsonl, line 1: the field 'messages' must be a list of messages/)
  for (const [options, message] of [
    [['--tools', 'x'], /'--tools' needs '--messages'/],
    [['--messages', 'x', '--field', 'y'], /give one of them/],
    [['--messages', 'x', '--rows', 'files'], /'--messages' reads lines/],
    [['--messages', 'x', '--no-add-special-tokens'], /is for texts/],
  ])
    assert.match(run(['count', ...options, 'hello.jsonl']).stderr, message)
  assert.match(
    run(['count', '-t', 'tiny.json', '--messages', 'messages', '--on-error', 'skip', 'hello.jsonl']).stderr,
    /CHAT_TEMPLATE_MISSING/,
  )
})

test('shells complete encodings and models after -t', () => {
  const script = output('completion', 'bash')
  const complete = (line, word) => {
    const words = [...line.split(' '), `'${word}'`].join(' ')
    const script2 = `${script}\nCOMP_WORDS=(${words}); COMP_CWORD=${line.split(' ').length}; _tokenlane; echo "\${COMPREPLY[@]}"`
    return spawnSync('bash', ['-c', script2], { encoding: 'utf8', cwd: folder })
  }
  const tried = complete('tokenlane count -t', '')
  if (tried.error !== undefined) return
  const names = tried.stdout.trim().split(' ')
  for (const name of [...encodings(), 'gpt-4o', 'gpt-5', 'tiny.json']) assert.ok(names.includes(name), name)
  assert.match(complete('tokenlane train --like', 'o200k_b').stdout, /^o200k_base\n$/)
  assert.match(complete('tokenlane split --encoding', 'cl').stdout, /^cl100k_base\n$/)
  assert.match(complete('tokenlane count -f', 'j').stdout, /^jsonl\n$/)
  assert.match(output('completion', 'fish'), / -l tokenizer -s t -r -a '[^']*\bgpt-4o\b/)
})

test('--quiet silences warnings of packages, in threads too', () => {
  write(
    'hooks.mjs',
    "process.emitWarning('Node 20 is old', 'NodeDeprecationWarning')\nexport const filter = () => true\n",
  )
  write('in.txt', 'hello\n')
  const start = processIn(folder)
  const args = ['corpus', 'in.txt', '-t', 'tiny.json', '-f', 'npy', '--hooks', 'hooks.mjs', '-o']
  assert.match(start([...args, 'loud']).stderr, /Node 20 is old/)
  const { status, stderr } = start([...args, 'quiet', '--quiet'])
  assert.equal(status, 0)
  assert.doesNotMatch(stderr, /Node 20 is old/)
})
