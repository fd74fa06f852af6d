//! Every call handles exhausted memory: from the n-th large allocation on all fail, for n = 1, 2, …
//! until the call succeeds. Each time the call must return its error, leak nothing, and leave the
//! tokenizer unchanged. An allocation that cannot report its failure would end the process and
//! thereby the test. There is only one test, because the allocator is global.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use tokenlane_core::batch::{self, PendingBatch, RunOptions};
use tokenlane_core::memory::{self, Settings};
use tokenlane_core::{
    Changes, Columns, DecodeOptions, DecodeStream, Direction, EncodeOptions, OffsetUnit, PadTo, Padding,
    RankDefinition, Setting, SpecialTokens, Text, Tokenizer, Truncation, TruncationStrategy,
};

/// Size in bytes from which allocations can fail. For smaller ones the allocator of the addon has a
/// reserve.
const LARGE: usize = 64 << 10;

struct Failing;

/// The number of large allocations that will still succeed.
static SUCCEED: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Number of bytes of large allocations in use.
static IN_USE: AtomicUsize = AtomicUsize::new(0);

fn fails(bytes: usize) -> bool {
    let less = |left: usize| left.checked_sub(1).map(|less| if left == usize::MAX { left } else { less });
    bytes >= LARGE && SUCCEED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
}

fn note(before: usize, after: usize) {
    IN_USE.fetch_add(if after >= LARGE { after } else { 0 }, Ordering::Relaxed);
    IN_USE.fetch_sub(if before >= LARGE { before } else { 0 }, Ordering::Relaxed);
}

// SAFETY: allocations that do not fail are forwarded to the system's allocator, which fulfils the
// contract; counting does not allocate.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails(layout.size()) {
            return std::ptr::null_mut();
        }
        note(0, layout.size());
        // SAFETY: the caller fulfils the contract of `alloc`, which is the same for `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        note(layout.size(), 0);
        // SAFETY: the caller fulfils the contract of `dealloc`, and all memory of this allocator is
        // from `System`.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if fails(bytes) {
            return std::ptr::null_mut();
        }
        note(layout.size(), bytes);
        // SAFETY: the caller fulfils the contract of `realloc`, and all memory of this allocator is
        // from `System`.
        unsafe { System.realloc(place, layout, bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Runs `call` with memory for `n` large allocations only, for increasing `n` until it succeeds.
/// Returns the number of failures.
fn walk<T: PartialEq>(name: &str, call: impl Fn() -> Result<T, &'static str>, check: impl Fn()) -> usize {
    let expected = call().unwrap_or_else(|code| panic!("{name} fails with memory: {code}"));
    // `n` increases in growing steps, so that a call takes few rounds.
    let (mut succeed, mut failed) = (0, 0);
    loop {
        SUCCEED.store(succeed, Ordering::Relaxed);
        let result = call();
        SUCCEED.store(usize::MAX, Ordering::Relaxed);
        match result {
            Ok(made) => {
                assert!(made == expected, "{name} gives something else after {succeed} allocations");
                return failed;
            }
            Err(code) => assert_eq!(code, "ERR_TOKENLANE_OUT_OF_MEMORY", "{name} after {succeed} allocations"),
        }
        check();
        succeed += 1 + succeed / 4;
        failed += 1;
    }
}

/// The printable characters of all bytes, as in GPT-2.
fn byte_characters() -> Vec<char> {
    let printable = |byte: &u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut others = 0x100..;
    let character = |byte| if printable(&byte) { Some(byte) } else { others.next() };
    (0..256u32).filter_map(character).filter_map(char::from_u32).collect()
}

fn file(tokens: Vec<String>, merges: &[&str], parts: Value, model: Value) -> Vec<u8> {
    let vocab: Map<String, Value> = tokens.into_iter().zip(0..).map(|(token, id)| (token, json!(id))).collect();
    let mut of_model = json!({ "type": "BPE", "vocab": vocab, "merges": merges });
    let settings = model.as_object().cloned().unwrap_or_default();
    of_model.as_object_mut().expect("an object").extend(settings);
    let mut all = json!({ "version": "1.0", "model": of_model });
    all.as_object_mut().expect("an object").extend(parts.as_object().cloned().unwrap_or_default());
    serde_json::to_vec(&all).expect("it can be written")
}

fn byte_level() -> Vec<u8> {
    let tokens = byte_characters().into_iter().map(String::from);
    let merged = ["th", "the", "Ġw", "or", "Ġwor"].map(str::to_owned);
    let added = json!([{ "id": 261, "content": "<s>", "special": true, "normalized": false,
        "single_word": false, "lstrip": false, "rstrip": false }]);
    let parts = json!({
        "added_tokens": added,
        "normalizer": { "type": "NFC" },
        "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true },
        "post_processor": { "type": "ByteLevel", "trim_offsets": true, "add_prefix_space": false, "use_regex": true },
        "decoder": { "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true },
    });
    file(tokens.chain(merged).collect(), &["t h", "th e", "Ġ w", "o r", "Ġw or"], parts, json!({}))
}

fn sentence_piece() -> Vec<u8> {
    let bytes = (0..256).map(|byte| format!("<0x{byte:02X}>"));
    let tokens = ["<unk>", "▁", "t", "h", "e", "w", "o", "r", "d", "▁w", "th", "the"].map(str::to_owned);
    let replace = json!({ "type": "Replace", "pattern": { "String": " " }, "content": "▁" });
    let parts = json!({
        "normalizer": { "type": "Sequence", "normalizers": [
            { "type": "Strip", "strip_left": true, "strip_right": true },
            { "type": "NFKD" }, { "type": "Lowercase" },
            { "type": "Replace", "pattern": { "Regex": "[0-9]+" }, "content": "00" },
            { "type": "Prepend", "prepend": "▁" }, replace] },
        "decoder": { "type": "Sequence", "decoders": [
            { "type": "Replace", "pattern": { "String": "▁" }, "content": " " },
            { "type": "ByteFallback" }, { "type": "Fuse" },
            { "type": "Strip", "content": " ", "start": 1, "stop": 0 }] },
    });
    let model = json!({ "byte_fallback": true, "unk_token": "<unk>", "fuse_unk": true });
    file(tokens.into_iter().chain(bytes).collect(), &["▁ w", "t h", "th e"], parts, model)
}

fn words() -> Vec<u8> {
    let tokens = ["[UNK]", "t", "h", "e", "th", "the", "t</w>", "e</w>", "the</w>", "w", "1"].map(str::to_owned);
    let parts = json!({
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": true, "lowercase": true },
        "pre_tokenizer": { "type": "Sequence", "pretokenizers": [
            { "type": "BertPreTokenizer" },
            { "type": "Split", "pattern": { "Regex": "\\d(?=\\d)" }, "behavior": "Isolated", "invert": false },
            { "type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": false }] },
        "decoder": { "type": "BPEDecoder", "suffix": "</w>" },
    });
    let model = json!({ "unk_token": "[UNK]", "end_of_word_suffix": "</w>" });
    file(tokens.to_vec(), &["t h", "th e", "th e</w>"], parts, model)
}

fn ranks() -> Tokenizer {
    use base64::Engine;
    let encode = |token: &[u8]| base64::engine::general_purpose::STANDARD.encode(token);
    let bytes = (0..=255u8).map(|byte| encode(&[byte]));
    let lines = bytes.chain(["th", "the", " w"].map(|token| encode(token.as_bytes()))).enumerate();
    let file: String = lines.map(|(rank, token)| format!("{token} {rank}\n")).collect();
    let definition = RankDefinition { pattern: r"\s?\w+|\s+|[^\w\s]+".into(), special_tokens: vec![] };
    Tokenizer::from_ranks(file.as_bytes(), &definition).expect("the ranks load")
}

/// Words, a very long word, other scripts, digits, and characters that normalization changes.
fn text() -> String {
    let parts = ["the words of the world, ", "e\u{301}\u{1100}\u{1161} ", "中文 ", "1234567 ", "😀 <s> "];
    let many: String = parts.iter().map(|part| part.repeat(1_500)).collect();
    many + &"theworword".repeat(8_000)
}

fn options(columns: Columns) -> EncodeOptions {
    EncodeOptions {
        columns,
        offset_unit: OffsetUnit::Utf16,
        special_tokens: SpecialTokens::Text,
        ..EncodeOptions::default()
    }
}

/// Makes every call with a tokenizer, either with failures or once without. Returns the number of
/// failures.
fn calls(name: &str, tokenizer: &Tokenizer, with_failures: bool) -> usize {
    let text = text();
    let units: Vec<u16> = text.encode_utf16().collect();
    let short = || tokenizer.encode("the word <s>".into(), &options(Columns::ALL)).expect("a short text").into_ids();
    let expected = short();
    let check = || assert_eq!(short(), expected, "{name}: the tokenizer is as it was");
    let walk = |call: &str, work: &dyn Fn() -> Result<Vec<u8>, &'static str>| match with_failures {
        true => walk(&format!("{name}: {call}"), work, check),
        false => work().map(|_| 0).expect("there is memory"),
    };
    // Results are compared by a hash, which needs little memory.
    let digest = |bytes: &[u8]| {
        bytes.iter().fold(7u64, |hash, &byte| hash.wrapping_mul(31).wrapping_add(byte.into())).to_le_bytes().to_vec()
    };
    let digest_of = |ids: &[u32]| {
        ids.iter().fold(7u64, |hash, &id| hash.wrapping_mul(31).wrapping_add(id.into())).to_le_bytes().to_vec()
    };
    let ids = tokenizer.encode(Text::Utf16(&units), &options(Columns::NONE)).expect("a text").into_ids();
    let truncation = Truncation {
        max_length: 50,
        stride: 10,
        strategy: TruncationStrategy::LongestFirst,
        direction: Direction::Left,
    };
    let cut = EncodeOptions {
        truncation: Setting::On(truncation),
        padding: Setting::On(Padding { to: PadTo::Length(64), ..Padding::default() }),
        overflow: true,
        ..options(Columns::OFFSETS | Columns::WORD_IDS | Columns::SEQUENCE_IDS)
    };
    let rows: Vec<Text<'_>> = [&text[..], "the", &text, ""].map(Text::Utf8).into();
    let id_rows: Vec<&[u32]> = vec![&ids, &ids[..9], &ids];
    let mut failed = 0;
    let code = |error: tokenlane_core::EncodeError| error.code();
    failed += walk("encode", &|| {
        let mut made = vec![];
        tokenizer.encode_ids(Text::Utf16(&units), &options(Columns::NONE), &mut made).map_err(code)?;
        Ok(digest_of(&made))
    });
    failed += walk("encode with columns", &|| {
        let made = tokenizer.encode(Text::Utf16(&units), &options(Columns::ALL)).map_err(code)?;
        Ok(digest_of(made.offsets().as_flattened()))
    });
    failed += walk("encode in parts", &|| {
        let made = tokenizer.encode(Text::Utf8(&text), &cut).map_err(code)?;
        Ok((made.overflowing().len() as u64).to_le_bytes().to_vec())
    });
    failed += walk("encode a pair", &|| {
        let made = tokenizer.encode_pair(&text[..], "the", &options(Columns::ALL)).map_err(code)?;
        Ok(digest_of(made.word_ids()))
    });
    failed += walk("count", &|| {
        let count = tokenizer.count(Text::Utf16(&units), &options(Columns::NONE)).map_err(code)?;
        Ok(count.to_le_bytes().to_vec())
    });
    failed += walk("is_within", &|| {
        Ok(vec![tokenizer.is_within(Text::Utf16(&units), ids.len() - 1, &options(Columns::NONE)).map_err(code)?.into()])
    });
    failed += walk("encode_first", &|| {
        let mut made = vec![];
        let room = ids.len() / 2;
        tokenizer.encode_first(Text::Utf16(&units), room, &options(Columns::NONE), true, &mut made).map_err(code)?;
        Ok(digest_of(&made))
    });
    failed += walk("truncate", &|| {
        let made = tokenizer.truncate(Text::Utf16(&units), ids.len() / 2, &options(Columns::NONE), true);
        Ok(format!("{:?}", made.map_err(code)?).into_bytes())
    });
    for threads in [1, 2] {
        let run = RunOptions { threads: Some(threads), ..RunOptions::default() };
        for (what, options) in
            [("ids", options(Columns::NONE)), ("columns", options(Columns::ALL)), ("cut", cut.clone())]
        {
            failed += walk(&format!("encode_batch of {what} on {threads} threads"), &|| {
                let made = batch::encode_rows(tokenizer, &rows, &options, &run)
                    .and_then(PendingBatch::gather)
                    .map_err(|error| error.code())?;
                Ok(digest_of(made.ids()))
            });
        }
        failed += walk(&format!("count_batch on {threads} threads"), &|| {
            let made = batch::count_batch(tokenizer, &rows, &options(Columns::NONE), &run);
            Ok(digest_of(&made.map_err(|error| error.code())?))
        });
        failed += walk(&format!("decode_batch on {threads} threads"), &|| {
            let made = batch::decode_batch(tokenizer, &id_rows, &DecodeOptions::default(), &run);
            Ok(digest(made.map_err(|error| error.code())?[2].as_bytes()))
        });
    }
    failed += walk("decode", &|| {
        Ok(digest(tokenizer.decode(&ids, &DecodeOptions::default()).map_err(|error| error.code())?.as_bytes()))
    });
    failed += walk("decode_bytes", &|| {
        Ok(digest(&tokenizer.decode_bytes(&ids, &DecodeOptions::default()).map_err(|error| error.code())?))
    });
    failed += walk("decode_stream", &|| {
        let mut stream = DecodeStream::new(tokenizer, DecodeOptions::default());
        let first = stream.push(&ids).map_err(|error| error.code())?;
        let rest = stream.end().map_err(|error| error.code())?;
        Ok([digest(first.as_bytes()), digest(rest.as_bytes())].concat())
    });
    failed
}

/// A file with many tokens and merges, so that loading it makes large allocations.
fn large_file() -> Vec<u8> {
    let letters: Vec<String> = byte_characters().into_iter().map(String::from).collect();
    let pairs: Vec<(&String, &String)> = letters.iter().flat_map(|a| letters.iter().map(move |b| (a, b))).collect();
    let tokens = letters.iter().cloned().chain(pairs.iter().take(30_000).map(|(a, b)| format!("{a}{b}")));
    let merges: Vec<String> = pairs.iter().take(30_000).map(|(a, b)| format!("{a} {b}")).collect();
    let merges: Vec<&str> = merges.iter().map(String::as_str).collect();
    let parts = json!({ "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true } });
    file(tokens.collect(), &merges, parts, json!({}))
}

#[test]
#[ignore = "takes a minute: npm test -- --long"]
fn every_call_survives_a_system_without_memory() {
    // Makes slabs come from the allocator too.
    memory::configure(Settings { cap: 0, ..Settings::default() });
    let load = |bytes: &[u8]| Tokenizer::from_bytes(bytes).expect("the file loads");
    let makers: [(&str, &dyn Fn() -> Tokenizer); 4] = [
        ("byte-level", &|| load(&byte_level())),
        ("SentencePiece", &|| load(&sentence_piece())),
        ("words", &|| load(&words())),
        ("ranks", &ranks),
    ];
    for (name, make) in makers {
        // One round without failures, for memory that is allocated on first use and kept.
        calls(name, &make(), false);
        let before = IN_USE.load(Ordering::Relaxed);
        let failed = calls(name, &make(), true);
        assert!(failed > 100, "{name}: {failed} failures");
        assert_eq!(IN_USE.load(Ordering::Relaxed), before, "{name}: bytes that are still in use");
    }

    let large = large_file();
    drop(load(&large));
    let before = IN_USE.load(Ordering::Relaxed);
    let loaded = walk(
        "load",
        || Tokenizer::from_bytes(&large).map(|made| made.vocab_size(true)).map_err(|error| error.code()),
        || (),
    );
    assert!(loaded > 5, "{loaded} failures");
    let tokenizer = load(&large);
    let saved = walk("save", || tokenizer.to_json().map(|json| json.len()).map_err(|error| error.code()), || ());
    assert!(saved > 2, "{saved} failures");
    let changes = Changes { normalizer: Some(r#"{"type":"NFC"}"#.into()), ..Changes::default() };
    walk("with", || tokenizer.with(&changes).map(|made| made.vocab_size(true)).map_err(|error| error.code()), || ());
    drop(tokenizer);
    assert_eq!(IN_USE.load(Ordering::Relaxed), before, "bytes of a large file that are still in use");
}
