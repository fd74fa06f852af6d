// Malicious hubs. Each case runs in another process with 4 s of CPU and 1 GiB of memory, and must
// give a tokenizer or an error with a code. The hub is a real server on loopback.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { Tokenizer } from '../../index.mjs'
import { COMMIT, startHub } from '../support/hub.mjs'
import { runLimited } from '../support/limited.mjs'
import { CHILD, CONFIG, FILE, IDS, MORE, entries, loadFrom, refused, root } from '../support/limited-hub.mjs'
import { randomAnswer, seeded } from '../support/random-hub.mjs'
import { parseJsonLines } from '../support/json-lines.mjs'

const when = (kind, answers, file) => (request) =>
  request.kind === kind && (file === undefined || request.path === file) ? { answers } : undefined
const json = (response, value, headers) =>
  response
    .writeHead(200, { 'content-type': 'application/json', ...headers })
    .end(typeof value === 'string' ? value : JSON.stringify(value))

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
  for (const descriptors of [0, 1, 3, 60]) {
    const { ids, code, message } = await withTemplates(20, { descriptors, limits: { nofile: 100 } })
    if (ids !== undefined) continue
    assert.match(code, /^ERR_TOKENLANE_(TOO_MANY_FILES|FILE)$/, message)
    assert.match(message, /too many files are open \(EMFILE\): .*ulimit -n|Too many open files/)
    short += 1
  }
  assert.equal(short, 3)
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

test('addresses with a password are refused, and no message contains it', async () => {
  const hidden = /secret/
  const location = 'http://name:secret@127.0.0.1:9/x'
  for (const kind of ['resolve', 'tree']) {
    const failure = await refused(
      'HUB_SERVER',
      /it names an address with a password/,
      {},
      when(kind, (_, response) => response.writeHead(302, { location }).end()),
    )
    assert.doesNotMatch(failure.message, hidden)
  }
  for (const HF_ENDPOINT of [
    'http://name:secret@127.0.0.1:9',
    'https://secret@[',
    'http://name:secret@127.0.0.1:9/hub/',
  ]) {
    const failure = await refused('ARGUMENT_VALUE', /HF_ENDPOINT/, {}, undefined, { env: { HF_ENDPOINT } })
    assert.doesNotMatch(failure.message, hidden)
  }
})

test('a response that stalls or trickles is aborted', async () => {
  // Only here the timeout of half a second matters; on a busy machine it would end other downloads.
  const short = { env: { HF_HUB_ETAG_TIMEOUT: '0.5', HF_HUB_DOWNLOAD_TIMEOUT: '0.5' } }
  await refused(
    'HUB_NETWORK',
    /no data from .* for 0\.5 s|failed/,
    {},
    when('tree', (_, response) => response.writeHead(200).write('[')),
    short,
  )
  await refused(
    'HUB_NETWORK',
    /no data from .* for 0\.5 s/,
    {},
    when('tree', (_, response) => drip(response)),
    short,
  )
  await refused(
    'HUB_NETWORK',
    /no data from .* for 0\.5 s/,
    {},
    when('cdn', (_, response) => drip(response, { 'content-length': FILE.length })),
    short,
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
  await refused('HUB_LIMIT', /was interrupted 50 times/, { files: { 'tokenizer.json': file } }, when('cdn', cut))
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
      /more than the \d+ announced bytes/,
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
  await refused('HUB_SERVER', /the commit of a file is missing/, {}, (request) =>
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

test('any response of a hub gives a tokenizer or an error with a code, and nothing is written outside', async () => {
  const RUNS = Number(process.env.TOKENLANE_HUB_RUNS ?? 60)
  const folder = fs.mkdtempSync(path.join(root, 'random-'))
  const hubs = []
  const calls = []
  for (let seed = 0; seed < RUNS; seed++) {
    const random = seeded(seed)
    const repo = {
      'org/name': {
        files: { 'tokenizer.json': FILE, 'tokenizer_config.json': CONFIG },
        lfs: random() < 0.5 ? ['tokenizer.json'] : [],
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
  const list = path.join(root, 'calls.json')
  fs.writeFileSync(list, JSON.stringify({ calls }))
  // Seconds of CPU for all of them together.
  const result = await runLimited([process.execPath, CHILD, `@${list}`], { env, limits: { cpu: 10 + RUNS / 5 } })
  for (const hub of hubs) hub.close()
  assert.equal(result.status, 0, `${result.signal} ${result.stderr}`)
  const outcomes = parseJsonLines(result.stdout)
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
