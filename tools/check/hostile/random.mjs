// A pseudo-random generator with equal results on every machine.

/** Creates a generator from a seed: `below(n)`, `chance(p)`, `of(list)`. */
export function random(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0
    let z = state
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b)
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35)
    return ((z ^ (z >>> 16)) >>> 0) / 2 ** 32
  }
  const below = (end) => Math.floor(next() * end)
  return { next, below, chance: (p) => next() < p, of: (list) => list[below(list.length)] }
}
