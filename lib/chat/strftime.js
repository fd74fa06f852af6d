'use strict'

// Python's strftime in the C locale, for templates that write the current date.

const { spend } = require('./budget.js')
const { substitute } = require('./text.js')

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

const two = (number) => String(number).padStart(2, '0')
const spaced = (number) => String(number).padStart(2, ' ')
const twelve = (date) => date.getHours() % 12 || 12
const dayOfYear = (date) =>
  Math.round(
    (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - Date.UTC(date.getFullYear(), 0, 1)) / 864e5,
  ) + 1

const DIRECTIVES = {
  a: (date) => DAYS[date.getDay()].slice(0, 3),
  A: (date) => DAYS[date.getDay()],
  b: (date) => MONTHS[date.getMonth()].slice(0, 3),
  h: (date) => MONTHS[date.getMonth()].slice(0, 3),
  B: (date) => MONTHS[date.getMonth()],
  c: (date) => strftime(date, '%a %b %e %H:%M:%S %Y'),
  d: (date) => two(date.getDate()),
  D: (date) => strftime(date, '%m/%d/%y'),
  e: (date) => spaced(date.getDate()),
  f: (date) => String(date.getMilliseconds() * 1000).padStart(6, '0'),
  F: (date) => strftime(date, '%Y-%m-%d'),
  H: (date) => two(date.getHours()),
  I: (date) => two(twelve(date)),
  j: (date) => String(dayOfYear(date)).padStart(3, '0'),
  k: (date) => spaced(date.getHours()),
  l: (date) => spaced(twelve(date)),
  m: (date) => two(date.getMonth() + 1),
  M: (date) => two(date.getMinutes()),
  n: () => '\n',
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  R: (date) => strftime(date, '%H:%M'),
  s: (date) => String(Math.floor(date.getTime() / 1e3)),
  S: (date) => two(date.getSeconds()),
  t: () => '\t',
  T: (date) => strftime(date, '%H:%M:%S'),
  u: (date) => String(date.getDay() || 7),
  w: (date) => String(date.getDay()),
  x: (date) => strftime(date, '%m/%d/%y'),
  X: (date) => strftime(date, '%H:%M:%S'),
  y: (date) => two(date.getFullYear() % 100),
  Y: (date) => String(date.getFullYear()),
  // The result of datetime.now() has no time zone.
  z: () => '',
  Z: () => '',
  '%': () => '%',
}

/**
 * Formats a date in the local time zone. `%-d` has no leading zero. Unknown directives stay
 * unchanged.
 */
function strftime(date, format) {
  return substitute(format, /%(-?)([a-zA-Z%])/g, ([whole, bare, letter]) => {
    if (!Object.hasOwn(DIRECTIVES, letter)) return whole
    spend(50)
    const text = DIRECTIVES[letter](date)
    return bare === '' ? text : text.replace(/^[0 ]+(?=.)/, '')
  })
}

module.exports = { strftime }
