// Planted files: what an attacker can put into the cache of the hub, or into the folder of a
// tokenizer, in place of a regular file. Loads from the cache run in their own processes with 2 s
// of CPU and 1 GiB of memory.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { COMMIT } from '../support/hub.mjs'
import { FILE, IDS, MORE, freshCache, loadFrom, root } from '../support/limited-hub.mjs'

const posix = { skip: process.platform === 'win32' && 'there are no such files' }

/** A cache after a complete load, created once. */
let used
async function loadOnce() {
  const cacheDir = freshCache()
  const { ids } = await loadFrom({}, undefined, { cacheDir })
  assert.deepEqual(ids, IDS)
  return cacheDir
}

/** Returns a copy of the cache; `inRepo` returns paths in it. */
async function usedCache() {
  used ??= loadOnce()
  const cacheDir = freshCache()
  const inRepo = (...parts) => path.join(cacheDir, 'models--org--name', ...parts)
  fs.cpSync(await used, cacheDir, { recursive: true, verbatimSymlinks: true })
  return { cacheDir, inRepo, blob: fs.realpathSync(inRepo('snapshots', COMMIT, 'tokenizer.json')) }
}

const again = (cacheDir, more) => loadFrom({}, undefined, { cacheDir, ...more })

/** What an attacker can put at the path of a regular file. */
const PLANTS = {
  'a pipe': (place) => execFileSync('mkfifo', [place]),
  'a socket': (place) =>
    new Promise((resolve) => {
      // Paths of sockets must be short, so it is created elsewhere and moved.
      const short = path.join(os.tmpdir(), `s${process.pid}`)
      const server = net.createServer().listen(short, () => {
        fs.renameSync(short, place)
        resolve()
      })
      after(() => server.close())
    }),
  'a folder': (place) => fs.mkdirSync(place),
  'a link to a pipe': (place) => {
    const pipe = `${root}/pipe-${Math.random()}`
    execFileSync('mkfifo', [pipe])
    fs.symlinkSync(pipe, place)
  },
  'a link to itself': (place) => fs.symlinkSync(path.basename(place), place),
  'a link to a device': (place) => fs.symlinkSync('/dev/zero', place),
  'a link to another file': (place) => fs.symlinkSync('/etc/passwd', place),
}

for (const where of [
  'refs/main',
  'blob',
  'tokenizer.json',
  'tokenizer_config.json',
  'parts',
  'blobs folder',
  'token',
]) {
  test(`in the cache, a planted file of another kind is refused: ${where}`, posix, async () => {
    for (const [what, plant] of Object.entries(PLANTS)) {
      // A token may be stored elsewhere.
      if (where === 'token' && what === 'a link to another file') continue
      const { cacheDir, inRepo, blob } = await usedCache()
      const inSnapshot = (name) => inRepo('snapshots', COMMIT, name)
      const env = where === 'token' ? { HF_TOKEN_PATH: path.join(cacheDir, 'token') } : {}
      const places = {
        'refs/main': [inRepo('refs', 'main')],
        blob: [blob],
        'tokenizer.json': [inSnapshot('tokenizer.json')],
        'tokenizer_config.json': [inSnapshot('tokenizer_config.json')],
        parts: [`${blob}.tokenlane.incomplete`, `${blob}.tokenlane-1-00000000.incomplete`],
        'blobs folder': [inRepo('blobs')],
        token: [env.HF_TOKEN_PATH],
      }[where]
      if (where === 'parts') {
        fs.rmSync(blob)
        fs.rmSync(inSnapshot('tokenizer.json'))
      }
      for (const place of places) {
        fs.rmSync(place, { force: true, recursive: true })
        await plant(place)
      }
      const offline = { options: { localFilesOnly: true } }
      for (const more of where === 'parts' ? [{ env }] : [{ env }, { env, ...offline }]) {
        const outcome = await again(cacheDir, more)
        const name = `${where}: ${what}: ${JSON.stringify({ ...outcome, hub: undefined })}`
        if (outcome.ids !== undefined) assert.deepEqual(outcome.ids, IDS, name)
        else assert.match(outcome.code, /^ERR_TOKENLANE_(HUB_CACHE|HUB_NOT_CACHED|NOT_A_FILE)$/, name)
        if (['parts', 'token'].includes(where)) assert.deepEqual(outcome.ids, IDS, name)
      }
    }
  })
}

test('the loader never writes through a planted link or hard link', posix, async () => {
  const victim = path.join(root, 'victim')
  for (const plant of [fs.symlinkSync, fs.linkSync]) {
    const { cacheDir, inRepo, blob } = await usedCache()
    fs.writeFileSync(victim, 'precious')
    fs.rmSync(inRepo('snapshots'), { recursive: true })
    fs.rmSync(blob)
    for (const place of [
      `${blob}.tokenlane.incomplete`,
      `${blob}.tokenlane-1-00000000.incomplete`,
      inRepo('refs', 'other'),
    ])
      plant(victim, place)
    assert.deepEqual((await again(cacheDir)).ids, IDS)
    // The download is interrupted, so that a partial file remains.
    fs.rmSync(inRepo('snapshots'), { recursive: true })
    fs.rmSync(blob)
    fs.rmSync(`${blob}.tokenlane.incomplete`, { force: true })
    plant(victim, `${blob}.tokenlane.incomplete`)
    const { code } = await loadFrom(
      {},
      ({ kind, count }) => (kind === 'cdn' ? { cut: count === 1 ? 100_000 : 0 } : undefined),
      { cacheDir },
    )
    assert.equal(code, 'ERR_TOKENLANE_HUB_NETWORK')
    assert.equal(fs.lstatSync(`${blob}.tokenlane.incomplete`).nlink, 1)
    assert.equal(fs.readFileSync(victim, 'utf8'), 'precious')
    assert.deepEqual((await again(cacheDir)).ids, IDS)
    assert.equal(fs.readFileSync(victim, 'utf8'), 'precious')
  }
})

test('links out of the cache are refused, and links inside of it work', posix, async () => {
  const outside = fs.mkdtempSync(path.join(root, 'outside-'))
  fs.writeFileSync(path.join(outside, 'tokenizer.json'), FILE)
  const offline = { options: { localFilesOnly: true } }
  {
    const { cacheDir, inRepo } = await usedCache()
    const place = inRepo('snapshots', COMMIT, 'tokenizer.json')
    fs.rmSync(place)
    fs.symlinkSync(path.join(outside, 'tokenizer.json'), place)
    const { code, message } = await again(cacheDir, offline)
    assert.equal(code, 'ERR_TOKENLANE_HUB_CACHE')
    assert.match(message, /is a link to .*, which is outside of it/)
  }
  {
    // Folders of the repository must exist and must not be links, or files would be written
    // elsewhere.
    const { cacheDir, inRepo } = await usedCache()
    for (const name of ['blobs', 'snapshots', 'refs', '.no_exist']) {
      fs.rmSync(inRepo(name), { recursive: true })
      fs.symlinkSync(outside, inRepo(name))
    }
    assert.equal((await again(cacheDir)).code, 'ERR_TOKENLANE_HUB_CACHE')
    assert.deepEqual(fs.readdirSync(outside), ['tokenizer.json'])
  }
  {
    // The cache, or a repository in it, can be a link to another disk, and repositories can share a
    // blob.
    const { cacheDir, inRepo, blob } = await usedCache()
    const linked = path.join(root, `linked-${path.basename(cacheDir)}`)
    fs.symlinkSync(cacheDir, linked)
    assert.deepEqual((await again(linked, offline)).ids, IDS)
    const elsewhere = path.join(outside, 'repo')
    fs.renameSync(inRepo(), elsewhere)
    fs.symlinkSync(elsewhere, inRepo())
    assert.deepEqual((await again(cacheDir, offline)).ids, IDS)
    assert.deepEqual((await again(cacheDir)).ids, IDS)
    fs.rmSync(inRepo())
    fs.renameSync(elsewhere, inRepo())
    fs.mkdirSync(path.join(cacheDir, 'models--org--other', 'blobs'), { recursive: true })
    fs.renameSync(blob, path.join(cacheDir, 'models--org--other', 'blobs', 'x'))
    fs.rmSync(inRepo('snapshots', COMMIT, 'tokenizer.json'))
    fs.symlinkSync('../../../models--org--other/blobs/x', inRepo('snapshots', COMMIT, 'tokenizer.json'))
    assert.deepEqual((await again(cacheDir, offline)).ids, IDS)
  }
})

test('config and templates of a folder: pipes, devices, folders, and too many files', posix, async () => {
  const lay = (name, plant) => {
    const folder = fs.mkdtempSync(path.join(root, 'beside-'))
    fs.writeFileSync(path.join(folder, 'tokenizer.json'), FILE)
    fs.mkdirSync(path.join(folder, MORE))
    plant(path.join(folder, name))
    return path.join(folder, 'tokenizer.json')
  }
  const chat = [{ role: 'user', content: 'hello' }]
  for (const name of ['tokenizer_config.json', 'chat_template.jinja', `${MORE}/a.jinja`]) {
    const plants = {
      ...PLANTS,
      'a large file': (place) => {
        fs.writeFileSync(place, '')
        fs.truncateSync(place, 2 ** 40)
      },
    }
    for (const what of ['a pipe', 'a folder', 'a link to a device', 'a link to itself', 'a large file']) {
      const file = lay(name, plants[what])
      for (const tokenizer of [await Tokenizer.fromFile(file), Tokenizer.fromFileSync(file)]) {
        assert.deepEqual([...tokenizer.encode('hello world').ids], IDS)
        assert.throws(
          () => tokenizer.applyChatTemplate(chat),
          { code: 'ERR_TOKENLANE_CHAT_TEMPLATE' },
          `${name}: ${what}`,
        )
      }
    }
  }
  const file = lay(`${MORE}/t.jinja`, (place) => {
    for (let i = 0; i < 1001; i++) fs.writeFileSync(path.join(path.dirname(place), `t${i}.jinja`), 'x')
  })
  for (const tokenizer of [await Tokenizer.fromFile(file), Tokenizer.fromFileSync(file)]) {
    assert.throws(() => tokenizer.applyChatTemplate(chat), {
      code: 'ERR_TOKENLANE_CHAT_TEMPLATE',
      message: /more than 1000 files/,
    })
  }
})

test('the files in the folder of a model must be regular files', posix, async () => {
  for (const name of ['tokenizer.json', 'tokenizer.model', 'vocab.txt']) {
    for (const what of ['a pipe', 'a folder', 'a link to a device']) {
      const place = path.join(root, `model with ${name} ${what}`)
      fs.mkdirSync(place)
      await PLANTS[what](path.join(place, name))
      await assert.rejects(Tokenizer.fromFile(place), { code: 'ERR_TOKENLANE_NOT_A_FILE' }, `${name}: ${what}`)
      assert.throws(() => Tokenizer.fromFileSync(place), { code: 'ERR_TOKENLANE_NOT_A_FILE' }, `${name}: ${what}`)
    }
  }
})

test('the tokenizer must be a regular file', posix, async () => {
  for (const what of ['a pipe', 'a socket', 'a link to a pipe', 'a link to a device']) {
    const place = path.join(root, `itself ${what}`)
    await PLANTS[what](place)
    await assert.rejects(Tokenizer.fromFile(place), { code: 'ERR_TOKENLANE_NOT_A_FILE' }, what)
    assert.throws(() => Tokenizer.fromFileSync(place), { code: 'ERR_TOKENLANE_NOT_A_FILE' }, what)
  }
})
