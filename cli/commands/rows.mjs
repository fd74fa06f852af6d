// What `encode`, `count` and `split` do before their first row: check the options, open the inputs,
// load the tokenizer, and read rows with a progress bar.

import { inputsOf, sourcesOf } from '../input/files.mjs'
import { batchesOf, unitOf } from '../input/rows.mjs'
import { formatOf } from '../output/ids.mjs'
import { progressOf } from '../progress.mjs'
import { Skips } from '../skips.mjs'
import { loadTokenizer } from '../tokenizers.mjs'
import { ignoredOf, keepOf } from './options.mjs'

/**
 * @param {{ values: any, positionals: string[] }} given
 * @param {object} defaults
 * @param {string} defaults.unit of a row
 * @param {string[]} defaults.formats of the command
 * @param {string} [defaults.format] without an output
 * @param {(format: string) => void} [check] throws if other options do not fit the format
 */
export async function startRows({ values, positionals }, { unit: byDefault, formats, format: fallback }, check) {
  const unit = unitOf(values, byDefault)
  const format = formatOf(values, formats, fallback)
  check?.(format)
  const kept = keepOf(values, format)
  const sources = await sourcesOf(positionals, {
    text: values.text,
    maxRatio: values.maxRatio,
    isText: true,
    ignored: ignoredOf(values),
  })
  const tokenizer = await loadTokenizer(values.tokenizer, values.encoding)
  const inputs = inputsOf(sources, values.tokenizer)
  const skips = new Skips(values)
  let progress
  return {
    unit,
    format,
    sources,
    tokenizer,
    inputs,
    skips,

    /** Opens the report of skipped rows and starts the progress bar, after the output is open. */
    open() {
      skips.open({ inputs, output: values.output, isOneRow: unit === 'files' && sources.length === 1 })
      progress = progressOf(sources, values)
    },

    /** @param {number} bytes */
    onRead: (bytes) => progress.read(bytes),

    /** Reads the rows in batches. */
    rows(maxRow = values.maxRow) {
      return batchesOf(sources, {
        ...kept,
        unit,
        field: values.field,
        messages: values.messages,
        tools: values.tools,
        maxRow,
        skips,
        onRead: this.onRead,
      })
    },

    /**
     * Ends the progress bar, prints what was skipped, and commits the output.
     *
     * @param {{ commit: () => Promise<void> | void }} output
     */
    async finish(output) {
      progress.stop()
      await skips.finish()
      await output.commit()
    },
  }
}
