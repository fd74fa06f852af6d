// `tokenlane corpus merge` joins the outputs of finished jobs.

import { createRequire } from 'node:module'

import { Bar, canDraw } from '../bar.mjs'
import { UsageError } from '../failure.mjs'
import { interruptible } from '../interrupt.mjs'
import { forOutput, nameForOutput } from '../terminal.mjs'
import { CORPUS_FORMAT, JSON_EVENTS, QUIET, RESUME_CHECK } from './options.mjs'

const { mergeCorpora } = createRequire(import.meta.url)('../../lib/corpus/index.js')

const MAX_COUNT = 2 ** 31 - 1
const AMOUNT = /^(?:\d+\.?\d*|\.\d+)$/

export const merge = {
  summary: 'Join, shuffle and mix the outputs of finished jobs, without tokenizing again.',
  usage: ['merge [options] -o FOLDER FOLDER…'],
  about: [
    'The inputs are outputs of tokenlane corpus in the formats megatron, npy or bin, of one tokenizer. The output is one too: with records, a plan and a manifest, so that verify, report and another merge read it.',
    'In order, a file has whole shards of the inputs, at most --tokens-per-file tokens of them. With --shuffle, all documents of all inputs are in one random order: a first pass distributes them to files, a second one shuffles each file in memory. The same seed gives the same bytes on every machine.',
    'An input of 2.5 epochs has each document twice, and half of them a third time. Weights are shares of --tokens.',
    'Run the same command again to continue. With the format megatron, blend.txt has the prefixes with their numbers of tokens, for --data-args-path of Megatron-LM.',
  ],
  options: {
    output: {
      type: 'string',
      short: 'o',
      value: 'FOLDER',
      help: 'a new folder, an empty one, or that of the same merge',
    },
    format: { ...CORPUS_FORMAT, help: 'the format of the output (default: that of the first input)' },
    'tokens-per-file': {
      type: 'string',
      value: 'N',
      number: [1, Number.MAX_SAFE_INTEGER],
      help: 'tokens of a file (default: 67108864); with --shuffle they are in memory',
    },
    pack: {
      type: 'string',
      value: 'N',
      number: [1, MAX_COUNT],
      help: 'rows of N tokens across documents (default: a row is a document)',
    },
    shuffle: {
      type: 'string',
      value: 'SEED',
      number: [0, Number.MAX_SAFE_INTEGER],
      help: 'one random order of all documents',
    },
    epochs: {
      type: 'string',
      value: 'FOLDER=N',
      multiple: true,
      help: 'how often the documents of an input are used, such as data/=2.5',
    },
    weight: { type: 'string', value: 'FOLDER=W', multiple: true, help: 'the share of an input in --tokens' },
    tokens: {
      type: 'string',
      value: 'N',
      number: [1, Number.MAX_SAFE_INTEGER],
      help: 'the number of tokens of the output, approximately',
    },
    concurrency: { type: 'string', value: 'N', number: [1, 64], help: 'number of files at a time (default: 2)' },
    'resume-check': RESUME_CHECK,
    json: JSON_EVENTS,
    quiet: QUIET,
  },
  examples: [
    ['tokenlane corpus merge tokens/ -o merged/ --tokens-per-file 1000000000', 'few large files'],
    ['tokenlane corpus merge web/ code/ -o train/ --shuffle 1 --pack 2048', 'all documents in one random order'],
    [
      'tokenlane corpus merge web/ code/ -o train/ --shuffle 1 --weight web/=0.7 --weight code/=0.3 --tokens 1000000000',
      'a mixture of a given size',
    ],
  ],

  async run({ values, positionals }) {
    const [, ...folders] = positionals
    if (folders.length === 0) throw new UsageError('name the folders of finished jobs')
    if (values.output === undefined) throw new UsageError("name a folder for the output with '--output'")
    const bar = values.json || values.quiet || !canDraw(process.stderr) ? undefined : new Bar(process.stderr)
    const onEvent = (event) => {
      if (values.json) print(JSON.stringify(event))
      bar?.update(event.done / event.all, [wordsOf(event)])
    }
    const options = {
      inputs: inputsOf(folders, values),
      output: values.output,
      tokens: values.tokens,
      tokensPerFile: values['tokens-per-file'],
      shuffle: values.shuffle,
      format: values.format,
      pack: values.pack,
      concurrency: values.concurrency,
      resumeCheck: values['resume-check'],
      onEvent,
    }
    try {
      const result = await interruptible(
        (signal) => mergeCorpora({ ...options, signal }),
        () => {
          bar?.stop()
          if (!values.quiet) process.stderr.write('tokenlane: interrupted: run the same command again to continue\n')
        },
      )
      bar?.stop()
      print(values.json ? JSON.stringify({ event: 'result', ...result }) : summary(result))
    } catch (failure) {
      throw failure.code === 'ERR_TOKENLANE_ARGUMENT_TYPE' ? new UsageError(failure.message) : failure
    } finally {
      bar?.stop()
    }
  },
}

/** What the bar says: a shuffle reads all shards before it writes. */
const wordsOf = ({ event, done, all }) => `${event === 'read' ? 'reading shard' : 'writing file'} ${done} of ${all}`

/** The folders with their epochs and weights. */
function inputsOf(folders, { epochs = [], weight = [] }) {
  const inputs = folders.map((path) => ({ path }))
  for (const [name, given] of Object.entries({ epochs, weight })) {
    for (const one of given) {
      const at = one.lastIndexOf('=')
      const [path, value] = [one.slice(0, at), one.slice(at + 1)]
      const own = inputs.filter((input) => input.path === path)
      if (at < 1 || !AMOUNT.test(value)) throw new UsageError(`'--${name}' is FOLDER=NUMBER, not '${one}'`)
      if (own.length === 0) throw new UsageError(`'--${name}' names ${path}, which is no input`)
      for (const input of own) {
        if (Object.hasOwn(input, name)) throw new UsageError(`'--${name}' is given twice for ${path}`)
        input[name] = Number(value)
      }
    }
  }
  return inputs
}

function summary({ output, shards, documents, tokens, kept, inputs }) {
  const files = `${number(shards)} ${shards === 1 ? 'file' : 'files'}${kept > 0 ? `, ${number(kept)} of them kept` : ''}`
  const share = (own) => (tokens === 0 ? 0 : (own / tokens) * 100).toFixed(1)
  return [
    `${nameForOutput(output)}: ${number(documents)} documents, ${number(tokens)} tokens in ${files}`,
    ...inputs.map(
      ({ path, epochs, tokens: own }) =>
        `  ${nameForOutput(path)}: ${number(own)} tokens (${share(own)} %), ${Number(epochs.toFixed(3))} epochs`,
    ),
  ].join('\n')
}

const number = (value) => value.toLocaleString('en')
const print = (text) => process.stdout.write(forOutput(`${text}\n`))
