/**
 * One module for each bundled encoding, with the same names as the original's `ranks/NAME`. The
 * module is the argument of `new Tiktoken(ranks)`.
 *
 * @module @tokenlane/js-tiktoken/ranks
 */
import type { TiktokenBPE } from '../lite.js'

/** The ranks of an encoding. */
declare const ranks: TiktokenBPE
export = ranks
