// Copies of a value in which one leaf is changed or one field is missing, for tests that say which
// fields of a recording matter.

/** Another value of the same kind, which takes more tokens if it is counted. */
function another(value) {
  if (typeof value === 'string') return `${value} and quite another text`
  return typeof value === 'number' ? value * 1000 + 12345 : !value
}

/** Whether a field has no value. Clients leave such a field out as well. */
const isEmpty = (field) => field === null || field === '' || (typeof field === 'object' && !Object.keys(field).length)

/**
 * Yields copies of a value of JSON: each leaf is once another value, and each field of an object
 * is once missing. `place` is the path of what changed, with `[]` for every index.
 *
 * @param {any} value
 * @param {string} [place]
 * @returns {Generator<{ place: string, change: 'changed' | 'missing', copy: any }>}
 */
export function* changedLeaves(value, place = '') {
  for (const [name, field] of Object.entries(value)) {
    if (isEmpty(field)) continue
    const isInList = Array.isArray(value)
    const below = isInList ? `${place}[]` : place === '' ? name : `${place}.${name}`
    const copyWith = (other) => Object.assign(isInList ? [...value] : { ...value }, { [name]: other })
    if (typeof field === 'object')
      for (const { copy, ...change } of changedLeaves(field, below)) yield { ...change, copy: copyWith(copy) }
    else yield { place: below, change: 'changed', copy: copyWith(another(field)) }
    if (isInList) continue
    const { [name]: _, ...others } = value
    yield { place: below, change: 'missing', copy: others }
  }
}
