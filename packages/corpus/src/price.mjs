// Amounts of money: a currency is a sign, such as $, or a code of three letters, such as EUR.

/** A sign or a code. */
export const CURRENCY = /^(?:\p{Sc}|[A-Z]{3})$/u

/** An amount with its currency, if there is one: the sign before it, the code behind it. */
export function withCurrency(amount, currency = '') {
  if (currency === '') return String(amount)
  return currency.length === 3 ? `${amount} ${currency}` : `${currency}${amount}`
}
