//! The core of tokenlane as a WebAssembly module for pages, workers and edge runtimes: one thread,
//! no shared memory, no imports. `web/native.mjs` calls it, behind the same `lib/` as the addon.
//!
//! - [`exports`]: the functions of the module.
//! - [`instance`]: what an instance holds: tokenizers, streams, batches and the buffers of a call.
//! - [`input`]: the input buffer, to which JS writes texts, ids and options.
//! - [`inputs`]: the texts of a call in that buffer.
//!
//! A call writes its texts to the input buffer, calls one function and reads the result from the
//! memory of the module. A function returns -1 after a failure, which is the text of the result as
//! JSON. Panics and refused allocations end the instance by a trap, because WebAssembly does not
//! unwind; `last_panic` has the message of a panic.

#![deny(unsafe_code)]

mod exports;
mod input;
mod inputs;
mod instance;
