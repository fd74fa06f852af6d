// Writes a one-dimensional array of numbers, with or without the header of NumPy.

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
   * @param {string | undefined} descr the type as NumPy writes it, such as `<u2`; `undefined` for a
   *   file without a header
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
