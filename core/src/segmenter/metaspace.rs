//! A charsmap and Metaspace, as in models made by SentencePiece: each space becomes the meta symbol
//! (`▁`), which starts a word. In the buffer of words a space stands for it, because that takes one
//! byte instead of three; see [`crate::model::unigram`].

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::FillEnd;
use super::bits::{below, decode_any};
use super::characters::{self, CharacterEntry, CharacterTable, LongMarks, Role};
use super::wide::{self, MAX_COVERED, WideBlock, WideMasks, after_long};
use super::words::SegmentedWords;
use crate::normalizer::{LONG_CLUSTER, Normalizer, Precompiled};
use crate::pretokenizer::{Letter, PreTokenizer, Prepend, Stage};
use crate::simd::{self, BLOCK, PaddedBlock, Simd};
use std::sync::Arc;

/// Replaces a charsmap, a replacement that joins spaces, WhitespaceSplit and Metaspace.
#[derive(Debug)]
pub(crate) struct Metaspace {
    charsmap: Option<Arc<Precompiled>>,
    meta_symbol: char,
    /// Whether WhitespaceSplit comes before Metaspace: white space is dropped, and a meta symbol is
    /// inserted before each word. Otherwise each space becomes the meta symbol of the next word.
    drops_spaces: bool,
    /// Which texts get a meta symbol before their first word, unless white space is dropped.
    prepend: Prepend,
    /// Whether consecutive spaces become one.
    joins_spaces: bool,
    characters: CharacterTable,
    /// Whether capital letters become lower case.
    lowercases: bool,
    /// Whether a line feed becomes a space.
    breaks_are_spaces: bool,
}

/// The byte that stands for the meta symbol in the buffer of words.
const BUFFERED_META_SYMBOL: u8 = b' ';

impl Metaspace {
    pub(super) fn of(normalizer: Option<&Normalizer>, pretokenizer: &PreTokenizer) -> Option<Self> {
        let (charsmap, joined) = match normalizer {
            None => (None, None),
            Some(Normalizer::Precompiled(charsmap)) => (Some(charsmap), None),
            Some(Normalizer::Sequence(steps)) => match &steps[..] {
                [Normalizer::Precompiled(charsmap)] => (Some(charsmap), None),
                [Normalizer::Precompiled(charsmap), Normalizer::Replace(replace)] => {
                    (Some(charsmap), Some(replace.joined_spaces()?))
                }
                _ => return None,
            },
            Some(_) => return None,
        };
        let (drops_spaces, stages) = match &pretokenizer.stages[..] {
            [Stage::Cut(cut), rest @ ..] if cut.removes_white_space() => (true, rest),
            stages => (false, stages),
        };
        let [Stage::Spaces { replacement, prepend }, Stage::Cut(cut)] = stages else { return None };
        // Files converted from XLM-R replace runs of spaces by the meta symbol instead of by one
        // space. Metaspace turns that space into the meta symbol, so the result is the same, unless
        // words are split at spaces first.
        let joins_spaces = match joined {
            None => false,
            Some(" ") => true,
            Some(content) if !drops_spaces && content.chars().eq([*replacement]) => true,
            Some(_) => return None,
        };
        let is_always = *prepend == Prepend::Always;
        if !cut.starts_words_at(*replacement) || *replacement == ' ' || drops_spaces && !is_always {
            return None;
        }
        let made = Self {
            charsmap: charsmap.map(Arc::clone),
            meta_symbol: *replacement,
            drops_spaces,
            prepend: *prepend,
            joins_spaces,
            characters: CharacterTable::new(LongMarks::Join),
            lowercases: false,
            breaks_are_spaces: false,
        };
        let is = |byte: u8, role: Role, written: u8| {
            *made.entry(u32::from(byte)) == characters::entry(role, char::from(written).encode_utf8(&mut [0; 4]))
        };
        let lowercases = !is(b'A', Role::Word, b'A');
        let lower = |byte: u8| if lowercases { byte.to_ascii_lowercase() } else { byte };
        let as_expected = (0..128u8).all(|byte| match byte {
            b' ' => is(byte, Role::Space, BUFFERED_META_SYMBOL),
            _ if byte.is_ascii_graphic() => is(byte, Role::Word, lower(byte)),
            _ => true,
        });
        let breaks_are_spaces = is(b'\n', Role::Space, BUFFERED_META_SYMBOL);
        as_expected.then_some(Self { lowercases, breaks_are_spaces, ..made })
    }

    /// The character that a space in the buffer stands for.
    pub(super) fn meta_symbol(&self) -> char {
        self.meta_symbol
    }

    #[inline(always)]
    fn entry(&self, code: u32) -> &CharacterEntry {
        self.characters.get(code, |character| self.entry_of(character))
    }

    fn entry_of(&self, character: char) -> CharacterEntry {
        let general = characters::entry(Role::General, "");
        let mut buffer = [0; 4];
        let own: &str = character.encode_utf8(&mut buffer);
        let role = match self.charsmap {
            None => Role::Word,
            Some(_) if stands_alone(character) => Role::Word,
            Some(_) if character != '\r' && breaks(character, 'a') => Role::Mark,
            Some(_) => return general,
        };
        let written = self.charsmap.as_ref().and_then(|charsmap| charsmap.replacement(own)).unwrap_or(own);
        let is_space = |c: char| c == ' ' || self.drops_spaces && Letter::Space.contains(c);
        match written {
            // The span of a removed character goes to a neighbour.
            "" => general,
            " " if role == Role::Word => characters::entry(Role::Space, " "),
            _ if role == Role::Word && self.drops_spaces && written.chars().all(is_space) => {
                characters::entry(Role::Space, " ")
            }
            _ if written.contains(self.meta_symbol) || written.chars().any(is_space) => general,
            _ => characters::entry(role, written),
        }
    }

    #[inline]
    pub(super) fn fill(
        &self,
        text: &str,
        base: usize,
        at: usize,
        tracked: bool,
        words: &mut SegmentedWords,
    ) -> FillEnd {
        simd::dispatch(
            #[inline(always)]
            || self.fill_with(Simd::best(), text, base, at, tracked, words),
        )
    }

    /// [`Self::fill`] at a given SIMD level. `text` starts at byte `base` of the original.
    #[inline(always)]
    pub(super) fn fill_with(
        &self,
        simd: Simd,
        text: &str,
        base: usize,
        mut at: usize,
        tracked: bool,
        words: &mut SegmentedWords,
    ) -> FillEnd {
        words.clear(tracked);
        words.set_inserts_meta_symbols(self.drops_spaces);
        let bytes = text.as_bytes();
        let mut word_at = at;
        // Whether the last word may continue, and whether it is only a meta symbol.
        let (mut is_open, mut is_space) = (false, false);
        let mut general = None;
        let mut wide_block = WideBlock::new();
        while at < bytes.len() && words.has_room() {
            words.reserve();
            if !is_open && characters::role(self.entry(decode_any(&bytes[at..]).0)) == Role::Word {
                // No space precedes this word: it starts the text, or white space is dropped.
                self.start_word(base, at, words);
                (is_open, is_space, word_at) = (true, false, at);
            }
            let rest = &bytes[at..];
            let mut padding = [0; size_of::<PaddedBlock>()];
            let padded = wide::padded_block(rest, &mut padding);
            let block: &[u8; BLOCK] = padded.first_chunk().expect("a padded block starts with a block");
            let masks = simd.masks(block);
            let mut spaces = masks.blanks;
            if self.breaks_are_spaces {
                // Bit 2 is set in the carriage return and not in the line feed.
                spaces |= masks.line_breaks & !simd.any_bit(block, 4);
            }
            let odd = !(masks.visible | masks.high | spaces);
            let before = spaces << 1 | u64::from(is_space);
            let repeated = if self.joins_spaces && !self.drops_spaces { spaces & before } else { 0 };
            let mut sure = below(odd);
            let mut is_stopped = odd != 0;
            let mut of_wide = WideMasks::default();
            if masks.high & sure != 0 {
                let entry = |code| self.characters.wide(code, |character| self.entry_of(character));
                let (covered, is_other) = wide_block.read(simd, padded, &masks, sure, entry);
                is_stopped = is_other || is_stopped && covered == sure;
                of_wide = wide_block.masks(simd, masks.high & covered);
                let can_join = is_open && !is_space;
                let stray = of_wide.long_marks & !after_long(of_wide.inner, &bytes[..at], can_join);
                sure = covered & below(stray);
                is_stopped |= stray != 0;
            }
            // A space before a character that the masks do not cover may form a grapheme cluster
            // with it.
            let last = (sure >> 1) + 1;
            let goes_on = sure != u64::MAX || rest.get(BLOCK).is_some_and(|&next| next >= 0x80);
            if goes_on && spaces & last & sure != 0 {
                sure &= !last;
            }
            if sure != 0 {
                let spaces = spaces & sure;
                let visible = (masks.visible | of_wide.kept) & sure;
                let len = sure.count_ones();
                let (kept, starts, origins) = if self.drops_spaces {
                    // The space directly before a word becomes its meta symbol.
                    let starts = spaces & visible >> 1;
                    (visible | starts, starts, starts)
                } else {
                    // The first of repeated spaces stays, with the origin of the last.
                    let repeated = repeated & sure;
                    let starts = spaces & !repeated;
                    let mut origins = spaces & !(repeated >> 1);
                    if tracked && repeated & 1 != 0 {
                        // The repeated spaces started before this block.
                        words.move_start(at + origins.trailing_zeros() as usize);
                        word_at = at + origins.trailing_zeros() as usize;
                        origins &= origins - 1;
                    }
                    (visible | starts, starts, origins)
                };
                let mut written = *block;
                if self.breaks_are_spaces {
                    written
                        .iter_mut()
                        .for_each(|byte| *byte = if *byte == b'\n' { BUFFERED_META_SYMBOL } else { *byte });
                }
                if self.lowercases {
                    written.iter_mut().for_each(u8::make_ascii_lowercase);
                }
                if masks.high & sure != 0 {
                    wide_block.put_texts(&mut written);
                }
                words.push_block(simd, &written, at, kept, starts, origins);
                if starts != 0 {
                    word_at = at + 63 - origins.leading_zeros() as usize + usize::from(self.drops_spaces);
                }
                is_space = spaces >> (len - 1) & 1 != 0;
                is_open = !(is_space && self.drops_spaces);
                at += len as usize;
            }
            if !is_stopped {
                continue;
            }
            // Reads single characters until several in a row could have been read in a block.
            let mut covered = 0;
            while covered < MAX_COVERED && words.has_room() {
                words.reserve();
                let Some(&byte) = bytes.get(at) else { break };
                let (code, len) = decode_any(&bytes[at..]);
                let entry = self.entry(code);
                let mut role = characters::role(entry);
                covered = if role == Role::Mark || characters::len(entry) > len { 0 } else { covered + 1 };
                if role == Role::Mark {
                    let joins_word = is_open && !is_space;
                    role = match self.mark_at(text, at, len, joins_word.then_some(word_at), tracked) {
                        Cluster::Short(end, None) => {
                            while at < end {
                                let (code, len) = decode_any(&bytes[at..]);
                                let entry = self.entry(code);
                                words.reserve();
                                words.push(entry, characters::len(entry), at);
                                at += len;
                            }
                            continue;
                        }
                        Cluster::Short(end, Some((taken, written))) => {
                            words.take_back(taken);
                            words.push(&written, characters::len(&written), at);
                            at = end;
                            continue;
                        }
                        Cluster::Long => Role::Word,
                        Cluster::General => Role::General,
                    };
                }
                match role {
                    Role::Word => {
                        if !is_open {
                            self.start_word(base, at, words);
                            (is_open, word_at) = (true, at);
                        }
                        words.push(entry, characters::len(entry), at);
                        is_space = false;
                    }
                    Role::Space if self.joins_next(&bytes[at + len..]) => {
                        general = Some(at);
                        break;
                    }
                    Role::Space if self.drops_spaces => (is_open, is_space) = (false, true),
                    Role::Space if self.joins_spaces && is_space && is_open => {
                        if tracked {
                            words.move_start(at);
                            word_at = at;
                        }
                    }
                    Role::Space => {
                        words.start_word();
                        words.push(entry, 1, at);
                        (is_open, is_space, word_at) = (true, true, at);
                    }
                    _ => {
                        general = Some(at);
                        break;
                    }
                }
                at += len;
                if bytes.get(at).is_some_and(|&next| next.is_ascii() && (next != b' ' || byte < 0x80)) {
                    break;
                }
            }
            if general.is_some() {
                break;
            }
        }
        let stop = match general {
            Some(found) => {
                // Includes the preceding space: a removed character gives its span to what precedes
                // it.
                let start = if is_open { word_at } else { text[..found].char_indices().next_back().map_or(0, |c| c.0) };
                FillEnd::General(start..self.end_of_general(text, start, found, tracked))
            }
            None if at < bytes.len() && is_open => FillEnd::At(word_at),
            None => FillEnd::At(at),
        };
        if is_open && stop != FillEnd::At(bytes.len()) {
            words.drop_last();
        } else {
            words.end();
        }
        stop
    }

    /// Starts a word that no space precedes.
    #[inline]
    fn start_word(&self, base: usize, at: usize, words: &mut SegmentedWords) {
        words.start_word();
        if self.inserts_meta_symbol(base, at) {
            words.push(&[BUFFERED_META_SYMBOL; 16], 1, at);
        }
    }

    /// Whether the next character may form a grapheme cluster with a space before it.
    #[inline]
    fn joins_next(&self, rest: &[u8]) -> bool {
        self.charsmap.is_some()
            && rest.first().is_some_and(|&first| first >= 0x80)
            && matches!(characters::role(self.entry(decode_any(rest).0)), Role::General | Role::Mark)
    }

    /// The grapheme cluster with the combining mark of `len` bytes at byte `at`, which belongs to
    /// the word that starts at `word_at`, if any. Clusters of at least [`LONG_CLUSTER`] bytes are
    /// normalized by character, and so are clusters of one character.
    #[inline]
    fn mark_at(&self, text: &str, at: usize, len: usize, word_at: Option<usize>, tracked: bool) -> Cluster {
        let Some(word_at) = word_at else { return Cluster::General };
        // Whether the previous character has at least three bytes. Then a cluster of both is long.
        // If they form no cluster, this mark may start one that is short only together with a
        // mark of two bytes after it, and that mark is general.
        let follows_long = at >= 3 && text.as_bytes()[at - 2..at].iter().all(|&byte| byte & 0xC0 == 0x80);
        if len >= 3 && follows_long {
            return Cluster::Long;
        }
        self.cluster_at(text, at, word_at, tracked)
    }

    /// The cluster of the character before `at` and of the marks from `at` on.
    #[inline(never)]
    fn cluster_at(&self, text: &str, at: usize, word_at: usize, tracked: bool) -> Cluster {
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
            None => Cluster::Short(end, None),
            // The spans of a replacement depend on the lengths of old and new text.
            Some(_) if tracked => Cluster::General,
            Some(written) => {
                let is_space = |c: char| c == ' ' || self.drops_spaces && Letter::Space.contains(c);
                let is_odd = written.is_empty() || written.contains(self.meta_symbol) || written.chars().any(is_space);
                match characters::entry(Role::Word, written) {
                    entry if is_odd || characters::role(&entry) != Role::Word => Cluster::General,
                    entry => Cluster::Short(end, Some((characters::len(base_entry), entry))),
                }
            }
        }
    }

    /// The end of a part that starts at `start` and needs the normalizer because of the character
    /// at `found`: a space that forms a grapheme cluster by itself and follows something other than
    /// a space.
    fn end_of_general(&self, text: &str, start: usize, found: usize, tracked: bool) -> usize {
        if tracked && start == 0 && self.takes_next_span(text) {
            return text.len();
        }
        let bytes = text.as_bytes();
        let mut from = found + decode_any(&bytes[found..]).1;
        while let Some(len) = bytes[from..].iter().position(|&byte| byte == b' ') {
            let at = from + len;
            if self.ends_cluster(&text[start..at]) && !self.joins_next(&bytes[at + 1..]) {
                return at;
            }
            from = at + 1;
        }
        text.len()
    }

    /// Whether a space after this text is a grapheme cluster of its own and follows something other
    /// than a space, after normalization.
    fn ends_cluster(&self, text: &str) -> bool {
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
    fn takes_next_span(&self, text: &str) -> bool {
        let Some(charsmap) = &self.charsmap else { return false };
        let mut buffer = [0; 4];
        let first = text.chars().next().map(|first| &*first.encode_utf8(&mut buffer));
        let cluster = text.graphemes(true).next();
        [first, cluster].into_iter().flatten().any(|part| charsmap.replacement(part) == Some(""))
    }

    /// Whether a meta symbol is inserted before a word that no space precedes.
    #[inline]
    fn inserts_meta_symbol(&self, base: usize, at: usize) -> bool {
        let prepends = match self.prepend {
            Prepend::Always => true,
            Prepend::First => base == 0,
            Prepend::Never => false,
        };
        self.drops_spaces || at == 0 && prepends
    }
}

/// What a combining mark after a character does.
enum Cluster {
    /// Nothing: the character and the mark are normalized by themselves.
    Long,
    /// The marks up to this byte form a cluster with the character before them. It has no
    /// replacement, or one that takes the place of as many bytes as were written for the character.
    Short(usize, Option<(usize, CharacterEntry)>),
    /// It needs the normalizer.
    General,
}

/// Zero width joiner.
const JOINER: char = '\u{200d}';

/// Whether a character never forms a grapheme cluster with another character for which this holds.
fn stands_alone(character: char) -> bool {
    // A carriage return forms a cluster with a line feed after it.
    character != '\r' && breaks('a', character) && breaks(character, 'a') && breaks(character, character)
}

/// Whether two characters form no grapheme cluster.
fn breaks(first: char, second: char) -> bool {
    let mut buffer = [0; 8];
    let end = first.encode_utf8(&mut buffer).len();
    let len = end + second.encode_utf8(&mut buffer[end..]).len();
    let text = std::str::from_utf8(&buffer[..len]).expect("two characters");
    GraphemeCursor::new(end, len, true).is_boundary(text, 0).expect("the text is complete")
}
