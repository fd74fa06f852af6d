// Files with random chains of normalizers, pre-tokenizers, decoders and post-processors, up to the
// number that a file may have, and calls with hostile texts of 64 KiB.

const BYTES = 64 << 10
/** Maximum number of components of one kind in a file. */
const MAX_COMPONENTS = 512

const LETTERS = ['a', 'b', 'c', ' ', 'é', 'ab', 'A', '1', '.', '\u0301', '中', '']
const PATTERNS = ['a', '.', 'a(?=b)', '(?<=a)b', 'a(?!a)', '\\s+', '\\w', 'a|b', '^', '[^a]', '(a)\\1', '\\p{L}+', 'b*']
const UNITS = [
  ...['a', 'é', 'ab ', 'a b1.', 'e\u0301', '\u1103\u1170\u11b7', '中', 'A'],
  ...[' ', '.', '\n', 'aé中1 ', '▁', '😀'],
]
const BEHAVIORS = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']

const pattern = (draw) => (draw.chance(0.5) ? { String: draw.of(LETTERS) } : { Regex: draw.of(PATTERNS) })
const replacement = (draw) => draw.of([...LETTERS, 'aa', 'ba', 'bab', 'aaaaaaaa'])
const named = (type) => () => ({ type })
const byteLevel = (draw) => ({
  type: 'ByteLevel',
  add_prefix_space: draw.chance(0.3),
  trim_offsets: draw.chance(0.5),
  use_regex: draw.chance(0.3),
})
const metaspace = (draw) => ({
  type: 'Metaspace',
  replacement: draw.of(['▁', 'a', '_']),
  prepend_scheme: draw.of(['always', 'first', 'never']),
  split: draw.chance(0.5),
})

const NORMALIZERS = [
  named('NFC'),
  named('NFD'),
  named('NFKC'),
  named('NFKD'),
  named('Lowercase'),
  named('StripAccents'),
  named('Nmt'),
  (draw) => ({ type: 'Strip', strip_left: draw.chance(0.5), strip_right: draw.chance(0.5) }),
  (draw) => ({ type: 'Prepend', prepend: draw.of(['▁', ' ', 'a', 'aaaaaaaaaaaaaaaa']) }),
  (draw) => ({ type: 'Replace', pattern: pattern(draw), content: replacement(draw) }),
  (draw) => ({ type: 'Replace', pattern: { String: draw.of(['a', 'b']) }, content: draw.of(['a', 'b', 'ab']) }),
  (draw) => ({
    type: 'BertNormalizer',
    clean_text: draw.chance(0.5),
    handle_chinese_chars: draw.chance(0.5),
    strip_accents: draw.of([null, true, false]),
    lowercase: draw.chance(0.5),
  }),
]
const PRETOKENIZERS = [
  byteLevel,
  metaspace,
  named('Whitespace'),
  named('WhitespaceSplit'),
  named('BertPreTokenizer'),
  named('UnicodeScripts'),
  (draw) => ({ type: 'Digits', individual_digits: draw.chance(0.5) }),
  (draw) => ({ type: 'Punctuation', behavior: draw.of(BEHAVIORS) }),
  (draw) => ({ type: 'CharDelimiterSplit', delimiter: draw.of(['a', ' ', '.']) }),
  (draw) => ({ type: 'FixedLength', length: 1 + draw.below(8) }),
  (draw) => ({ type: 'Split', pattern: pattern(draw), behavior: draw.of(BEHAVIORS), invert: draw.chance(0.3) }),
]
const DECODERS = [
  byteLevel,
  metaspace,
  named('Fuse'),
  named('ByteFallback'),
  (draw) => ({ type: 'WordPiece', prefix: draw.of(['##', 'a', '']), cleanup: draw.chance(0.5) }),
  (draw) => ({ type: 'BPEDecoder', suffix: draw.of(['</w>', 'a', '']) }),
  (draw) => ({
    type: 'CTC',
    pad_token: draw.of(['a', 'x', '']),
    word_delimiter_token: draw.of(['b', '']),
    cleanup: draw.chance(0.5),
  }),
  (draw) => ({ type: 'Strip', content: draw.of(['a', ' ', 'b']), start: draw.below(3), stop: draw.below(3) }),
  (draw) => ({ type: 'Replace', pattern: pattern(draw), content: replacement(draw) }),
]
const POSTPROCESSORS = [
  byteLevel,
  () => ({ type: 'RobertaProcessing', sep: ['b', 1], cls: ['a', 0], trim_offsets: true, add_prefix_space: true }),
  () => ({ type: 'BertProcessing', sep: ['b', 1], cls: ['a', 0] }),
]

/** A few kinds of components, repeated up to a random length. */
function repeated(draw, kinds) {
  const most = draw.of([1, 3, 20, 100, MAX_COMPONENTS - 1])
  const used = Array.from({ length: 1 + draw.below(3) }, () => draw.of(kinds)(draw))
  return Array.from({ length: 1 + draw.below(most) }, (_, at) => used[at % used.length])
}

function model(draw) {
  const tokens = ['a', 'b', 'c', ' ', 'aa', 'ab', '▁', '1', '.', 'é', 'ba', '<unk>', '##a', '##b']
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]))
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)
  const scored = (pieces) => pieces.map((piece, at) => [piece, -at])
  return draw.of([
    { type: 'BPE', vocab, merges: ['a a', 'a b', 'b a'], unk_token: '<unk>', fuse_unk: draw.chance(0.5) },
    { type: 'BPE', vocab, merges: ['a a', 'a b'], unk_token: null },
    {
      type: 'BPE',
      vocab: { ...vocab, ...Object.fromEntries(bytes.map((token, at) => [token, 100 + at])) },
      merges: ['a a'],
      unk_token: '<unk>',
      byte_fallback: true,
    },
    { type: 'WordPiece', vocab, unk_token: '<unk>', continuing_subword_prefix: '##', max_input_chars_per_word: 100 },
    { type: 'WordLevel', vocab, unk_token: '<unk>' },
    { type: 'Unigram', vocab: scored(tokens), unk_id: 11, byte_fallback: false },
    { type: 'Unigram', vocab: scored([...tokens, ...bytes]), unk_id: 11, byte_fallback: true },
  ])
}

function fileOf(draw) {
  const some = (make) => (draw.chance(0.6) ? make() : null)
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: some(() => ({ type: 'Sequence', normalizers: repeated(draw, NORMALIZERS) })),
    pre_tokenizer: some(() => ({ type: 'Sequence', pretokenizers: repeated(draw, PRETOKENIZERS) })),
    post_processor: some(() => ({ type: 'Sequence', processors: repeated(draw, POSTPROCESSORS) })),
    decoder: some(() => ({ type: 'Sequence', decoders: repeated(draw, DECODERS) })),
    model: model(draw),
  }
}

const CALLS = {
  encode: (tokenizer, text) => tokenizer.encode(text).ids.length,
  offsets: (tokenizer, text) => tokenizer.encode(text).offsets.length,
  tokens: (tokenizer, text) => tokenizer.encode(text).tokens.length,
  count: (tokenizer, text) => tokenizer.count(text),
  isWithin: (tokenizer, text, most) => tokenizer.isWithin(text, most),
  truncate: (tokenizer, text, most) => tokenizer.truncate(text, most).length,
  encodeInto: (tokenizer, text, most) => tokenizer.encodeInto(text, new Uint32Array(most)).written,
  splitStream: async (tokenizer, text, most, limits) => {
    const parts = Array.from({ length: Math.ceil(text.length / 1000) }, (_, at) =>
      text.slice(1000 * at, 1000 * at + 1000),
    )
    let pieces = 0
    const source = new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(part)
        controller.close()
      },
    })
    for await (const _ of source.pipeThrough(tokenizer.splitStream(limits))) pieces++
    return pieces
  },
  decode: (tokenizer, _, __, ___, ids) => tokenizer.decode(ids).length,
  decodeStream: (tokenizer, _, __, ___, ids) => {
    const stream = tokenizer.decodeStream()
    let length = 0
    for (const id of ids) length += stream.push(id).length
    return length + stream.end().length
  },
}
for (const boundary of ['token', 'sentence', 'line', 'paragraph', 'markdown'])
  CALLS[`split ${boundary}`] = (tokenizer, text, _, limits) => tokenizer.split(text, { ...limits, boundary }).length

/** A file, and its calls with a text and ids: { name, bytes, options, calls }. */
export function chain(draw) {
  const file = fileOf(draw)
  const text = draw.of(UNITS).repeat(BYTES).slice(0, BYTES)
  const maxTokens = draw.of([1, 4, 64, 256, 2048])
  const limits = { maxTokens, overlap: draw.of([0, maxTokens >> 3]) }
  const ids = Uint32Array.from({ length: BYTES }, () => draw.below(8))
  const most = 1 + draw.below(BYTES)
  const calls = Object.entries(CALLS).map(([name, run]) => [
    name,
    (tokenizer) => run(tokenizer, text, most, limits, ids),
  ])
  return {
    name: describe(file, text, limits),
    bytes: Buffer.from(JSON.stringify(file)),
    options: undefined,
    calls: Object.fromEntries(calls),
  }
}

/** The components of a file, with their number. */
function describe({ normalizer, pre_tokenizer, post_processor, decoder, model }, text, limits) {
  const few = (list) => list && `${list.length} of ${[...new Set(list.map((one) => JSON.stringify(one)))].join(' ')}`
  const parts = [normalizer?.normalizers, pre_tokenizer?.pretokenizers, post_processor?.processors, decoder?.decoders]
  return `${JSON.stringify([text.slice(0, 10), limits, model.type])} ${parts.map(few).join('; ')}`
}
