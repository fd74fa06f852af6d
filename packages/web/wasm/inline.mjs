// The WebAssembly module from JavaScript, for programs that cannot wait: the drop-ins. package.json
// selects this file, or one beside it, by the name internal/wasm.

import { setPackedModule } from '../dist/core.mjs'
import { base64 } from '../dist/wasm.mjs'

setPackedModule(base64)
