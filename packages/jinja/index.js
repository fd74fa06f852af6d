'use strict'

const { checkTemplate, render } = require('./src/template.js')
const { Trace } = require('./src/origins.js')
const { piecesOf, textAndRuns } = require('./src/pieces.js')
const { LIMITS, RenderCost } = require('./src/render-cost.js')

class Template {
  #source

  constructor(source) {
    if (typeof source !== 'string') throw argument(TypeError, 'TYPE', 'the source must be a string')
    checkTemplate(source)
    this.#source = source
  }

  render(variables = {}, options = {}) {
    return this.#render(variables, options)
  }

  renderPieces(variables = {}, options = {}) {
    return piecesOf(textAndRuns(this.#render(variables, options, new Trace())))
  }

  /** @param {any} [trace] */
  #render(variables, { limits, ...others } = /** @type {any} */ ({}), trace = undefined) {
    if (!isObject(variables)) throw argument(TypeError, 'TYPE', 'variables must be an object')
    const [unknown] = Object.keys(others)
    if (unknown !== undefined) throw unknownOption(unknown)
    return render(this.#source, { given: variables, trace }, undefined, new RenderCost(limitsOf(limits)))
  }
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * @param {any} limits
 * @returns {any} a value for each limit
 */
function limitsOf(limits = {}) {
  if (!isObject(limits)) throw argument(TypeError, 'TYPE', 'limits must be an object')
  for (const [name, limit] of Object.entries(limits)) {
    if (!Object.hasOwn(LIMITS, name)) throw unknownOption(`limits.${name}`)
    if (limit !== undefined && !(typeof limit === 'number' && limit > 0))
      throw argument(RangeError, 'VALUE', `limits.${name} must be a positive number or Infinity`)
  }
  return Object.fromEntries(Object.entries(LIMITS).map(([name, limit]) => [name, limits[name] ?? limit]))
}

/** @param {ErrorConstructor} kind */
const argument = (kind, code, message) => Object.assign(new kind(message), { code: `ERR_TOKENLANE_ARGUMENT_${code}` })

const unknownOption = (name) =>
  Object.assign(new TypeError(`there is no option '${name}'`), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })

exports.Template = Template
