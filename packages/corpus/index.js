'use strict'

// The entry point, for import and for require. The modules behind it load with the first call.

exports.tokenizeCorpus = async (options) => (await import('./src/job.mjs')).tokenizeCorpus(options)
exports.createWorker = async (options) => (await import('./src/queue/worker.mjs')).createWorker(options)
exports.writeReport = async (output, file, options) =>
  (await import('./src/report.mjs')).writeReport(output, file, options)
exports.cleanCorpus = async (output, options) => (await import('./src/clean.mjs')).cleanCorpus(output, options)
exports.verifyCorpus = async (output, options) => (await import('./src/verify.mjs')).verifyCorpus(output, options)
exports.mergeCorpora = async (options) => (await import('./src/merge/merge.mjs')).mergeCorpora(options)
exports.openTokens = async (output) => (await import('./src/reading/open-tokens.mjs')).openTokens(output)
exports.trainTokenizer = async (options) => (await import('./src/train/train.mjs')).trainTokenizer(options)
exports.extendTokenizer = async (base, options) =>
  (await import('./src/train/adapt.mjs')).extendTokenizer(base, options)
exports.pruneTokenizer = async (base, options) => (await import('./src/train/adapt.mjs')).pruneTokenizer(base, options)
