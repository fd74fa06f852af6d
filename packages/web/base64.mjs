// The bytes of base64. Bundlers import nothing but JavaScript without a setting, so the module and
// the rank files are also texts.

export function fromBase64(text) {
  const direct = /** @type {any} */ (Uint8Array).fromBase64
  if (typeof direct === 'function') return direct.call(Uint8Array, text)
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index)
  return bytes
}
