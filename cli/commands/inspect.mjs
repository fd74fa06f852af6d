import { UsageError, at } from '../failure.mjs'
import { RATIO_OPTION, inputsOf, sourcesOf } from '../input/files.mjs'
import { MAX_ROW_OPTION, wholeText } from '../input/rows.mjs'
import { openOutput } from '../output/file.mjs'
import { COLOUR_OPTION, broken, dim, forTerminal, hasColours, marked, onGround, visible } from '../terminal.mjs'
import { LOOK, describe, hex } from '../tokens.mjs'
import { TOKENIZER_OPTIONS, loadTokenizer } from '../tokenizers.mjs'
import { Skips } from '../skips.mjs'
import { FORMAT, JSON_OPTION, withJson } from './options.mjs'

export const inspect = {
  summary: 'The tokens of a text, to look at: in the terminal, or as a page in the browser.',
  usage: ['[options] [FILE | FOLDER | PATTERN | -]…', '--web [--port N] [TOKENIZER…]'],
  about: [
    'In the terminal: tokens in alternating colours, then each with its id, where it stands (UTF-16 units), its bytes and its text. Special tokens count as such. White space is made visible (·→⏎); a token that holds a part of a character is shown as its bytes.',
    'With --web a page is served, on this machine only, that shows the tokens of a text as one types, for two tokenizers side by side. Ctrl-C ends it.',
  ],
  brief: {
    tokenizer: 'a file, encoding, model, or OWNER/NAME; repeatable',
    text: 'look at this text instead of files',
    limit: 'the most tokens that are shown (default: 200)',
    json: 'an object for each token',
    color: ['WHEN', 'auto, always or never'],
    web: 'serve a page that shows tokens as you type',
    port: 'its port (default: any that is free)',
  },
  options: {
    ...TOKENIZER_OPTIONS,
    tokenizer: {
      ...TOKENIZER_OPTIONS.tokenizer,
      multiple: true,
      default: ['o200k_base'],
      help: `${TOKENIZER_OPTIONS.tokenizer.help}; may be given more than once (default: o200k_base)`,
    },
    text: { type: 'string', short: 'x', value: 'TEXT', help: 'look at this text instead of files' },
    limit: {
      type: 'string',
      value: 'N',
      number: [1, Infinity],
      default: 200,
      help: 'the most tokens that are shown of a text',
    },
    format: { ...FORMAT, choices: ['text', 'jsonl'], help: 'jsonl: an object for each token' },
    json: JSON_OPTION,
    color: COLOUR_OPTION,
    'max-row': { ...MAX_ROW_OPTION['max-row'], default: 16 << 20, help: 'the most bytes of a text, such as 64M' },
    ...RATIO_OPTION,
    web: { type: 'boolean', help: 'serve the page' },
    port: { type: 'string', value: 'N', number: [0, 65535], help: 'its port (default: any that is free)' },
  },
  examples: [
    ["tokenlane inspect -x 'Naïve café 🚀'", 'tokens of a text'],
    ["tokenlane inspect -t gpt-4o -t tokenizer.json -x 'def f(x): return x'", 'two tokenizers, one after the other'],
    ['tokenlane inspect -f jsonl --limit 10 prompt.txt', 'the first tokens of a file, for a program'],
    ['tokenlane inspect --web tokenizer.json', 'a page that compares your tokenizer with others'],
  ],

  async run({ values: given, positionals }) {
    const values = withJson(given)
    if (values.web) {
      const { serve } = await import('../web/serve.mjs')
      return serve(
        [...positionals, ...(values.tokenizer === inspect.options.tokenizer.default ? [] : values.tokenizer)],
        values,
      )
    }
    if (values.port !== undefined) throw new UsageError("'--port' is for the page: give '--web' too")
    const sources = sourcesOf(positionals, { text: values.text, maxRatio: values['max-ratio'], isText: true })
    const out = openOutput(
      undefined,
      values.tokenizer.flatMap((name) => inputsOf(sources, name)),
    )
    const skips = new Skips()
    for (const name of values.tokenizer) {
      const tokenizer = await loadTokenizer(name, values.encoding)
      for (const source of sources) {
        const bytes = await wholeText(source, values['max-row']).catch((error) => skips.source(source, error))
        if (bytes === undefined) continue
        const text = utf8Of(bytes, source)
        skips.done(1)
        if (values.format === 'jsonl') await out.write(objects(tokenizer, text, values))
        else await out.write(page(name, tokenizer, source, text, values), { isSafe: true })
      }
    }
    await skips.finish()
    await out.commit()
  },
}

function utf8Of(bytes, source) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw at(
      source.name,
      Object.assign(new Error('it is not valid UTF-8', { cause: error }), { code: 'ERR_TOKENLANE_INVALID_UTF8' }),
    )
  }
}

const tokensOf = (tokenizer, text, encoding, limit) => describe(tokenizer, text, encoding, 0, limit)

function objects(tokenizer, text, { limit }) {
  const tokens = tokensOf(tokenizer, text, tokenizer.encode(text, LOOK), limit)
  return tokens.map((token) => `${JSON.stringify({ ...token, bytes: hex(token.bytes) })}\n`).join('')
}

function page(name, tokenizer, source, text, { limit, color }) {
  const encoding = tokenizer.encode(text, LOOK)
  const tokens = tokensOf(tokenizer, text, encoding, limit)
  const paint = hasColours(color)
  const counts = [
    [encoding.length, 'token'],
    [charactersOf(text), 'character'],
    [Buffer.byteLength(text), 'byte'],
  ]
  const shownNames = [name, ...(source.file ? [source.name] : [])]
    .map((one) => (process.stdout.isTTY ? forTerminal(one) : one))
    .join(', ')
  const heading = `${shownNames}: ${counts.map(([count, noun]) => plural(count, noun)).join(', ')}`
  const rest = encoding.length - tokens.length
  const more = rest > 0 ? `… and ${plural(rest, 'token')} more; '--limit ${encoding.length}' shows all\n` : ''
  return `${heading}\n\n${flow(tokens, paint)}\n\n${rows(tokens, paint)}${more}\n`
}

/** Counts code points without collecting them in an array. */
function charactersOf(text) {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** Draws the text, cut into tokens. A line end is drawn as a symbol and as a line end. */
function flow(tokens, paint) {
  const pieces = tokens.map((token) => {
    const sign = shown(token)
    const piece = !paint
      ? sign
      : token.kind === 'half'
        ? broken(sign)
        : token.kind === 'text'
          ? onGround(sign, token.index)
          : marked(sign)
    return token.text.endsWith('\n') ? `${piece}\n` : piece
  })
  return paint
    ? pieces.join('')
    : pieces.map((piece, index) => (piece.endsWith('\n') || index === pieces.length - 1 ? piece : `${piece}│`)).join('')
}

const shown = ({ kind, text, bytes }) => (kind === 'half' ? `‹${hex(bytes)}›` : visible(text))

function rows(tokens, paint) {
  const cells = tokens.map((token) => {
    const { index, id, start, end, bytes, kind, text } = token
    const note = kind === 'half' ? ` part of ${visible(text)}` : kind === 'text' ? '' : ` ${kind}`
    return [
      String(index),
      String(id),
      kind === 'added' ? '–' : `${start}–${end}`,
      hex(bytes.slice(0, 12)) + (bytes.length > 12 ? ' …' : ''),
      shown(token),
      note,
    ]
  })
  const table = [['', 'id', 'place', 'bytes', 'token', ''], ...cells]
  const width = (column) => Math.max(...table.map((row) => row[column].length))
  const widths = [0, 1, 2, 3].map(width)
  return table
    .map(([index, id, place, bytes, token, note], row) => {
      const line = `${index.padStart(widths[0])}  ${id.padStart(widths[1])}  ${place.padEnd(widths[2])}  ${bytes.padEnd(widths[3])}  `
      const end = paint && note ? dim(note) : note
      return row === 0 && paint ? `${dim(line + token)}\n` : `${line}${token}${end}`.trimEnd() + '\n'
    })
    .join('')
}

const plural = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
