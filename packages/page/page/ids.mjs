// Ids as code and logs print them: `1 2`, `[1, 2]`, `tensor([1, 2], device='cuda:0')`.

const NUMBERS = /(?<![\w.])-?\d+(?:\.\d+)?(?!\w)/g

/**
 * The numbers in a text, or of its lists, that are no part of a word. Some may be no ids: the
 * answer says so.
 *
 * @param {string} text
 * @returns {number[]}
 */
export function numbersOf(text) {
  const [start, end] = [text.indexOf('['), text.lastIndexOf(']')]
  const lists = start !== -1 && end > start ? text.slice(start, end) : text
  return (lists.match(NUMBERS) ?? []).map(Number)
}
