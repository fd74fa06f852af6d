// The entry point. The modules behind it load with the first call.

export const tokenizeCorpus = async (options) => (await import('./src/job.mjs')).tokenizeCorpus(options)
export const createWorker = async (options) => (await import('./src/queue/worker.mjs')).createWorker(options)
export const writeReport = async (output, file, options) =>
  (await import('./src/report.mjs')).writeReport(output, file, options)
export const cleanCorpus = async (output, options) => (await import('./src/clean.mjs')).cleanCorpus(output, options)
export const verifyCorpus = async (output, options) => (await import('./src/verify.mjs')).verifyCorpus(output, options)
export const mergeCorpora = async (options) => (await import('./src/merge/merge.mjs')).mergeCorpora(options)
export const openTokens = async (output) => (await import('./src/reading/open-tokens.mjs')).openTokens(output)
export const trainTokenizer = async (options) => (await import('./src/train/train.mjs')).trainTokenizer(options)
export const extendTokenizer = async (base, options) =>
  (await import('./src/train/adapt.mjs')).extendTokenizer(base, options)
export const pruneTokenizer = async (base, options) =>
  (await import('./src/train/adapt.mjs')).pruneTokenizer(base, options)
