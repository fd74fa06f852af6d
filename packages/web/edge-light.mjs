// For Vercel's edge runtime.

import './wasm/edge-light.mjs'
import './no-files.mjs'

export * from './api.mjs'
