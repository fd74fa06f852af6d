//! Compares every scanner with the regular expression that it replaces, on many kinds of text.

use super::twins::{TEST_CHARACTERS, TWINS, ends_by_scanner};
use super::*;
use crate::pretokenizer::{Behavior, CharClass, Cut, PreTokenizer, Stage};
use proptest::prelude::*;

/// Characters that the patterns treat differently.
fn characters() -> impl Strategy<Value = char> {
    prop_oneof![8 => prop::sample::select(TEST_CHARACTERS.chars().collect::<Vec<_>>()), 1 => any::<char>()]
}

/// Single characters, and runs as they occur in text, so that blocks contain whole words and their
/// boundaries.
fn piece() -> impl Strategy<Value = String> {
    let runs = "[a-z]{1,12}|[A-Z][a-z]{0,9}|[A-Z]{1,5}|[A-Za-z]{1,9}| [a-z]{1,7}| {1,9}|\\n {0,9}|[0-9]{1,8}|'(s|t|re|ve|m|ll|d|S|LL|x)|[!-/]{1,5}(\r?\n)*/{0,3}|[а-яА-Я]{1,8}|[あ-ん一-十]{1,9}|[ก-๎]{1,9}|[é-ü]{1,3}[a-z]{1,3}|[٠-٩]{1,5}|—|\u{3000}|▁[a-z]{0,4}|(❤|😀)\u{fe0f}?(\u{200d}👩)?";
    prop_oneof![1 => characters().prop_map(String::from), 2 => runs.prop_map(String::from)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn every_scanner_gives_the_words_of_its_twin(
        pieces in prop::collection::vec(piece(), 0..40),
        capacity in 128usize..200,
    ) {
        let text = pieces.concat();
        TWINS.iter().for_each(|twin| twin.check(&text, capacity));
    }
}

proptest! {
    /// Long texts are cut at such spaces (`batch::row_chunks`).
    #[test]
    fn every_scanner_starts_a_word_at_a_space_between_letters(
        before in prop::collection::vec(piece(), 0..6),
        letters in ["\\p{L}", "\\p{L}"],
        behind in prop::collection::vec(piece(), 0..6),
    ) {
        let [left, right] = &letters;
        let first = before.concat() + left;
        let text = format!("{first} {right}{}", behind.concat());
        for twin in TWINS.iter() {
            let ends_of = |text: &str| ends_by_scanner(twin.scanner, Simd::best(), text, 128);
            let ends = ends_of(&text);
            prop_assert!(ends.contains(&(first.len() as u32)), "{}: {:?} in {:?}", twin.name, ends, text);
            // Each part has the same words as in the whole text.
            let mut parts = ends_of(&first);
            parts.extend(ends_of(&text[first.len()..]).into_iter().map(|end| end + first.len() as u32));
            prop_assert_eq!(parts, ends, "{}", twin.name);
        }
    }
}

/// One character for each way in which a pattern treats characters, so that all short texts of them
/// can be tested.
const KINDS: [&str; 3] = [
    // Contractions, capitals, small letters, caseless letters, signs, line breaks.
    "'slA中\u{301}! \n/",
    // Numbers, kinds of white space, characters that one pattern does not match, Han and kana.
    "a1٣ \n\u{3000}!\u{200d}中・",
    // Capitals and caseless letters.
    "aA中\u{301}!'s ",
];

#[test]
fn every_short_text_of_telling_characters() {
    // The text lies between other words, so that masks handle it, and far from their boundaries.
    for kinds in KINDS {
        let kinds: Vec<char> = kinds.chars().collect();
        let length = 4;
        let mut text = String::new();
        for number in 0..kinds.len().pow(length) {
            text.push_str("x y");
            text.extend((0..length).map(|place| kinds[number / kinds.len().pow(place) % kinds.len()]));
            if text.len() > 4096 {
                TWINS.iter().for_each(|twin| twin.check(&text, 512));
                text.clear();
            }
        }
        TWINS.iter().for_each(|twin| twin.check(&text, 512));
    }
}

#[test]
fn every_short_text_by_itself() {
    let kinds: Vec<char> = "'sA中\u{301}!1 \n/\u{200d}".chars().collect();
    for length in 1..4 {
        for number in 0..kinds.len().pow(length) {
            let text: String = (0..length).map(|place| kinds[number / kinds.len().pow(place) % kinds.len()]).collect();
            TWINS.iter().for_each(|twin| twin.check(&text, 128));
        }
    }
}

/// Every code point with neighbours of other kinds, and some of the others.
fn code_points() -> impl Iterator<Item = char> {
    // The long blocks of ideographs and Hangul, private use and the empty planes are sampled.
    let is_taken = |code| match code {
        0x3400..0x4DB0 | 0x4E10..0x9FF0 | 0xAC10..0xD7A0 | 0xE010..0xF8F0 | 0x2_0010..0x3_4000 => code % 13 == 0,
        0x3_4000..0xE_0000 | 0xE_1000.. => code % 97 == 0,
        _ => true,
    };
    ('\0'..=char::MAX).filter(move |&character| is_taken(character as u32))
}

#[test]
fn every_character_in_telling_neighbourhoods() {
    // Many characters are combined into one text, so that the general engine is not started a
    // million times.
    let neighbourhoods =
        [("a", "b"), (" ", "A"), ("'", "s"), ("1", "2"), ("\n", " "), ("!", "/\n"), ("中", "B"), ("é ", " ")];
    for (index, (before, after)) in neighbourhoods.into_iter().enumerate() {
        let mut text = String::new();
        // Rarer characters have a quarter of the neighbourhoods each.
        let characters = code_points().filter(|&c| c < '\u{3000}' || c as usize % 4 == index % 4);
        for (count, character) in characters.chain(std::iter::repeat_n('x', 4096)).enumerate() {
            text.push_str(before);
            text.push(character);
            if count % 2 == 1 {
                text.push(character);
            }
            text.push_str(after);
            if count % 4096 == 4095 {
                for twin in &*TWINS {
                    let ends = ends_by_scanner(twin.scanner, Simd::best(), &text, 512);
                    assert!(
                        ends == twin.ends(&text),
                        "{}: up to U+{:04X} between {before:?} and {after:?}",
                        twin.name,
                        character as u32
                    );
                }
                text.clear();
            }
        }
    }
}

#[test]
fn every_place_in_a_block_for_every_kind_of_character() {
    // The filler characters before the pair move it through the block and across its end.
    let kinds: Vec<char> = TEST_CHARACTERS.chars().collect();
    for &filler in &['x', 'é', '中'] {
        for at in (0..70).filter(|at| at * filler.len_utf8() < 72) {
            let mut text = String::new();
            for (one, &first) in kinds.iter().enumerate() {
                // A text for each pair would be too many. Each kind meets every other kind at some
                // position.
                let second = kinds[(one + at) % kinds.len()];
                text.clear();
                text.extend(std::iter::repeat_n(filler, at));
                text.extend([first, second, 'y', ' ', 'z']);
                text.push_str(" and so on, for as long as there is a block and more of it.");
                TWINS.iter().for_each(|twin| twin.check(&text, 128));
            }
        }
    }
}

#[test]
fn only_what_is_exactly_known_is_recognized() {
    let split = |source: &str, behavior, invert| {
        Stage::Cut(Cut::new(source, Dialect::Oniguruma, behavior, invert, "test").expect("it compiles"))
    };
    let sequence = |behavior| DeepSeek::PATTERNS.map(|source| split(source, behavior, false)).into();
    let digits = |behavior| Stage::Cut(Cut::characters(CharClass::Number, behavior));
    let llama3 = || split(SHARED_SPELLINGS[1].0, Behavior::Isolated, false);
    let gpt2 = || Stage::Cut(Cut::byte_level());
    let mut backwards: Vec<Stage> = sequence(Behavior::Isolated);
    backwards.reverse();
    let mut longer: Vec<Stage> = sequence(Behavior::Isolated);
    longer.push(gpt2());
    let unknown: [Vec<Stage>; 11] = [
        sequence(Behavior::Removed),
        sequence(Behavior::Contiguous),
        backwards,
        longer,
        DeepSeek::PATTERNS[..2].iter().map(|source| split(source, Behavior::Isolated, false)).collect(),
        vec![digits(Behavior::Contiguous), gpt2()],
        vec![digits(Behavior::Isolated), llama3()],
        vec![gpt2(), digits(Behavior::Isolated)],
        vec![split(BYTE_LEVEL, Behavior::Removed, false)],
        vec![Stage::Cut(Cut::characters(CharClass::Is('▁'), Behavior::MergedWithNext))],
        // A split, a rewrite and a split: the second split sees only parts of the text.
        vec![digits(Behavior::Isolated), Stage::PrefixSpace, gpt2()],
    ];
    for stages in unknown {
        let count = stages.len();
        let mut pretokenizer = PreTokenizer { stages };
        assert_eq!(pretokenizer.take_scanner(), None, "{pretokenizer:?}");
        assert_eq!(pretokenizer.stages.len(), count);
    }
    // A stage that rewrites the text before the split is kept.
    let mut prefixed = PreTokenizer { stages: vec![Stage::PrefixSpace, llama3()] };
    assert_eq!(prefixed.take_scanner(), Some(SHARED_SPELLINGS[1].1));
    assert!(matches!(prefixed.stages[..], [Stage::PrefixSpace]));
    let mut inverted = PreTokenizer { stages: vec![split(BYTE_LEVEL, Behavior::Removed, true)] };
    assert_eq!(inverted.take_scanner(), Some(Scanner::GPT2));
}

/// The file of DeepSeek V3 has line breaks in its pattern instead of escapes.
#[test]
fn a_pattern_with_line_breaks_as_characters_has_the_scanner_of_its_escaped_spelling() {
    let raw = |pattern: &str| pattern.replace(r"\r", "\r").replace(r"\n", "\n");
    let patterns = DeepSeek::PATTERNS.map(raw);
    assert!(patterns[2].contains("[^\r\n"));
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    assert_eq!(Scanner::of_sequence(&patterns), Some(Scanner::DeepSeek(DeepSeek)));
    for (pattern, scanner) in SHARED_SPELLINGS {
        assert_eq!(Scanner::of(&raw(pattern), Dialect::Oniguruma), Some(scanner));
    }
}
