/**
 * Converts the ranks of the npm package tiktoken to a published rank file.
 *
 * The package has lines `! <first rank> <base64> <base64> …` with consecutive ranks. The published
 * notation has one line `<base64> <rank>` for each token, in the order of the ranks.
 *
 * @param {string} packed the field `bpe_ranks` of the package's JSON
 * @returns {string} the content of a `.tiktoken` file
 */
export function rankFile(packed) {
  let text = ''
  for (const line of packed.split('\n')) {
    if (line === '') continue
    const [mark, first, ...tokens] = line.split(' ')
    if (mark !== '!' || !/^\d+$/.test(first))
      throw new Error(`unexpected start of a line of ranks: ${JSON.stringify(line.slice(0, 20))}`)
    tokens.forEach((token, index) => {
      text += `${token} ${Number(first) + index}\n`
    })
  }
  return text
}
