// A registry on this machine, for npm run maintain workflows. It is verdaccio, which stores the
// packages of tokenlane and gets all others from npm's registry.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'

import { freePort, installInto, stop } from '../setup.mjs'
import { nodeOf } from './tools.mjs'

const VERDACCIO = 'verdaccio@6.10.4'
/** verdaccio asks for `node-fetch@cjs`, a tag that mirrors of npm lack. */
const OVERRIDES = { 'node-fetch': '2.7.0' }

/** Names of the packages that the registry stores itself. */
export const OWN_PACKAGES = ['tokenlane*', '@tokenlane/*']

/**
 * Starts an empty registry below `folder`.
 *
 * @param {string} folder
 * @returns {Promise<{ url: string, userconfig: string, stop: () => void }>} `userconfig` is an
 *   .npmrc that may publish
 */
export async function startRegistry(folder) {
  const tool = path.join(folder, 'verdaccio')
  const program = path.join(tool, 'node_modules', 'verdaccio', 'bin', 'verdaccio')
  if (!fs.existsSync(program)) installInto(tool, [VERDACCIO], { scripts: false, overrides: OVERRIDES })
  const storage = path.join(folder, 'registry')
  fs.rmSync(storage, { recursive: true, force: true })
  fs.mkdirSync(storage, { recursive: true })
  const upstream = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim()
  const port = await freePort()
  const config = path.join(storage, 'config.yaml')
  // verdaccio accepts packages only from users, so it needs a file of users, which stays empty.
  fs.writeFileSync(
    config,
    `storage: ./packages
max_body_size: 100mb
auth:
  htpasswd:
    file: ./users
    max_users: 1
uplinks:
  npmjs:
    url: ${upstream}
    max_fails: 1000
packages:
${OWN_PACKAGES.map((pattern) => `  '${pattern}':\n    access: $all\n    publish: $all\n`).join('')}  '**':
    access: $all
    proxy: npmjs
web:
  enable: false
log: { type: file, path: ${path.join(storage, 'log')}, level: warn }
`,
  )
  const url = `http://127.0.0.1:${port}/`
  const child = spawn(nodeOf(folder, 22), [program, '--config', config, '--listen', `127.0.0.1:${port}`], {
    cwd: storage,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let wanted = true
  const ended = once(child, 'exit').then(([status]) => wanted && stop(`verdaccio ended with ${status}`))
  await Promise.race([ended, answers(`${url}-/ping`)])
  const userconfig = path.join(storage, '.npmrc')
  // npm publishes only with a token; this registry accepts any.
  fs.writeFileSync(userconfig, `registry=${url}\n//127.0.0.1:${port}/:_authToken=rehearsal\n`)
  const end = () => {
    wanted = false
    child.kill()
  }
  return { url, userconfig, stop: end }
}

async function answers(url) {
  for (;;) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (ok) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
