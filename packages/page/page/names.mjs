// Short names for tokenizers whose names are long, such as paths. They keep what differs.

const ELLIPSIS = '…'

/**
 * A label of at most `max` characters for each name. A longer name keeps its start, its end, and
 * the place where it first differs from the most similar name.
 *
 * @param {string[]} names
 * @param {number} max
 * @returns {string[]}
 */
export function labelsOf(names, max) {
  return names.map((name) => (name.length <= max ? name : shortened(name, names, max)))
}

function shortened(name, names, max) {
  const differs = Math.max(0, ...names.filter((other) => other !== name).map((other) => commonStart(name, other)))
  const head = Math.floor(max / 4)
  const room = max - head - 1
  const tailFrom = name.length - room
  if (differs < head || differs >= tailFrom + 1) return name.slice(0, head) + ELLIPSIS + name.slice(tailFrom)
  // Half of the room shows the place that differs, and the rest the end.
  const around = Math.ceil((room - 1) / 2) + 3
  const end = room - 1 - around
  const from = Math.max(head, differs - Math.floor(around / 2))
  return name.slice(0, head) + ELLIPSIS + name.slice(from, from + around) + ELLIPSIS + name.slice(name.length - end)
}

function commonStart(a, b) {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}
