'use strict'

// Python's strftime in the C locale, for templates that write the current date.

const { spend } = require('./render-cost.js')
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

/** The number of a week in the year. `day` is the number of days since the week began. */
const week = (date, day) => Math.floor((dayOfYear(date) + 6 - day) / 7)
const sinceMonday = (date) => (date.getDay() + 6) % 7
/** The Thursday of a week, whose year is that of the week in ISO 8601. */
const thursday = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate() + 3 - sinceMonday(date))

const DIRECTIVES = {
  a: (date) => DAYS[date.getDay()].slice(0, 3),
  A: (date) => DAYS[date.getDay()],
  b: (date) => MONTHS[date.getMonth()].slice(0, 3),
  h: (date) => MONTHS[date.getMonth()].slice(0, 3),
  B: (date) => MONTHS[date.getMonth()],
  c: (date) => strftime(date, '%a %b %e %H:%M:%S %Y'),
  C: (date) => two(Math.floor(date.getFullYear() / 100)),
  d: (date) => two(date.getDate()),
  D: (date) => strftime(date, '%m/%d/%y'),
  e: (date) => spaced(date.getDate()),
  f: (date) => String(date.getMilliseconds() * 1000).padStart(6, '0'),
  F: (date) => strftime(date, '%Y-%m-%d'),
  g: (date) => two(thursday(date).getFullYear() % 100),
  G: (date) => String(thursday(date).getFullYear()),
  H: (date) => two(date.getHours()),
  I: (date) => two(twelve(date)),
  j: (date) => String(dayOfYear(date)).padStart(3, '0'),
  k: (date) => spaced(date.getHours()),
  l: (date) => spaced(twelve(date)),
  m: (date) => two(date.getMonth() + 1),
  M: (date) => two(date.getMinutes()),
  n: () => '\n',
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  P: (date) => (date.getHours() < 12 ? 'am' : 'pm'),
  r: (date) => strftime(date, '%I:%M:%S %p'),
  R: (date) => strftime(date, '%H:%M'),
  s: (date) => String(Math.floor(date.getTime() / 1e3)),
  S: (date) => two(date.getSeconds()),
  t: () => '\t',
  T: (date) => strftime(date, '%H:%M:%S'),
  u: (date) => String(date.getDay() || 7),
  U: (date) => two(week(date, date.getDay())),
  V: (date) => two(week(thursday(date), 0)),
  w: (date) => String(date.getDay()),
  W: (date) => two(week(date, sinceMonday(date))),
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
 * Formats a date in the local time zone. A number has no leading zero with `-`, as in `%-d`.
 * Unknown directives stay unchanged.
 */
function strftime(date, format) {
  return substitute(format, /%(-?)([a-zA-Z%])/g, ([whole, bare, letter]) => {
    if (!Object.hasOwn(DIRECTIVES, letter)) return whole
    spend(50)
    const text = DIRECTIVES[letter](date)
    return bare === '' ? text : text.replace(/^[0 ]+(?=\d+$)/, '')
  })
}

module.exports = { strftime }
