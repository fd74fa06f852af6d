// Answers compare.py: each line of the standard input is { file, requests }, and each line of the
// output has the ids of tokenlane for each request [text, add_special, parse_special], or an error.

import readline from 'node:readline'

import { Tokenizer } from '../../../index.mjs'

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { file, requests } = JSON.parse(line)
  let answer
  try {
    const tokenizer = await Tokenizer.fromFile(file)
    answer = requests.map(([text, addSpecialTokens, parses]) => {
      const specialTokens = parses ? 'parse' : 'text'
      return [...tokenizer.encode(text, { addSpecialTokens, specialTokens }).ids]
    })
  } catch (error) {
    answer = `${error.code}: ${error.message}`
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
