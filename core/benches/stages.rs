//! Throughput of single stages: `cargo bench --bench stages`, or `-- split` for one of them.
//!
//! - `split`: the pre-tokenizer alone, by each family of scanners and by a regular expression that no scanner knows.
//! - `cache`: splitting, and words that are all known.
//! - `merge`: splitting, and words that are all merged, because there is no cache.
//! - `whole`: what a caller gets, warm: ids, ids with offsets in each unit, the count, and decoding.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

use tokenlane_core::bench_support::{Splitter, Worker};
use tokenlane_core::{Columns, DecodeOptions, EncodeOptions, OffsetUnit, RankDefinition, Text, Tokenizer};

use common::{Outcome, encoding, options, texts};

#[cfg(any(
    all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")),
    all(target_os = "macos", target_arch = "aarch64")
))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A cache that holds all words of the texts.
const CACHE: usize = 8 << 20;

/// One encoding of each family of scanners.
const ENCODINGS: [&str; 3] = ["r50k_base", "cl100k_base", "o200k_base"];

/// Times `work` on every text.
fn each_text(criterion: &mut Criterion, group: &str, name: &str, mut work: impl FnMut(&str) -> usize) -> Outcome<()> {
    let mut group = criterion.benchmark_group(group);
    for (corpus, text) in texts()? {
        group.throughput(Throughput::Bytes(text.len() as u64));
        work(&text);
        group.bench_with_input(BenchmarkId::new(name, corpus), &text, |bencher, text| {
            bencher.iter(|| work(black_box(text)));
        });
    }
    group.finish();
    Ok(())
}

fn split(criterion: &mut Criterion) -> Outcome<()> {
    let mut one = |name: &str, tokenizer: &Tokenizer| {
        let mut splitter = Splitter::new(tokenizer);
        each_text(criterion, "split", name, |text| splitter.words(text).expect("the texts are sound"))
    };
    for name in ENCODINGS {
        one(name, &encoding(name)?.0)?;
    }
    let (_, ranks) = encoding("r50k_base")?;
    let pattern = r"(?:'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
    let definition = RankDefinition { pattern: pattern.into(), special_tokens: vec![] };
    one("regex", &Tokenizer::from_ranks(&ranks, &definition)?)
}

fn words(criterion: &mut Criterion, group: &str, cache_bytes: usize) -> Outcome<()> {
    for name in ENCODINGS {
        let (tokenizer, _) = encoding(name)?;
        let mut worker = Worker::new(&tokenizer, &options(), cache_bytes)?;
        each_text(criterion, group, name, |text| worker.encode(text).expect("the texts are sound"))?;
    }
    Ok(())
}

fn whole(criterion: &mut Criterion) -> Outcome<()> {
    for name in ENCODINGS {
        let (tokenizer, _) = encoding(name)?;
        let mut ids = vec![];
        each_text(criterion, "whole", &format!("{name}/ids"), |text| {
            ids.clear();
            tokenizer.encode_ids(Text::Utf8(text), &options(), &mut ids).expect("the texts are sound");
            ids.len()
        })?;
        for unit in [OffsetUnit::Byte, OffsetUnit::CodePoint, OffsetUnit::Utf16] {
            let options = EncodeOptions { columns: Columns::OFFSETS, offset_unit: unit, ..options() };
            let mut worker = Worker::new(&tokenizer, &options, CACHE)?;
            each_text(criterion, "whole", &format!("{name}/offsets {unit:?}"), |text| {
                worker.encode(text).expect("the texts are sound")
            })?;
        }
        each_text(criterion, "whole", &format!("{name}/count"), |text| {
            tokenizer.count(Text::Utf8(text), &options()).expect("the texts are sound")
        })?;
        let (mut of, mut ids) = (String::new(), vec![]);
        each_text(criterion, "whole", &format!("{name}/decode"), |text| {
            if of != text {
                of = text.into();
                ids.clear();
                tokenizer.encode_ids(Text::Utf8(text), &options(), &mut ids).expect("the texts are sound");
            }
            tokenizer.decode(&ids, &DecodeOptions::default()).expect("the ids are sound").len()
        })?;
    }
    Ok(())
}

fn stages(criterion: &mut Criterion) {
    let all = split(criterion)
        .and_then(|()| words(criterion, "cache", CACHE))
        .and_then(|()| words(criterion, "merge", 0))
        .and_then(|()| whole(criterion));
    all.expect("the encodings and texts are in the repository");
}

criterion_group!(benches, stages);
criterion_main!(benches);
