#!/usr/bin/env node
// npm run maintain hostile: runs inputs that try to crash tokenlane or to exhaust its resources.
//
// usage: npm run maintain -- hostile calls | files | jobs | templates | texts [options]
//
// The scripts in hostile/, and jobs.mjs in packages/corpus/test/hostile/, document what they do and
// their options.

import path from 'node:path'

import { root, run, stop } from '../setup.mjs'

const [which, ...rest] = process.argv.slice(2)
if (!['calls', 'files', 'jobs', 'templates', 'texts'].includes(which))
  stop('usage: npm run maintain -- hostile calls | files | jobs | templates | texts [options]')
const folder = which === 'jobs' ? ['packages', 'corpus', 'test', 'hostile'] : ['tools', 'check', 'hostile']
process.exit(run(process.execPath, [path.join(root, ...folder, `${which}.mjs`), ...rest]) ? 0 : 1)
