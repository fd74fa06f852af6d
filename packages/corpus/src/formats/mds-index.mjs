// What files of MDS say about their columns, and index.json, the list of the files that
// StreamingDataset and LocalDataset of MosaicML's streaming read. JSON is written as Python's json
// does with sorted keys, so that the bytes are those of streaming's own writer.

import { hasLossMask } from '../tokens.mjs'

/** The list of the files. */
export const INDEX = 'index.json'

/** The encodings of ids. Those of u32 have 31 bits, and PyTorch has more operations for int32. */
const ENCODINGS = { u16: 'ndarray:uint16', u32: 'ndarray:int32' }

/**
 * The columns of the samples with their encodings, in the order of their names.
 *
 * @param {import('../options.mjs').Content} content
 * @returns {[name: string, encoding: string][]}
 */
export function columnsOf(content) {
  const { type = 'u32', pack, idField } = content
  const isPacked = pack !== undefined
  const columns = {
    ...(isPacked && { cu_seqlens: 'ndarray:int32' }),
    ...(idField !== undefined && (isPacked ? { documents: 'json' } : { id: 'str' })),
    ...(hasLossMask(content) && { loss_mask: 'ndarray:uint8' }),
    tokens: ENCODINGS[type],
  }
  return Object.entries(columns)
}

/** The part of an entry of the index that each file has too, as an object. */
function configOf(content) {
  const columns = columnsOf(content)
  return {
    version: 2,
    format: 'mds',
    compression: null,
    hashes: ['sha256'],
    size_limit: null,
    column_names: columns.map(([name]) => name),
    column_encodings: columns.map(([, encoding]) => encoding),
    // No column has a fixed size.
    column_sizes: columns.map(() => null),
  }
}

/** The JSON of the columns that each file contains. */
export const configText = (content) => pythonText(configOf(content))

/** The text of index.json, in pieces. */
export class MdsIndex {
  #config
  #shards = 0

  /** @param {import('../options.mjs').Content} content */
  constructor(content) {
    this.#config = configOf(content)
  }

  get start() {
    return '{"shards": ['
  }

  /** The entry of a shard; '' for one without rows, which streaming's writer does not make. */
  entry({ documents, packing, files }) {
    const samples = packing?.rows ?? documents
    const file = files.find(({ name }) => name.endsWith('.mds'))
    if (samples === 0 || file === undefined) return ''
    const { name, bytes, sha256 } = file
    const raw = { basename: name, bytes, hashes: { sha256 } }
    const comma = this.#shards++ === 0 ? '' : ', '
    return `${comma}${pythonText({ ...this.#config, samples, raw_data: raw, zip_data: null })}`
  }

  get end() {
    return '], "version": 2}'
  }
}

/** JSON as json.dumps(value, sort_keys=True) of Python writes it, for ASCII. */
function pythonText(value) {
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.keys(value).sort()
  return `{${fields.map((name) => `${JSON.stringify(name)}: ${pythonText(value[name])}`).join(', ')}}`
}
