// All functions that the package exports, found by reflection, so that no new one is forgotten.

import { createRequire } from 'node:module'
import path from 'node:path'

import { root } from '../../setup.mjs'

const require = createRequire(import.meta.url)

const ENTRY_POINTS = {
  tokenlane: '.',
  tiktoken: 'packages/tiktoken/index.js',
  'tiktoken/lite': 'packages/tiktoken/lite.js',
  'tiktoken/init': 'packages/tiktoken/init.js',
  huggingface: 'packages/tokenizers/index.js',
  transformers: 'packages/transformers/index.js',
  'gpt-tokenizer': 'packages/gpt-tokenizer/main.js',
  'gpt-tokenizer/GptEncoding': 'packages/gpt-tokenizer/GptEncoding.js',
}

/** Calls that use the network are excluded. */
const EXCLUDED = /fromPretrained|from_pretrained/

const isClass = (value) => typeof value === 'function' && Object.getOwnPropertyNames(value.prototype ?? {}).length > 1

/**
 * `{ name, call(receiver, args), of, owner }` for every function, method, getter and constructor of
 * all entry points. `of` is the class of the receiver, `owner` the object that has the function.
 */
export function subjects() {
  const found = []
  const seen = new Set()
  for (const [name, file] of Object.entries(ENTRY_POINTS)) {
    walk(name, require(path.join(root, file)), undefined, 0)
  }
  return found.filter(({ name }) => !EXCLUDED.test(name))

  function walk(name, value, owner, depth) {
    if (value === null || !['object', 'function'].includes(typeof value) || seen.has(value) || depth > 3) return
    seen.add(value)
    if (typeof value === 'function') {
      if (isClass(value)) {
        found.push({ name: `new ${name}`, call: (_, args) => Reflect.construct(value, args) })
        members(name, value.prototype, value)
      } else {
        found.push({ name, owner, call: (receiver, args) => Reflect.apply(value, receiver, args) })
      }
    }
    for (const [key, { value: inner }] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
      if (!['prototype', 'arguments', 'caller'].includes(key)) walk(`${name}.${key}`, inner, value, depth + 1)
    }
  }

  function members(name, prototype, of) {
    for (const key of Reflect.ownKeys(prototype)) {
      const { value, get } = Object.getOwnPropertyDescriptor(prototype, key)
      const method = typeof value === 'function' ? value : get
      if (key === 'constructor' || method === undefined || seen.has(method)) continue
      seen.add(method)
      const call = (receiver, args) => Reflect.apply(method, receiver, args)
      found.push({ name: `${name}#${String(key)}`, of, call })
    }
  }
}
