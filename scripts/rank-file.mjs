/**
 * Turns the rank text of the npm package tiktoken into a published rank file.
 *
 * The package writes `! <first rank> <base64> <base64> …` a line, ranks counting up from the first one. The published
 * notation is `<base64> <rank>` a line, in the order of the ranks.
 *
 * @param {string} packed the field `bpe_ranks` of the package's JSON
 * @returns {string} the text of a `.tiktoken` file
 */
export function rankFile(packed) {
  let text = ''
  for (const line of packed.split('\n')) {
    if (line === '') continue
    const [mark, first, ...tokens] = line.split(' ')
    if (mark !== '!' || !/^\d+$/.test(first))
      throw new Error(`a line of ranks starts with ${JSON.stringify(line.slice(0, 20))}`)
    tokens.forEach((token, index) => {
      text += `${token} ${Number(first) + index}\n`
    })
  }
  return text
}
