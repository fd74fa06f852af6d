// A one-dimensional array, with the header of NumPy or without one.

import { headerOf } from '../../files/npy.mjs'

export class NumberFile {
  #file
  #descr
  #count = 0

  constructor(file, descr) {
    this.#file = file
    this.#descr = descr
  }

  /**
   * @param {string | undefined} descr as NumPy writes a type, such as `<u2`; nothing for a file
   *   without a header
   */
  static async create(file, descr) {
    if (descr === undefined) file.appendOnly()
    else await file.write(headerOf(descr, 0))
    return new NumberFile(file, descr)
  }

  write(numbers) {
    this.#count += numbers.length
    return this.#file.writeNumbers(numbers)
  }

  async finish() {
    if (this.#descr !== undefined) await this.#file.rewriteStart(headerOf(this.#descr, this.#count))
  }
}
