// Finds the rows of a batch that fail, and says which failures are those of a row. Commands, corpus
// jobs and training use these functions.

/** Failures with a code that says nothing of the row. */
const NOT_OF_ROWS = ['USAGE', 'OUT_OF_MEMORY', 'TOO_MANY_FILES', 'PACKAGE_MISSING'].map(
  (code) => `ERR_TOKENLANE_${code}`,
)

/**
 * Whether a failure is one of the row, which can be skipped. Others, such as a lack of memory or a
 * fault of this package, end the command or the shard: what is skipped never depends on a machine.
 */
export const isOfRow = ({ code }) =>
  typeof code === 'string' && code.startsWith('ERR_TOKENLANE_') && !NOT_OF_ROWS.includes(code)

/**
 * Calls `call` with all rows, or, if a row fails, with the halves of the rows and so on. Returns
 * the results in the order of the rows. Finding a row that fails takes a number of calls
 * logarithmic in the number of rows.
 *
 * @template Result
 * @param {{ first: number, end: number }} range of the rows
 * @param {(range: { first: number, end: number }) => Promise<Result>} call rejects with an error
 *   that has the index of a row, counted from `first`, in `row`
 * @param {{ isSkipping: boolean, onFailure: (index: number, error: any) => void }} failing
 *   `onFailure` throws, or skips a row. Unless rows are skipped, it gets the first failure at once
 * @returns {Promise<{ first: number, end: number, result: Result }[]>}
 */
export async function withoutFailures({ first, end }, call, failing) {
  try {
    return [{ first, end, result: await call({ first, end }) }]
  } catch (error) {
    if (error.row === undefined) throw error
    if (end - first === 1 || !failing.isSkipping) {
      failing.onFailure(first + error.row, error)
      return []
    }
    const middle = first + ((end - first) >> 1)
    return [
      ...(await withoutFailures({ first, end: middle }, call, failing)),
      ...(await withoutFailures({ first: middle, end }, call, failing)),
    ]
  }
}
