// Texts of any length that are constructed to be slow, for `npm run maintain -- hostile texts` and
// __test__/core/growth.test.mjs.

import { random } from './random.mjs'

const repeated = (piece) => () => (bytes) => piece.repeat(Math.ceil(bytes / Buffer.byteLength(piece)))

/** Random characters of strings and of ranges of code points. Each call makes another text. */
const randomOf = (...sources) => {
  const all = sources.flatMap((source) => (typeof source === 'string' ? [...source] : range(...source)))
  return (draw) => (bytes) => {
    const count = Math.ceil((bytes * all.length) / Buffer.byteLength(all.join('')))
    return Array.from({ length: count }, () => draw.of(all)).join('')
  }
}

const range = (first, last) => Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at))

/** Random pieces. */
const mixed =
  (...pieces) =>
  (draw) =>
  (bytes) => {
    const parts = []
    for (let length = 0; length < bytes; length += Buffer.byteLength(parts.at(-1))) parts.push(draw.of(pieces))
    return parts.join('')
  }

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const WHITE_SPACE = [
  '\t',
  '\v',
  '\f',
  '\r',
  '\r\n',
  '\u0085',
  '\u00a0',
  '\u1680',
  '\u2003',
  '\u2028',
  '\u2029',
  '\u202f',
  '\u3000',
]
const WORDS = 'the of international organisations and agreed in 1948 that everyone has a right to education, '
  .split(' ')
  .map((word) => `${word} `)

/**
 * By name: a function of the random generator that returns a function of the approximate number of
 * bytes, which returns a text.
 */
export const TEXTS = {
  // Runs of one character, and of one class.
  'one letter': repeated('a'),
  'one capital': repeated('A'),
  'random letters': randomOf(LETTERS),
  'random capitals and letters': randomOf(LETTERS, LETTERS.toUpperCase()),
  'one digit': repeated('0'),
  'random digits': randomOf('0123456789'),
  'digits of other scripts': randomOf([0x660, 0x669], [0x966, 0x96f], [0xff10, 0xff19]),
  'one sign': repeated('!'),
  'random signs': randomOf('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'),
  'slashes and newlines': randomOf('/\r\n'),
  é: repeated('é'),
  'random Cyrillic': randomOf([0x410, 0x44f]),
  Thai: randomOf([0xe01, 0xe3a]),
  Arabic: randomOf([0x621, 0x64a]),
  'Hebrew with points': randomOf([0x5d0, 0x5ea], [0x5b0, 0x5bd]),
  Devanagari: randomOf([0x904, 0x94d]),
  中: repeated('中'),
  'random CJK': randomOf([0x4e00, 0x9fa5]),
  'kana and CJK': randomOf([0x3041, 0x3096], [0x30a1, 0x30fa], [0x4e00, 0x4eff]),
  'rare CJK': randomOf([0x20000, 0x2a6df]),
  Hangul: randomOf([0xac00, 0xd7a3]),
  'decomposed Hangul': mixed('\u1103\u1170\u11b7', '\u1112\u1161\u11ab', '\u1100\u1173', '\u1100'),
  'Hangul vowels': randomOf([0x1161, 0x1175]),
  'Hangul finals': repeated('\u11b7'),
  // White space.
  spaces: repeated(' '),
  newlines: repeated('\n'),
  'spaces, tabs and newlines': randomOf(' \n\t'),
  'spaces before a letter': (draw) => (bytes) => `${' '.repeat(bytes)}x`,
  'each kind of white space': mixed(...WHITE_SPACE),
  'one kind of white space': repeated('\u2003'),
  'letters apart by spaces': repeated('a '),
  'newlines among spaces': mixed('      ', '\n', ' '),
  // Controls, marks, formats.
  'control characters': randomOf([1, 8], [14, 31]),
  'one control character': repeated('\u0001'),
  'zero bytes': repeated('\0'),
  'combining marks': randomOf([0x300, 0x36f]),
  'marks behind one letter': (draw) => (bytes) => `a${randomOf([0x300, 0x36f])(draw)(bytes)}`,
  'marks in falling order': mixed('\u0345', '\u0301', '\u0323', '\u0334'),
  'letters with marks': mixed('e\u0301', 'a\u0323\u0302', 'o\u0308'),
  'zero-width marks': repeated('\u200b\u0301'),
  'zero-width joiners': repeated('\u200d'),
  'byte order marks': repeated('\ufeff'),
  'replacement characters': repeated('\ufffd'),
  'private characters': randomOf([0xe000, 0xe0ff]),
  'characters not assigned': randomOf([0xe01f0, 0xe02ff]),
  // Emoji and surrogates.
  'emoji joiners': repeated('👩\u200d'),
  families: repeated('👨\u200d👩\u200d👧\u200d👦'),
  'random emoji': randomOf([0x1f300, 0x1f64f]),
  'emoji with skin': mixed('👍🏽', '👋🏿', '❤️\u200d🔥'),
  'regional indicators': randomOf([0x1f1e6, 0x1f1ff]),
  'variation selectors': repeated('\ufe0f'),
  'high surrogates': repeated('\ud83d'),
  'low surrogates': repeated('\ude00'),
  'surrogates the wrong way round': repeated('\ude00\ud83d'),
  // Directions and scripts that alternate.
  'right to left and left to right': mixed('שלום', 'abc', ' ', '\u202e', '\u200f'),
  'scripts that alternate': repeated('aжא中あก'),
  'letters and digits that alternate': repeated('a1'),
  'what splits patterns': repeated("a'S \n1!é中"),
  contractions: repeated("'re'll've"),
  'contractions cut short': repeated("'r'l'v"),
  'capitals and letters that alternate': repeated('aA'),
  'capitals before one letter': (draw) => (bytes) => `${'A'.repeat(bytes)}a`,
  // Tokens, and text that looks like tokens.
  'special tokens': repeated('<|endoftext|>'),
  'special tokens cut short': repeated('<|endoftext|'),
  'starts of special tokens': repeated('<|'),
  'one character of special tokens': repeated('<'),
  'special tokens and spaces': repeated('<|endoftext|>   '),
  'chat markup': mixed('<|im_start|>', '<|im_end|>', '[INST]', '<s>', '</s>', 'user\n'),
  'long repeats that are tokens': mixed('='.repeat(64), '-'.repeat(63), '*'.repeat(33), '#'.repeat(17), ' '.repeat(80)),
  'two letters': repeated('ab'),
  'letters doubled': mixed('aa', 'bb', 'aaaa', 'ab'),
  'growing runs of one letter': () => (bytes) => {
    const parts = []
    for (let length = 0, run = 1; length < bytes; length += run++ + 1) parts.push(`${'a'.repeat(run)} `)
    return parts.join('')
  },
  '▁': repeated('▁'),
  'words and meta symbols': repeated('▁a b'),
  // Formats of programs.
  base64: randomOf(LETTERS, LETTERS.toUpperCase(), '0123456789+/'),
  hexadecimal: randomOf('0123456789abcdef'),
  brackets: repeated('[{('),
  JSON: repeated('{"a":[1,2.5,null],"b":"\\u00e9"},'),
  code: mixed('        ', 'return x_1;\n', 'if (a != b) {', '}\n\n', '// ---- \n', '\t\t'),
  'random bytes as text': (draw) => (bytes) =>
    Buffer.from(Array.from({ length: bytes }, () => draw.below(256))).toString('latin1'),
  'random code points': (draw) => (bytes) =>
    Array.from({ length: bytes / 4 }, () => String.fromCodePoint(draw.below(0xd800))).join(''),
  words: mixed(...WORDS),
  'full stops': repeated('.'),
  'sentences of one letter': repeated('A. '),
  'abbreviations that end no sentence': repeated('etc. 1 '),
  'a full stop before what ends no sentence': (draw) => (bytes) => `a.${' 1)'.repeat(bytes / 3)}`,
  'closing quotes behind a full stop': (draw) => (bytes) => `a.${')'.repeat(bytes)}`,
}

/**
 * A text of a kind with about `bytes` bytes. The text depends on the seed, unless the kind repeats
 * one piece.
 */
export const adversarial = (kind, bytes, seed = 1) => TEXTS[kind](random(seed))(bytes)
