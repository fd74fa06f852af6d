// Cloudflare's runtime compiles no bytes at run time: the module is imported.

// biome-ignore lint/suspicious/noTsIgnore: expect-error would fail where the file was built
// @ts-ignore a module that the bundler of the runtime knows
import module from '../dist/tokenlane.wasm'
import { setModule } from '../dist/core.mjs'

setModule(module)
