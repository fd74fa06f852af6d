'use strict'

// Makes the file that the addon loads, and the chat, of the metadata of a GGUF file.

const { chatOption } = require('../../chat/chat.js')
const { typeError } = require('../../errors.js')
const { tokenizerOf } = require('./tokenizer.js')

/**
 * The bytes to load and the chat of the tokenizer, as work of lib/steps.js.
 *
 * @param {{ values: Map<string, any>, isLittle: boolean }} metadata
 * @param {import('../../..').LoadOptions} [options] checked by the loaders
 */
function* ggufTokenizer(metadata, options = {}) {
  if (options.encoding !== undefined || options.pattern !== undefined) {
    const message = 'a GGUF file defines how text is split: leave out encoding and pattern'
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', message)
  }
  const { chatTemplate, config: given = {} } = options
  // Checks them, as those of other files.
  chatOption(options)
  const { bytes, config, note, templates } = yield* tokenizerOf(metadata)
  const isGiven = chatTemplate !== undefined || given.chat_template !== undefined
  const chat = chatOption({
    chatTemplate: /** @type {any} */ (isGiven ? chatTemplate : templates),
    config: { ...config, ...given },
  })
  return { bytes, chat, note }
}

module.exports = { ggufTokenizer }
