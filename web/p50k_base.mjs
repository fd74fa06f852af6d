// The packed rank file of p50k_base, for the option `data` of Tokenizer.fromEncoding.

import { fromBase64 } from './base64.mjs'
import { base64 } from './dist/p50k_base.mjs'

export default fromBase64(base64)
