//! Precompiled: the normalization rules in the file of a SentencePiece model.
//!
//! A charsmap consists of the length of a trie in bytes, the trie (32-bit little-endian words, a
//! double array in the layout of the Darts library), and a text with all replacements, each
//! terminated by NUL. The trie maps the UTF-8 of a key to the offset of its replacement in that
//! text. SentencePiece itself searches for the longest key at each position. Hugging Face
//! tokenizers looks up grapheme clusters instead, and so does this module.

use unicode_segmentation::UnicodeSegmentation;

use crate::aligned::AlignedText;
use crate::budget::{Budget, OutputLimit};
use crate::memory::Grow;
use crate::memory::fallible::push;

/// A parsed and validated charsmap.
#[derive(Debug)]
pub(crate) struct Precompiled {
    trie: Vec<u32>,
    replacements: String,
    /// By ASCII code: whether the character never changes in a text that is only ASCII.
    unchanged: [bool; 128],
}

/// Grapheme clusters of at least this many bytes are looked up character by character only.
pub(crate) const LONG_CLUSTER: usize = 6;

impl Precompiled {
    /// Parses a charsmap. The error is a description of the problem.
    pub(crate) fn new(charsmap: &[u8]) -> Result<Self, String> {
        let (size, rest) = charsmap.split_first_chunk::<4>().ok_or("it ends within its first four bytes")?;
        let size = u32::from_le_bytes(*size) as usize;
        let words = size / 4;
        let trie = rest.get(..words * 4).ok_or_else(|| {
            format!("it is truncated: its trie should have {size} bytes, but only {} follow", rest.len())
        })?;
        if words == 0 {
            return Err("its trie is empty".into());
        }
        let replacements = std::str::from_utf8(&rest[words * 4..])
            .map_err(|error| format!("its replacements are not valid UTF-8 from byte {} on", error.valid_up_to()))?;
        if !(replacements.is_empty() || replacements.ends_with('\0')) {
            return Err("it is truncated: its last replacement has no end".into());
        }
        let (words, _) = trie.as_chunks::<4>();
        let mut charsmap = Self {
            trie: words.iter().map(|word| u32::from_le_bytes(*word)).collect(),
            replacements: replacements.to_owned(),
            unchanged: [false; 128],
        };
        charsmap.unchanged = std::array::from_fn(|code| {
            let character = [code as u8];
            // A carriage return and a following line feed are one cluster.
            code != 0x0D && charsmap.replacement_at(&character).is_none()
        });
        Ok(charsmap)
    }

    /// Whether `text` is known to stay unchanged: it is ASCII, and none of its characters is a key.
    pub(crate) fn leaves(&self, text: &str) -> bool {
        text.bytes().all(|byte| self.unchanged.get(usize::from(byte)).is_some_and(|&stays| stays))
    }

    /// Replaces each grapheme cluster that starts with a key, and in other clusters each character
    /// that is one. The output is charged to `budget` before it is written.
    pub(crate) fn normalize(&self, text: &mut AlignedText, budget: &Budget) -> Result<(), OutputLimit> {
        if self.leaves(text.as_str()) {
            return Ok(());
        }
        // Each step writes at least one byte.
        let check = |steps: usize, more: &str| budget.check(steps.saturating_add(more.len() / 4), super::COMPONENT);
        let mut steps: Vec<(char, isize)> = Vec::new();
        let mut changed = false;
        for cluster in text.as_str().graphemes(true) {
            if cluster.len() < LONG_CLUSTER
                && let Some(replacement) = self.replacement(cluster)
            {
                check(steps.len(), replacement)?;
                push_steps(&mut steps, cluster, replacement);
                changed = true;
                continue;
            }
            for character in cluster.chars() {
                let mut buffer = [0; 4];
                let part: &str = character.encode_utf8(&mut buffer);
                match self.replacement(part) {
                    Some(replacement) => {
                        check(steps.len(), replacement)?;
                        push_steps(&mut steps, part, replacement);
                        changed = true;
                    }
                    None => push(&mut steps, (character, 0)),
                }
            }
        }
        if changed {
            text.transform(|rewriter| steps.iter().for_each(|&(character, change)| rewriter.step(character, change)));
        }
        Ok(())
    }

    /// The replacement of `part`: that of the shortest key that is a prefix of `part`.
    pub(crate) fn replacement(&self, part: &str) -> Option<&str> {
        let text = self.replacements.get(self.replacement_at(part.as_bytes())?..)?;
        Some(text.split('\0').next().unwrap_or(text))
    }

    /// The replacement and the length in bytes of the longest key at the start of `text`.
    /// SentencePiece itself looks up rules in this way. Adds the number of bytes that were read to
    /// `steps`: keys may be long, and a damaged trie may have cycles.
    pub(crate) fn longest(&self, text: &str, steps: &mut usize) -> Option<(&str, usize)> {
        let mut position = offset(*self.trie.first()?);
        let mut found = None;
        for (at, &byte) in text.as_bytes().iter().enumerate().take_while(|(_, byte)| **byte != 0) {
            *steps += 1;
            position ^= usize::from(byte);
            let Some(&unit) = self.trie.get(position) else { break };
            if unit & 0x8000_00FF != u32::from(byte) {
                break;
            }
            position ^= offset(unit);
            if unit & 1 << 8 != 0 && text.is_char_boundary(at + 1) {
                let value = self.trie.get(position).map(|value| (value & 0x7FFF_FFFF) as usize);
                found = value.map(|value| (value, at + 1)).or(found);
            }
        }
        let (value, length) = found?;
        let text = self.replacements.get(value..)?;
        Some((text.split('\0').next().unwrap_or(text), length))
    }

    /// Whether this ASCII character stays unchanged where another ASCII character or the end of the
    /// text follows it.
    pub(crate) fn leaves_before_ascii(&self, byte: u8) -> bool {
        self.has_no_key(&[byte]) && (0..128).all(|next| self.has_no_key(&[byte, next]))
    }

    /// For one byte: whether it is not a key. For two bytes: whether no key starts with both.
    fn has_no_key(&self, bytes: &[u8]) -> bool {
        let mut position = self.trie.first().map_or(0, |&root| offset(root));
        for (at, &byte) in bytes.iter().enumerate() {
            position ^= usize::from(byte);
            match self.trie.get(position) {
                Some(&unit) if byte != 0 && unit & 0x8000_00FF == u32::from(byte) => {
                    if unit & 1 << 8 != 0 || at > 0 {
                        return false;
                    }
                    position ^= offset(unit);
                }
                _ => return true,
            }
        }
        true
    }

    /// The offset in `replacements` for the shortest key that is a prefix of `key`.
    fn replacement_at(&self, key: &[u8]) -> Option<usize> {
        let mut position = offset(*self.trie.first()?);
        for &byte in key.iter().take_while(|&&byte| byte != 0) {
            position ^= usize::from(byte);
            let unit = *self.trie.get(position)?;
            // The comparison includes the highest bit, which marks values, so that a value is never
            // mistaken for a node.
            if unit & 0x8000_00FF != u32::from(byte) {
                return None;
            }
            position ^= offset(unit);
            if unit & 1 << 8 != 0 {
                return Some((self.trie.get(position)? & 0x7FFF_FFFF) as usize);
            }
        }
        None
    }
}

/// The XOR distance between a node and its children.
fn offset(unit: u32) -> usize {
    ((unit >> 10) as usize) << ((unit & 1 << 9) >> 6)
}

/// Appends the steps of a replacement, for `Rewriter::step`. If it is longer than the old text, its
/// last characters are insertions; if it is shorter, its last character also removes the rest of
/// the old text. An empty replacement adds this removal to the previous step, even one of other
/// text, and is ignored if there is none: then later origins are shifted, as in the reference.
fn push_steps(steps: &mut Vec<(char, isize)>, old: &str, replacement: &str) {
    let (before, after) = (old.chars().count(), replacement.chars().count());
    steps.grow(after);
    steps.extend(replacement.chars().enumerate().map(|(position, c)| (c, isize::from(position >= before))));
    if after < before
        && let Some((_, change)) = steps.last_mut()
    {
        *change -= (before - after) as isize;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Builds a charsmap for tests: a double array by first fit, from keys and their replacements.
    pub(crate) fn charsmap(rules: &[(&str, &str)]) -> Vec<u8> {
        let mut text = String::new();
        let mut keys: Vec<(Vec<u8>, u32)> = vec![];
        for (key, replacement) in rules {
            keys.push((key.as_bytes().to_vec(), text.len() as u32));
            text.push_str(replacement);
            text.push('\0');
        }
        keys.sort();
        let (mut units, mut taken) = (vec![0u32; 1 << 16], vec![false; 1 << 16]);
        taken[0] = true;
        insert_keys(&keys, 0, 0, &mut units, &mut taken);
        let mut bytes = ((units.len() * 4) as u32).to_le_bytes().to_vec();
        units.iter().for_each(|unit| bytes.extend(unit.to_le_bytes()));
        bytes.extend(text.as_bytes());
        bytes
    }

    fn insert_keys(keys: &[(Vec<u8>, u32)], depth: usize, node: usize, units: &mut [u32], taken: &mut [bool]) {
        let mut labels: Vec<u8> = keys.iter().map(|(key, _)| key.get(depth).copied().unwrap_or(0)).collect();
        labels.dedup();
        // Offsets have 21 bits, so free places are searched from the start of the array.
        let base = (1..units.len() - 256)
            .find(|&base| labels.iter().all(|&label| !taken[base ^ usize::from(label)]) && !taken[base])
            .expect("the array is large enough");
        labels.iter().for_each(|&label| taken[base ^ usize::from(label)] = true);
        units[node] |= ((node ^ base) as u32) << 10;
        for &label in &labels {
            let child = base ^ usize::from(label);
            let of_label = |(key, _): &&(Vec<u8>, u32)| key.get(depth).copied().unwrap_or(0) == label;
            let below: Vec<_> = keys.iter().filter(of_label).cloned().collect();
            if label == 0 {
                units[node] |= 1 << 8;
                units[child] = below[0].1 | 1 << 31;
            } else {
                units[child] = u32::from(label);
                insert_keys(&below, depth + 1, child, units, taken);
            }
        }
    }

    fn normalized(rules: &[(&str, &str)], text: &str) -> Vec<(char, u32, u32)> {
        let precompiled = Precompiled::new(&charsmap(rules)).expect("it is whole");
        let mut aligned = AlignedText::default();
        aligned.start(text, 0, true);
        precompiled.normalize(&mut aligned, &Budget::of_text(text.len())).expect("it is short");
        let at = |(at, c): (usize, char)| (c, aligned.origins()[at].start, aligned.origins()[at].end);
        aligned.as_str().char_indices().map(at).collect()
    }

    #[test]
    fn clusters_then_characters() {
        let rules = [("ﬁ", "fi"), ("e\u{301}", "é"), ("\u{200b}", ""), ("\r\n", " ")];
        assert_eq!(normalized(&rules, "aﬁ"), [('a', 0, 1), ('f', 1, 4), ('i', 1, 4)]);
        assert_eq!(normalized(&rules, "e\u{301}b"), [('é', 0, 1), ('b', 3, 4)]);
        assert_eq!(normalized(&rules, "a\u{200b}b\r\n"), [('a', 0, 1), ('b', 4, 5), (' ', 5, 6)]);
        // A cluster is replaced as a whole if a key is a prefix of it.
        assert_eq!(normalized(&[("e", "x")], "e\u{302}b"), [('x', 0, 1), ('b', 3, 4)]);
        // The empty replacement at the start is ignored, so the other characters have the origins
        // of their predecessors.
        assert_eq!(normalized(&rules, "\u{200b}ab"), [('a', 0, 3), ('b', 3, 4)]);
    }

    #[test]
    fn a_long_replacement_is_charged_before_it_is_made() {
        let long = "x".repeat(1 << 20);
        let precompiled = Precompiled::new(&charsmap(&[("a", &long), ("b", &long[..1000])])).expect("it is whole");
        let mut budget = Budget::of_text(3);
        for (source, is_too_long) in [("a", true), ("bbb", false), ("bab", true)] {
            let mut text = AlignedText::default();
            text.start(source, 0, true);
            text.set_max_bytes(budget.remaining());
            let result = precompiled.normalize(&mut text, &budget);
            assert_eq!(result.is_err(), is_too_long, "{source}");
            assert_eq!(text.as_str().len(), if is_too_long { source.len() } else { 3000 });
        }
        // Several replacements that only together exceed the budget.
        budget.charge(budget.remaining() - 2500, "test").expect("there is memory");
        let mut text = AlignedText::default();
        text.start("bbb", 0, true);
        text.set_max_bytes(budget.remaining());
        let result = precompiled.normalize(&mut text, &budget).and_then(|()| text.check(&budget, "test"));
        assert!(result.is_err());
        assert!(text.as_str().len() <= 2500);
    }

    #[test]
    fn the_quick_look_is_never_wrong() {
        let precompiled = Precompiled::new(&charsmap(&[("a", "b"), ("\r\n", " "), ("\t", " "), ("cd", "x")]));
        let precompiled = precompiled.expect("it is whole");
        let ascii = || (0..128u8).map(char::from);
        for text in ascii().flat_map(|first| ascii().map(move |second| String::from_iter([first, second]))) {
            let mut aligned = AlignedText::default();
            aligned.start(&text, 0, false);
            precompiled.normalize(&mut aligned, &Budget::of_text(text.len())).expect("it is short");
            assert!(!precompiled.leaves(&text) || aligned.as_str() == text, "{text:?}");
            assert_eq!(precompiled.leaves(&text), !text.contains(['a', '\r', '\t']), "{text:?}");
        }
    }

    #[test]
    fn a_charsmap_cut_anywhere_is_an_error_or_harmless() {
        let whole = charsmap(&[("ﬁ", "fi"), ("x", "yé")]);
        for end in (0..whole.len()).filter(|end| end % 509 == 0 || *end < 8 || whole.len() - end < 12) {
            match Precompiled::new(&whole[..end]) {
                Err(words) => assert!(!words.is_empty()),
                // A charsmap that is cut off exactly between two replacements cannot be recognized
                // as truncated.
                Ok(cut) => {
                    let mut text = AlignedText::default();
                    text.start("ﬁx", 0, true);
                    cut.normalize(&mut text, &Budget::default()).expect("it is short");
                    assert!(cut.replacements.is_empty() || cut.replacements.ends_with('\0'));
                }
            }
        }
        // In a trie of arbitrary words, a search ends at a unit of another byte or outside of the
        // array, without a replacement.
        let mut wild = 64u32.to_le_bytes().to_vec();
        (0..16u32).for_each(|word| wild.extend(word.wrapping_mul(0x9E37_79B9).to_le_bytes()));
        wild.extend(b"ab\0");
        let wild = Precompiled::new(&wild).expect("its parts are there");
        let changed = ('\0'..=char::MAX).filter(|c| wild.replacement(c.encode_utf8(&mut [0; 4])).is_some());
        assert_eq!(changed.count(), 0);
    }
}
