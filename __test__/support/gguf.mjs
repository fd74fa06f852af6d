// Writes GGUF files: metadata, and bytes that stand for tensors.

const TYPES = { u8: 0, i32: 5, u32: 4, f32: 6, flag: 7, text: 8, list: 9, u64: 10 }

/**
 * A GGUF file. `values` are [key, type, value]; a list has the type of its entries in brackets, as
 * in ['names', '[text]', ['a', 'b']].
 *
 * @param {[string, string, any][]} values
 * @param {{ version?: number, little?: boolean, tensors?: number }} [options]
 */
export function gguf(values, { version = 3, little = true, tensors = 64 } = {}) {
  const number = (size, write) => {
    const bytes = Buffer.alloc(size)
    write(new DataView(bytes.buffer, bytes.byteOffset, size))
    return bytes
  }
  const u32 = (value) => number(4, (view) => view.setUint32(0, value, little))
  const u64 = (value) => number(8, (view) => view.setBigUint64(0, BigInt(value), little))
  const text = (value) => {
    const bytes = Buffer.from(value)
    return Buffer.concat([u64(bytes.length), bytes])
  }
  const write = {
    u8: (value) => Buffer.from([value]),
    u32,
    u64,
    i32: (value) => number(4, (view) => view.setInt32(0, value, little)),
    f32: (value) => number(4, (view) => view.setFloat32(0, value, little)),
    flag: (value) => Buffer.from([Number(value)]),
    text,
  }
  const one = ([key, type, value]) => {
    const entry = /^\[(.*)\]$/.exec(type)?.[1]
    if (entry === undefined) return [text(key), u32(TYPES[type]), write[type](value)]
    return [text(key), u32(TYPES.list), u32(TYPES[entry]), u64(value.length), ...value.map(write[entry])]
  }
  return Buffer.concat([
    Buffer.from('GGUF'),
    u32(version),
    u64(1),
    u64(values.length),
    ...values.flatMap(one),
    Buffer.alloc(tensors, 0xaa),
  ])
}

/** The values of a file whose tokenizer is that of a tokenizer.json with byte-level BPE. */
export function bpeValues({ model, added_tokens: added }, more = []) {
  const tokens = Object.keys(model.vocab)
  for (const { id, content } of added) tokens[id] = content
  const special = new Set(added.filter((one) => one.special).map(({ id }) => id))
  return [
    ['general.architecture', 'text', 'llama'],
    ['llama.context_length', 'u32', 4096],
    ['tokenizer.ggml.model', 'text', 'gpt2'],
    ['tokenizer.ggml.pre', 'text', 'gpt-2'],
    ['tokenizer.ggml.tokens', '[text]', tokens],
    ['tokenizer.ggml.token_type', '[i32]', tokens.map((_, id) => (special.has(id) ? 3 : 1))],
    ['tokenizer.ggml.merges', '[text]', model.merges],
    ...more,
  ]
}
