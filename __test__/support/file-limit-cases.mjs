// Files that could exhaust memory or take quadratic time. `code` is the expected error, `undefined`
// means a result; `codes` lists several allowed outcomes.

import { addedToken } from './added-token.mjs'
import { FOLDER_CASES } from './folder-limit-cases.mjs'
import { charsmapOf, sentencePieceModel, unit, valueAt } from './sentencepiece-model.mjs'
import { bytesOf, tiny } from './tiny.mjs'

const OUTPUT = 'ERR_TOKENLANE_OUTPUT_LIMIT'
const PATTERN = 'ERR_TOKENLANE_PATTERN_LIMIT'
const LARGE = 'ERR_TOKENLANE_TOO_LARGE'

const KIB = 1 << 10
const a64k = 'a'.repeat(64 * KIB)
const times = (count, value) => Array.from({ length: count }, () => value)
const replace = (sought, content) => ({ type: 'Replace', pattern: { String: sought }, content })
const regex = (sought, content) => ({ type: 'Replace', pattern: { Regex: sought }, content })
const normalizers = (list) => ({ type: 'Sequence', normalizers: list })
const pretokenizers = (list) => ({ type: 'Sequence', pretokenizers: list })
const decoders = (list) => ({ type: 'Sequence', decoders: list })
const split = (Regex) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false })
const strip = { type: 'Strip', strip_left: true, strip_right: true }
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false }
const nested = (depth, leaf, make) => (depth === 0 ? leaf : make([nested(depth - 1, leaf, make)]))

/** A tokenizer of letters whose tokens are their text; `change` gets the file. */
const letters = (change) => {
  const file = tiny()
  file.pre_tokenizer = file.normalizer = file.decoder = file.post_processor = null
  file.added_tokens = []
  file.model.vocab = { a: 0, b: 1, x: 2, ' ': 3, y: 4, c: 5, aa: 6, '<unk>': 7 }
  file.model.merges = ['a a']
  file.model.unk_token = '<unk>'
  change(file)
  return file
}

const added = (content, flags = {}) => addedToken(0, content, { special: false, ...flags })

const load = (change) => (Tokenizer) => Tokenizer.fromBufferSync(bytesOf(letters(change)))
/** The number of ids of a text. */
const encodes = (change, text, options) => (Tokenizer) => load(change)(Tokenizer).encode(text, options).ids.length
/** The same with all columns and overflowing parts. */
const encodesAll = (change, text, options) => (Tokenizer) => {
  const { ids, tokens, offsets, typeIds, wordIds, overflowing } = load(change)(Tokenizer).encode(text, options)
  return [tokens, offsets, typeIds, wordIds, overflowing].every((column) => column !== undefined) && ids.length
}
const decodes = (change, ids) => (Tokenizer) => load(change)(Tokenizer).decode(ids).length
const streams = (change, ids) => (Tokenizer) => {
  const stream = load(change)(Tokenizer).decodeStream()
  let length = 0
  for (const id of ids) length += stream.push(id).length
  return length + stream.end().length
}
const loads = (change) => (Tokenizer) => load(change)(Tokenizer).vocabSize()

const normalized = (normalizer, text, code) => ({ run: encodes((file) => (file.normalizer = normalizer), text), code })
const pretokenized = (pre_tokenizer, text, code) => ({
  run: encodes((file) => (file.pre_tokenizer = pre_tokenizer), text),
  code,
})
/** All pieces of a text, with each boundary. */
const splits = (change, text, maxTokens) => ({
  run: (Tokenizer) => {
    const tokenizer = load(change)(Tokenizer)
    return ['token', 'sentence'].map((boundary) => tokenizer.split(text, { maxTokens, boundary }).length)
  },
  codes: [undefined, OUTPUT, PATTERN],
})
const splitNormalized = (normalizer, text, maxTokens) =>
  splits((file) => (file.normalizer = normalizers(normalizer)), text, maxTokens)
const decoded = (decoder, ids, code) => ({ run: decodes((file) => (file.decoder = decoder), ids), code })
const streamed = (decoder, ids, code) => ({ run: streams((file) => (file.decoder = decoder), ids), code })
const withPattern = (pattern, text, code = PATTERN) => ({
  run: encodes((file) => (file.pre_tokenizer = split(pattern)), text),
  code,
})

const template = (single, special_tokens) => ({ type: 'TemplateProcessing', single, pair: single, special_tokens })
const A = { Sequence: { id: 'A', type_id: 0 } }
const S = { SpecialToken: { id: 's', type_id: 0 } }
const specialToken = (count, token = 's') => ({ s: { id: 's', ids: times(count, 0), tokens: times(count, token) } })
const posted = (post_processor, text, code) => ({
  run: encodesAll((file) => (file.post_processor = post_processor), text),
  code,
})

/** A charsmap whose only key is a letter. */
const charsmapOfLetter = (letter, replacement) => {
  const code = letter.charCodeAt(0)
  return charsmapOf(new Map([unit(0, 0, 256), unit(code, 256 ^ code, 512, true), valueAt(512, 0)]), `${replacement}\0`)
}
/** A charsmap without keys whose trie has a cycle: any number of letters `a` leads through it. */
const cyclicCharsmap = () => charsmapOf(new Map([unit(0, 0, 256), unit(0x61, 256 ^ 0x61, 256)]), 'x\0')
/** The number of ids of a text with a SentencePiece model of the pieces `a` and `b`. */
const encodesBySentencePiece = (settings, text) => (Tokenizer) => {
  const pieces = [
    ['a', -1],
    ['b', -1],
  ]
  return Tokenizer.fromBufferSync(sentencePieceModel(pieces, settings)).encode(text).ids.length
}

/** A Unigram model of these pieces. */
const unigram = (pieces) => ({ type: 'Unigram', unk_id: 0, vocab: ['<unk>', ...pieces].map((text) => [text, -1]) })
/** `count` texts that start with one another. */
const nestedTexts = (count) => Array.from({ length: count }, (_, at) => 'a'.repeat(at + 1))

export const CASES = {
  // Output.
  '28 Replace that double, as normalizer': normalized(normalizers(times(28, replace('a', 'aa'))), 'a', OUTPUT),
  '40 Replace that double, as normalizer': normalized(normalizers(times(40, replace('a', 'aa'))), 'a', OUTPUT),
  '28 Replace that double, as decoder': decoded(decoders(times(28, replace('a', 'aa'))), [0], OUTPUT),
  '40 Replace that double, as decoder': decoded(decoders(times(40, replace('a', 'aa'))), [0], OUTPUT),
  '28 Replace by patterns, as decoder': {
    run: decodes((file) => (file.decoder = decoders(times(28, regex('a', 'aa')))), [0]),
    codes: [OUTPUT, PATTERN],
  },
  '28 Replace that double, in a stream': streamed(
    decoders([{ type: 'Fuse' }, ...times(28, replace('a', 'aa'))]),
    times(20, 0),
    OUTPUT,
  ),
  'Replace by a mebibyte': normalized(replace('a', 'b'.repeat(1 << 20)), a64k, OUTPUT),
  'Replace by a mebibyte, with offsets': {
    run: encodesAll((file) => (file.normalizer = regex('a', 'b'.repeat(1 << 20))), a64k),
    code: OUTPUT,
  },
  'Replace by a mebibyte, as decoder': decoded(replace('a', 'b'.repeat(1 << 20)), times(64 * KIB, 0), OUTPUT),
  'ten times Replace of nothing': normalized(normalizers(times(10, replace('', 'aa'))), a64k, OUTPUT),
  'ten times Replace of nothing, as decoder': {
    run: decodes((file) => (file.decoder = decoders(times(10, replace('', 'aa')))), times(64 * KIB, 0)),
    codes: [OUTPUT, PATTERN],
  },
  'Prepend of a mebibyte': normalized({ type: 'Prepend', prepend: 'a'.repeat(1 << 20) }, 'a', OUTPUT),
  'Prepend before each of many segments': {
    run: encodes(
      (file) => {
        file.normalizer = { type: 'Prepend', prepend: 'a'.repeat(60_000) }
        file.added_tokens = [added('b')]
      },
      'ab'.repeat(32 * KIB),
    ),
    code: OUTPUT,
  },
  'Prepend before each of many words': {
    run: (Tokenizer) => {
      const tokenizer = load((file) => (file.normalizer = { type: 'Prepend', prepend: 'a'.repeat(60_000) }))(Tokenizer)
      return tokenizer.encode(times(30_000, 'a'), { pretokenized: true }).ids.length
    },
    code: OUTPUT,
  },
  '30 ByteLevel as pre-tokenizer': pretokenized(pretokenizers(times(30, byteLevel)), 'é'.repeat(1000), OUTPUT),
  '30 ByteLevel as normalizer': normalized(normalizers(times(30, { type: 'ByteLevel' })), 'é'.repeat(1000), OUTPUT),
  'Metaspace before every character, thirty times': {
    run: encodes((file) => {
      const metaspace = { type: 'Metaspace', replacement: 'b', prepend_scheme: 'always', split: false }
      file.pre_tokenizer = pretokenizers(times(30, [split('.'), metaspace]).flat())
    }, 'a'.repeat(1000)),
    codes: [OUTPUT, PATTERN],
  },
  'added tokens that normalizing makes longer': {
    run: loads((file) => {
      file.normalizer = replace('a', 'b'.repeat(60_000))
      file.added_tokens = Array.from({ length: 5000 }, (_, at) => added(`a${at}`, { normalized: true }))
    }),
    code: LARGE,
  },
  'many added tokens that normalizing makes longer': {
    run: loads((file) => {
      file.normalizer = replace('a', 'b'.repeat(1000))
      file.added_tokens = Array.from({ length: 100_000 }, (_, at) => added(`a${at}`, { normalized: true }))
    }),
    code: LARGE,
  },
  'decoders that put something between all characters': decoded(
    decoders(times(40, { type: 'BPEDecoder', suffix: '' })),
    [0, 0],
    OUTPUT,
  ),
  'CTC decoders whose delimiter is empty': decoded(
    decoders(times(40, { type: 'CTC', pad_token: 'x', word_delimiter_token: '', cleanup: true })),
    [0, 1],
    OUTPUT,
  ),
  'an unknown token of a mebibyte as strings': {
    run: encodesAll(
      (file) => {
        const unk = 'u'.repeat(1 << 20)
        file.model.vocab[unk] = 99
        file.model.unk_token = unk
      },
      'z'.repeat(64 * KIB),
    ),
    code: OUTPUT,
  },
  'a token of a mebibyte, decoded again and again': {
    run: decodes((file) => (file.model.vocab['t'.repeat(1 << 20)] = 99), times(64 * KIB, 99)),
    code: OUTPUT,
  },
  'a token of a mebibyte of a byte-level decoder, decoded again and again': {
    run: decodes(
      (file) => {
        file.decoder = byteLevel
        file.model.vocab['t'.repeat(1 << 20)] = 99
      },
      times(64 * KIB, 99),
    ),
    code: OUTPUT,
  },
  'overlapping added tokens as strings': {
    run: encodesAll((file) => (file.added_tokens = [added(' ', { lstrip: true, rstrip: true })]), ' '.repeat(64 * KIB)),
    codes: [undefined, OUTPUT],
  },
  'a suffix of a mebibyte with byte fallback': {
    run: encodes(
      (file) => {
        for (let byte = 0; byte < 256; byte++)
          file.model.vocab[`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`] = 100 + byte
        Object.assign(file.model, { byte_fallback: true, continuing_subword_prefix: 'p'.repeat(1 << 20) })
        file.model.merges = []
      },
      'z'.repeat(64 * KIB),
    ),
    code: LARGE,
  },
  'truncation into windows that hardly move': {
    run: encodesAll(
      (file) => {
        file.truncation = { direction: 'Right', max_length: 32_000, strategy: 'LongestFirst', stride: 31_999 }
      },
      'ab'.repeat(32 * KIB),
    ),
    code: OUTPUT,
  },
  'truncation of a pair into all combinations': {
    run: encodesAll(
      (file) => (file.truncation = { direction: 'Right', max_length: 64, strategy: 'LongestFirst', stride: 0 }),
      'ab'.repeat(32 * KIB),
      { pair: 'ab'.repeat(32 * KIB) },
    ),
    code: OUTPUT,
  },
  'padding to 2 to the 40': {
    run: encodesAll((file) => {
      file.padding = {
        strategy: { Fixed: 2 ** 40 },
        direction: 'Right',
        pad_to_multiple_of: null,
        pad_id: 0,
        pad_type_id: 0,
        pad_token: 'p',
      }
    }, 'a'),
    code: 'ERR_TOKENLANE_PADDING_TOO_LONG',
  },
  'padding by a token of a mebibyte': {
    run: encodesAll((file) => {
      const pad_token = 'p'.repeat(1 << 20)
      file.padding = {
        strategy: { Fixed: 100_000 },
        direction: 'Right',
        pad_to_multiple_of: null,
        pad_id: 0,
        pad_type_id: 0,
        pad_token,
      }
    }, 'a'),
    code: 'ERR_TOKENLANE_PADDING_TOO_LONG',
  },
  'one long row that pads all others': {
    run: (Tokenizer) => {
      const rows = [...times(40_000, 'b'), 'ab'.repeat(20_000)]
      return load(() => {})(Tokenizer).encodeBatchSync(rows, { padding: {} }).ids.length
    },
    code: 'ERR_TOKENLANE_BATCH_TOO_LARGE',
  },

  // Patterns.
  '(?=a*b)a': withPattern('(?=a*b)a', a64k),
  'a look-ahead with a reference': withPattern(String.raw`(?=(a+))\1b|(?=.*b)a`, a64k),
  'repetitions within repetitions': withPattern('(?:x+x+)+y|a+?b|(?>a+)c', 'x'.repeat(64 * KIB)),
  'repetitions within repetitions, on the other letter': withPattern('(?:x+x+)+y|a+?b|(?>a+)c', a64k),
  'an automaton that reads to the end for each match': withPattern('a.*b|a', a64k),
  'an automaton of many states': withPattern('(?:a|b)*a(?:a|b){900}c|a|b', 'ab'.repeat(32 * KIB)),
  'a look-behind of any length': withPattern('(?<=b.*)a|a(?!a)', a64k),
  'an atomic group': withPattern('(?>a+)b', a64k),
  'a reference': withPattern(String.raw`(a*)\1b`, a64k),
  'counted repetitions': withPattern('(?:a{1,100}){1,100}+b', a64k),
  'a pattern of the normalizer': normalized(regex('(?=a*b)a', 'x'), a64k, PATTERN),
  'a pattern of the decoder': decoded(
    decoders([{ type: 'Fuse' }, regex('(?=a*b)a', 'x')]),
    times(64 * KIB, 0),
    PATTERN,
  ),
  'patterns that together take too long': pretokenized(
    pretokenizers(times(400, split('(?:b|a|x)(?=a)'))),
    a64k,
    PATTERN,
  ),
  'a pattern in each of many segments': {
    run: encodes(
      (file) => {
        file.pre_tokenizer = split('(?=a*b)a')
        file.added_tokens = [added('x')]
      },
      `${'a'.repeat(1000)}x`.repeat(400),
    ),
    code: PATTERN,
  },
  'a long token of a rank file': {
    run: (Tokenizer) => {
      const ranks = `YQ== 0\n${Buffer.alloc(1 << 20, 'a').toString('base64')} 1\n`
      return Tokenizer.fromBufferSync(Buffer.from(ranks), { pattern: 'a+', specialTokens: {} }).count(a64k)
    },
    code: LARGE,
  },
  'a rank file’s pattern': {
    run: (Tokenizer) => {
      const ranks = 'YQ== 0\nYg== 1\n'
      return Tokenizer.fromBufferSync(Buffer.from(ranks), { pattern: '(?=a*b)a|b', specialTokens: {} }).count(a64k)
    },
    code: PATTERN,
  },

  // Patterns at load time.
  'a class repeated to 80 KB': {
    run: loads((file) => (file.pre_tokenizer = split(String.raw`[\p{L}&&[^a-z]]`.repeat(5400)))),
    code: 'ERR_TOKENLANE_PATTERN',
  },
  'a class within classes': {
    run: loads((file) => (file.pre_tokenizer = split(`${'['.repeat(150)}a${String.raw`\p{L}]`.repeat(150)}`))),
    codes: [undefined, 'ERR_TOKENLANE_PATTERN'],
  },
  'a class of many letters': {
    run: loads((file) => (file.pre_tokenizer = split(`[${'中a文b'.repeat(20_000)}]+`))),
    codes: [undefined],
  },
  'a class that ignores case': {
    run: loads((file) => (file.pre_tokenizer = split(`(?i)${'[\\p{L}]'.repeat(5000)}`))),
    code: 'ERR_TOKENLANE_PATTERN',
  },
  'a pattern of a mebibyte': { run: loads((file) => (file.pre_tokenizer = split('a'.repeat(1 << 20)))), code: LARGE },
  'large repetitions of a large class': {
    run: loads((file) => (file.pre_tokenizer = split(String.raw`(?:\p{L}{1000}){1000}`))),
    codes: [undefined, 'ERR_TOKENLANE_PATTERN'],
  },
  'many alternatives': {
    run: encodes(
      (file) => (file.pre_tokenizer = split(Array.from({ length: 20_000 }, (_, at) => `b${at}`).join('|'))),
      a64k,
    ),
    codes: [undefined],
  },

  // Added tokens.
  'a token of a space with lstrip and rstrip': {
    run: encodes((file) => (file.added_tokens = [added(' ', { lstrip: true, rstrip: true })]), ' '.repeat(64 * KIB)),
    code: undefined,
  },
  'a token of a space with lstrip and rstrip, with offsets beside other characters': {
    run: (Tokenizer) => {
      const tokenizer = load((file) => (file.added_tokens = [added(' ', { lstrip: true, rstrip: true })]))(Tokenizer)
      return tokenizer.encode(`é${' '.repeat(256 * KIB)}`).offsets.length
    },
    code: undefined,
  },
  'a token that a much longer one starts with': {
    run: encodes(
      (file) => (file.added_tokens = [added('a'), added(`${'a'.repeat(64 * KIB)}b`)]),
      'a'.repeat(256 * KIB),
    ),
    code: undefined,
  },
  'many long added tokens, and a short one that the text does not have': {
    run: encodes((file) => (file.added_tokens = [added('x'), added('b'.repeat(129))]), 'b'.repeat(129 << 15)),
    code: undefined,
  },
  '200,000 added tokens that begin with each other': {
    run: encodes(
      (file) => (file.added_tokens = Array.from({ length: 200_000 }, (_, i) => added(`a${i}`))),
      'ba199999a7b',
    ),
  },
  'tokens within tokens': {
    run: encodes(
      (file) => (file.added_tokens = Array.from({ length: 700 }, (_, at) => added('a'.repeat(at + 1)))),
      'a'.repeat(256 * KIB),
    ),
    code: undefined,
  },

  'an added token of five million bytes': {
    run: loads((file) => (file.added_tokens = [added('a'.repeat(5e6))])),
    code: LARGE,
  },
  'added tokens of four million bytes together': {
    run: loads((file) => {
      file.added_tokens = Array.from({ length: 40_000 }, (_, at) => added(`${at}`.padStart(100, `${at} `)))
    }),
    code: undefined,
  },

  // Pieces.
  '3,000 Unigram pieces that start with one another': {
    run: encodes((file) => (file.model = unigram(nestedTexts(3000))), 'a'.repeat(512 * KIB)),
    code: LARGE,
  },
  '512 Unigram pieces that start with one another': {
    run: encodes((file) => (file.model = unigram([...nestedTexts(512), 'b'.repeat(9000)])), 'a'.repeat(256 * KIB)),
    code: undefined,
  },

  ...FOLDER_CASES,

  // Numbers of components.
  '20,000 Split': {
    run: loads((file) => (file.pre_tokenizer = pretokenizers(times(20_000, split('b'))))),
    code: LARGE,
  },
  '20,000 Strip': { run: loads((file) => (file.normalizer = normalizers(times(20_000, strip)))), code: LARGE },
  '20,000 decoders': { run: loads((file) => (file.decoder = decoders(times(20_000, { type: 'Fuse' })))), code: LARGE },
  '20,000 post-processors': {
    run: loads(
      (file) =>
        (file.post_processor = {
          type: 'Sequence',
          processors: times(20_000, { type: 'ByteLevel', trim_offsets: true }),
        }),
    ),
    code: LARGE,
  },
  'empty sequences': {
    run: loads((file) => (file.normalizer = normalizers(times(20_000, normalizers([]))))),
    code: LARGE,
  },
  'sequences within sequences': {
    run: loads((file) => (file.normalizer = nested(50, strip, normalizers))),
    code: undefined,
  },
  '200 Split of a text': pretokenized(pretokenizers(times(200, split('b'))), a64k.slice(0, 16 * KIB), undefined),
  '500 Split of a text': pretokenized(pretokenizers(times(500, split('b'))), a64k.slice(0, 16 * KIB), PATTERN),
  '500 Strip of a text': normalized(normalizers(times(500, strip)), ` ${a64k} `, undefined),
  '500 Punctuation of a text': pretokenized(
    pretokenizers(times(500, { type: 'Punctuation', behavior: 'Isolated' })),
    a64k.slice(0, 16 * KIB),
    undefined,
  ),
  'a special token of 20,000 ids used 2,000 times': posted(
    template([A, ...times(2000, S)], specialToken(20_000)),
    'a',
    LARGE,
  ),
  'a special token of a mebibyte used 4,000 times': posted(
    template([A, ...times(4000, S)], specialToken(1, 's'.repeat(1 << 20))),
    'a',
    LARGE,
  ),
  'a special token of 20,000 ids without texts used 2,000 times': posted(
    template([A, ...times(2000, S)], specialToken(20_000, '')),
    'a',
    LARGE,
  ),
  'a template of 5,000 entries without ids': posted(template([A, ...times(5000, S)], specialToken(0)), 'a', LARGE),
  'a text in 17 places': posted(template(times(17, A), {}), 'a', LARGE),
  'a template of 100,000 entries': posted(template([A, ...times(100_000, S)], specialToken(1)), 'a', LARGE),
  'a text in 10,000 places': posted(template(times(10_000, A), {}), a64k, LARGE),
  'a text in 16 places': posted(template(times(16, A), {}), 'ab'.repeat(4 * KIB), undefined),

  // Chains of components.
  '20 Replace that make texts longer, split': splitNormalized(times(20, replace('a', 'ab')), a64k, 64),
  '20 Replace by patterns, split': splitNormalized(times(20, regex('a', 'bab')), a64k, 64),
  '300 NFD, split': splitNormalized(times(300, { type: 'NFD' }), 'é'.repeat(32 * KIB), 4),
  '20 Replace with look-ahead, split': splitNormalized(times(20, regex('a(?=a)', 'ab')), a64k, 64),
  '500 Lowercase, split': splitNormalized(times(500, { type: 'Lowercase' }), 'é'.repeat(32 * KIB), 4),
  '500 Replace that change nothing, split': splitNormalized(times(500, replace('a', 'a')), a64k, 4),
  '100 Split, split': splits(
    (file) => (file.pre_tokenizer = pretokenizers(times(100, split('b')))),
    'ab '.repeat(21 * KIB),
    4,
  ),
  '30 Replace that double, as decoder of many ids': decoded(
    decoders(times(30, replace('a', 'aa'))),
    times(64 * KIB, 0),
    OUTPUT,
  ),
  '30 Replace that double behind Fuse, in a stream': streamed(
    decoders([{ type: 'Fuse' }, ...times(30, replace('a', 'aa'))]),
    times(64 * KIB, 0),
    OUTPUT,
  ),
  '500 Replace that change nothing, as decoder': decoded(
    decoders(times(500, replace('a', 'a'))),
    times(64 * KIB, 0),
    OUTPUT,
  ),
  '500 WordPiece, as decoder': decoded(
    decoders(times(500, { type: 'WordPiece', prefix: '##', cleanup: true })),
    times(64 * KIB, 0),
    OUTPUT,
  ),
  '500 Replace of what 30 others have made, as normalizer': normalized(
    normalizers([...times(30, replace('a', 'ab')), ...times(480, replace('b', 'b'))]),
    a64k,
    OUTPUT,
  ),
  '250 NFD and NFC in turn': normalized(
    normalizers(times(250, [{ type: 'NFD' }, { type: 'NFC' }]).flat()),
    'é'.repeat(32 * KIB),
    OUTPUT,
  ),

  // Charsmaps.
  'a charsmap whose trie has a cycle': {
    run: encodesBySentencePiece({ charsmap: cyclicCharsmap() }, 'a'.repeat(256 * KIB)),
    code: OUTPUT,
  },
  'a charsmap that replaces a letter by a mebibyte of spaces, which are removed': {
    run: encodesBySentencePiece({ charsmap: charsmapOfLetter('a', ' '.repeat(1 << 20)), removesSpaces: true }, a64k),
    code: OUTPUT,
  },

  // Streams.
  'a run of byte tokens in a stream': {
    run: streams(
      (file) => {
        file.decoder = { type: 'ByteFallback' }
        file.model.vocab['<0x41>'] = 99
      },
      times(128 * KIB, 99),
    ),
    code: undefined,
  },
  'Strip of more characters than there are': decoded(
    { type: 'Strip', content: 'a', start: 2 ** 50, stop: 2 ** 50 },
    times(64 * KIB, 0),
    undefined,
  ),
  'FixedLength of more characters than there are': pretokenized(
    { type: 'FixedLength', length: 2 ** 50 },
    a64k,
    undefined,
  ),
}
