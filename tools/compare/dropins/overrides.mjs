#!/usr/bin/env node
// npm run maintain -- overrides: installs published packages that depend on tiktoken, js-tiktoken
// and gpt-tokenizer, once without and once with `overrides` in package.json that name the drop-ins,
// runs the main job of each package, and compares the output of both.
//
//   usage: npm run maintain -- overrides FOLDER
//
// Needs an addon of this machine, and `npm run maintain -- web`. The drop-ins come from a registry
// on this machine; FOLDER is for projects and tools, which stay for the next run.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { installInto, root, run, stop, workspaces } from '../../setup.mjs'
import { startRegistry } from '../../workflows/registry.mjs'

const [given] = process.argv.slice(2)
if (given === undefined) stop('usage: npm run maintain -- overrides FOLDER')
const folder = path.resolve(given)
const TEXT = 'Hello, world! 你好 🎉 def f(x):\n    return x ** 2\n'

/** The package and version, the original that it depends on, and its job, which prints text. */
const PROJECTS = [
  {
    name: 'openai-gpt-token-counter@1.1.2',
    original: 'tiktoken',
    job: `const counter = require('openai-gpt-token-counter')
      const messages = [{ role: 'user', content: ${JSON.stringify(TEXT)} }]
      for (const model of ['gpt-4', 'gpt-3.5-turbo'])
        console.log(model, counter.text(${JSON.stringify(TEXT.repeat(99))}, model), counter.chat(messages, model))`,
  },
  {
    name: 'openai-chat-tokens@0.2.8',
    original: 'js-tiktoken',
    job: `const { promptTokensEstimate, stringTokens } = require('openai-chat-tokens')
      const messages = [{ role: 'user', content: ${JSON.stringify(TEXT)} }]
      const functions = [{ name: 'f', parameters: { type: 'object', properties: { x: { type: 'number' } } } }]
      console.log(promptTokensEstimate({ messages, functions }), stringTokens(${JSON.stringify(TEXT.repeat(99))}))`,
  },
  {
    name: 'repomix@1.18.1',
    original: 'gpt-tokenizer',
    job: `const { spawnSync } = require('node:child_process')
      const program = require('node:path').resolve('node_modules/repomix/bin/repomix.cjs')
      const args = [program, '--no-security-check', '--token-count-tree', '-o', 'packed.xml', 'sources']
      const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      console.log(stdout.split('\\n').filter((line) => /tokens/i.test(line)).join('\\n') || stderr)`,
  },
]

fs.mkdirSync(folder, { recursive: true })
const registry = await startRegistry(folder)
let isWrong = false
try {
  process.env.NPM_CONFIG_USERCONFIG = registry.userconfig
  const platform = publishOwn()
  for (const project of PROJECTS) isWrong = !compare(project, platform) || isWrong
} finally {
  registry.stop()
}
process.exit(isWrong ? 1 : 0)

/** Publishes the packages of this working copy to the registry; returns the name of the addon's. */
function publishOwn() {
  const addon = fs.readdirSync(root).find((name) => /^tokenlane\..*\.node$/.test(name))
  const name = addon.split('.')[1]
  const staged = path.join(folder, 'platform')
  fs.cpSync(path.join(root, 'npm', name), staged, { recursive: true })
  fs.copyFileSync(path.join(root, addon), path.join(staged, addon))
  for (const cwd of [staged, root, ...workspaces()])
    if (!run('npm', ['publish', '--ignore-scripts', '--loglevel=error'], { cwd })) stop(`npm could not publish ${cwd}`)
  return `tokenlane-${name}`
}

/** Whether a job prints the same with the original and with its drop-in. */
function compare({ name, original, job }, platform) {
  const outputs = [false, true].map((isSwapped) => {
    const place = path.join(folder, `${original}-${isSwapped ? 'swapped' : 'original'}`)
    fs.rmSync(place, { recursive: true, force: true })
    const overrides = isSwapped ? { [original]: `npm:@tokenlane/${original}@0.1.0` } : undefined
    installInto(place, [...name.split(' '), ...(isSwapped ? [platform] : [])], { overrides })
    const installed = JSON.parse(
      fs.readFileSync(path.join(place, 'node_modules', original, 'package.json'), 'utf8'),
    ).name
    if (installed !== (isSwapped ? `@tokenlane/${original}` : original)) stop(`${original} is ${installed}`)
    fs.cpSync(path.join(root, 'lib'), path.join(place, 'sources'), { recursive: true })
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', job], { cwd: place, encoding: 'utf8' })
    return stdout.trim() || `nothing: ${stderr}`
  })
  const isSame = outputs[0] === outputs[1] && !outputs[0].startsWith('nothing')
  console.log(
    `${isSame ? 'same' : 'NOT THE SAME'}: ${name} over ${original}: ${outputs[1].split('\n').at(-1).slice(0, 100)}`,
  )
  if (!isSame) console.log(outputs.join('\n--- and with the drop-in:\n'))
  return isSame
}
