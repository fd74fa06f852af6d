//! Three methods to distribute the rows of a batch among threads, compared on small, equal and very
//! unequal rows.
//!
//! Usage: `scheduler [REPETITIONS]`
//!
//! Prints a line of JSON for each kind of rows: the wall time of each repetition in milliseconds,
//! by method. All methods use the same warm encoders. The first makes each row a rayon task, the
//! second sets `with_min_len`, the third is the batch function of this crate.

mod common;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::hint::black_box;
use std::time::Instant;

use tokenlane_core::batch::{RunOptions, encode_batch};
use tokenlane_core::{EncodeError, Text, Tokenizer};

use common::{Outcome, encoding, options, texts};

#[cfg(any(
    all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")),
    all(target_os = "macos", target_arch = "aarch64")
))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of bytes of all rows of one kind together.
const TOTAL: usize = 6 << 20;

/// A method: encodes rows and returns the number of their tokens.
type Method<'a> = &'a dyn Fn(&[&str]) -> Outcome<usize>;

fn main() -> Outcome<()> {
    let repetitions = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(5);
    let threads = std::thread::available_parallelism()?.get();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let (tokenizer, _) = encoding("r50k_base")?;
    let text = texts()?.map(|(_, text)| text).concat();
    let text = text.repeat(2 * TOTAL / text.len());

    let methods: [(&str, Method<'_>); 3] = [
        ("per_row", &|rows| Ok(pool.install(|| each(&tokenizer, rows, 1))?)),
        ("min_len", &|rows| {
            let least = rows.len().div_ceil(threads * 4).clamp(1, 8);
            Ok(pool.install(|| each(&tokenizer, rows, least))?)
        }),
        ("windows", &|rows| {
            let texts: Vec<Text<'_>> = rows.iter().map(|&row| Text::Utf8(row)).collect();
            let run = RunOptions { threads: Some(threads), ..RunOptions::default() };
            Ok(encode_batch(&tokenizer, &texts, &options(), &run)?.ids().len())
        }),
    ];
    let kinds = [
        ("small: 60 bytes each", rows(&text, |_| 60)),
        ("equal: 6.5 KB each", rows(&text, |_| 6500)),
        ("very unequal: 60 bytes to 1.5 MB", rows(&text, unequal)),
    ];
    for (kind, rows) in kinds {
        let tokens = methods.iter().map(|(_, method)| method(&rows)).collect::<Outcome<Vec<_>>>()?;
        assert!(tokens.iter().all(|&count| count == tokens[0]), "{kind}: {tokens:?} tokens");
        let mut times = [const { vec![] }; 3];
        for repetition in 0..repetitions {
            for turn in 0..methods.len() {
                let at = (repetition + turn) % methods.len();
                let start = Instant::now();
                black_box(methods[at].1(black_box(&rows))?);
                times[at].push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        let columns = methods.iter().zip(&times).map(|((name, _), times)| format!(r#""{name}":{times:?}"#));
        println!(r#"{{"rows":"{kind}","threads":{threads},{}}}"#, columns.collect::<Vec<_>>().join(","));
    }
    Ok(())
}

/// Encodes rows with rayon, at least `least` rows per task.
fn each(tokenizer: &Tokenizer, rows: &[&str], least: usize) -> Result<usize, EncodeError> {
    let one = |row: &&str| {
        let mut ids = vec![];
        tokenizer.encode_ids(Text::Utf8(row), &options(), &mut ids).map(|()| ids)
    };
    let all: Vec<Vec<u32>> = rows.par_iter().with_min_len(least).map(one).collect::<Result<_, _>>()?;
    Ok(all.iter().map(Vec::len).sum())
}

/// Rows of about `bytes(i)` bytes for row `i`, until they have `TOTAL` bytes together.
fn rows(text: &str, bytes: impl Fn(usize) -> usize) -> Vec<&str> {
    let (mut rows, mut total, mut at) = (vec![], 0, 0);
    while total < TOTAL {
        let end = text.ceil_char_boundary((at + bytes(rows.len())).min(text.len()));
        rows.push(&text[at..end]);
        total += end - at;
        at = end;
    }
    rows
}

/// Mostly short rows, and some that have as many bytes as hundreds or thousands of them. The
/// longest rows come late.
fn unequal(row: usize) -> usize {
    match row {
        _ if row % 4999 == 4998 => 1_500_000,
        _ if row % 97 == 96 => 40_000,
        _ => 60,
    }
}
