// A small model for onnxruntime-node: after each id it writes the next one. The bytes are those of
// ONNX's protocol buffers.

const varint = (value) => {
  const bytes = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest % 128) | 128)
  }
}
const number = (field, value) => [...varint(field * 8), ...varint(value)]
const bytes = (field, value) => [...varint(field * 8 + 2), ...varint(value.length), ...value]
const text = (field, value) => bytes(field, Buffer.from(value))

/** An input or output of a type (1 is float, 7 int64), with sizes or names of its dimensions. */
function tensor(field, name, type, sizes) {
  const dims = sizes.flatMap((size) => bytes(1, typeof size === 'number' ? number(1, size) : text(2, size)))
  return bytes(field, [...text(1, name), ...bytes(2, bytes(1, [...number(1, type), ...bytes(2, dims)]))])
}

/** The model: `input_ids` of [batch, length] to `logits` of [batch, length, size]. */
export function nextIdModel(size) {
  const table = new Float32Array(size * size)
  for (let id = 0; id < size; id++) table[id * size + ((id + 1) % size)] = 1
  const weights = [...number(1, size), ...number(1, size), ...number(2, 1), ...text(8, 'table')]
  const graph = [
    ...bytes(1, [...text(1, 'table'), ...text(1, 'input_ids'), ...text(2, 'logits'), ...text(4, 'Gather')]),
    ...text(2, 'next'),
    ...bytes(5, [...weights, ...bytes(9, new Uint8Array(table.buffer))]),
    ...tensor(11, 'input_ids', 7, ['batch', 'length']),
    ...tensor(12, 'logits', 1, ['batch', 'length', size]),
  ]
  return Uint8Array.from([...number(1, 8), ...bytes(7, graph), ...bytes(8, number(2, 13))])
}
