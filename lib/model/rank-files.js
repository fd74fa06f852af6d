'use strict'

// Rank files of tiktoken in the folder of a model: the class that the configs name is Python code
// of the repository, which has the pattern and the special tokens.

const { changesOf } = require('../changes.js')
const { error } = require('../errors.js')
const native = require('../native.js')
const { normalizers } = require('./components.js')
const { KIMI, QWEN } = require('./gguf/patterns.js')

/** Ids that Kimi's class reserves behind the ranks. */
const KIMI_RESERVED = 258
const QWEN_EXTRAS = 205
const QWEN_SPECIALS = [
  ...['<|endoftext|>', '<|im_start|>', '<|im_end|>'],
  ...Array.from({ length: QWEN_EXTRAS }, (_, index) => `<|extra_${index}|>`),
]

/**
 * The rank files by name: the class, the pattern, and the special tokens in the order of their ids,
 * which follow the ranks.
 */
const RANK_FILES = {
  'tiktoken.model': {
    class: 'TikTokenTokenizer',
    pattern: KIMI,
    note: 'its class in Python also cuts runs of more than 25,000 characters, and sorts the keys of tools',
    specialTokens: (config, first) =>
      Array.from({ length: KIMI_RESERVED }, (_, index) => {
        const content = config.added_tokens_decoder?.[first + index]?.content
        return typeof content === 'string' && content !== '' ? content : `<|reserved_token_${first + index}|>`
      }),
  },
  'qwen.tiktoken': {
    class: 'QWenTokenizer',
    pattern: QWEN,
    specialTokens: () => QWEN_SPECIALS,
    normalizer: normalizers.nfc,
  },
}

/** How the rank file of a name is loaded. */
const rankOptions = (name) => ({ pattern: RANK_FILES[name].pattern })

/**
 * The tokenizer of the class, from that of the ranks alone. As in Python, special tokens in a text
 * are found by default.
 *
 * @param {any} handle
 * @param {string} name of the file
 * @param {Record<string, any>} config the tokenizer_config.json
 */
function ofRanks(handle, name, config) {
  const { specialTokens, normalizer } = RANK_FILES[name]
  const first = native.maxId(handle) + 1
  const addedTokens = specialTokens(config, first).map((content, index) => ({
    content,
    id: first + index,
    special: true,
  }))
  const made = withTokens(handle, addedTokens, name)
  if (normalizer === undefined) return made
  // Ranks have no normalizer; a tokenizer.json has.
  const file = native.loadBytesSync(native.toBuffer(made), {})
  return native.change(file, changesOf({ normalizer }))
}

function withTokens(handle, addedTokens, name) {
  try {
    return native.change(handle, changesOf({ addedTokens, specialTokens: 'parse' }))
  } catch (failure) {
    // The tokens are not the caller's: two with one text, one that is a rank, ids beyond 32 bits.
    if (failure.code !== 'ERR_TOKENLANE_ARGUMENT_VALUE') throw failure
    throw error('ERR_TOKENLANE_SHAPE', `${name} and its configs: ${failure.message}`, { cause: failure })
  }
}

module.exports = { RANK_FILES, ofRanks, rankOptions }
