'use strict'

// The entry point for `require`.

const loaded = () => import('./index.mjs')

exports.tokenizeCorpus = async (options) => (await loaded()).tokenizeCorpus(options)
exports.createWorker = async (options) => (await loaded()).createWorker(options)
exports.writeReport = async (output, file, options) => (await loaded()).writeReport(output, file, options)
exports.cleanCorpus = async (output, options) => (await loaded()).cleanCorpus(output, options)
exports.verifyCorpus = async (output, options) => (await loaded()).verifyCorpus(output, options)
exports.mergeCorpora = async (options) => (await loaded()).mergeCorpora(options)
exports.openTokens = async (output) => (await loaded()).openTokens(output)
exports.trainTokenizer = async (options) => (await loaded()).trainTokenizer(options)
exports.extendTokenizer = async (base, options) => (await loaded()).extendTokenizer(base, options)
exports.pruneTokenizer = async (base, options) => (await loaded()).pruneTokenizer(base, options)
