// The release: the workflows, the packages as they are published, and the list of contents.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { WEB, manifestOf, missingFiles } from '../../tools/release/stage.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-release-'))
after(() => fs.rmSync(folder, { recursive: true, force: true }))

const own = manifestOf(root)
const { targets } = JSON.parse(fs.readFileSync(path.join(root, 'napi.json'), 'utf8'))
const platforms = fs.readdirSync(path.join(root, 'npm')).sort()
const workflow = (name) => fs.readFileSync(path.join(root, '.github', 'workflows', name), 'utf8')
const windows = process.platform === 'win32' && 'npm is started without a shell'

test('each action is pinned to a commit, with its version beside it', () => {
  for (const name of fs.readdirSync(path.join(root, '.github', 'workflows'))) {
    const lines = workflow(name)
      .split('\n')
      .filter((line) => line.includes('uses:'))
    assert.ok(lines.length > 0)
    for (const line of lines) assert.match(line, /uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # \S+$/, name)
  }
})

test('a release needs the environment, and no secret', () => {
  const release = workflow('release.yml')
  assert.doesNotMatch(release, /secrets\./)
  const publish = release.slice(release.indexOf('\n  publish:'))
  for (const line of ['environment: release', 'id-token: write', 'tokenlane.cdx.json', 'publish.mjs'])
    assert.ok(publish.includes(line), line)
  // Nothing else may act with the identity of the workflow.
  assert.equal(release.split('id-token: write').length, 2)
  assert.match(release, /\npermissions:\n {2}contents: read\n/)
})

test('the workflow builds each platform of npm/', () => {
  const names = [...workflow('release.yml').matchAll(/\{ name: ([\w-]+), target: ([\w-]+),/g)]
  assert.deepEqual(names.map(([, name]) => name).sort(), platforms)
  assert.deepEqual(names.map(([, , target]) => target).sort(), [...targets].sort())
})

/** Folders with files of the names that the platform packages list. */
function addons() {
  for (const name of platforms) {
    const place = path.join(folder, 'addons', name)
    fs.mkdirSync(place, { recursive: true })
    for (const file of manifestOf(path.join(root, 'npm', name)).files) fs.writeFileSync(path.join(place, file), name)
  }
  return path.join(folder, 'addons')
}

/** A copy of the repository, with texts in the place of what `npm run maintain -- web` builds. */
let copied
function repository() {
  copied ??= copyOfRepository()
  return copied
}

/** Takes a file out of the copy until a test has ended. */
function without(t, file) {
  fs.renameSync(file, `${file}.away`)
  t.after(() => fs.renameSync(`${file}.away`, file))
}

function copyOfRepository() {
  const copy = path.join(folder, 'copy')
  const own = [
    'package.json',
    'native.js',
    'index.js',
    'index.mjs',
    'index.d.ts',
    'index.d.mts',
    'browser.mjs',
    'browser.d.mts',
  ]
  for (const name of [...own, ...['npm', 'tools', 'lib', 'cli', 'docs', 'examples', 'encodings', 'packages']])
    fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true })
  for (const file of WEB) {
    fs.mkdirSync(path.dirname(path.join(copy, 'packages', file)), { recursive: true })
    fs.writeFileSync(path.join(copy, 'packages', file), file)
  }
  for (const file of fs.readdirSync(root).filter((name) => /\.md$|^LICENSE/.test(name)))
    fs.copyFileSync(path.join(root, file), path.join(copy, file))
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  return copy
}

test('a folder with sources is never replaced by what is published, and the workflow names none', () => {
  const [, name] = /--staged (\S+)/.exec(workflow('release.yml'))
  assert.ok(!fs.existsSync(path.join(root, name)) || !fs.readdirSync(path.join(root, name)).includes('jinja'), name)
  // A copy, so that a fault deletes no sources.
  const copy = repository()
  for (const place of ['packages', 'npm', '.', 'packages/jinja']) {
    const code = `const { stage } = await import('./tools/release/stage.mjs'); stage(${JSON.stringify(path.join(copy, place))}, String)`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      cwd: copy,
      encoding: 'utf8',
    })
    assert.deepEqual([status, stderr.includes('has the sources of packages')], [1, true], `${place}: ${stderr}`)
    assert.ok(fs.existsSync(path.join(copy, 'packages', 'jinja', 'package.json')), place)
  }
})

/** Stages the packages of a copy of the repository, in a process of its own. */
function staged(copy, from) {
  const code = `const { stage } = await import('./tools/release/stage.mjs')
    console.log(JSON.stringify(stage(${JSON.stringify(path.join(copy, 'staged'))}, (name) => ${JSON.stringify(from)} + '/' + name)))`
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd: copy, encoding: 'utf8' })
}

test('the packages are published with what is built for them, each after those that it needs', {
  skip: windows,
}, () => {
  const copy = repository()
  const { stdout, stderr } = staged(copy, addons())
  assert.equal(stderr, '')
  const places = JSON.parse(stdout)
  const manifests = places.map(manifestOf)
  const names = manifests.map(({ name }) => name)
  const libraries = fs.readdirSync(path.join(root, 'packages')).map((name) => `@tokenlane/${name}`)
  const all = [...platforms.map((name) => `tokenlane-${name}`), 'tokenlane', ...libraries]
  assert.deepEqual(names.toSorted(), all.toSorted())
  assert.deepEqual(names.slice(0, platforms.length), all.slice(0, platforms.length))
  for (const [at, { name, dependencies, devDependencies, peerDependencies }] of manifests.entries()) {
    assert.equal(devDependencies, undefined, name)
    for (const other of Object.keys({ ...dependencies, ...peerDependencies }).filter((needed) =>
      names.includes(needed),
    ))
      assert.ok(names.indexOf(other) < at, `${name} before ${other}`)
  }
  const placeOf = (name) => places[names.indexOf(name)]
  for (const file of WEB) {
    const [library, ...rest] = file.split('/')
    assert.equal(fs.readFileSync(path.join(placeOf(`@tokenlane/${library}`), ...rest), 'utf8'), file)
  }
  const main = manifests[names.indexOf('tokenlane')]
  const { version } = main
  assert.equal(main.dependencies['@tokenlane/jinja'], version)
  for (const { name, main: entry } of manifests.slice(0, platforms.length)) {
    assert.equal(main.optionalDependencies[name], version)
    assert.ok(fs.existsSync(path.join(placeOf(name), entry)), entry)
  }
  for (const field of ['scripts', 'devDependencies', 'overrides', 'workspaces'])
    assert.equal(main[field], undefined, field)
})

test('a release without one of the addons stops before anything is published', { skip: windows }, () => {
  const from = addons()
  fs.rmSync(path.join(from, 'darwin-x64'), { recursive: true })
  const args = [
    path.join(root, 'tools', 'release', 'publish.mjs'),
    '--addons',
    from,
    '--staged',
    path.join(folder, 'none'),
    '--registry',
    'http://127.0.0.1:9/',
  ]
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /tokenlane\.darwin-x64\.node is missing: tokenlane-darwin-x64 cannot be published without it/)
  assert.equal(stdout, '')
})

test('a release without the module of @tokenlane/web stops', { skip: windows }, (t) => {
  const copy = repository()
  without(t, path.join(copy, 'packages', 'web', 'dist', 'tokenlane.wasm'))
  const { status, stderr } = staged(copy, addons())
  assert.equal(status, 1)
  assert.match(stderr, /tokenlane\.wasm is missing: .*npm run maintain -- web/)
})

test('a release stops if npm would pack the package without a file of its list', () => {
  assert.deepEqual(missingFiles(own, root), [])
  const bare = path.join(folder, 'bare')
  fs.mkdirSync(path.join(bare, 'lib'), { recursive: true })
  fs.writeFileSync(path.join(bare, 'index.js'), '')
  const missing = missingFiles(own, bare)
  assert.ok(missing.includes('native.js') && missing.includes('encodings/o200k_base.ranks'), missing.join())
  for (const present of ['lib', 'index.js', 'docs/guide/**/*.md']) assert.ok(!missing.includes(present), present)
})

test('a copy of the repository without native.js is not published', { skip: windows }, (t) => {
  const copy = repository()
  without(t, path.join(copy, 'native.js'))
  const args = ['tools/release/publish.mjs', '--addons', addons(), '--staged', path.join(folder, 'unbuilt')]
  const { status, stderr, stdout } = spawnSync(process.execPath, [...args, '--registry', 'http://127.0.0.1:9/'], {
    cwd: copy,
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  assert.match(stderr, /^native\.js is missing: tokenlane cannot be published without it; run "npm run build"\n$/)
  assert.equal(stdout, '')
})

test('the package has only files that its users need', { skip: windows }, () => {
  const args = ['pack', '--json', '--dry-run', '--ignore-scripts', '--loglevel=error']
  const { stdout } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' })
  const kinds = [
    /^(index|native)\.(js|mjs|d\.ts|d\.mts)$/,
    /^(package\.json|LICENSE-(MIT|APACHE)|(README|CHANGELOG|SECURITY)\.md)$/,
    /^(lib|cli)\/[\w./-]+\.(js|mjs|cjs|d\.ts|d\.mts|json)$/,
    /^cli\/page\/[\w.-]+\.(html|css|js|mjs|svg)$/,
    /^encodings\/(\w+\.ranks|LICENSE)$/,
    /^browser\.(mjs|d\.mts)$/,
    /^docs\/guide\/[\w./-]+\.md$/,
  ]
  const other = JSON.parse(stdout)[0]
    .files.map(({ path: file }) => file)
    .filter((file) => !kinds.some((kind) => kind.test(file)))
  assert.deepEqual(other, [])
})

const withoutCargo = spawnSync('cargo', ['--version']).status !== 0 && 'cargo lists the crates'

test('the list of contents has the crates of the addon, and no others', { skip: withoutCargo }, () => {
  const file = path.join(folder, 'bom.json')
  const made = spawnSync(process.execPath, [path.join(root, 'tools', 'release', 'sbom.mjs'), file], {
    encoding: 'utf8',
  })
  assert.equal(made.status, 0, made.stderr)
  const { specVersion, metadata, components } = JSON.parse(fs.readFileSync(file, 'utf8'))
  assert.deepEqual([specVersion, metadata.component.version], ['1.5', own.version])
  const names = components.map(({ purl }) => purl.replace(/@[^@]+$/, ''))
  for (const name of ['napi', 'rayon', 'regex-automata', 'mimalloc', 'windows-sys'])
    assert.ok(names.includes(`pkg:cargo/${name}`), name)
  for (const name of ['proptest', 'criterion', 'napi-build', 'syn'])
    assert.ok(!names.includes(`pkg:cargo/${name}`), name)
  assert.ok(names.includes('pkg:npm/hyparquet') && names.includes('pkg:npm/fzstd'))
  for (const { name, hashes, licenses } of components) {
    assert.match(hashes[0].content, /^([0-9a-f]{64}|[0-9a-f]{128})$/, name)
    assert.ok(licenses[0].expression, name)
  }
})
