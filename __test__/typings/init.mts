// Is compiled, never run: the forms of init in tiktoken's README, with the types of a browser.
import { init } from '@tokenlane/tiktoken/init'
import { init as initLite } from '@tokenlane/tiktoken/lite/init'

const bytes = new Uint8Array()
const ready: Promise<void> = init((imports) => WebAssembly.instantiate(bytes, imports))
await initLite((imports) => WebAssembly.instantiate(new WebAssembly.Module(bytes), imports))
const start = (imports: WebAssembly.Imports) => WebAssembly.instantiate(bytes, imports)
await init(start)
