// Arguments that no program should pass. Valid ones are among them, so that calls reach the checks
// of the next argument.

import vm from 'node:vm'

const other = vm.createContext({})
const inOther = (script) => vm.runInContext(script, other)

/** The error that arguments throw. A call may pass it on unchanged. */
export class Thrown extends Error {}

const thrower = () => {
  throw new Thrown('thrown by an argument')
}

/** Every trap of a proxy throws. */
const trapped = (target) => new Proxy(target, new Proxy({}, { get: () => thrower }))

/** A proxy that behaves like its target. */
const through = (target) => new Proxy(target, {})

function revoked(target) {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

function detached(array) {
  structuredClone(array.buffer, { transfer: [array.buffer] })
  return array
}

function shrunk() {
  const buffer = new ArrayBuffer(64, { maxByteLength: 256 })
  const view = new Uint8Array(buffer, 16, 32)
  buffer.resize(8)
  return view
}

/**
 * A list that changes while it is read: the getter of its second entry calls `action` with the
 * list.
 */
function restless(action) {
  const list = [new TextEncoder().encode('some text '.repeat(20)), '', 'the last', 'one more']
  Object.defineProperty(list, 1, { enumerable: true, configurable: true, get: () => (action(list), 'read') })
  return list
}

/** An object with a property whose value changes on each access. */
function fickle(name, ...values) {
  let turn = 0
  return Object.defineProperty({}, name, { enumerable: true, get: () => values[turn++ % values.length] })
}

const NUMBERS = [
  0,
  -0,
  1,
  2,
  3,
  7,
  100,
  4096,
  -1,
  1.5,
  NaN,
  Infinity,
  -Infinity,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  1e308,
  5e-324,
]

const TEXTS = [
  '',
  'a',
  'Hello, world!',
  'hello hello  hello',
  '\ud800',
  'a\udc00b\ud83d',
  '\udc00\ud800'.repeat(50),
  '\0',
  'é中😀'.repeat(30),
  '<|endoftext|>',
  '<s></s>',
  ' '.repeat(3000),
  'x'.repeat(9000),
  'word '.repeat(5000),
  '__proto__',
  'constructor',
  'o200k_base',
  'gpt-4o',
  'text',
  'parse',
  '/no/such/file',
]

/** Values that are not a valid text, list or number. They are created anew for each use. */
const MAKERS = [
  () => undefined,
  () => null,
  () => true,
  () => false,
  () => 0n,
  () => -(2n ** 70n),
  () => Symbol('s'),
  () => Symbol.iterator,
  () => () => 1,
  () => thrower,
  () => class {},
  () => [],
  () => ['a', 'b c'],
  () => ['a', 'b', 3],
  () => [, 'hole', ,],
  () => [['a', 'b'], ['c']],
  () => [[1, 2, 3], [4]],
  () => [0, 1, 2, 255],
  () => [2 ** 32 - 1, -1, 1.5, NaN],
  () => new Array(1000).fill('row'),
  () => Object.assign([], { length: 2 ** 20 }),
  () => ({}),
  () => Object.create(null),
  () => ({ length: 3, 0: 'a' }),
  () => ({ length: -1 }),
  () => ({ toString: thrower, valueOf: thrower, [Symbol.toPrimitive]: thrower }),
  () => ({ [Symbol.iterator]: thrower }),
  () => ({ then: thrower }),
  () => trapped({}),
  () => trapped([]),
  () => trapped(() => 1),
  () => trapped(new Uint8Array(8)),
  () => through(['a', 'b']),
  () => through(new Uint8Array(8)),
  () => through({}),
  () => revoked({}),
  () => revoked([]),
  () => new Proxy(['a'], { get: (list, name) => (name === 'length' ? 2 ** 16 : list[name]) }),
  () => restless((list) => (list.length = 1)),
  () => restless((list) => detached(list[0])),
  () => restless((list) => list.push(...list.slice(2))),
  () => restless(thrower),
  () => fickle('length', 3, 0, 2 ** 31),
  () => new Uint8Array(0),
  () => new TextEncoder().encode('bytes of a text'),
  () => new Uint8Array([0xff, 0xfe, 0x80]),
  () => new TextEncoder().encode('{"model": {}}').subarray(3, 9),
  () => new Uint16Array(7),
  () => new Uint32Array([1, 2, 3]),
  () => new Uint32Array(10).fill(2 ** 32 - 1),
  () => new Int32Array(4),
  () => new Float64Array(2),
  () => new BigUint64Array(2),
  () => new DataView(new ArrayBuffer(8)),
  () => new ArrayBuffer(8),
  () => detached(new Uint8Array(32)),
  () => detached(new Uint32Array(32)),
  () => new Uint8Array(new SharedArrayBuffer(32)),
  () => new Uint32Array(new SharedArrayBuffer(32)),
  () => new Uint8Array(new ArrayBuffer(32, { maxByteLength: 64 })),
  () => new Uint32Array(new ArrayBuffer(32, { maxByteLength: 64 })),
  shrunk,
  () => Buffer.from('a buffer'),
  () => new String('an object'),
  // Objects of another realm.
  () => inOther('new Uint8Array([104, 105])'),
  () => inOther('new Uint32Array([1, 2, 3])'),
  () => inOther("['a', 'b']"),
  () => inOther('({ threads: 1 })'),
  () => inOther("new Map([['a', 1]])"),
  () => inOther("new TypeError('a')"),
  () => new Number(3),
  () => new Date(NaN),
  () => /a/y,
  () => new Map([['a', 1]]),
  () => new Set(['a']),
  () => Promise.resolve('a'),
  () => new Error('a'),
  () => new WeakRef({}),
  () => globalThis,
  () => AbortSignal.abort(new Thrown('aborted')),
  () => new AbortController().signal,
  () => ({ aborted: false, addEventListener: thrower, removeEventListener: thrower }),
  () => ({ aborted: false, addEventListener() {}, removeEventListener: thrower }),
  () => new URL('file:///no/such/file'),
  () => new URL('https://localhost/'),
  function () {
    return arguments
  },
]

/** Valid values of options, so that calls reach the checks of an invalid one. */
const VALID_VALUES = {
  addSpecialTokens: [true, false],
  specialTokens: ['parse', 'text', 'throw', ['<s>'], { '<x>': 7 }],
  offsets: ['utf16', 'codepoint', 'byte', false],
  pretokenized: [true, false],
  truncation: [false, { maxLength: 5 }, { maxLength: 4, stride: 2 }],
  padding: [false, { to: 12 }, { multipleOf: 8 }],
  overflow: [true, false],
  columns: [[], ['tokens'], ['wordIds', 'typeIds', 'attentionMask']],
  threads: [1, 2, 256],
  maxTokens: [1, 8, 100],
  overlap: [0, 3],
  boundary: ['token', 'sentence', 'line'],
  skipSpecialTokens: [true, false],
  addedTokens: [true, false, [{ content: '<new>' }]],
}

/** The names of all options, for random objects. */
const OPTIONS = [
  ...Object.keys(VALID_VALUES),
  ...'pair pairs signal encoding pattern maxLength stride strategy direction to multipleOf padId'.split(' '),
  ...'padTypeId padToken maxInputBytes maxQueuedBatches pool cap madvise collect normalizer'.split(' '),
  ...'preTokenizer postProcessor decoder model allowedSpecial disallowedSpecial __proto__ noSuchOption'.split(' '),
]

/** Runs what a getter does. Its errors are those of another call. */
function tried(act) {
  try {
    act()
  } catch {}
}

/** Creates random values. `live` returns objects of the package, some of them disposed. */
export function values(draw, live) {
  const number = () => draw.of(NUMBERS)
  const any = () => {
    const kind = draw.below(10)
    if (kind < 2) return number()
    if (kind < 4) return draw.of(TEXTS)
    if (kind < 6) return options()
    if (kind < 7) return live()
    return draw.of(MAKERS)()
  }
  const options = () => {
    const made = draw.chance(0.05) ? Object.create({ inherited: 1 }) : {}
    for (let left = draw.below(4); left > 0; left--) {
      const name = draw.of(OPTIONS)
      const valid = VALID_VALUES[name]
      const value = valid && draw.chance(0.6) ? draw.of(valid) : draw.chance(0.2) ? options() : any()
      const acting = () => {
        tried(() => live().encode('a text'))
        return value
      }
      const property = draw.chance(0.06) ? { get: draw.chance(0.5) ? thrower : acting } : { value }
      Object.defineProperty(made, name, { enumerable: true, configurable: true, ...property })
    }
    if (draw.chance(0.03)) return trapped(made)
    return draw.chance(0.05) ? through(made) : made
  }
  const text = () => (draw.chance(0.8) ? draw.of(TEXTS) : any())
  /** Sometimes with an element that makes a call when it is read. */
  const list = () => {
    if (draw.chance(0.3)) return any()
    const made = Array.from({ length: draw.below(6) }, text)
    if (made.length === 0 || draw.chance(0.8)) return made
    const value = text()
    const get = () => {
      tried(() => live().encodeBatchSync(['a', 'b']))
      tried(() => live().encode(['a'], { pretokenized: true }))
      return value
    }
    return Object.defineProperty(made, draw.below(made.length), { get, configurable: true, enumerable: true })
  }
  const ids = () => (draw.chance(0.7) ? Uint32Array.from({ length: draw.below(20) }, () => draw.below(60_000)) : any())
  return {
    any,
    arguments: () =>
      Array.from({ length: draw.below(5) }, (_, i) =>
        draw.of(i === 0 ? [text, list, ids, any] : [options, any, number])(),
      ),
  }
}
