// The package for pages, workers and edge runtimes, without the places of its files: an entry point
// sets them. tools/platforms/web.mjs bundles this module.

import {
  Batch,
  DecodeStream,
  Encoding,
  KNOWN,
  Tokenizer,
  checkKnown,
  encodingForModel,
  encodings,
  limits,
  queue,
} from 'tokenlane/internal/web.js'
import { errors } from 'tokenlane/internal/base.js'
import * as requests from 'tokenlane/internal/requests.js'
import { init, setModule, setPackedModule } from './module.mjs'
import native from './native.mjs'
import { addFile, fileBytes, setImports, withData } from './sources.mjs'

const { error, isTokenlaneError } = errors

/** Vocabularies of the encodings: data of another one would load, and have other ids. */
const VOCAB_SIZES = {
  r50k_base: 50_257,
  p50k_base: 50_281,
  p50k_edit: 50_284,
  cl100k_base: 100_261,
  o200k_base: 200_000,
  o200k_harmony: 201_089,
}

/** A loader of an encoding that takes its packed rank file as the option `data`. */
const takingData = (load, encodingOf) => async (name, options) => {
  if (options !== undefined) checkKnown(options, ['data', ...KNOWN.loadEncoding])
  const { data, ...rest } = options ?? {}
  if (data === undefined) return await load(name, rest)
  const encoding = encodingOf(name)
  const isOther = (cause) => error('ERR_TOKENLANE_SHAPE', `the data is not the rank file of ${encoding}`, cause)
  const loaded = withData(native.encodingFile(encoding), data, () => load(name, rest))
  const tokenizer = await loaded.catch((cause) => {
    throw cause.code === 'ERR_TOKENLANE_DUPLICATE_ID' ? isOther({ cause }) : cause
  })
  if (tokenizer.vocabSize() !== VOCAB_SIZES[encoding]) throw isOther()
  return tokenizer
}

/** The pattern, the special tokens and the name of the rank file of an encoding. */
const { encodingDefinition } = native

Tokenizer.fromEncoding = takingData(Tokenizer.fromEncoding, (name) => name)
Tokenizer.forModel = takingData(Tokenizer.forModel, encodingForModel)

export {
  Batch,
  DecodeStream,
  Encoding,
  Tokenizer,
  addFile,
  encodingDefinition,
  encodingForModel,
  encodings,
  fileBytes,
  init,
  isTokenlaneError,
  limits,
  queue,
  requests,
  setModule,
  setPackedModule,
  setImports,
}
