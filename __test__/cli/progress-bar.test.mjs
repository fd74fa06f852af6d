// The progress bar on a terminal: one line at any width, also with wide characters and while the
// window is resized, and nothing where there is no terminal.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Bar, barLine, canDraw, columnsOf, stopBars } from '../../cli/bar.mjs'
import { duration } from '../../cli/progress.mjs'
import { folderWithTokenizer, runIn } from '../support/cli.mjs'

/** A terminal of some columns that shows what is written to it. */
class Terminal extends EventEmitter {
  isTTY = true
  rows = ['']
  row = 0
  column = 0
  hasCursor = true

  constructor(columns) {
    super()
    this.columns = columns
  }

  write(text) {
    for (const [found, digits, letter] of text.matchAll(/\x1b\[\??(\d*)([A-Za-z])|[^]/gu)) {
      if (letter === undefined) this.#put(found)
      else if (letter === 'A') this.row = Math.max(0, this.row - Number(digits))
      else if (letter === 'G') this.column = Number(digits) - 1
      else if (letter === 'J') {
        this.rows.length = this.row + 1
        this.rows[this.row] = this.rows[this.row].slice(0, this.column)
      } else if (letter === 'l' || letter === 'h') this.hasCursor = letter === 'h'
      else assert.equal(letter, 'm', `unknown sequence ${JSON.stringify(found)}`)
    }
    return true
  }

  #put(character) {
    const width = columnsOf(character)
    if (this.column + width > this.columns) {
      this.row += 1
      this.rows[this.row] = ''
      this.column = 0
    }
    this.rows[this.row] = this.rows[this.row].slice(0, this.column) + character
    this.column += width
  }

  /** Wraps the lines again, as terminals do. */
  resize(columns) {
    const text = this.rows.join('')
    this.columns = columns
    this.rows = ['']
    ;[this.row, this.column] = [0, 0]
    for (const character of text) this.#put(character)
    this.emit('resize')
  }
}

const WORDS = ['42%', '1.0 of 2.0 MiB', '3.0 MiB/s', '4 s left']

test('durations', () => {
  const written = {
    '0 s': [0, 0.4, -3],
    '59 s': [59.4],
    '1 min 0 s': [59.6, 60],
    '2 min 5 s': [125],
    '59 min 59 s': [3599],
    '1 h 0 min': [3599.5, 3600, 3659],
    '25 h 1 min': [90061],
    '?': [Infinity, NaN],
  }
  for (const [text, all] of Object.entries(written)) for (const seconds of all) assert.equal(duration(seconds), text)
})

test('a line fits any width: words are left out from the right, and the bar last of all', () => {
  for (let room = 0; room < 200; room++) {
    for (const words of [WORDS, ['東京🚀', 'ｆｕｌｌ', 'e\u0301te\u0301'], [], ['']]) {
      for (const part of [undefined, 0, 0.5, 1, 7, -1]) {
        const { text, columns } = barLine(part, words, room)
        const plain = text.replace(/\x1b\[\d*m/g, '')
        assert.equal(columnsOf(plain), columns)
        assert.ok(columns <= room, `${JSON.stringify(plain)} has more than ${room} columns`)
      }
    }
  }
  const at = (room) => barLine(0.5, WORDS, room).text.replace(/\x1b\[\d*m/g, '')
  assert.equal(at(100), `${'█'.repeat(20)}${'░'.repeat(20)} 42% · 1.0 of 2.0 MiB · 3.0 MiB/s · 4 s left`)
  assert.equal(at(20), '42% · 1.0 of 2.0 MiB')
  assert.equal(at(12), '████░░░░ 42%')
  assert.equal(at(3), '42%')
  assert.equal(at(2), '')
})

test('wide characters take two columns, and marks none', () => {
  const widths = {
    a: 1,
    é: 1,
    'e\u0301': 1,
    東: 2,
    한: 2,
    '。': 2,
    ｆ: 2,
    '🚀': 2,
    '👩‍🚀': 4,
    '\u200b': 0,
    ﬀ: 1,
    '█': 1,
  }
  for (const [text, columns] of Object.entries(widths)) assert.equal(columnsOf(text), columns, text)
})

test('the bar stays one line while the window is resized, and leaves nothing', () => {
  const terminal = new Terminal(80)
  let now = 0
  const bar = new Bar(terminal, () => now)
  for (const columns of [80, 20, 50, 7, 3, 1, 120, 30]) {
    terminal.resize(columns)
    for (let i = 0; i < 5; i++) {
      now += 1000
      bar.update(i / 5, ['10%', '東京🚀'.repeat(3), ...WORDS])
      assert.equal(terminal.rows.length, 1, `${columns} columns: ${terminal.rows.join('|')}`)
      assert.ok(columnsOf(terminal.rows[0]) < Math.max(2, columns))
    }
    assert.equal(terminal.hasCursor, false)
  }
  bar.stop()
  assert.deepEqual(terminal.rows, [''])
  assert.equal(terminal.hasCursor, true)
  bar.stop()
  terminal.resize(10)
  assert.deepEqual(terminal.rows, [''])
  assert.equal(terminal.listenerCount('resize'), 0)
})

test('it is not drawn more often than the eye needs, and ends before other text', () => {
  const terminal = new Terminal(40)
  let now = 0
  const bar = new Bar(terminal, () => now)
  let drawings = 0
  const write = terminal.write.bind(terminal)
  terminal.write = (text) => {
    if (text.includes('%')) drawings += 1
    return write(text)
  }
  for (now = 0; now < 1000; now++) bar.update(now / 1000, [`${now}%`])
  assert.equal(drawings, 10)
  const before = process.listenerCount('exit')
  stopBars()
  assert.deepEqual(terminal.rows, [''])
  assert.equal(process.listenerCount('exit'), before - 1)
})

test('no terminal, or one that cannot move its cursor, has no bar', () => {
  assert.equal(canDraw({}), false)
  const { TERM } = process.env
  try {
    process.env.TERM = 'dumb'
    assert.equal(canDraw(new Terminal(80)), false)
    process.env.TERM = 'xterm'
    assert.equal(canDraw(new Terminal(80)), true)
  } finally {
    if (TERM === undefined) delete process.env.TERM
    else process.env.TERM = TERM
  }
  const folder = folderWithTokenizer()
  fs.writeFileSync(path.join(folder, 'large.txt'), 'hello world\n'.repeat(300_000))
  const { status, stderr } = runIn(folder)(['encode', '-t', 'tiny.json', 'large.txt', '-o', 'ids.npy'])
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
})

const noTerminal =
  spawnSync('script', ['-qec', 'true', '/dev/null'], { input: '' }).status !== 0 &&
  'there is no program `script` that makes a terminal'

test('an error is written on a line of its own', { skip: noTerminal }, () => {
  const folder = folderWithTokenizer()
  const good = `${'hello '.repeat(2000)}\n`.repeat(2000)
  fs.writeFileSync(path.join(folder, 'bad.txt'), Buffer.concat([Buffer.from(good), Buffer.from([0x68, 0xff, 10])]))
  const main = fileURLToPath(new URL('../../cli/main.mjs', import.meta.url))
  const command = `stty cols 60; ${process.execPath} ${main} encode -t r50k_base --tokens bad.txt -o ids.jsonl`
  const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { cwd: folder, encoding: 'utf8' })
  const line = stdout.split(/\r?\n/).find((one) => one.includes('tokenlane: '))
  assert.match(line, /(^|\x1b\[\?25h|\x1b\[0J)tokenlane: bad\.txt/)
  assert.equal(stdout.split('\x1b[?25l').length, stdout.split('\x1b[?25h').length)
})
