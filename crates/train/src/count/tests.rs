use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::{Spill, WordCounter, WordCounts, merge_files};
use crate::{Base, Progress, TrainError};

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A folder of a test, deleted at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("tokenlane-count-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
        Self(folder)
    }

    fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    fn len(&self) -> usize {
        std::fs::read_dir(&self.0).expect("the folder exists").count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn base(pre_tokenizer: &str) -> Arc<Base> {
    let added = json!([{ "id": 7, "content": "é", "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true }]);
    let pre_tokenizer =
        json!({ "type": pre_tokenizer, "add_prefix_space": false, "trim_offsets": true, "use_regex": true });
    let file = json!({ "added_tokens": added, "pre_tokenizer": pre_tokenizer, "model": {} });
    Arc::new(Base::from_json(file.to_string().as_bytes()).expect("the base is valid"))
}

fn in_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start").install(run)
}

fn words() -> WordCounts {
    WordCounts::new((0..9_000).map(|at| (format!("{}{at}", "long".repeat(at % 9)).into(), 1 << (at % 63))).collect())
}

fn damage(file: &Path, change: impl FnOnce(&mut Vec<u8>)) -> TrainError {
    let mut bytes = std::fs::read(file).expect("the file exists");
    change(&mut bytes);
    let changed = file.with_extension("changed");
    std::fs::write(&changed, bytes).expect("the folder is writable");
    WordCounts::read(&changed, &mut go_on).expect_err("the file is damaged")
}

fn problem(error: TrainError) -> &'static str {
    assert_eq!(error.code(), "ERR_TOKENLANE_TRAIN_WORDS", "{error}");
    let TrainError::DamagedFile { problem, .. } = error else { unreachable!("{error}") };
    problem
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_equal_those_of_a_map_for_any_memory_and_threads(
        texts in vec("([a-d]{1,3} |é|ü|\n|0){0,12}", 1..20),
        repeat in prop_oneof![Just(1_usize), Just(3000)],
        memory in prop_oneof![Just(1_usize), 500_usize..4000, Just(1 << 30)],
        threads in 1_usize..4,
        level in prop_oneof![Just("ByteLevel"), Just("WhitespaceSplit")],
    ) {
        // Files are slow: with many texts, there are none.
        let memory = if repeat > 1 { 1 << 30 } else { memory };
        let base = base(level);
        let folder = Folder::new();
        let spill = Spill { memory, folder: folder.0.clone() };
        let (counted, written) = in_threads(threads, || {
            let count = |texts: &[String]| {
                let mut counter = WordCounter::with_spill(Arc::clone(&base), spill.clone());
                counter.add(texts.iter().map(String::as_str)).expect("the texts are short");
                counter
            };
            let all: Vec<String> = texts.iter().cycle().take(texts.len() * repeat).cloned().collect();
            let mut merged = count(&all[..all.len() / 3]);
            merged.merge(count(&all[all.len() / 3..])).expect("the folder is writable");
            count(&all).write(&folder.file("words"), &mut go_on).expect("the folder is writable");
            (merged.finish(&mut go_on).expect("the files are whole"), WordCounts::read(&folder.file("words"), &mut go_on))
        });
        let mut simple = Vec::new();
        for text in &texts {
            base.cutter.each_word([text.as_str().into()], |word| simple.push(match word {
                tokenlane_core::Word::Split(word) if level == "ByteLevel" => {
                    (word.bytes().map(tokenlane_core::byte_character).collect::<String>().into(), repeat as u64)
                }
                tokenlane_core::Word::Split(word) | tokenlane_core::Word::Added(word) => (word.into(), repeat as u64),
            })).expect("the texts are short");
        }
        let simple = WordCounts::new(simple);
        prop_assert!(simple.iter().map(|(word, _)| word).is_sorted());
        prop_assert_eq!(&counted, &simple);
        prop_assert_eq!(&written, &Ok(simple));
        // Files of a counter are deleted.
        prop_assert_eq!(folder.len(), 1);
    }
}

#[test]
fn sums_of_many_files_are_exact_and_leave_no_others() {
    let folder = Folder::new();
    let files: Vec<PathBuf> = (0..300).map(|at| folder.file(format!("{at}.words"))).collect();
    for (at, file) in files.iter().enumerate() {
        let some = WordCounts::new(vec![("all".into(), 1), (format!("{}", at % 7).into(), at as u64 + 1)]);
        some.write(file, &mut go_on).expect("the folder is writable");
    }
    let sums = folder.file("sums");
    merge_files(&files, &sums, &mut go_on).expect("the files are whole");
    let read = WordCounts::read(&sums, &mut go_on).expect("the file is whole");
    assert_eq!(Ok(&read), WordCounts::merge(&files, &folder.0, &mut go_on).as_ref());
    let expected = |rest: u64| (rest..300).step_by(7).map(|at| at + 1).sum();
    let digits = (0..7).map(|rest| (rest.to_string(), expected(rest)));
    let found: Vec<_> = read.iter().map(|(word, count)| (word.to_owned(), count)).collect();
    assert_eq!(found, digits.chain([("all".to_owned(), 300)]).collect::<Vec<_>>());
    assert_eq!(folder.len(), 301);
}

#[test]
fn a_damaged_file_is_an_error_that_names_it() {
    let folder = Folder::new();
    let file = folder.file("words");
    words().write(&file, &mut go_on).expect("the folder is writable");
    let len = std::fs::metadata(&file).expect("the file exists").len() as usize;
    assert_eq!(WordCounts::read(&file, &mut go_on), Ok(words()));
    for end in [0, 5, 18, 22, 30, len / 2, len - 16, len - 8, len - 1] {
        let error = problem(damage(&file, |bytes| bytes.truncate(end)));
        assert_eq!(error, if end < 18 { "it does not start like one" } else { "it ends early" }, "{end}");
    }
    for at in [26, 500, len / 2, len - 2] {
        assert_eq!(problem(damage(&file, |bytes| bytes[at] ^= 4)), "a checksum is wrong", "{at}");
    }
    assert_eq!(problem(damage(&file, |bytes| bytes.push(0))), "it goes on behind its end");
}

#[test]
fn blocks_with_a_right_checksum_and_wrong_records_are_errors() {
    let folder = Folder::new();
    let read = |blocks: &[&[u8]], words: u64| {
        let mut bytes = b"tokenlane words 1\n".to_vec();
        for (len, block) in blocks.iter().map(|block| (block.len(), *block)).chain([(0, &words.to_le_bytes()[..])]) {
            bytes.extend((len as u32).to_le_bytes());
            bytes.extend(crc32fast::hash(block).to_le_bytes());
            bytes.extend(block);
        }
        std::fs::write(folder.file("words"), bytes).expect("the folder is writable");
        WordCounts::read(&folder.file("words"), &mut go_on)
    };
    let fails = |blocks: &[&[u8]], words| problem(read(blocks, words).expect_err("a record is wrong"));
    let expected = WordCounts::new(vec![("a".into(), 3), ("ab".into(), 300)]);
    assert_eq!(read(&[b"\0\x01a\x03", b"\0\x02ab\xAC\x02"], 2), Ok(expected.clone()));
    assert_eq!(read(&[b"\0\x01a\x03\x01\x01b\xAC\x02"], 2), Ok(expected));
    assert_eq!(fails(&[b"\0\x01a\x03"], 2), "it has another number of words than it says");
    assert_eq!(fails(&[b"\0\x01b\x03", b"\0\x01a\x03"], 2), "its words are not in order");
    assert_eq!(fails(&[b"\0\x01a\x03\0\x01a\x03"], 2), "its words are not in order");
    assert_eq!(fails(&[b"\0\x01\xFF\x03"], 1), "a word is not UTF-8");
    let long_varint = [&[0xFF; 9][..], &[2, 1, b'a', 3]].concat();
    for malformed in [&b"\x01\x01a\x03"[..], b"\0\x09a\x03", b"\0\x01a\0", b"\0\x01a\x80", b"\0", &long_varint] {
        assert_eq!(fails(&[malformed], 1), "a record is malformed", "{malformed:?}");
    }
}

#[test]
fn a_missing_folder_and_a_full_disk_are_errors_of_files() {
    let kind = |error: TrainError| {
        assert_eq!(error.code(), "ERR_TOKENLANE_FILE", "{error}");
        let TrainError::File { kind, .. } = error else { unreachable!("{error}") };
        kind
    };
    let folder = Folder::new();
    let spill = Spill { memory: 1, folder: folder.file("missing") };
    let mut counter = WordCounter::with_spill(base("ByteLevel"), spill);
    assert_eq!(counter.add(["a b"]).map_err(kind), Err(ErrorKind::NotFound));
    assert_eq!(WordCounts::read(&folder.file("none"), &mut go_on).map_err(kind), Err(ErrorKind::NotFound));
    if cfg!(target_os = "linux") {
        assert_eq!(words().write(Path::new("/dev/full"), &mut go_on).map_err(kind), Err(ErrorKind::StorageFull));
    }
}

#[test]
fn merging_can_be_stopped() {
    let folder = Folder::new();
    let mut reports = 0;
    let stopped = words().write(&folder.file("words"), &mut |_| {
        reports += 1;
        if reports == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((stopped, reports), (Err(TrainError::Stopped), 2));
}
