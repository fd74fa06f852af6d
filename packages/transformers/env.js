'use strict'

// The settings of @huggingface/transformers that concern tokenizers.

const { typeError } = require('tokenlane/internal/dropins/errors.js')

const kinds = {
  allowLocalModels: 'boolean',
  localModelPath: 'string',
  allowRemoteModels: 'boolean',
  cacheDir: 'string',
  Tensor: 'function',
}
const required = ['allowLocalModels', 'allowRemoteModels']
const current = {
  allowLocalModels: true,
  localModelPath: undefined,
  allowRemoteModels: true,
  cacheDir: undefined,
  Tensor: undefined,
}

/** Assigning a wrong value, or a setting that does not exist, throws a TypeError. */
const env = {}
for (const [name, kind] of Object.entries(kinds)) {
  Object.defineProperty(env, name, {
    enumerable: true,
    get: () => current[name],
    set(value) {
      const isReset = !required.includes(name) && (value === undefined || value === null)
      if (!isReset && typeof value !== kind) throw typeError(`env.${name} must be a ${kind}`)
      current[name] = value ?? undefined
    },
  })
}
Object.seal(env)

module.exports = { env }
