// Values that no client sends, for each field of a body.

const endless = new Proxy([], { get: (list, name) => (name === 'length' ? 2 ** 32 - 1 : Reflect.get(list, name)) })

function deep(depth) {
  let value = {}
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { content: value }
  return value
}

function circular() {
  const value = { type: 'text' }
  value.content = [value]
  return value
}

/** An object that counts how often it is made a primitive. */
function coercible(act) {
  let count = 0
  const called = () => {
    count++
    return act()
  }
  const value = { toString: called, valueOf: called, [Symbol.toPrimitive]: called }
  return { value, coerced: () => count }
}

function throwing() {
  throw new Error('thrown by the caller')
}

/** Each makes `{ value, coerced }`: the value, and how often it was made a primitive. */
export const hostile = {
  null: () => ({ value: null }),
  undefined: () => ({ value: undefined }),
  true: () => ({ value: true }),
  0: () => ({ value: 0 }),
  NaN: () => ({ value: NaN }),
  '-1.5': () => ({ value: -1.5 }),
  bigint: () => ({ value: 10n }),
  symbol: () => ({ value: Symbol('s') }),
  function: () => ({ value: () => 'x' }),
  'an empty string': () => ({ value: '' }),
  'a name of Object.prototype': () => ({ value: 'constructor' }),
  __proto__: () => ({ value: '__proto__' }),
  '{}': () => ({ value: {} }),
  '[]': () => ({ value: [] }),
  '[null]': () => ({ value: [null] }),
  '[[]]': () => ({ value: [[]] }),
  'toString of a body': () => ({ value: { toString: 1, valueOf: 1, length: 1, toJSON: 1 } }),
  'type of a body': () => ({ value: { type: { toString: 1 }, text: 5, url: [], name: {}, content: 7 } }),
  'JSON with __proto__': () => ({ value: JSON.parse('{"__proto__":{"content":"x","type":"text","text":"x"}}') }),
  'an object that counts': () => coercible(() => 'text'),
  'an object that throws': () => coercible(throwing),
  'a Date': () => ({ value: new Date(0) }),
  'a typed array': () => ({ value: new Uint8Array([1, 2]) }),
  'a Map': () => ({ value: new Map([['type', 'text']]) }),
  'a String object': () => ({ value: new String('boxed') }),
  'a Number object': () => ({ value: new Number(-1.5) }),
  'a bigint object': () => ({ value: Object(1n) }),
  'a symbol object': () => ({ value: Object(Symbol('s')) }),
  'no prototype': () => ({ value: Object.create(null) }),
  'toJSON that throws': () => ({ value: { toJSON: throwing } }),
  'a getter that throws': () => ({ value: Object.defineProperty({}, 'type', { get: throwing, enumerable: true }) }),
  'a Proxy whose traps throw': () => ({ value: new Proxy({}, new Proxy({}, { get: () => throwing })) }),
  'a revoked Proxy': () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return { value: proxy }
  },
  'an endless Proxy': () => ({ value: endless }),
  deep: () => ({ value: deep(5000) }),
  circular: () => ({ value: circular() }),
}

/** The paths of all fields and elements within a value. */
export function pathsOf(value, path = []) {
  if (typeof value !== 'object' || value === null) return []
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value)
  return [...keys].flatMap((key) => [[...path, key], ...pathsOf(value[key], [...path, key])])
}

/** As errors write it: `messages[0].content`. */
export const placeOf = (path) =>
  path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${key}`)).join('')

/** A copy of a value with another one at a path. */
export function replaced(value, [key, ...path], other) {
  const copy = Array.isArray(value) ? [...value] : { ...value }
  copy[key] = path.length === 0 ? other : replaced(value[key], path, other)
  return copy
}
