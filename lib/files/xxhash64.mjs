// XXH64 with the seed 0: the checksums of Zstandard are its lower 32 bits. Numbers of 64 bits are
// pairs of numbers of 32 bits, because operations on a BigInt take thirty times as long.

/** The prime numbers of the algorithm as [upper, lower] halves. */
const [P1, P2, P3, P4, P5] = [
  [0x9e3779b1, 0x85ebca87],
  [0xc2b2ae3d, 0x27d4eb4f],
  [0x165667b1, 0x9e3779f9],
  [0x85ebca77, 0xc2b2ae63],
  [0x27d4eb2f, 0x165667c5],
].map(([high, low]) => ({ high: high | 0, low: low | 0 }))
const STRIPE_BYTES = 32

/** The number that the functions below change. */
let [high, low] = [0, 0]

const set = (number) => ([high, low] = [number.high, number.low])

function multiply(by) {
  const a = low >>> 16
  const b = low & 0xffff
  const c = by.low >>> 16
  const d = by.low & 0xffff
  const inner = Math.imul(a, d) >>> 0
  const middle = (Math.imul(b, d) >>> 16) + (inner & 0xffff) + (Math.imul(b, c) >>> 0)
  const carry = Math.imul(a, c) + (inner >>> 16) + ((middle / 0x10000) | 0)
  high = (carry + Math.imul(high, by.low) + Math.imul(low, by.high)) | 0
  low = Math.imul(low, by.low)
}

function add(byHigh, byLow) {
  const sum = (low >>> 0) + (byLow >>> 0)
  high = (high + byHigh + (sum > 0xffffffff ? 1 : 0)) | 0
  low = sum | 0
}

/** Rotates to the left by fewer than 32 bits. */
function rotate(bits) {
  const before = high
  high = (high << bits) | (low >>> (32 - bits))
  low = (low << bits) | (before >>> (32 - bits))
}

/** Mixes the number with its upper bits. */
function shifted(bits) {
  const [upper, lower] =
    bits >= 32 ? [0, high >>> (bits - 32)] : [high >>> bits, (low >>> bits) | (high << (32 - bits))]
  high ^= upper
  low ^= lower
}

/** Adds a number of the input to the number. */
function round(inputHigh, inputLow) {
  const beforeHigh = high
  const beforeLow = low
  high = inputHigh
  low = inputLow
  multiply(P2)
  add(beforeHigh, beforeLow)
  rotate(31)
  multiply(P1)
}

export class Xxhash64 {
  /** The four accumulators, upper and lower halves. */
  #lanes = Int32Array.of(P1.high, P1.low, P2.high, P2.low, 0, 0, 0, 0)
  /** Bytes that are no whole stripe. */
  #rest = Buffer.alloc(STRIPE_BYTES)
  #length = 0

  constructor() {
    const lanes = this.#lanes
    set(P1)
    add(P2.high, P2.low)
    lanes.set([high, low])
    // -P1
    lanes.set([~P1.high, -P1.low], 6)
  }

  /** @param {Uint8Array} bytes */
  update(bytes) {
    let at = 0
    const held = this.#length % STRIPE_BYTES
    this.#length += bytes.length
    if (held > 0) {
      at = Math.min(STRIPE_BYTES - held, bytes.length)
      this.#rest.set(bytes.subarray(0, at), held)
      if (held + at < STRIPE_BYTES) return
      this.#stripes(this.#rest, 0)
    }
    at = this.#stripes(bytes, at)
    this.#rest.set(bytes.subarray(at))
  }

  /** Adds whole stripes. Returns the position after them. */
  #stripes(bytes, from) {
    const lanes = this.#lanes
    let at = from
    for (; at + STRIPE_BYTES <= bytes.length; at += STRIPE_BYTES) {
      for (let lane = 0; lane < 8; lane += 2) {
        high = lanes[lane]
        low = lanes[lane + 1]
        round(int32(bytes, at + 4 * lane + 4), int32(bytes, at + 4 * lane))
        lanes[lane] = high
        lanes[lane + 1] = low
      }
    }
    return at
  }

  /** The lower 32 bits of the hash, without a sign. */
  digestLow() {
    const lanes = this.#lanes
    if (this.#length < STRIPE_BYTES) set(P5)
    else {
      const sum = { high: 0, low: 0 }
      for (const [lane, bits] of [1, 7, 12, 18].entries()) {
        high = lanes[2 * lane]
        low = lanes[2 * lane + 1]
        rotate(bits)
        add(sum.high, sum.low)
        Object.assign(sum, { high, low })
      }
      for (let lane = 0; lane < 8; lane += 2) {
        ;[high, low] = [0, 0]
        round(lanes[lane], lanes[lane + 1])
        this.#mix(sum.high, sum.low)
        multiply(P1)
        add(P4.high, P4.low)
        Object.assign(sum, { high, low })
      }
    }
    add(Math.floor(this.#length / 2 ** 32), this.#length | 0)
    this.#end(this.#rest.subarray(0, this.#length % STRIPE_BYTES))
    shifted(33)
    multiply(P2)
    shifted(29)
    multiply(P3)
    shifted(32)
    return low >>> 0
  }

  /** The exclusive or with another number. */
  #mix(byHigh, byLow) {
    high ^= byHigh
    low ^= byLow
  }

  /** Adds the bytes after the last stripe. */
  #end(rest) {
    let at = 0
    const then = (bits, factor, plus) => {
      rotate(bits)
      multiply(factor)
      if (plus !== undefined) add(plus.high, plus.low)
    }
    for (; at + 8 <= rest.length; at += 8) {
      const before = { high, low }
      ;[high, low] = [0, 0]
      round(int32(rest, at + 4), int32(rest, at))
      this.#mix(before.high, before.low)
      then(27, P1, P4)
    }
    for (; at < rest.length; at += rest.length - at >= 4 ? 4 : 1) {
      const isWord = rest.length - at >= 4
      const before = { high, low }
      ;[high, low] = isWord ? [0, int32(rest, at)] : [0, rest[at]]
      multiply(isWord ? P1 : P5)
      this.#mix(before.high, before.low)
      if (isWord) then(23, P2, P3)
      else then(11, P1)
    }
  }
}

const int32 = (bytes, at) => bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
