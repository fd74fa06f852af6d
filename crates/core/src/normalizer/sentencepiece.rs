//! The normalizer of a SentencePiece model, as the `sentencepiece` library applies it.
//!
//! It differs from [`super::Precompiled`], which follows Hugging Face: rules match by longest
//! prefix instead of by grapheme cluster, user-defined symbols are never changed, and extra white
//! space is removed in the same pass.
//!
//! Each byte of the result has the span of all the text that its rule, symbol or character covers:
//! all of a `ﬁ` for the `f` and the `i` that replace it. The span of a meta symbol inserted at the
//! start ends with the span that follows. The last byte ends where the library's position after the
//! text is: at the first of the spaces that are removed there, otherwise at the end of the text.

use std::sync::Arc;

use super::Precompiled;
use crate::aligned::AlignedText;
use crate::budget::{ALL_NORMALIZERS, Budget, OutputLimit};
use crate::span::Span;
use crate::text::MAX_CHARACTER_BYTES;
use crate::trie::Trie;

/// The meta symbol: the character that stands for a space in pieces, U+2581.
pub(crate) const META_SYMBOL: char = '▁';

/// The length of the user-defined symbol that a text starts with: the longest of the 64 shortest
/// ones, as in the library.
#[inline]
pub(crate) fn symbol_length(symbols: &Trie, text: &[u8]) -> Option<usize> {
    symbols.longest_of(64, text)
}

/// The normalizer spec of a model.
#[derive(Debug)]
pub(crate) struct SentencePiece {
    charsmap: Option<Precompiled>,
    /// The user-defined symbols.
    symbols: Option<Arc<Trie>>,
    settings: SpaceSettings,
    /// The ASCII characters that do not change before another ASCII character.
    unchanged_ascii: [bool; 128],
}

/// The flags of the spec, and `treat_whitespace_as_suffix` of the trainer spec.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpaceSettings {
    pub(crate) add_dummy_prefix: bool,
    pub(crate) remove_extra_whitespaces: bool,
    pub(crate) escape_whitespaces: bool,
    pub(crate) whitespace_as_suffix: bool,
    /// Whether spaces and symbols are treated as llama.cpp does with Unigram.
    pub(crate) as_llama_cpp: bool,
}

impl SentencePiece {
    pub(crate) fn new(charsmap: Option<Precompiled>, symbols: Option<Arc<Trie>>, settings: SpaceSettings) -> Self {
        let unchanged_ascii = std::array::from_fn(|code| {
            let byte = code as u8;
            byte != b' '
                && symbols.as_ref().is_none_or(|trie| trie.descend(&[byte]).is_none())
                && charsmap.as_ref().is_none_or(|charsmap| charsmap.leaves_before_ascii(byte))
        });
        Self { charsmap, symbols, settings, unchanged_ascii }
    }

    /// Whether every character of a text becomes at least as many bytes.
    pub(crate) fn only_grows(&self) -> bool {
        self.charsmap.is_none() && !self.settings.remove_extra_whitespaces
    }

    /// Whether all that changes is that a meta symbol replaces each space, and may precede the
    /// text.
    pub(crate) fn only_replaces_spaces(&self) -> bool {
        let SpaceSettings {
            add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces, whitespace_as_suffix, ..
        } = self.settings;
        let adds_suffix = add_dummy_prefix && whitespace_as_suffix;
        self.charsmap.is_none() && escape_whitespaces && !remove_extra_whitespaces && !adds_suffix
    }

    /// The number of bytes that known characters have in every normalized text that starts like
    /// this, apart from spaces. Counts no further than to more than `enough`.
    pub(crate) fn known_bytes(
        &self,
        start: &str,
        enough: usize,
        budget: &mut Budget,
        is_known: impl Fn(char) -> bool,
    ) -> usize {
        let longest_symbol = self.symbols.as_ref().map_or(0, |trie| trie.longest()).max(MAX_CHARACTER_BYTES);
        let (mut rest, mut known) = (start, 0);
        while known <= enough && rest.len() > longest_symbol {
            let mut steps = 0;
            if let Some(charsmap) = &self.charsmap {
                charsmap.longest(rest, &mut steps);
            }
            // With what follows, a rule could read further.
            if steps >= rest.len() {
                break;
            }
            let Ok((put, length)) = self.prefix(rest, budget) else { break };
            let counts = |&c: &char| c != ' ' && c != META_SYMBOL && is_known(c);
            known += put.chars().filter(counts).map(char::len_utf8).sum::<usize>();
            rest = &rest[length..];
        }
        known
    }

    /// The replacement of the longest prefix of `text` that has one, and the length of that prefix
    /// in bytes; otherwise the first character. `text` is not empty. Charges its work to `budget`.
    fn prefix<'a>(&'a self, text: &'a str, budget: &mut Budget) -> Result<(&'a str, usize), OutputLimit> {
        if let Some(trie) = &self.symbols
            && let Some(length) = self.symbol(trie, text)
        {
            return Ok((&text[..length], length));
        }
        let mut steps = 0;
        let found = self.charsmap.as_ref().and_then(|charsmap| charsmap.longest(text, &mut steps));
        // A replacement is read to its end, even if only spaces that are removed.
        let written = found.map_or(0, |(replacement, _)| replacement.len());
        budget.work(steps.saturating_add(written), ALL_NORMALIZERS)?;
        let length = text.chars().next().map_or(0, char::len_utf8);
        Ok(found.unwrap_or((&text[..length], length)))
    }

    /// The length of the user-defined symbol that a text starts with. In llama.cpp, the start of a
    /// symbol is enough.
    fn symbol(&self, symbols: &Trie, text: &str) -> Option<usize> {
        if !self.settings.as_llama_cpp {
            return symbol_length(symbols, text.as_bytes());
        }
        let mut node = symbols.root();
        let in_symbol = text.bytes().take_while(|&byte| match symbols.step(node, byte) {
            Some((next, _)) => {
                node = next;
                true
            }
            None => false,
        });
        let length = text.floor_char_boundary(in_symbol.count());
        (length > 0).then_some(length)
    }

    /// The length of a prefix of `text` that does not change.
    fn unchanged(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let is_unchanged_ascii = |byte: &u8| self.unchanged_ascii.get(usize::from(*byte)).is_some_and(|&alone| alone);
        let run = bytes.iter().take_while(|byte| is_unchanged_ascii(byte)).count();
        // Before other characters the last one can be part of a rule.
        if bytes.get(run).is_some_and(|byte| !byte.is_ascii()) { run.saturating_sub(1) } else { run }
    }

    /// Normalizes as llama.cpp does. A space is inserted before the first character that is not
    /// one, or before each word if spaces are removed, so that text of spaces alone gets none.
    fn normalize_as_llama_cpp(&self, text: &mut AlignedText, budget: &mut Budget) -> Result<(), OutputLimit> {
        let SpaceSettings { add_dummy_prefix, remove_extra_whitespaces, .. } = self.settings;
        let (mut in_word, mut needs_prefix, mut written) = (false, add_dummy_prefix, 0usize);
        let (mut output, mut result) = (String::new(), Ok(()));
        text.rewrite(|rewriter| {
            while !rewriter.rest().is_empty() {
                let unchanged = self.unchanged(rewriter.rest());
                let (put, length) = if unchanged > 0 {
                    ("", 0)
                } else {
                    match self.prefix(rewriter.rest(), budget) {
                        Ok(found) => found,
                        Err(limit) => return result = Err(limit),
                    }
                };
                output.clear();
                // Stands for the first of the unchanged characters.
                let first = if unchanged > 0 { Some('a') } else { None };
                for character in put.chars().chain(first) {
                    if character == ' ' {
                        in_word = false;
                        if remove_extra_whitespaces {
                            continue;
                        }
                    } else if !std::mem::replace(&mut in_word, true)
                        && (remove_extra_whitespaces || std::mem::take(&mut needs_prefix))
                    {
                        output.push(META_SYMBOL);
                    }
                    if unchanged == 0 {
                        output.push(if character == ' ' { META_SYMBOL } else { character });
                    }
                }
                written = written.saturating_add(output.len() + unchanged);
                result = budget.check(written, super::COMPONENT);
                if result.is_err() {
                    return;
                }
                rewriter.replace_bytes(length, output.chars());
                rewriter.keep_bytes(unchanged);
            }
        });
        result
    }

    pub(crate) fn normalize(&self, text: &mut AlignedText, budget: &mut Budget) -> Result<(), OutputLimit> {
        if self.settings.as_llama_cpp {
            return self.normalize_as_llama_cpp(text, budget);
        }
        let SpaceSettings {
            add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces, whitespace_as_suffix, ..
        } = self.settings;
        let space = if escape_whitespaces { META_SYMBOL } else { ' ' };
        let has_prefix = add_dummy_prefix && !whitespace_as_suffix;
        let (mut is_blank, mut result) = (true, Ok(()));
        let mut end = (text.base() + text.as_str().len()) as u32;
        text.rewrite(|rewriter| {
            while remove_extra_whitespaces && !rewriter.rest().is_empty() {
                let Ok((" ", length)) = self.prefix(rewriter.rest(), budget) else { break };
                rewriter.skip_bytes(length);
            }
            is_blank = rewriter.rest().is_empty();
            if !is_blank && has_prefix {
                rewriter.replace_bytes(0, std::iter::once(space));
            }
            let (mut after_space, mut written) = (remove_extra_whitespaces, 0usize);
            while !rewriter.rest().is_empty() {
                let unchanged = self.unchanged(rewriter.rest());
                if unchanged > 0 {
                    rewriter.keep_bytes(unchanged);
                    written += unchanged;
                    after_space = false;
                    continue;
                }
                let (mut put, length) = match self.prefix(rewriter.rest(), budget) {
                    Ok(found) => found,
                    Err(limit) => return result = Err(limit),
                };
                if after_space {
                    put = put.trim_start_matches(' ');
                }
                written = written.saturating_add(put.len());
                result = budget.check(written, super::COMPONENT);
                if result.is_err() {
                    return;
                }
                rewriter.replace_bytes(length, put.chars().map(|c| if c == ' ' { space } else { c }));
                if !put.is_empty() {
                    after_space = remove_extra_whitespaces && put.ends_with(' ');
                }
            }
        });
        result?;
        if has_prefix && let Some(next) = text.origins().get(space.len_utf8()) {
            text.set_origin_end(space.len_utf8() - 1, next.end);
        }
        if remove_extra_whitespaces {
            let kept = text.as_str().trim_end_matches(space).len();
            end = text.origins().get(kept).map_or(end, |removed| removed.start);
            text.truncate(kept);
        }
        if !is_blank && add_dummy_prefix && whitespace_as_suffix {
            text.push(space, Span { start: end, end });
        } else if let Some(last) = text.as_str().len().checked_sub(1) {
            text.set_origin_end(last, end);
        }
        Ok(())
    }
}
