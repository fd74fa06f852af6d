//! Throughput of single stages: `cargo bench -p tokenlane-core --bench stages`, or `-- split` for
//! one of them. Prints MiB of text per second: the median, minimum and maximum of the repetitions.
//!
//! - `split`: only the pre-tokenizer, for each family of scanners and for a regular expression
//!   without a scanner.
//! - `cache`: splitting, and words that are all cache hits.
//! - `merge`: splitting, and words that are all merged, because there is no cache.
//! - `whole`: calls of the API with a warm cache: ids, ids with offsets in each unit, counting, and
//!   decoding.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use tokenlane_core::bench_support::{PreTokenizerStage, Worker};
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

const REPETITIONS: usize = 15;
/// A text is encoded repeatedly until a repetition takes at least this long, so that the resolution
/// of the clock does not matter.
const MIN_REPETITION: Duration = Duration::from_millis(20);

/// Which stages run: those whose name contains the filter of the command line.
struct Stages {
    filter: String,
}

impl Stages {
    fn includes(&self, group: &str) -> bool {
        group.contains(&self.filter)
    }

    /// Times `work` on every text.
    fn each_text(&self, group: &str, name: &str, mut work: impl FnMut(&str) -> usize) -> Outcome<()> {
        for (corpus, text) in texts()? {
            let start = Instant::now();
            let mut runs = 0;
            while start.elapsed() < MIN_REPETITION {
                black_box(work(black_box(&text)));
                runs += 1;
            }
            let mut rates: Vec<f64> = (0..REPETITIONS)
                .map(|_| {
                    let start = Instant::now();
                    for _ in 0..runs {
                        black_box(work(black_box(&text)));
                    }
                    (text.len() * runs) as f64 / f64::from(1 << 20) / start.elapsed().as_secs_f64()
                })
                .collect();
            rates.sort_by(f64::total_cmp);
            let [low, median, high] = [rates[0], rates[REPETITIONS / 2], rates[REPETITIONS - 1]];
            println!("{:<40} {median:>8.1} MiB/s ({low:.1} to {high:.1})", format!("{group}/{name}/{corpus}"));
        }
        Ok(())
    }
}

fn split(stages: &Stages) -> Outcome<()> {
    let one = |name: &str, tokenizer: &Tokenizer| {
        let mut splitter = PreTokenizerStage::new(tokenizer);
        stages.each_text("split", name, |text| splitter.words(text).expect("the texts are sound"))
    };
    for name in ENCODINGS {
        one(name, &encoding(name)?.0)?;
    }
    let (_, ranks) = encoding("r50k_base")?;
    let pattern = r"(?:'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
    let definition = RankDefinition { pattern: pattern.into(), special_tokens: vec![] };
    one("regex", &Tokenizer::from_ranks(&ranks, &definition)?)
}

fn words(stages: &Stages, group: &str, cache_bytes: usize) -> Outcome<()> {
    for name in ENCODINGS {
        let (tokenizer, _) = encoding(name)?;
        let mut worker = Worker::new(&tokenizer, &options(), cache_bytes)?;
        stages.each_text(group, name, |text| worker.encode(text).expect("the texts are sound"))?;
    }
    Ok(())
}

fn whole(stages: &Stages) -> Outcome<()> {
    for name in ENCODINGS {
        let (tokenizer, _) = encoding(name)?;
        let mut ids = vec![];
        stages.each_text("whole", &format!("{name}/ids"), |text| {
            ids.clear();
            tokenizer.encode_ids(Text::Utf8(text), &options(), &mut ids).expect("the texts are sound");
            ids.len()
        })?;
        for unit in [OffsetUnit::Byte, OffsetUnit::CodePoint, OffsetUnit::Utf16] {
            let options = EncodeOptions { columns: Columns::OFFSETS, offset_unit: unit, ..options() };
            let mut worker = Worker::new(&tokenizer, &options, CACHE)?;
            stages.each_text("whole", &format!("{name}/offsets {unit:?}"), |text| {
                worker.encode(text).expect("the texts are sound")
            })?;
        }
        stages.each_text("whole", &format!("{name}/count"), |text| {
            tokenizer.count(Text::Utf8(text), &options()).expect("the texts are sound")
        })?;
        let (mut of, mut ids) = (String::new(), vec![]);
        stages.each_text("whole", &format!("{name}/decode"), |text| {
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

fn main() -> Outcome<()> {
    // cargo adds `--bench` to the arguments of a benchmark.
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let stages = Stages { filter };
    if stages.includes("split") {
        split(&stages)?;
    }
    if stages.includes("cache") {
        words(&stages, "cache", CACHE)?;
    }
    if stages.includes("merge") {
        words(&stages, "merge", 0)?;
    }
    if stages.includes("whole") {
        whole(&stages)?;
    }
    Ok(())
}
