//! The characters that normalization may join with others: grapheme clusters of a character and
//! combining marks, and the parts of a text that need the normalizer.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::Metaspace;
use crate::normalizer::LONG_CLUSTER;
use crate::pretokenizer::CharClass;
use crate::segmenter::bits::decode_any;
use crate::segmenter::characters::{self, CharacterEntry, Role};

/// What becomes of a combining mark and the character before it.
pub(super) enum Cluster {
    /// Their cluster is long, so each is normalized by itself.
    Long,
    /// The combining marks up to byte `end` form a cluster with the character before them. Without
    /// a replacement, each is normalized by itself.
    Short { end: usize, replacement: Option<ClusterReplacement> },
    /// They need the normalizer.
    General,
}

/// What the charsmap writes for a cluster.
pub(super) struct ClusterReplacement {
    /// The number of bytes that were written for the first character of the cluster.
    pub(super) written_before: usize,
    /// What is written instead.
    pub(super) entry: CharacterEntry,
}

/// Zero width joiner.
const JOINER: char = '\u{200d}';

impl Metaspace {
    /// Whether the next character may form a grapheme cluster with a space before it.
    #[inline]
    pub(super) fn may_join_space(&self, rest: &[u8]) -> bool {
        self.charsmap.is_some()
            && rest.first().is_some_and(|&first| first >= 0x80)
            && matches!(characters::role(self.entry(decode_any(rest).0)), Role::General | Role::Mark)
    }

    /// The grapheme cluster with the combining mark of `len` bytes at byte `at`, which belongs to
    /// the word that starts at `word_at`, if any. Clusters of at least [`LONG_CLUSTER`] bytes are
    /// normalized by character, and so are clusters of one character.
    #[inline]
    pub(super) fn cluster_with_mark(
        &self,
        text: &str,
        at: usize,
        len: usize,
        word_at: Option<usize>,
        tracked: bool,
    ) -> Cluster {
        let Some(word_at) = word_at else { return Cluster::General };
        // Whether the previous character has at least three bytes. Then a cluster of both is long.
        // If they form no cluster, this mark may start one that is short only together with a
        // mark of two bytes after it, and that mark is general.
        let follows_long = at >= 3 && text.as_bytes()[at - 2..at].iter().all(|&byte| byte & 0xC0 == 0x80);
        if len >= 3 && follows_long {
            return Cluster::Long;
        }
        self.short_cluster(text, at, word_at, tracked)
    }

    /// The cluster of the character before `at` and of the combining marks from `at` on.
    #[inline(never)]
    fn short_cluster(&self, text: &str, at: usize, word_at: usize, tracked: bool) -> Cluster {
        let mut before = text[..at].char_indices().rev();
        let Some((start, base)) = before.next().filter(|&(start, _)| start >= word_at) else { return Cluster::General };
        let base_entry = self.entry(base as u32);
        let role_of = |character: char| characters::role(self.entry(character as u32));
        // Both characters stand alone, so a cluster starts at `start`.
        let starts_cluster = before.next().is_none_or(|(_, c)| matches!(role_of(c), Role::Word | Role::Space));
        if characters::role(base_entry) != Role::Word || !starts_cluster {
            return Cluster::General;
        }
        let mut end = at;
        for character in text[at..].chars() {
            match role_of(character) {
                Role::Mark => end += character.len_utf8(),
                // The character may continue the cluster: a pictograph after a joiner, a consonant
                // after a virama.
                _ if character >= '\u{80}' && text[..end].ends_with(JOINER) => return Cluster::General,
                Role::General => return Cluster::General,
                _ => break,
            }
        }
        let cluster = &text[start..end];
        if cluster.graphemes(true).count() != 1 {
            return Cluster::General;
        }
        let replacement = self.charsmap.as_ref().and_then(|charsmap| charsmap.replacement(cluster));
        match replacement.filter(|_| cluster.len() < LONG_CLUSTER) {
            None => Cluster::Short { end, replacement: None },
            // The spans of a replacement depend on the lengths of old and new text.
            Some(_) if tracked => Cluster::General,
            Some(written) => {
                let is_space = |c: char| c == ' ' || self.drops_spaces && CharClass::Space.contains(c);
                let is_odd = written.is_empty() || written.contains(self.meta_symbol) || written.chars().any(is_space);
                match characters::entry(Role::Word, written) {
                    entry if is_odd || characters::role(&entry) != Role::Word => Cluster::General,
                    entry => {
                        let written_before = characters::len(base_entry);
                        Cluster::Short { end, replacement: Some(ClusterReplacement { written_before, entry }) }
                    }
                }
            }
        }
    }

    /// The end of a part that starts at `start` and needs the normalizer because of the character
    /// at `found`: a space that forms a grapheme cluster by itself and follows something other than
    /// a space.
    pub(super) fn end_of_general(&self, text: &str, start: usize, found: usize, tracked: bool) -> usize {
        if tracked && start == 0 && self.starts_with_removed_cluster(text) {
            return text.len();
        }
        let bytes = text.as_bytes();
        let mut from = found + decode_any(&bytes[found..]).1;
        while let Some(len) = bytes[from..].iter().position(|&byte| byte == b' ') {
            let at = from + len;
            if self.separates_space(&text[start..at]) && !self.may_join_space(&bytes[at + 1..]) {
                return at;
            }
            from = at + 1;
        }
        text.len()
    }

    /// Whether a space after this text is a grapheme cluster of its own and follows something other
    /// than a space, after normalization.
    fn separates_space(&self, text: &str) -> bool {
        let Some(last) = text.chars().next_back() else { return false };
        let mut buffer = [0; 4];
        let own = &*last.encode_utf8(&mut buffer);
        if characters::role(self.entry(last as u32)) == Role::Word {
            return true;
        }
        if last == ' ' || [own, " "].concat().graphemes(true).count() == 1 {
            return false;
        }
        let replacement = |part: &str| self.charsmap.as_ref().and_then(|charsmap| charsmap.replacement(part));
        let cluster = text.graphemes(true).next_back().unwrap_or(own);
        // A removed character does not separate two spaces.
        let keeps_apart = |written: &str| !written.is_empty() && !written.ends_with(' ');
        [own, cluster].iter().all(|part| keeps_apart(replacement(part).unwrap_or(part)))
    }

    /// Whether the first grapheme cluster of a text is removed. The spans of all characters of the
    /// text are then shifted, as in the reference.
    fn starts_with_removed_cluster(&self, text: &str) -> bool {
        let Some(charsmap) = &self.charsmap else { return false };
        let mut buffer = [0; 4];
        let first = text.chars().next().map(|first| &*first.encode_utf8(&mut buffer));
        let cluster = text.graphemes(true).next();
        [first, cluster].into_iter().flatten().any(|part| charsmap.replacement(part) == Some(""))
    }
}

/// Whether a character never forms a grapheme cluster with another character for which this holds.
pub(super) fn stands_alone(character: char) -> bool {
    // A carriage return forms a cluster with a line feed after it.
    character != '\r' && breaks('a', character) && breaks(character, 'a') && breaks(character, character)
}

/// Whether two characters form no grapheme cluster.
pub(super) fn breaks(first: char, second: char) -> bool {
    let mut buffer = [0; 8];
    let end = first.encode_utf8(&mut buffer).len();
    let len = end + second.encode_utf8(&mut buffer[end..]).len();
    let text = std::str::from_utf8(&buffer[..len]).expect("two characters");
    GraphemeCursor::new(end, len, true).is_boundary(text, 0).expect("the text is complete")
}
