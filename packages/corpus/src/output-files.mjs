// Writes the files of a shard under temporary names, and renames them when they are complete.

import { writerOf } from './formats/formats.mjs'
import { packed } from './packing.mjs'
import { stemOf } from './record.mjs'
import { SIZES } from './sizes.mjs'

/** @typedef {import('./store/part-file.mjs').PartFile} PartFile */

/**
 * @typedef {object} More
 * @property {(suffix: string) => Promise<PartFile>} scratch makes a temporary file
 * @property {() => Promise<void>} written waits until all bytes are written
 */

/**
 * @param {import('./store/types.js').Store} store
 * @param {number} shard
 * @param {import('./options.mjs').Content} content
 * @param {(writer: import('./formats/formats.mjs').FormatWriter, more: More) => Promise<void>} fill
 *   writes the documents and finishes the writer
 * @param {import('./sizes.mjs').Sizes} [sizes]
 * @returns {Promise<{ files: { name: string, bytes: number, sha256: string, etag?: string }[],
 *   packing?: import('./packing.mjs').Packing }>}
 */
export async function writeShardFiles(store, shard, content, fill, sizes = SIZES) {
  /** @type {PartFile[]} */
  const files = []
  /** @type {PartFile[]} */
  const scratch = []
  const create = async (list, suffix) => {
    const file = await store.create(`${stemOf(shard)}${suffix}`)
    list.push(file)
    return file
  }
  const createScratch = (suffix) => create(scratch, suffix)
  const written = async () => {
    for (const file of [...files, ...scratch]) await file.written()
  }
  try {
    const ofFormat = await writerOf(content, (suffix) => create(files, suffix), createScratch, sizes)
    const writer = packed(ofFormat, content, shard, sizes)
    await fill(writer, { scratch: createScratch, written })
    const complete = []
    for (const file of files) complete.push(await file.complete())
    for (const file of files) await file.rename()
    await store.sync()
    return {
      files: complete.map((facts, index) => ({ ...facts, etag: files[index].etag })),
      packing: writer.packing,
    }
  } catch (failure) {
    await Promise.all(files.map((file) => file.discard()))
    throw failure
  } finally {
    await Promise.all(scratch.map((file) => file.discard()))
  }
}

/**
 * Writes one file of an output folder.
 *
 * @param {import('./store/types.js').Store} store
 * @param {string} name
 * @param {(file: PartFile) => Promise<void>} fill
 */
export async function writeFile(store, name, fill) {
  const file = await store.create(name)
  try {
    await fill(file)
    await file.complete()
    await file.rename()
  } catch (failure) {
    await file.discard()
    throw failure
  }
}
