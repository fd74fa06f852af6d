// The CLI with malicious input, and with signals at any time. Cases that could exhaust the machine
// run in another process with 4 s of CPU and 1 GiB of memory.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import zlib from 'node:zlib'

import { folderWithTokenizer, main, runIn, startIn } from '../support/cli.mjs'
import { LimitedProcess } from '../support/limited.mjs'
import { startHub } from '../support/hub.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)
const place = (name) => path.join(folder, name)
const write = (name, content) => fs.writeFileSync(place(name), content)
const MIB = 1 << 20
const posix = { skip: process.platform === 'win32' && 'there are no such files' }
const linux = { skip: process.platform !== 'linux' && 'this needs /proc' }

const child = new LimitedProcess('cli-limited.mjs')

/** Runs the CLI within limits. */
const limited = (args, limits) => child.call({ folder, args }, limits)

async function refused(args, message, status = 1, limits = undefined) {
  const result = await limited(args, limits)
  assert.equal(result.status, status, `${args.join(' ')}: ${result.signal} ${result.stderr}`)
  assert.match(result.stderr, message)
  assert.match(result.stderr, /^tokenlane: [^\n]+ \(ERR_TOKENLANE_[A-Z_]+\)\n$/)
  return result
}

/** Many mebibytes of one letter, compressed to a few kilobytes. */
const member = zlib.gzipSync(Buffer.alloc(64 * MIB, 'a'))
const bomb = Buffer.concat(Array(48).fill(member))
/**
 * A line that compresses to a fiftieth, so that its length exceeds a limit, and its ratio does not.
 */
const longLine = () => {
  const part = Buffer.concat(
    Array.from({ length: 20 }, (_, i) =>
      Buffer.concat([
        Buffer.from(Array.from({ length: 1500 }, (_, j) => 33 + ((((i * 1500 + j) * 2654435761) >>> 7) % 90))),
        Buffer.alloc(60_000, 'a'),
      ]),
    ),
  )
  return Buffer.concat(Array(270).fill(zlib.gzipSync(part)))
}

/** Half of them read gzip and half Zstandard: one reader serves all. */
const COMMANDS = [
  ['count'],
  ['count', '--rows', 'lines'],
  ['count', '--field', 'a'],
  ['encode'],
  ['encode', '--rows', 'files'],
  ['decode', '-t', 'tiny.json'],
  ['decode', '-t', 'tiny.json', '--from', 'bin', '--type', 'u16'],
  ['inspect'],
  ['bench', '--passes', '1'],
  ['split', '-n', '5000', '-t', 'gpt2'],
]

test('gzip that becomes gigabytes is refused, with the file and the line', async () => {
  write('bomb.gz', Buffer.concat([zlib.gzipSync('a\nb\n'), bomb]))
  for (const command of COMMANDS.filter((_, at) => at % 2 === 0)) {
    await refused(
      [...command, 'bomb.gz'],
      /bomb\.gz(, line 3)?: .*(more than 100 times its size.*'--max-ratio 1000' allows more.*DECOMPRESS_LIMIT|this row has more than \d+ bytes; '--max-row SIZE' allows more.*TEXT_TOO_LONG)|line 1: .* is no/,
    )
  }
  // A whole file would be within its limit.
  await refused(
    ['count', '--max-row', '4G', 'bomb.gz'],
    /bomb\.gz: it decompresses to more than 100 times its size.*DECOMPRESS_LIMIT/,
    1,
    { isFresh: true },
  )
  await refused(
    ['count', '--rows', 'lines', '--max-row', '4G', 'bomb.gz'],
    /bomb\.gz, line 3: it decompresses to more than 100 times/,
    1,
    { isFresh: true },
  )
})

test('--max-ratio raises the limit', () => {
  const line = `${'hello'.repeat(4000)}\n`
  const lines = 4200
  write('line.txt', line)
  write('dense.gz', zlib.gzipSync(line.repeat(lines)))
  const count = (...args) => run(['count', '-t', 'tiny.json', '--rows', 'lines', '--total', ...args])
  assert.match(count('dense.gz').stderr, /dense\.gz, line \d+: it decompresses to more than 100 times/)
  assert.equal(count('--max-ratio', '2000', 'dense.gz').stdout, `${lines * Number(count('line.txt').stdout)}\n`)
})

test('lines and texts longer than the limit are refused, with the file and the line', async () => {
  write('line.gz', Buffer.concat([zlib.gzipSync('a\n'), longLine()]))
  await refused(
    ['count', '--rows', 'lines', 'line.gz'],
    /line\.gz, line 2: this row has more than 67108864 bytes; '--max-row SIZE' allows more.*TEXT_TOO_LONG/,
  )
  await refused(
    ['count', 'line.gz'],
    /line\.gz: this row has more than 268435456 bytes; .*'--rows lines' makes each line a row.*TEXT_TOO_LONG/,
  )
  write('five.txt', 'ab\nabcde\nabcdef\n')
  const lines = (...args) => run(['count', '-t', 'tiny.json', '--rows', 'lines', ...args, 'five.txt'])
  assert.match(lines('--max-row', '5').stderr, /five\.txt, line 3: this row has more than 5 bytes/)
  assert.equal(lines('--max-row', '6').status, 0)
  assert.match(run(['count', '--max-row', '15', 'five.txt']).stderr, /five\.txt: this row has more than 15 bytes/)
  assert.equal(run(['count', '--max-row', '16', 'five.txt']).status, 0)
  write('large.txt', Buffer.alloc(17 * MIB, 'a'))
  await refused(['inspect', 'large.txt'], /large\.txt: this row has more than 16777216 bytes/)
  await refused(
    ['encode', '--tokens', '-f', 'jsonl', 'large.txt'],
    /large\.txt, line 1: this row has more than 8388608 bytes/,
  )
  await refused(['count', '--field', 'a', 'large.txt'], /large\.txt, line 1: this row has more than 16777216 bytes/)
  await refused(
    ['decode', '-t', 'tiny.json', '--from', 'jsonl', 'large.txt'],
    /large\.txt, line 1: this row has more than 16777216 bytes/,
  )
  fs.truncateSync(place('large.txt'), 65 * MIB)
  for (const command of ['encode', 'bench'])
    await refused([command, 'large.txt'], /large\.txt, line 1: this row has more than 67108864 bytes/)
  await refused(
    ['decode', '-t', 'tiny.json', '--from', 'bin', 'large.txt'],
    /large\.txt: this row has more than 67108864 bytes/,
  )
  fs.truncateSync(place('large.txt'), 257 * MIB)
  await refused(['count', 'large.txt'], /large\.txt: this row has more than 268435456 bytes/)
  const sizes = {
    1: true,
    4096: true,
    '64K': true,
    '64m': true,
    '1GiB': true,
    '4G': true,
    0: false,
    '5G': false,
    '1T': false,
    '-1': false,
    '1.5M': false,
    '': false,
  }
  for (const [size, isRight] of Object.entries(sizes))
    assert.equal(run(['count', `--max-row=${size}`, '-x', '']).status, isRight ? 0 : 2, size)
})

test('a row of 250 MiB is counted within a gibibyte', async () => {
  write('whole.txt', Buffer.alloc(250 * MIB, 'a b '))
  const { status, stdout, stderr } = await limited(['count', 'whole.txt'], { cpu: 60 })
  assert.equal(status, 0, stderr)
  assert.match(stdout, /whole\.txt/)
  fs.rmSync(place('whole.txt'))
})

/**
 * A Zstandard frame. `window` is the window descriptor; each block repeats one byte `size` times.
 */
function frame(window, blocks, size = 1 << 17) {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, window])
  const all = Array.from({ length: blocks }, (_, i) => {
    const word = (size << 3) | (1 << 1) | Number(i === blocks - 1)
    return [word & 255, (word >> 8) & 255, word >> 16, 97]
  })
  return Buffer.concat([header, Buffer.from(all.flat())])
}

test('Zstandard that becomes gigabytes, needs gigabytes, or hours, is refused', async () => {
  const windows = {
    '128K': (17 - 10) << 3,
    '8M': (23 - 10) << 3,
    '128M': (27 - 10) << 3,
    '256M': (28 - 10) << 3,
    '2G': (31 - 10) << 3,
  }
  write(
    'ok.zst',
    Buffer.concat([
      frame(windows['128K'], 3),
      Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]),
      frame(windows['8M'], 2, 10),
    ]),
  )
  assert.equal(run(['count', '-t', 'gpt2', 'ok.zst']).status, 0)
  assert.match(
    run(['count', '-t', 'gpt2', '--max-row', '393235', 'ok.zst']).stderr,
    /ok\.zst: this row has more than 393235 bytes/,
  )
  write('bomb.zst', frame(windows['128K'], 250_000))
  for (const command of COMMANDS.filter((_, at) => at % 2 === 1))
    await refused([...command, 'bomb.zst'], /bomb\.zst(, line 1)?: .*(DECOMPRESS_LIMIT|TEXT_TOO_LONG)/)
  await refused(['count', '--max-row', '4G', 'bomb.zst'], /bomb\.zst: it decompresses to more than 100 times its size/)
  for (const size of ['256M', '2G']) {
    write('window.zst', frame(windows[size], 1))
    await refused(
      ['count', 'window.zst'],
      /window\.zst: its Zstandard data needs a window of \d+ bytes, and the limit is 134217728: .*DECOMPRESS_LIMIT/,
    )
  }
  write('window.zst', Buffer.concat([frame(windows['128K'], 1), frame(windows['2G'], 1)]))
  await refused(['count', 'window.zst'], /needs a window of 2147483648 bytes/)
  write('slow.zst', frame(windows['8M'], 250_000, 1))
  await refused(
    ['count', 'slow.zst'],
    /slow\.zst: its Zstandard data has too many small blocks for its window.*DECOMPRESS_LIMIT/,
  )
  write(
    'deep.zst',
    Buffer.concat([
      frame(windows['128K'], 1),
      Buffer.concat(Array(100_000).fill(Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]))),
    ]),
  )
  assert.equal((await limited(['count', 'deep.zst'])).status, 0)
})

test('arrays with fewer numbers than their header says', async () => {
  const npy = (words, version = 1, length = words.length) => {
    const head = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0, 0, 0, 0, 0])
    if (version === 1) head.writeUInt16LE(length, 8)
    else head.writeUInt32LE(length, 8)
    return Buffer.concat([head.subarray(0, version === 1 ? 10 : 12), Buffer.from(words)])
  }
  const shaped = (shape) => npy(`{'descr': '<u4', 'fortran_order': False, 'shape': (${shape}), }`)
  const decode = ['decode', '-t', 'tiny.json']
  const cases = [
    [npy('x', 2, 2 ** 32 - 1), /its header has more than 65536 bytes/],
    [npy('', 2).subarray(0, 11), /its header is not supported/],
    [npy('x', 1, 60_000), /its header is not supported/],
    [shaped('1000000000000000,0'), /more than 1000000 rows without ids/],
    [shaped('9'.repeat(400)), /its shape .* is too large/],
    [shaped('5,9007199254740991'), /it ends in row 1/],
    [shaped('9007199254740991,5'), /it ends in row 1/],
  ]
  for (const [bytes, message] of cases) {
    write('a.npy', bytes)
    await refused([...decode, 'a.npy'], message)
  }
})

// Signals.

/** The paths of the files that a process has open. */
const openFiles = (pid) => {
  try {
    return fs.readdirSync(`/proc/${pid}/fd`).map((name) => fs.readlinkSync(`/proc/${pid}/fd/${name}`))
  } catch {
    return []
  }
}

/** Waits until a condition holds, and fails if the process ends before. */
async function until(holds, child) {
  while (!(await holds())) {
    assert.equal(child.exitCode ?? child.signalCode, null, 'it ended')
    await pause(10)
  }
}

/** The signals with their exit codes; each case takes the next one. */
const SIGNALS = Object.entries({ SIGTERM: 143, SIGINT: 130, SIGHUP: 129 })

/**
 * Sends a signal when a condition holds, and checks how the process ends. A process that does not
 * end is killed, which is a failure.
 */
async function ends(args, holds, env) {
  SIGNALS.push(SIGNALS.shift())
  const [[signal, status]] = SIGNALS
  const { child, ended, written } = startIn(folder, args, env)
  try {
    await until(() => holds(child), child)
    // The handlers are installed before anything is opened.
    child.kill(signal)
    const rescue = setTimeout(() => child.kill('SIGKILL'), 60_000)
    const { status: left } = await ended
    clearTimeout(rescue)
    assert.equal(left, status, `${args.join(' ')}: ${signal}: ${written.stderr}`)
  } finally {
    child.kill('SIGKILL')
  }
  assert.deepEqual(
    fs.readdirSync(folder).filter((name) => name.endsWith('.part')),
    [],
  )
}

test('a command that waits for a pipe ends by a signal', linux, async () => {
  spawnSync('mkfifo', [place('pipe')])
  const opened = ({ pid }) => openFiles(pid).includes(place('pipe'))
  for (const [name, ...options] of [
    ['count'],
    ['encode', '-o', 'out.txt'],
    ['decode', '-t', 'tiny.json'],
    ['decode', '-t', 'tiny.json', '--from', 'npy'],
    ['split', '-n', '5'],
    ['inspect'],
    ['bench'],
  ]) {
    await ends([name, ...options, 'pipe'], opened)
  }
  // A FIFO whose other end is open but silent.
  const { O_RDWR, O_NONBLOCK } = fs.constants
  const other = fs.openSync(place('pipe'), O_RDWR | O_NONBLOCK)
  await ends(['count', 'pipe'], opened)
  fs.closeSync(other)
  // A pipe of rows beside an array.
  write('ids.bin', Buffer.alloc(8))
  spawnSync('mkfifo', [place('ids.rows.bin')])
  await ends(['decode', '-t', 'tiny.json', 'ids.bin'], ({ pid }) => openFiles(pid).includes(place('ids.rows.bin')))
})

test('a command that waits for standard input, for a reader, or for the network, ends by a signal', linux, async () => {
  const loaded = ({ pid }) => fs.readFileSync(`/proc/${pid}/maps`, 'utf8').includes('tokenlane.')
  for (const command of [['count'], ['encode', '-o', 'out.txt'], ['split', '-n', '5'], ['inspect']])
    await ends(command, loaded)
  // A pipe without a reader: the output waits, but the process reacts to signals.
  spawnSync('mkfifo', [place('unread')])
  let probes = 0
  await ends(['encode', '-x', 'hello', '-o', 'unread'], (child) => loaded(child) && (probes += 1) > 20)
  let requests = 0
  const server = http.createServer(() => (requests += 1)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  after(() => server.closeAllConnections() || server.close())
  const env = {
    HF_ENDPOINT: `http://127.0.0.1:${server.address().port}`,
    HF_HUB_CACHE: place('hub'),
    HF_TOKEN_PATH: place('none'),
    HF_HUB_ETAG_TIMEOUT: '3600',
  }
  let seen = 0
  const asked = () => {
    if (requests <= seen) return false
    seen = requests
    return true
  }
  await ends(['count', '-x', 'a', '-t', 'org/name'], asked, env)
  await ends(
    ['inspect', '--web'],
    ({ pid }) => loaded({ pid }) && /^ *\d+: 0100007F:/m.test(fs.readFileSync(`/proc/${pid}/net/tcp`, 'utf8')),
  )
})

test('pipes are read and written like files', linux, async () => {
  spawnSync('mkfifo', [place('in'), place('to')])
  const { ended } = startIn(folder, ['encode', '-t', 'tiny.json', 'in', '-o', 'to'])
  const reader = fs.createReadStream(place('to'), 'utf8')
  const writer = fs.createWriteStream(place('in'))
  const lines = 'hello\n'.repeat(200_000)
  writer.end(lines)
  let read = ''
  for await (const text of reader) read += text
  assert.equal((await ended).status, 0)
  assert.equal(read, '14 11 15\n'.repeat(200_000))
  // A reader that closes its end.
  const { child, ended: cut } = startIn(folder, ['encode', '-t', 'tiny.json', '-o', 'to'])
  child.stdin.on('error', () => {}).end(lines)
  const short = fs.createReadStream(place('to'))
  short.once('data', () => short.destroy())
  const { status, stderr } = await cut
  assert.ok(status === 0 || (status === 1 && /to: its reader closed it/.test(stderr)), stderr)
})

test('folders and patterns skip pipes and devices; a named one is refused or read', linux, async () => {
  fs.mkdirSync(place('mixed'))
  write('mixed/a.txt', 'hello')
  spawnSync('mkfifo', [place('mixed/b.txt')])
  const server = net.createServer().listen(place('mixed/c.txt'))
  await new Promise((resolve) => server.once('listening', resolve))
  fs.symlinkSync('/dev/zero', place('mixed/d.txt'))
  for (const name of ['mixed', 'mixed/*.txt'])
    assert.equal(run(['count', '-t', 'tiny.json', name]).stdout, '         3  mixed/a.txt\n')
  assert.match(run(['count', 'mixed/c.txt']).stderr, /mixed\/c\.txt: it is a socket.*NOT_A_FILE/)
  await refused(['count', 'mixed/d.txt'], /mixed\/d\.txt: this row has more than/)
  server.close()
  for (const name of ['mixed/b.txt', '/dev/zero', 'mixed/d.txt'])
    await refused(['count', '-x', 'a', '-t', `./${path.relative(folder, path.resolve(folder, name))}`], /NOT_A_FILE/)
})

// Output.

test('an input is never written to', posix, () => {
  write('x.txt', 'hello\n')
  fs.symlinkSync('x.txt', place('soft.txt'))
  fs.linkSync(place('x.txt'), place('hard.txt'))
  fs.mkdirSync(place('sub'))
  fs.linkSync(place('x.txt'), place('sub/y.txt'))
  const refusedFor = (command, how = (args) => run(args.split(' '))) => {
    const { status, stderr } = how(command)
    assert.match(
      stderr,
      /^tokenlane: the output .* is the same file as the input .* \(ERR_TOKENLANE_OUTPUT_IS_INPUT\)\n$/,
      command,
    )
    assert.equal(status, 1, command)
  }
  for (const [input, output] of [
    ['x.txt', 'x.txt'],
    ['soft.txt', 'x.txt'],
    ['x.txt', 'soft.txt'],
    ['hard.txt', 'soft.txt'],
    ['sub', 'x.txt'],
    ['sub/*.txt', 'sub/y.txt'],
    ['five.txt x.txt', './sub/../hard.txt'],
  ]) {
    for (const command of ['encode', 'count', 'split -n 9', 'decode -t tiny.json'])
      refusedFor(`${command} ${input} -o ${output}`)
  }
  const inShell = (command) =>
    spawnSync('sh', ['-c', `"${process.execPath}" "${main}" ${command}`], { cwd: folder, encoding: 'utf8' })
  refusedFor('encode < x.txt -o soft.txt', inShell)
  for (const command of ['encode', 'count', 'inspect', 'bench', 'decode -t tiny.json', 'split -n 9'])
    refusedFor(`${command} x.txt >> hard.txt`, inShell)
  refusedFor('encode -f text -t tiny.json x.txt -o tiny.json')
  write('model.bin', Buffer.alloc(4))
  fs.linkSync(place('model.bin'), place('o.rows.npy'))
  refusedFor('encode model.bin -o o.npy')
  write('r.bin', Buffer.alloc(4))
  write('r.rows.bin', Buffer.alloc(16))
  refusedFor('decode -f text -t tiny.json r.bin -o r.rows.bin')
  assert.equal(fs.readFileSync(place('x.txt'), 'utf8'), 'hello\n')
  assert.equal(run(['encode', '-t', 'tiny.json', 'x.txt', '-o', 'z.txt']).status, 0)
  assert.equal(
    run(['encode', '-t', 'tiny.json', 'x.txt', '-o', 'z.txt']).status,
    0,
    'an output that is there is replaced',
  )
  assert.deepEqual(
    fs.readdirSync(folder).filter((name) => name.endsWith('.part')),
    [],
  )
})

test('the next run removes the partial files of a killed one, and nothing else', linux, async () => {
  fs.mkdirSync(place('parts'))
  const parts = () => fs.readdirSync(place('parts')).filter((name) => name.endsWith('.part'))
  const start = async (name) => {
    const before = new Set(parts())
    const { child, ended } = startIn(folder, ['encode', '-o', `parts/${name}`])
    child.stdin.on('error', () => {})
    let found
    await until(() => (found = parts().find((one) => !before.has(one))), child)
    return { child, ended, name: found }
  }
  const killed = await start('killed.txt')
  killed.child.kill('SIGKILL')
  await killed.ended
  assert.deepEqual(parts(), [killed.name])
  const live = await start('live.txt')
  assert.deepEqual(parts(), [live.name], 'that of the killed run is gone, and of another output')

  // Names of other machines, of other processes with the same number, and invalid ones.
  const [, system, pid, begun] = /tokenlane-([0-9a-f]{12})-(\d+)-(\d+)-\d+\.part$/.exec(live.name)
  assert.equal(Number(pid), live.child.pid)
  const dead = 4_194_305
  const kept = [
    `.a.tokenlane-${'0'.repeat(12)}-${dead}-1-1.part`,
    `.b.${dead}.part`,
    `.c.tokenlane-${system}-${dead}-1-1.party`,
    `d.tokenlane-${system}-${dead}-1-1.part`,
    `.e.tokenlane-${system}-${pid}-0-1.part`,
  ]
  const gone = [`.f.tokenlane-${system}-${dead}-1-1.part`, `.g.tokenlane-${system}-${pid}-${Number(begun) + 1}-1.part`]
  for (const name of [...kept, ...gone]) write(`parts/${name}`, 'x')
  const link = `.h.tokenlane-${system}-${dead}-1-1.part`
  fs.symlinkSync('../five.txt', place(`parts/${link}`))
  fs.mkdirSync(place(`parts/.i.tokenlane-${system}-${dead}-1-1.part`))
  assert.equal(run(['encode', '-x', 'a', '-o', 'parts/next.txt']).status, 0)
  const left = fs.readdirSync(place('parts'))
  for (const name of [...kept, link, live.name]) assert.ok(left.includes(name), name)
  for (const name of gone) assert.ok(!left.includes(name), name)
  assert.ok(fs.existsSync(place('five.txt')))
  live.child.stdin.end('a\n')
  assert.equal((await live.ended).status, 0)
  assert.ok(!fs.existsSync(place(`parts/${live.name}`)))
  assert.equal(fs.readFileSync(place('parts/live.txt'), 'utf8'), '64\n')
  // Names of the maximum length.
  for (const long of ['n'.repeat(255), 'ß'.repeat(127)])
    assert.equal(run(['encode', '-x', 'a', '-o', `parts/${long}`]).status, 0)
})

test('a failure at any time is reported in one line', linux, async () => {
  // A hub that fails while a command runs, and an output that cannot be written.
  const hub = await startHub({}, () => ({ drops: true }))
  const env = { HF_ENDPOINT: hub.url, HF_HUB_CACHE: place('hub2'), HF_TOKEN_PATH: place('none') }
  const { ended } = startIn(folder, ['count', '-x', 'a', '-t', 'org/name'], env)
  assert.match((await ended).stderr, /^tokenlane: [^\n]+\(ERR_TOKENLANE_HUB_NETWORK\)\n$/)
  hub.close()
  write('many.txt', 'hello\n'.repeat(100_000))
  assert.match(
    run(['encode', '-t', 'tiny.json', 'many.txt', '-o', '/dev/full']).stderr,
    /^tokenlane: \/dev\/full: no space is left on the disk \(ERR_TOKENLANE_FILE\)\n$/,
  )
  // A full disk behind standard output.
  const full = fs.openSync('/dev/full', 'w')
  for (const args of [['count', '-x', 'a'], ['encode', '-x', 'a', '--json'], ['--help'], ['inspect', '-x', 'a']]) {
    const { status, stderr } = spawnSync(process.execPath, [main, ...args], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.equal(stderr, 'tokenlane: standard output: no space is left on the disk (ERR_TOKENLANE_FILE)\n')
  }
  fs.closeSync(full)
  // No folder for temporary files.
  for (const args of [
    ['train', 'many.txt', '-o', 'new.json'],
    ['corpus', 'many.txt', '--dry-run'],
  ])
    assert.match(
      (await startIn(folder, [...args, '-q'], { TMPDIR: place('nowhere') }).ended).stderr,
      /^tokenlane: \S+nowhere, the folder for temporary files \(TMPDIR\): .+ \(ERR_TOKENLANE_FILE_NOT_FOUND\)\n$/m,
    )
  // Standard error without a reader.
  const child = spawn(process.execPath, [main, 'count', 'nowhere.txt'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr.destroy()
  assert.equal(await new Promise((resolve) => child.on('close', resolve)), 1)
})

test('a training that a signal ends leaves no temporary files', posix, async () => {
  const letters = 'abcdefghijklmnop'
  const word = (number) => Array.from({ length: 6 }, (_, at) => letters[(number >> (4 * at)) & 15]).join('')
  write('distinct.txt', Array.from({ length: 400_000 }, (_, at) => `${word((at * 7919) & 0xffffff)}\n`).join(''))
  fs.mkdirSync(place('temporary'))
  const filesIn = (name) => fs.readdirSync(name, { recursive: true })
  for (const more of [[], ['--work-dir', 'counted']]) {
    const args = ['train', 'distinct.txt', '-o', 'new.json', '--memory', '2M', '-q', ...more]
    const { child, ended } = startIn(folder, args, { TMPDIR: place('temporary') })
    const isWritten = () => filesIn(place('temporary')).some((name) => name.endsWith('.words'))
    while (!isWritten() && child.exitCode === null) await pause(1)
    child.kill('SIGTERM')
    assert.equal((await ended).status, 143)
    assert.deepEqual(filesIn(place('temporary')), [])
  }
})

test('a name that is not UTF-8 is an error that says so, alone and in a folder', linux, () => {
  fs.mkdirSync(place('names'))
  fs.writeFileSync(Buffer.concat([Buffer.from(`${place('names')}${path.sep}bad`), Buffer.from([0xff])]), 'x')
  fs.writeFileSync(path.join(place('names'), 'good.txt'), 'x')
  const failing = run(['count', '-t', 'r50k_base', 'names'])
  assert.equal(failing.status, 1)
  assert.match(failing.stderr, /bad\ufffd.*it is not UTF-8: rename the file/)
  assert.match(run(['count', 'names/bad\ufffd']).stderr, /bad\ufffd.*it is not UTF-8: rename the file/)
  const skipping = run(['count', '-t', 'r50k_base', 'names', '--on-error', 'skip'])
  assert.match(skipping.stdout, /good\.txt/)
})

test('patterns: braces have a limit, and stars and ranges take linear time', async () => {
  const braces = '{a,b}'.repeat(18)
  for (const pattern of [braces, '{a,b,c,d,e,f}'.repeat(4), `${'{x,{y,z}}'.repeat(9)}*`])
    await refused(['count', pattern], /the braces stand for more than 1024 patterns.*ARGUMENT_VALUE/)
  await refused(['count', '*/'.repeat(2500)], /at most 4096 characters.*ARGUMENT_VALUE/)
  fs.mkdirSync(place('patterns'))
  write(`patterns/${'a'.repeat(200)}`, 'x')
  write('patterns/b-1.md', 'x')
  await refused(['count', `patterns/${'*a'.repeat(40)}b`], /no file matches.*FILE_NOT_FOUND/)
  await refused(['count', 'patterns/[z-a]*'], /no file matches.*FILE_NOT_FOUND/)
  await refused(['count', `${'**/x*/'.repeat(300)}y`], /no file matches.*FILE_NOT_FOUND/)
  for (const pattern of ['patterns/b-[0-9].{txt,{rst,md}}', '{patterns,other}/**/**/b?[!a].m*', 'pat*/b-1.md']) {
    const { status, stdout } = await limited(['count', pattern])
    assert.equal(status, 0, pattern)
    assert.match(stdout, /b-1\.md/, pattern)
  }
})
