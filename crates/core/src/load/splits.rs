//! The two tokens from which each token of a bundled encoding is merged.
//!
//! A rank file does not contain them, and trying all splits of each token would take two fifths of
//! the loading time. Therefore they are computed when the encodings are downloaded
//! (`tools/data/make-encodings.mjs`): the bytes of each token are merged alone until two tokens are
//! left. Only these two ever become the token: no merge crosses the bounds of a token before it is
//! complete, so inside of them the merges are those of the bytes alone.
//!
//! A file of splits starts with the [`checksum`] of its rank file. Four bits for each token follow,
//! in the order of the rank file, with the first token in the low bits of a byte: the number of
//! bytes of the right part, or [`NOT_MERGED`], or [`LONG_RIGHT_PART`].

use std::ops::Range;

/// No merge creates the token.
const NOT_MERGED: u8 = 0;
/// The right part is too long for four bits: every split must be tried.
const LONG_RIGHT_PART: u8 = 15;

/// The files of the bundled encodings, 200 kB together. On the web the packed rank files have the
/// two tokens instead.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
const BUNDLED_SPLITS: [&[u8]; 0] = [];
/// The files of the bundled encodings, 200 kB together.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
const BUNDLED_SPLITS: [&[u8]; 4] = [
    include_bytes!("../../encodings/r50k_base.splits"),
    include_bytes!("../../encodings/p50k_base.splits"),
    include_bytes!("../../encodings/cl100k_base.splits"),
    include_bytes!("../../encodings/o200k_base.splits"),
];

/// The splits of the tokens of a rank file; `None` if the file is not bundled.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenSplits(Option<&'static [u8]>);

impl TokenSplits {
    /// Without known splits.
    pub(super) const UNKNOWN: Self = Self(None);

    /// The splits for the bytes of a rank file, regardless of its name.
    pub(super) fn of(ranks: &[u8]) -> Self {
        let checksum = checksum(ranks).to_le_bytes();
        Self(BUNDLED_SPLITS.into_iter().find_map(|file| file.strip_prefix(&checksum)))
    }

    /// The positions at which the token at index `index` of the file, which has `len` bytes, may
    /// have to be split.
    pub(super) fn cuts(self, index: usize, len: usize) -> Range<usize> {
        let all = 1..len;
        let Some(byte) = self.0.and_then(|nibbles| nibbles.get(index / 2)) else { return all };
        match byte >> (index % 2 * 4) & 15 {
            NOT_MERGED => 0..0,
            LONG_RIGHT_PART => all,
            // Neither part is empty, even if the file is a different one with the same checksum.
            right => len.checked_sub(usize::from(right)).filter(|&cut| cut > 0).map_or(0..0, |cut| cut..cut + 1),
        }
    }
}

/// A checksum of all bytes, eight at a time, with the last ones padded with zeros. It distinguishes
/// files that were not crafted to have the same checksum.
fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mix = |sum: u64, word: &[u8; 8]| {
        (sum ^ u64::from_le_bytes(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    };
    mix(words.iter().fold(bytes.len() as u64, mix), &last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{encodings, ranks};
    use crate::pipeline::Pipeline;
    use std::collections::HashMap;
    use std::fs;

    fn rank_file(name: &str) -> Vec<u8> {
        let file = encodings::file(name).expect("it is bundled");
        fs::read(format!("{}/../../encodings/{file}.tiktoken", env!("CARGO_MANIFEST_DIR"))).expect("it is there")
    }

    fn load(name: &str, file: &[u8]) -> Pipeline {
        ranks::load(file, &encodings::definition(name).expect("it is bundled")).expect("it is sound")
    }

    /// The last two tokens when the bytes of a token are merged: among all neighbours whose
    /// concatenation is a token, those of the lowest rank are merged first, and the leftmost among
    /// equals.
    fn last_two(token: &[u8], tokenizer: &Pipeline) -> Option<(u32, u32)> {
        let vocab = &tokenizer.parts.vocab;
        let mut ends: Vec<usize> = (0..=token.len()).collect();
        while ends.len() > 3 {
            let joined = |at: &usize| vocab.id(&token[ends[at - 1]..ends[at + 1]]);
            let at = (1..ends.len() - 1).filter(|at| joined(at).is_some()).min_by_key(joined)?;
            ends.remove(at);
        }
        let [start, middle, end] = ends[..] else { return None };
        Some((vocab.id(&token[start..middle])?, vocab.id(&token[middle..end])?))
    }

    #[test]
    fn bundled_encodings_have_of_each_token_the_two_that_it_is_made_of() {
        for name in ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"] {
            let tokenizer = load(name, &rank_file(name));
            let mut ways: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
            tokenizer
                .model
                .bpe()
                .expect("BPE")
                .merges
                .iter()
                .for_each(|(left, right, merge)| ways.entry(merge.id).or_default().push((left, right)));
            let mut several = 0;
            for (token, id) in tokenizer.parts.vocab.iter().filter(|(token, _)| token.len() > 1) {
                let halves = last_two(token, &tokenizer).expect("merges make every token");
                assert!(ways[&id].contains(&halves), "{name}: {id}");
                several += usize::from(ways[&id].len() > 1);
            }
            assert!(several < tokenizer.parts.vocab.len() / 100, "{name}: {several}");
        }
    }

    #[test]
    fn other_files_have_no_known_splits() {
        let mut file = rank_file("r50k_base");
        file[1000] ^= 1;
        assert!(TokenSplits::of(&file).0.is_none());
        file[1000] ^= 1;
        file.push(b'\n');
        assert!(TokenSplits::of(&file).0.is_none());
        // Without known splits there are more merges than tokens.
        let [known, unknown] = [&file[..file.len() - 1], &file]
            .map(|file| load("r50k_base", file).model.bpe().expect("BPE").merges.iter().count());
        assert!(known < unknown, "{known} {unknown}");
        assert_eq!(TokenSplits::of(b"").cuts(3, 5), 1..5);
        assert_ne!(checksum(b""), checksum(b"\0"));
    }

    #[test]
    fn four_bits_say_where_a_token_may_be_cut() {
        let splits = TokenSplits(Some(&[0x20, 0xF1]));
        let cuts: Vec<_> = (0..6).map(|index| splits.cuts(index, 6)).collect();
        assert_eq!(cuts, [0..0, 4..5, 5..6, 1..6, 1..6, 1..6]);
        assert_eq!([splits.cuts(1, 1), splits.cuts(1, 2)], [0..0, 0..0]);
    }
}
