use proptest::prelude::*;

use super::*;
use crate::fuzzing::decode::{check, components, tokenizer};
use crate::pattern::{Dialect, Pattern};
use crate::{DecodeOptions, DecodeStream};

fn decoded(steps: Vec<Step>, tokens: &[&str]) -> String {
    from_utf8_lossy(run(steps, tokens, false))
}

fn run(steps: Vec<Step>, tokens: &[&str], raw: bool) -> Vec<u8> {
    let decoder = Decoder::new(steps);
    let mut state = decoder.start(Budget::of_ids(tokens.len()), raw);
    decoder.decode(&mut state, tokens.iter().map(|token| token.as_bytes()), true).expect("no test token is hard")
}

fn replace(sought: &str, put: &str) -> Step {
    Step::Replace { pattern: Pattern::literal(sought).expect("any text will do"), content: put.into() }
}

#[test]
fn every_step() {
    let word_piece = |cleanup| Step::WordPiece { prefix: "##".into(), cleanup };
    let metaspace = |prepends| Step::Metaspace { replacement: '▁', prepends };
    let ctc = |cleanup| Step::Ctc { pad: "_".into(), delimiter: "|".into(), cleanup };
    let strip = |start, stop| Step::Strip(StripEnds { content: ' ', start, stop });
    let regex = Pattern::new("a+", Dialect::Oniguruma).expect("it compiles");
    let cases: Vec<(Step, &[&str], &str)> = vec![
        (Step::Spaces, &["a", "b"], "a b"),
        (Step::ByteLevel, &["ĠÃ", "©", "中"], " é中"),
        (Step::ByteLevel, &["Ã", "a", "Ã"], "\u{fffd}a\u{fffd}"),
        (Step::ByteFallback, &["<0xC3>", "<0xA9>", "x"], "éx"),
        (Step::ByteFallback, &["<0x61>", "<0xC3>", "x", "<0x4>"], "\u{fffd}\u{fffd}x<0x4>"),
        (Step::ByteFallback, &["<0x+5>"], "\u{5}"),
        (Step::Bpe { suffix: "</w>".into() }, &["a</w>", "b", "c</w>"], "a bc"),
        (word_piece(true), &["##a", "##b", "c", "."], "##ab c."),
        (word_piece(false), &["a", "."], "a ."),
        (word_piece(true), &["do", "not", "do not"], "do not don't"),
        (metaspace(true), &["▁a▁", "▁b"], "a b"),
        (metaspace(false), &["▁a", "▁b"], " a b"),
        (ctc(true), &["a", "a", "_", "a", "|", "|", "b ."], "aa b."),
        (ctc(false), &["|", "_", "|"], "||"),
        (replace("▁", " "), &["▁a", "▁▁"], " a  "),
        (Step::Replace { pattern: regex, content: "-".into() }, &["baa", "ab"], "b--b"),
        (strip(1, 0), &["  a ", " b"], " a b"),
        (strip(2, 1), &["  a  ", " "], "a "),
        (strip(1, 1), &[" ", ""], ""), // Hugging Face tokenizers panics
    ];
    for (step, tokens, expected) in cases {
        let name = format!("{step:?} of {tokens:?}");
        assert_eq!(decoded(vec![step], tokens), expected, "{name}");
    }
}

#[test]
fn bytes_stay_raw_through_steps_that_can_take_them() {
    let llama = || {
        vec![
            replace("▁", " "),
            Step::ByteFallback,
            Step::Fuse,
            Step::Strip(StripEnds { content: ' ', start: 1, stop: 0 }),
        ]
    };
    let tokens = ["▁a", "<0xC3>", "▁"];
    assert_eq!(run(llama(), &tokens, true), b"a\xC3 ");
    assert_eq!(run(llama(), &tokens, false), "a\u{fffd} ".as_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn the_pieces_of_a_stream_are_the_whole(
        components in prop::collection::vec(prop::sample::select(components()), 0..4),
        ids in prop::collection::vec(0u32..33, 0..24),
        lengths in prop::collection::vec(0usize..5, 0..24),
    ) {
        check(&components, &ids, &lengths);
    }
}

#[test]
fn text_comes_as_soon_as_it_is_certain() {
    let tokenizer = tokenizer(&serde_json::json!({"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]}));
    let mut stream = DecodeStream::new(std::sync::Arc::new(tokenizer), DecodeOptions::default());
    // ▁ a ▁▁a <0xE2> <0x82> <0xAC> a <0xFF> <0x61> <0xF0>
    let pieces: Vec<String> =
        [3, 0, 4, 24, 25, 26, 0, 27, 23, 28].iter().map(|&id| stream.push(&[id]).expect("no error")).collect();
    assert_eq!(pieces, ["", "a", "  a", "", "", "", "€a", "\u{fffd}", "\u{fffd}", "\u{fffd}"]);
    assert_eq!(stream.end().expect("no error"), "");
}
