#!/usr/bin/env node
// npm run hostile: what should bring tokenlane down and must not.
//
//   usage: npm run hostile -- calls | files | texts [options]     each says in its file what it does and what it takes

import path from 'node:path'

import { root, run, stop } from './setup.mjs'

const [which, ...rest] = process.argv.slice(2)
if (!['calls', 'files', 'texts'].includes(which)) stop('usage: npm run hostile -- calls | files | texts [options]')
process.exit(run(process.execPath, [path.join(root, 'scripts', 'hostile', `${which}.mjs`), ...rest]) ? 0 : 1)
