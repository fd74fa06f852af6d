//! By which two tokens each token of a bundled encoding is made.
//!
//! A rank file does not say it, and to try all ways to cut each token was two fifths of loading. So it was found out when the encodings were
//! fetched (`scripts/make-encodings.mjs`): each token's bytes were merged alone, until two tokens were left. Only those two ever become it: no
//! merge goes over a token's bounds before it is made, so within them all goes as it goes alone.
//!
//! A file of splits begins with the [`checksum`] of the rank file that it is of. Then come four bits for each token in that file's order, the lower
//! ones of a byte first: how many bytes the right one of the two has, or [`NONE`], or [`MANY`].

use std::ops::Range;

/// No merge makes the token.
const NONE: u8 = 0;
/// More bytes than four bits can say: every split has to be tried.
const MANY: u8 = 15;

/// Those of the bundled encodings. 200 kB in all.
const BUNDLED: [&[u8]; 4] = [
    include_bytes!("../../encodings/r50k_base.splits"),
    include_bytes!("../../encodings/p50k_base.splits"),
    include_bytes!("../../encodings/cl100k_base.splits"),
    include_bytes!("../../encodings/o200k_base.splits"),
];

/// What is known of the tokens of a rank file; of one that is not bundled nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Splits(Option<&'static [u8]>);

impl Splits {
    /// Those of no file.
    pub(super) const UNKNOWN: Self = Self(None);

    /// By the bytes of a rank file, whatever its name.
    pub(super) fn of(ranks: &[u8]) -> Self {
        let checksum = checksum(ranks).to_le_bytes();
        Self(BUNDLED.into_iter().find_map(|file| file.strip_prefix(&checksum)))
    }

    /// Where the token at a place in the file, of `len` bytes, may have to be cut into those two.
    pub(super) fn cuts(self, place: usize, len: usize) -> Range<usize> {
        let all = 1..len;
        let Some(byte) = self.0.and_then(|nibbles| nibbles.get(place / 2)) else { return all };
        match byte >> (place % 2 * 4) & 15 {
            NONE => 0..0,
            MANY => all,
            // Neither part is empty, whatever a file has that only looks like the one that was told of.
            right => len.checked_sub(usize::from(right)).filter(|&cut| cut > 0).map_or(0..0, |cut| cut..cut + 1),
        }
    }
}

/// Of all bytes, eight at a time, the last ones filled up with zeros: tells files apart that nobody made to be alike.
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
    use crate::tokenizer::Tokenizer;
    use std::collections::HashMap;
    use std::fs;

    fn rank_file(name: &str) -> Vec<u8> {
        let file = encodings::file(name).expect("it is bundled");
        fs::read(format!("{}/../encodings/{file}", env!("CARGO_MANIFEST_DIR"))).expect("it is there")
    }

    fn load(name: &str, file: &[u8]) -> Tokenizer {
        ranks::load(file, &encodings::definition(name).expect("it is bundled")).expect("it is sound")
    }

    /// The two tokens that the bytes of one come to before they become it: of all neighbours that are a token together those of the lowest rank
    /// are joined first, of equal ones the leftmost.
    fn last_two(token: &[u8], tokenizer: &Tokenizer) -> Option<(u32, u32)> {
        let vocab = &tokenizer.vocab;
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
            for (token, id) in tokenizer.vocab.iter().filter(|(token, _)| token.len() > 1) {
                let made = last_two(token, &tokenizer).expect("merges make every token");
                assert!(ways[&id].contains(&made), "{name}: {id}");
                several += usize::from(ways[&id].len() > 1);
            }
            assert!(several < tokenizer.vocab.len() / 100, "{name}: {several}");
        }
    }

    #[test]
    fn of_other_files_nothing_is_known() {
        let mut file = rank_file("r50k_base");
        file[1000] ^= 1;
        assert!(Splits::of(&file).0.is_none());
        file[1000] ^= 1;
        file.push(b'\n');
        assert!(Splits::of(&file).0.is_none());
        // Then there are more ways to make a token than tokens.
        let [known, unknown] = [&file[..file.len() - 1], &file]
            .map(|file| load("r50k_base", file).model.bpe().expect("BPE").merges.iter().count());
        assert!(known < unknown, "{known} {unknown}");
        assert_eq!(Splits::of(b"").cuts(3, 5), 1..5);
        assert_ne!(checksum(b""), checksum(b"\0"));
    }

    #[test]
    fn four_bits_say_where_a_token_may_be_cut() {
        let splits = Splits(Some(&[0x20, 0xF1]));
        let cuts: Vec<_> = (0..6).map(|place| splits.cuts(place, 6)).collect();
        assert_eq!(cuts, [0..0, 4..5, 5..6, 1..6, 1..6, 1..6]);
        assert_eq!([splits.cuts(1, 1), splits.cuts(1, 2)], [0..0, 0..0]);
    }
}
