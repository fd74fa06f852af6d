// npm run maintain clients [FOLDER]: installs the newest versions of the client libraries into a
// folder (default: a temporary one), compiles the specs of their types there, and runs the specs of
// the adapters and the guide's pages of the clients with them. The checkout itself has only
// the clients whose types `npm test` compiles; llamaindex needs 40 MB.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { installInto, root, stop } from '../setup.mjs'

const CLIENTS = [
  'openai',
  'ai',
  '@ai-sdk/openai',
  '@langchain/core',
  '@langchain/textsplitters',
  '@anthropic-ai/sdk',
  '@llamaindex/core',
  'zod',
  'typescript@5',
  '@types/node@20',
]
const SPECS = ['packages/requests/test/adapters.test.mjs', '__test__/package/snippets.test.mjs']
const PAGES = ['requests', 'openai', 'ai-sdk', 'anthropic', 'langchain', 'llamaindex']

const [given] = process.argv.slice(2)
const folder = given === undefined ? fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-clients-')) : path.resolve(given)
const typings = path.join(root, '__test__', 'typings')

function run(program, args, options) {
  const { status } = spawnSync(program, args, { stdio: 'inherit', ...options })
  if (status !== 0) stop(`${program} ${args[0]} failed in ${folder}`)
}

fs.mkdirSync(folder, { recursive: true })
fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }')
installInto(folder, CLIENTS)
const installed = Object.entries(JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).dependencies)
console.log(installed.map(([name, version]) => `${name} ${version}`).join(', '))

const link = path.join(folder, 'node_modules', 'tokenlane')
if (!fs.existsSync(link)) fs.symlinkSync(root, link, 'junction')
const files = ['clients.mts', 'llamaindex.mts']
for (const name of files) fs.copyFileSync(path.join(typings, name), path.join(folder, name))
const { compilerOptions } = JSON.parse(fs.readFileSync(path.join(typings, 'tsconfig.json'), 'utf8'))
const project = { compilerOptions: { ...compilerOptions, skipLibCheck: true }, files }
fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(project))
run(process.execPath, [path.join(folder, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder], { cwd: folder })

const env = { ...process.env, TOKENLANE_CLIENTS: path.join(folder, 'package.json') }
const pattern = `^(messages|recorded|every|what|docs/guide/(${PAGES.join('|')}))`
run(process.execPath, ['--test', `--test-name-pattern=${pattern}`, ...SPECS], { cwd: root, env })
if (given === undefined) fs.rmSync(folder, { recursive: true, force: true })
