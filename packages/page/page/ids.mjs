// Ids as code and logs print them: `1 2`, `[1, 2]`, `tensor([1, 2], device='cuda:0')`.

const NUMBER = /^-?\d+(?:\.\d+)?$/
/** What stands between numbers. */
const BETWEEN = /[\s,;:|()[\]{}<>"'`]+/

/**
 * The numbers in a text, or of its lists, and the words beside them. Some numbers may be no ids:
 * the answer says so. What stands around lists is neither.
 *
 * @param {string} text
 * @returns {{ ids: number[], others: string[] }}
 */
export function numbersOf(text) {
  const [start, end] = [text.indexOf('['), text.lastIndexOf(']')]
  const lists = start !== -1 && end > start ? text.slice(start, end) : text
  const words = lists.split(BETWEEN).filter((word) => word !== '')
  return {
    ids: words.filter((word) => NUMBER.test(word)).map(Number),
    others: words.filter((word) => !NUMBER.test(word)),
  }
}
