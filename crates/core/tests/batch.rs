//! The three entry points for batches, compared with single texts, and a batch in a forked child
//! process.

use tokenlane_core::batch::{Batch, BatchError, RunOptions, count_batch, decode_batch, encode_batch, encode_rows};
use tokenlane_core::{
    Columns, DecodeOptions, EncodeError, EncodeOptions, OffsetUnit, Padding, Setting, SpecialTokens, Text, Tokenizer,
    Truncation,
};

fn tokenizer() -> Tokenizer {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../encodings/r50k_base.tiktoken");
    let ranks = std::fs::read(path).expect("the rank files are in the repository");
    Tokenizer::from_encoding("r50k_base", &ranks).expect("the bundled file loads")
}

/// Rows of very unequal length, some empty and some not ASCII.
fn rows() -> Vec<String> {
    (0..700).map(|at| format!("row {at}: ").repeat(at * at % 211) + ["", "é中😀", " <|endoftext|>"][at % 3]).collect()
}

fn options(columns: Columns) -> EncodeOptions {
    EncodeOptions { special_tokens: SpecialTokens::Parse, columns, ..EncodeOptions::default() }
}

fn texts(rows: &[String]) -> Vec<Text<'_>> {
    rows.iter().map(Text::from).collect()
}

fn run(threads: usize) -> RunOptions<'static> {
    RunOptions { threads: Some(threads), ..RunOptions::default() }
}

/// Checks that every row of `batch` equals the encoding of the single row.
fn assert_rows(tokenizer: &Tokenizer, rows: &[String], batch: &Batch, offsets: Option<OffsetUnit>) {
    assert_eq!((batch.len(), batch.is_empty()), (rows.len(), rows.is_empty()));
    assert_eq!(*batch.row_offsets().last().expect("there is always one") as usize, batch.ids().len());
    for (at, row) in rows.iter().enumerate() {
        let columns = if offsets.is_some() { Columns::OFFSETS } else { Columns::NONE };
        let options = EncodeOptions { offset_unit: offsets.unwrap_or_default(), ..options(columns) };
        let alone = tokenizer.encode(row.into(), &options).expect("the rows are fine");
        assert_eq!(batch.row(at), alone.ids(), "row {at}");
        if offsets.is_some() {
            let [start, end] = [at, at + 1].map(|at| batch.row_offsets()[at] as usize);
            assert_eq!(&batch.offsets()[start..end], alone.offsets(), "row {at}");
        }
    }
}

#[test]
fn all_entry_points_keep_the_order_of_rows() {
    let (tokenizer, rows) = (tokenizer(), rows());
    for threads in [1, 2, 5] {
        let run = run(threads);
        let batch = |options: &EncodeOptions| encode_batch(&tokenizer, &texts(&rows), options, &run);
        let fast = batch(&options(Columns::NONE)).expect("the rows are fine");
        assert!(fast.offsets().is_empty());
        assert_rows(&tokenizer, &rows, &fast, None);
        for offset_unit in [OffsetUnit::Byte, OffsetUnit::CodePoint] {
            let options = EncodeOptions { offset_unit, ..options(Columns::OFFSETS) };
            assert_rows(&tokenizer, &rows, &batch(&options).expect("the rows are fine"), Some(offset_unit));
        }
        let counts = count_batch(&tokenizer, &texts(&rows), &options(Columns::NONE), &run).expect("the rows are fine");
        let lengths: Vec<u32> = (0..fast.len()).map(|at| fast.row(at).len() as u32).collect();
        assert_eq!(counts, lengths);
        let ids: Vec<&[u32]> = (0..fast.len()).map(|at| fast.row(at)).collect();
        assert_eq!(decode_batch(&tokenizer, &ids, &DecodeOptions::default(), &run), Ok(rows.clone()));
    }
}

#[test]
fn slices_of_a_batch_are_the_batch() {
    let (tokenizer, rows) = (tokenizer(), rows());
    let texts = texts(&rows);
    let plain = options(Columns::ALL);
    let truncation = Setting::On(Truncation { stride: 3, ..Truncation::new(40) });
    let padded = EncodeOptions { padding: Setting::On(Padding::default()), ..plain.clone() };
    let cut = EncodeOptions { truncation, overflow: true, ..padded.clone() };
    for options in [plain, padded, cut] {
        let whole = encode_rows(&tokenizer, &texts, &options, &run(1)).and_then(|rows| rows.gather());
        for sizes in [vec![700], vec![1, 699], vec![0, 350, 0, 350], vec![100; 7]] {
            let mut first = 0;
            let mut slices = sizes.into_iter().map(|size| {
                first += size;
                let run = RunOptions { is_slice: true, ..run(1) };
                let slice = encode_rows(&tokenizer, &texts[first - size..first], &options, &run);
                (first - size, slice.expect("the rows are fine"))
            });
            let (_, mut all) = slices.next().expect("there is one");
            slices.for_each(|(first, slice)| all.append(slice, first));
            assert_eq!(all.gather(), whole);
        }
    }
}

#[test]
fn an_error_in_the_middle_names_its_row_and_nothing_is_lost() {
    let (tokenizer, rows) = (tokenizer(), rows());
    for threads in [1, 4] {
        let mut texts = texts(&rows);
        texts[401] = Text::Bytes(b"ok \xf0\x9f\x92 no");
        texts[666] = Text::Bytes(b"\xff");
        let result = encode_batch(&tokenizer, &texts, &options(Columns::NONE), &run(threads));
        assert_eq!(result, Err(BatchError::Encode { index: 401, source: EncodeError::InvalidUtf8 { byte: 3 } }));
        texts.truncate(401);
        let batch = encode_batch(&tokenizer, &texts, &options(Columns::NONE), &run(threads));
        assert_rows(&tokenizer, &rows[..401], &batch.expect("the bad rows are gone"), None);
    }
}

#[test]
fn an_empty_batch_has_no_rows() {
    let batch = encode_batch(&tokenizer(), &[] as &[Text<'_>], &EncodeOptions::default(), &RunOptions::default())
        .expect("nothing fails");
    assert_eq!((batch.len(), batch.row_offsets(), batch.ids()), (0, &[0][..], &[][..]));
}

#[test]
#[cfg(unix)]
#[allow(unsafe_code, reason = "fork")]
fn a_child_forked_after_parallel_use_encodes_without_hanging() {
    let (tokenizer, rows) = (tokenizer(), rows());
    let options = options(Columns::NONE);
    let here = encode_batch(&tokenizer, &texts(&rows), &options, &run(4)).expect("the rows are fine");
    assert!(tokenlane_core::batch::parallelism_was_used());
    // SAFETY: the child only encodes and ends with _exit, so that no code of this test harness runs
    // twice. It allocates memory, which after a fork of a process with several threads is only safe
    // with an allocator that handles forks; that of glibc does.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork failed");
    if child == 0 {
        let there = encode_batch(&tokenizer, &texts(&rows), &options, &run(4));
        // SAFETY: `_exit` takes a number only, and ends the child at once.
        unsafe { libc::_exit(i32::from(there != Ok(here))) };
    }
    for _ in 0..600 {
        let mut status = 0;
        // SAFETY: `child` is a child of this process that has not been waited for yet; `status` is
        // a valid pointer for the result.
        if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "the child ended with status {status}");
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    // SAFETY: `child` is a child of this process that has not been waited for. A child that hangs
    // must not outlive the test.
    unsafe { libc::kill(child, libc::SIGKILL) };
    panic!("the forked child hangs");
}
