//! No memory is allocated per row, word or token: a second batch of the same shape makes a small
//! number of allocations, however many rows it has. There is only one test, because the counter
//! counts the whole process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use tokenlane_core::batch::{PendingBatch, RunOptions, count_batch, encode_rows};
use tokenlane_core::{Columns, EncodeOptions, OffsetUnit, SpecialTokens, Text, Tokenizer};

struct Counting;

/// Number of allocations and reallocations so far.
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls are forwarded to the system's allocator, which fulfils the contract; counting
// does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller fulfils the contract of `alloc`, which is the same for `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the contract of `dealloc`, and all memory of this allocator is
        // from `System`.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller fulfils the contract of `realloc`, and all memory of this allocator is
        // from `System`.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Rows of about 1.2 KB with words of many lengths, in several scripts. Another `seed` gives other
/// words of the same lengths.
fn rows(count: usize, seed: u64) -> Vec<String> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut word = move |len: usize, first: char, letters: u64| -> String {
        (0..len).filter_map(|_| char::from_u32(first as u32 + (random() % letters) as u32)).collect()
    };
    let mut row = |_| {
        let words = (0..100).map(|at| match at % 10 {
            9 => word(6, 'а', 32),
            8 => word(3, '一', 5000),
            7 => word(40, 'a', 26),
            _ => word(1 + at % 17, 'a', 26),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    (0..count).map(&mut row).collect()
}

#[test]
fn a_second_batch_allocates_no_more_for_more_rows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../encodings/cl100k_base.tiktoken");
    let ranks = std::fs::read(path).expect("the rank files are in the repository");
    let tokenizer = Tokenizer::from_encoding("cl100k_base", &ranks).expect("the bundled file loads");
    let with = |columns, offset_unit| EncodeOptions {
        special_tokens: SpecialTokens::Parse,
        columns,
        offset_unit,
        ..EncodeOptions::default()
    };
    let columns = Columns::OFFSETS | Columns::WORD_IDS | Columns::ATTENTION_MASK;
    let options = [
        (with(Columns::NONE, OffsetUnit::Byte), 40),
        (with(Columns::OFFSETS, OffsetUnit::Byte), 40),
        (with(columns, OffsetUnit::Utf16), 60),
    ];
    for count in [100, 1000] {
        let (first, second) = (rows(count, 1), rows(count, 2));
        let utf16: Vec<Vec<u16>> = second.iter().map(|row| row.encode_utf16().collect()).collect();
        let first: Vec<Text<'_>> = first.iter().map(Text::from).collect();
        let seconds = [
            ("UTF-8", second.iter().map(Text::from).collect::<Vec<_>>()),
            ("UTF-16", utf16.iter().map(|row| Text::Utf16(row)).collect()),
        ];
        for threads in [1, 2] {
            let run = RunOptions { threads: Some(threads), ..RunOptions::default() };
            for (form, second) in &seconds {
                for (options, limit) in &options {
                    // The pool allocates some of its bookkeeping. Each window has a few lists of
                    // its own, and each further thread adds a few windows.
                    let limit = if threads == 1 { *limit } else { 12 * limit };
                    let encode =
                        |rows: &[Text<'_>]| encode_rows(&tokenizer, rows, options, &run).and_then(PendingBatch::gather);
                    drop(encode(&first).expect("the rows are sound"));
                    let before = ALLOCATIONS.load(Ordering::Relaxed);
                    let batch = encode(second).expect("the rows are sound");
                    let allocated = ALLOCATIONS.load(Ordering::Relaxed) - before;
                    let what = format!("{count} rows of {form} on {threads} threads, {:?}", options.columns);
                    assert!(allocated <= limit, "{what}: {allocated} allocations, {limit} allowed");
                    assert!(batch.ids().len() > 300 * count, "{what}: the rows have many tokens");
                }
                drop(count_batch(&tokenizer, &first, &options[0].0, &run));
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                let counts = count_batch(&tokenizer, second, &options[0].0, &run).expect("the rows are sound");
                let allocated = ALLOCATIONS.load(Ordering::Relaxed) - before;
                assert_eq!(counts.len(), count);
                assert!(allocated <= 150 * (threads - 1) + 10, "{count} rows counted: {allocated} allocations");
            }
        }
    }
}
