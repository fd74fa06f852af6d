// The table of docs/measurements/sizes.md with the sizes of the packages.

import { stop } from '../setup.mjs'

/**
 * The page with other cells behind the name of a package.
 *
 * @param {string} page
 * @param {string} name
 * @param {string[]} cells packed and installed in MB, and the date
 */
export function withSizes(page, name, cells) {
  const row = new RegExp(`^\\| \`${name}\` \\|( [\\d.-]+ \\|){${cells.length}}`, 'm')
  if (!row.test(page)) return stop(`docs/measurements/sizes.md has no row of ${name}`)
  return page.replace(row, ['', `\`${name}\``, ...cells, ''].join(' | ').trim())
}
