// Is compiled, never run: the package in CommonJS.
import corpus = require('@tokenlane/corpus')

const result: Promise<corpus.CorpusResult> = corpus.tokenizeCorpus({ inputs: 'data/', output: 'tokens/' })
const options: corpus.TrainOptions = { inputs: ['data/'], vocabSize: 32_000 }
export = { result, tokenizer: corpus.trainTokenizer(options) }
