//! The Node addon of tokenlane. All uses of napi are in this crate. Each exported function converts
//! its arguments, calls the core and converts the result.
//!
//! The modules in the order in which a call passes through them:
//!
//! 1. [`options`]: an integer of flag bits becomes the options of the core. `lib/` has validated
//!    the user's values.
//! 2. [`text`]: strings are copied once, as UTF-16, on the JS thread, into an arena that any worker
//!    thread may read.
//! 3. [`queue`]: the queue of the process. At most two batches run at a time; the others wait in
//!    the order of their arrival.
//! 4. [`task`]: runs work on the libuv threadpool, turns a panic into an error and releases the
//!    permit.
//! 5. [`tokenizer`], [`encoding`], [`bounded`], [`split`], [`batch`], [`stream`]: the calls for one
//!    text, for its columns, for bounded results, for splitting, for batches, and for streaming
//!    decoding. [`load`] and [`change`] load and derive tokenizers. [`documents`] reads the texts
//!    of corpus jobs. [`train`] counts words and trains.
//! 6. [`memory`]: ids go to JS without a copy, as one ArrayBuffer over memory of the core's pool.
//! 7. [`error`]: gives every error a class and a stable code. [`node_api::guarded`], in which the
//!    body of a call runs, throws it as a JS error. [`guard`] lists all functions that Node calls,
//!    and contains their panics.
//!
//! [`handle`] is a tokenizer as JS holds it. [`limits`] has the limits that the core applies to all
//! threads. [`registry`] shares one tokenizer among all threads that load the same bytes. Unsafe
//! code is only in [`node_api`] (all raw Node-API calls), [`results`] (memory of the pool as
//! ArrayBuffers) and [`allocator`] (mimalloc).

#![deny(unsafe_code)]
#![cfg_attr(test, allow(dead_code, reason = "the macros of napi do not register functions in test builds"))]

mod allocator;
mod batch;
mod bounded;
mod change;
mod documents;
mod encoding;
mod guard;
mod handle;
mod limits;
mod load;
mod memory;
mod node_api;
mod queue;
mod registry;
mod results;
mod split;
mod stream;
mod task;
mod text;
mod tokenizer;
mod train;

// From crates/calls, which crates/web shares: `crate::error` is no file in this folder.
use tokenlane_calls::{definition, error, options};
