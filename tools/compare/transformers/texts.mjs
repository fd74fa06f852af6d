// Random texts and options for compare.mjs. All randomness comes from one seeded generator, that of
// tools/check/hostile/random.mjs.

import fs from 'node:fs'

const SAMPLES = [
  'The quick brown fox jumps over the lazy dog. It cost $1,234.56 in 2024!',
  "I'm you're he'd we'll they've it's 'tis don't DON'T , isn't ( 's ) ' x '",
  'naïve café résumé Ångström cafe\u0301 Straße ſchön İstanbul ΟΔΥΣΣΕΥΣ',
  'привет мир, как дела? приветствие — «да»',
  '你好世界，世界你好。こんにちは 안녕하세요 漢字かな交じり文 ｶﾞｷﾞ ㍿',
  'नमस्ते दुनिया ไทยไม่มีวรรค שָׁלוֹם مَرْحَبًا ١٢٣',
  '😀😃👩‍👩‍👧‍👦🇩🇪 🏴 ☺️ 1️⃣ 👩🏽‍🚀',
  'def f(self, x: int = 0x1F) -> None:\n\treturn f"{x!r:>{10}}"  # camelCaseWord\n\n\n    pass',
  '  two  spaces\tand tabs\n\nlines\r\n \u00a0\u3000\u200b\ufeff x',
  '¼½ ２３ ⅷ ﬁ ½ H₂O x² ① ⑴ ﷺ ǆ ℌ',
  '▁the▁▁thing ##ing ##a </w> <0x41> <unk> Ġthe Ċ Â Ã© _a_ __',
  'one.two,three;four:five!six?seven—eight–nine-ten_eleven/twelve…“quoted”',
  'https://example.org/a?b=c%20d&e=f#g user.name+tag@mail.co.uk 192.168.0.1',
]

/** Lines of the files of a folder. */
export function linesOf(folder) {
  if (folder === undefined) return []
  const texts = fs.readdirSync(folder).map((name) => fs.readFileSync(`${folder}/${name}`, 'utf8').slice(0, 2 ** 20))
  return texts.flatMap((text) => text.split('\n')).filter((line) => line.trim() !== '')
}

/** A text of up to 400 characters. `added`: contents of added tokens. */
export function randomText(random, { lines, added }) {
  const pieces = Array.from({ length: random.of([0, 1, 1, 2, 3, 6]) }, () => randomPiece(random, { lines, added }))
  return pieces.join('').slice(0, 400).toWellFormed()
}

function randomPiece(random, { lines, added }) {
  const kind = random.next()
  if (kind < 0.35 && lines.length > 0) return cut(random, random.of(lines))
  if (kind < 0.75) return cut(random, random.of(SAMPLES))
  if (kind < 0.85 && added.length > 0) return random.of(['', ' ']) + random.of(added) + random.of(['', ' '])
  if (kind < 0.93)
    return random.of([' ', '  ', '\n', 'a', '.', "'", 'é', '\u0301', '中', '▁', '-']).repeat(1 + random.below(6))
  return String.fromCodePoint(...Array.from({ length: 1 + random.below(4) }, () => codePoint(random)))
}

function cut(random, text) {
  const characters = [...text]
  const start = random.below(characters.length)
  return characters.slice(start, start + 1 + random.below(60)).join('')
}

function codePoint(random) {
  const point = random.below(random.of([0x80, 0x800, 0x10000, 0x110000]))
  return point >= 0xd800 && point < 0xe000 ? 0x20 : point
}

/** The options of a call, and its texts. */
export function randomCall(random, sources) {
  const isBatch = random.chance(0.6)
  const count = isBatch ? 1 + random.below(4) : 1
  const texts = Array.from({ length: count }, () => randomText(random, sources))
  const options = {}
  if (random.chance(0.35)) {
    // Neither `''`, which the package takes for no pair, nor pairs for a part of the rows.
    const pairs = texts.map(() => randomText(random, sources) || 'pair')
    options.text_pair = isBatch ? pairs : pairs[0]
  }
  const maybe = (name, values) => {
    const value = random.of(values)
    if (value !== undefined) options[name] = value
  }
  maybe('padding', [undefined, true, true, 'max_length', false])
  maybe('truncation', [undefined, true, true, false])
  maybe('max_length', [undefined, undefined, 8, 16, 40, 5 + random.below(30)])
  maybe('add_special_tokens', [undefined, undefined, true, false])
  maybe('return_token_type_ids', [undefined, undefined, true, false])
  maybe('return_tensor', [undefined, false, false, true])
  return { text: isBatch ? texts : texts[0], options }
}
