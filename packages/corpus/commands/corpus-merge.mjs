// `tokenlane corpus merge` joins the outputs of finished jobs.

import {
  barOf,
  UsageError,
  interruptible,
  number,
  plural,
  nameForOutput,
  print,
  QUIET,
} from 'tokenlane/internal/cli.mjs'
import { mergeCorpora } from '../index.mjs'
import { CORPUS_FORMAT, JSON_EVENTS, PACKING, RESUME_CHECK } from './options.mjs'

const MAX_COUNT = 2 ** 31 - 1
const AMOUNT = /^(?:\d+\.?\d*|\.\d+)$/
const BUDGET = /^(\d+\.?\d*|\.\d+)([KMB]?)$/i
const UNITS = { '': 1, K: 1e3, M: 1e6, B: 1e9 }

export const merge = {
  summary: 'Join, shuffle and mix the outputs of finished jobs, without tokenizing again.',
  usage: ['[options] -o FOLDER FOLDER…'],
  about: [
    'The inputs are outputs of tokenlane corpus in the formats megatron, npy or bin, of one tokenizer. The output is one too: with records, a plan and a manifest, so that verify, report and another merge read it.',
    'In order, a file has whole shards of the inputs, at most --tokens-per-file tokens of them. With --shuffle, all documents of all inputs are in one random order: a first pass distributes them to files, a second one shuffles each file in memory. The same seed gives the same bytes on every machine.',
    'An input of 2.5 epochs has each document twice, and random ones with half of the tokens a third time. --mix gives the tokens of an input; weights are shares of --tokens.',
    'Run the same command again to continue. With the format megatron, blend.txt has the prefixes with their numbers of tokens, for --data-args-path of Megatron-LM.',
  ],
  brief: {
    output: 'a new folder, an empty one, or that of the same merge',
    format: ['FORMAT', 'the format of the output (default: that of the first input)'],
    'tokens-per-file': 'tokens of a file (default: 67108864)',
    shuffle: 'one random order of all documents',
    mix: 'the number of tokens of an input, such as code/=3B',
    pack: 'rows of N tokens across documents',
    quiet: 'show no progress bar',
  },
  options: {
    output: { short: 'o', value: 'FOLDER', help: 'a new folder, an empty one, or that of the same merge' },
    format: { ...CORPUS_FORMAT, help: 'the format of the output (default: that of the first input)' },
    'tokens-per-file': {
      value: 'N',
      number: [1, Number.MAX_SAFE_INTEGER],
      help: 'tokens of a file (default: 67108864); with --shuffle they are in memory',
    },
    pack: {
      value: 'N',
      number: [1, MAX_COUNT],
      help: 'rows of N tokens across documents (default: a row is a document)',
    },
    packing: PACKING,
    shuffle: { value: 'SEED', number: [0, Number.MAX_SAFE_INTEGER], help: 'one random order of all documents' },
    epochs: {
      value: 'FOLDER=N',
      multiple: true,
      help: 'how often the documents of an input are used, such as data/=2.5',
    },
    mix: {
      value: 'FOLDER=TOKENS',
      multiple: true,
      help: 'the number of tokens of an input, such as code/=3B; K, M and B are 10^3, 10^6 and 10^9',
    },
    dedup: { help: 'leave out documents whose tokens occurred before, in all inputs' },
    'tokens-per-shard': {
      value: 'N',
      number: [1, Number.MAX_SAFE_INTEGER],
      help: 'files of exactly N tokens, in order; documents are cut at their ends',
    },
    weight: { value: 'FOLDER=W', multiple: true, help: 'the share of an input in --tokens' },
    tokens: {
      value: 'N',
      number: [1, Number.MAX_SAFE_INTEGER],
      help: 'the number of tokens of the output, approximately',
    },
    concurrency: { value: 'N', number: [1, 64], help: 'number of files at a time (default: 2)' },
    'resume-check': RESUME_CHECK,
    json: JSON_EVENTS,
    quiet: QUIET,
  },
  examples: [
    ['tokenlane corpus merge tokens/ -o merged/ --tokens-per-file 1000000000', 'few large files'],
    ['tokenlane corpus merge train/ -o shards/ --tokens-per-shard 100000000 -f llmc', 'shards for llm.c'],
    ['tokenlane corpus merge web/ code/ -o train/ --shuffle 1 --mix web/=7B --mix code/=3B', 'budgets of tokens'],
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
    const bar = barOf(values)
    const onEvent = (event) => {
      if (values.json) print(JSON.stringify(event))
      bar.update(event.done / event.all, [wordsOf(event)])
    }
    const { json, quiet, epochs, mix, weight, ...how } = values
    const options = { ...how, inputs: inputsOf(folders, { epochs, mix, weight }), onEvent }
    try {
      const result = await interruptible(
        (signal) => mergeCorpora({ ...options, signal }),
        () => {
          bar.stop()
          if (!values.quiet) process.stderr.write('tokenlane: interrupted: run the same command again to continue\n')
        },
      )
      bar.stop()
      print(values.json ? JSON.stringify({ event: 'result', ...result }) : summary(result))
    } finally {
      bar.stop()
    }
  },
}

/** What the bar says: a shuffle reads all shards before it writes. */
const wordsOf = ({ event, done, all }) => `${VERBS[event]} ${done} of ${all}`
const VERBS = { compared: 'comparing shard', read: 'reading shard', written: 'writing file' }

/** The options that say how much of an input is used: its property, and how a value is read. */
const SHARES = {
  epochs: { property: 'epochs', form: 'FOLDER=NUMBER', read: (text) => (AMOUNT.test(text) ? Number(text) : undefined) },
  weight: { property: 'weight', form: 'FOLDER=NUMBER', read: (text) => (AMOUNT.test(text) ? Number(text) : undefined) },
  mix: { property: 'tokens', form: 'FOLDER=TOKENS', read: budgetOf },
}

function budgetOf(text) {
  const [, count, unit] = BUDGET.exec(text) ?? []
  return count === undefined ? undefined : Math.round(Number(count) * UNITS[unit.toUpperCase()])
}

/** The folders with what is used of them. */
function inputsOf(folders, values) {
  const inputs = folders.map((path) => ({ path }))
  for (const [name, { property, form, read }] of Object.entries(SHARES)) {
    for (const one of values[name] ?? []) {
      const at = one.lastIndexOf('=')
      const [path, value] = [one.slice(0, at), read(one.slice(at + 1))]
      const own = inputs.filter((input) => input.path === path)
      if (at < 1 || value === undefined) throw new UsageError(`'--${name}' is ${form}, not '${one}'`)
      if (own.length === 0) throw new UsageError(`'--${name}' names ${path}, which is no input`)
      for (const input of own) {
        if (Object.hasOwn(input, property)) throw new UsageError(`'--${name}' is given twice for ${path}`)
        input[property] = value
      }
    }
  }
  return inputs
}

function summary({ output, shards, documents, tokens, kept, inputs }) {
  const files = `${plural(shards, 'file')}${kept > 0 ? `, ${number(kept)} of them kept` : ''}`
  const allPlanned = inputs.reduce((sum, { planned }) => sum + planned, 0)
  const share = (own, all) => `${(all === 0 ? 0 : (own / all) * 100).toFixed(1)} %`
  return [
    `${nameForOutput(output)}: ${plural(documents, 'document')}, ${plural(tokens, 'token')} in ${files}`,
    ...inputs.map(
      ({ path, epochs, tokens: own, planned, duplicates }) =>
        `  ${nameForOutput(path)}: ${plural(own, 'token')} (${share(own, tokens)}; planned ${number(planned)}, ${share(planned, allPlanned)}), ${Number(epochs.toFixed(3))} epochs${duplicates > 0 ? `, ${plural(duplicates, 'duplicate')} left out` : ''}`,
    ),
  ].join('\n')
}
