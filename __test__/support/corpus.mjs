// Corpora for specs, and readers of the outputs that share no code with their writers.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { removeFolder } from './open-files.mjs'
import { text } from './texts.mjs'

/** A temporary folder; the result makes paths in it. The spec fails if a file in it stays open. */
export function scratch() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-corpus-'))
  test.after(() => removeFolder(folder))
  return (...names) => path.join(folder, ...names)
}

/** Variables with which temporary files are in a folder; Windows reads TEMP. */
export const temporaryIn = (folder) => ({ TMPDIR: folder, TEMP: folder })

/** Documents of different lengths, equal in every run; some are empty. */
export function documents(count, seed = 1) {
  return Array.from({ length: count }, (_, index) => ({
    id: `doc-${seed}-${index}`,
    text: index % 17 === 5 ? '' : text(20 + ((index * 7919 + seed * 104729) % 1500), seed * 1000 + index),
  }))
}

export const jsonl = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** A folder of JSON Lines, and all of its documents in order. */
export function writeCorpus(folder, files = 3, count = 60) {
  fs.mkdirSync(folder, { recursive: true })
  return Array.from({ length: files }, (_, index) => {
    const rows = documents(count, index + 1)
    fs.writeFileSync(path.join(folder, `part-${index}.jsonl`), jsonl(rows))
    return rows
  }).flat()
}

/** The stems of the shards of an output, in order. */
export function stems(folder) {
  const names = fs.readdirSync(folder).filter((name) => /^shard-\d{8}\.json$/.test(name))
  return names.sort().map((name) => name.slice(0, -5))
}

export const record = (folder, stem) => JSON.parse(fs.readFileSync(path.join(folder, `${stem}.json`), 'utf8'))

/** The SHA-256 of each file of the shards but the records, which hold times. */
export function hashes(folder) {
  const names = fs.readdirSync(folder).filter((name) => name.startsWith('shard-') && !/^shard-\d+\.json$/.test(name))
  const hash = (name) => sha256(fs.readFileSync(path.join(folder, name)))
  return Object.fromEntries(names.sort().map((name) => [name, hash(name)]))
}

/** Names that are left of files that were being written. */
export const leftovers = (folder) => fs.readdirSync(folder).filter((name) => name.startsWith('.'))

/** Reads .idx and .bin like IndexedDataset of megatron-core. */
export function readMegatron(prefix) {
  const index = fs.readFileSync(`${prefix}.idx`)
  assert.equal(index.toString('latin1', 0, 9), 'MMIDIDX\0\0')
  assert.equal(index.readBigUInt64LE(9), 1n)
  const [View, width] = { 1: [Uint8Array, 1], 4: [Int32Array, 4], 8: [Uint16Array, 2] }[index[17]]
  const [sequences, documentCount] = [Number(index.readBigUInt64LE(18)), Number(index.readBigUInt64LE(26))]
  const at = 34 + sequences * 4
  assert.equal(index.length, at + sequences * 8 + documentCount * 8)
  const bin = fs.readFileSync(`${prefix}.bin`)
  const rows = []
  let end = 0
  for (let row = 0; row < sequences; row++) {
    const length = index.readInt32LE(34 + row * 4)
    const pointer = Number(index.readBigInt64LE(at + row * 8))
    assert.equal(pointer, end)
    end = pointer + length * width
    rows.push([...new View(Uint8Array.from(bin.subarray(pointer, end)).buffer)])
  }
  assert.equal(end, bin.length)
  const starts = Array.from({ length: documentCount }, (_, one) =>
    Number(index.readBigInt64LE(at + sequences * 8 + one * 8)),
  )
  return { rows, starts, type: index[17] }
}

/** Reads an array as numpy.load does. */
export function readNpy(file) {
  const bytes = fs.readFileSync(file)
  assert.equal(bytes.toString('latin1', 0, 8), '\x93NUMPY\x01\x00')
  const start = 10 + bytes.readUInt16LE(8)
  assert.equal(start % 64, 0)
  const [, descr, count] = /'descr': '(<u[248]|\|u1)', .*'shape': \((\d+),\)/.exec(bytes.toString('latin1', 10, start))
  const values = numbers(bytes.subarray(start), descr)
  assert.equal(values.length, Number(count))
  return { descr, values }
}

export function numbers(bytes, descr) {
  const View = { '|u1': Uint8Array, '<u2': Uint16Array, '<u4': Uint32Array, '<u8': BigUint64Array }[descr]
  return Array.from(new View(Uint8Array.from(bytes).buffer), Number)
}

const MDS_VALUES = {
  str: (bytes) => bytes.toString(),
  json: (bytes) => JSON.parse(bytes.toString()),
  'ndarray:uint8': (bytes) => arrayOf(bytes, Uint8Array),
  'ndarray:uint16': (bytes) => arrayOf(bytes, Uint16Array),
  'ndarray:int32': (bytes) => arrayOf(bytes, Int32Array),
}

/** An array of one dimension, as streaming stores it with its length. */
function arrayOf(bytes, View) {
  assert.equal(bytes[0] >> 2, 1)
  const start = 1 + 2 ** (bytes[0] & 3)
  const values = new View(Uint8Array.from(bytes.subarray(start)).buffer)
  assert.equal(values.length, bytes.readUIntLE(1, start - 1))
  return [...values]
}

/** The samples of the files in index.json, as LocalDataset of MosaicML's streaming reads them. */
export function readMds(folder) {
  const { version, shards } = JSON.parse(fs.readFileSync(path.join(folder, 'index.json'), 'utf8'))
  assert.equal(version, 2)
  return shards.flatMap(({ raw_data: { basename, bytes: size, hashes }, samples, zip_data, ...config }) => {
    const bytes = fs.readFileSync(path.join(folder, basename))
    assert.deepEqual([bytes.length, hashes.sha256, zip_data], [size, sha256(bytes), null])
    assert.equal(bytes.readUInt32LE(0), samples)
    const ends = Array.from({ length: samples + 1 }, (_, row) => bytes.readUInt32LE(4 + row * 4))
    assert.equal(ends[samples], size)
    assert.deepEqual(JSON.parse(bytes.toString('utf8', 8 + samples * 4, ends[0])), config)
    const { column_names: names, column_encodings: encodings } = config
    assert.deepEqual(names, names.toSorted())
    return ends.slice(1).map((end, row) => {
      let at = ends[row] + names.length * 4
      const columns = names.map((name, column) => {
        const length = bytes.readUInt32LE(ends[row] + column * 4)
        return [name, MDS_VALUES[encodings[column]](bytes.subarray(at, (at += length)))]
      })
      assert.equal(at, end)
      return Object.fromEntries(columns)
    })
  })
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

/** The rows of a .csv.gz, as csv.reader of Python reads them. */
export function readTable(file) {
  const csv = zlib.gunzipSync(fs.readFileSync(file)).toString()
  return [...csv.matchAll(/(\d+),(\d+),("(?:[^"]|"")*"|[^,]*),("(?:[^"]|"")*"|[^,]*),(\d+)\r\n/g)].map(
    ([, start, end, id, source, at]) => {
      const plain = (cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
      return { start: Number(start), end: Number(end), id: plain(id), source: plain(source), at: Number(at) }
    },
  )
}

/** Cuts values into rows at offsets. */
export const split = (values, offsets) => offsets.slice(1).map((end, index) => values.slice(offsets[index], end))
