// Copies packages of this repository into a node_modules, as npm installs them.

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { dependencies } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
const needed = Object.keys(dependencies).flatMap((name) => /^@tokenlane\/(.*)/.exec(name)?.[1] ?? [])

/**
 * @param {string[]} [names] their folders in packages/; default: those that tokenlane depends on
 */
export function copyOwnPackages(modules, names = needed) {
  for (const name of names)
    fs.cpSync(path.join(root, 'packages', name), path.join(modules, '@tokenlane', name), { recursive: true })
}
