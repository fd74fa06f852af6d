//! One tokenizer in memory for the same bytes, whatever thread loads them and however often.
//!
//! A tokenizer is known by the length and a 128-bit keyed hash of the bytes it was made from, and by what was said beside
//! them (the name of an encoding, a pattern). The key of the hash is random in every process, so nobody can prepare two
//! files that meet. Each entry has a lock of its own, held while its tokenizer is made: two threads that load the same
//! bytes at the same time make one, and loads of different bytes do not wait for each other.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokenlane_core::Tokenizer;

use crate::error::Failure;
use crate::load::Definition;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    bytes: usize,
    hash: [u64; 2],
    definition: Definition,
}

type Entry = Arc<Mutex<Weak<Tokenizer>>>;

static ENTRIES: LazyLock<Mutex<HashMap<Key, Entry>>> = LazyLock::new(Mutex::default);

/// Two hashers with different random keys.
static HASHERS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);

/// The tokenizer made from `bytes` as `definition` says: one that is alive already, or a new one.
pub fn shared(bytes: &[u8], definition: &Definition) -> Result<Arc<Tokenizer>, Failure> {
    let hash = [&HASHERS[0], &HASHERS[1]].map(|hasher| hasher.hash_one(bytes));
    let entry = entry_of(Key { bytes: bytes.len(), hash, definition: definition.clone() });
    let mut tokenizer = entry.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(alive) = tokenizer.upgrade() {
        return Ok(alive);
    }
    let made = Arc::new(definition.build(bytes)?);
    *tokenizer = Arc::downgrade(&made);
    Ok(made)
}

fn entry_of(key: Key) -> Entry {
    let mut entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
    // Entries of tokenizers that are gone, and that nobody is making just now, go too.
    entries.retain(|_, entry| {
        Arc::strong_count(entry) > 1 || entry.try_lock().is_ok_and(|tokenizer| tokenizer.strong_count() > 0)
    });
    Arc::clone(entries.entry(key).or_default())
}
