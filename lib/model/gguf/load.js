'use strict'

// Makes the file, and then the tokenizer and the chat, of the metadata of a GGUF file.

const { changesOf } = require('../../changes.js')
const { chatOption } = require('../../chat/chat.js')
const { typeError } = require('../../errors.js')
const native = require('../../native.js')
const { broken } = require('./metadata.js')
const { tokenizerOf } = require('./tokenizer.js')

/**
 * The bytes to load, and what is made of the handle that the addon returns for them.
 *
 * @param {Map<string, any>} values
 * @param {import('../../..').LoadOptions} [options] checked by the loaders
 */
function ggufTokenizer(values, options = {}) {
  if (options.encoding !== undefined || options.pattern !== undefined) {
    const message = 'a GGUF file defines how text is split: leave out encoding and pattern'
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', message)
  }
  const { chatTemplate, config: given = {} } = options
  // Checks them, as those of other files.
  chatOption(options)
  const { bytes, changes, config, note, size, templates } = tokenizerOf(values)
  const isGiven = chatTemplate !== undefined || given.chat_template !== undefined
  const finished = (loaded) => {
    const handle = changes === undefined ? loaded : native.change(loaded, changesOf(changes))
    if (native.vocabSize(handle, true) !== size) throw broken('has a token twice')
    const chat = chatOption({
      chatTemplate: /** @type {any} */ (isGiven ? chatTemplate : templates),
      config: { ...config, ...given },
    })
    return { handle, chat, note }
  }
  return { bytes, finished }
}

module.exports = { ggufTokenizer }
