//! Tests of the public API of the core. There is one module per topic, in a single binary that is
//! linked once.

mod bounded;
mod conformance;
mod length;
mod regressions;
mod save;
