// From its import on, instances of @tokenlane/web allocate above 2 GiB, where addresses are
// negative as signed numbers. Rust's allocator on WebAssembly uses only the pages that it adds
// itself, so it starts behind those that are there before its first allocation. The system gives
// such pages no memory until they are written to.

const PAGES = 2 ** 31 / 65_536
const { Instance } = WebAssembly

/** Whether the next instances do. */
export const highMemory = { isOn: true }

class HighInstance {
  constructor(...args) {
    const { exports } = /** @type {any} */ (Reflect.construct(Instance, args))
    this.exports = exports
    // Node.js has modules of its own.
    if (highMemory.isOn && 'stack_at' in exports) exports.memory.grow(PAGES)
  }
}
WebAssembly.Instance = /** @type {any} */ (HighInstance)
