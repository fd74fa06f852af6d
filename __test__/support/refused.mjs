// What templates in the recorded cases use and tokenlane refuses by name.

import fs from 'node:fs'

import { Template } from '@tokenlane/jinja'

const { filters } = JSON.parse(fs.readFileSync(new URL('../testdata/chat/jinja.json', import.meta.url), 'utf8'))

function isRefused(name) {
  try {
    new Template(`{{ 1|${name} }}`).render({})
    return false
  } catch ({ message }) {
    return /not supported/.test(message)
  }
}

/** Matches templates with filters that are refused, and with differences of sets. */
export const UNSUPPORTED = new RegExp(
  [...filters.filter(isRefused), String.raw`\) - .*(keys|items)\(\)`, String.raw`(keys|items)\(\)\) - `].join('|'),
)
