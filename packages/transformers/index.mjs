// The API of the tokenizers of @huggingface/transformers 4, implemented with tokenlane.

import { loadPackageWith } from './tensor.js'

// Programs that import this module import the ES module of the package, which has a class Tensor of
// its own.
loadPackageWith((name) => import(name))

export * from './index.js'
