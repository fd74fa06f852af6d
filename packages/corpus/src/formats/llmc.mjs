// The format of llm.c and of modded-nanogpt: one file with a header and the tokens of a shard. The
// header has 256 i32: a magic number, the version, the number of tokens, and zeros. The numbers are
// those of llm.c for tokens of GPT-2 (u16) and of Llama 3 (u32). A loss mask is a second file,
// .mask.bin, with a number for each token (u8) and no header.

import { NumberFile } from 'tokenlane/internal/files.mjs'
import { rangeError } from '../errors.mjs'
import { withLossMask } from '../loss-mask.mjs'

const HEADER_NUMBERS = 256
const KINDS = { u16: { magic: 20240520, version: 1 }, u32: { magic: 20240801, version: 7 } }
/** The largest number of tokens that the header can state. */
const MAX_TOKENS = 2 ** 31 - 1

export class LlmcWriter {
  #file
  #tokens
  #kind
  #count = 0

  constructor(file, tokens, type) {
    this.#file = file
    this.#tokens = tokens
    this.#kind = KINDS[type]
  }

  static async create(content, create, _scratch, sizes) {
    const file = await create('.bin')
    await file.writeNumbers(new Int32Array(HEADER_NUMBERS))
    const mask = async () => NumberFile.create((await create('.mask.bin')).appendOnly(), undefined)
    const tokens = await withLossMask(content, await NumberFile.create(file, undefined), mask, sizes)
    return new LlmcWriter(file, tokens, content.type)
  }

  async write({ tokens }) {
    this.#count += tokens.length
    for (const piece of tokens.pieces()) await this.#tokens.write(piece)
  }

  async finish() {
    if (this.#count > MAX_TOKENS)
      throw rangeError(
        `a file of llm.c has at most ${MAX_TOKENS} tokens, but this shard has ${this.#count}: choose smaller shards`,
      )
    await this.#tokens.finish()
    const { magic, version } = this.#kind
    const header = Int32Array.of(magic, version, this.#count)
    await this.#file.rewriteStart(Buffer.from(header.buffer))
  }
}
