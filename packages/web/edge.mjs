// For Cloudflare's runtime.

import './wasm/workerd.mjs'
import './no-files.mjs'

export * from './api.mjs'
