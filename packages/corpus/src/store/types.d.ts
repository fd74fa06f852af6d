// What a folder on disk and a folder in a store of objects offer to a job, and what the clients of
// stores have in common.

import type { Input } from './input.mjs'
import type { PartFile } from './part-file.mjs'

/** An open input. */
export interface OpenInput extends Input {
  /** Yields a range in chunks. With `isReused` a chunk is valid until the next one is requested. */
  chunks(
    start: number,
    end: number,
    options?: { onRead?: (chunk: Buffer) => void; isReused?: boolean },
  ): AsyncGenerator<Buffer>
  /** Reads bytes in a synchronous call; only where that is fast. Returns their number. */
  readNow?(position: number, buffer: Buffer): number
  /** Throws if the input has changed since it was opened. */
  checkUnchanged(): Promise<void>
  close(): Promise<void>
}

/** An object of a store, in the version that was found. */
export interface StoredObject {
  address: string
  /** Names the version. */
  etag: string
  /** In bytes. */
  size: number
  /** The time of its last change, in milliseconds; `Infinity` if the store does not say. */
  mtime: number
}

/** The client of a store. Errors name the address, and never a credential. */
export interface Objects {
  /**
   * An address in a dataset with the commit of its revision. `commits` are those that are known;
   * further ones are added.
   */
  pinned?(address: string, commits: Map<string, string>): Promise<string>
  /** Whether an object is read that no name and no pattern names. By default all are. */
  isData?(key: string): boolean
  /** Opens an object and reads up to `length` bytes from `start` on. */
  open(address: string, start: number, length: number): Promise<{ object: StoredObject; bytes: Buffer }>
  /** Looks an object up; `undefined` if it does not exist. */
  head(address: string): Promise<StoredObject | undefined>
  /** Reads a range. Throws if the object is not the version that was found. */
  range(object: StoredObject, start: number, end: number): Promise<Buffer>
  /** Yields the keys that start with the key of an address, in the order of the store. */
  keysBelow(address: string): AsyncGenerator<string>
  put(address: string, bytes: Buffer): Promise<void>
  /** Like `put`, unless the object exists. Returns whether it was written. */
  create(address: string, bytes: Buffer): Promise<boolean>
  remove(address: string): Promise<void>
  /** Uploads a file, so that the object appears when it is complete. Returns its ETag. */
  uploadFile(address: string, file: string, size: number): Promise<string | undefined>
  /** Removes unfinished uploads, in stores that keep them. */
  removeUploads?(place: string, isDead: (name: string, started: number) => boolean): Promise<void>
}

/** An output folder. */
export interface Store {
  /** The folder as the user named it. */
  place: string
  /** Where a file is, for messages. */
  where(name: string): string
  /** The folder that inputs must not be in. */
  exclude(): Promise<string>
  /** Creates the folder, and removes unfinished files of processes that ended. */
  prepare(): Promise<void>
  names(): Promise<string[]>
  /** Creates a file that gets its name when it is complete. */
  create(name: string): Promise<PartFile>
  /** Writes a small file completely or not at all. */
  writeWhole(name: string, text: string): Promise<void>
  /** Like `writeWhole`, unless the file exists. Returns whether it was written. */
  createWhole(name: string, text: string): Promise<boolean>
  /** Removes a file, if it exists and this process may do so. */
  remove(name: string): Promise<void>
  /** A path for a file that `publish` gives its name later. */
  part(name: string): string
  /** A path on this machine where a file can be read. */
  copyHere(name: string): Promise<string>
  /** Returns a path where the file can be read. */
  publish(part: string, name: string): Promise<string>
  /** The text of a file of at most `limit` bytes; `undefined` if it does not exist. */
  readText(name: string, limit: number): Promise<string | undefined>
  readRange(name: string, from: number, to: number): Promise<Buffer>
  /** The first and the last bytes of a file, `length` of each. */
  ends(name: string, length: number): Promise<{ start: Buffer; end: Buffer } | undefined>
  lines(name: string): AsyncGenerator<string>
  /** The hash of a file, unless it has another size than expected, or the expected ETag. */
  hashOf(name: string, expected?: number, etag?: string): Promise<{ bytes: number; sha256?: string } | undefined>
  sizeOf(name: string): Promise<{ bytes: number; sha256?: undefined } | undefined>
  /** Makes the names in the folder durable. */
  sync(): Promise<void>
  /** Removes the unfinished files of this process. */
  removeOwn(): void
  /** Removes the unfinished files of shards whose threads were ended. */
  abandon(stems: string[]): Promise<void>
  /**
   * Removes unfinished files of ended processes, and those of other machines that are at least
   * `age` milliseconds old. Returns their names.
   */
  clean(age: number): Promise<string[]>
  /** Called when all shards are done. */
  finish(): Promise<void>
  close(): Promise<void>
}
