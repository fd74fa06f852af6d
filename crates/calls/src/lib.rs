//! What the calls of the addon (`src/`) and of the module for the web (`crates/web`) share: the
//! options that `lib/` passes, the errors, and the numbers of which results consist.

#![deny(unsafe_code)]

pub mod change;
pub mod columns;
pub mod definition;
pub mod error;
pub mod facts;
pub mod options;
pub mod part;
pub mod split;
pub mod stop;
