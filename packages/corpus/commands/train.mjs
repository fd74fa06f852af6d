// `tokenlane train` trains a tokenizer on files.

import { loadTokenizer, tokenizerFiles } from 'tokenlane/internal/files.mjs'
import {
  TOKENIZER_OPTIONS,
  UsageError,
  interruptible,
  mib,
  plural,
  forOutput,
  nameForOutput,
  refuseInput,
  statOf,
  QUIET,
} from 'tokenlane/internal/cli.mjs'
import { checkInputs } from './options.mjs'
import { extend, prune } from './train-adapt.mjs'
import {
  COUNT_OPTIONS,
  INPUT_OPTIONS,
  JSON_SUMMARY,
  OUTPUT,
  count,
  countOf,
  published,
  skippedLine,
  text,
} from './train-options.mjs'
import { HeldOut } from '../src/train/count.mjs'
import { MODELS, checkOptions, checkPruneOptions } from '../src/train/options.mjs'
import { writeReport } from '../src/train/report.mjs'
import { trained } from '../src/train/train.mjs'

/** Bytes of texts that are held out at most. */
const HELD_OUT_BYTES = 4 << 20
/** Number of texts that are counted at once for the comparison. */
const COUNTED_TEXTS = 1 << 13

const train = {
  summary: 'Train a tokenizer on files.',
  usage: ['[options] -o FILE FILE | FOLDER | PATTERN…', 'extend | prune | report [options] NAME -o FILE INPUTS…'],
  about: [
    "The result is a tokenizer.json, equal to that of Hugging Face's tokenizers for the same texts and options: --model bpe, wordpiece, wordlevel or unigram. --like names a tokenizer whose splitting, decoder, post-processor and special tokens the new one gets; only its vocabulary is new. Without --like, BPE splits as o200k_base does, WordPiece as cased BERT, WordLevel at whitespace, and Unigram as SentencePiece.",
    'A text is a line of JSON with a field in files called .jsonl, .ndjson or .json (also .gz, .zst), a field of a row of Parquet, and a line with its line end in others. Words do not go across texts.',
    'One text of 100, up to 4 MiB in all, is not trained on. At the end the new tokenizer and those of --against encode these texts, and the summary has their bytes per token. --held-out 0 trains on all texts.',
    'Inputs may be addresses such as s3://bucket/prefix/, with the package @aws-sdk/client-s3, and hf://datasets/OWNER/NAME, with @huggingface/hub.',
  ],
  brief: {
    output: 'the tokenizer.json; it appears when it is complete',
    like: ['NAME', 'split as this tokenizer, and take its special tokens'],
    model: ['MODEL', '{choices} (default: that of --like)'],
    'vocab-size': 'number of tokens (default: 30000; unigram: 8000)',
    'special-token': 'a special token; can be repeated',
    field: 'the field with the text (default: text)',
    against: ['NAME', 'compare with this tokenizer; can be repeated'],
  },
  options: {
    output: OUTPUT,
    like: {
      value: 'NAME',
      names: TOKENIZER_OPTIONS.tokenizer.names,
      help: 'take splitting, decoder, post-processor and special tokens of this tokenizer: a file, a folder, an encoding, a model of OpenAI, or OWNER/NAME[@REVISION] on the Hugging Face Hub',
    },
    model: { choices: MODELS, help: 'the model (default: that of --like, else bpe)' },
    'vocab-size': count('number of tokens, special tokens included (default: 30000; unigram: 8000)', 1),
    'min-frequency': count(
      'bpe, wordpiece: smallest count of a pair that is merged; wordlevel: of a word (default: 0)',
    ),
    'special-token': {
      ...text('TOKEN', 'a special token; can be repeated; they get the first ids (default: those of --like)'),
      multiple: true,
    },
    'unk-token': text(
      'TOKEN',
      'the token for what the vocabulary does not have (default: that of --like; else [UNK], for unigram <unk>, for bpe none)',
    ),
    'limit-alphabet': count('bpe, wordpiece: maximum number of characters of the alphabet'),
    'continuing-subword-prefix': text('TEXT', 'bpe, wordpiece: start of tokens that continue a word (wordpiece: ##)'),
    'end-of-word-suffix': text('TEXT', 'bpe, wordpiece: end of tokens that end a word'),
    'max-token-length': count('bpe: maximum number of characters of a token', 1),
    'shrinking-factor': text('F', 'unigram: part of the pieces that each round keeps, between 0 and 1 (default: 0.75)'),
    'max-piece-length': {
      ...count('unigram: maximum number of characters of a piece (default: 16)'),
      number: [1, 256],
    },
    'n-sub-iterations': { ...count('unigram: number of estimates of each round (default: 2)'), number: [1, 1000] },
    'seed-size': count('unigram: number of pieces to begin with (default: 1000000)', 1),
    ...COUNT_OPTIONS,
    against: {
      ...text('NAME', 'compare with this tokenizer, named as for --like; can be repeated'),
      names: TOKENIZER_OPTIONS.tokenizer.names,
      multiple: true,
      default: [],
    },
    'held-out': count('hold out one text of N for the comparison; 0: none (default: 100; with --work-dir: 0)'),
    json: JSON_SUMMARY,
    quiet: QUIET,
  },
  examples: [
    ['tokenlane train data/ --vocab-size 32000 -o tokenizer.json', 'BPE, split as by GPT-4o'],
    ['tokenlane train data/ --like llama3.json --against llama3.json -o new.json', 'like another tokenizer'],
    ["tokenlane train 'data/*.parquet' --model unigram -o unigram.json", 'Unigram'],
    [
      "tokenlane train s3://lake/raw/ --field text --like gpt-4o --special-token '<|eos|>' -o tokenizer.json",
      'from S3, with a special token of its own',
    ],
  ],

  async run({ values, positionals }) {
    checkInputs(values, positionals)
    if (values.output === undefined) throw new UsageError("name the tokenizer.json with '--output'")
    const options = optionsOf(values, positionals)
    const step = values.heldOut ?? (options.job === undefined ? 100 : 0)
    if (step > 0 && options.job !== undefined)
      throw new UsageError("'--held-out' cannot go with '--work-dir', whose counts are those of all texts")
    if (step === 0 && values.against.length > 0)
      throw new UsageError("'--against' compares on texts that are held out, and here there are none (--held-out)")
    const against = await loadAll(values.against)
    const heldOut = step > 0 ? new HeldOut(step, HELD_OUT_BYTES) : undefined
    const { outcome, seen, seconds } = await published(values, options, (watched) => trained(watched, heldOut))
    const { tokenizer, skipped } = outcome
    const compared = [{ name: values.output, tokenizer }, ...against]
    const tokenizers = heldOut === undefined ? [] : await compare(compared, heldOut)
    const result = {
      output: values.output,
      vocabSize: tokenizer.vocabSize(),
      ...seen,
      skipped,
      seconds,
      heldOut: { texts: heldOut?.texts.length ?? 0, bytes: heldOut?.bytes ?? 0 },
      tokenizers,
    }
    const stream = values.output === '-' ? process.stderr : process.stdout
    stream.write(forOutput(`${values.json ? JSON.stringify(result) : summary(result)}\n`))
  },
}

const report = {
  summary: 'Write a page about a tokenizer.',
  usage: ['[options] TOKENIZER -o FILE INPUTS…'],
  about: [
    'The page has bytes per token by file, or by the field of --group-by, beside those of other tokenizers; the curve over sizes of the vocabulary; examples side by side; words that fall apart; the longest, rarest and newest tokens, and those that the texts do not use. It is one HTML file without scripts. The first 32 MiB of the inputs are measured, which should not be texts that the tokenizer was trained on.',
  ],
  options: {
    output: { short: 'o', value: 'FILE', help: 'the page' },
    against: train.options.against,
    'group-by': text('PATH', 'a field such as the language, in lines of JSON or rows of Parquet'),
    ...INPUT_OPTIONS,
    'on-error': { ...INPUT_OPTIONS['on-error'], help: 'skip: continue without rows that cannot be read' },
  },
  examples: [
    ['tokenlane train report tokenizer.json held-out/ --against gpt-4o -o report.html', 'beside that of GPT-4o'],
    ['tokenlane train report new.json a.jsonl --group-by language -o report.html', 'by language'],
  ],

  async run({ values, positionals }) {
    const [, name, ...inputs] = positionals
    if (name === undefined) throw new UsageError('name a tokenizer')
    checkInputs(values, inputs)
    if (values.output === undefined) throw new UsageError("name the page with '--output'")
    const options = countOf(checkPruneOptions, values, inputs, [values.output])
    options.content.groupBy = values.groupBy
    const names = [name, ...values.against]
    refuseInput(statOf(values.output), values.output, names.flatMap(tokenizerFiles))
    const tokenizers = await loadAll(names)
    const { texts, bytes } = await interruptible((signal) => writeReport(tokenizers, options, values.output, signal))
    process.stdout.write(forOutput(`${nameForOutput(values.output)}: ${plural(texts, 'text')} (${mib(bytes)})\n`))
  },
}

const FURTHER = { extend, prune, report }

/** The command that the first argument selects. */
export const trainCommand = (first) => (Object.hasOwn(FURTHER, first ?? '') ? FURTHER[first] : train)

/** The options of `trainTokenizer` that the command line sets. */
const optionsOf = ({ specialToken, ...values }, inputs) =>
  countOf(checkOptions, values, inputs, [values.output], {
    specialTokens: specialToken,
    shrinkingFactor: fractionOf(values.shrinkingFactor),
  })

function fractionOf(value) {
  if (value === undefined) return undefined
  if (/^0?\.\d+$/.test(value) && Number(value) > 0) return Number(value)
  throw new UsageError(`'--shrinking-factor' must be a number between 0 and 1, but it is '${value}'`)
}

const loadAll = (names) => Promise.all(names.map(async (name) => ({ name, tokenizer: await loadTokenizer(name) })))

/** The tokens of the texts that were held out, by each tokenizer. */
async function compare(compared, { texts, bytes }) {
  const results = []
  for (const { name, tokenizer } of compared) {
    let tokens = 0
    for (let from = 0; from < texts.length; from += COUNTED_TEXTS) {
      const some = texts.slice(from, from + COUNTED_TEXTS)
      const counts = await tokenizer.countBatch(some, { addSpecialTokens: false, specialTokens: 'text' })
      for (const one of counts) tokens += one
    }
    results.push({ name, tokens, bytesPerToken: tokens === 0 ? null : bytes / tokens })
  }
  return results
}

function summary({ output, vocabSize, texts, bytes, skipped, seconds, heldOut, tokenizers }) {
  const lines = [
    `${nameForOutput(output)}: ${plural(vocabSize, 'token')}, from ${plural(texts, 'text')} (${mib(bytes)}) in ${seconds.toFixed(1)} s`,
    ...(skipped > 0 ? [skippedLine(skipped)] : []),
  ]
  if (heldOut.texts === 0) return lines.join('\n')
  lines.push(`bytes per token on ${plural(heldOut.texts, 'text')} (${mib(heldOut.bytes)}) that were not trained on:`)
  for (const { name, bytesPerToken } of tokenizers)
    lines.push(`${(bytesPerToken ?? 0).toFixed(2).padStart(8)}  ${nameForOutput(name)}`)
  return lines.join('\n')
}
