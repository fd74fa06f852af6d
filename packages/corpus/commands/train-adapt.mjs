// `tokenlane train extend` and `tokenlane train prune` change the vocabulary of a tokenizer.

import path from 'node:path'

import { UsageError, mib, number, plural, forOutput, nameForOutput, QUIET } from 'tokenlane/internal/cli.mjs'
import { checkInputs } from './options.mjs'
import {
  COUNT_OPTIONS,
  JSON_SUMMARY,
  OUTPUT,
  count,
  countOf,
  openInFolder,
  published,
  skippedLine,
  text,
} from './train-options.mjs'
import { extended, pruned } from '../src/train/adapt.mjs'
import { checkExtendOptions, checkPruneOptions } from '../src/train/options.mjs'

/** Number of new tokens that the summary names. */
const NAMED = 8

export const extend = {
  summary: 'Add tokens that texts need to a tokenizer.',
  usage: ['[options] TOKENIZER -o FILE INPUTS…'],
  about: [
    'The result is a tokenizer.json with more tokens. Those that exist keep their ids, so a model gets new rows behind those of its embedding. BPE and Unigram can be extended. TOKENIZER is a file, a folder, an encoding, a model of OpenAI, or OWNER/NAME[@REVISION] on the Hugging Face Hub.',
  ],
  brief: {
    output: 'the tokenizer.json; it appears when it is complete',
    'new-tokens': 'number of tokens to add (default: 1000)',
    field: 'the field with the text (default: text)',
  },
  options: {
    output: OUTPUT,
    'new-tokens': count('number of tokens to add; fewer if the texts do not have enough (default: 1000)', 1),
    'min-frequency': count('smallest count of a new character, and for BPE of a pair that is merged (default: 2)'),
    'max-token-length': count(
      'maximum number of characters of a new token (default: no limit for BPE, 16 for Unigram)',
      1,
    ),
    ...COUNT_OPTIONS,
    json: JSON_SUMMARY,
    quiet: QUIET,
  },
  examples: [
    ['tokenlane train extend gpt-4o data/ --new-tokens 5000 -o tokenizer.json', '5,000 tokens for a language'],
  ],

  async run({ values, positionals }) {
    const { base, inputs } = argumentsOf(values, positionals)
    const options = countOf(checkExtendOptions, values, inputs, [values.output])
    const { outcome, seen, seconds } = await published(values, options, (watched) => extended(base, watched))
    const { newTokens, effect, skipped } = outcome
    const named = newTokens.slice(0, NAMED).map(({ token }) => JSON.stringify(token))
    const lines = [
      `${nameForOutput(values.output)}: ${plural(effect.vocabularyAfter, 'token')}, ${number(newTokens.length)} of them new, for ${plural(seen.texts, 'text')} (${mib(seen.bytes)}) in ${seconds.toFixed(1)} s`,
      ...(named.length > 0 ? [`the first new ones: ${nameForOutput(named.join(' '))}`] : []),
    ]
    print(values, lines, { output: values.output, ...seen, skipped, seconds, newTokens, effect })
  },
}

export const prune = {
  summary: 'Keep the tokens of a tokenizer that texts use.',
  usage: ['[options] TOKENIZER -o FILE INPUTS…'],
  about: [
    'The result is a tokenizer.json with the tokens that the texts use, those that these are merged of, single bytes, and added tokens. The texts have the same tokens as before, with new ids; other texts may have more tokens. A file beside it, such as tokenizer.ids.json, is a JSON object with the new id of each old id that is left: it selects the rows of an embedding.',
  ],
  brief: {
    output: 'the tokenizer.json; it appears when it is complete',
    ids: 'the map of ids (default: tokenizer.ids.json beside it)',
    field: 'the field with the text (default: text)',
  },
  options: {
    output: OUTPUT,
    ids: text('FILE', 'the map of old ids to new ones (default: the name of the output with .ids.json)'),
    ...COUNT_OPTIONS,
    json: JSON_SUMMARY,
    quiet: QUIET,
  },
  examples: [['tokenlane train prune gpt-4o data/ -o tokenizer.json', 'tokenizer.json and tokenizer.ids.json']],

  async run({ values, positionals }) {
    const { base, inputs } = argumentsOf(values, positionals)
    const map = values.ids ?? idsBeside(values.output)
    if (path.resolve(map) === path.resolve(values.output))
      throw new UsageError("'--ids' and '--output' name the same file")
    const options = countOf(checkPruneOptions, values, inputs, [values.output, map])
    const idsFile = openInFolder(map)
    const writeIds = async (/** @type {any} */ { ids }) => {
      await idsFile.write(`${JSON.stringify(Object.fromEntries(ids))}\n`)
      await idsFile.commit()
    }
    const { outcome, seen, seconds } = await published(values, options, (watched) => pruned(base, watched), writeIds)
    const { effect, skipped } = outcome
    const { vocabularyBefore, vocabularyAfter } = effect
    const lines = [
      `${nameForOutput(values.output)}: ${number(vocabularyAfter)} of ${number(vocabularyBefore)} tokens, used by ${plural(seen.texts, 'text')} (${mib(seen.bytes)}), in ${seconds.toFixed(1)} s`,
      `${nameForOutput(map)}: the new ids by the old ones`,
    ]
    print(values, lines, { output: values.output, ids: map, ...seen, skipped, seconds, effect })
  },
}

/** The tokenizer and the inputs that the command line names. */
function argumentsOf(values, [, base, ...inputs]) {
  if (base === undefined) throw new UsageError('name a tokenizer')
  checkInputs(values, inputs)
  if (values.output === undefined) throw new UsageError("name the tokenizer.json with '--output'")
  return { base, inputs }
}

/** The map of ids of an output: tokenizer.ids.json for tokenizer.json. */
function idsBeside(output) {
  if (output === '-') throw new UsageError("name the map of ids with '--ids': standard output gets the tokenizer.json")
  const { dir, name } = path.parse(output)
  return path.join(dir, `${name}.ids.json`)
}

/** Prints a summary, with the effect on the texts. */
function print({ json, output }, lines, result) {
  const stream = output === '-' ? process.stderr : process.stdout
  if (json) {
    stream.write(forOutput(`${JSON.stringify(result)}\n`))
    return
  }
  const { effect, skipped } = result
  const all = [...lines, effectLine(effect), ...(skipped > 0 ? [skippedLine(skipped)] : [])]
  stream.write(forOutput(`${all.join('\n')}\n`))
}

function effectLine({ bytes, tokensBefore, tokensAfter }) {
  const perToken = (tokens) => (bytes / Math.max(1, tokens)).toFixed(2)
  const change = ((tokensAfter - tokensBefore) / Math.max(1, tokensBefore)) * 100
  const same = tokensAfter === tokensBefore ? 'as before' : `${change.toFixed(1)} %`
  return `the texts: ${plural(tokensBefore, 'token')} before, ${number(tokensAfter)} now (${same}); ${perToken(tokensBefore)} and ${perToken(tokensAfter)} bytes per token`
}
