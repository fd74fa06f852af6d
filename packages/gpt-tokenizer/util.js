'use strict'

const { isMap } = require('tokenlane/internal/base.js').realm
const { namesOf, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { typeError } = require('tokenlane/internal/dropins/errors.js')
const { sourceOf } = require('tokenlane/internal/dropins/special-tokens.js')

exports.escapeRegExp = (string) => sourceOf([primitive(string)])

exports.getMaxValueFromMap = (map) => {
  if (!isMap(map)) throw typeError('map must be a Map')
  let max = 0
  for (const value of map.values()) max = Math.max(max, primitive(value, 'a value'))
  return max
}

exports.getSpecialTokenRegex = (tokens) => new RegExp(`(${sourceOf([...namesOf(tokens)])})`)
