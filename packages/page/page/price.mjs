// What tokens cost, at a price of a million of them with its currency: `$2.50`, `0,60 €`.

const PRICE = /^\s*(\D*?)\s*(\d+(?:[.,]\d+)?)\s*(\D*?)\s*$/

/**
 * The cost of tokens with the currency as it was written, or undefined for what is no price.
 *
 * @param {string} price of a million tokens
 * @param {number} count
 */
export function costOf(price, count) {
  const [, before, value, behind] = PRICE.exec(price) ?? []
  if (value === undefined) return undefined
  const cost = (Number(value.replace(',', '.')) * count) / 1e6
  // Cents, and below one two digits that count.
  const digits = cost > 0 && cost < 1 ? Math.min(12, Math.max(2, 1 - Math.floor(Math.log10(cost)))) : 2
  const text = cost.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: digits })
  return `${before}${text}${behind === '' ? '' : ` ${behind}`}`
}
