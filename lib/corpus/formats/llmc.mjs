// The format of llm.c and of modded-nanogpt: one file with a header and the tokens of a shard. The
// header has 256 i32: a magic number, the version, the number of tokens, and zeros. The numbers are
// those of llm.c for tokens of GPT-2 (u16) and of Llama 3 (u32).

import { rangeError } from '../errors.mjs'

const HEADER_NUMBERS = 256
const KINDS = { u16: { magic: 20240520, version: 1 }, u32: { magic: 20240801, version: 7 } }
/** The largest number of tokens that the header can state. */
const MAX_TOKENS = 2 ** 31 - 1

export class LlmcWriter {
  #file
  #kind
  #count = 0

  constructor(file, type) {
    this.#file = file
    this.#kind = KINDS[type]
  }

  static async create({ type }, create) {
    const file = await create('.bin')
    await file.writeNumbers(new Int32Array(HEADER_NUMBERS))
    return new LlmcWriter(file, type)
  }

  async write({ tokens }) {
    this.#count += tokens.length
    for (const piece of tokens.pieces()) await this.#file.writeNumbers(piece)
  }

  async finish() {
    if (this.#count > MAX_TOKENS)
      throw rangeError(
        'ERR_TOKENLANE_ARGUMENT_VALUE',
        `a file of llm.c has at most ${MAX_TOKENS} tokens, but this shard has ${this.#count}: choose smaller shards`,
      )
    const { magic, version } = this.#kind
    const header = Int32Array.of(magic, version, this.#count)
    await this.#file.rewriteStart(Buffer.from(header.buffer))
  }
}
