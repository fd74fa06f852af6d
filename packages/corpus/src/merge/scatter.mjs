// The two passes of a shuffle.
//
// The first pass reads each unit once, and gives each document a random file. It writes
// `scatter-NNNNNNNN.bin`, one for each unit:
//
//   …         the documents of a slice of the unit, by file: u32 size of the tokens in bytes, u32
//             size of the facts, the facts as JSON, the tokens
//   f64 each  for each slice and file, where its documents start; then where those of the last end
//   u32 each  number of slices, number of files
//
// The second pass collects the documents of a file from all of these, and shuffles them in memory.
// Both can be interrupted: a file appears when it is complete.

import { damaged } from '../errors.mjs'
import { writeFile } from '../output-files.mjs'
import { randomOf, shuffle } from '../shuffle.mjs'
import { SIZES } from '../sizes.mjs'
import { documentsOfUnit } from './documents.mjs'

const TRAILER_BYTES = 8
const HEADER_BYTES = 8

/** The name of the scattered documents of a unit, by its place in the plan. */
export const scatterName = (index) => `scatter-${String(index).padStart(8, '0')}.bin`

/**
 * Writes the scattered documents of a unit.
 *
 * @param {import('../store/types.js').Store} store
 * @param {import('../reading/finished-job.mjs').FinishedJob} job
 * @param {{ unit: import('./plan.mjs').Unit, index: number, files: number, seed: string }} request
 * @param {import('../sizes.mjs').Sizes} [sizes]
 */
export async function scatter(store, job, { unit, index, files, seed }, sizes = SIZES) {
  await writeFile(store, scatterName(index), async (file) => {
    file.appendOnly()
    const random = randomOf(`file ${seed} ${unit.input} ${unit.pass} ${unit.shard}`)
    const positions = []
    let slice = newSlice(files)
    const flush = async () => {
      for (const documents of slice.files) {
        positions.push(file.size)
        await writeDocuments(file, documents)
      }
      positions.push(file.size)
      slice = newSlice(files)
    }
    for await (const { tokens, starts, facts } of documentsOfUnit(job, unit, seed, sizes)) {
      facts.forEach((about, document) => {
        const own = tokens.subarray(starts[document], starts[document + 1])
        slice.files[Math.floor(random() * files)].push({ tokens: own, facts: about })
        slice.bytes += own.byteLength
      })
      if (slice.bytes >= sizes.scatteredSlice) await flush()
    }
    await flush()
    const trailer = Buffer.alloc(TRAILER_BYTES)
    trailer.writeUInt32LE(positions.length / (files + 1), 0)
    trailer.writeUInt32LE(files, 4)
    await file.write(Buffer.from(Float64Array.from(positions).buffer))
    await file.write(trailer)
  })
}

const newSlice = (files) => ({
  bytes: 0,
  files: Array.from(
    { length: files },
    () => /** @type {{ tokens: Uint16Array | Uint32Array, facts: object }[]} */ ([]),
  ),
})

async function writeDocuments(file, documents) {
  for (const { tokens, facts } of documents) {
    const about = Buffer.from(JSON.stringify(facts))
    const header = Buffer.alloc(HEADER_BYTES)
    header.writeUInt32LE(tokens.byteLength, 0)
    header.writeUInt32LE(about.length, 4)
    await file.write(header)
    await file.write(about)
    await file.writeNumbers(tokens)
  }
}

/** Reads the scattered documents of all units. */
export class Scattered {
  #store
  #files
  #sizes
  #positions = /** @type {Map<number, Float64Array>} */ (new Map())

  /**
   * @param {import('../store/types.js').Store} store
   * @param {number} files the number of files of the shuffle
   * @param {import('../sizes.mjs').Sizes} [sizes]
   */
  constructor(store, files, sizes = SIZES) {
    this.#sizes = sizes
    this.#store = store
    this.#files = files
  }

  /**
   * The documents of a file, shuffled, in blocks. All of them are in memory.
   *
   * @param {number} file
   * @param {{ units: import('./plan.mjs').Unit[], views: (Uint16ArrayConstructor |
   *   Uint32ArrayConstructor)[], seed: string, signal?: AbortSignal }} request `views` are the
   *   types of the inputs
   */
  async *blocks(file, { units, views, seed, signal }) {
    const documents = []
    for (const [index, unit] of units.entries()) {
      signal?.throwIfAborted()
      const positions = await this.#positionsOf(index)
      for (let slice = 0; slice < positions.length; slice += this.#files + 1) {
        const [from, to] = [positions[slice + file], positions[slice + file + 1]]
        if (from === to) continue
        const bytes = await this.#read(index, from, to)
        for (const document of this.#parse(index, bytes, views[unit.input]))
          documents.push({ ...document, input: unit.input })
      }
    }
    shuffle(documents, randomOf(`order ${seed} ${file}`))
    for (let first = 0; first < documents.length; ) {
      let size = 0
      let end = first
      while (
        end < documents.length &&
        (end === first || size + documents[end].tokens.byteLength <= this.#sizes.mergedBlock)
      )
        size += documents[end++].tokens.byteLength
      yield documents.slice(first, end)
      first = end
    }
  }

  async #positionsOf(index) {
    let positions = this.#positions.get(index)
    if (positions !== undefined) return positions
    const size = (await this.#store.sizeOf(scatterName(index)))?.bytes ?? 0
    if (size < TRAILER_BYTES) throw this.#damaged(index)
    const trailer = await this.#read(index, size - TRAILER_BYTES, size)
    const bytes = trailer.readUInt32LE(0) * (this.#files + 1) * 8
    const from = size - TRAILER_BYTES - bytes
    if (trailer.readUInt32LE(4) !== this.#files || from < 0) throw this.#damaged(index)
    positions = new Float64Array(Uint8Array.from(await this.#read(index, from, from + bytes)).buffer)
    for (let at = 0; at < positions.length; at++)
      if (!(positions[at] >= (at === 0 ? 0 : positions[at - 1]) && positions[at] <= from)) throw this.#damaged(index)
    this.#positions.set(index, positions)
    return positions
  }

  *#parse(index, bytes, View) {
    for (let at = 0; at < bytes.length; ) {
      if (at + HEADER_BYTES > bytes.length) throw this.#damaged(index)
      const [size, about] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
      const start = at + HEADER_BYTES + about
      at = start + size
      if (at > bytes.length) throw this.#damaged(index)
      const facts = JSON.parse(bytes.toString('utf8', start - about, start))
      // The copy has the alignment that its type needs.
      yield { facts, tokens: new View(Uint8Array.from(bytes.subarray(start, at)).buffer) }
    }
  }

  async #read(index, from, to) {
    const bytes = await this.#store.readRange(scatterName(index), from, to)
    if (bytes.length !== to - from) throw this.#damaged(index)
    return bytes
  }

  #damaged = (index) =>
    damaged(`${this.#store.where(scatterName(index))} is not as it was written: remove it, and run again`)
}
