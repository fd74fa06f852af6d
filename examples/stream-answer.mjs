// Prints the answer of a model token by token. The decoder never returns an incomplete character.

import { setTimeout } from 'node:timers/promises'

import { Tokenizer } from 'tokenlane'

const tokenizer = await Tokenizer.fromEncoding('o200k_base')

/** Simulates a model. */
async function* answer() {
  for (const id of tokenizer.encode('Naïve café 👩‍🚀🚀: 日本語のテキスト。').ids) {
    await setTimeout(5)
    yield id
  }
}

const stream = tokenizer.decodeStream()
for await (const id of answer()) process.stdout.write(stream.push(id))
console.log(stream.end())
