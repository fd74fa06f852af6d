// Numbers as people read them.

/** With a comma after each three digits. */
export const number = (value) => value.toLocaleString('en')

/** `1 document`, `2 documents`. */
export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? '' : 's'}`

/** Of memory and files. */
export const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`
