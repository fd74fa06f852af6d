//! Compares splitting with a twin that follows the promise, with `encode` and `count` only.

pub(crate) mod subjects;

use proptest::prelude::*;
use serde_json::json;
use unicode_segmentation::UnicodeSegmentation;

use super::section::{GROWTH, MARGIN, section_bytes};
use super::{Boundary, Limits, Piece, PieceRequest, Pieces, Progress, Start, Stopped};
use crate::{Columns, EncodeError, EncodeOptions, SpecialTokens, Text, Tokenizer, encoding_file};
use subjects::{NORMALIZERS, PRETOKENIZERS, Subject, pieces, subjects, tokenizer};

fn options() -> EncodeOptions {
    EncodeOptions { special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() }
}

/// The ends of sentences, lines or words, without the end of the text.
fn boundaries(text: &str, boundary: Boundary) -> Vec<usize> {
    let ends: Vec<usize> = match boundary {
        Boundary::Token => vec![],
        Boundary::Line => super::lines::ends(text).collect(),
        Boundary::Word => text
            .split_word_bound_indices()
            .map(|(at, part)| at + part.len())
            .filter(|&end| !(text[..end].ends_with(' ') && text[end..].starts_with(|next| next != ' ')))
            .collect(),
        Boundary::Sentence => text
            .split_sentence_bound_indices()
            .map(|(at, part)| at + part.len())
            .filter(|&end| !ends_with_initial(&text[..end]))
            .collect(),
    };
    ends.into_iter().filter(|&end| end < text.len()).collect()
}

/// The twin of a section.
struct Section {
    start: usize,
    end: usize,
    is_last: bool,
    /// The end of each token.
    ends: Vec<usize>,
    /// Where pieces can end, and the number of tokens up to there.
    places: Vec<(usize, usize)>,
}

impl Section {
    fn of(tokenizer: &Tokenizer, text: &str, start: usize, max_tokens: usize) -> Result<Self, EncodeError> {
        let mut bytes = section_bytes(max_tokens);
        loop {
            let end = text.floor_char_boundary(start + bytes.min(text.len() - start));
            match Self::encoded(tokenizer, text, start, end) {
                Err(error) if end == text.len() || !error.is_unknown_token() => return Err(error),
                Ok(section) if section.has_piece(0, max_tokens, start, None) => return Ok(section),
                _ => bytes *= GROWTH,
            }
        }
    }

    fn encoded(tokenizer: &Tokenizer, text: &str, start: usize, end: usize) -> Result<Self, EncodeError> {
        let bare = EncodeOptions { add_special_tokens: false, columns: Columns::OFFSETS, ..options() };
        let encoding = tokenizer.encode(text[start..end].into(), &bare)?;
        let offsets: Vec<[usize; 2]> =
            encoding.offsets().iter().map(|offset| offset.map(|at| start + (at as usize).min(end - start))).collect();
        let is_last = end == text.len();
        let mut section = Self { start, end, is_last, ends: vec![], places: vec![] };
        for (at, &[_, place]) in offsets.iter().enumerate() {
            section.ends.push(place);
            let next = offsets.get(at + 1).map_or(end, |next| next[0]);
            if place <= next && section.is_trusted(place) && text.is_char_boundary(place) {
                section.add(place, at + 1);
            }
        }
        if is_last {
            section.add(end, offsets.len());
        }
        Ok(section)
    }

    fn is_trusted(&self, place: usize) -> bool {
        self.is_last || place + MARGIN <= self.end
    }

    fn add(&mut self, place: usize, tokens: usize) {
        if place > self.start && self.places.iter().all(|&(other, _)| other < place) {
            self.places.push((place, tokens));
        }
    }

    /// Whether the token behind the limit is known, or behind the cap of a piece.
    fn has_piece(&self, before: usize, max_tokens: usize, start: usize, cap: Option<usize>) -> bool {
        let excluded = self.ends.get(before + max_tokens);
        let is_known = excluded.is_some_and(|&end| self.is_trusted(end));
        start < self.end && (self.is_last || is_known || cap.is_some_and(|cap| self.is_trusted(start + cap)))
    }

    fn before(&self, start: usize) -> usize {
        self.places.iter().filter(|&&(place, _)| place <= start).map(|&(_, tokens)| tokens).max().unwrap_or(0)
    }
}

/// The number of tokens after `own` tokens that are `excess` too many.
fn fewer(own: usize, excess: Option<usize>) -> usize {
    excess.map_or(own / 2, |excess| own.saturating_sub(excess).max(own / 2))
}

/// The end of the piece of the twin, and the cap of the next one. `None` if the first character
/// does not fit.
fn next_by_definition(
    tokenizer: &Tokenizer,
    text: &str,
    section: &Section,
    (start, cap): (usize, Option<usize>),
    max_tokens: usize,
) -> Option<(usize, Option<usize>)> {
    let count = |end: usize| tokenizer.count(text[start..end].into(), &options()).ok();
    let fits = |end: usize| count(end).is_some_and(|tokens| tokens <= max_tokens);
    let before = section.before(start);
    let after = || section.places.iter().copied().filter(|&(place, _)| place > start);
    let within = |own: usize| after().filter(|&(_, tokens)| tokens <= before + own).map(|(place, _)| place).max();
    let first_character = start + text[start..].chars().next().map_or(0, char::len_utf8);
    let (token_end, own) = after().next().unwrap_or((section.end, section.ends.len()));
    // The part between two places that contains the start, and its tokens.
    let last_place = section.places.iter().map(|&(place, _)| place).filter(|&place| place <= start).max();
    let (bytes, own) = (token_end - last_place.unwrap_or(section.start), own - before);
    let in_proportion = if own <= max_tokens { bytes } else { bytes * max_tokens / own };
    let most = cap.map_or(text.len(), |cap| text.floor_char_boundary((start + cap).min(text.len())));
    // The ends that are tried, in order: tokens, then parts of the first one.
    let mut tried = vec![];
    let mut candidate = after().rev_last(before + max_tokens, most);
    while let Some((end, tokens)) = candidate {
        let excess = count(end).filter(|_| tried.is_empty()).map(|counted| counted.saturating_sub(max_tokens));
        tried.push(end);
        if fits(end) {
            break;
        }
        let own = fewer(tokens - before, excess);
        candidate = after().rev_last(before + own, most.min(end - 1));
    }
    if !tried.last().is_some_and(|&end| fits(end)) {
        let likely = token_end.min(most).min(start + in_proportion);
        let mut end = text.floor_char_boundary(likely).max(first_character);
        if tried.last() != Some(&end) {
            tried.push(end);
        }
        while !fits(end) && end > first_character {
            end = text.floor_char_boundary(start + (end - start) / 2).max(first_character);
            tried.push(end);
        }
    }
    let &end = tried.last().filter(|&&end| fits(end))?;
    let length = end - start;
    let is_short = 2 * length < tried[0] - start || tried[0] < within(max_tokens).unwrap_or(token_end);
    Some((end, is_short.then_some(2 * length)))
}

/// The last of increasing places with at most this many tokens and at most this end.
trait RevLast {
    fn rev_last(self, tokens: usize, end: usize) -> Option<(usize, usize)>;
}

impl<I: Iterator<Item = (usize, usize)>> RevLast for I {
    fn rev_last(self, tokens: usize, end: usize) -> Option<(usize, usize)> {
        self.filter(|place| place.0 <= end && place.1 <= tokens).last()
    }
}

/// Whether a text ends like `J. `, after which no sentence ends.
fn ends_with_initial(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| !"\u{301}\u{323}\u{200b}\u{200d}".contains(*c)).collect();
    let before = plain.trim_end_matches([' ', '\t']);
    let mut last = before.chars().rev();
    before.len() < plain.len()
        && last.next() == Some('.')
        && last.next().is_some_and(char::is_uppercase)
        && !last.next().is_some_and(char::is_alphanumeric)
}

/// Splits by the definition, slowly. The pieces up to a character that has too many tokens, and
/// whether there is none.
fn split_by_definition(
    tokenizer: &Tokenizer,
    text: &str,
    limits: &Limits,
) -> Result<(Vec<Piece>, Stopped), EncodeError> {
    let Limits { max_tokens, overlap, boundary } = *limits;
    let count = |start: usize, end: usize| tokenizer.count(text[start..end].into(), &options()).ok();
    let mut pieces: Vec<Piece> = vec![];
    let (mut start, mut covered) = (0, 0);
    while start < text.len() {
        let section = Section::of(tokenizer, text, start, max_tokens)?;
        let mut cap = None;
        while section.has_piece(section.before(start), max_tokens, start, cap) {
            let Some((mut end, next_cap)) = next_by_definition(tokenizer, text, &section, (start, cap), max_tokens)
            else {
                return Ok((pieces, Stopped::Character));
            };
            cap = next_cap;
            if end < text.len() && boundary != Boundary::Token {
                let token_end = end;
                'boundaries: for boundary in [boundary, Boundary::Word] {
                    let ends: Vec<usize> =
                        boundaries(&text[start..section.end], boundary).into_iter().map(|end| start + end).collect();
                    let mut most = token_end;
                    while let Some(&at) = ends.iter().rfind(|&&at| at <= most) {
                        if count(start, at).is_some_and(|tokens| tokens <= max_tokens) {
                            end = at;
                            break 'boundaries;
                        }
                        most = start + (at - start) / 2;
                    }
                }
            }
            if end <= covered && start < covered {
                start = covered;
                continue;
            }
            pieces.push(Piece { start, end, tokens: count(start, end).expect("it was counted") });
            covered = end;
            let mut next = end;
            if end < text.len() {
                let until =
                    section.places.iter().find(|place| place.0 >= end).map_or(section.ends.len(), |place| place.1);
                let mut own = overlap.min(until - section.before(start));
                let mut is_first = true;
                while own > 0 {
                    let wanted = |place: &&(usize, usize)| place.0 > start && place.1 >= until - own;
                    let mut from = section.places.iter().find(wanted).map_or(section.end, |place| place.0);
                    if boundary != Boundary::Token {
                        let ends = boundaries(&text[start..end], boundary).into_iter().map(|end| start + end);
                        from = ends.into_iter().find(|&at| at >= from).unwrap_or(end);
                    }
                    if from >= end {
                        break;
                    }
                    let counted = count(from, end);
                    if counted.is_some_and(|tokens| tokens <= overlap) {
                        next = from;
                        break;
                    }
                    own = fewer(own, counted.filter(|_| is_first).map(|counted| counted - overlap));
                    is_first = false;
                }
            }
            start = next;
        }
    }
    Ok((pieces, Stopped::AtEnd))
}

fn split(tokenizer: &Tokenizer, text: &str, limits: &Limits) -> Pieces {
    tokenizer.split(text.into(), &whole(limits), &options()).expect("a text")
}

/// Panics if a piece does not fit, or if the pieces together leave out a part of the text.
fn check_that_pieces_fit(tokenizer: &Tokenizer, text: &str, limits: &Limits, found: &Pieces) {
    let mut covered = 0;
    for piece in &found.pieces {
        let tokens = tokenizer.count(text[piece.start..piece.end].into(), &options()).expect("a text");
        assert!(piece.tokens == tokens && tokens <= limits.max_tokens, "{text:?} {limits:?} {piece:?}: {tokens}");
        assert!(piece.start <= covered && covered < piece.end, "{text:?} {limits:?} {piece:?} after {covered}");
        covered = piece.end;
    }
    assert!(covered == text.len() || found.stopped == Stopped::Character, "{text:?} {limits:?}: {covered}");
}

/// All pieces of a whole text.
fn whole(limits: &Limits) -> PieceRequest<'static> {
    PieceRequest { limits: *limits, progress: Progress::default(), is_end: true, cancel: None }
}

/// The pieces of a text that arrives in parts.
fn split_in_parts(tokenizer: &Tokenizer, parts: &[&str], limits: &Limits) -> (Vec<Piece>, Stopped) {
    let (mut text, mut before) = (String::new(), 0);
    let (mut pieces, mut progress) = (vec![], Progress::default());
    for number in 0..=parts.len() {
        let is_end = number == parts.len();
        text.push_str(parts.get(number).unwrap_or(&""));
        let request = PieceRequest { progress, is_end, ..whole(limits) };
        let made = tokenizer.split(text.as_str().into(), &request, &options()).expect("a text");
        let moved = |piece: Piece| Piece { start: piece.start + before, end: piece.end + before, ..piece };
        pieces.extend(made.pieces.into_iter().map(moved));
        if made.stopped != Stopped::AtEnd {
            return (pieces, made.stopped);
        }
        // Drops the text that is done, as a stream does.
        text.drain(..made.progress.start);
        before += made.progress.start;
        progress = Progress { start: 0, covered: made.progress.covered.saturating_sub(made.progress.start) };
    }
    (pieces, Stopped::AtEnd)
}

fn form() -> impl Strategy<Value = Subject> {
    subjects(1000, 40)
}

fn limits() -> impl Strategy<Value = Limits> {
    let boundary = prop::sample::select(vec![Boundary::Token, Boundary::Sentence, Boundary::Line, Boundary::Word]);
    (1usize..30, 0usize..8, boundary).prop_map(|(max_tokens, overlap, boundary)| Limits {
        max_tokens,
        overlap: overlap.min(max_tokens - 1),
        boundary,
    })
}

fn text() -> impl Strategy<Value = String> {
    let more = ["One. ", "Two! ", "\r\n", "\u{2028}", "End.) "].map(String::from);
    prop::collection::vec(prop::sample::select([&pieces()[..], &more].concat()), 0..100)
        .prop_map(|pieces| pieces.concat())
}

/// Pieces of Unigram with their scores: characters, and more that the text can have.
fn unigram_pieces() -> impl Strategy<Value = Vec<(String, u8)>> {
    let more = prop::collection::vec(("▁?[abA1é中. ]{1,6}", 0u8..60), 0..30);
    (prop::sample::select(vec!["▁abcdA1é中.'s!", "▁abA"]), more)
        .prop_map(|(known, more)| known.chars().map(|c| (c.to_string(), 50)).chain(more).collect())
}

/// A tokenizer with a BertNormalizer and a BertPreTokenizer.
fn bert(model: &serde_json::Value) -> Tokenizer {
    let file = json!({
        "version": "1.0", "added_tokens": [], "model": model, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file")
}

/// Compares `split`, streams, `truncate` and `encode_first` with the twin.
fn check(tokenizer: &Tokenizer, name: &str, text: &str, limits: &Limits, cuts: &[prop::sample::Index]) {
    let context = format!("{name} {text:?} {limits:?}");
    let found = tokenizer.split(text.into(), &whole(limits), &options());
    let expected = split_by_definition(tokenizer, text, limits);
    let (found, expected) = match (found, expected) {
        (Ok(found), Ok(expected)) => (found, expected),
        (Err(found), Err(expected)) => return assert_eq!(found.code(), expected.code(), "{context}"),
        (found, expected) => panic!("{context}: {found:?}, {expected:?}"),
    };
    check_that_pieces_fit(tokenizer, text, limits, &found);
    let found = (found.pieces, found.stopped);
    assert_eq!(found, expected, "{context}");
    // The same pieces in UTF-16.
    let units: Vec<u16> = text.encode_utf16().collect();
    let utf16 = tokenizer.split(Text::Utf16(&units), &whole(limits), &options());
    let utf16 = utf16.expect("the same text").pieces;
    let units_up_to = |end: usize| text[..end].encode_utf16().count();
    let moved = |piece: &Piece| Piece { start: units_up_to(piece.start), end: units_up_to(piece.end), ..*piece };
    assert_eq!(utf16, found.0.iter().map(moved).collect::<Vec<_>>(), "{context}");
    // The same pieces, however the text arrives.
    let mut places: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    let parts: Vec<&str> = places.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
    assert_eq!(split_in_parts(tokenizer, &parts, limits), found, "{context} {parts:?}");
    if limits.boundary == Boundary::Token {
        check_start(tokenizer, text, &units, limits.max_tokens, found.0.first());
    }
}

/// Checks `truncate` and `encode_first`, which return the first piece.
fn check_start(tokenizer: &Tokenizer, text: &str, units: &[u16], limit: usize, first: Option<&Piece>) {
    let mut ids = vec![7];
    let empty = tokenizer.count("".into(), &options()).expect("a text");
    for (form, is_utf16) in
        [(Text::Utf8(text), false), (Text::Bytes(text.as_bytes()), false), (Text::Utf16(units), true)]
    {
        let (end, tokens) = first.map_or((0, empty), |piece| (piece.end, piece.tokens));
        let length = if is_utf16 { text[..end].encode_utf16().count() } else { end };
        let found = tokenizer.truncate(form, limit, &options(), true);
        assert_eq!(found, Ok(Start::Found { length, tokens }), "{form:?} {limit}");
        // The start of the text suffices, or more is needed.
        let part = form.slice(0, length + 200);
        let is_all = part.weight() == form.weight();
        let of_part = tokenizer.truncate(part, limit, &options(), is_all);
        assert!(of_part == found || of_part == Ok(Start::DependsOnMore), "{form:?} {limit}: {of_part:?}");
        let written =
            tokenizer.encode_first(form, limit, &options(), true, &mut ids).expect("a text").expect("all of it");
        assert_eq!(written.read, length, "{form:?} {limit}");
        let alone = tokenizer.encode(form.slice(0, length), &options()).expect("a text");
        assert_eq!(ids, if length > 0 { alone.ids() } else { &[] }, "{form:?} {limit}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1200))]
    #[test]
    fn pieces_are_those_of_the_definition(form in form(), text in text(), limits in limits(), cuts in cuts()) {
        check(&tokenizer(&form), &form.to_string(), &text, &limits, &cuts);
    }

    #[test]
    fn pieces_of_wordpiece_are_those_of_the_definition(
        text in text(),
        limits in limits(),
        has_unknown in prop::bool::weighted(0.8),
        words in prop::collection::btree_set("[ab1.e中]{1,4}", 0..12),
        cuts in cuts(),
    ) {
        let tokens = ["[UNK]", "a", "b", ".", "##a", "##b", "1", "one", "##1", "##23"].map(String::from);
        let more = words.iter().flat_map(|word| [word.clone(), format!("##{word}")]);
        let mut vocab = serde_json::Map::new();
        for token in tokens.into_iter().skip(usize::from(!has_unknown)).chain(more) {
            let id = vocab.len();
            vocab.entry(token).or_insert(id.into());
        }
        let tokenizer = bert(&json!({
            "type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]",
            "continuing_subword_prefix": "##", "max_input_chars_per_word": 6,
        }));
        check(&tokenizer, &format!("{words:?}"), &text, &limits, &cuts);
    }

    #[test]
    fn pieces_of_unigram_are_those_of_the_definition(
        normalizer in prop::sample::select(vec![0, 0, 0, 1, 9, 14]),
        pretokenizer in prop::sample::select(vec![6, 6, 7, 8, 9, 5, 4, 0, 11]),
        (pieces, has_bytes) in (unigram_pieces(), any::<bool>()),
        (text, limits, cuts) in (text(), limits(), cuts()),
    ) {
        let tokenizer = unigram(normalizer, pretokenizer, &pieces, has_bytes);
        check(&tokenizer, &format!("{normalizer} {pretokenizer} {pieces:?} {has_bytes}"), &text, &limits, &cuts);
    }
}

#[test]
fn truncate_cuts_a_long_run_of_unknown_characters_like_split() {
    let known: Vec<(String, u8)> = "▁abA".chars().map(|c| (c.to_string(), 50)).collect();
    let tokenizer = unigram(9, 0, &known, true);
    for (text, max_tokens) in [(" One. 1234567End.) ", 9), ("\tTwo! 中文éEnd.) ", 13), ("1234567890", 4)] {
        check(&tokenizer, "unigram", text, &Limits { max_tokens, overlap: 0, boundary: Boundary::Token }, &[]);
    }
}

#[test]
fn truncate_ends_like_split_where_tokens_come_back_to_a_place() {
    let form = Subject { normalizer: 0, pretokenizer: 6, model: 8, merges: vec![(211, 0), (0, 1)], added: true };
    let text = "aaaaaaaab\t\u{200b}cd👩\u{200d}🚀a";
    let limits = Limits { max_tokens: 16, overlap: 0, boundary: Boundary::Token };
    check(&tokenizer(&form), &form.to_string(), text, &limits, &[]);
}

fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..9)
}

/// A Unigram tokenizer: the pieces with their scores, in tenths.
fn unigram(normalizer: usize, pretokenizer: usize, pieces: &[(String, u8)], has_bytes: bool) -> Tokenizer {
    let mut vocab = vec![json!(["<unk>", 0.0])];
    let is_new = |at: usize, piece: &str| pieces[..at].iter().all(|(known, _)| known != piece);
    for (at, (piece, score)) in pieces.iter().enumerate().filter(|(at, (piece, _))| is_new(*at, piece)) {
        vocab.push(json!([piece, -f64::from(*score) / 10.0 - if at % 3 == 0 { 0.01 } else { 0.0 }]));
    }
    if has_bytes {
        vocab.extend((0..256).map(|byte| json!([format!("<0x{byte:02X}>"), -12.0])));
    }
    let file = json!({"normalizer": NORMALIZERS[normalizer], "pre_tokenizer": PRETOKENIZERS[pretokenizer],
        "model": {"type": "Unigram", "vocab": vocab, "unk_id": 0, "byte_fallback": has_bytes}});
    Tokenizer::from_bytes(file.to_string().as_bytes()).expect("a sound file")
}

/// Files that make most candidates fail: the bytes that a split encodes are a multiple of the
/// text's.
#[test]
fn the_cost_is_linear_where_most_candidates_fail() {
    let model = json!({"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2}, "merges": []});
    let end = json!({"type": "Replace", "pattern": {"Regex": "a$"}, "content": "b".repeat(500)});
    let start = json!({"type": "Replace", "pattern": {"Regex": "^a"}, "content": "b".repeat(500)});
    let replaced = |normalizer| json!({"normalizer": normalizer, "model": model});
    // `▁x` is a token and `x` is not: a run of x is one unknown token.
    let vocab = json!([["<unk>", 0.0], ["▁", -1.0], ["▁x", -1.0]]);
    let fused = json!({"model": {"type": "Unigram", "vocab": vocab, "unk_id": 0}, "pre_tokenizer": PRETOKENIZERS[6]});
    let runs: Vec<_> = (1..=511).map(|length| json!(["a".repeat(length), -1.0])).collect();
    let runs = json!({"model": {"type": "Unigram", "vocab": runs, "unk_id": 0}});
    let cases = [
        (replaced(end), "a", 600),
        (replaced(start), "a", 600),
        (fused.clone(), "x", 1),
        (fused, "x", 3),
        (runs.clone(), "a", 1),
        (runs, "a", 7),
    ];
    for (file, letter, max_tokens) in cases {
        let tokenizer = Tokenizer::from_bytes(file.to_string().as_bytes()).expect("a sound file");
        let text = letter.repeat(20_000);
        for overlap in [0, max_tokens / 2] {
            let limits = Limits { max_tokens, overlap, boundary: Boundary::Token };
            let before = tokenizer.encoded_bytes();
            let found = split(&tokenizer, &text, &limits);
            let encoded = tokenizer.encoded_bytes() - before;
            check_that_pieces_fit(&tokenizer, &text, &limits, &found);
            let most = if overlap > 0 { 24 } else { 12 } * text.len() as u64;
            assert!(encoded <= most, "{file} {max_tokens} {overlap}: {encoded} bytes, {} pieces", found.pieces.len());
        }
    }
}

/// All pieces that a call counts share one budget.
#[test]
fn the_work_of_many_small_pieces_is_limited() {
    let prepend = json!({"type": "Prepend", "prepend": "b".repeat(60_000)});
    let strip = json!({"type": "Replace", "pattern": {"Regex": "b+"}, "content": ""});
    let file = json!({
        "normalizer": {"type": "Sequence", "normalizers": [prepend, strip]},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []},
    });
    let tokenizer = Tokenizer::from_bytes(file.to_string().as_bytes()).expect("a sound file");
    let text = "a".repeat(20_000);
    assert!(tokenizer.count("a".into(), &options()).is_ok());
    let limits = Limits { max_tokens: 1, overlap: 0, boundary: Boundary::Token };
    let found = tokenizer.split(text.as_str().into(), &whole(&limits), &options());
    assert!(matches!(found, Err(EncodeError::OutputLimit { .. } | EncodeError::Pattern { .. })), "{found:?}");
}

#[test]
fn a_prefix_that_cannot_be_encoded_ends_no_piece() {
    let tokenizer = bert(&json!({
        "type": "WordPiece", "vocab": {"ab": 0, "中": 1, ".": 2}, "unk_token": "[UNK]",
        "continuing_subword_prefix": "##", "max_input_chars_per_word": 6,
    }));
    let limits = Limits { max_tokens: 1, overlap: 0, boundary: Boundary::Token };
    for sentences in [2, 100] {
        let text = "ab.".repeat(sentences);
        let found = split(&tokenizer, &text, &limits);
        let ends: Vec<usize> = found.pieces.iter().map(|piece| piece.end).collect();
        let expected: Vec<usize> = (1..=text.len()).filter(|end| end % 3 != 1).collect();
        assert_eq!((ends, found.stopped), (expected, Stopped::AtEnd));
    }
}

fn bundled(name: &str) -> Tokenizer {
    let path = format!(
        "{}/../../encodings/{}.tiktoken",
        env!("CARGO_MANIFEST_DIR"),
        encoding_file(name).expect("it is bundled")
    );
    Tokenizer::from_encoding(name, &std::fs::read(path).expect("the file is there")).expect("a sound file")
}

#[test]
fn a_character_that_exceeds_the_limit_and_a_refused_special_token_end_the_split() {
    let tokenizer = bundled("cl100k_base");
    let limits = Limits { max_tokens: 1, overlap: 0, boundary: Boundary::Token };
    let made = split(&tokenizer, "a 𒀀", &limits);
    assert_eq!((made.stopped, made.progress.start, made.pieces.len()), (Stopped::Character, 2, 2));
    let strict = EncodeOptions { special_tokens: SpecialTokens::Throw, ..options() };
    let text = "many words before <|endoftext|>";
    let error = tokenizer.split(text.into(), &whole(&limits), &strict);
    assert!(error.is_err(), "a special token is found wherever it is");
}
