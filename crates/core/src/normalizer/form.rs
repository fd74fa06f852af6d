//! NFC, NFD, NFKC and NFKD. The tables are those that Hugging Face tokenizers uses. Their Unicode
//! version is older than that of the patterns, so another crate would give different ids.

use std::sync::LazyLock;

use unicode_normalization_alignments::char::canonical_combining_class;
use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use crate::aligned::{AlignedText, Rewriter};

/// A Unicode normalization form.
///
/// A character is a boundary if it stays unchanged regardless of the text before it: its combining
/// class is zero, and the quick check of the form answers yes. If two boundaries are adjacent,
/// nothing changes between them. Therefore only a boundary and the other characters up to the next
/// boundary are checked more closely, and only such a part is normalized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

/// This character and all later ones are boundaries, in every form.
const ALL_BOUNDARIES: u32 = 0x3_0000;

/// One bit for each character below `ALL_BOUNDARIES`, by form.
static BOUNDARIES: [LazyLock<Box<[u64]>>; 4] = [
    LazyLock::new(|| Form::Nfc.find_boundaries()),
    LazyLock::new(|| Form::Nfd.find_boundaries()),
    LazyLock::new(|| Form::Nfkc.find_boundaries()),
    LazyLock::new(|| Form::Nfkd.find_boundaries()),
];

impl Form {
    /// Maximum number of bytes of a text that may become one byte: a bold mathematical letter
    /// becomes a plain one.
    pub(crate) const MAX_BYTES_PER_BYTE: usize = 4;

    /// Builds the table of this form if necessary, so that no text has to wait for it.
    pub(crate) fn prepared(self) -> Self {
        self.boundaries();
        self
    }

    fn boundaries(self) -> &'static [u64] {
        &BOUNDARIES[self as usize]
    }

    fn find_boundaries(self) -> Box<[u64]> {
        let bits = |word: u32| (0..64).filter(|bit| self.finds_boundary(word * 64 + bit)).map(|bit| 1 << bit).sum();
        (0..ALL_BOUNDARIES / 64).map(bits).collect()
    }

    fn finds_boundary(self, character: u32) -> bool {
        // Surrogates do not occur in text.
        char::from_u32(character).is_none_or(|character| {
            canonical_combining_class(character) == 0 && self.quick_check(std::iter::once(character))
        })
    }

    fn quick_check(self, characters: impl Iterator<Item = char>) -> bool {
        let quick = match self {
            Self::Nfc => is_nfc_quick(characters),
            Self::Nfd => is_nfd_quick(characters),
            Self::Nfkc => is_nfkc_quick(characters),
            Self::Nfkd => is_nfkd_quick(characters),
        };
        quick == IsNormalized::Yes
    }

    pub(crate) fn leaves(self, text: &str) -> bool {
        self.next_change(text).is_none()
    }

    /// The first part of a text that may change: from a boundary, or the start, to the next
    /// boundary, or the end.
    fn next_change(self, text: &str) -> Option<std::ops::Range<usize>> {
        let boundaries = self.boundaries();
        let is_boundary = |character: char| {
            let word = boundaries.get(character as usize / 64);
            word.is_none_or(|word| word >> (character as u32 % 64) & 1 == 1)
        };
        let (mut at, mut last_boundary) = (0, 0);
        while let Some(character) = text[at..].chars().next() {
            if character.is_ascii() {
                at += ascii_len(&text.as_bytes()[at..]);
                last_boundary = at - 1;
            } else if is_boundary(character) {
                last_boundary = at;
                at += character.len_utf8();
            } else {
                let end = text[at..].find(is_boundary).map_or(text.len(), |len| at + len);
                if !self.quick_check(text[last_boundary..end].chars()) {
                    return Some(last_boundary..end);
                }
                at = end;
            }
        }
        None
    }

    /// Returns whether anything was rewritten.
    pub(crate) fn normalize(self, text: &mut AlignedText) -> bool {
        let Some(first) = self.next_change(text.as_str()) else { return false };
        text.transform(|rewriter| {
            let mut next = Some(first.clone());
            while let Some(change) = next {
                rewriter.keep_bytes(change.start);
                self.rewrite(rewriter, change.len());
                next = self.next_change(rewriter.rest());
            }
            rewriter.keep_bytes(rewriter.rest().len());
        });
        true
    }

    /// Normalizes the next `count` bytes.
    fn rewrite(self, rewriter: &mut Rewriter<'_>, count: usize) {
        let old = &rewriter.rest()[..count];
        let step = |(character, change)| rewriter.step(character, change);
        match self {
            Self::Nfc => old.nfc().for_each(step),
            Self::Nfd => old.nfd().for_each(step),
            Self::Nfkc => old.nfkc().for_each(step),
            Self::Nfkd => old.nfkd().for_each(step),
        }
    }
}

/// The number of ASCII bytes at the start.
fn ascii_len(bytes: &[u8]) -> usize {
    const ASCII_CHUNK: usize = 32;
    let together = bytes.chunks_exact(ASCII_CHUNK).take_while(|chunk| chunk.is_ascii()).count() * ASCII_CHUNK;
    together + bytes[together..].iter().take_while(|byte| byte.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(form: Form, text: &str) -> String {
        match form {
            Form::Nfc => text.nfc().map(|(c, _)| c).collect(),
            Form::Nfd => text.nfd().map(|(c, _)| c).collect(),
            Form::Nfkc => text.nfkc().map(|(c, _)| c).collect(),
            Form::Nfkd => text.nfkd().map(|(c, _)| c).collect(),
        }
    }

    const FORMS: [Form; 4] = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd];

    /// The oracle: the library normalizes the whole text.
    fn normalize_whole(form: Form, text: &mut AlignedText) {
        text.transform(|rewriter| form.rewrite(rewriter, rewriter.rest().len()));
    }

    /// Checks that normalizing by parts and as a whole give the same text with the same origins.
    fn assert_parts_make_the_whole(form: Form, text: &str) {
        let [mut parts, mut whole] = [(), ()].map(|()| {
            let mut aligned = AlignedText::default();
            aligned.start(text, 0, true);
            aligned
        });
        form.normalize(&mut parts);
        normalize_whole(form, &mut whole);
        assert_eq!(parts.as_str(), whole.as_str(), "{form:?}");
        assert!(parts.origins() == whole.origins(), "{form:?} of {text:?}: other origins");
    }

    #[test]
    fn parts_make_the_whole_for_every_character_in_every_neighbourhood() {
        let (mut text, mut checked) = (String::new(), 0);
        for c in '\0'..=char::from_u32(ALL_BOUNDARIES + 99).expect("a character") {
            for around in ["a\u{301}", "\u{1100}", "가", "\u{11A8}", "\u{323}é", "中"] {
                text.extend([c]);
                text.push_str(around);
                text.extend([c, c]);
                checked += 1;
            }
            if text.len() > 1 << 16 {
                FORMS.into_iter().for_each(|form| assert_parts_make_the_whole(form, &text));
                text.clear();
            }
        }
        assert!(checked > 6 * 190_000);
    }

    #[test]
    fn characters_beyond_the_table_are_boundaries() {
        for form in FORMS {
            assert!((ALL_BOUNDARIES..=u32::from(char::MAX)).all(|character| form.finds_boundary(character)));
        }
    }

    #[test]
    fn ascii_is_counted_to_its_end() {
        for len in 0..100 {
            assert_eq!(ascii_len("a".repeat(len).as_bytes()), len);
            assert_eq!(ascii_len(("a".repeat(len) + "é" + &"a".repeat(40)).as_bytes()), len);
        }
    }

    #[test]
    fn offsets_follow_the_reference() {
        let mut text = AlignedText::default();
        text.start("e\u{301}a", 0, true);
        Form::Nfc.normalize(&mut text);
        assert_eq!(text.as_str(), "éa");
        let spans: Vec<_> = text.origins().iter().map(|span| (span.start, span.end)).collect();
        // The composed character has the origin of its first part only.
        assert_eq!(spans, [(0, 1), (0, 1), (3, 4)]);
    }

    proptest! {
        #[test]
        fn the_quick_look_is_never_wrong(text in "[a-zé\u{300}-\u{310}각각中ﬁ²Å\u{1100}-\u{1175}\\PC]{0,12}") {
            for form in FORMS {
                let expected = plain(form, &text);
                if form.leaves(&text) {
                    prop_assert_eq!(&expected, &text);
                }
                let mut aligned = AlignedText::default();
                aligned.start(&text, 0, true);
                form.normalize(&mut aligned);
                prop_assert_eq!(aligned.as_str(), expected);
                prop_assert_eq!(aligned.origins().len(), aligned.as_str().len());
                assert_parts_make_the_whole(form, &text);
            }
        }
    }

    #[test]
    fn no_form_makes_less_than_a_quarter_of_a_text() {
        let bytes = |text: &str| text.len() as f64;
        // For each character of a decomposition, the maximum number of bytes of text that it can
        // come from. If one character becomes several, its bytes are divided among them.
        let mut sources: std::collections::HashMap<char, f64> = std::collections::HashMap::new();
        for c in '\0'..=char::MAX {
            let parts = plain(Form::Nfkd, &c.to_string());
            for part in parts.chars() {
                let share = c.len_utf8() as f64 * part.len_utf8() as f64 / bytes(&parts);
                let max = sources.entry(part).or_insert(0.0);
                *max = max.max(share);
            }
        }
        for c in '\0'..=char::MAX {
            let parts = plain(Form::Nfd, &c.to_string());
            let max: f64 = parts.chars().map(|part| sources.get(&part).copied().unwrap_or(4.0)).sum();
            let bound = Form::MAX_BYTES_PER_BYTE as f64;
            assert!(max <= bound * c.len_utf8() as f64 + 1e-9, "{c:?}: {max}");
        }
    }
}
