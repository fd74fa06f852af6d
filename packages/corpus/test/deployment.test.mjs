// examples/corpus: the image, the compose file and the Kubernetes job say what the command line
// takes.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { runIn } from '../../../__test__/support/cli.mjs'
import { scratch } from '../../../__test__/support/corpus.mjs'

const at = scratch()
const folder = fileURLToPath(new URL('../../../examples/corpus/', import.meta.url))
const read = (name) => fs.readFileSync(path.join(folder, name), 'utf8')
const { peerDependencies } = JSON.parse(fs.readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const run = runIn(folder)

let made = 0
/** Runs a command that cannot go far, and returns the code of its error. */
function codeOf(args) {
  made += 1
  const env = { TOKENLANE_QUEUE: 'redis://127.0.0.1:1', TOKENLANE_QUEUE_PASSWORD: 'x' }
  const own = args.map((arg) =>
    arg.replace('$(TOKENLANE_QUEUE)', env.TOKENLANE_QUEUE).replace('/shared', at(`shared-${made}`)),
  )
  const { stderr } = run(own, { env })
  return /\((ERR_TOKENLANE_\w+)\)/.exec(stderr)?.[1]
}

/** Commands end because the folder is not there; a wrong option would be ERR_TOKENLANE_USAGE. */
test('the arguments of the examples are those of the command line', () => {
  const lists = [
    JSON.parse(/^CMD (.*)$/m.exec(read('Dockerfile'))[1]),
    ...[...read('job.yaml').matchAll(/args: \[(.*)\]/g)].map(([, list]) => list.split(', ')),
    /worker \\\n# {5}(corpus .*)$/m.exec(read('compose.yaml'))[1].split(' '),
  ]
  assert.equal(lists.length, 4)
  for (const args of lists) assert.equal(codeOf(args), 'ERR_TOKENLANE_FILE_NOT_FOUND', args.join(' '))
  assert.equal(codeOf(['worker', '--alow', '/shared']), 'ERR_TOKENLANE_USAGE')
})

test('the image has the optional packages of the queue and of S3', () => {
  const [, list] = /npm install --omit=dev (.*?) &&/.exec(read('Dockerfile'))
  const wanted = ['bullmq', 'ioredis', '@aws-sdk/client-s3', '@aws-sdk/lib-storage']
  assert.deepEqual(list.split(' ').sort(), ['tokenlane', '@tokenlane/corpus', ...wanted].sort())
  for (const name of wanted) assert.ok(peerDependencies[name], name)
})

test('containers are given longer than a worker takes to hand back its shards', () => {
  const { stdout } = run(['worker', '--help'])
  const grace = Number(/SIGTERM waits[^)]*?(\d+)\)/.exec(stdout)?.[1])
  assert.ok(grace > 0, stdout)
  for (const [name, pattern] of [
    ['compose.yaml', /stop_grace_period: (\d+)s/],
    ['job.yaml', /terminationGracePeriodSeconds: (\d+)/],
  ])
    assert.ok(Number(/** @type {RegExp} */ (pattern).exec(read(String(name)))[1]) > grace)
})
