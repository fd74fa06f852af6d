// The link that reproduces the view: the text, the tokenizers and the options, in the fragment of
// the address. Browsers do not send the fragment to a server.

/** Maximum length of a fragment in characters; browsers and chat programs cut longer links. */
export const MAX_LINK = 8000
const MAX_PRICE = 20
const MODES = ['chat', 'ids']

/**
 * @typedef {object} View
 * @property {string} [text] is left out if the link would be too long
 * @property {string[]} [tokenizers] of the panes; '' for one that the link leaves out
 * @property {boolean} [ids] whether the ids of all tokens are shown
 * @property {string} [mode] what is entered, unless it is a text: `chat`, whose text is JSON, `ids`
 * @property {string} [price] of a million tokens
 * @property {number} [at] where the drawn part of a long text starts
 */

/**
 * The fragment of a view, with `#`. Without the text if that is too long.
 *
 * @param {View} view
 * @returns {{ fragment: string, hasText: boolean }}
 */
export function fragmentOf({ text = '', tokenizers = [], ids = false, at = 0, mode = 'text', price = '' }) {
  const fields = new URLSearchParams(tokenizers.map((name) => ['t', name]))
  if (ids) fields.set('ids', '1')
  if (mode !== 'text') fields.set('mode', mode)
  if (price !== '' && price.length <= MAX_PRICE) fields.set('price', price)
  const rest = `#${fields}`
  if (at > 0) fields.set('at', String(at))
  // Escaping makes text longer, and half a surrogate pair cannot be escaped.
  if (text.length <= MAX_LINK) fields.set('text', text.toWellFormed())
  const whole = `#${fields}`
  const hasText = text.length <= MAX_LINK && whole.length <= MAX_LINK
  return { fragment: hasText ? whole : rest, hasText }
}

/**
 * The view of a fragment. Fields that are missing or malformed are left out; a fragment without
 * fields, such as the id of an element, is an empty view.
 *
 * @param {string} fragment
 * @returns {View}
 */
export function viewOf(fragment) {
  if (fragment.length > 2 * MAX_LINK || /^#[^=]+$/.test(fragment)) return {}
  const fields = new URLSearchParams(fragment.replace(/^#/, ''))
  const at = Number(fields.get('at') ?? 0)
  return {
    text: fields.get('text') ?? undefined,
    tokenizers: fields.getAll('t'),
    ids: fields.get('ids') === '1',
    at: Number.isSafeInteger(at) && at > 0 ? at : 0,
    ...(MODES.includes(fields.get('mode')) && { mode: fields.get('mode') }),
    ...(fields.has('price') && { price: fields.get('price').slice(0, MAX_PRICE) }),
  }
}
