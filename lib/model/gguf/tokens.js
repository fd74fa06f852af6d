'use strict'

// What llama.cpp makes of the types of tokens in a GGUF file. It knows many control tokens by their
// names, because files type them in different ways.

const { error } = require('../../errors.js')
const { inTurns } = require('../../steps.js')

/** The values of `tokenizer.ggml.token_type`, which are those of SentencePiece. */
const [NORMAL, UNKNOWN, CONTROL, USER_DEFINED, , BYTE] = [1, 2, 3, 4, 5, 6]

/** Tokens that are found in texts before anything else. */
const MAX_ADDED_TOKENS = 2 ** 18

/** The bits of the byte that describes a token to the addon, above those of its type. */
const [SPECIAL, ORDINARY, STRIPS_LEFT, STRIPS_RIGHT] = [0x10, 0x20, 0x40, 0x80]

/** Tokens that end an answer. All of them are control tokens. */
const ENDS = [
  ...['<|eot_id|>', '<|im_end|>', '<|end|>', '<|return|>', '<|call|>', '<|flush|>', '<|calls|>', '<end_of_turn>'],
  ...['<|endoftext|>', '</s>', '<|eom_id|>', '<EOT>', '_<EOT>', '[EOT]', '[EOS]', '<|end_of_text|>'],
  ...['<end_of_utterance>', '<eos>', '<turn|>', '<|tool_response>', '<｜end▁of▁sentence｜>', '[e~['],
]

/**
 * Tokens around code that is filled in: the keys that name the token, and the names of which one is
 * a control token if no key names it.
 */
const FILLS = [
  {
    keys: ['fim_pre', 'prefix'],
    names: [
      '<|fim_prefix|>',
      '<fim-prefix>',
      '<fim_prefix>',
      '<｜fim▁begin｜>',
      '<PRE>',
      '▁<PRE>',
      '<|code_prefix|>',
      '<|prefix|>',
    ],
  },
  {
    keys: ['fim_suf', 'suffix'],
    names: [
      '<|fim_suffix|>',
      '<fim-suffix>',
      '<fim_suffix>',
      '<｜fim▁hole｜>',
      '<SUF>',
      '▁<SUF>',
      '<|code_suffix|>',
      '<|suffix|>',
    ],
  },
  {
    keys: ['fim_mid', 'middle'],
    names: [
      '<|fim_middle|>',
      '<fim-middle>',
      '<fim_middle>',
      '<｜fim▁end｜>',
      '<MID>',
      '▁<MID>',
      '<|code_middle|>',
      '<|middle|>',
    ],
  },
  { keys: ['fim_pad'], names: ['<|fim_pad|>', '<fim-pad>', '<fim_pad>', '<PAD>', '[PAD]'] },
  { keys: ['fim_rep'], names: ['<|fim_repo|>', '<|repo_name|>', '<fim-repo>', '<REPO>', '<reponame>'] },
  { keys: ['fim_sep'], names: ['<|file_sep|>'] },
]

/** Tokens of gpt-oss that are found in all texts. */
const CHANNELS = ['<|channel|>', '<|message|>', '<|start|>', '<|constrain|>']

const NAMES = new Set([...ENDS, ...FILLS.flatMap(({ names }) => names), ...CHANNELS])
const ENCODED = Array.from(NAMES, (name) => new TextEncoder().encode(name))
const LENGTHS = new Set(ENCODED.map((bytes) => bytes.length))
const FIRST_BYTES = new Set(ENCODED.map(([first]) => first))

/**
 * Tokens that take the white space beside them, which llama.cpp knows by the names of models: a
 * name of the model, the architecture or the pre-tokenizer, and the side of each token.
 */
const STRIPPING = [
  {
    is: ({ pre, architecture }) =>
      /jina-v2-(?:de|es|code)/.test(pre) || /nomic-bert-moe|jina-bert-v3/.test(architecture),
    side: (content) => (content === '<mask>' ? STRIPS_LEFT : 0),
  },
  {
    is: ({ name }) => /phi-?3/.test(name),
    side: (content) => (['<unk>', '<s>', '<|endoftext|>'].includes(content) ? 0 : STRIPS_RIGHT),
  },
  {
    is: ({ name }) => name.includes('modern-bert'),
    side: (content) => (content === '[MASK]' ? STRIPS_LEFT : 0),
  },
]

/** How a token of each type is found in texts. */
const FOUND = { [UNKNOWN]: SPECIAL, [CONTROL]: SPECIAL, [USER_DEFINED]: ORDINARY }
const FLAGS = Array.from({ length: BYTE + 1 }, (_, type) => (type >= NORMAL ? type | (FOUND[type] ?? 0) : 0))

/**
 * A byte for each token: its type, and how it is found in texts. This is work of lib/steps.js.
 *
 * @returns {Generator<any, Uint8Array, any>}
 */
function* flagsOf(file) {
  const { length, starts, ends, bytes } = file.tokens
  const types = file.numbers('tokenizer.ggml.token_type')
  const flags = new Uint8Array(length)
  /** The ids of the tokens that llama.cpp knows by their names. */
  const ids = new Map()
  yield* inTurns(length, (id) => {
    flags[id] = FLAGS[types === undefined ? NORMAL : types.at(id)] ?? 0
    if (!FIRST_BYTES.has(bytes[starts[id]]) || !LENGTHS.has(ends[id] - starts[id])) return
    const text = file.tokens.text(id)
    if (NAMES.has(text)) ids.set(text, id)
  })
  override(file, flags, ids)
  yield* strip(file, flags)
  return flags
}

/** Changes how tokens are found that llama.cpp knows by their names, in its order. */
function override(file, flags, ids) {
  const set = (name, found) => {
    const id = ids.get(name)
    if (id !== undefined) flags[id] = (flags[id] & 0x0f) | found
  }
  for (const { keys, names } of FILLS) {
    if (keys.some((key) => file.idOf(`tokenizer.ggml.${key}_token_id`) !== undefined)) continue
    // Of several, llama.cpp takes the one that its hash table has first.
    const [first] = names.filter((name) => ids.has(name)).sort((one, other) => ids.get(one) - ids.get(other))
    if (first !== undefined) set(first, SPECIAL)
  }
  for (const name of ENDS) set(name, SPECIAL)
  for (const name of CHANNELS) set(name, ORDINARY)
  const has = (...names) => names.every((name) => ids.has(name))
  const calls = has('<|call|>') || has('<|calls|>')
  if (calls && (has('<|return|>') || has('<|flush|>'))) set('<|end|>', ORDINARY)
  const eos = file.special('eos')
  if (has('<|tool_response>') || (eos !== undefined && file.tokenText(eos) === '<|plamo:eos|>')) set('</s>', 0)
}

/** Marks the sides on which tokens take white space. */
function* strip(file, flags) {
  const names = {
    name: (file.text('general.name') ?? '').toLowerCase(),
    pre: file.text('tokenizer.ggml.pre') ?? '',
    architecture: file.text('general.architecture') ?? '',
  }
  const sideOf = STRIPPING.find(({ is }) => is(names))?.side
  let added = 0
  yield* inTurns(flags.length, (id) => {
    if ((flags[id] & (SPECIAL | ORDINARY)) === 0) return
    if (++added > MAX_ADDED_TOKENS) {
      const message = `the GGUF file has more than ${MAX_ADDED_TOKENS} control tokens`
      throw error('ERR_TOKENLANE_TOO_LARGE', message)
    }
    if (sideOf !== undefined) flags[id] |= sideOf(file.tokenText(id))
  })
}

module.exports = { flagsOf }
