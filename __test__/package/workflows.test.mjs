// npm run maintain workflows: how it reads workflow files, and what the jobs of this project need
// of each other and of their images.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import { manifestOf } from '../../tools/release/stage.mjs'
import { buildIsOld, root, workspaces } from '../../tools/setup.mjs'
import { refusal } from '../../tools/workflows/actions.mjs'
import { filled, holds } from '../../tools/workflows/expressions.mjs'
import { ALL, downloadsOf, jobsOf, matrixOf, uploadsOf, workflowNames } from '../../tools/workflows/read.mjs'
import { OWN_PACKAGES } from '../../tools/workflows/registry.mjs'
import { withRows } from '../../tools/workflows/report.mjs'

test('a matrix is expanded as GitHub documents it', () => {
  // The example of "Workflow syntax", jobs.<job_id>.strategy.matrix.include.
  const include = [
    { color: 'green' },
    { color: 'pink', animal: 'cat' },
    { fruit: 'apple', shape: 'circle' },
    { fruit: 'banana' },
    { fruit: 'banana', animal: 'cat' },
  ]
  assert.deepEqual(matrixOf({ fruit: ['apple', 'pear'], animal: ['cat', 'dog'], include }), [
    { fruit: 'apple', animal: 'cat', color: 'pink', shape: 'circle' },
    { fruit: 'apple', animal: 'dog', color: 'green', shape: 'circle' },
    { fruit: 'pear', animal: 'cat', color: 'pink' },
    { fruit: 'pear', animal: 'dog', color: 'green' },
    { fruit: 'banana' },
    { fruit: 'banana', animal: 'cat' },
  ])
  assert.deepEqual(matrixOf({ include: [{ os: 'a' }, { os: 'b' }] }), [{ os: 'a' }, { os: 'b' }])
  assert.deepEqual(matrixOf(undefined), [{}])
})

/** An expression in a text. */
const braced = (expression) => `$\{{ ${expression} }}`

test('expressions have the values of GitHub; an unknown name is an error', () => {
  const contexts = { matrix: { target: 'x86_64-unknown-linux-gnu', cross: true }, runner: { os: 'Linux' } }
  assert.equal(filled(`a${braced("endsWith(matrix.target, 'linux-gnu') && '.2.17' || ''")}b`, contexts), 'a.2.17b')
  assert.equal(filled(braced("matrix.none && 'x' || ''"), contexts), '')
  const conditions = { 'matrix.cross': true, [braced('!matrix.container')]: true, "runner.os == 'Windows'": false }
  for (const [condition, expected] of Object.entries(conditions))
    assert.equal(holds(condition, contexts, false), expected, condition)
  assert.deepEqual(
    ['matrix.cross', 'always()', 'failure()', undefined].map((condition) => holds(condition, contexts, true)),
    [false, true, true, false],
  )
  assert.throws(() => filled(braced('secrets.TOKEN'), contexts), /secrets/)
})

test('jobs follow those that they need, and a key that is not emulated stops', () => {
  const job = (needs) => `{ runs-on: ubuntu-latest, needs: ${needs}, steps: [{ run: 'true' }] }`
  const jobs = jobsOf('release', `jobs:\n  b: ${job('[a]')}\n  c: ${job('[b, a]')}\n  a: ${job('[]')}\n`)
  assert.deepEqual(
    jobs.map(({ id }) => id),
    ['a', 'b', 'c'],
  )
  const bad = `import { jobsOf } from ${JSON.stringify(new URL('../../tools/workflows/read.mjs', import.meta.url))}
    jobsOf('x', 'jobs: { a: { runs-on: u, steps: [{ run: r, continue-on-error: true }] } }')`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', bad], { encoding: 'utf8' })
  assert.deepEqual([status, stderr], [1, 'x.a.steps[0]: "continue-on-error" is not emulated\n'])
})

test('every artifact that a job downloads is uploaded by a job that it needs', () => {
  for (const name of workflowNames()) {
    const jobs = jobsOf(name)
    for (const job of jobs) {
      const needed = jobs
        .filter(({ id }) => job.needs.includes(id))
        .flatMap(uploadsOf)
        .map((upload) => upload.name)
      for (const artifact of downloadsOf(job))
        assert.ok(artifact === ALL || needed.includes(artifact), `${job.name}: ${artifact}`)
    }
  }
})

test('what is published was compiled and tested in jobs without the identity of the release', () => {
  const jobs = jobsOf('release')
  const publish = jobs.find(({ id }) => id === 'publish')
  assert.deepEqual(publish.needs, ['build', 'test', 'web'])
  for (const { uses = '', run = '' } of publish.steps) assert.doesNotMatch(`${uses} ${run}`, /rust|cargo|maintain/)
  const web = jobs.find(({ id }) => id === 'web').steps.map(({ run, with: inputs }) => run ?? inputs?.path)
  const [built, tested, uploaded] = ['maintain -- web', 'web.test.mjs', 'packages/web/dist'].map((text) =>
    web.findIndex((step) => step?.includes(text)),
  )
  assert.ok(0 < built && built < tested && tested < uploaded)
})

test('npm test asks for no compiler where it compiles nothing', { skip: buildIsOld() && 'the addon is old' }, (t) => {
  const bin = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-bin-'))
  t.after(() => fs.rmSync(bin, { recursive: true }))
  fs.symlinkSync(process.execPath, path.join(bin, path.basename(process.execPath)))
  const run = (only) =>
    spawnSync(process.execPath, ['tools/test.mjs', '--only', only], {
      cwd: root,
      env: { ...process.env, PATH: bin },
      encoding: 'utf8',
    })
  const cycles = run('cycles of modules')
  assert.equal(cycles.status, 0, cycles.stdout + cycles.stderr)
  assert.match(cycles.stdout, /cycles of modules: passed/)
  assert.match(run('Rust tests').stderr, /there is no cargo/)
})

test('every input of an action is one that npm run maintain workflows emulates', () => {
  for (const name of workflowNames())
    for (const job of jobsOf(name))
      for (const { uses, with: inputs = {} } of job.steps.filter((step) => step.uses !== undefined))
        assert.equal(refusal(uses, inputs), undefined, `${job.name}: ${uses}`)
  assert.match(refusal('actions/checkout@0', { submodules: true }), /submodules of actions\/checkout is not emulated/)
  assert.match(refusal('actions/none@0', {}), /actions\/none is not emulated/)
})

test('the registry of a rehearsal accepts each package of this repository', () => {
  const names = [root, ...workspaces()].map((folder) => manifestOf(folder).name)
  assert.ok(names.includes('@tokenlane/jinja'))
  for (const name of names)
    assert.ok(
      OWN_PACKAGES.some((pattern) => new RegExp(`^${pattern.replace('*', '[^/]*')}$`).test(name)),
      name,
    )
})

test('the table of results keeps the rows of jobs that did not run, and has none of jobs that cannot', () => {
  const page = 'a\n<!-- workflows -->\n| x | y | z | old |\n| ci | one | passed | old |\n<!-- end of workflows -->\nb\n'
  const all = ['ci | one', 'ci | two', 'ci | three']
  const outcomes = [
    { workflow: 'ci', name: 'two', result: 'passed' },
    { workflow: 'ci', name: 'three', result: 'left out: macOS' },
  ]
  const written = withRows(page, outcomes, all, '2026-11-28')
  assert.equal(
    written,
    `a
<!-- workflows -->
| workflow | job | result on this machine | run |
|---|---|---|---|
| ci | one | passed | old |
| ci | two | passed | 2026-11-28 |
<!-- end of workflows -->
b
`,
  )
})
