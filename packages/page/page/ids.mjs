// Ids as code and logs print them: `1 2`, `[1, 2]`, `tensor([1, 2], device='cuda:0')`.

const NUMBERS = /(?<![\w.])-?\d+(?:\.\d+)?(?!\w)/g

const listsOf = (text) => {
  const [start, end] = [text.indexOf('['), text.lastIndexOf(']')]
  return start !== -1 && end > start ? text.slice(start, end) : text
}

/**
 * The numbers in a text, or of its lists, that are no part of a word. Some may be no ids: the
 * answer says so.
 *
 * @param {string} text
 * @returns {number[]}
 */
export function numbersOf(text) {
  return (listsOf(text).match(NUMBERS) ?? []).map(Number)
}

/**
 * The words among the ids, which are none.
 *
 * @param {string} text
 * @returns {string[]}
 */
export const wordsOf = (text) =>
  listsOf(text)
    .replace(NUMBERS, ' ')
    .match(/[^\s,;[\](){}]+/g) ?? []
