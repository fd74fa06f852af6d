// Corpus jobs for specs.

import assert from 'node:assert/strict'
import path from 'node:path'

import { tokenizeCorpus } from '@tokenlane/corpus'
import { leftovers, stems } from '../../../../__test__/support/corpus.mjs'

/**
 * Returns a function that runs a job in a new folder, with these options and its own.
 *
 * @param {(...names: string[]) => string} at of `scratch`
 * @param {any} base
 */
export function jobsIn(at, base) {
  let jobs = 0
  return async (/** @type {any} */ options) => {
    const output = at(`out-${(jobs += 1)}`)
    const result = await tokenizeCorpus({ ...base, output, ...options })
    assert.deepEqual(leftovers(output), [])
    return { output, result, names: stems(output).map((stem) => path.join(output, stem)) }
  }
}
