// What differs on Windows: paths with drive letters, backslashes and shares, long paths, devices,
// line ends, files that are replaced while they are read, and a hub cache without links. Whatever
// other systems have too is tested on all of them.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer } from '../../index.mjs'
import { renamePart } from '../../lib/files/parts.mjs'
import hubCache from '../../lib/hub/cache.js'
import { failure } from '../support/texts.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const windows = process.platform === 'win32'
const cli = fileURLToPath(new URL('../../cli/main.mjs', import.meta.url))
const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-paths-')))
after(() => fs.rmSync(folder, { recursive: true, force: true }))

const IDS = '14 11 15'
const file = path.join(folder, 'tiny.json')
fs.writeFileSync(file, bytesOf(tiny()))

/** The ids of a text with the tokenizer in a file, by each way of loading it. */
async function idsOf(name) {
  const loaded = [Tokenizer.fromFileSync(name), await Tokenizer.fromFile(name)]
  const ids = loaded.map((tokenizer) => [...tokenizer.encode('hello').ids].join(' '))
  assert.equal(ids[0], ids[1])
  return ids[0]
}

function commandLine(args, options = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    encoding: 'utf8',
    cwd: folder,
    ...options,
  })
  assert.equal(status, 0, stderr)
  return stdout
}

test('spaces, letters of all scripts, and relative paths', async () => {
  const place = path.join(folder, 'My models – モデル é')
  fs.mkdirSync(place)
  fs.copyFileSync(file, path.join(place, 'tokenizer.json'))
  // A relative path does not lead to another drive.
  for (const name of [path.join(place, 'tokenizer.json'), place, path.relative(process.cwd(), place)])
    if (!windows || path.isAbsolute(name) || path.parse(place).root === path.parse(process.cwd()).root)
      assert.equal(await idsOf(name), IDS, name)
  assert.equal(commandLine(['encode', '-t', path.join(place, 'tokenizer.json'), '-x', 'hello']), `${IDS}\n`)
})

test('drive letters, slashes of both kinds, and verbatim paths', { skip: !windows && 'for Windows' }, async () => {
  const forms = [file, file.replaceAll('\\', '/'), file.replace(/^[a-z]/i, (letter) => letter.toLowerCase())]
  forms.push(`\\\\?\\${file}`, `\\\\.\\${file}`, file.replace('tiny.json', '.\\tiny.json'))
  for (const name of forms) {
    assert.equal(await idsOf(name), IDS, name)
    assert.equal(commandLine(['encode', '-t', name, '-x', 'hello']), `${IDS}\n`, name)
  }
})

test('a share that cannot be reached is an error', { skip: !windows && 'for Windows' }, async () => {
  for (const name of ['\\\\localhost\\no share\\tokenizer.json', '//localhost/no share/tokenizer.json'])
    assert.match((await failure(() => Tokenizer.fromFile(name))).code, /^ERR_TOKENLANE_FILE(_NOT_FOUND)?$/)
})

test('devices and impossible names are errors, and nothing waits for input', {
  skip: !windows && 'for Windows',
}, async () => {
  for (const name of ['NUL', 'CON', 'con.json', 'COM1', 'AUX', '\\\\.\\PhysicalDrive0', 'a<b>.json', 'C:', ' ', 'x\\'])
    for (const load of [Tokenizer.fromFile, Tokenizer.fromFileSync])
      assert.match((await failure(() => load(name))).code, /^ERR_TOKENLANE_/, name)
})

test('paths of more than 260 units', async () => {
  const deep = path.join(folder, ...Array.from({ length: 6 }, (_, at) => `${at}`.repeat(60)))
  fs.mkdirSync(deep, { recursive: true })
  const name = path.join(deep, 'tokenizer.json')
  fs.copyFileSync(file, name)
  assert.ok(name.length > 360)
  assert.equal(await idsOf(name), IDS)
  assert.equal(await idsOf(deep), IDS)
  assert.equal(commandLine(['encode', '-t', name, '-x', 'hello']), `${IDS}\n`)
  const out = path.join(deep, 'ids.txt')
  commandLine(['encode', '-t', name, '-x', 'hello', '-o', out])
  assert.equal(fs.readFileSync(out, 'utf8'), `${IDS}\n`)
})

test('files with the line ends of Windows load as those with line feeds', async () => {
  const vocab = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'hello', 'world', '##s']
  const bpe = { '<|endoftext|>': 0, h: 1, e: 2, l: 3, o: 4, Ġ: 5, he: 6, ll: 7, hell: 8, hello: 9 }
  const ranks = ['aGVsbG8= 256', 'aGU= 257']
  for (let byte = 0; byte < 256; byte += 1) ranks.push(`${Buffer.from([byte]).toString('base64')} ${byte}`)
  const kinds = {
    'vocab.txt': { 'vocab.txt': `${vocab.join('\n')}\n` },
    'merges.txt': {
      'vocab.json': JSON.stringify(bpe, undefined, 1),
      'merges.txt': '#version: 0.2\nh e\nl l\nhe ll\nhell o\n',
      'tokenizer_config.json': '{\n"tokenizer_class": "GPT2Tokenizer"\n}\n',
    },
    'tokenizer.json': { 'tokenizer.json': JSON.stringify(tiny(), undefined, 2) },
  }
  for (const [kind, files] of Object.entries(kinds)) {
    const ids = ['\n', '\r\n'].map((end) => {
      const place = fs.mkdtempSync(path.join(folder, 'ends-'))
      for (const [name, text] of Object.entries(files))
        fs.writeFileSync(path.join(place, name), text.replaceAll('\n', end))
      return [...Tokenizer.fromFileSync(place).encode('hello world hellos').ids]
    })
    assert.deepEqual(ids[1], ids[0], kind)
  }
  const [unix, dos] = ['\n', '\r\n'].map((end) => {
    const name = path.join(folder, `ranks${end.length}.tiktoken`)
    fs.writeFileSync(name, ranks.join(end) + end)
    return [...Tokenizer.fromFileSync(name, { encoding: 'r50k_base' }).encode('hello he').ids]
  })
  assert.deepEqual(dos, unix)
})

test('a chat template with the line ends of Windows gives the text of the one with line feeds', () => {
  const template = '{% for message in messages %}\n{{ message.role }}: {{ message.content }}\n{% endfor %}\nend'
  const [unix, dos] = ['\n', '\r\n'].map((end) => {
    const place = fs.mkdtempSync(path.join(folder, 'chat-'))
    fs.writeFileSync(path.join(place, 'tokenizer.json'), bytesOf(tiny()))
    fs.writeFileSync(path.join(place, 'tokenizer_config.json'), '{}')
    fs.writeFileSync(path.join(place, 'chat_template.jinja'), template.replaceAll('\n', end))
    const messages = [{ role: 'user', content: 'hello' }]
    return Tokenizer.fromFileSync(place).applyChatTemplate(messages, { tokenize: false })
  })
  assert.equal(dos, unix)
  assert.doesNotMatch(dos, /\r/)
})

/** Renames a file. Returns false if Windows does not allow it at this moment. */
function replace(from, to) {
  try {
    fs.renameSync(from, to)
    return true
  } catch (error) {
    if (windows && ['EPERM', 'EACCES', 'EBUSY'].includes(error.code)) return false
    throw error
  }
}

test('a file can be replaced while it is read, and after it was loaded', async () => {
  const place = path.join(folder, 'replaced.json')
  fs.copyFileSync(file, place)
  const large = Buffer.concat([Buffer.from(bytesOf(tiny())), Buffer.alloc(4 << 20, ' ')])
  for (let round = 0; round < 10; round += 1) {
    const loads = [1, 2, 3].map(() => Tokenizer.fromFile(place))
    const next = path.join(folder, `next-${round}.json`)
    fs.writeFileSync(next, round % 2 === 0 ? large : bytesOf(tiny()))
    // Windows may refuse to replace a file while it is open, but the loads must not notice.
    const replaced = replace(next, place)
    for (const tokenizer of await Promise.all(loads)) assert.equal([...tokenizer.encode('hello').ids].join(' '), IDS)
    if (!replaced) fs.renameSync(next, place)
  }
  fs.rmSync(place)
  assert.ok(!fs.existsSync(place))
})

test('a hub cache on a system without links has copies', async (t) => {
  t.mock.method(fs.promises, 'symlink', async () => {
    throw Object.assign(new Error('EPERM: operation not permitted, symlink'), { code: 'EPERM' })
  })
  const commit = '0'.repeat(40)
  const cacheDir = path.join(folder, 'cache')
  const cache = new hubCache.RepoCache(cacheDir, 'org/name')
  await cache.makeBlobFolder()
  fs.copyFileSync(file, cache.blob('etag'))
  // The second time, the copy is there.
  for (let time = 0; time < 2; time += 1) {
    const place = await cache.link(commit, 'tokenizer.json', 'etag')
    assert.ok(fs.lstatSync(place).isFile())
    assert.equal(await cache.find(commit, 'tokenizer.json'), place)
  }
  await cache.noteRevision('main', commit)
  for (const name of ['tokenizer_config.json', 'chat_template.jinja', 'chat_template.json', 'special_tokens_map.json'])
    await cache.noteAbsent(commit, name)
  const options = { cacheDir, localFilesOnly: true }
  const loaded = await Tokenizer.fromPretrained('org/name', options)
  assert.equal([...loaded.encode('hello').ids].join(' '), IDS)
})

test('a file that another process reads is replaced once that process has closed it', async (t) => {
  const [part, place] = ['one.part', 'one.json'].map((name) => path.join(folder, name))
  const { rename } = fs.promises
  let refusals = 3
  t.mock.method(fs.promises, 'rename', async (...names) => {
    if (refusals-- > 0) throw Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' })
    return rename(...names)
  })
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')
  t.after(() => Object.defineProperty(process, 'platform', platform))
  Object.defineProperty(process, 'platform', { ...platform, value: 'win32' })
  fs.writeFileSync(part, 'new')
  fs.writeFileSync(place, 'old')
  await renamePart(part, place)
  assert.equal(fs.readFileSync(place, 'utf8'), 'new')
  assert.equal((await failure(() => renamePart(part, place))).code, 'ENOENT')
  // Other systems replace it at once, so a refusal has another reason.
  Object.defineProperty(process, 'platform', { ...platform, value: 'linux' })
  refusals = 1
  fs.writeFileSync(part, 'newer')
  assert.equal((await failure(() => renamePart(part, place))).code, 'EPERM')
})
