// Reads answers with random changes and cuts: no exception, no lost character, the same events
// however the answer is cut.
//
//   npm run maintain completions [--count 20000] [--seed 1]

import { parseArgs } from 'node:util'

import { changed, problemOf, read } from '../../../packages/completions/test/support.mjs'
import { generator } from '../../../__test__/support/random.mjs'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
})
const answers = Object.entries(read('answers')).flatMap(([format, list]) => list.map(([text]) => [format, text]))
const next = generator(Number(values.seed))

function tried(answer) {
  try {
    return problemOf(answer, next)
  } catch (failure) {
    return failure.stack
  }
}

let [failed, bytes] = [0, 0]
for (let i = 0; i < Number(values.count); i++) {
  const answer = changed(answers, next)
  bytes += answer[1].length
  const problem = tried(answer)
  if (problem === undefined) continue
  failed++
  console.log(`${problem}: ${JSON.stringify(answer)}`)
}
console.log(`${values.count} answers of ${bytes} characters: ${failed} fail`)
process.exitCode = failed === 0 ? 0 : 1
