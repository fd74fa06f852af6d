'use strict'

const classes = require('./classes.js')
const { warnOnce } = require('./call.js')
const { load } = require('./files.js')
const { PreTrainedTokenizer } = require('./tokenizer.js')

// biome-ignore lint/complexity/noStaticOnlyClass: as in the package.
class AutoTokenizer {
  static async from_pretrained(pretrained_model_name_or_path, options) {
    const { json, config } = await load(pretrained_model_name_or_path, options ?? {})
    const Kind = classOf(config.tokenizer_class)
    return new Kind(json, config)
  }
}

/** The class that a config names, with or without the suffix "Fast". */
function classOf(name) {
  const bare = String(name ?? 'PreTrainedTokenizer').replace(/Fast$/, '')
  if (Object.hasOwn(classes, bare)) return classes[bare]
  if (!['PreTrainedTokenizer', 'TokenizersBackend'].includes(bare)) {
    warnOnce(`Unknown tokenizer class "${bare.slice(0, 100)}", attempting to construct from base class.`)
  }
  return PreTrainedTokenizer
}

module.exports = { AutoTokenizer }
