'use strict'

// A tokenizer.json with the vocabulary of a SentencePiece model, as the classes of transformers 5
// read it from a folder without a tokenizer.json. fromConfigs makes the class of it.
//
// A class with a Unigram model has the pieces with their scores, one with BPE the pieces and a
// merge for each way to cut a piece into two: those of the first piece first, with the shortest
// left part first. Some classes have other pieces at the start or at the end (PIECES below).
// Control and user-defined symbols become added tokens.

const { classes } = require('./classes/index.js')
const { languages } = require('./auto-class.js')
const { EMPTY_FILE, normalizers } = require('./components.js')

/** More pieces would fill V8's heap, and more cuts of them take seconds. */
const MAX_PIECES = 2 ** 20
const MAX_CUT_UNITS = 2 ** 27

const [CONTROL, USER_DEFINED] = [3, 4]

/** The name of the model of each class. */
const FILES = {
  'spiece.model': ['Albert', 'BigBird', 'FNet', 'Pegasus', 'Reformer', 'T5', 'XLNet'],
  'sentencepiece.bpe.model': ['Barthez', 'Camembert', 'MBart', 'MBart50', 'Nllb', 'XLMRoberta'],
  'sentencepiece.model': ['RemBert'],
  'spm.model': ['DebertaV2'],
  'tokenizer.model': ['CodeLlama', 'Gemma', 'Llama', 'XGLM'],
}
const FILE_OF_CLASS = new Map(
  Object.entries(FILES).flatMap(([file, names]) => names.map((name) => [`${name}Tokenizer`, file])),
)

/** The file from which a class is built, if its tokenizer is one that is made here. */
const modelFileOf = (name) => (classes[name]?.usesFile ? undefined : FILE_OF_CLASS.get(name))

const added = (content) => [content, 0]

/** The text of a special token, as Python spells it. */
function spelled(config, name, byDefault) {
  const value = config[name] === undefined ? byDefault : config[name]
  return value === null ? 'None' : (value.content ?? value)
}

/** <s>, <pad>, </s> and <unk>, then the pieces after the first three. */
const fairseq = (pieces, config, first = 'bos_token') => [
  added(spelled(config, first, '<s>')),
  added(spelled(config, 'pad_token', '<pad>')),
  added(spelled(config, 'eos_token', '</s>')),
  added(spelled(config, 'unk_token', '<unk>')),
  ...pieces.slice(3),
]
const masked = (pieces, config) => [...pieces, added(spelled(config, 'mask_token', '<mask>'))]

/** The vocabularies that differ from the pieces, by class. */
const PIECES = {
  CamembertTokenizer: (pieces, config) =>
    masked(
      [
        added('<s>NOTUSED'),
        added(spelled(config, 'pad_token', '<pad>')),
        added('</s>NOTUSED'),
        added(spelled(config, 'unk_token', '<unk>')),
        ['<unk>NOTUSED', -100],
        ...pieces.slice(1),
      ],
      config,
    ),
  MBartTokenizer: (pieces, config) => masked([...fairseq(pieces, config), ...languages.MBart.map(added)], config),
  MBart50Tokenizer: (pieces, config) =>
    masked([...fairseq(pieces, config, 'cls_token'), ...languages.MBart50.map(added)], config),
  NllbTokenizer: (pieces, config) => [
    ...new Map([...fairseq([], config), ...pieces].map((piece) => [piece[0], piece])).values(),
  ],
  PegasusTokenizer(pieces, config) {
    const [mask, sentence] = [spelled(config, 'mask_token', '<mask_1>'), spelled(config, 'mask_token_sent', '<mask_2>')]
    const masks = [mask, ...(sentence === mask ? [] : [sentence])].filter((token) => token !== 'None')
    const unused = Array.from({ length: Math.max(countOf(config, 'offset', 103) - 2, 0) }, (_, i) => `<unk_${i + 2}>`)
    return [
      added(spelled(config, 'pad_token', '<pad>')),
      added(spelled(config, 'eos_token', '</s>')),
      ...masks.map(added),
      ...unused.map((token) => [token, -100]),
      ...pieces.slice(2),
    ]
  },
  T5Tokenizer(pieces, config) {
    const count = countOf(config, 'extra_ids', 100)
    return [...pieces, ...Array.from({ length: count }, (_, i) => added(`<extra_id_${count - 1 - i}>`))]
  },
  XLMRobertaTokenizer: (pieces, config) => masked(fairseq(pieces, config), config),
}

const MAX_COUNT = 10_000
const countOf = (config, name, byDefault) =>
  Number.isInteger(config[name]) ? Math.min(Math.max(config[name], 0), MAX_COUNT) : byDefault

/**
 * The bytes of a tokenizer.json for a class, and what its config has besides the files: `unk_id`
 * and `additional`, the added tokens. Undefined without a model, or with one that is too large.
 *
 * @param {Uint8Array} bytes of the model
 * @param {string} name of the class
 * @param {Record<string, any>} config of config-tokens.js
 */
function sentencePieceJson(bytes, name, config) {
  const proto = modelOf(bytes)
  if (proto === undefined) return undefined
  const { pieces, charsmap, unkId: unk_id } = proto
  const scored = pieces.map(({ text, score }) => [text, score])
  const isBpe = classes[name].model === 'BPE'
  const vocabulary = PIECES[name]?.(scored, config) ?? scored
  const model = isBpe ? bpe(pieces, vocabulary) : { type: 'Unigram', unk_id, vocab: vocabulary, byte_fallback: false }
  if (model === undefined) return undefined
  const normalizer = charsmap === undefined ? null : normalizers.precompiled(Buffer.from(charsmap).toString('base64'))
  const additional = pieces
    .filter(({ type }) => type === CONTROL || type === USER_DEFINED)
    .map(({ text: content, type }) => ({ content, normalized: false, special: type === CONTROL }))
  return {
    bytes: Buffer.from(JSON.stringify({ ...EMPTY_FILE, normalizer, model })),
    config: { unk_id, additional },
  }
}

function bpe(pieces, vocabulary) {
  const merges = mergesOf(pieces.map(({ text }) => text))
  const vocab = Object.fromEntries(new Map(vocabulary.map(([text], id) => [text, id])))
  return merges && { type: 'BPE', vocab, merges, unk_token: null, fuse_unk: true, byte_fallback: true }
}

/** All cuts of pieces into two others. Undefined if there are too many units to look at. */
function mergesOf(texts) {
  const known = new Set(texts)
  if (texts.reduce((sum, { length }) => sum + length * length, 0) > MAX_CUT_UNITS) return undefined
  const merges = []
  for (const text of texts) {
    let cut = 0
    for (const character of text) {
      cut += character.length
      const [left, right] = [text.slice(0, cut), text.slice(cut)]
      if (known.has(left) && known.has(right)) merges.push([left, right])
    }
  }
  return merges
}

/** The fields of a protocol buffer as [field, value]: a number, or the bytes of a longer value. */
function* fieldsOf(bytes) {
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      if (at >= bytes.length || shift > 2 ** 63) throw new RangeError('the number does not end')
      const byte = bytes[at++]
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
  }
  const part = (length) => {
    if (at + length > bytes.length) throw new RangeError('the field does not end')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const key = varint()
    const [field, kind] = [Math.floor(key / 8), key % 8]
    if (kind === 0) yield [field, varint()]
    else if (kind === 1) yield [field, part(8)]
    else if (kind === 2) yield [field, part(varint())]
    else if (kind === 5) yield [field, part(4)]
    else throw new RangeError('the field has no known kind')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The parts of a SentencePiece model that a class reads. */
function modelOf(bytes) {
  const pieces = []
  let charsmap
  let unkId = 0
  try {
    for (const [field, value] of fieldsOf(bytes)) {
      if (field === 1) pieces.push(pieceOf(value))
      if (pieces.length > MAX_PIECES) return undefined
      if (field === 2) unkId = last(value, 40) ?? unkId
      if (field === 3) charsmap = last(value, 2) ?? charsmap
    }
  } catch {
    return undefined
  }
  return pieces.length === 0 ? undefined : { pieces, charsmap: charsmap?.length > 0 ? charsmap : undefined, unkId }
}

/** The value of a field in a message: the last one counts. */
function last(message, wanted) {
  let found
  for (const [field, value] of fieldsOf(message)) if (field === wanted) found = value
  return found
}

function pieceOf(message) {
  const piece = { text: '', score: 0, type: 1 }
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1) piece.text = utf8.decode(value)
    if (field === 2) piece.score = new DataView(value.buffer, value.byteOffset, 4).getFloat32(0, true)
    if (field === 3) piece.type = value
  }
  return piece
}

module.exports = { modelFileOf, sentencePieceJson }
