//! Memory for what is large and comes again and again: the ids of batches.

mod slabs;

pub use slabs::{WarmMemory, give_back, take, trim, warm};
