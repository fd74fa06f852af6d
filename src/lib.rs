//! The Node side of tokenlane: all of napi, and nothing else. Each function here converts, calls the core, converts.
//!
//! The way of a call, in the order of the modules:
//!
//! 1. [`options`]: one integer of flags becomes the core's options. `lib/` has checked what the user wrote.
//! 2. [`text`]: strings are copied once, as UTF-16, on the JS thread, into an arena that any worker may read.
//! 3. [`line`]: at most two batches run in the process at a time; the others stand in line, first come, first served.
//! 4. [`task`]: what runs on the libuv threadpool: a panic becomes an error, the place in the line is given back.
//! 5. [`tokenizer`], [`bounded`], [`split`], [`batch`], [`change`]: the calls themselves: one text, many, a tokenizer as a whole.
//! 6. [`memory`]: ids go to JS as one ArrayBuffer over the core's own memory, without a copy.
//! 7. [`error`]: the one place where an error of any kind becomes a JS error with a stable code.
//!
//! [`limits`] are those that the core has for all threads. [`registry`] lets every thread that loads the same bytes share one tokenizer. [`node_api`] holds every raw call into
//! Node, [`allocator`] those into mimalloc, and nothing else of this crate is unsafe.

#![deny(unsafe_code)]
// In a test build napi's macros register nothing, so nobody calls what they export.
#![cfg_attr(test, allow(dead_code))]

mod allocator;
mod batch;
mod bounded;
mod change;
mod encoding;
mod error;
mod limits;
mod line;
mod load;
mod memory;
mod node_api;
mod options;
mod registry;
mod split;
mod stream;
mod task;
mod text;
mod tokenizer;
