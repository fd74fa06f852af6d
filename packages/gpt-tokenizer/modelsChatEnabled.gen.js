'use strict'

exports.chatEnabledModels = require('./internal/models.js').chatModels
