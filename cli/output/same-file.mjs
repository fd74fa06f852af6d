// Refuses to write to a file that is read.

import fs from 'node:fs'

import { Failure } from '../failure.mjs'

/**
 * A file or a descriptor that a command reads.
 *
 * @typedef {{ name: string, file?: string, descriptor?: number }} Input
 */

/**
 * Throws if the output is one of the input files, under any name: symbolic and hard links are the
 * same file.
 *
 * @param {fs.BigIntStats | undefined} stat of the output
 * @param {string} name of the output
 * @param {Input[]} inputs
 */
export function refuseInput(stat, name, inputs) {
  if (!stat?.isFile()) return
  /** @param {Input} input */
  const isSame = ({ file, descriptor }) => {
    const input = statOf(file ?? descriptor)
    return input !== undefined && input.dev === stat.dev && input.ino === stat.ino
  }
  const input = inputs.find(isSame)
  if (input === undefined) return
  throw new Failure(
    'OUTPUT_IS_INPUT',
    `the output ${name} is the same file as the input ${input.name}: name another file`,
  )
}

/** The stat of a file or an open descriptor, or undefined if it does not exist. */
export function statOf(place) {
  try {
    return typeof place === 'number'
      ? fs.fstatSync(place, { bigint: true })
      : place === undefined
        ? undefined
        : fs.statSync(place, { bigint: true })
  } catch {
    return undefined
  }
}
