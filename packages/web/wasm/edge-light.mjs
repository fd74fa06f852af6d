// As workerd.mjs, for Vercel's runtime, with the suffix by which its bundlers know a module.

// biome-ignore lint/suspicious/noTsIgnore: expect-error would fail where the file was built
// @ts-ignore a module that the bundler of the runtime knows
import module from '../dist/tokenlane.wasm?module'
import { setModule } from '../dist/core.mjs'

setModule(module)
