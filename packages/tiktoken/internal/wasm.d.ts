/** An empty WebAssembly module: the drop-in has none. */
export {}
