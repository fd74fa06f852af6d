//! Tokenizers as JS holds them.

use std::sync::Arc;

use napi::bindgen_prelude::External;
use tokenlane_core::Tokenizer;

use crate::guard::Held;

/// What JS holds: a reference to a tokenizer.
pub struct Handle {
    /// The tokenizer. Handles in this and in other threads may share it.
    pub tokenizer: Held<Arc<Tokenizer>>,
}

impl Handle {
    /// Converts the tokenizer to an External for JS. Only the first handle of a tokenizer reports
    /// its memory to V8, because the others add none.
    pub fn into_external(tokenizer: Arc<Tokenizer>) -> External<Self> {
        let bytes = if Arc::strong_count(&tokenizer) == 1 { tokenizer.memory_bytes() } else { 0 };
        External::new_with_size_hint(Self { tokenizer: Held::new(tokenizer) }, bytes)
    }
}
