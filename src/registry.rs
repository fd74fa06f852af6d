//! Shares one tokenizer among all loads of the same bytes, in all threads of the process.
//!
//! The key is the length of the bytes, a 128-bit keyed hash of them, and the other arguments of the
//! load (the name of an encoding, or a pattern with special tokens). The hash key is random in each
//! process, so that nobody can prepare two files with the same hash. Each entry has its own lock,
//! which is held while the tokenizer is built: two threads that load the same bytes at the same
//! time build it once, and loads of different bytes do not wait for each other.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokenlane_core::Tokenizer;
use tokenlane_core::memory::require_for_tokenizer;

use crate::definition::Definition;
use crate::error::Failure;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    bytes: usize,
    hash: [u64; 2],
    definition: Definition,
}

/// Memory that a load needs at its peak, for each byte of the file, rounded up: 5 to 9 bytes were
/// measured for 30,000 to 200,000 tokens, beside 10 MB for caches, which the headroom covers.
const BYTES_PER_FILE_BYTE: usize = 16;

type Entry = Arc<Mutex<Weak<Tokenizer>>>;

static ENTRIES: LazyLock<Mutex<HashMap<Key, Entry>>> = LazyLock::new(Mutex::default);

/// Two hashers with different random keys, 64 bits each.
static HASHERS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);

/// Returns the tokenizer for `bytes` and `definition`: the existing one if it is still in use,
/// otherwise a new one.
pub fn shared(bytes: &[u8], definition: &Definition) -> Result<Arc<Tokenizer>, Failure> {
    let hash = [&HASHERS[0], &HASHERS[1]].map(|hasher| hasher.hash_one(bytes));
    let entry = entry_of(Key { bytes: bytes.len(), hash, definition: definition.clone() });
    let mut tokenizer = entry.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(alive) = tokenizer.upgrade() {
        return Ok(alive);
    }
    require_for_tokenizer(bytes.len().saturating_mul(BYTES_PER_FILE_BYTE))?;
    let loaded = Arc::new(definition.build(bytes)?);
    *tokenizer = Arc::downgrade(&loaded);
    Ok(loaded)
}

fn entry_of(key: Key) -> Entry {
    let mut entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
    // Removes the entries whose tokenizer was dropped, unless another thread is building it now.
    entries.retain(|_, entry| {
        Arc::strong_count(entry) > 1 || entry.try_lock().is_ok_and(|tokenizer| tokenizer.strong_count() > 0)
    });
    Arc::clone(entries.entry(key).or_default())
}
