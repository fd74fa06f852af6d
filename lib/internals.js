'use strict'

// What jobs over corpora, training and the drop-ins need of a tokenizer besides its public calls.

const { batchOf } = require('./batch.js')
const { later } = require('./later.js')
const native = require('./native.js')
const { KNOWN, MANY_TEXTS, encodeFlags, extraOptions, runOptions } = require('./options.js')
const { enqueue } = require('./queue.js')
const { partsOf } = require('./tokenizer.js')

const modules = later({
  apply: () => require('./chat/apply.js'),
  calls: () => require('./chat/calls.js'),
})

/**
 * Encodes the documents of a corpus job, which the addon holds, as one of `batches` batches that
 * run at the same time.
 *
 * @param {any} tokenizer
 * @param {object} documents
 * @param {any} options
 * @param {number} batches
 * @returns {Promise<any>}
 */
async function encodeDocuments(tokenizer, documents, options, batches) {
  const flags = encodeFlags(options, KNOWN.encodeBatch, MANY_TEXTS)
  const extra = extraOptions(flags, options, tokenizer)
  const { threads } = runOptions(options)
  const { handle } = partsOf(tokenizer)
  const start = (queueEntry) =>
    native.encodeDocuments(queueEntry, handle, documents, { flags, extra, threads, batches })
  return batchOf(await enqueue(start))
}

/** The largest id of a tokenizer, or -1. */
const maxId = (tokenizer) => native.maxId(partsOf(tokenizer).handle)

/** The chat of a tokenizer. */
const chatOf = (tokenizer) => partsOf(tokenizer).chat

/** A conversation of a corpus with its mask: see chat/apply.js. */
const encodeChat = (tokenizer, chat, messages, request) =>
  modules.apply.encodeChat(chat, messages, request, modules.calls.chatCalls(tokenizer, partsOf))

/**
 * The format of the file that a tokenizer was loaded from.
 *
 * @type {(tokenizer: any) => 'tokenizer.json' | 'sentencepiece' | 'ranks'}
 */
const fileFormat = (tokenizer) => native.fileFormat(partsOf(tokenizer).handle)

/**
 * The tokenizer.json of a tokenizer, without its vocabulary if it was loaded from such a file.
 *
 * @type {(tokenizer: any) => Uint8Array}
 */
const componentsOf = (tokenizer) => {
  const { handle } = partsOf(tokenizer)
  return native.components(handle) ?? native.toBuffer(handle)
}

module.exports = { chatOf, componentsOf, encodeChat, encodeDocuments, fileFormat, maxId }
