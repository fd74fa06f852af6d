'use strict'

/**
 * Adds members that load modules on first use: most programs need few of them, and together they
 * take as much memory as all others.
 *
 * @template {Record<string, () => any>} T
 * @template {object} U
 * @param {T} loads the functions that load them, by name
 * @param {U} object to which they are added
 * @returns {{ readonly [Name in keyof T]: ReturnType<T[Name]> } & U}
 */
function later(loads, object = /** @type {any} */ ({})) {
  for (const [name, load] of Object.entries(loads)) Object.defineProperty(object, name, { get: load, enumerable: true })
  return /** @type {any} */ (object)
}

module.exports = { later }
