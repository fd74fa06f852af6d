// npx tokenlane: arrays of ids in .npy and .bin files, in the formats of other tools.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { folderWithTokenizer, runIn } from '../support/cli.mjs'
import { texts } from '../support/texts.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)
const file = (name) => path.join(folder, name)
const read = (name) => fs.readFileSync(file(name))

function output(args, options) {
  const { status, stdout, stderr } = run(args, options)
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`)
  return stdout
}

/** Parses a file like the reader of NumPy: see numpy.lib.format. */
function npy(name) {
  const bytes = read(name)
  assert.equal(bytes.toString('latin1', 0, 8), '\x93NUMPY\x01\x00')
  const start = 10 + bytes.readUInt16LE(8)
  assert.equal(start % 64, 0)
  const header = bytes.toString('latin1', 10, start)
  const [, descr, count] = /^\{'descr': '(<u[248])', 'fortran_order': False, 'shape': \((\d+),\), \} *\n$/.exec(header)
  const View = { '<u2': Uint16Array, '<u4': Uint32Array, '<u8': BigUint64Array }[descr]
  const values = new View(Uint8Array.from(bytes.subarray(start)).buffer)
  assert.equal(values.length, Number(count))
  return { descr, values }
}

const rows = [...texts(40, 700), '', 'x']
const input = rows.map((text) => text.replaceAll('\n', ' ')).join('\n')
const lines = input.split('\n')

async function expected(encoding) {
  const batch = (await Tokenizer.fromEncoding(encoding)).encodeBatchSync(lines)
  return { ids: [...batch.ids], starts: [...batch.rowOffsets].map(BigInt) }
}

test('npy: 16-bit ids if the vocabulary fits, else 32-bit, and a file with the row offsets', async () => {
  for (const [encoding, descr] of [
    ['r50k_base', '<u2'],
    ['o200k_base', '<u4'],
  ]) {
    assert.equal(output(['encode', '-t', encoding, '-o', 'ids.npy'], { input }), '')
    const { ids, starts } = await expected(encoding)
    assert.deepEqual([npy('ids.npy').descr, [...npy('ids.npy').values]], [descr, ids])
    assert.deepEqual([npy('ids.rows.npy').descr, [...npy('ids.rows.npy').values]], ['<u8', starts])
    assert.equal(output(['decode', '-t', encoding, 'ids.npy']), `${input}\n`)
  }
})

test('bin: plain little-endian numbers', async () => {
  const { ids, starts } = await expected('r50k_base')
  for (const [type, View] of [
    ['u16', Uint16Array],
    ['u32', Uint32Array],
  ]) {
    output(['encode', '-t', 'r50k_base', '--type', type, '-o', 'ids.bin'], { input })
    assert.deepEqual([...new View(Uint8Array.from(read('ids.bin')).buffer)], ids)
    assert.deepEqual([...new BigUint64Array(Uint8Array.from(read('ids.rows.bin')).buffer)], starts)
    assert.equal(output(['decode', '-t', 'r50k_base', '--type', type, 'ids.bin']), `${input}\n`)
  }
  fs.rmSync(file('ids.rows.bin'))
  assert.equal(
    output(['decode', '-t', 'r50k_base', '--type', 'u32', 'ids.bin']),
    `${lines.join('')}\n`,
    'without starts it is one row',
  )
})

test('no rows, and an output without an extension', () => {
  output(['encode', '-f', 'npy', '-o', 'none'], { input: '' })
  assert.equal(npy('none').values.length, 0)
  assert.deepEqual([...npy('none.rows').values], [0n])
  assert.equal(output(['decode', '--from', 'npy', 'none']), '')
})

test('npy is refused for an output that is no regular file', { skip: process.platform === 'win32' }, () => {
  spawnSync('mkfifo', [file('pipe')])
  for (const name of ['/dev/null', 'pipe']) {
    const { status, stdout, stderr } = run(['encode', '-f', 'npy', '-o', name, '-x', 'a'])
    assert.deepEqual([status, stdout], [2, ''], name)
    assert.ok(stderr.includes(`the header of ${name} is written last, so the output must be a regular file`), stderr)
  }
})

test('an id above 16 bits is refused, and no file is left', () => {
  const { status, stderr } = run(['encode', '--type', 'u16', '-o', 'wide.bin'], {
    input: 'Straßenbahnhaltestelle '.repeat(9),
  })
  assert.equal(status, 2)
  assert.match(stderr, /the id \d+ has more than 16 bits: use '--type u32'/)
  assert.deepEqual(
    fs.readdirSync(folder).filter((name) => name.includes('wide')),
    [],
  )
})

/** An array file as NumPy writes it. */
function array(descr, shape, View, values) {
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape}), }`
  const start = Buffer.alloc(128, ' ')
  start.write('\x93NUMPY\x01\x00', 'latin1')
  start.writeUInt16LE(118, 8)
  start.write(header, 10)
  start[127] = 10
  return Buffer.concat([start, Buffer.from(View.from(values).buffer)])
}

test('arrays of other tools: tables, wide and signed numbers', () => {
  const arrays = [
    ['<i8', '2, 2', BigInt64Array, [11n, 4n, 8n, 8n], 'hello \nhehe\n'],
    ['<i4', '3,', Int32Array, [11, 4, 11], 'hello hello\n'],
    ['<u8', '2,', BigUint64Array, [11n, 4n], 'hello \n'],
    ['<u4', '3,', Uint32Array, [8, 9, 3], 'hello\n'],
    ['<i2', '2,', Int16Array, [11, 8], 'hellohe\n'],
    ['<u2', '1, 1', Uint16Array, [8], 'he\n'],
    ['|u1', '2,', Uint8Array, [8, 9], 'hell\n'],
  ]
  for (const [descr, shape, View, values, text] of arrays) {
    fs.writeFileSync(file('other.npy'), array(descr, shape, View, values))
    assert.equal(output(['decode', '-t', 'tiny.json', 'other.npy']), text, descr)
  }
})

test('truncated and contradictory files', () => {
  const wrong = {
    'no array': [Buffer.from('hello, world'), /this is not an \.npy file/],
    floats: [array('<f4', '1,', Float32Array, [1]), /the array has '<f4' in 1 dim/],
    'a negative number': [array('<i4', '1,', Int32Array, [-1]), /a number that is not a token id/],
    'a negative short number': [array('<i2', '1,', Int16Array, [-1]), /a number that is not a token id/],
    'a negative long number': [array('<i8', '1,', BigInt64Array, [-1n]), /a number that is not a token id/],
    'a number above 32 bits': [array('<u8', '1,', BigUint64Array, [1n << 32n]), /a number that is not a token id/],
    'fewer ids than its header says': [array('<u2', '3,', Uint16Array, [1]), /it ends in row 1, which has 3 ids/],
    'more ids than its header says': [array('<u2', '1,', Uint16Array, [1, 2]), /more ids than in its rows/],
    'half an id': [array('<u4', '2,', Uint16Array, [1, 2, 3]), /its last id is cut off/],
  }
  for (const [what, [bytes, message]] of Object.entries(wrong)) {
    fs.writeFileSync(file('wrong.npy'), bytes)
    const { status, stderr } = run(['decode', '-t', 'tiny.json', 'wrong.npy'])
    assert.equal(status, 1, what)
    assert.match(stderr, message, what)
  }
  fs.writeFileSync(file('rows.bin'), Uint16Array.of(1, 2))
  fs.writeFileSync(file('rows.rows.bin'), BigUint64Array.of(2n, 0n))
  assert.match(run(['decode', '-t', 'tiny.json', 'rows.bin']).stderr, /rows end before they start/)
})
