// Prints the results of a package, and its runtime.

import { createRequire } from 'node:module'
import path from 'node:path'

import { answers } from './answers.mjs'

const [folder, ...names] = process.argv.slice(2)
const require = createRequire(path.join(folder, 'package.json'))
const binding = require('./lib/native.js').__napiBindingTarget
console.log(JSON.stringify({ binding, answers: await answers(require('./index.js'), names) }))
