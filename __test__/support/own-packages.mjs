// Copies the packages of this repository that tokenlane depends on into a node_modules, as npm
// installs them.

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { dependencies } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))

export function copyOwnPackages(modules) {
  for (const name of Object.keys(dependencies).filter((dependency) => dependency.startsWith('@tokenlane/'))) {
    const from = path.join(root, 'packages', name.slice('@tokenlane/'.length))
    fs.cpSync(from, path.join(modules, name), { recursive: true })
  }
}
