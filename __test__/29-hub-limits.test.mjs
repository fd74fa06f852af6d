// Malicious hubs and caches. Each case runs in its own process with 2 s of CPU and 1 GiB of memory,
// and must give a tokenizer or an error with a code. The hub is a real server on loopback.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import zlib from 'node:zlib'

import { Tokenizer } from '../index.mjs'
import { COMMIT, startHub } from './support/hub.mjs'
import { runLimited } from './support/limited.mjs'
import { bytesOf, tiny } from './support/tiny.mjs'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-limits-'))
after(() => fs.rmSync(root, { recursive: true, force: true }))

const CHILD = fileURLToPath(new URL('support/load-pretrained.mjs', import.meta.url))
const FILE = Buffer.concat([Buffer.from(bytesOf(tiny())), Buffer.alloc(400_000, ' ')])
const CONFIG = Buffer.from('{"bos_token": "<s>", "chat_template": "{{ messages[0].content }}"}')
const IDS = [14, 11, 12, 13, 2, 7, 15]
const MORE = 'additional_chat_templates'

/** The output of a child process that loads the tokenizer of a hub. */
async function load({ endpoint, cacheDir = freshCache(), limits, env, ...more }) {
  const { HF_TOKEN, HF_HUB_OFFLINE, ...rest } = process.env
  const environment = {
    ...rest,
    HF_ENDPOINT: endpoint,
    HF_TOKEN_PATH: path.join(root, 'none'),
    HF_HUB_ETAG_TIMEOUT: '0.5',
    HF_HUB_DOWNLOAD_TIMEOUT: '0.5',
    ...env,
  }
  const result = await runLimited([process.execPath, CHILD, JSON.stringify({ cacheDir, ...more })], {
    limits,
    env: environment,
  })
  assert.equal(result.status, 0, `${result.signal} ${result.stderr}`)
  return JSON.parse(result.stdout)
}

const freshCache = () => fs.mkdtempSync(path.join(root, 'cache-'))

/** Starts a hub with one repository, and loads its tokenizer in a child process. */
async function loadFrom(repo, trouble, more = {}) {
  const hub = await startHub(
    {
      'org/name': {
        files: { 'tokenizer.json': FILE, 'tokenizer_config.json': CONFIG },
        lfs: ['tokenizer.json'],
        ...repo,
      },
    },
    trouble,
  )
  try {
    return { ...(await load({ endpoint: hub.url, ...more })), hub }
  } finally {
    hub.close()
  }
}

async function refused(code, message, ...how) {
  const outcome = await loadFrom(...how)
  assert.equal(outcome.code, `ERR_TOKENLANE_${code}`, JSON.stringify({ ...outcome, hub: undefined }))
  assert.match(outcome.message, message)
  return outcome
}

const when = (kind, answers, file) => (request) =>
  request.kind === kind && (file === undefined || request.path === file) ? { answers } : undefined
const json = (response, value, headers) =>
  response
    .writeHead(200, { 'content-type': 'application/json', ...headers })
    .end(typeof value === 'string' ? value : JSON.stringify(value))
const entries = (count, name = (i) => `t${i}.jinja`) =>
  Array.from({ length: count }, (_, i) => ({ type: 'file', path: `${MORE}/${name(i)}`, size: 1 }))

/** Writes until the other end closes the connection. */
function pour(response, chunk, stream = response) {
  if (stream !== response) stream.pipe(response)
  const more = () => {
    while (!response.destroyed && stream.write(chunk));
    if (!response.destroyed) stream.once('drain', more)
  }
  response.on('error', () => {})
  more()
}

const bomb = (response, headers) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip', ...headers })
  pour(response, Buffer.alloc(1 << 20, ' '), zlib.createGzip({ level: 1 }))
}

const endless = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  pour(response, Buffer.alloc(1 << 16, ' '))
}

const drip = (response, headers = { 'content-type': 'application/json' }) => {
  response.writeHead(200, headers)
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}

test('an endless listing stops after 20 pages', async () => {
  let pages = 0
  const page = ({ headers: { host } }, response) => {
    pages += 1
    json(
      response,
      entries(2, (i) => `page${pages}-${i}.jinja`),
      { link: `<http://${host}/api/models/org/name/tree/${COMMIT}/${MORE}?cursor=${pages}>; rel="next"` },
    )
  }
  await refused('HUB_LIMIT', /the list of .* has more than 20 pages/, {}, when('tree', page))
  assert.equal(pages, 20)
})

test('all pages of a listing have at most 8 MiB together', async () => {
  let pages = 0
  const page = ({ headers: { host } }, response) => {
    pages += 1
    json(response, `${' '.repeat(1_900_000)}[]`, {
      link: `<http://${host}/api/models/org/name/tree/${COMMIT}/${MORE}?cursor=${pages}>; rel="next"`,
    })
  }
  await refused('HUB_LIMIT', /more than 8388608 bytes in all/, {}, when('tree', page))
  assert.equal(pages, 5)
})

test('a listing of unlimited size, plain or compressed, stops at 2 MiB', async () => {
  for (const answer of [endless, bomb])
    await refused(
      'HUB_LIMIT',
      /the answer of .* has more than 2097152 bytes/,
      {},
      when('tree', (_, response) => answer(response)),
    )
})

test('model information of unlimited size, plain or compressed, stops at 2 MiB', async () => {
  for (const answer of [endless, bomb])
    await refused(
      'HUB_LIMIT',
      /more than 2097152 bytes/,
      { silent: true },
      when('info', (_, response) => answer(response)),
    )
})

test('the body of an error response is not read', async () => {
  const answer = (_, response) => {
    response.writeHead(500, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'x-error-message': 'a\x85\x9b31mb'.repeat(50),
    })
    pour(response, Buffer.alloc(1 << 20, ' '), zlib.createGzip({ level: 1 }))
  }
  const { message } = await refused('HUB_SERVER', /answered with status 500/, {}, () => ({ answers: answer }))
  assert.doesNotMatch(message, /[\x00-\x1f\x7f-\x9f]/)
  assert.ok(message.length < 400, message)
})

test('20,000 templates, or more than the configured number, are refused before any download', async () => {
  const many = (_, response) => json(response, entries(20_000))
  const { hub } = await refused(
    'HUB_LIMIT',
    /'org\/name' has 20000 chat templates, and the limit is 100 templates: allow more with the option maxTemplates/,
    {},
    when('tree', many),
  )
  assert.ok(!hub.requests.some(({ path: name }) => name?.endsWith('.jinja')))
  const four = (_, response) => json(response, entries(4))
  await refused('HUB_LIMIT', /the limit is 3 templates/, {}, when('tree', four), { options: { maxTemplates: 3 } })
})

/** Loads a repository with templates; counts how many requests for them the hub serves at once. */
async function withTemplates(count, more) {
  const files = Object.fromEntries(entries(count).map(({ path: name }) => [name, Buffer.from(`{{ "${name}" }}`)]))
  let open = 0
  let most = 0
  const trouble = ({ path: name }) => {
    if (!name?.startsWith(`${MORE}/`)) return undefined
    return {
      answers(_, response) {
        open += 1
        most = Math.max(most, open)
        const bytes = files[name]
        setTimeout(() => {
          open -= 1
          response
            .writeHead(206, {
              'x-repo-commit': COMMIT,
              'x-linked-size': bytes.length,
              'x-linked-etag': `"${name.replace(/\W/g, '-')}"`,
              'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}`,
            })
            .end(bytes)
        }, 20)
      },
    }
  }
  const outcome = await loadFrom(
    { files: { 'tokenizer.json': FILE, 'tokenizer_config.json': CONFIG, ...files } },
    trouble,
    more,
  )
  return { ...outcome, most }
}

test('at most eight files are downloaded at once', async () => {
  const { ids, most } = await withTemplates(100)
  assert.deepEqual(ids, IDS)
  assert.ok(most <= 8, `${most} at once`)
})

test('without free file descriptors the error says so, and does not blame the cache', async () => {
  let short = 0
  for (const descriptors of [0, 1, 2, 3, 4, 6, 8, 60]) {
    const { ids, code, message } = await withTemplates(20, { descriptors, limits: { nofile: 100 } })
    if (ids !== undefined) continue
    assert.match(code, /^ERR_TOKENLANE_(TOO_MANY_FILES|FILE)$/, message)
    assert.match(message, /too many files are open \(EMFILE\): .*ulimit -n|Too many open files/)
    short += 1
  }
  assert.ok(short >= 3 && short < 8, String(short))
})

test('names that no file system accepts are refused', async () => {
  for (const length of [201, 300, 1_000_000]) {
    const listing = (_, response) =>
      json(
        response,
        entries(1, () => `${'a'.repeat(length - 6)}.jinja`),
      )
    await refused('HUB_LIMIT', /a chat template whose name has more than 200 characters/, {}, when('tree', listing))
  }
  // Names that lead elsewhere, and names that Windows reserves for devices, are not templates.
  const strange = [
    '../../../x.jinja',
    '/etc/x.jinja',
    'a/b.jinja',
    '..jinja',
    'con.jinja',
    'NUL.txt.jinja',
    'a\0.jinja',
    'a\n.jinja',
    'a b.jinja',
  ]
  const { ids, hub } = await loadFrom(
    {},
    when('tree', (_, response) =>
      json(
        response,
        entries(strange.length, (i) => strange[i]),
      ),
    ),
  )
  assert.deepEqual(ids, IDS)
  assert.ok(!hub.requests.some(({ kind, path: name }) => kind === 'resolve' && name.startsWith(MORE)))
})

test('redirects end after ten, and must lead to HTTP addresses', async () => {
  for (const kind of ['resolve', 'tree']) {
    let hops = 0
    const again = ({ url, headers: { host } }, response) =>
      response.writeHead(302, { location: `http://${host}${url.split('?')[0]}?hop=${(hops += 1)}` }).end()
    await refused('HUB_LIMIT', /redirects more than 10 times/, {}, when(kind, again))
    assert.equal(hops, 11)
  }
  for (const location of [
    'data:application/json,[]',
    'file:///etc/passwd',
    'blob:x',
    'http://',
    'http://[',
    'ftp://127.0.0.1/x',
  ]) {
    await refused(
      'HUB_SERVER',
      /it redirects to /,
      {},
      when('tree', (_, response) => response.writeHead(302, { location }).end()),
    )
  }
})

test('a response that stalls or trickles is aborted', async () => {
  await refused(
    'HUB_NETWORK',
    /nothing came .* for 0\.5 s|failed/,
    {},
    when('tree', (_, response) => response.writeHead(200).write('[')),
  )
  await refused(
    'HUB_NETWORK',
    /nothing came .* for 0\.5 s/,
    {},
    when('tree', (_, response) => drip(response)),
  )
  await refused(
    'HUB_NETWORK',
    /nothing came .* for 0\.5 s/,
    {},
    when('cdn', (_, response) => drip(response, { 'content-length': FILE.length })),
  )
})

test('a download that is interrupted repeatedly is aborted after 50 requests', async () => {
  const file = Buffer.concat([FILE, Buffer.alloc(1_200_000, ' ')])
  let requests = 0
  const cut = ({ headers: { range } }, response) => {
    requests += 1
    const start = Number(/bytes=(\d+)-/.exec(range)?.[1] ?? 0)
    response.writeHead(206, {
      'content-range': `bytes ${start}-${file.length - 1}/${file.length}`,
      'content-length': file.length - start,
    })
    response.write(file.subarray(start, start + 20_000), () => response.destroy())
  }
  await refused('HUB_LIMIT', /was cut off 50 times/, { files: { 'tokenizer.json': file } }, when('cdn', cut))
  assert.equal(requests, 50)
})

test('files larger than the limit are not downloaded', async () => {
  const sized = (size) => (_, response) =>
    response.writeHead(206, { 'x-repo-commit': COMMIT, 'x-linked-size': size, 'x-linked-etag': '"abc"' }).end()
  for (const size of [2 ** 29 + 1, 2 ** 40]) {
    const { hub } = await refused(
      'HUB_LIMIT',
      /tokenizer\.json of 'org\/name' has \d+ bytes, and the limit is 536870912 bytes: allow more with the option maxFileBytes/,
      {},
      when('resolve', sized(size), 'tokenizer.json'),
    )
    assert.deepEqual(hub.sent('tokenizer.json'), [])
  }
  await refused('HUB_LIMIT', /the limit is 1000 bytes/, {}, undefined, { options: { maxFileBytes: 1000 } })
  assert.deepEqual((await loadFrom({}, undefined, { options: { maxFileBytes: FILE.length } })).ids, IDS)
  await refused(
    'HUB_LIMIT',
    /config and the chat templates of 'org\/name' have more than 33554432 bytes together/,
    {},
    when('resolve', sized(2 ** 25 + 1), 'tokenizer_config.json'),
  )
})

test('a file of unlimited size, plain or compressed, ends at its announced size', async () => {
  for (const answer of [endless, bomb])
    await refused(
      'HUB_CORRUPT',
      /more than the \d+ bytes that were announced came/,
      {},
      when('cdn', (_, response) => answer(response)),
    )
})

test('malformed responses', async () => {
  for (const status of [204, 205, 206, 299, 304]) {
    const outcome = await loadFrom(
      {},
      when('cdn', (_, response) => response.writeHead(status).end()),
    )
    assert.match(
      outcome.code ?? '',
      /^ERR_TOKENLANE_HUB_(SERVER|NETWORK)$/,
      `${status} ${JSON.stringify(outcome.message)}`,
    )
  }
  const header = (headers) => (_, response) =>
    response
      .writeHead(206, { 'x-repo-commit': COMMIT, 'x-linked-size': FILE.length, 'x-linked-etag': '"abc"', ...headers })
      .end()
  for (const size of ['-1', '1e400', 'NaN', '9'.repeat(400), '0x10', '']) {
    await refused(
      'HUB_SERVER',
      /does not answer as a Hugging Face hub does/,
      {},
      when('resolve', header({ 'x-linked-size': size, 'content-range': `bytes 0-0/${size}` })),
    )
  }
  for (const etag of [
    '"../../../x"',
    '"a/b"',
    '"."',
    '".."',
    `"${'a'.repeat(300)}"`,
    '"abc.tokenlane.incomplete"',
    '"abc.incomplete"',
    '"abc.lock"',
    '"a b"',
    '""',
  ]) {
    await refused(
      'HUB_SERVER',
      /does not answer as a Hugging Face hub does/,
      {},
      when('resolve', header({ 'x-linked-etag': etag })),
    )
  }
  await refused('HUB_SERVER', /which commit a file is of/, {}, (request) =>
    request.kind === 'resolve' ? { answers: header({ 'x-repo-commit': '../../x' }) } : undefined,
  )
})

test('JSON that is not a listing', async () => {
  const listings = [
    '',
    'null',
    '{}',
    '[null]',
    '[1,"x",[],{}]',
    '[{"path":7}]',
    '{"a":',
    `${'['.repeat(900_000)}${']'.repeat(900_000)}`,
    '"\\u001b[31m',
    '\x1b[31m',
    `[${'{},'.repeat(600_000)}{}]`,
  ]
  for (const listing of listings) {
    const outcome = await loadFrom(
      {},
      when('tree', (_, response) => json(response, listing)),
    )
    const name = listing.slice(0, 20)
    if (outcome.ids !== undefined) continue
    assert.equal(outcome.code, 'ERR_TOKENLANE_HUB_SERVER', `${name} ${outcome.message}`)
    assert.doesNotMatch(outcome.message, /[\x00-\x1f]/, name)
    assert.ok(outcome.message.length < 400, name)
  }
})

test('a thousand layers of compression', async () => {
  const encoding = Array(1000).fill('gzip').join(', ')
  const outcome = await loadFrom(
    {},
    when('tree', (_, response) => json(response, '[]', { 'content-encoding': encoding })),
  )
  assert.ok(
    outcome.code?.startsWith('ERR_TOKENLANE_HUB_') || outcome.ids !== undefined,
    JSON.stringify(outcome.message),
  )
})

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
  test(`in the cache, no file but something else: ${where}`, posix, async () => {
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

test('files besides the tokenizer: pipes, devices, folders, and too many files', posix, async () => {
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
      'a large file': (place) => fs.truncateSync(place, 2 ** 40, fs.writeFileSync(place, '')),
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

test('limits are checked', async () => {
  for (const value of [-1, 1.5, NaN, Infinity]) {
    for (const name of ['maxFileBytes', 'maxTemplates']) {
      await assert.rejects(
        Tokenizer.fromPretrained('org/name', { [name]: value }),
        { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' },
        `${name} ${value}`,
      )
      await assert.rejects(Tokenizer.fromPretrained('org/name', { [name]: String(value) }), {
        code: 'ERR_TOKENLANE_ARGUMENT_TYPE',
      })
    }
  }
  await assert.rejects(Tokenizer.fromPretrained('org/name', { maxTemplates: 1001 }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
  })
})

/** Deterministic pseudo-random numbers from 0 to 1 (mulberry32). */
function seeded(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Sends a random correct or incorrect response of a hub. */
function randomAnswer(random, { path: name = '', kind }, request, response) {
  const pick = (...all) => all[Math.floor(random() * all.length)]
  const chance = (part) => random() < part
  const size = Math.floor(random() * 3000)
  const good = { 'tokenizer.json': Buffer.from(bytesOf(tiny())), 'tokenizer_config.json': CONFIG }[name]
  const bodies = [
    () => good ?? Buffer.from('[]'),
    () => good ?? Buffer.from(JSON.stringify(entries(Math.floor(random() * 5)))),
    () => Buffer.from(JSON.stringify({ sha: pick(COMMIT, '../x', 7, null) })),
    () =>
      Buffer.from(
        pick(
          '',
          'null',
          '[',
          '{}',
          '[null]',
          '[{"path":"../../x.jinja"}]',
          `[{"path":"${MORE}/../../../x.jinja"}]`,
          `[{"path":"${MORE}/..jinja"}]`,
        ),
      ),
    () => Buffer.alloc(size, Math.floor(random() * 256)),
  ]
  let body = chance(0.6) ? bodies[kind === 'info' ? 2 : 0]() : pick(...bodies)()
  const status = chance(0.6)
    ? kind === 'resolve' || kind === 'cdn'
      ? 206
      : 200
    : pick(100, 200, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 416, 429, 500, 503, 999)
  const headers = {}
  const maybe = (likely, header, ...values) => chance(likely) && (headers[header] = String(pick(...values)))
  maybe(0.9, 'x-repo-commit', COMMIT, COMMIT, COMMIT, COMMIT, 'x', '../../../x', '', 'f'.repeat(40))
  maybe(0.9, 'x-linked-size', body.length, body.length, body.length, size, -1, 1e12, '1e400', 'x')
  maybe(
    0.9,
    'x-linked-etag',
    '"abc"',
    `"${name.replace(/\W/g, '-')}"`,
    '"../../x"',
    '"a/../../../x"',
    '""',
    '"."',
    'W/"x"',
    `"${'a'.repeat(64)}"`,
    '"abc.tokenlane.incomplete"',
  )
  maybe(0.3, 'etag', '"other"', '".."', 'x')
  maybe(0.5, 'content-range', `bytes 0-0/${body.length}`, `bytes 0-${size}/${size}`, 'bytes */0', 'x', 'bytes 5-1/2')
  maybe(0.2, 'x-error-code', 'EntryNotFound', 'RepoNotFound', 'RevisionNotFound', 'GatedRepo', 'x')
  maybe(0.2, 'retry-after', 0, 1e9, -1, 'x', 'Thu, 01 Jan 1970 00:00:00 GMT')
  maybe(0.2, 'content-type', 'application/json', 'application/vnd.xet-fileinfo+json', 'text/html', 'x')
  maybe(
    0.2,
    'link',
    `<http://${request.headers.host}${request.url}>; rel="next"`,
    '<x>; rel="next"',
    '<http://[>; rel="next"',
    '<http://127.0.0.1:1/>; rel="next"',
  )
  if (status >= 300 && status < 400)
    maybe(
      0.8,
      'location',
      request.url,
      `http://${request.headers.host}${request.url}`,
      '/x',
      '//[',
      'data:,x',
      'http://127.0.0.1:1/',
      '../../../../x',
    )
  if (chance(0.2)) {
    headers['content-encoding'] = pick('gzip', 'deflate', 'br', 'x', 'gzip, gzip')
    if (headers['content-encoding'] === 'gzip' && chance(0.8))
      body = zlib.gzipSync(chance(0.3) ? Buffer.alloc(3 << 20) : body)
  }
  if (chance(0.1)) headers['content-length'] = pick(0, body.length + 10, Math.max(0, body.length - 1), 1e9)
  if (chance(0.05)) return request.socket.destroy()
  if (chance(0.03)) return undefined
  try {
    response.strictContentLength = false
    response.writeHead(status, headers)
    if (chance(0.15))
      response.write(body.subarray(0, Math.floor(random() * body.length)), () => request.socket.destroy())
    else response.end(body)
  } catch {
    // Responses that Node's server does not send.
    request.socket.destroy()
  }
  return undefined
}

test('any response of a hub gives a tokenizer or an error with a code, and nothing is written outside', async () => {
  const RUNS = Number(process.env.TOKENLANE_HUB_RUNS ?? 150)
  const folder = fs.mkdtempSync(path.join(root, 'random-'))
  const hubs = []
  const calls = []
  for (let seed = 0; seed < RUNS; seed++) {
    const random = seeded(seed)
    const repo = {
      'org/name': {
        files: { 'tokenizer.json': FILE, 'tokenizer_config.json': CONFIG },
        lfs: chanceOf(random, ['tokenizer.json']),
        silent: random() < 0.2,
      },
    }
    // Most responses are correct, so that the incorrect ones occur at every stage.
    const wrong = random() * 0.6
    const hub = await startHub(repo, (about) =>
      random() < wrong ? { answers: (request, response) => randomAnswer(random, about, request, response) } : undefined,
    )
    hubs.push(hub)
    calls.push({ endpoint: hub.url, cache: path.join(folder, `cache-${seed}`) })
  }
  const { HF_TOKEN, HF_HUB_OFFLINE, ...rest } = process.env
  const env = {
    ...rest,
    HF_TOKEN_PATH: path.join(root, 'none'),
    HF_HUB_ETAG_TIMEOUT: '0.3',
    HF_HUB_DOWNLOAD_TIMEOUT: '0.3',
  }
  // Seconds of CPU for all of them together.
  const list = path.join(root, 'calls.json')
  fs.writeFileSync(list, JSON.stringify({ calls }))
  const result = await runLimited([process.execPath, CHILD, `@${list}`], { env, limits: { cpu: 10 + RUNS / 5 } })
  for (const hub of hubs) hub.close()
  assert.equal(result.status, 0, `${result.signal} ${result.stderr}`)
  const outcomes = result.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(outcomes.length, RUNS)
  outcomes.forEach((outcome, seed) =>
    assert.ok(
      outcome.ids !== undefined || outcome.code?.startsWith('ERR_TOKENLANE_'),
      `seed ${seed}: ${JSON.stringify(outcome)}`,
    ),
  )
  const codes = new Set(outcomes.map(({ code }) => code))
  assert.ok(codes.has(undefined) && codes.size > 5, [...codes].join())
  // Only the caches exist; in them are links that stay inside, and one repository.
  assert.ok(fs.readdirSync(folder).every((name) => /^cache-\d+$/.test(name)))
  assert.deepEqual(
    fs.readdirSync(root).filter((name) => name === 'x' || name.endsWith('.jinja')),
    [],
  )
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const place = path.join(entry.parentPath ?? entry.path, entry.name)
    const inside = path.relative(folder, place).split(path.sep)
    assert.ok(inside.length === 1 || inside[1] === 'models--org--name', place)
    assert.ok(inside.length < 3 || ['blobs', 'refs', 'snapshots', '.no_exist'].includes(inside[2]), place)
    if (entry.isSymbolicLink())
      assert.ok(
        fs.realpathSync(place).startsWith(path.join(fs.realpathSync(folder), inside[0], 'models--org--name', 'blobs')),
        place,
      )
    else if (entry.isFile()) assert.ok(['blobs', '.no_exist'].includes(inside[2]) || inside[2] === 'refs', place)
  }
})

const chanceOf = (random, value) => (random() < 0.5 ? value : [])
