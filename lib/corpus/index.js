'use strict'

// The entry point `tokenlane/corpus`, for import and for require. The modules behind it load with
// the first call.

exports.tokenizeCorpus = async (options) => (await import('./job.mjs')).tokenizeCorpus(options)
exports.createWorker = async (options) => (await import('./queue/worker.mjs')).createWorker(options)
exports.writeReport = async (output, file, options) => (await import('./report.mjs')).writeReport(output, file, options)
exports.cleanCorpus = async (output, options) => (await import('./clean.mjs')).cleanCorpus(output, options)
exports.verifyCorpus = async (output, options) => (await import('./verify.mjs')).verifyCorpus(output, options)
exports.mergeCorpora = async (options) => (await import('./merge/merge.mjs')).mergeCorpora(options)
exports.openTokens = async (output) => (await import('./reading/open-tokens.mjs')).openTokens(output)
