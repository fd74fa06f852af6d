// The package for pages, workers and edge runtimes, without the places of its files: an entry point
// sets them. tools/platforms/web.mjs bundles this module.

import { Batch } from '../lib/batch.js'
import { Encoding } from '../lib/encoding.js'
import { limits } from '../lib/limits.js'
import { encodingForModel } from '../lib/models.js'
import { checkKnown } from '../lib/options.js'
import { queue } from '../lib/queue.js'
import { DecodeStream } from '../lib/stream.js'
import { Tokenizer, encodings } from '../lib/tokenizer.js'
import { init, setLoader } from './module.mjs'
import native from './native.mjs'
import { setDecompress, setPlaces, withData } from './sources.mjs'

/** A loader of an encoding that takes its packed rank file as the option `data`. */
const takingData = (load, encodingOf) => async (name, options) => {
  if (options !== undefined) checkKnown(options, ['data'])
  if (options?.data === undefined) return await load(name)
  return await withData(native.encodingFile(encodingOf(name)), options.data, () => load(name))
}

Tokenizer.fromEncoding = takingData(Tokenizer.fromEncoding, (name) => name)
Tokenizer.forModel = takingData(Tokenizer.forModel, encodingForModel)

export {
  Batch,
  DecodeStream,
  Encoding,
  Tokenizer,
  encodingForModel,
  encodings,
  init,
  limits,
  queue,
  setDecompress,
  setLoader,
  setPlaces,
}
