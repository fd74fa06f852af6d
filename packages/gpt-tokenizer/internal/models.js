'use strict'

// The models that have an entry point under `model/`, and what their entry points have.

const { chat, functionCalling, other } = require('./models.json')
const encodings = require('../modelsMap.js')

exports.chatModels = chat
exports.functionCallingModels = new Set(functionCalling)
exports.modelNames = [...Object.values(encodings.modelsMap_exports).flat(), ...other].sort()
/** Encodings whose entry points, and those of their models, have no chat functions. */
exports.WITHOUT_CHAT = new Set(['gpt2', 'r50k_base', 'p50k_base'])
