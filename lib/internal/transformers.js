'use strict'

// What @tokenlane/transformers needs of this package.

exports.Tokenizer = require('../tokenizer.js').Tokenizer
exports.chatFilesBeside = require('../chat/chat-files.js').chatFilesBeside
exports.chatOf = require('../chat/chat.js').chatOf
exports.componentsOf = require('../internals.js').componentsOf
exports.generationMask = require('../chat/masks.js').generationMask
exports.importOptional = require('../optional.js').importOptional
exports.isAbsence = require('../regular-file.js').isAbsence
exports.readRegular = require('../regular-file.js').readRegular
exports.requireOptional = require('../optional.js').requireOptional
exports.run = require('../steps.js').run
exports.sources = require('../sources.js')
