//! Every segmenter beside the normalizer and the pre-tokenizer that it replaces.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{FillEnd, SegmentedWords, Segmenter};
use crate::aligned::AlignedText;
use crate::budget::Budget;
use crate::load::json::Part;
use crate::load::{normalizer, pretokenizer};
use crate::normalizer::Normalizer;
use crate::pretokenizer::PreTokenizer;
use crate::pretokenizer::splits::Splits;
use crate::simd::Simd;
use crate::span::Span;

/// A word, and for each of its bytes what it comes from.
type Word = (Vec<u8>, Vec<Span>);

/// The components of a file, and the segmenter that replaces them.
struct Twin {
    normalizer: Option<Normalizer>,
    pretokenizer: PreTokenizer,
    segmenter: Segmenter,
}

impl Twin {
    fn new(normalizer: &Value, pretokenizer: &Value) -> Option<Self> {
        let normalizer = normalizer::load(&Part::new(normalizer, "normalizer")).expect("it loads");
        let pretokenizer = pretokenizer::load(&Part::new(pretokenizer, "pre_tokenizer")).expect("it loads");
        let segmenter = Segmenter::of(normalizer.as_ref(), &pretokenizer, true)?;
        Some(Self { normalizer, pretokenizer, segmenter })
    }

    /// The words of a part of a text by the slow way.
    fn slow(&self, text: &str, base: usize) -> Vec<Word> {
        let (mut aligned, mut splits) = (AlignedText::default(), Splits::default());
        let mut budget = Budget::of_text(text.len());
        aligned.start(text, base, true);
        if let Some(normalizer) = &self.normalizer {
            normalizer.normalize(&mut aligned, &mut budget).expect("no test text is hard");
        }
        splits.start(Span::new(0, aligned.as_str().len()));
        self.pretokenizer.apply(&mut aligned, &mut splits, &mut budget).expect("no test text is hard");
        let word = |span: &Span| {
            let (text, origins) = (&aligned.as_str()[span.range()], &aligned.origins()[span.range()]);
            let mut word: Word = (text.into(), origins.to_vec());
            // A meta symbol at the start is written as a space by segmenters.
            if let Some(meta_symbol) = self.segmenter.meta_symbol().filter(|&meta_symbol| text.starts_with(meta_symbol))
            {
                word =
                    ([b" ", &word.0[meta_symbol.len_utf8()..]].concat(), word.1[meta_symbol.len_utf8() - 1..].to_vec());
            }
            word
        };
        splits.spans().iter().map(word).collect()
    }

    /// The same words by the segmenter, and the number of those that did not take the slow way.
    fn fast(&self, simd: Simd, text: &str, words: &mut SegmentedWords) -> (Vec<Word>, usize) {
        let (mut all, mut at, mut quick) = (vec![], 0, 0);
        while at < text.len() {
            let stop = self.segmenter.fill_with(simd, text, at, true, words);
            let mut start = 0;
            for &end in words.ends() {
                let bytes = &words.bytes()[start..end as usize];
                let word = std::str::from_utf8(bytes).expect("words are text");
                let spans = word.char_indices().flat_map(|(at, character)| {
                    let (first, len) = (start + at, character.len_utf8());
                    let [from, to] = words.origin(first, first + len, text);
                    let mut raw = words.origins_of(first as u32, 0, std::iter::once(len as u32));
                    let [first, end] = raw.next().expect("there is a token");
                    let [first, last] = [first, end - 1].map(|at| text.floor_char_boundary(at as usize));
                    assert_eq!(first as u32, from);
                    assert!(text[last..to as usize].chars().count() == 1);
                    std::iter::repeat_n(Span { start: from, end: to }, len)
                });
                all.push((bytes.to_vec(), spans.collect()));
                (start, quick) = (end as usize, quick + 1);
            }
            assert_eq!(start, words.bytes().len());
            at = match stop {
                FillEnd::At(next) => next,
                FillEnd::General(part) => {
                    assert!(part.start >= at && part.end > part.start);
                    all.extend(self.slow(&text[part.clone()], part.start));
                    part.end
                }
            };
        }
        (all, quick)
    }

    /// The bytes of the words by the segmenter without positions.
    fn untracked(&self, simd: Simd, text: &str, words: &mut SegmentedWords) -> Vec<Vec<u8>> {
        let (mut all, mut at) = (vec![], 0);
        while at < text.len() {
            let stop = self.segmenter.fill_with(simd, text, at, false, words);
            let mut start = 0;
            for &end in words.ends() {
                all.push(words.bytes()[start..end as usize].to_vec());
                start = end as usize;
            }
            at = match stop {
                FillEnd::At(next) => next,
                FillEnd::General(part) => {
                    all.extend(self.slow(&text[part.clone()], part.start).into_iter().map(|word| word.0));
                    part.end
                }
            };
        }
        all
    }

    fn check(&self, text: &str) -> usize {
        let mut words = SegmentedWords::default();
        let slow = self.slow(text, 0);
        let mut least = usize::MAX;
        for simd in Simd::all() {
            let (fast, quick) = self.fast(simd, text, &mut words);
            assert_eq!(fast, slow, "{simd:?} on {text:?}");
            assert_eq!(self.untracked(simd, text, &mut words), slow.iter().map(|word| &*word.0).collect::<Vec<_>>());
            least = least.min(quick);
        }
        least
    }
}

fn bert(clean: bool, ideographs: bool, accents: Option<bool>, lowercase: bool) -> Value {
    json!({
        "type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": ideographs, "strip_accents": accents,
        "lowercase": lowercase,
    })
}

fn berts() -> Vec<Twin> {
    let mut normalizers = vec![Value::Null, json!({"type": "Lowercase"})];
    for flags in 0..8 {
        let [clean, ideographs, lowercase] = [1, 2, 4].map(|flag| flags & flag != 0);
        normalizers.extend([None, Some(true), Some(false)].map(|accents| bert(clean, ideographs, accents, lowercase)));
    }
    let pre_tokenizer = json!({"type": "BertPreTokenizer"});
    normalizers.iter().map(|normalizer| Twin::new(normalizer, &pre_tokenizer).expect("there is one")).collect()
}

/// Characters that one of the normalizers does something to, and their neighbours in the tables.
const TEST_CHARACTERS: &str = " \t\n\r\u{b}\u{c}\0\u{1}\u{7f}\u{85}\u{a0}\u{ad}aZ09_-.'’é\u{301}\u{327}İıſßΣάᾳ\u{345}\u{1d165}\u{1d16d}\u{302e}\u{3099}中\u{f900}\u{20000}가ᄀ\u{1161}„»…—\u{200b}\u{200d}\u{feff}\u{fffd}\u{e000}😀①½क्\u{93f}ไ\u{e33}\u{37e}≠\u{958}ﷺ\u{3000}▁\
    \u{5d0}\u{5b8}\u{627}\u{653}\u{64e}o\u{302}©\u{fe0f}\u{20e3}👨\u{200c}\u{1f1e6}\u{11a8}\u{11315}\u{1134d}\u{1133e}\u{a9a2}\u{a9c0}\u{1b44}\u{f71}\u{600}\u{e9}\u{344}\u{1d15e}\u{323}";

#[test]
fn every_character_in_telling_neighbourhoods() {
    let twins = berts();
    for character in ('\0'..=char::MAX).filter(|&c| (c as u32) < 0x3000 || (c as u32).is_multiple_of(31)) {
        // One segmenter for each character is enough: neighbours in the table get the others.
        let twin = &twins[character as usize % twins.len()];
        let text = format!("ab{character}C {character}{character}.{character} \u{301}{character}x");
        twin.check(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn words_are_those_of_normalizer_and_pre_tokenizer(
        text in prop::collection::vec(prop_oneof![
            6 => prop::sample::select(TEST_CHARACTERS.chars().collect::<Vec<_>>()).prop_map(String::from),
            4 => "[a-zA-Z]{1,12} ?", 2 => "\\PC", 1 => " {1,70}|[a-z]{60,140}|[.,]{1,70}", 1 => "[а-яА-Я]{1,9} |[一-三]{1,4}",
        ], 0..60),
    ) {
        let text = text.concat();
        for twin in berts() {
            twin.check(&text);
        }
    }
}

fn metaspaces() -> Vec<Twin> {
    let rules = [
        ("\t", " "),
        ("\n", " "),
        ("\r", " "),
        ("\u{a0}", " "),
        ("\u{3000}", " "),
        ("\u{ad}", ""),
        ("\u{200b}", ""),
        ("ﷺ", "a b"),
        ("ﬁ", "fi"),
        ("①", "1"),
        ("e\u{301}", "é"),
        ("\u{958}", "क\u{93c}"),
        ("½", "1\u{2044}2"),
        (" \u{301}", "´"),
        ("▁", " "),
        ("\0", ""),
        ("\u{feff}", ""),
        ("가", "나"),
        ("…", "..."),
        ("Å", "Å"),
        ("🏽", "x"),
        ("\u{2028}", "\u{2029}"),
        ("\u{627}\u{653}", "\u{622}"),
        ("o\u{302}", "ô"),
        ("o\u{302}\u{301}", "ố"),
        ("©", "c"),
        ("क\u{301}", "x y"),
        ("é\u{302}", ""),
    ];
    let lower: Vec<(String, String)> =
        ('A'..='Z').map(|c| (c.to_string(), c.to_ascii_lowercase().to_string())).collect();
    let folding = rules.into_iter().chain(lower.iter().map(|(upper, lower)| (&**upper, &**lower))).collect::<Vec<_>>();
    let precompiled = |rules: &[(&str, &str)]| {
        use base64::Engine;
        let charsmap = crate::normalizer::precompiled::tests::charsmap(rules);
        json!({"type": "Precompiled", "precompiled_charsmap": base64::engine::general_purpose::STANDARD.encode(charsmap)})
    };
    let join = |content: &str| json!({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": content});
    let (plain, folding) = (precompiled(&rules), precompiled(&folding));
    let without_meta_symbol = precompiled(&rules.into_iter().filter(|rule| rule.0 != "▁").collect::<Vec<_>>());
    let joins_to_meta_symbol = [&plain, &without_meta_symbol]
        .map(|charsmap| json!({"type": "Sequence", "normalizers": [charsmap, join("▁")]}));
    let normalizers = [
        Value::Null,
        json!({"type": "Sequence", "normalizers": [plain, join(" ")]}),
        json!({"type": "Sequence", "normalizers": [folding]}),
        plain,
    ];
    let metaspace =
        |scheme: &str| json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": true});
    let pre_tokenizers = [
        metaspace("always"),
        metaspace("first"),
        metaspace("never"),
        json!({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace("always")]}),
    ];
    let all = normalizers.iter().map(|normalizer| (normalizer, &pre_tokenizers[..]));
    // `WhitespaceSplit` does not split at meta symbols.
    let (metaspaces, split) = pre_tokenizers.split_at(3);
    assert!(Twin::new(&joins_to_meta_symbol[0], &split[0]).is_none());
    let all = all.chain(joins_to_meta_symbol.iter().map(|normalizer| (normalizer, metaspaces)));
    let twins = all.flat_map(|(normalizer, pre)| pre.iter().map(move |pre| Twin::new(normalizer, pre)));
    twins.map(|twin| twin.expect("there is one")).collect()
}

#[test]
fn metaspace_for_every_character_in_telling_neighbourhoods() {
    let twins = metaspaces();
    for character in ('\0'..=char::MAX).filter(|&c| (c as u32) < 0x3000 || (c as u32).is_multiple_of(61)) {
        let twin = &twins[character as usize % twins.len()];
        twin.check(&format!("ab{character}C {character}{character} {character}  {character}\u{301}.{character} x"));
        twin.check(&format!("{character} {character}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn words_with_meta_symbols_are_those_of_normalizer_and_pre_tokenizer(
        text in prop::collection::vec(prop_oneof![
            6 => prop::sample::select(TEST_CHARACTERS.chars().collect::<Vec<_>>()).prop_map(String::from),
            4 => "[a-zA-Z]{1,12} ?", 2 => "\\PC", 1 => " {1,70}|[a-z]{60,140}|\n{1,70}|\r\n", 1 => "[а-яА-Я]{1,9} |[一-三]{1,4}",
            1 => " \u{301}| \u{200b}|\u{200b}|e\u{301}",
        ], 0..60),
    ) {
        let text = text.concat();
        for twin in metaspaces() {
            twin.check(&text);
        }
    }
}

#[test]
fn a_removed_cluster_at_the_start_of_a_word_gives_its_span_to_the_space() {
    for twin in metaspaces() {
        twin.check(" A e\u{301}\u{302}A é\u{302}A");
    }
}

#[test]
fn most_words_are_not_left_to_the_normalizer() {
    let text = "Hello, World! Größe naïve Привет мир 你好世界 हिन्दी ไทย שָׁלוֹם 한국어 x\u{301}y. ".repeat(400);
    for twin in berts().into_iter().chain(metaspaces()) {
        assert!(twin.check(&text) > 400 * 7);
    }
}

#[test]
fn a_word_that_starts_before_a_block_fits_beside_the_words_of_the_block() {
    // The first block has one word, the others 32. A block starts when 64 words fit exactly.
    let text = format!("{} {}", "a".repeat(63), "a ".repeat(32 * 70));
    for twin in berts().into_iter().chain(metaspaces()) {
        for prefix in 0..4 {
            twin.check(&format!("{}{text}", "b ".repeat(32 * prefix)));
        }
    }
}

#[test]
fn other_components_have_no_segmenter() {
    let pre_tokenizer = json!({"type": "BertPreTokenizer"});
    let sequence = |parts: Value| json!({"type": "Sequence", "normalizers": parts});
    let others = [
        json!({"type": "NFD"}),
        json!({"type": "NFKC"}),
        sequence(json!([{"type": "Lowercase"}, {"type": "NFD"}])),
        sequence(json!([{"type": "NFC"}, bert(true, true, None, true)])),
        json!({"type": "Prepend", "prepend": "_"}),
    ];
    for normalizer in &others {
        assert!(Twin::new(normalizer, &pre_tokenizer).is_none(), "{normalizer}");
    }
    let digits =
        json!({"type": "Sequence", "pretokenizers": [pre_tokenizer, {"type": "Digits", "individual_digits": true}]});
    assert!(Twin::new(&bert(true, true, None, true), &digits).is_none());
    assert!(Twin::new(&bert(true, true, None, true), &Value::Null).is_none());
}
