// Lists what is in a store, for all kinds of stores: their clients request a page, and what they
// answer is checked here. A page says by a mark (a continuation token) where the next one starts.
//
// A store must come to an end. It sends no mark twice, no key twice, and no endless row of pages.
// Keys are not kept to find repeated ones: they are in one of the orders in which stores list, and
// no order has a key twice.

import { createHash } from 'node:crypto'

import { untilEnded } from 'tokenlane/internal/corpus.js'
import { error } from '../errors.mjs'
import { partsOf } from './address.mjs'

/** Maximum number of pages of a listing, which have up to 1000 keys or, in Azure, 5000. */
const MAX_PAGES = 100_000
/** Maximum number of pages without a key that follow each other. */
const MAX_EMPTY_PAGES = 1000
/** Maximum number of keys that are sorted in memory. */
const MAX_SORTED_KEYS = 1 << 22

const LIMITS = { pages: MAX_PAGES, emptyPages: MAX_EMPTY_PAGES, sortedKeys: MAX_SORTED_KEYS }

const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))
/** The orders of stores: by bytes, folder by folder (Azure with folders), by UTF-16 units. */
const ORDERS = [
  byBytes,
  (a, b) => byBytes(a.replaceAll('/', '\0'), b.replaceAll('/', '\0')),
  (a, b) => Number(a > b) - Number(a < b),
]

const wrongListing = (address, what) =>
  error('ERR_TOKENLANE_CORPUS_STORE', `${address}: the listing of the store is wrong: ${what}`)

/**
 * Yields the entries of all pages.
 *
 * @template Entry
 * @template Mark
 * @param {string} address for messages
 * @param {(mark: Mark | undefined) => Promise<{ entries: Entry[], next?: Mark | null }>} request
 *   the page of a mark; `next` is empty in the last one, and `null` if the store says that there
 *   are more pages, but not where
 * @returns {AsyncGenerator<Entry>}
 */
export async function* listedEntries(address, request, limits = LIMITS) {
  const marks = new Set()
  let empty = 0
  for (let mark, pages = 1; ; pages++) {
    if (pages > limits.pages) throw wrongListing(address, `it has more than ${limits.pages} pages`)
    const { entries, next } = await request(mark)
    empty = entries.length === 0 ? empty + 1 : 0
    if (empty > limits.emptyPages)
      throw wrongListing(address, `more than ${limits.emptyPages} pages in a row are empty`)
    yield* entries
    if (next === null) throw wrongListing(address, 'it goes on, and does not say where')
    if (!next) return
    const digest = createHash('sha256').update(JSON.stringify(next)).digest('base64')
    if (marks.has(digest)) throw wrongListing(address, 'it continues where it has been before')
    marks.add(digest)
    mark = next
  }
}

/**
 * Yields the keys of all pages, which start with the key of the address and are in the order of the
 * store.
 *
 * @template Mark
 * @param {string} address
 * @param {(mark: Mark | undefined) => Promise<{ entries: string[], next?: Mark | null }>} request
 */
export async function* listedKeys(address, request, limits = LIMITS) {
  const { key: prefix } = partsOf(address)
  let orders = ORDERS
  let last
  for await (const key of listedEntries(address, untilWorkEnds(request), limits)) {
    checkListed(address, key, prefix)
    if (last !== undefined) orders = orders.filter((order) => order(last, key) < 0)
    if (orders.length === 0) throw wrongListing(address, `${JSON.stringify(key)} is there twice, or out of order`)
    last = key
    yield key
  }
}

/** Like `listedKeys`, for stores that list in no order: the keys are sorted by their bytes. */
export async function* sortedKeys(address, request, limits = LIMITS) {
  const { key: prefix } = partsOf(address)
  const keys = []
  for await (const key of listedEntries(address, untilWorkEnds(request), limits)) {
    checkListed(address, key, prefix)
    if (keys.push(Buffer.from(key)) > limits.sortedKeys)
      throw wrongListing(address, `it has more than ${limits.sortedKeys} keys`)
  }
  keys.sort(Buffer.compare)
  for (const [index, key] of keys.entries()) {
    if (index > 0 && key.equals(keys[index - 1]))
      throw wrongListing(address, `${JSON.stringify(String(key))} is there twice`)
    yield String(key)
  }
}

/** A listing of what is read ends with the signal of the job; one that cleans up goes on. */
const untilWorkEnds = (request) => (mark) => untilEnded(() => request(mark))

function checkListed(address, key, prefix) {
  if (typeof key !== 'string' || !key.startsWith(prefix))
    throw wrongListing(address, `it has ${JSON.stringify(key)}, which is not below this address`)
}
