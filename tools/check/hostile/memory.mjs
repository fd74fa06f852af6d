#!/usr/bin/env node
// Makes every call with texts, results and files that do not fit into the memory of its process.
//
//   usage: npm run maintain -- hostile memory
//
// npm test runs some of these cases. Close to the limit, V8 may end a process itself, because its
// own heap does not fit any more.

import path from 'node:path'

import { root, run } from '../../setup.mjs'

process.env.TOKENLANE_ALL_MEMORY_CASES = '1'
process.exit(run(process.execPath, ['--test', path.join(root, '__test__', 'core', 'memory-limit.test.mjs')]) ? 0 : 1)
