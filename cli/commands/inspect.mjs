import { UsageError, at } from '../failure.mjs'
import { inputsOf, sourcesOf } from '../input/files.mjs'
import { asUtf8Failure } from '../../lib/files/json-rows.mjs'
import { MAX_ROW_OPTION, wholeText } from '../input/rows.mjs'
import { plural } from '../numbers.mjs'
import { openOutput } from '../output/file.mjs'
import { COLOUR_OPTION, broken, dim, hasColours, marked, nameForOutput, onGround, visible } from '../terminal.mjs'
import { LOOK, charactersOf, describe, hex } from '../../lib/internal/tokens.mjs'
import { TOKENIZERS_OPTIONS, loadTokenizer } from '../tokenizers.mjs'
import { Skips } from '../skips.mjs'
import { ENCODE_OPTIONS, FORMAT, JSON_OPTION, RATIO_OPTION, countOptions, withJson } from './options.mjs'

export const inspect = {
  summary: 'Show the tokens of a text, in the terminal or in the browser.',
  usage: ['[options] [FILE | FOLDER | PATTERN | -]…', '--web [--port N] [TOKENIZER…]'],
  about: [
    'In the terminal: the text with tokens in alternating colours, then a line for each token with its id, its position (UTF-16 units), its bytes and its text. Special tokens are treated as by count and encode; --special-tokens parse shows them. White space is made visible (·→⏎); a token with only a part of a character is shown as bytes.',
    'With --web: serves a page, reachable from this machine only, that shows the tokens of a text while you type, for two tokenizers side by side. Ctrl-C stops it.',
  ],
  brief: {
    tokenizer: 'a file, encoding, model, or OWNER/NAME; repeatable',
    text: 'inspect this text instead of files',
    limit: 'maximum number of tokens to show (default: 200)',
    json: 'write an object for each token',
    color: ['WHEN', '{choices}'],
    web: 'serve a page that shows tokens as you type',
    port: 'port of the page (default: any free port)',
  },
  options: {
    ...TOKENIZERS_OPTIONS,
    text: { short: 'x', value: 'TEXT', help: 'inspect this text instead of files' },
    limit: { value: 'N', number: [1, Infinity], default: 200, help: 'maximum number of tokens to show for a text' },
    format: { ...FORMAT, choices: ['text', 'jsonl'], help: 'jsonl writes an object for each token' },
    json: JSON_OPTION,
    color: COLOUR_OPTION,
    'max-row': {
      ...MAX_ROW_OPTION['max-row'],
      default: 16 << 20,
      help: 'maximum size of a text in bytes, such as 64M',
    },
    ...RATIO_OPTION,
    ...ENCODE_OPTIONS,
    web: { help: 'serve the page, which the package @tokenlane/page has' },
    port: { value: 'N', number: [0, 65535], help: 'port of the page (default: any free port)' },
  },
  examples: [
    ["tokenlane inspect -x 'Naïve café 🚀'", 'show the tokens of a text'],
    ["tokenlane inspect -t gpt-4o -t tokenizer.json -x 'def f(x): return x'", 'compare two tokenizers'],
    ['tokenlane inspect -f jsonl --limit 10 prompt.txt', 'write the first tokens of a file as JSON Lines'],
    ['tokenlane inspect --web tokenizer.json', 'serve a page that compares your tokenizer with others'],
  ],

  async run({ values: given, positionals }) {
    const values = withJson(given)
    if (values.web) {
      const { serve } = await import('./page.mjs')
      return serve(
        [...positionals, ...(values.tokenizer === inspect.options.tokenizer.default ? [] : values.tokenizer)],
        values,
      )
    }
    if (values.port !== undefined) throw new UsageError("'--port' needs '--web'")
    const sources = await sourcesOf(positionals, { text: values.text, maxRatio: values.maxRatio, isText: true })
    const out = openOutput(
      undefined,
      values.tokenizer.flatMap((name) => inputsOf(sources, name)),
    )
    const skips = new Skips()
    for (const name of values.tokenizer) {
      const tokenizer = await loadTokenizer(name, values.encoding)
      for (const source of sources) {
        const bytes = await wholeText(source, values.maxRow).catch((error) => skips.source(source, error))
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
    throw at(source.name, asUtf8Failure(error))
  }
}

const tokensOf = (tokenizer, text, encoding, limit) => describe(tokenizer, text, encoding, 0, limit)

const encodingOf = (tokenizer, text, values) => tokenizer.encode(text, { ...LOOK, ...countOptions(tokenizer, values) })

function objects(tokenizer, text, values) {
  const tokens = tokensOf(tokenizer, text, encodingOf(tokenizer, text, values), values.limit)
  return tokens.map((token) => `${JSON.stringify({ ...token, bytes: hex(token.bytes) })}\n`).join('')
}

function page(name, tokenizer, source, text, { limit, color, ...values }) {
  const encoding = encodingOf(tokenizer, text, values)
  const tokens = tokensOf(tokenizer, text, encoding, limit)
  const paint = hasColours(color)
  const counts = [
    [encoding.length, 'token'],
    [charactersOf(text), 'character'],
    [Buffer.byteLength(text), 'byte'],
  ]
  const shownNames = [name, ...(source.file ? [source.name] : [])].map(nameForOutput).join(', ')
  const heading = `${shownNames}: ${counts.map(([count, noun]) => plural(count, noun)).join(', ')}`
  const rest = encoding.length - tokens.length
  const more = rest > 0 ? `… and ${plural(rest, 'token')} more; '--limit ${encoding.length}' shows all\n` : ''
  return `${heading}\n\n${flow(tokens, paint)}\n\n${rows(tokens, paint)}${more}\n`
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
