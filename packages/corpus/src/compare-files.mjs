// Compares the files of a shard with their record, in a thread or in place.

import { differenceOf } from './record.mjs'
import { Allowed } from './store/allowed.mjs'
import { openStore } from './store/store.mjs'

/**
 * @param {{ place: string, files: any[], readsAll: boolean, allowedPlaces?: string[] }} request
 * @returns {Promise<{ file: string, problem: string }[]>}
 */
export async function work({ place, files, readsAll, allowedPlaces }) {
  const store = await openStore(place, allowedPlaces && new Allowed(allowedPlaces))
  try {
    const problems = []
    for (const file of files) {
      const problem = await differenceOf(store, readsAll ? { ...file, etag: undefined } : file, 'sha256')
      if (problem !== undefined) problems.push({ file: file.name, problem })
    }
    return problems
  } finally {
    await store.close()
  }
}
