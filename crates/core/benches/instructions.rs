//! Work of fixed size, for counting instructions. `tools/bench/instructions.mjs` runs it under
//! callgrind (valgrind) and reads the counts between two calls of [`mark`]. It uses the system's
//! allocator, so that the counts contain only instructions of this crate.
//!
//! Usage: `instructions ENCODING`. Prints the name of the CPU level in use.
//!
//! The measured parts, in order: `load`; `cold`, encoding with a cache that contains only earlier
//! words of the same texts; `warm`, encoding with all words in the cache; `offsets`, like `warm`
//! with offsets in UTF-16 units; `decode`.

mod common;

use std::hint::black_box;

use tokenlane_core::bench_support::Worker;
use tokenlane_core::{Columns, DecodeOptions, EncodeOptions, OffsetUnit, Text, Tokenizer, cpu_level};

use common::{Outcome, encoding, options, texts};

/// The word cache of each worker, in bytes.
const CACHE: usize = 8 << 20;

/// Callgrind starts a new count at each call of this function.
#[inline(never)]
fn mark() {
    black_box(());
}

/// Runs `work` between two marks.
fn between_marks<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    mark();
    let result = black_box(work()?);
    mark();
    Ok(result)
}

fn main() -> Outcome<()> {
    let name = std::env::args().nth(1).ok_or("usage: instructions ENCODING")?;
    let (_, ranks) = encoding(&name)?;
    let texts = texts()?;
    let encode = |worker: &mut Worker<'_>| {
        texts.iter().try_for_each(|(_, text)| {
            black_box(worker.encode(text)?);
            Ok(())
        })
    };
    let tokenizer = between_marks(|| Ok(Tokenizer::from_encoding(&name, &ranks)?))?;

    let mut worker = Worker::new(&tokenizer, &options(), CACHE)?;
    between_marks(|| encode(&mut worker))?;
    between_marks(|| encode(&mut worker))?;

    let with_offsets = EncodeOptions { columns: Columns::OFFSETS, offset_unit: OffsetUnit::Utf16, ..options() };
    let mut worker = Worker::new(&tokenizer, &with_offsets, CACHE)?;
    encode(&mut worker)?;
    between_marks(|| encode(&mut worker))?;

    let mut ids = vec![];
    for (_, text) in &texts {
        tokenizer.encode_ids(Text::Utf8(text), &options(), &mut ids)?;
    }
    between_marks(|| Ok(tokenizer.decode(&ids, &DecodeOptions::default())?))?;
    println!("{}", cpu_level()?);
    Ok(())
}
