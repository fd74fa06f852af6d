'use strict'

// What @tokenlane/requests needs of this package. In browsers and on edges, where there is no
// addon, @tokenlane/web has the same.

const jinja = require('@tokenlane/jinja/internal')

exports.chatShapes = require('../chat/shapes.js')
exports.conversation = require('../chat/conversation.js')
exports.countContent = require('../chat/parts.js').countContent
exports.entriesOf = jinja.entries.entriesOf
exports.errors = require('../errors.js')
exports.images = require('../chat/openai-images.js')
exports.inputMeter = require('../limits.js').inputMeter
exports.models = require('../models.js')
exports.openAi = require('../chat/openai.js')
exports.options = require('../options.js')
exports.reading = require('../reading.js')
exports.realm = require('../realm.js')
exports.renderCost = jinja.renderCost
exports.shape = require('../shape.js')
exports.withinChatLimits = require('../chat/chat-limits.js').withinChatLimits
