// The format of Megatron-LM, which IndexedDataset of megatron-core reads. The .bin file has the
// tokens. The .idx file has:
//
//   9 bytes   MMIDIDX and two zeros
//   u64       version, 1
//   u8        type of the tokens: 8 is u16, 4 is i32, 1 is u8
//   u64       number of sequences
//   u64       number of documents + 1
//   i32 each  lengths of the sequences
//   i64 each  positions of the sequences in .bin, in bytes
//   i64 each  the first sequence of each document, and the number of sequences
//
// Each document is a sequence. With `pack`, each row is a sequence, and a .docs.npy has the
// positions in the tokens at which documents start. A loss mask is a second pair of files,
// .mask.bin and .mask.idx, with a number for each token (u8).

import { NumberFile } from 'tokenlane/internal/files.mjs'
import { withLossMask } from '../loss-mask.mjs'
import { hasLossMask } from '../tokens.mjs'
import { Ends } from './rows.mjs'

const MAGIC = Buffer.from('MMIDIDX\0\0', 'latin1')
/** Size of the fields before the lengths, in bytes. */
const HEADER_BYTES = 34
const TYPES = { u8: { code: 1, width: 1 }, u16: { code: 8, width: 2 }, u32: { code: 4, width: 4 } }

function headerOf(code, sequences, documents) {
  const header = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(header)
  header.writeBigUInt64LE(1n, 9)
  header[17] = code
  header.writeBigUInt64LE(BigInt(sequences), 18)
  header.writeBigUInt64LE(BigInt(documents), 26)
  return header
}

/** The file with the positions at which documents start. */
const documentStarts = async (create) => NumberFile.create(await create('.docs.npy'), '<u8')

export class MegatronWriter {
  #tokens
  /** The index of the tokens, and that of their masks. */
  #indexes
  #documents
  #ends = new Ends()

  constructor(tokens, indexes, documents) {
    this.#tokens = tokens
    this.#indexes = indexes
    this.#documents = documents
  }

  static async create(content, create, _scratch, sizes) {
    const { type, pack } = content
    const numbers = async (name) => NumberFile.create((await create(`${name}.bin`)).appendOnly(), undefined)
    const ids = await numbers('')
    const indexes = [await Index.create(await create('.idx'), TYPES[type], sizes)]
    const documents = pack === undefined ? undefined : await documentStarts(create)
    await documents?.write(BigUint64Array.of(0n))
    const tokens = await withLossMask(content, ids, () => numbers('.mask'), sizes)
    if (hasLossMask(content)) indexes.push(await Index.create(await create('.mask.idx'), TYPES.u8, sizes))
    return new MegatronWriter(tokens, indexes, documents)
  }

  async write(block) {
    for (const piece of block.tokens.pieces()) await this.#tokens.write(piece)
    await this.#add(block.rows ?? block.lengths)
    await this.#documents?.write(this.#ends.of(block.lengths))
  }

  async #add(lengths) {
    for (const index of this.#indexes) await index.add(lengths)
  }

  async finish(rest = 0) {
    if (rest > 0) await this.#add(Uint32Array.of(rest))
    await this.#tokens.finish()
    for (const index of this.#indexes) await index.finish()
    await this.#documents?.finish()
  }
}

/** An .idx file. */
class Index {
  #file
  #type
  #slice
  #sequences = 0

  constructor(file, type, slice) {
    this.#file = file
    this.#type = type
    this.#slice = slice
  }

  /**
   * @param {import('../store/part-file.mjs').PartFile} file
   * @param {{ code: number, width: number }} type of the numbers in .bin
   * @param {import('../sizes.mjs').Sizes} sizes
   */
  static async create(file, type, sizes) {
    await file.write(headerOf(0, 0, 0))
    return new Index(file, type, sizes.indexEntries)
  }

  /** Adds the lengths of sequences. */
  add(lengths) {
    this.#sequences += lengths.length
    return this.#file.writeNumbers(lengths)
  }

  async finish() {
    await this.#positions()
    for (let from = 0; from <= this.#sequences; from += this.#slice) {
      const count = Math.min(this.#slice, this.#sequences + 1 - from)
      await this.#file.writeNumbers(BigInt64Array.from({ length: count }, (_, index) => BigInt(from + index)))
    }
    await this.#file.rewriteStart(headerOf(this.#type.code, this.#sequences, this.#sequences + 1))
  }

  /** Writes the positions. The lengths are read back from the file, to keep memory small. */
  async #positions() {
    let position = 0
    for (let from = 0; from < this.#sequences; from += this.#slice) {
      const count = Math.min(this.#slice, this.#sequences - from)
      const lengths = new Int32Array(new Uint8Array(await this.#file.read(HEADER_BYTES + from * 4, count * 4)).buffer)
      const positions = new BigInt64Array(count)
      for (let row = 0; row < count; row++) {
        positions[row] = BigInt(position)
        position += lengths[row] * this.#type.width
      }
      await this.#file.writeNumbers(positions)
    }
  }
}
