// `tokenlane corpus` turns a corpus into files of tokens. `tokenlane corpus verify` compares such
// files with their records, and `tokenlane corpus report` writes a page about them.

import {
  barOf,
  stopBars,
  UsageError,
  interruptible,
  number,
  plural,
  nameForOutput,
  print,
  TOKENIZER_OPTIONS,
  ENCODE_OPTIONS,
  QUIET,
  RATIO_OPTION,
} from 'tokenlane/internal/cli.mjs'
import { cleanCorpus, tokenizeCorpus, verifyCorpus, writeReport } from '../index.mjs'
import { CHOICES } from '../src/options.mjs'
import { withCurrency } from '../src/price.mjs'
import { Notices, corpusProgress, howToGoOn } from './corpus-progress.mjs'
import {
  CONCURRENCY,
  CORPUS_FORMAT,
  FIELD,
  FILES_FROM,
  JSON_EVENTS,
  MAX_ROW,
  METRICS,
  PACKING,
  QUEUE_OPTIONS,
  QUEUE_VARIABLE,
  RESUME_CHECK,
  SHARD_SIZE,
  SHARD_THREADS,
  checkInputs,
  metricsOf,
} from './options.mjs'
import { merge } from './corpus-merge.mjs'
import { show } from './corpus-show.mjs'

const PRICE = /^(?:(\p{Sc}|[A-Z]{3}) ?)?(\d+|\d*\.\d+)(?: ?(\p{Sc}|[A-Z]{3}))?$/u
const MAX_COUNT = 2 ** 31 - 1
const SAMPLE = /^(?:(\d+\.?\d*)-)?(\d+\.?\d*)%$/

const corpus = {
  summary: 'Turn a corpus into token files, on all cores; resumable.',
  usage: [
    '[options] -o FOLDER FILE | FOLDER | PATTERN…',
    '--dry-run [options] FILE | FOLDER | PATTERN…',
    'merge [options] -o FOLDER FOLDER… | show FOLDER [ROW]',
    'verify FOLDER | clean FOLDER | report FOLDER -o FILE',
  ],
  about: [
    'Inputs are cut into shards: byte ranges of plain files, row groups of Parquet, frames of gzip and Zstandard where their lengths are known, else whole files. Each shard becomes files of its own, which depend only on the inputs, the tokenizer and the options. plan.jsonl lists the shards, shard-N.json is the record of a shard, and manifest.json has the totals.',
    'After a crash, a full disk or Ctrl-C, run the same command again: existing files are compared with their SHA-256, and missing shards are processed.',
    'A document is a line of JSON with a field in files called .jsonl, .ndjson or .json (also .gz, .zst), and a line of text in others. Documents without tokens are left out and counted.',
    'With --messages, documents are chats in rows of JSON or Parquet. They are rendered with the chat template of the tokenizer, and a loss mask beside the ids says which tokens the assistant wrote: .mask.npy, .mask.bin (and .mask.idx for megatron), or loss_mask in mds, jsonl and parquet.',
    'Formats: megatron (.bin and .idx, for IndexedDataset of megatron-core), npy and bin (tokens, .rows with row offsets, and a .csv.gz with start, end, id, source and position of each document, as in Dolma), llmc (.bin of llm.c), mds (.mds and index.json, for StreamingDataset of MosaicML), jsonl, parquet (ids as list of int32).',
    'Inputs and the output may be addresses such as s3://bucket/prefix/, with the packages @aws-sdk/client-s3 and @aws-sdk/lib-storage; endpoint, region and credentials come from the environment (AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, …), from ~/.aws or from the role of the machine.',
    'gs://bucket/prefix/ needs the package @google-cloud/storage, and az://container/prefix/ @azure/storage-blob with AZURE_STORAGE_CONNECTION_STRING or AZURE_STORAGE_ACCOUNT_NAME.',
    'Inputs may be datasets of the Hugging Face Hub, hf://datasets/OWNER/NAME[@REVISION] with a path or a pattern after it, with the package @huggingface/hub; HF_TOKEN gives access to private ones.',
    'tokenlane corpus verify FOLDER compares all files with their records; tokenlane corpus report FOLDER -o FILE writes a page about them; tokenlane corpus clean FOLDER removes unfinished files of killed processes; tokenlane corpus merge joins, shuffles and mixes the outputs of finished jobs; tokenlane corpus show FOLDER ROW writes a row as text.',
  ],
  brief: {
    output: 'folder of the output; an unfinished job continues',
    tokenizer: 'a file, encoding, model, or OWNER/NAME on the hub',
    format: ['FORMAT', '{choices}'],
    field: 'the field with the text (default: text)',
    eos: 'insert a token (eos) after each document',
    'dry-run': 'count documents and tokens without writing',
    queue: 'let workers process the shards (redis://host:6379)',
  },
  options: {
    output: {
      short: 'o',
      value: 'FOLDER',
      help: 'folder of the output, or an address (s3://bucket/prefix/, gs://, az://); it must be new, empty, or that of the same job',
    },
    ...TOKENIZER_OPTIONS,
    tokenizer: {
      ...TOKENIZER_OPTIONS.tokenizer,
      help: 'a tokenizer.json, tekken.json, SentencePiece model or rank file, a folder with one of the first three, a bundled encoding, a model of OpenAI, or OWNER/NAME[@REVISION] on the Hugging Face Hub',
    },
    format: { ...CORPUS_FORMAT, default: 'megatron', help: 'the files of a shard' },
    type: {
      choices: CHOICES.type,
      help: 'integer type of megatron, npy, bin, llmc and mds (default: u16 if the vocabulary fits)',
    },
    rows: { choices: CHOICES.rows, help: 'unit of a document (default: by the name of the file)' },
    field: FIELD,
    'id-field': { value: 'PATH', help: 'the field with the id of the document; for npy, bin, mds, jsonl and parquet' },
    'group-by': {
      value: 'PATH',
      help: 'a field such as the language; corpus report shows tokens, and characters and bytes per token, for each of its values',
    },
    'files-from': FILES_FROM,
    bos: { help: 'insert the token that starts a document (bos) before each document' },
    'bos-token': { value: 'TOKEN', help: 'the same, with this token' },
    eos: { help: 'insert the token that ends a document (eos) after each document' },
    'eos-token': { value: 'TOKEN', help: 'the same, with this token' },
    'max-tokens': {
      value: 'N',
      number: [1, MAX_COUNT],
      help: 'maximum number of tokens of a document, including bos and eos; the rest is cut off and counted',
    },
    pack: {
      value: 'N',
      number: [1, MAX_COUNT],
      help: 'rows of N tokens across documents; the last row of a shard may be shorter',
    },
    packing: PACKING,
    shuffle: {
      value: 'SEED',
      number: [0, Number.MAX_SAFE_INTEGER],
      help: 'a random order of shards, and of the documents in each',
    },
    sample: {
      value: 'PERCENT',
      help: 'a part of the documents, by the hash of their text: 1%, or a side such as 0-99% and 99-100%',
    },
    'special-tokens': ENCODE_OPTIONS['special-tokens'],
    messages: {
      value: 'PATH',
      help: 'documents are chats: the field with the messages, rendered with the chat template of the tokenizer; a loss mask beside the ids says which tokens the assistant wrote',
    },
    completion: {
      value: 'PATH',
      help: 'with --messages: a field with a text or messages that follow; only they are learned. For prompt and completion, or chosen',
    },
    tools: { value: 'PATH', help: 'with --messages: the field with the tools of a chat' },
    template: { value: 'FILE', help: 'with --messages: a file with another chat template' },
    'mask-by': {
      choices: CHOICES.maskBy,
      help: 'with --messages: the loss mask is what {% generation %} tags of the template mark, or the answers of the assistant (default: generation if the template has such tags)',
    },
    'mask-turns': {
      choices: CHOICES.maskTurns,
      help: 'with --messages: learn all answers, or only those after the last message of another role (default: all)',
    },
    'mask-roles': {
      value: 'ROLES',
      help: 'with --messages: roles whose messages are learned, such as assistant,tool (default: assistant)',
    },
    'without-reasoning': { help: 'with --messages: reasoning, such as <think>…</think>, is not learned' },
    date: { value: 'DAY', help: 'with --messages: the day that a template writes, such as 2026-01-31' },
    hooks: {
      value: 'FILE',
      help: 'a module with filter(document) and map(document), called for each document; its SHA-256 is part of the job',
    },
    'on-error': {
      choices: CHOICES.onError,
      default: 'fail',
      help: 'skip: continue without rows that cannot be read or encoded, and count them',
    },
    'shard-size': SHARD_SIZE,
    'max-row': MAX_ROW,
    ...RATIO_OPTION,
    'dry-run': { help: 'count documents and tokens without writing anything' },
    price: {
      value: 'P',
      help: 'price of a million tokens, such as 0.13, $0.13 or "0.13 EUR"; the result has the total cost',
    },
    'resume-check': RESUME_CHECK,
    append: { help: 'add shards of new inputs to a finished job; the shards that are there stay as they are' },
    'trust-plan': {
      help: 'continue with the plan of the output folder: do not list the inputs, nor compare those of shards that are done',
    },
    concurrency: {
      ...CONCURRENCY,
      help: 'number of shards at a time (default: 1 to 4, by the processors and the work)',
    },
    threads: SHARD_THREADS,
    ...QUEUE_OPTIONS,
    metrics: METRICS,
    json: JSON_EVENTS,
    quiet: QUIET,
  },
  examples: [
    ['tokenlane corpus data/ -t gpt-4o -o tokens/ --format megatron --eos', 'all files of a folder for Megatron'],
    [
      "tokenlane corpus 'data/**/*.jsonl.zst' -t tokenizer.json -o tokens/ -f npy --id-field id",
      'arrays, and a table of the documents',
    ],
    ['tokenlane corpus data/ -o tokens/ --eos --pack 2048 --shuffle 1', 'rows of 2048 tokens in a random order'],
    [
      'tokenlane corpus chats.jsonl -t Qwen/Qwen2.5-7B-Instruct -o tokens/ -f npy --messages messages',
      'chats with a loss mask',
    ],
    ['tokenlane corpus data/ --dry-run --price 0.13', 'the cost of embedding a corpus'],
    [
      'tokenlane corpus /shared/data -o /shared/tokens --queue redis://host:6379',
      'on all machines that run tokenlane worker',
    ],
    ['tokenlane corpus s3://lake/raw/ -o s3://lake/tokens/ --eos', 'from S3 to S3'],
    ['tokenlane corpus hf://datasets/OWNER/NAME/data -o tokens/ --eos', 'a folder of a dataset of the hub'],
    ['tokenlane corpus verify tokens/', 'check that all files are as they were written'],
  ],

  async run({ values, positionals }) {
    checkInputs(values, positionals)
    if (values.output === undefined && !values.dryRun)
      throw new UsageError("name a folder for the output with '--output', or use '--dry-run'")
    const { price, currency } = priceOf(values.price)
    const progress = corpusProgress(values)
    const options = { ...optionsOf(values), inputs: positionals, onEvent: (event) => progress.on(event) }
    try {
      const result = await interruptible(
        (signal) => tokenizeCorpus({ ...options, signal }),
        () => {
          progress.stop()
          if (!values.quiet)
            process.stderr.write(`tokenlane: ${values.output === undefined ? 'interrupted' : howToGoOn(options)}\n`)
        },
      )
      progress.stop()
      const cost = price === undefined ? undefined : (result.tokens / 1e6) * price
      if (values.json)
        print(JSON.stringify({ event: 'result', ...result, ...(cost !== undefined && { cost, currency }) }))
      else print(summary(result, cost === undefined ? undefined : withCurrency(cost.toFixed(2), currency)))
    } finally {
      progress.stop()
    }
  },
}

const verify = {
  summary: 'Compare the files of a corpus job with their records.',
  usage: ['[options] FOLDER'],
  about: [
    'Checks the plan, every file of every shard, and the totals of the manifest. The exit code is 1 if anything is missing or differs; running the job again repairs it.',
  ],
  options: {
    concurrency: { value: 'N', number: [1, 256], help: 'shards that are compared at a time (default: the processors)' },
    'read-all': { help: 'also read objects in S3 that still have the ETag of their upload' },
    ...QUEUE_OPTIONS,
    queue: { ...QUEUE_OPTIONS.queue, help: 'let workers read the files: redis://host:6379, or rediss:// for TLS' },
    json: JSON_EVENTS,
    quiet: QUIET,
  },
  examples: [
    ['tokenlane corpus verify tokens/', 'check that all files are as they were written'],
    ['tokenlane corpus verify /shared/tokens --queue redis://host:6379', 'on all machines that run tokenlane worker'],
  ],

  async run({ values, positionals }) {
    const folder = folderOf(positionals)
    const notices = new Notices()
    let done = 0
    const bar = barOf(values)
    const onEvent = (event) => {
      if (values.json) print(JSON.stringify(event))
      else if (event.event === 'verified') {
        done += 1
        bar.update(done / event.allShards, [`shard ${done} of ${event.allShards}`])
      } else if (event.event !== 'problem') {
        if (!values.quiet) notices.on(event)
      } else {
        stopBars()
        print(`${nameForOutput(event.file)}: ${nameForOutput(event.problem)}`)
      }
    }
    const { json, quiet, giveUp, ...how } = values
    const options = { ...how, giveUpSeconds: giveUp, onEvent }
    const result = await interruptible((signal) => verifyCorpus(folder, { ...options, signal }), stopBars)
    bar.stop()
    if (values.json) print(JSON.stringify({ event: 'result', ...result }))
    else
      print(
        `${plural(result.shards, 'shard')}, ${plural(result.tokens, 'token')}: ${result.isWhole ? 'all as recorded' : plural(result.problems, 'problem')}`,
      )
    if (!result.isWhole) process.exitCode = 1
  },
}

const report = {
  summary: 'Write a page about a corpus job.',
  usage: ['[options] FOLDER -o FILE'],
  about: [
    'The page has tokens, and characters and bytes per token, by source and by the field of --group-by; lengths of documents; machines; skipped rows. It is one HTML file without scripts. For an unfinished job it covers the shards that are done.',
  ],
  options: {
    output: { short: 'o', value: 'FILE', help: 'the page' },
    price: {
      value: 'P',
      help: 'price of a million tokens, such as 0.13, $0.13 or "0.13 EUR"; the report has the total cost',
    },
  },
  examples: [['tokenlane corpus report tokens/ -o report.html --price 0.13', 'a page with the cost']],

  async run({ values, positionals }) {
    const folder = folderOf(positionals)
    if (values.output === undefined) throw new UsageError("name the page with '--output'")
    const { tokens } = await writeReport(folder, values.output, priceOf(values.price))
    print(`${nameForOutput(values.output)}: ${plural(tokens, 'token')}`)
  },
}

const clean = {
  summary: 'Remove what killed processes left in the folder of a corpus job.',
  usage: ['[options] FOLDER'],
  about: [
    'Removes unfinished files (.part, and uploads to S3) and a claim.json without use. Those of this machine are removed if their process has ended; those of other machines and containers if they are old enough. Complete files stay. A job removes them by itself when it ends.',
  ],
  options: {
    age: {
      value: 'SECONDS',
      number: [0, 1_000_000_000],
      help: 'minimum age of files of other machines (default: 86400, a day); 0 if no other machine works on the job',
    },
    json: { help: 'write the names as JSON' },
  },
  examples: [['tokenlane corpus clean tokens/ --age 3600', 'remove what was not written to for an hour']],

  async run({ values, positionals }) {
    const folder = folderOf(positionals)
    const result = await cleanCorpus(folder, { ageSeconds: values.age })
    if (values.json) print(JSON.stringify(result))
    else print([...result.removed.map(nameForOutput), `${number(result.removed.length)} removed`].join('\n'))
  },
}

function folderOf([, folder, ...more]) {
  if (folder === undefined || more.length > 0) throw new UsageError('name one folder')
  return folder
}

const FURTHER = { verify, report, clean, merge, show }

/** The command that the first argument selects. */
export const corpusCommand = (first) => (Object.hasOwn(FURTHER, first ?? '') ? FURTHER[first] : corpus)

/** The options of `tokenizeCorpus` that the command line sets. */
const optionsOf = (/** @type {any} */ { price, json, quiet, giveUp, bosToken, eosToken, ...values }) => ({
  ...values,
  maskRoles: values.maskRoles?.split(','),
  sample: sampleOf(values.sample),
  bos: edgeOf('bos', values.bos, bosToken),
  eos: edgeOf('eos', values.eos, eosToken),
  queue: queueOf(values),
  giveUpSeconds: giveUp,
  metrics: metricsOf(values),
})

/** The URL of the queue; an empty variable names none. */
const queueOf = ({ queue, append, dryRun }) =>
  queue ?? ((!dryRun && !append && process.env[QUEUE_VARIABLE]) || undefined)

function edgeOf(name, isOn, token) {
  if (token !== undefined && isOn) throw new UsageError(`give '--${name}' or '--${name}-token', not both`)
  return token ?? isOn
}

/** The range of hashes that percentages name. */
function sampleOf(value) {
  if (value === undefined) return undefined
  const [, from = '0', to] = SAMPLE.exec(value) ?? []
  if (to === undefined || Number(from) >= Number(to) || Number(to) > 100)
    throw new UsageError(`'--sample' is a percentage such as 1%, or a range such as 99-100%, not '${value}'`)
  return [Number(from) / 100, Number(to) / 100]
}

function priceOf(value) {
  if (value === undefined) return {}
  const [, before, price, behind] = PRICE.exec(value) ?? []
  if (price === undefined || (before !== undefined && behind !== undefined))
    throw new UsageError(`'--price' is a number such as 0.13, $0.13 or '0.13 EUR', not '${value}'`)
  return { price: Number(price), currency: before ?? behind }
}

function summary(result, cost) {
  const {
    output,
    shards,
    kept,
    documents,
    tokens,
    textBytes,
    empty,
    unlearned,
    truncated,
    cutTokens,
    unpaired,
    filtered,
    skipped,
    lossTokens,
  } = result
  const lines = [
    `${plural(documents, 'document')}, ${plural(tokens, 'token')}, ${(textBytes / Math.max(1, tokens + cutTokens)).toFixed(2)} bytes per token`,
    ...(empty > 0 ? [`left out: ${plural(empty, 'document')} without tokens`] : []),
    ...(unlearned > 0 ? [`left out: ${plural(unlearned, 'chat')} without a token to learn from`] : []),
    ...(truncated > 0 ? [`cut: ${plural(truncated, 'document')}, by ${plural(cutTokens, 'token')}`] : []),
    ...(filtered > 0 ? [`left out by the hooks: ${plural(filtered, 'document')}`] : []),
    ...sampled(result),
    ...(unpaired > 0 ? [`unpaired surrogates, which became U+FFFD: in ${plural(unpaired, 'document')}`] : []),
    ...(lossTokens === undefined
      ? []
      : [`of the assistant: ${plural(lossTokens, 'token')} (${share(lossTokens, tokens)} %)`]),
    ...packingOf(result),
    ...(skipped > 0
      ? [`skipped: ${plural(skipped, 'row')}${output === undefined ? '' : '; the records of the shards list them'}`]
      : []),
    ...(cost === undefined ? [] : [`cost: ${cost}`]),
    ...(output === undefined
      ? []
      : [
          `${plural(shards, 'shard')} in ${nameForOutput(output)}${kept > 0 ? `, ${number(kept)} of them from an earlier run` : ''}`,
        ]),
  ]
  return lines.join('\n')
}

/** What a sample says about the whole. */
function sampled({ options: { sample }, unsampled, tokens }) {
  if (sample === undefined) return []
  const whole = Math.round(tokens / (sample[1] - sample[0]))
  return [`sample: ${plural(unsampled, 'document')} were left out; about ${plural(whole, 'token')} in all`]
}

const share = (part, all) => ((part / Math.max(1, all)) * 100).toFixed(2)

/** What packing cost. */
function packingOf({ options: { pack }, rows, cutDocuments, padding, documents }) {
  if (pack === undefined || rows === 0) return []
  return [
    `${plural(rows, 'row')}, ${share(padding, rows * pack)} % padding; cut: ${plural(cutDocuments, 'document')} (${share(cutDocuments, documents)} %)`,
  ]
}
