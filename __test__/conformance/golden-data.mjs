// Reads crates/core/testdata/conformance. The README there documents the records.

import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

import { vocabulary } from '../../tools/data/fetch-vocabularies.mjs'
import { parseJsonLines } from '../support/json-lines.mjs'

const folder = new URL('../../crates/core/testdata/conformance/', import.meta.url)
const SUFFIX = '.jsonl.gz'

const jsonLines = (file) => parseJsonLines(gunzipSync(fs.readFileSync(new URL(file, folder))).toString())

/** The names of all tokenizers with golden data. */
export const goldenNames = fs
  .readdirSync(new URL('golden/', folder))
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .sort()

/** The texts by case id, as a Map. */
export const readTexts = () => new Map(jsonLines(`cases${SUFFIX}`).map(({ id, text }) => [id, text]))

/** The golden records of one tokenizer: `{ meta, records }`. */
export function readGolden(name) {
  const [meta, ...records] = jsonLines(`golden/${name}${SUFFIX}`)
  return { meta, records }
}

/**
 * The arguments of the adapter's `load` for a `meta` record, as [path, how]. Downloads the file if
 * it is missing.
 */
export async function locate({ tokenizer, source }) {
  switch (source) {
    case 'encoding':
      return [tokenizer, { format: 'encoding' }]
    case 'vocabulary':
      return [await vocabulary(tokenizer), { format: 'hf' }]
    case 'testdata':
      return [fileURLToPath(new URL(`tokenizers/${tokenizer}.json`, folder)), { format: 'hf' }]
    default:
      throw new Error(`golden data of ${tokenizer} with the unknown source ${source}`)
  }
}
