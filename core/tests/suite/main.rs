//! Tests of the public API of the core, one module per topic, in one binary so that they link once.

mod bounded;
mod conformance;
mod length;
mod regressions;
mod save;
