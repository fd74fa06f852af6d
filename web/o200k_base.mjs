// The packed rank file of o200k_base, for the option `data` of Tokenizer.fromEncoding.

import { fromBase64 } from './base64.mjs'
import { base64 } from './dist/o200k_base.mjs'

export default fromBase64(base64)
