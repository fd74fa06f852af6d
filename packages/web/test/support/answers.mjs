// Results of a package, for a comparison with another package.

import { failure, text, texts } from '../../../../__test__/support/texts.mjs'

const TEXTS = [
  '',
  'a',
  'Hello, world!',
  '\0 zero\0',
  `\ufeff${'mark '.repeat(9)}`,
  'lone \ud800 surrogates \udfff',
  text(20_000),
  'x'.repeat(40_000),
  '中'.repeat(5000),
]
const ROWS = [...TEXTS, ...texts(200, 900)]
const COLUMNS = ['tokens', 'specialTokensMask', 'attentionMask', 'wordIds']

/** Results of the given bundled encodings. */
export async function answers({ Tokenizer, encodings }, names) {
  const found = { encodings: encodings() }
  for (const name of names) {
    const tokenizer = await Tokenizer.fromEncoding(name)
    found[name] = await ofOne(tokenizer)
    found[`${name}, saved`] = await ofOne(await Tokenizer.fromBuffer(tokenizer.toBuffer()))
    found[`${name}, errors`] = await errors(Tokenizer, tokenizer)
  }
  return found
}

async function ofOne(tokenizer) {
  const all = TEXTS.map((text) => tokenizer.encode(text))
  const batch = await tokenizer.encodeBatch(ROWS)
  const full = await tokenizer.encodeBatch(TEXTS, { offsets: 'byte', columns: COLUMNS })
  return {
    ids: all.map((one) => [...one.ids]),
    offsets: all.map((one) => [...one.offsets]),
    wordIds: all.map((one) => [...one.wordIds]),
    bytes: [...tokenizer.encode(new TextEncoder().encode(TEXTS[6])).ids],
    batch: [[...batch.ids], [...batch.rowOffsets]],
    columns: ['offsets', ...COLUMNS].map((name) => Array.from(full[name])),
    counts: [TEXTS.map((text) => tokenizer.count(text)), [...(await tokenizer.countBatch(ROWS))]],
    texts: [all.map((one) => tokenizer.decode(one.ids)), await tokenizer.decodeBatch(batch)],
    decodedBytes: [...tokenizer.decodeBytes(all[6].ids)],
    pieces: tokenizer.split(TEXTS[6], { maxTokens: 100 }),
    tokens: [tokenizer.vocabSize(), tokenizer.tokenToId('hello'), tokenizer.idToToken(300)],
  }
}

async function errors(Tokenizer, tokenizer) {
  const calls = [
    () => tokenizer.encode(1),
    () => tokenizer.encode('<|endoftext|>', { specialTokens: 'throw' }),
    () => tokenizer.encodeBatch(['a', '<|endoftext|>'], { specialTokens: 'throw' }),
    () => tokenizer.countBatch(['a', '<|endoftext|>'], { specialTokens: 'throw' }),
    () => tokenizer.decodeBatch({ ids: new Uint32Array(3), rowOffsets: Uint32Array.of(0, 2, 1) }),
    () => tokenizer.decode([4_000_000]),
    () => Tokenizer.fromBuffer(new TextEncoder().encode('{"model": {}}')),
    () => Tokenizer.fromEncoding('none'),
  ]
  const describe = ({ constructor, code, message, row }) => ({
    class: constructor.name,
    code,
    message,
    row: row ?? null,
  })
  return Promise.all(calls.map(async (call) => describe(await failure(call))))
}
