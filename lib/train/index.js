'use strict'

// The entry point `tokenlane/train`, for import and for require. The modules behind it load with
// the first call.

exports.trainTokenizer = async (options) => (await import('./train.mjs')).trainTokenizer(options)
exports.extendTokenizer = async (base, options) => (await import('./adapt.mjs')).extendTokenizer(base, options)
exports.pruneTokenizer = async (base, options) => (await import('./adapt.mjs')).pruneTokenizer(base, options)
