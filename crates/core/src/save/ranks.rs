//! Writes the tokenizer of a rank file as a tokenizer.json.
//!
//! **Merges.** With ranks, any two adjacent tokens whose concatenation is a token are merged,
//! lowest rank first, and leftmost among equal ranks. A tokenizer.json lists pairs instead, each
//! with its own rank. Among all pairs that concatenate to a token, only one ever occurs: merges
//! inside of the bytes that become the token do not depend on the text around them, so these bytes
//! are merged as if they were alone, and alone they end in one particular pair. That pair is the
//! merge of the token, its rank is the position of the token among the ranks, and the ids are the
//! same for every text. A token whose bytes, merged alone, do not end in a pair is never created by
//! merging, but only found as a whole word. In this case the file sets `ignore_merges`.
//!
//! **Bytes** are written as printable characters, by ByteLevel after the split by the pattern. Text
//! that the pattern does not match is removed. **Added tokens** are included in the vocabulary if
//! counting from its end would give them other ids. If the file could give other ids or other text,
//! the result is a [`SaveError`].

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::json;

use crate::added_tokens::AddedToken;
use crate::aligned::AlignedText;
use crate::bpe::Merges;
use crate::bpe::merges::Merge;
use crate::budget::Budget;
use crate::byte_level;
use crate::error::SaveError;
use crate::memory::Grow;
use crate::memory::require_large;
use crate::parts::{BpeSettings, Components, Json, ModelSettings};
use crate::pattern::{Dialect, Pattern};
use crate::pipeline::Pipeline;
use crate::pretokenizer::scanner::Scanner;
use crate::pretokenizer::splits::Splits;
use crate::span::Span;
use crate::vocab::Vocab;

pub(super) fn tokenizer_json(pipeline: &Pipeline, pattern: &str) -> Result<Vec<u8>, SaveError> {
    let ranks = &*pipeline.parts.vocab;
    if let Some(byte) = bytes_of_text().find(|&byte| ranks.id(&[byte]).is_none()) {
        return Err(SaveError::ByteMissing { byte });
    }
    // Each list below has one entry per token or merge, and some entries have a string.
    require_large(ranks.len().saturating_mul(160))?;
    let mut by_rank: Vec<(u32, &[u8])> = ranks.iter().map(|(token, id)| (id, token)).collect();
    by_rank.sort_unstable_by_key(|&(id, _)| id);
    let (merges, ignore_merges) = merges(&by_rank, ranks, merges_of(pipeline));

    let mut vocab: Vec<(u32, Cow<'_, str>)> =
        by_rank.iter().map(|&(id, token)| (id, Cow::Owned(printable(token)))).collect();
    let within = tokens_within(pipeline, &vocab)?;
    if ignore_merges && let Some(token) = within.iter().find(|token| may_be_a_word(pipeline, &token.content)) {
        let reason = "as text it would be one word, which is then found in the vocabulary";
        return Err(SaveError::AddedToken { token: token.content.clone(), reason });
    }
    vocab.extend(within.into_iter().map(|token| (token.id, Cow::Borrowed(&*token.content))));
    vocab.sort_unstable_by_key(|&(id, _)| id);

    let spell = |id| Cow::Owned(printable(ranks.token(id).expect("the merges are of tokens")));
    let components = Components {
        model: ModelSettings::Bpe(BpeSettings { ignore_merges, ..BpeSettings::default() }),
        ..components(pattern)?
    };
    Ok(super::write(pipeline, &components, &vocab, &merges, spell))
}

/// The bytes that may occur in UTF-8.
fn bytes_of_text() -> impl Iterator<Item = u8> {
    (0..=0xF4).filter(|byte| !matches!(byte, 0xC0 | 0xC1))
}

/// The merges of the tokenizer of a rank file.
fn merges_of(pipeline: &Pipeline) -> &Merges {
    &pipeline.model.bpe().expect("ranks are read as BPE").merges
}

fn printable(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| byte_level::CHARACTERS[usize::from(byte)]).collect()
}

fn components(pattern: &str) -> Result<Components, SaveError> {
    let regex = match Scanner::of(pattern, Dialect::FancyRegex) {
        Some(scanner) => scanner.in_oniguruma().to_owned(),
        None => Pattern::in_oniguruma(pattern)
            .map_err(|message| SaveError::Pattern { pattern: pattern.to_owned(), message })?,
    };
    let regex = json!(regex);
    let component = |text: &str| Json::new(text).expect("it is written below");
    Ok(Components {
        pre_tokenizer: component(&format!(
            r#"{{"type":"Sequence","pretokenizers":[
                {{"type":"Split","pattern":{{"Regex":{regex}}},"behavior":"Removed","invert":true}},
                {{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}}]}}"#
        )),
        decoder: component(r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true}"#),
        ..Components::default()
    })
}

/// For each token that merging creates, the pair that it is created from, in the order of the
/// ranks. The flag says whether there are tokens that merging does not create.
fn merges(by_rank: &[(u32, &[u8])], ranks: &Vocab, table: &Merges) -> (Vec<(u32, u32)>, bool) {
    let (mut pairs, mut is_incomplete) = (vec![], false);
    pairs.grow(by_rank.len());
    let (mut ids, mut found) = (vec![], vec![]);
    for (_, token) in by_rank.iter().filter(|(_, token)| token.len() > 1) {
        ids.clear();
        ids.extend(token.iter().filter_map(|byte| ranks.id(&[*byte])));
        if ids.len() < token.len() {
            // A byte without a token never occurs in text, and so this token does not occur either.
            continue;
        }
        match last_pair(&mut ids, &mut found, table) {
            Some(pair) => pairs.push(pair),
            None => is_incomplete = true,
        }
    }
    (pairs, is_incomplete)
}

/// Merges `ids`, the tokens of the single bytes of a token, until two are left; returns `None` if
/// no merge applies before that. `found` is a scratch buffer for the merge of each id with its
/// right neighbour. Quadratic in the length of the token, as loading it is.
fn last_pair(ids: &mut Vec<u32>, found: &mut Vec<Merge>, table: &Merges) -> Option<(u32, u32)> {
    found.clear();
    found.extend(ids.windows(2).map(|pair| table.get(pair[0], pair[1])));
    while ids.len() > 2 {
        // The leftmost among those of the lowest rank.
        let (at, merge) = found.iter().copied().enumerate().min_by_key(|(_, merge)| merge.rank)?;
        if merge.rank == Merges::NO_RANK {
            return None;
        }
        ids[at] = merge.id;
        ids.remove(at + 1);
        found.remove(at);
        if at > 0 {
            found[at - 1] = table.get(ids[at - 1], ids[at]);
        }
        if at < found.len() {
            found[at] = table.get(ids[at], ids[at + 1]);
        }
    }
    Some((ids[0], ids[1]))
}

/// The added tokens that must be included in the vocabulary to get their ids. Errors: a token that
/// would get another id, or decode to another text.
fn tokens_within<'t>(pipeline: &'t Pipeline, vocab: &[(u32, Cow<'_, str>)]) -> Result<Vec<&'t AddedToken>, SaveError> {
    let spelt: HashMap<&str, u32> = vocab.iter().map(|(id, token)| (&**token, *id)).collect();
    let mut owners: HashMap<u32, &str> = HashMap::new();
    let mut beside: Vec<&AddedToken> = vec![];
    for token in pipeline.parts.added_tokens.tokens() {
        let refused = |reason| Err(SaveError::AddedToken { token: token.content.clone(), reason });
        if byte_level::bytes_of(&token.content).is_some_and(|bytes| bytes != token.content.as_bytes()) {
            return refused("its characters stand for other bytes there");
        }
        match spelt.get(&*token.content) {
            Some(&id) if id == token.id => continue,
            Some(_) => return refused("another token has the same spelling there"),
            None => {}
        }
        let first = match pipeline.parts.vocab.token(token.id) {
            Some(rank) => Some(String::from_utf8_lossy(rank).into_owned()),
            None => owners.insert(token.id, &token.content).map(str::to_owned),
        };
        if let Some(first) = first {
            return Err(SaveError::SharedId { id: token.id, first, second: token.content.clone() });
        }
        beside.push(token);
    }
    beside.sort_by_key(|token| token.id);
    let counted_on = beside.iter().zip(vocab.len()..).all(|(token, id)| token.id as usize == id);
    Ok(if counted_on { vec![] } else { beside })
}

/// Whether the pattern may split off this text as a single word, alone or next to other text, and
/// all of its characters are printable forms of bytes. The latter is necessary for the word to be
/// in the vocabulary.
fn may_be_a_word(pipeline: &Pipeline, content: &str) -> bool {
    const BESIDE: [&str; 7] = ["", " ", "\n", "a", "A", "0", "."];
    let is_word = |before: &str, after: &str| {
        let (mut text, mut splits) = (AlignedText::default(), Splits::default());
        let whole = format!("{before}{content}{after}");
        text.start(&whole, 0, false);
        splits.start(Span::new(0, whole.len()));
        let word = Span::new(before.len(), before.len() + content.len());
        pipeline.pretokenizer.apply(&mut text, &mut splits, &mut Budget::of_text(content.len())).is_err()
            || splits.spans().contains(&word)
    };
    byte_level::bytes_of(content).is_some()
        && BESIDE.iter().any(|before| BESIDE.iter().any(|after| is_word(before, after)))
}
