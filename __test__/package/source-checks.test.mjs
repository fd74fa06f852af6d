// The checks of the source code that `npm test` runs: each one finds a planted fault.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { specNames } from '../../tools/check/specs.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A folder with these files. */
function folderWith(t, files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-checks-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), text)
  }
  return folder
}

/** Runs a check on a folder with these files: { status, output }. */
function check(t, script, files) {
  const folder = folderWith(t, files)
  const { status, stdout } = spawnSync(process.execPath, [path.join(root, 'tools', script), folder], {
    encoding: 'utf8',
  })
  return { status, output: stdout }
}

const CYCLES = {
  'a cycle of require': {
    'a.js': "const b = require('./b.js')",
    'b.js': "require('./deep')",
    'deep/index.js': "require('../a')",
  },
  'a cycle of import and export': { 'a.mjs': "import { b } from './b.mjs'", 'b.mjs': "export * from './a.mjs'" },
  'a cycle through a late import()': {
    'a.mjs': "export const load = () => import('./b.mjs')",
    'b.mjs': "import './a.mjs'",
  },
  'a cycle through createRequire': {
    'a.mjs': "const { b } = createRequire(import.meta.url)('./b.js')",
    'b.js': "exports.load = () => import('./a.mjs')",
  },
  'a cycle through a type in a comment': {
    'a.js': "/** @param {import('./b.js').B} b */\nexports.a = (b) => b",
    'b.js': "require('./a.js')",
  },
  'a cycle of typings': { 'a.d.ts': "import type { B } from './b.js'", 'b.d.ts': "export * from './a.js'" },
  'a module in its own cycle': { 'a.js': "require('./a.js')" },
}

test('check-cycles finds every kind of cycle, and lists only the modules in it', (t) => {
  const files = Object.entries(CYCLES).flatMap(([name, modules]) => {
    const all = { ...modules, 'beside.js': "require('./below.js')", 'below.js': '' }
    return Object.entries(all).map(([file, text]) => [`${name}/${file}`, text])
  })
  const { status, output } = check(t, 'check/cycles.mjs', Object.fromEntries(files))
  assert.equal(status, 1)
  const listed = [...output.matchAll(/^ {2}(.+?) imports /gm)].map(([, file]) => file)
  const expected = Object.entries(CYCLES).flatMap(([name, modules]) =>
    Object.keys(modules).map((file) => `${name}/${file}`),
  )
  assert.deepEqual(listed.sort(), expected.sort())
})

test('check-cycles accepts two ways to one module, and types that are declared beside a module', (t) => {
  const { status, output } = check(t, 'check/cycles.mjs', {
    'a.js': "require('./b.js'); require('./c.js')",
    'b.js': "require('./d.js')",
    'c.js': "require('./d.js')",
    'd.js': "/** @param {import('./a.js').A} a */\nexports.d = (a) => a",
    'a.d.ts': 'export interface A {}',
  })
  assert.deepEqual({ status, output }, { status: 0, output: 'no import cycle in 5 modules\n' })
})

const RUST_CYCLES = {
  'a cycle of use': { 'a.rs': 'use crate::b::B;', 'b.rs': 'use crate::a::A;' },
  'a cycle through submodules': {
    'a/mod.rs': '',
    'a/deep.rs': 'use crate::{b::B, std};',
    'b/deep.rs': 'use super::super::a;',
  },
  'a cycle through a path in an expression': {
    'a.rs': 'fn a() { crate::b::b() }',
    'b.rs': "fn b() { super::a::a(b'{') }",
  },
  'a cycle through a name of the root': {
    'lib.rs': 'pub use a::{deep::A as Renamed, Other};',
    'a.rs': 'use crate::b::{self, B};',
    'b.rs': 'mod inner { use crate::Renamed; }',
  },
  'a cycle of modules in a folder': {
    'a/mod.rs': 'mod b; mod c;',
    'a/b.rs': 'use super::c::C;',
    'a/c/deep.rs': 'use crate::a::b::B;',
    'a/c.rs': '',
    'c.rs': '',
  },
  'a cycle through a name that a folder exports': {
    'a/mod.rs': 'mod b; mod c; pub(crate) use b::{deep::B, Other};',
    'a/b.rs': 'use super::c::C;',
    'a/c.rs': 'use super::B;',
    'c.rs': '',
  },
}

test('check-cycles finds cycles among the modules of a crate and of its folders', (t) => {
  const crates = Object.entries(RUST_CYCLES).flatMap(([name, files]) => {
    const all = { 'lib.rs': 'mod a; mod b; mod below;', 'below.rs': '', 'c.rs': 'use crate::a::A;', ...files }
    return Object.entries(all).map(([file, text]) => [`${name}/${file}`, text])
  })
  const { status, output } = check(t, 'check/cycles.mjs', Object.fromEntries(crates))
  assert.equal(status, 1)
  const listed = [...output.matchAll(/^ {2}(.+?) imports /gm)].map(([, part]) => part)
  assert.deepEqual(listed.sort(), [...'aaaabbbbbbcc'])
})

test('check-cycles ignores what only tests compile, comments, and use of a module and its folder', (t) => {
  const { status, output } = check(t, 'check/cycles.mjs', {
    'src/lib.rs': 'mod a; mod b; #[cfg(test)] mod subjects;',
    'src/a/mod.rs': 'mod deep; use deep::D; #[cfg(test)] mod tests; #[cfg(any(test, feature = "x"))] mod twins;',
    'src/a/deep.rs': 'use super::A; use crate::b::B;',
    'src/a/tests.rs': 'use crate::c::C;',
    'src/a/twins.rs': 'use crate::c::C;',
    'src/b.rs': [
      '//! See [`crate::a`].',
      'const TEXT: &str = "use crate::a::A;";',
      '#[cfg(test)] use crate::a::A;',
      '#[cfg(test)] mod tests { use crate::subjects::S; fn deep() { super::super::a::a() } }',
      'pub(in crate::a) fn b() {}',
    ].join('\n'),
    'src/c.rs': 'use crate::a::A;',
    'src/subjects.rs': 'use crate::a::A; use crate::b::B;',
  })
  assert.deepEqual(
    { status, output },
    {
      status: 0,
      output: 'no import cycle in 0 modules\nsrc: no cycle in 3 modules\nsrc/a: no cycle in 1 modules\n',
    },
  )
})

test('check-cycles finds modules of lib/ that import the root, a command or a drop-in', (t) => {
  const { status, output } = check(t, 'check/cycles.mjs', {
    'lib/a.js': "require('../index.js')",
    'lib/b.mjs': "import '../cli/main.mjs'",
    'lib/c.js': "/** @param {import('../index.js').A} a */\nexports.c = (a) => a",
    'cli/main.mjs': "import '../index.js'",
    'index.js': '',
    'index.d.ts': 'export interface A {}',
  })
  assert.equal(status, 1)
  const found = [...output.matchAll(/^(.+) imports (.+), which is above/gm)].map(([, ...names]) => names.join(' '))
  assert.deepEqual(found.sort(), ['lib/a.js index.js', 'lib/b.mjs cli/main.mjs'])
})

test('check-cycles finds packages that need each other, and imports of packages that are not listed', (t) => {
  const manifest = (name, lists) => JSON.stringify({ name, ...lists })
  const { status, output } = check(t, 'check/cycles.mjs', {
    'package.json': manifest('tokenlane', { dependencies: { '@tokenlane/a': '1' } }),
    'packages/a/package.json': manifest('@tokenlane/a', { peerDependencies: { '@tokenlane/b': '1' } }),
    'packages/b/package.json': manifest('@tokenlane/b', { dependencies: { tokenlane: '1', other: '1' } }),
    'packages/c/package.json': manifest('@tokenlane/c', { dependencies: { tokenlane: '1' } }),
    'packages/a/index.js': '',
    'packages/b/index.js': '',
    'packages/c/index.js': "require('tokenlane/internal/c.js')\nrequire('@tokenlane/b')\nrequire('other')",
    'packages/c/own.mjs': "import '@tokenlane/c'\nimport '../../index.js'",
    'packages/c/test/c.test.mjs': "import '@tokenlane/a'\nimport '../../../index.js'",
    'index.js': "require('@tokenlane/a')",
  })
  assert.equal(status, 1)
  assert.match(output, /@tokenlane\/a imports @tokenlane\/b\n {2}@tokenlane\/b imports tokenlane\n/)
  assert.deepEqual(output.match(/.* imports .*, .*/g), [
    'packages/c/own.mjs imports index.js, a file of another package',
    'packages/c/index.js imports @tokenlane/b, which the package.json of its package does not list',
  ])
})

test('check-widths finds wide comments and prose, but not wide code, tables or addresses', (t) => {
  const wide = 'x'.repeat(100)
  const { status, output } = check(t, 'check/widths.mjs', {
    'comment.js': `const a = 1\n// ${wide}`,
    'tail.rs': `let a = 1; // ${wide}`,
    'prose.md': `# Title\n\n${wide} y`,
    'code.js': `const address = 'https://${wide}'`,
    'table.md': `| ${wide} |\n\n\`\`\`\n${wide} y\n\`\`\``,
  })
  assert.equal(status, 1)
  const found = output
    .trim()
    .split('\n')
    .map((line) => line.replace(/: .*/, ''))
  assert.deepEqual(found.sort(), ['comment.js:2', 'prose.md:3', 'tail.rs:1'])
})

test('biome finds every bit operation on addresses of WebAssembly', (t) => {
  const operations = ['at >> 2', 'at & 7', '~at', 'at | 0', 'at << 1', 'at ^ 1', 'at >>> 2']
  const code = operations.map((operation, index) => `export const f${index} = (at) => ${operation}\n`).join('')
  const cwd = folderWith(t, {
    'biome.jsonc': fs.readFileSync(path.join(root, 'biome.jsonc'), 'utf8'),
    ...Object.fromEntries(['addresses', 'native', 'another'].map((name) => [`packages/web/src/${name}.mjs`, code])),
  })
  const biome = path.join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
  const args = [biome, 'lint', '--only=suspicious/noBitwiseOperators', '--reporter=github', '.']
  const { stdout } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  const reported = (name) =>
    Array.from(stdout.matchAll(/^::error .*?([\w-]+)\.mjs,line=(\d+)/gm))
      .filter(([, file]) => file === name)
      .map(([, , line]) => operations[Number(line) - 1])
      .sort()
  assert.deepEqual(reported('native'), operations.toSorted())
  assert.deepEqual(reported('another'), operations.toSorted())
  assert.deepEqual(reported('addresses'), operations.filter((operation) => operation !== 'at >>> 2').toSorted())
})

test('one module has the views of the memory of WebAssembly', () => {
  const folder = path.join(root, 'packages', 'web', 'src')
  const others = fs.readdirSync(folder).filter((name) => /\.mjs$/.test(name) && name !== 'addresses.mjs')
  const uses = (pattern) => others.filter((name) => pattern.test(fs.readFileSync(path.join(folder, name), 'utf8')))
  assert.deepEqual(uses(/exports\.memory|\bmemory\.buffer/), ['instance.mjs'])
  assert.deepEqual(uses(/\.(?:numbers_at|values_at|last_panic_at|stack_at|input)\(\w*\)(?! !==)/), ['instance.mjs'])
})

test('check-assertions finds those in branches, loops and callbacks that never run', (t) => {
  const { status, output } = check(t, 'check/assertions.mjs', {
    'a.test.mjs': [
      "import assert from 'node:assert/strict'",
      "import { test } from 'node:test'",
      "test('a test', () => {",
      '  const fixture = {}',
      '  if (fixture.field) assert.equal(fixture.field, 1)',
      '  fixture.field && assert.ok(fixture.field)',
      '  fixture.list?.forEach((one) => assert.ok(one))',
      '  for (const one of []) assert.ok(one)',
      '  // not here: on Windows',
      '  if (fixture.field) assert.equal(fixture.field, 1)',
      '  if (fixture.field) assert.fail()',
      '  assert.equal(fixture.field, undefined)',
      '})',
      "test('a skipped test', { skip: true }, () => {",
      '  assert.ok(false)',
      '})',
    ].join('\n'),
  })
  const lines = [...output.matchAll(/:(\d+): /g)].map(([, line]) => Number(line))
  assert.deepEqual([status, lines], [1, [5, 6, 7, 8]])
})

/** The body of the function of a file: from its first line to the line that closes it. */
function bodyOf(name, file) {
  const text = fs.readFileSync(path.join(root, file), 'utf8')
  const definition = new RegExp(`^([ ]*)(?:[a-z()"C]+ )*${name}(?:<.*>)?(?: = )?\\(.*`, 'm')
  const { 0: first, 1: indent, index } = definition.exec(text) ?? assert.fail(`${file} has no ${name}`)
  const rest = text.slice(index)
  const body = first.endsWith('}') || first.endsWith(';') ? first : rest.slice(0, rest.indexOf(`\n${indent}}`))
  return body.slice(first.length)
}

test('each function of the walk in DESIGN.md names the ones below it', () => {
  const design = fs.readFileSync(path.join(root, 'DESIGN.md'), 'utf8')
  const section = design.split('\n## ').find((part) => part.startsWith('The walk of')) ?? assert.fail('no walk')
  const lists = section.split('The way back')
  const [there, back] = lists.map((list) => [...list.matchAll(/^ {4}( *)(\w+) +([\w./-]+)/gm)])
  assert.ok(there.length > 20 && there.length <= 25, `${there.length} functions`)
  assert.ok(back.length > 5, `${back.length} functions`)
  const walk = [...there, ...back]
  const above = []
  for (const { 1: indent, 2: name, 3: file } of walk) {
    above.length = indent.length / 2
    const camelCase = name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())
    const parent = above.at(-1)
    if (parent !== undefined)
      assert.match(parent.body, new RegExp(`\\b(?:${name}|${camelCase})\\(`), `${parent.name} -> ${name}`)
    above.push({ name, body: bodyOf(name, file) })
  }
})

test('the specs that tools name are there', () => {
  const read = (name) => fs.readFileSync(path.join(root, 'tools', name), 'utf8')
  const modules = ['test.mjs', 'check', 'platforms'].flatMap((name) =>
    name.endsWith('.mjs') ? name : fs.readdirSync(path.join(root, 'tools', name)).map((file) => `${name}/${file}`),
  )
  const named = modules
    .filter((name) => name.endsWith('.mjs'))
    .flatMap((name) => {
      const text = read(name)
      const lists = [...text.matchAll(/named\((?:'([\w/-]+)'|CORPUS), '([\w -]+)'\)/g)]
      const single = text.matchAll(
        /'((?:core|chat|cli|conformance|data|dropins|hub|package|packages\/[\w-]+\/test)\/[\w-]+)'/g,
      )
      const ofLists = lists.flatMap(([, folder = 'packages/corpus/test', names]) =>
        names.split(' ').map((spec) => `${folder}/${spec}`),
      )
      return [...ofLists, ...Array.from(single, ([, spec]) => spec)].map((spec) => ({ name, spec }))
    })
  const leftOut = Object.keys(JSON.parse(read('platforms/not-in-wine.json')))
  const specs = new Set(specNames())
  const all = [...named, ...leftOut.map((spec) => ({ name: 'platforms/not-in-wine.json', spec }))]
  assert.ok(all.length > 100, `${all.length} names`)
  assert.deepEqual(
    all.filter(({ spec }) => !specs.has(spec)),
    [],
  )
})
