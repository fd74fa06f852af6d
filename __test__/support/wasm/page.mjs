// The script of a page: the package in the main thread.

import * as tokenlane from 'tokenlane'

import { answers } from './answers.mjs'

globalThis.answers = (names) => answers(tokenlane, names)

/** Calls that do not work in browsers throw an error that says so. */
globalThis.refusals = async () => {
  const { Tokenizer } = tokenlane
  const calls = [
    () => Tokenizer.fromEncodingSync('r50k_base'),
    () => Tokenizer.fromFile('a.json'),
    () => Tokenizer.fromPretrained('org/name'),
  ]
  return Promise.all(
    calls.map(async (call) =>
      (async () => call())().then(
        () => undefined,
        (error) => [error.code, error.message],
      ),
    ),
  )
}
