// Damaged files: bytes that are removed, flipped or repeated, and JSON with invalid values.

const NUMBERS = [
  '4294967295',
  '4294967296',
  '4294967294',
  '-1',
  '1e308',
  '1e999',
  '0.5',
  '1000000000',
  '9'.repeat(400),
  '-0',
  'null',
  '""',
  '[]',
  '{}',
  'true',
]

/** Regular expressions that are slow to match, or difficult to compile. */
const PATTERNS = [
  '(a+)+$',
  '(a|a)*b',
  '(?:a?){100}a{100}',
  '(x+x+)+y',
  '(.*)*\\1',
  '\\p{L}{1,1000}{1,1000}',
  'a{1,4294967295}',
  '('.repeat(5000) + ')'.repeat(5000),
  '['.repeat(200),
  '(?=(a*)*)b',
  '(?<!a+)b',
  '\\',
  '(?i)' + 'ß'.repeat(500),
  '(?:'.repeat(300) + 'a' + ')*'.repeat(300),
]

/** Applies a random mutation to a file. */
export function mutated(draw, { name, kind, bytes, options }) {
  const mutation = draw.of(kind === 'json' ? [...BYTES, ...TREES, ...TREES, ...TREES] : BYTES)
  let made = mutation(draw, bytes)
  if (draw.chance(0.2)) made = draw.of(BYTES)(draw, made)
  const isPattern = options !== undefined && draw.chance(0.2)
  const changed = isPattern ? { ...options, pattern: draw.of(PATTERNS) } : options
  return { name: `${name} ${mutation.name}`, bytes: made, options: changed }
}

const BYTES = [
  function cut(draw, bytes) {
    return bytes.subarray(0, draw.below(bytes.length + 1))
  },
  function flips(draw, bytes) {
    const made = Buffer.from(bytes)
    for (let left = 1 + draw.below(8); left > 0 && made.length > 0; left--)
      made[draw.below(made.length)] ^= 1 << draw.below(8)
    return made
  },
  function removed(draw, bytes) {
    const start = draw.below(bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 1 + draw.below(40))])
  },
  function doubled(draw, bytes) {
    const start = draw.below(bytes.length + 1)
    const end = start + draw.below(200)
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(start)])
  },
  function bytesPut(draw, bytes) {
    const start = draw.below(bytes.length + 1)
    const put = draw.of(['\0', '\ufeff', '\xff\xfe', '"', '\\', '{', '[', ',', '\n', '\\ud800', ...NUMBERS])
    return Buffer.concat([bytes.subarray(0, start), Buffer.from(put, 'latin1'), bytes.subarray(start)])
  },
  function numbers(draw, bytes) {
    const text = bytes.toString('latin1')
    const places = [...text.matchAll(/\d+/g)]
    if (places.length === 0) return bytes
    const { index, 0: digits } = draw.of(places)
    return Buffer.from(text.slice(0, index) + draw.of(NUMBERS) + text.slice(index + digits.length), 'latin1')
  },
]

const TREES = [
  tree(function value(draw, place) {
    place.set(
      draw.of([
        null,
        0,
        -1,
        1.5,
        2 ** 32 - 1,
        2 ** 32,
        2 ** 53,
        1e308,
        true,
        '',
        'x'.repeat(70_000),
        [],
        {},
        [[]],
        '\u0000',
        'ÿ',
        '▁',
      ]),
    )
  }),
  tree(function valueRemoved(draw, place) {
    place.remove()
  }),
  tree(function swapped(draw, place, all) {
    place.set(structuredClone(draw.of(all).value))
  }),
  tree(function nested(draw, place) {
    let inner = place.value
    for (let depth = draw.below(60); depth > 0; depth--) {
      const list = draw.of(['normalizers', 'pretokenizers', 'decoders', 'processors'])
      inner = draw.chance(0.5) ? { type: 'Sequence', [list]: [inner] } : [inner]
    }
    place.set(inner)
  }),
  tree(function type(draw, place, all) {
    const types =
      'BPE WordPiece Unigram ByteLevel Metaspace Sequence Split Digits NFKC Replace Precompiled ' +
      'BertNormalizer TemplateProcessing RobertaProcessing CTC Strip ByteFallback Fuse FixedLength UnicodeScripts Punctuation Prepend'
    const named = all.filter(({ key }) => key === 'type')
    if (named.length > 0) draw.of(named).set(draw.of(types.split(' ')))
  }),
  tree(function pattern(draw, place, all, file) {
    file.pre_tokenizer = {
      type: 'Split',
      pattern: { Regex: draw.of(PATTERNS) },
      behavior: 'Isolated',
      invert: draw.chance(0.5),
    }
  }),
  tree(function replaced(draw, place, all, file) {
    file.normalizer = {
      type: 'Replace',
      pattern: draw.of([{ Regex: draw.of(PATTERNS) }, { String: '' }, { String: 'a' }]),
      content: 'a'.repeat(draw.of([0, 1, 2000])),
    }
  }),
  tree(function charsmap(draw, place, all, file) {
    const bytes = Buffer.from(Array.from({ length: draw.below(400) }, () => draw.below(256)))
    if (bytes.length >= 4 && draw.chance(0.7))
      bytes.writeUInt32LE(draw.of([0, 4, bytes.length - 4, 2 ** 32 - 1, bytes.length & ~3]), 0)
    file.normalizer = { type: 'Precompiled', precompiled_charsmap: bytes.toString('base64') }
  }),
  tree(function template(draw, place, all, file) {
    const sequence = (id) => ({ Sequence: { id, type_id: 0 } })
    const special = (id) => ({ SpecialToken: { id, type_id: 0 } })
    file.post_processor = {
      type: 'TemplateProcessing',
      single: Array.from({ length: draw.below(2000) }, () => draw.of([sequence('A'), special('<x>'), sequence('B')])),
      pair: [sequence('A'), sequence('B'), sequence('A')],
      special_tokens: {
        '<x>': {
          id: draw.of(['<x>', '<y>']),
          ids: draw.of([[], [1], [1, 2], [2 ** 32 - 1]]),
          tokens: draw.of([[], ['<x>'], ['a', 'b']]),
        },
      },
    }
  }),
  tree(function limits(draw, place, all, file) {
    const number = () => draw.of([0, 1, 2, 512, 2 ** 31, 2 ** 32, 2 ** 53, -1])
    file.truncation = { direction: 'Right', max_length: number(), strategy: 'LongestFirst', stride: number() }
    file.padding = {
      strategy: draw.of(['BatchLongest', { Fixed: number() }]),
      direction: 'Left',
      pad_to_multiple_of: number(),
      pad_id: number(),
      pad_type_id: 0,
      pad_token: 'x',
    }
  }),
  function keysTwice(draw, bytes) {
    const text = bytes.toString()
    const keys = [...text.matchAll(/"[^"\\]{1,30}"\s*:/g)]
    if (keys.length === 0) return bytes
    const { index, 0: key } = draw.of(keys)
    return Buffer.from(`${text.slice(0, index)}${key} ${draw.of(['0', 'null', '{}', '"a"'])}, ${text.slice(index)}`)
  },
  function deep(draw, bytes) {
    const depth = draw.of([100, 200, 10_000, 1_000_000])
    const [open, close] = draw.of([
      ['[', ']'],
      ['{"a":', '}'],
      ['{"type":"Sequence","normalizers":[', ']}'],
    ])
    const tower = open.repeat(depth) + (draw.chance(0.5) ? '1' + close.repeat(depth) : '')
    return Buffer.from(
      bytes
        .toString()
        .replace(
          /"(normalizer|pre_tokenizer|decoder|truncation|version)":\s*/,
          (key) => `"unused_${draw.below(9)}":${tower},${key}`,
        ),
    )
  },
  tree(function manyTokens(draw, place, all, file) {
    const vocab = file.model?.vocab
    if (vocab === null || typeof vocab !== 'object') return
    for (let left = draw.below(300); left > 0; left--)
      vocab['t'.repeat(1 + draw.below(300)) + left] = draw.of([2 ** 32 - 1, 2 ** 32 - 2, 1e9, 1e9 + left, left])
  }),
  tree(function mergesTwice(draw, place, all, file) {
    const merges = file.model?.merges
    if (Array.isArray(merges) && merges.length > 0)
      for (let left = draw.below(50); left > 0; left--) merges.splice(draw.below(merges.length), 0, draw.of(merges))
  }),
  tree(function addedTokens(draw, place, all, file) {
    const content = () => draw.of(['', ' ', 'a', '\u0000', 'x'.repeat(5000), '<x>', 'ﬁ', '\u0301'])
    const flag = () => draw.chance(0.5)
    file.added_tokens = Array.from({ length: draw.below(200) }, () => ({
      id: draw.of([0, 1, 2 ** 32 - 1, 1e9, draw.below(100)]),
      content: content(),
      single_word: flag(),
      lstrip: flag(),
      rstrip: flag(),
      normalized: flag(),
      special: flag(),
    }))
  }),
]

/**
 * Makes a mutation that changes random values of the file's JSON. It leaves other files unchanged.
 */
function tree(change) {
  const made = {
    [change.name](draw, bytes) {
      let file
      try {
        file = JSON.parse(bytes)
      } catch {
        return bytes
      }
      const all = places(file)
      for (let left = 1 + draw.below(3); left > 0 && all.length > 0; left--) change(draw, draw.of(all), all, file)
      return Buffer.from(JSON.stringify(file))
    },
  }
  return made[change.name]
}

/** All values of a JSON document, but only the first 30 of each list and object. */
function places(file) {
  const all = []
  const walk = (holder) => {
    for (const key of Object.keys(holder).slice(0, 30)) {
      all.push({ key, value: holder[key], set: (value) => (holder[key] = value), remove: () => delete holder[key] })
      if (holder[key] !== null && typeof holder[key] === 'object') walk(holder[key])
    }
  }
  walk(file)
  return all
}
