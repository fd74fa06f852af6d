'use strict'

// One repository in the cache folder that all of Hugging Face's libraries share:
//
//   models--org--name/
//     blobs/<etag>                         the content of a file
//     refs/<branch or tag>                 the commit that it pointed to
//     snapshots/<commit>/<path>            a link to a blob
//     .no_exist/<commit>/<path>            an empty file: the commit has no such file
//
// Files are written under a temporary name in the same folder and then renamed, so that nobody sees a partial file.
//
// Others may write to the folder too, so nothing in it is trusted. Temporary files are created with O_EXCL, so that a link of
// that name is an error and is not followed. Folders below `models--org--name` must be folders, not links to some. The only
// links that are followed are files of a snapshot, and only to regular files of the same cache.

const { randomBytes } = require('node:crypto')
const fs = require('node:fs/promises')
const path = require('node:path')

const { error } = require('../errors.js')
const { CREATE, checkRegular, isAbsence, lstatIfThere, readRegular } = require('../regular-file.js')
const { cacheFailed } = require('./errors.js')
const { MAX_REF_BYTES } = require('./limits.js')

const COMMIT = /^[0-9a-f]{40}$/

class RepoCache {
  #cache
  #folder

  constructor(cache, repo) {
    this.#cache = cache
    this.#folder = path.join(cache, ['models', ...repo.split('/')].join('--'))
  }

  /** The path of a blob. */
  blob(etag) {
    return path.join(this.#folder, 'blobs', etag)
  }

  /** Whether a blob is there. */
  hasBlob(etag) {
    return this.#guarded(async () => {
      const stat = await lstatIfThere(this.blob(etag))
      return stat !== undefined && checkRegular(this.blob(etag), stat) === stat
    })
  }

  /** Makes the folder of the blobs. */
  makeBlobFolder() {
    return this.#guarded(() => this.#makeFolder(path.join(this.#folder, 'blobs')))
  }

  /** The commit that a branch, a tag or a commit is, as far as the cache knows. */
  async commitOf(revision) {
    if (COMMIT.test(revision)) return revision
    return this.#guarded(async () => {
      const ref = this.#ref(revision)
      const stat = await lstatIfThere(ref)
      // A folder is no error: `a/b` was a branch once, and now `a` is one.
      if (stat === undefined || stat.isDirectory()) return undefined
      const text = (await readRegular(ref, MAX_REF_BYTES, { follow: false })).toString().trim()
      return COMMIT.test(text) ? text : undefined
    })
  }

  async noteRevision(revision, commit) {
    if (revision === commit || (await this.commitOf(revision)) === commit) return
    await this.#write(this.#ref(revision), (temporary) => writeNew(temporary, commit))
  }

  /** The path of a file of a commit, if it is there. */
  find(commit, file) {
    return this.#guarded(async () => {
      const place = this.#inSnapshot(commit, file)
      let target
      try {
        target = await fs.realpath(place)
        checkRegular(place, await fs.stat(place))
      } catch (failure) {
        if (isAbsence(failure)) return undefined
        throw failure
      }
      // The cache, or the folder of a repository, may itself be a link to another disk.
      const roots = [await fs.realpath(this.#cache), await fs.realpath(this.#folder)]
      if (roots.some((root) => target.startsWith(root + path.sep))) return place
      throw error('ERR_TOKENLANE_HUB_CACHE', `${place} in the cache is a link to ${target}, which is outside of it: delete the link`)
    })
  }

  /** Whether a commit is known not to have a file. */
  isAbsent(commit, file) {
    return this.#guarded(async () => (await lstatIfThere(this.#absent(commit, file))) !== undefined)
  }

  noteAbsent(commit, file) {
    return this.#write(this.#absent(commit, file), (temporary) => writeNew(temporary, ''))
  }

  /** Notes that all files of a folder are in the cache: the folder itself, where missing files are noted. */
  noteListed(commit, folder) {
    return this.#guarded(() => this.#makeFolder(this.#absent(commit, folder)))
  }

  /** Makes a blob a file of a commit. Where links are not allowed it becomes a copy. */
  async link(commit, file, etag) {
    const place = this.#inSnapshot(commit, file)
    const blob = this.blob(etag)
    await this.#write(place, async (temporary) => {
      checkRegular(blob, await fs.lstat(blob))
      try {
        await fs.symlink(path.relative(path.dirname(place), blob), temporary)
      } catch {
        await fs.copyFile(blob, temporary, fs.constants.COPYFILE_EXCL)
      }
    })
    return place
  }

  /** Calls `write` with a temporary path and renames the result to `place`. */
  #write(place, write) {
    const temporary = `${place}.${temporaryName()}`
    return this.#guarded(async () => {
      await this.#makeFolder(path.dirname(place))
      try {
        await write(temporary)
        await fs.rename(temporary, place)
      } catch (failure) {
        await fs.rm(temporary, { force: true })
        // Windows does not replace a file that another process reads. It is the same one.
        if ((await lstatIfThere(place)) === undefined) throw failure
      }
    })
  }

  /** Makes a folder below that of the repository, in which every part of the path is a folder and not a link. */
  async #makeFolder(folder) {
    await fs.mkdir(this.#folder, { recursive: true })
    let place = this.#folder
    for (const part of path.relative(this.#folder, folder).split(path.sep)) {
      place = path.join(place, part)
      try {
        await fs.mkdir(place)
      } catch (failure) {
        if (failure.code !== 'EEXIST') throw failure
        const stat = await fs.lstat(place)
        if (!stat.isDirectory()) throw error('ERR_TOKENLANE_HUB_CACHE', `${place} in the cache must be a folder, and it is not: delete it`)
      }
    }
  }

  async #guarded(work) {
    try {
      return await work()
    } catch (failure) {
      throw cacheFailed(failure, this.#folder)
    }
  }

  #ref = (revision) => path.join(this.#folder, 'refs', ...revision.split('/'))
  #inSnapshot = (commit, file) => path.join(this.#folder, 'snapshots', commit, ...file.split('/'))
  #absent = (commit, file) => path.join(this.#folder, '.no_exist', commit, ...file.split('/'))
}

/** The end of a name that no other process and no other call uses. */
const temporaryName = () => `tokenlane-${process.pid}-${randomBytes(4).toString('hex')}.incomplete`

async function writeNew(file, text) {
  const handle = await fs.open(file, CREATE)
  try {
    await handle.writeFile(text)
  } finally {
    await handle.close()
  }
}

module.exports = { COMMIT, RepoCache, temporaryName }
