// docs/measurements/peers.md: the results of peers.mjs as tables.

import { table } from './report.mjs'

const NAMES = { english: 'English', code: 'code', multilingual: 'many scripts' }

/**
 * @param {any} results of peers.mjs
 * @returns {string} the Markdown file
 */
export function tables({ date, machine, loadAverage, reps, peers }) {
  const corpora = Object.keys(peers[0].corpora)
  const columns = (figure) => peers.map(({ corpora: all }) => corpora.map((name) => all[name][figure]))
  const rows = (cells) => peers.map(({ name, version }, at) => [`${name} ${version}`, ...cells[at]])
  const names = corpora.map((name) => NAMES[name] ?? name)
  const wrong = peers.flatMap(({ name, corpora: all }) =>
    corpora.filter((one) => !all[one].isRight).map((one) => `${name} in ${NAMES[one] ?? one}`),
  )
  const sums = peers.flatMap(({ name, corpora: all }) =>
    corpora
      .filter((one) => all[one].tokens !== peers[0].corpora[one].tokens)
      .map((one) => `${name} in ${NAMES[one] ?? one}: ${all[one].tokens} instead of ${peers[0].corpora[one].tokens}`),
  )
  return `# Beside other packages

Written by \`npm run maintain -- peers\`; do not edit. Medians of ${reps} processes each, ${date}:
${machine}, load average ${loadAverage}.

o200k_base, one text after the other on one thread, all ids in JavaScript, processor time. The texts
are a mebibyte of documents of 6,500 characters after another mebibyte of the same corpus
([corpora](benchmarks.md)), so most of their words are known, as in a service.

## Encoding: MiB per second

${table(['package', ...names], rows(columns('encode')), true)}

## Decoding the same documents: MiB per second

${table(['package', ...names], rows(columns('decode')), true)}

## Short texts: thousand calls of encode per second, English

${table(
  ['package', '25 characters', '2 KB'],
  rows(peers.map(({ corpora: all }) => [all.english.short, all.english.twoKb])),
  true,
)}

## Loading, with a first short text: milliseconds

${table(['package', 'ms'], rows(peers.map(({ corpora: all }) => [all.english.load])), true)}

${differences('Decoded texts that differ from the originals', wrong)}
${differences('Numbers of ids that differ from tokenlane', sums)}
`
}

const differences = (what, list) => (list.length === 0 ? `${what}: none.` : `${what}: ${list.join('; ')}.`)
