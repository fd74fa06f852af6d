'use strict'

// The names that every entry point exports. This file never runs: Node parses it to find the named
// exports of the entry points.

exports.ALL_SPECIAL_TOKENS = undefined
exports.DEFAULT_MERGE_CACHE_SIZE = undefined
exports.EndOfPrompt = undefined
exports.EndOfText = undefined
exports.FimMiddle = undefined
exports.FimPrefix = undefined
exports.FimSuffix = undefined
exports.HarmonyCall = undefined
exports.HarmonyChannel = undefined
exports.HarmonyConstrain = undefined
exports.HarmonyEnd = undefined
exports.HarmonyMessage = undefined
exports.HarmonyReturn = undefined
exports.HarmonyStart = undefined
exports.HarmonyStartOfText = undefined
exports.ImEnd = undefined
exports.ImSep = undefined
exports.ImStart = undefined
exports.clearMergeCache = undefined
exports.countTokens = undefined
exports.decode = undefined
exports.decodeAsync = undefined
exports.decodeAsyncGenerator = undefined
exports.decodeGenerator = undefined
exports.encode = undefined
exports.encodeChat = undefined
exports.encodeChatGenerator = undefined
exports.encodeGenerator = undefined
exports.estimateCost = undefined
exports.isWithinTokenLimit = undefined
exports.setMergeCacheSize = undefined
exports.vocabularySize = undefined
