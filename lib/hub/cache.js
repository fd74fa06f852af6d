'use strict'

// One repository in the cache folder, which Hugging Face's libraries share:
//
//   models--org--name/
//     blobs/<etag>                         the content of a file
//     refs/<branch or tag>                 the commit to which it points
//     snapshots/<commit>/<path>            a link to a blob
//     .no_exist/<commit>/<path>            an empty file: the commit has no such file
//
// Files are written under a temporary name in the same folder and then renamed, so that other
// processes never see a partial file.
//
// Other users may write to the folder, so its content is not trusted. Temporary files are created
// with O_EXCL: an existing link with that name is an error and is not followed. Folders below
// `models--org--name` must be real folders, not links. The only links that are followed are files
// of a snapshot that lead to regular files of the same cache.

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

  /** Whether the blob exists. */
  hasBlob(etag) {
    return this.#guarded(async () => {
      const stat = await lstatIfThere(this.blob(etag))
      return stat !== undefined && checkRegular(this.blob(etag), stat) === stat
    })
  }

  /** Creates the folder of the blobs. */
  makeBlobFolder() {
    return this.#guarded(() => this.#makeFolder(path.join(this.#folder, 'blobs')))
  }

  /** The commit of a branch, a tag or a commit, or undefined if the cache does not have it. */
  async commitOf(revision) {
    if (COMMIT.test(revision)) return revision
    return this.#guarded(async () => {
      const ref = this.#ref(revision)
      const stat = await lstatIfThere(ref)
      // A folder is not an error: the branch `a/b` may have been replaced by a branch `a`.
      if (stat === undefined || stat.isDirectory()) return undefined
      const text = (await readRegular(ref, MAX_REF_BYTES, { follow: false })).toString().trim()
      return COMMIT.test(text) ? text : undefined
    })
  }

  async noteRevision(revision, commit) {
    if (revision === commit || (await this.commitOf(revision)) === commit) return
    await this.#write(this.#ref(revision), (temporary) => writeNew(temporary, commit))
  }

  /** The path of a file of a commit, or undefined if the cache does not have it. */
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
      throw error(
        'ERR_TOKENLANE_HUB_CACHE',
        `${place} in the cache is a link to ${target}, which is outside of it: delete the link`,
      )
    })
  }

  /** Whether a commit is known not to have a file. */
  isAbsent(commit, file) {
    return this.#guarded(async () => (await lstatIfThere(this.#absent(commit, file))) !== undefined)
  }

  noteAbsent(commit, file) {
    return this.#write(this.#absent(commit, file), (temporary) => writeNew(temporary, ''))
  }

  /**
   * Records that all files of a folder are in the cache, by creating the folder itself where
   * missing files are recorded.
   */
  noteListed(commit, folder) {
    return this.#guarded(() => this.#makeFolder(this.#absent(commit, folder)))
  }

  /** Makes a blob a file of a commit: a link, or a copy if links are not allowed. */
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
        // Windows does not replace a file that another process reads. That file is the same.
        if ((await lstatIfThere(place)) === undefined) throw failure
      }
    })
  }

  /**
   * Creates a folder below that of the repository. Every part of the path must be a folder and not
   * a link.
   */
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
        if (!stat.isDirectory())
          throw error('ERR_TOKENLANE_HUB_CACHE', `${place} in the cache must be a folder, and it is not: delete it`)
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

/** A suffix that no other process and no other call uses. */
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
