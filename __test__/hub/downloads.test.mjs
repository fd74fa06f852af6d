// Tokenizer.fromPretrained with a hub on loopback: the cache that it shares with the Python
// library, downloads that are interrupted, resumed and concurrent, and every error.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, afterEach, test } from 'node:test'
import { pathToFileURL } from 'node:url'

import { Tokenizer } from '../../index.mjs'
import { COMMIT, startHub } from '../support/hub.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-hub-'))
after(() => fs.rmSync(root, { recursive: true, force: true }))

const VARIABLES = [
  'HF_ENDPOINT',
  'HF_HOME',
  'HF_HUB_CACHE',
  'HUGGINGFACE_HUB_CACHE',
  'XDG_CACHE_HOME',
  'HF_TOKEN',
  'HUGGING_FACE_HUB_TOKEN',
]
VARIABLES.push(
  'HF_TOKEN_PATH',
  'HF_HUB_OFFLINE',
  'TRANSFORMERS_OFFLINE',
  'HF_HUB_ETAG_TIMEOUT',
  'HF_HUB_DOWNLOAD_TIMEOUT',
)
for (const name of VARIABLES) delete process.env[name]
process.env.HF_TOKEN_PATH = path.join(root, 'nobody has a token')

const hubs = []
afterEach(() => {
  for (const hub of hubs.splice(0)) hub.close()
  for (const name of VARIABLES) delete process.env[name]
  process.env.HF_TOKEN_PATH = path.join(root, 'nobody has a token')
})

/** A tokenizer.json that needs several network packets. */
const FILE = Buffer.concat([Buffer.from(bytesOf(tiny())), Buffer.alloc(400_000, ' ')])
const CONFIG = Buffer.from('{"bos_token": "<s>"}')
const IDS = [14, 11, 12, 13, 2, 7, 15]

/** A hub with one repository, 'org/name', and an empty cache. */
async function fresh(repo = {}, trouble) {
  const files = { 'tokenizer.json': FILE, 'tokenizer_config.json': CONFIG }
  const hub = await startHub({ 'org/name': { files, lfs: ['tokenizer.json'], ...repo } }, trouble)
  hubs.push(hub)
  process.env.HF_ENDPOINT = hub.url
  const cacheDir = fs.mkdtempSync(path.join(root, 'cache-'))
  const inRepo = (...parts) => path.join(cacheDir, 'models--org--name', ...parts)
  const load = (options, name = 'org/name') => Tokenizer.fromPretrained(name, { cacheDir, ...options })
  return { hub, cacheDir, inRepo, load }
}

const check = (tokenizer) => assert.deepEqual([...tokenizer.encode('hello world').ids], IDS)

/** The files and links in a folder, recursively, without the folders. */
function tree(folder) {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.join(path.relative(folder, entry.parentPath ?? entry.path), entry.name))
    .sort()
}

test('a tokenizer is loaded by the name of its repository', async () => {
  const { hub, cacheDir, load } = await fresh()
  const seen = []
  check(await load({ onProgress: (progress) => seen.push(progress) }))
  const ofFile = seen.filter(({ file }) => file === 'tokenizer.json')
  assert.deepEqual(ofFile[0], { file: 'tokenizer.json', loaded: 0, total: FILE.length })
  assert.deepEqual(ofFile.at(-1), { file: 'tokenizer.json', loaded: FILE.length, total: FILE.length })
  assert.ok(ofFile.length > 2 && ofFile.every(({ loaded }, i) => i === 0 || loaded > ofFile[i - 1].loaded))

  const names = tree(cacheDir).map((name) => name.replaceAll('\\', '/'))
  assert.equal(names.filter((name) => name.includes('/blobs/')).length, 2)
  assert.deepEqual(
    names.filter((name) => !name.includes('/blobs/')),
    [
      ...['added_tokens.json', 'chat_template.jinja', 'config.json', 'special_tokens_map.json'].map(
        (name) => `models--org--name/.no_exist/${COMMIT}/${name}`,
      ),
      'models--org--name/refs/main',
      `models--org--name/snapshots/${COMMIT}/tokenizer.json`,
      `models--org--name/snapshots/${COMMIT}/tokenizer_config.json`,
    ],
  )

  hub.requests.length = 0
  check(await load({ onProgress: () => assert.fail('nothing is downloaded again') }))
  assert.deepEqual(
    hub.requests.map(({ kind, isProbe }) => [kind, isProbe]),
    [['resolve', true]],
  )
})

test('the cache has the layout of the other libraries', {
  skip: process.platform === 'win32' && 'links need a privilege',
}, async () => {
  const { inRepo, load } = await fresh()
  check(await load())
  assert.equal(fs.readFileSync(inRepo('refs', 'main'), 'utf8'), COMMIT)
  const link = fs.readlinkSync(inRepo('snapshots', COMMIT, 'tokenizer.json'))
  assert.match(link, /^\.\.\/\.\.\/blobs\/[0-9a-f]{64}$/)
  assert.match(fs.readlinkSync(inRepo('snapshots', COMMIT, 'tokenizer_config.json')), /\/[0-9a-f]{40}$/)

  // A cache that the Python library wrote, with only the tokenizer.
  const other = fs.mkdtempSync(path.join(root, 'python-'))
  const repo = path.join(other, 'models--org--name')
  for (const folder of ['blobs', 'refs', `snapshots/${COMMIT}`])
    fs.mkdirSync(path.join(repo, folder), { recursive: true })
  fs.writeFileSync(path.join(repo, 'blobs', 'abc'), FILE)
  fs.symlinkSync('../../blobs/abc', path.join(repo, 'snapshots', COMMIT, 'tokenizer.json'))
  fs.writeFileSync(path.join(repo, 'refs', 'main'), COMMIT)
  check(await load({ cacheDir: pathToFileURL(other), localFilesOnly: true }))
})

test('environment variables select the cache', async () => {
  const { load } = await fresh()
  const places = [
    ['HF_HUB_CACHE', 'a', ''],
    ['HF_HOME', 'b', 'hub'],
    ['XDG_CACHE_HOME', 'c', 'huggingface/hub'],
  ]
  for (const [name, folder, within] of places) {
    process.env[name] = path.join(root, 'variables', folder)
    check(await load({ cacheDir: undefined }))
    assert.ok(fs.existsSync(path.join(root, 'variables', folder, within, 'models--org--name', 'refs', 'main')), name)
    delete process.env[name]
  }
})

test('the token is sent to the hub only', async () => {
  const { hub, load } = await fresh({ token: 'hf_right' })
  await assert.rejects(load(), { code: 'ERR_TOKENLANE_HUB_REPO_NOT_FOUND', message: /pass a token/ })
  check(await load({ token: 'hf_right' }))
  const ofCdn = hub.requests.filter(({ kind }) => kind === 'cdn')
  assert.ok(ofCdn.length === 1 && ofCdn[0].authorization === undefined)

  const sent = async (options) => {
    hub.requests.length = 0
    await load({ cacheDir: fs.mkdtempSync(path.join(root, 'token-')), ...options }).catch(() => {})
    return hub.requests[0].authorization
  }
  process.env.HF_TOKEN_PATH = path.join(root, 'token')
  fs.writeFileSync(process.env.HF_TOKEN_PATH, 'hf_saved\n')
  assert.equal(await sent(), 'Bearer hf_saved')
  delete process.env.HF_TOKEN_PATH
  process.env.HF_HOME = root
  assert.equal(await sent(), 'Bearer hf_saved')
  process.env.HF_TOKEN = 'hf_variable'
  assert.equal(await sent(), 'Bearer hf_variable')
  assert.equal(await sent({ token: 'hf_option' }), 'Bearer hf_option')
  assert.equal(await sent({ token: false }), undefined)
  await assert.rejects(
    load({ token: 'se cret' }),
    (error) => error.code === 'ERR_TOKENLANE_ARGUMENT_VALUE' && !error.message.includes('cret'),
  )
})

test('errors say what to do', async () => {
  const codes = async (repo, options, name) => {
    const { load, cacheDir } = await fresh(repo)
    const failure = await load(options, name).then(
      () => assert.fail('it loaded'),
      (error) => error,
    )
    assert.deepEqual(
      tree(cacheDir).filter((file) => /blobs|snapshots/.test(file)),
      [],
    )
    return [failure.code.replace('ERR_TOKENLANE_HUB_', ''), failure.message]
  }
  assert.match(
    (await codes({}, {}, 'org/other')).join(),
    /^REPO_NOT_FOUND,.*'org\/other'.*or it is private: check the name/,
  )
  assert.match((await codes({}, { revision: 'v9' })).join(), /^REVISION_NOT_FOUND,.*no revision 'v9'/)
  assert.match((await codes({ gated: true, token: 'hf_x' })).join(), /^GATED,access to .* must be requested/)
  assert.match((await codes({}, { token: 'wrong' })).join(), /^ACCESS,.*the token is not valid/)
  assert.match((await codes({ files: {} })).join(), /^FILE_NOT_FOUND,.*tokenizer\.json or tekken\.json/)
  assert.match((await codes({}, { file: 'no.json' })).join(), /^FILE_NOT_FOUND,.*no\.json/)
})

test('a hub with too many requests or an outage is retried, then the cache is used', async () => {
  let status = 503
  let retryAfter = '0'
  let times = 1
  const trouble = ({ count }) => (count <= times ? { status, headers: { 'retry-after': retryAfter } } : undefined)
  const one = await fresh({}, trouble)
  check(await one.load())
  status = 429
  check(await (await fresh({}, trouble)).load())
  times = Infinity
  await assert.rejects((await fresh({}, trouble)).load(), { code: 'ERR_TOKENLANE_HUB_RATE_LIMIT', retryAfter: 0 })
  retryAfter = '3600'
  const { hub, load } = await fresh({}, trouble)
  await assert.rejects(load(), {
    code: 'ERR_TOKENLANE_HUB_RATE_LIMIT',
    retryAfter: 3600,
    message: /try again in 3600 s/,
  })
  assert.equal(hub.requests.length, 1)
  status = 500
  await assert.rejects((await fresh({}, trouble)).load(), { code: 'ERR_TOKENLANE_HUB_SERVER', status: 500 })
  process.env.HF_ENDPOINT = one.hub.url
  one.hub.requests.length = 0
  check(await one.load())
  assert.equal(one.hub.requests.length, 1)
})

/** An address below the ports that systems give to servers: a port of before can have another. */
const NOBODY = 'http://127.0.0.1:2'

test('a host without a server, and a server that does not answer', async () => {
  const { hub, load } = await fresh()
  hub.close()
  process.env.HF_ENDPOINT = NOBODY
  await assert.rejects(load(), { code: 'ERR_TOKENLANE_HUB_NETWORK', message: /ECONNREFUSED.*check the network/ })
  process.env.HF_HUB_ETAG_TIMEOUT = '0.1'
  await assert.rejects((await fresh({}, () => ({ hangs: true }))).load(), {
    code: 'ERR_TOKENLANE_HUB_NETWORK',
    message: /no data from/,
  })
  await assert.rejects((await fresh({}, () => ({ drops: true }))).load(), { code: 'ERR_TOKENLANE_HUB_NETWORK' })
})

test('a proxy of the environment that Node does not use is named', async () => {
  const { hub, load } = await fresh()
  hub.close()
  process.env.HF_ENDPOINT = NOBODY
  const { http_proxy: before, NODE_USE_ENV_PROXY: used } = process.env
  process.env.http_proxy = 'http://proxy.invalid:3128'
  try {
    delete process.env.NODE_USE_ENV_PROXY
    await assert.rejects(load(), { code: 'ERR_TOKENLANE_HUB_NETWORK', message: /_proxy is set.*NODE_USE_ENV_PROXY=1/i })
    process.env.NODE_USE_ENV_PROXY = '1'
    await assert.rejects(load(), ({ message }) => !/is set/.test(message))
  } finally {
    for (const [name, value] of Object.entries({ http_proxy: before, NODE_USE_ENV_PROXY: used })) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
})

test('offline mode sends no request', async () => {
  const { hub, load } = await fresh()
  await assert.rejects(load({ localFilesOnly: true }), {
    code: 'ERR_TOKENLANE_HUB_NOT_CACHED',
    message: /turn off localFilesOnly/,
  })
  check(await load())
  hub.requests.length = 0
  check(await load({ localFilesOnly: true }))
  process.env.HF_HUB_OFFLINE = '1'
  check(await load())
  check(await load({ revision: COMMIT }))
  await assert.rejects(load({ revision: 'v2' }), { code: 'ERR_TOKENLANE_HUB_NOT_CACHED' })
  assert.deepEqual(hub.requests, [])
})

test('a commit cannot change, so it is requested only once', async () => {
  const { hub, inRepo, load } = await fresh()
  check(await load({ revision: COMMIT }))
  assert.ok(!fs.existsSync(inRepo('refs')))
  hub.requests.length = 0
  check(await load({ revision: COMMIT }))
  assert.deepEqual(hub.requests, [])
})

test('a branch that moved is downloaded again, except for equal files', async () => {
  const repo = { files: { 'tokenizer.json': FILE, 'tokenizer_config.json': CONFIG }, tags: ['refs/pr/1'] }
  const { hub, inRepo, load } = await fresh(repo)
  check(await load())
  // The hub has the same object under the new commit.
  const moved = 'd00d'.padEnd(40, '1')
  const changed = Buffer.concat([FILE, Buffer.from('\n')])
  const next = await startHub({
    'org/name': { ...repo, commit: moved, files: { ...repo.files, 'tokenizer.json': changed } },
  })
  hubs.push(next)
  process.env.HF_ENDPOINT = next.url
  check(await load())
  assert.deepEqual([next.sent('tokenizer.json'), next.sent('tokenizer_config.json')], [[0], []])
  assert.equal(fs.readFileSync(inRepo('refs', 'main'), 'utf8'), moved)
  assert.equal(fs.readFileSync(inRepo('snapshots', moved, 'tokenizer.json')).length, changed.length)
  check(await load({ revision: 'refs/pr/1' }))
  assert.equal(fs.readFileSync(inRepo('refs', 'refs', 'pr', '1'), 'utf8'), moved)
  assert.ok(hub.requests.length > 0)
})

const ofFile = (trouble) => (request) =>
  request.path === 'tokenizer.json' && !request.isProbe && request.kind === 'cdn' ? trouble(request) : undefined
const blobs = (inRepo) => (fs.existsSync(inRepo('blobs')) ? fs.readdirSync(inRepo('blobs')) : [])

test('an interrupted download is resumed', async () => {
  const { hub, inRepo, load } = await fresh(
    {},
    ofFile(({ count }) => (count <= 2 ? { cut: 150_000 } : undefined)),
  )
  check(await load())
  const [first, second, third, ...more] = hub.sent('tokenizer.json')
  assert.ok(first === 0 && second > 0 && third > second && more.length === 0)
  assert.deepEqual(fs.readFileSync(inRepo('snapshots', COMMIT, 'tokenizer.json')), FILE)
  assert.deepEqual(
    blobs(inRepo).filter((name) => name.includes('incomplete')),
    [],
  )
})

test('a failed download leaves no complete-looking file, and the next call resumes it', async () => {
  let isCut = true
  const trouble = ofFile(({ count }) => (isCut ? { cut: count === 1 ? 100_000 : 0 } : undefined))
  const { hub, inRepo, load } = await fresh({}, trouble)
  await assert.rejects(load(), { code: 'ERR_TOKENLANE_HUB_NETWORK' })
  assert.ok(!fs.existsSync(inRepo('snapshots', COMMIT, 'tokenizer.json')))
  assert.ok(!fs.existsSync(inRepo('refs', 'main')))
  assert.deepEqual(
    blobs(inRepo)
      .map((name) => name.replace(/^[0-9a-f]+/, ''))
      .sort(),
    ['', '.tokenlane.incomplete'],
  )
  await assert.rejects(load({ localFilesOnly: true }), { code: 'ERR_TOKENLANE_HUB_NOT_CACHED' })
  isCut = false
  check(await load())
  assert.ok(hub.sent('tokenizer.json').at(-1) > 0)
  assert.deepEqual(fs.readFileSync(inRepo('snapshots', COMMIT, 'tokenizer.json')), FILE)
})

test('a server without range requests sends the whole file again', async () => {
  const trouble = ofFile(({ count }) => ({ whole: true, ...(count === 1 && { cut: 100_000 }) }))
  const { inRepo, load } = await fresh({}, trouble)
  check(await load())
  assert.deepEqual(fs.readFileSync(inRepo('snapshots', COMMIT, 'tokenizer.json')), FILE)
})

test('a partial file that does not belong to the file is discarded', async () => {
  const { hub, inRepo, load } = await fresh()
  check(await load())
  const blob = fs.realpathSync(inRepo('snapshots', COMMIT, 'tokenizer.json'))
  fs.rmSync(inRepo('snapshots'), { recursive: true })
  fs.rmSync(blob)
  fs.writeFileSync(`${blob}.tokenlane-1-00000000.incomplete`, Buffer.alloc(200_000, 'x'))
  check(await load())
  assert.deepEqual(hub.sent('tokenizer.json'), [0, 200_000, 0])
  assert.deepEqual(fs.readFileSync(blob), FILE)
  assert.deepEqual(
    blobs(inRepo).filter((name) => name.includes('incomplete')),
    [],
  )
})

test('a file that differs from the announced one is refused', async () => {
  const wrong = {
    'other content': { sends: Buffer.alloc(FILE.length, 'x') },
    'too long': { sends: Buffer.concat([FILE, FILE]) },
    'too short': { sends: FILE.subarray(0, 1000), whole: true },
    'a length that is not kept': { sends: FILE.subarray(0, 1000), says: FILE.length, whole: true },
    'no length, and cut': { says: null, cut: 100_000, whole: true },
  }
  process.env.HF_HUB_DOWNLOAD_TIMEOUT = '0.5'
  const run = async (name, { inRepo, load }) => {
    await assert.rejects(load(), { code: /^ERR_TOKENLANE_HUB_(CORRUPT|NETWORK)$/ }, name)
    assert.ok(!fs.existsSync(inRepo('snapshots', COMMIT, 'tokenizer.json')), name)
    assert.deepEqual(
      blobs(inRepo).filter((file) => file.length > 40 && !file.includes('incomplete')),
      [],
      name,
    )
  }
  const runs = []
  for (const [name, trouble] of Object.entries(wrong))
    runs.push(
      run(
        name,
        await fresh(
          {},
          ofFile(() => trouble),
        ),
      ),
    )
  await Promise.all(runs)
})

test('concurrent calls download once, and each can be aborted', async () => {
  const { hub, load } = await fresh()
  const seen = [0, 0]
  const both = [0, 1].map((i) => load({ onProgress: () => seen[i]++ }))
  const controller = new AbortController()
  const third = load({ signal: controller.signal })
  controller.abort(new Error('no more'))
  await assert.rejects(third, { message: 'no more' })
  for (const one of await Promise.all(both)) check(one)
  assert.deepEqual(hub.sent('tokenizer.json'), [0])
  assert.ok(seen[0] > 2 && seen[0] === seen[1])

  const failing = load({
    cacheDir: path.join(root, 'thrown'),
    onProgress: () => {
      throw new Error('in the callback')
    },
  })
  await assert.rejects(failing, { message: 'in the callback' })
})

test('a signal stops a download, and the partial file is kept', async () => {
  const { hub, inRepo, load } = await fresh(
    {},
    ofFile(({ count }) => (count === 1 ? { cut: 100_000 } : undefined)),
  )
  const controller = new AbortController()
  const stop = ({ file, loaded }) => file === 'tokenizer.json' && loaded > 0 && controller.abort(new Error('enough'))
  await assert.rejects(load({ signal: controller.signal, onProgress: stop }), { message: 'enough' })
  check(await load())
  assert.deepEqual(fs.readFileSync(inRepo('snapshots', COMMIT, 'tokenizer.json')), FILE)
  assert.ok(hub.sent('tokenizer.json').length >= 2)
  await assert.rejects(load({ signal: AbortSignal.abort(new Error('at once')) }), { message: 'at once' })
})

/** Starts a process that loads the tokenizer, and prints its progress and then the ids. */
function startProcess(cacheDir) {
  const code = `import { Tokenizer } from ${JSON.stringify(new URL('../../index.mjs', import.meta.url).href)}
    const onProgress = ({ file, loaded }) => file === 'tokenizer.json' && loaded > 0 && console.error(loaded)
    const tokenizer = await Tokenizer.fromPretrained('org/name', { cacheDir: ${JSON.stringify(cacheDir)}, onProgress })
    console.log(tokenizer.encode('hello world').ids.join())`
  return spawn(process.execPath, ['--input-type=module', '-e', code], { env: process.env })
}

test('concurrent processes do not disturb each other', async () => {
  const { hub, cacheDir, inRepo } = await fresh(
    {},
    ofFile(({ count }) => (count === 1 ? { cut: 150_000 } : undefined)),
  )
  const runs = Array.from(
    { length: 3 },
    () =>
      new Promise((resolve) => {
        const child = startProcess(cacheDir)
        let output = ''
        child.stdout.on('data', (data) => (output += data))
        child.on('close', () => resolve(output.trim()))
      }),
  )
  assert.deepEqual(await Promise.all(runs), Array(3).fill(IDS.join()))
  assert.deepEqual(fs.readFileSync(inRepo('snapshots', COMMIT, 'tokenizer.json')), FILE)
  assert.ok(hub.sent('tokenizer.json').length >= 2)
  assert.deepEqual(
    blobs(inRepo).filter((name) => name.includes('incomplete')),
    [],
  )
})

test('the partial download of a killed process is reused', async () => {
  const { hub, cacheDir, inRepo, load } = await fresh(
    {},
    ofFile(({ count }) => (count === 1 ? { cut: 150_000, holds: true } : undefined)),
  )
  const child = startProcess(cacheDir)
  await new Promise((resolve) => child.stderr.once('data', resolve))
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('close', resolve))
  assert.ok(!fs.existsSync(inRepo('snapshots', COMMIT, 'tokenizer.json')))
  check(await load())
  assert.ok(hub.sent('tokenizer.json')[1] > 0)
  assert.deepEqual(fs.readFileSync(inRepo('snapshots', COMMIT, 'tokenizer.json')), FILE)
  assert.deepEqual(
    blobs(inRepo).filter((name) => name.includes('incomplete')),
    [],
  )
})

test('other files: tekken.json, one by name, one in a folder, a rank file', async () => {
  const tekken = JSON.stringify({
    config: { pattern: '[a-z]+', num_vocab_tokens: 2, default_vocab_size: 12, default_num_special_tokens: 10 },
    vocab: ['a', 'b'].map((token, rank) => ({ rank, token_bytes: Buffer.from(token).toString('base64') })),
  })
  const files = {
    'tekken.json': Buffer.from(tekken),
    'sub/tokenizer.json': FILE,
    'r.tiktoken': fs.readFileSync(new URL('../../encodings/r50k_base.tiktoken', import.meta.url)),
  }
  const { load } = await fresh({ files, lfs: [] })
  assert.deepEqual([...(await load()).encode('ab').ids], [10, 11])
  assert.deepEqual([...(await load({ localFilesOnly: true })).encode('ab').ids], [10, 11])
  check(await load({ file: 'sub/tokenizer.json' }))
  assert.equal((await load({ file: 'r.tiktoken', encoding: 'r50k_base' })).count('hello world'), 2)
})

test('chat templates come with a tokenizer', async () => {
  const files = {
    'tokenizer.json': FILE,
    'tokenizer_config.json': Buffer.from('{"bos_token": "<s>", "chat_template": "old"}'),
    'chat_template.jinja': Buffer.from('{{ bos_token }}{{ messages[0].content }}'),
    'additional_chat_templates/tool_use.jinja': Buffer.from('{{ tools | length }}'),
    'additional_chat_templates/..jinja': Buffer.from('not a name'),
  }
  const { load, cacheDir } = await fresh({ files })
  for (const localFilesOnly of [false, true]) {
    const tokenizer = await load({ localFilesOnly })
    const chat = [{ role: 'user', content: 'hello' }]
    assert.deepEqual([...tokenizer.applyChatTemplate(chat).ids], [14, 11])
    assert.equal(tokenizer.applyChatTemplate(chat, { tools: [{}], tokenize: false }), '1')
  }
  assert.ok(!tree(cacheDir).some((name) => name.endsWith('..jinja')))
  assert.equal(
    (await load({ chatTemplate: 'mine' })).applyChatTemplate([{ role: 'user' }], { tokenize: false }),
    'mine',
  )
})

test('a listing of templates that the hub refuses for now is not recorded as empty', async () => {
  const files = {
    'tokenizer.json': FILE,
    'chat_template.jinja': Buffer.from('{{ messages | length }}'),
    'additional_chat_templates/tool_use.jinja': Buffer.from('tools: {{ tools | length }}'),
  }
  let status = 429
  const trouble = ({ kind }) =>
    kind === 'tree' && status === 429 ? { status, headers: { 'retry-after': '3600' } } : undefined
  const { load } = await fresh({ files }, trouble)
  await assert.rejects(load(), { code: 'ERR_TOKENLANE_HUB_RATE_LIMIT' })
  status = 200
  const chat = [{ role: 'user', content: 'hello' }]
  assert.equal((await load()).applyChatTemplate(chat, { tools: [{}], tokenize: false }), 'tools: 1')
})

test('a server with fewer headers than the hub works', async () => {
  // No error codes, no commit header, and an ETag that is not a Git hash.
  const { hub, load, inRepo } = await fresh(
    { silent: true, lfs: [], etags: { 'tokenizer.json': 'plain-1', 'tokenizer_config.json': 'f'.repeat(40) } },
    ({ path, kind }) => (path === 'chat_template.jinja' || kind === 'tree' ? { status: 404 } : undefined),
  )
  check(await load())
  assert.deepEqual(blobs(inRepo).sort(), ['f'.repeat(40), 'plain-1'])
  assert.equal(hub.requests.filter(({ kind }) => kind === 'info').length, 1)
})

test('a cache that cannot be written is an error', async () => {
  const { load } = await fresh()
  const file = path.join(root, 'a file')
  fs.writeFileSync(file, '')
  await assert.rejects(load({ cacheDir: file }), { code: 'ERR_TOKENLANE_HUB_CACHE', message: /give another folder/ })
})

test('invalid arguments of fromPretrained', async () => {
  const value = { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' }
  const type = { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' }
  for (const name of ['', 'a/b/c', '../x', 'a/..', 'a--b', './folder', 'a/b.', 'x'.repeat(97)])
    await assert.rejects(Tokenizer.fromPretrained(name), value, name)
  await assert.rejects(Tokenizer.fromPretrained(7), type)
  const wrong = (options, error) =>
    assert.rejects(Tokenizer.fromPretrained('org/name', options), error, JSON.stringify(options))
  for (const revision of ['', '..', 'a/../b', 'a\0']) await wrong({ revision }, value)
  for (const file of ['../x', '/etc/passwd', 'a\\b', 'a?b']) await wrong({ file }, value)
  await wrong({ token: 7 }, type)
  await wrong({ cacheDir: 7 }, type)
  await wrong({ localFilesOnly: 'yes' }, type)
  await wrong({ signal: {} }, type)
  await wrong({ onProgress: 'x' }, type)
  await wrong({ encoding: 'x', pattern: 'y' }, type)
  await wrong({ revison: 'main' }, { code: 'ERR_TOKENLANE_UNKNOWN_OPTION', message: /did you mean 'revision'/ })
})
