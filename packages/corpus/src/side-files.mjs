// What a folder has besides its data, by the rules of those who write it. A file that is named
// itself is read, whatever its name is, and so is every file with rows 'files': of source code,
// README.md and __init__.py are documents.

/** Names that the datasets library does not read as data. */
const HUB_NAMES = ['README.md', 'dataset_info.json', 'dataset_infos.json', 'dataset_dict.json']

/** Why a file or a folder of a folder is no data; `undefined` if it is. */
function reasonOf(name) {
  // A name with = is a value of a partition.
  if (name.startsWith('_') && !name.includes('=')) return 'names with _ are those of Spark and Dask for what is no data'
  if (name.endsWith('.crc')) return 'it has the checksums of Hadoop'
  return HUB_NAMES.includes(name) ? 'it describes a dataset of the hub' : undefined
}

export class SideFiles {
  #onNote
  #rows
  #isNoted = false

  /**
   * @param {string | undefined} rows the option
   * @param {(message: string) => void} [onNote] receives the first file that is left out
   */
  constructor(rows, onNote) {
    this.#rows = rows
    this.#onNote = onNote
  }

  /** Whether a path below a folder is left out. */
  has(place, names = place.split('/').slice(-1)) {
    if (this.#rows === 'files') return false
    const reason = names.map(reasonOf).find((one) => one !== undefined)
    if (reason === undefined) return false
    if (!this.#isNoted) this.#onNote?.(`${place} and others like it are left out: ${reason} (name a file to read it)`)
    this.#isNoted = true
    return true
  }

  /** The rules of a walk of folders: see LeftOut in tokenlane. */
  get ofWalk() {
    const has = (place) => this.has(place)
    return { start: () => true, enter: () => true, has: (_rules, place) => has(place), isExcluded: has }
  }
}
