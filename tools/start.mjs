#!/usr/bin/env node
// npm start -- [ARGUMENTS of `tokenlane bench`]
//
// Builds the addon if it is missing or outdated. Then the command line measures how fast it encodes
// a megabyte of text, and shows the tokens of a sentence; or it measures the given files.

import path from 'node:path'

import { build, checkNode, install, root, run } from './setup.mjs'

/** The declaration of human rights in many languages, and this project's code. */
const SAMPLE = ['--mib', '1', '--rows', 'files', ...['tools/data/sample', 'crates/core/src', 'src', 'lib']]
const SENTENCE = 'All human beings are born free. すべての人間は、生まれながらにして自由である。'

checkNode()
install()
build()
const given = process.argv.slice(2)
if (given.length > 0) tokenlane(process.cwd(), 'bench', ...given)
else {
  tokenlane(root, 'bench', ...SAMPLE)
  console.log()
  tokenlane(root, 'inspect', '--text', SENTENCE)
}

function tokenlane(cwd, ...args) {
  if (!run(process.execPath, [path.join(root, 'cli', 'main.mjs'), ...args], { cwd })) process.exit(1)
}
