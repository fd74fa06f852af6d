'use strict'

// One repository in the cache folder that all of Hugging Face's libraries share:
//
//   models--org--name/
//     blobs/<etag>                         what files hold
//     refs/<branch or tag>                 the commit that it was
//     snapshots/<commit>/<path>            a link to a blob
//     .no_exist/<commit>/<path>            an empty file: the commit has no such file
//
// Whatever is written is written beside its place first and renamed then, so that nobody ever sees half of it.

const { randomBytes } = require('node:crypto')
const fs = require('node:fs/promises')
const path = require('node:path')

const { cacheFailed } = require('./errors.js')

const COMMIT = /^[0-9a-f]{40}$/

class RepoCache {
  #folder

  constructor(cache, repo) {
    this.#folder = path.join(cache, ['models', ...repo.split('/')].join('--'))
  }

  /** The place of a blob. */
  blob(etag) {
    return path.join(this.#folder, 'blobs', etag)
  }

  /** The commit that a branch, a tag or a commit is, as far as the cache knows. */
  async commitOf(revision) {
    if (COMMIT.test(revision)) return revision
    const text = await fs.readFile(this.#ref(revision), 'utf8').catch(() => '')
    return COMMIT.test(text.trim()) ? text.trim() : undefined
  }

  async noteRevision(revision, commit) {
    if (revision === commit || (await this.commitOf(revision)) === commit) return
    await this.#write(this.#ref(revision), (beside) => fs.writeFile(beside, commit))
  }

  /** The file's place in a commit, if it is there. */
  async find(commit, file) {
    const place = this.#inSnapshot(commit, file)
    return (await isThere(place)) ? place : undefined
  }

  /** Whether a commit is known not to have a file. */
  isAbsent(commit, file) {
    return isThere(this.#absent(commit, file))
  }

  noteAbsent(commit, file) {
    return this.#write(this.#absent(commit, file), (beside) => fs.writeFile(beside, ''))
  }

  /** That all files of a folder are there: the folder itself, where files that are not there are noted. */
  async noteListed(commit, folder) {
    await this.#guarded(fs.mkdir(this.#absent(commit, folder), { recursive: true }))
  }

  /** Makes a blob a file of a commit. Where links are not allowed it becomes a copy. */
  async link(commit, file, etag) {
    const place = this.#inSnapshot(commit, file)
    const blob = this.blob(etag)
    await this.#write(place, (beside) =>
      fs.symlink(path.relative(path.dirname(place), blob), beside).catch(() => fs.copyFile(blob, beside)),
    )
    return place
  }

  /** Calls `write` with a place beside the file, which it then becomes. */
  async #write(place, write) {
    const beside = `${place}.${besideName()}`
    const run = async () => {
      await fs.mkdir(path.dirname(place), { recursive: true })
      try {
        await write(beside)
        await fs.rename(beside, place)
      } catch (failure) {
        await fs.rm(beside, { force: true })
        // Windows does not let go of a file that another process reads. It is the same one.
        if (!(await isThere(place))) throw failure
      }
    }
    await this.#guarded(run())
  }

  async #guarded(work) {
    try {
      return await work
    } catch (failure) {
      throw cacheFailed(failure, this.#folder)
    }
  }

  #ref = (revision) => path.join(this.#folder, 'refs', ...revision.split('/'))
  #inSnapshot = (commit, file) => path.join(this.#folder, 'snapshots', commit, ...file.split('/'))
  #absent = (commit, file) => path.join(this.#folder, '.no_exist', commit, ...file.split('/'))
}

/** The end of a name that no other process and no other call gives. */
const besideName = () => `tokenlane-${process.pid}-${randomBytes(4).toString('hex')}.incomplete`

async function isThere(place) {
  return fs.access(place).then(
    () => true,
    () => false,
  )
}

module.exports = { COMMIT, RepoCache, besideName, isThere }
