// The typings of @tokenlane/web, and of the drop-ins with the conditions of browsers.

import { Tokenizer, init, isTokenlaneError } from '@tokenlane/web'
import type { Encoding, TokenlaneError } from '@tokenlane/web'
import data from '@tokenlane/web/o200k_base'
import { getEncoding } from '@tokenlane/js-tiktoken'
import { encode } from '@tokenlane/gpt-tokenizer/model/gpt-4o'
import { get_encoding } from '@tokenlane/tiktoken'

await init(new Uint8Array(8))
await init(new WebAssembly.Module(new Uint8Array(8)))
await init(WebAssembly.compile(new ArrayBuffer(8)))
const tokenizer: Tokenizer = await Tokenizer.fromEncoding('o200k_base', {
  data,
  signal: new AbortController().signal,
  specialTokens: 'text',
})
const found: Encoding = tokenizer.encode('a')
export const ids: number[] = [...found.ids, ...getEncoding('gpt2').encode('a'), ...encode('a')]
export const array: Uint32Array = get_encoding('gpt2').encode('a')
await Tokenizer.forModel('gpt-4o', { data: fetch('o200k_base.bin') })
// @ts-expect-error there are no files
Tokenizer.fromFile('tokenizer.json')
// @ts-expect-error no such option
await Tokenizer.fromEncoding('o200k_base', { dat: data })
try {
  tokenizer.count('a')
} catch (thrown) {
  if (isTokenlaneError(thrown)) {
    const { code }: TokenlaneError = thrown
    console.log(code)
  }
}
