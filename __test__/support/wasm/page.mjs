// What a page loads: the package in the page's own thread.

import * as tokenlane from 'tokenlane'

import { answers } from './answers.mjs'

globalThis.answers = (names) => answers(tokenlane, names)

/** What does not work in browsers says so. */
globalThis.refusals = async () => {
  const { Tokenizer } = tokenlane
  const calls = [() => Tokenizer.fromEncodingSync('r50k_base'), () => Tokenizer.fromFile('a.json'), () => Tokenizer.fromPretrained('org/name')]
  return Promise.all(calls.map(async (call) => (async () => call())().then(() => undefined, (error) => [error.code, error.message])))
}
