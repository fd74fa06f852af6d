'use strict'

const { sourceOf } = require('../special-tokens.js')

exports.escapeRegExp = (string) => sourceOf([string])

exports.getMaxValueFromMap = (map) => {
  let max = 0
  for (const value of map.values()) max = Math.max(max, value)
  return max
}

exports.getSpecialTokenRegex = (tokens) => new RegExp(`(${sourceOf([...tokens])})`)
