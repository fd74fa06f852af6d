//! NFC, NFD, NFKC and NFKD, from the tables that Hugging Face tokenizers use: they are older than the Unicode of the
//! patterns, so another crate would give other ids.

use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use crate::aligned::AlignedText;

/// A Unicode normalization form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Form {
    pub(crate) fn leaves(self, text: &str) -> bool {
        // Every form leaves ASCII alone; the composed ones all of Latin-1 too, but for compatibility characters.
        if text.is_ascii() {
            return true;
        }
        let quick = match self {
            Self::Nfc => is_nfc_quick(text.chars()),
            Self::Nfd => is_nfd_quick(text.chars()),
            Self::Nfkc => is_nfkc_quick(text.chars()),
            Self::Nfkd => is_nfkd_quick(text.chars()),
        };
        quick == IsNormalized::Yes
    }

    /// How many bytes of a text can become one byte at most: four, as when a bold mathematical letter becomes a plain one.
    pub(crate) fn most_bytes_per_byte(self) -> Option<usize> {
        Some(4)
    }

    pub(crate) fn normalize(self, text: &mut AlignedText) {
        if self.leaves(text.as_str()) {
            return;
        }
        text.transform(|rewriter| {
            let old = rewriter.rest();
            match self {
                Self::Nfc => old.nfc().for_each(|(character, change)| rewriter.step(character, change)),
                Self::Nfd => old.nfd().for_each(|(character, change)| rewriter.step(character, change)),
                Self::Nfkc => old.nfkc().for_each(|(character, change)| rewriter.step(character, change)),
                Self::Nfkd => old.nfkd().for_each(|(character, change)| rewriter.step(character, change)),
            }
        });
    }
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

    #[test]
    fn offsets_follow_the_reference() {
        let mut text = AlignedText::default();
        text.start("e\u{301}a", 0, true);
        Form::Nfc.normalize(&mut text);
        assert_eq!(text.as_str(), "éa");
        let spans: Vec<_> = text.origins().iter().map(|span| (span.start, span.end)).collect();
        // The composed character has the span of its first part alone.
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
            }
        }
    }

    #[test]
    fn no_form_makes_less_than_a_quarter_of_a_text() {
        let bytes = |text: &str| text.len() as f64;
        // The most bytes of a text that a decomposed character can come from. Where one character becomes several,
        // each of them has its share.
        let mut sources: std::collections::HashMap<char, f64> = std::collections::HashMap::new();
        for c in '\0'..=char::MAX {
            let parts = plain(Form::Nfkd, &c.to_string());
            for part in parts.chars() {
                let share = c.len_utf8() as f64 * part.len_utf8() as f64 / bytes(&parts);
                let most = sources.entry(part).or_insert(0.0);
                *most = most.max(share);
            }
        }
        for c in '\0'..=char::MAX {
            let parts = plain(Form::Nfd, &c.to_string());
            let most: f64 = parts.chars().map(|part| sources.get(&part).copied().unwrap_or(4.0)).sum();
            let bound = Form::Nfkc.most_bytes_per_byte().expect("there is a bound") as f64;
            assert!(most <= bound * c.len_utf8() as f64 + 1e-9, "{c:?}: {most}");
        }
    }
}
