// The names of a shard's files, and the records of shards that are done.

/** Minimum number of digits of a shard's number in file names. */
const DIGITS = 8

/** The common start of the names of a shard's files. */
export const stemOf = (shard) => `shard-${String(shard).padStart(DIGITS, '0')}`

/** The name of the record of a shard. */
export const recordName = (shard) => `${stemOf(shard)}.json`

/** Reads the record of a shard; `undefined` if it is missing or is not JSON. */
export async function readRecord(store, shard) {
  try {
    const text = await store.readText(recordName(shard))
    return text === undefined ? undefined : JSON.parse(text)
  } catch (failure) {
    if (failure instanceof SyntaxError) return undefined
    throw failure
  }
}

/** Number of records that are read at a time, because a store answers many requests at once. */
const READ_AHEAD = 32

/**
 * Yields the records of the shards from 0 to `shards - 1`, in order; `undefined` for a missing one.
 *
 * @param {import('./store/local-store.mjs').LocalStore} store
 * @returns {AsyncGenerator<any>}
 */
export async function* recordsOf(store, shards) {
  const reading = []
  for (let shard = 0; shard < shards || reading.length > 0; shard++) {
    if (shard < shards) {
      const record = readRecord(store, shard)
      record.catch(() => {})
      reading.push(record)
    }
    if (reading.length === READ_AHEAD || shard >= shards - 1) yield await reading.shift()
  }
}

/** How a file differs from its record; `undefined` if it does not. */
export async function differenceOf(store, { name, bytes, sha256 }, check) {
  // A record is not trusted: a name in it must not lead out of the folder.
  const base = String(name).replace(/^.*[/\\]/s, '')
  const found = check === 'sha256' ? await store.hashOf(base) : await store.sizeOf(base)
  if (found === undefined) return 'it is missing'
  if (found.bytes !== bytes) return `it has ${found.bytes} bytes, but its record says ${bytes}`
  if (found.sha256 !== undefined && found.sha256 !== sha256)
    return `its SHA-256 is ${found.sha256}, but its record says ${sha256}`
  return undefined
}
