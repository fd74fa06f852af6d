// `tokenlane corpus show` writes a row of a finished job as text.

import {
  COLOUR_OPTION,
  TOKENIZER_OPTIONS,
  UsageError,
  forOutput,
  hasColours,
  marked,
  plural,
  print,
} from 'tokenlane/internal/cli.mjs'
import { openTokenizer } from 'tokenlane/internal/files.mjs'
import { otherJob } from '../src/errors.mjs'
import { openTokens } from '../index.mjs'
import { findTokenizer } from '../src/tokenizer.mjs'

/** What is around learned text without colours. */
const MARKS = ['⟦', '⟧']

export const show = {
  summary: 'Write a row of a finished job as text.',
  usage: ['[options] FOLDER [ROW]'],
  about: [
    'Rows are counted from 0; without ROW it is the first one. Of chats, the text that is learned is in colour, or between ⟦ and ⟧. In packed rows, a line before each document has its position.',
  ],
  options: {
    tokenizer: { ...TOKENIZER_OPTIONS.tokenizer, default: undefined, help: 'where the tokenizer of the job is now' },
    color: COLOUR_OPTION,
    json: { help: 'write the documents of the row with their parts as JSON' },
  },
  examples: [['tokenlane corpus show tokens/ 17', 'the eighteenth row, with its loss mask']],

  async run({ values, positionals }) {
    const [, folder, index = '0', ...more] = positionals
    if (folder === undefined || more.length > 0) throw new UsageError('name one folder and a row')
    if (!/^\d{1,15}$/.test(index)) throw new UsageError(`a row is a whole number from 0, not '${index}'`)
    const tokens = await openTokens(folder)
    try {
      const row = await rowOf(tokens, Number(index), await tokenizerOf(tokens.tokenizer, values.tokenizer))
      if (values.json) print(JSON.stringify(row))
      else
        process.stdout.write(textOf(row, { isPacked: tokens.pack !== undefined, hasColour: hasColours(values.color) }))
    } finally {
      await tokens.close()
    }
  },
}

/**
 * The tokenizer of a job.
 *
 * @param {import('../index.js').CorpusTokenizer} tokenizer
 * @param {string} [place] where it is now
 */
async function tokenizerOf({ name, kind, encoding, sha256 }, place = name) {
  const source = await findTokenizer(place, kind === 'file' ? encoding : undefined)
  if (source.sha256 === sha256) return openTokenizer(source)
  throw otherJob(`the tokenizer of the job has the SHA-256 ${sha256}, and ${place} has ${source.sha256}`)
}

/** The documents of a row, each in parts that are learned or not. */
async function rowOf(tokens, row, tokenizer) {
  const [ids, mask, bounds] = [await tokens.row(row), await tokens.lossMask(row), await tokens.documentsOfRow(row)]
  const documents = []
  for (let document = 1; document < bounds.length; document++) {
    const parts = []
    for (let start = bounds[document - 1]; start < bounds[document]; ) {
      let end = start + 1
      while (end < bounds[document] && mask?.[end] === mask?.[start]) end += 1
      const text = tokenizer.decode(Uint32Array.from(ids.subarray(start, end)), { skipSpecialTokens: false })
      parts.push({ text, tokens: end - start, ...(mask && { isLearned: mask[start] === 1 }) })
      start = end
    }
    documents.push({ position: bounds[document - 1], parts })
  }
  const learned = mask?.reduce((sum, one) => sum + one, 0)
  return { row, rows: tokens.length, tokens: ids.length, ...(mask && { learned }), documents }
}

function textOf({ row, rows, tokens, learned, documents }, { isPacked, hasColour }) {
  const ofMask = learned === undefined ? '' : `, ${learned} of them learned`
  const lines = documents.map(({ position, parts }) => {
    const texts = parts.map(({ text, isLearned }) => {
      const safe = forOutput(text)
      return !isLearned ? safe : hasColour ? marked(safe) : `${MARKS[0]}${safe}${MARKS[1]}`
    })
    return `${isPacked ? `-- document at token ${position} --\n` : ''}${texts.join('')}\n`
  })
  return `row ${row} of ${rows}: ${plural(tokens, 'token')}${ofMask}\n${lines.join('')}`
}
