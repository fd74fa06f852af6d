#!/usr/bin/env node
// npm run maintain hostile: runs inputs that try to crash tokenlane or to exhaust its resources.
//
// usage: npm run maintain -- hostile calls | files | jobs | templates | texts [options]
//
// The scripts in hostile/ document what they do and their options.

import path from 'node:path'

import { root, run, stop } from '../setup.mjs'

const [which, ...rest] = process.argv.slice(2)
if (!['calls', 'files', 'jobs', 'templates', 'texts'].includes(which))
  stop('usage: npm run maintain -- hostile calls | files | jobs | templates | texts [options]')
process.exit(run(process.execPath, [path.join(root, 'tools', 'check', 'hostile', '', `${which}.mjs`), ...rest]) ? 0 : 1)
