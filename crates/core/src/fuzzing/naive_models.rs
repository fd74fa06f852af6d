//! Unigram and WordPiece by definition: slow and obvious.

use crate::bpe::Symbol;
use crate::error::EncodeError;
use crate::parts::{UnigramSettings, WordPieceSettings};
use crate::vocab::Vocab;

/// Unigram as `encode_optimized` of the reference, with every piece looked up in the
/// vocabulary.
pub(crate) fn unigram(
    settings: &UnigramSettings,
    vocab: &Vocab,
    scores: &[f64],
    word: &str,
) -> Result<Vec<Symbol>, EncodeError> {
    let unknown_score = scores.iter().copied().fold(f64::INFINITY, f64::min) - 10.0;
    let mut ways: Vec<Option<(f64, usize, u32)>> = vec![None; word.len() + 1];
    for (start, character) in word.char_indices() {
        let so_far = ways[start].map_or(0.0, |way| way.0);
        let single = start + character.len_utf8();
        let ends = (start + 1..=word.len()).filter(|&end| word.is_char_boundary(end));
        let pieces = ends.filter_map(|end| {
            let id = vocab.id(&word.as_bytes()[start..end])?;
            Some((end, scores[id as usize], Some(id)))
        });
        let mut pieces: Vec<_> = pieces.collect();
        if pieces.iter().all(|piece| piece.0 != single) {
            pieces.push((single, unknown_score, settings.unk_id));
        }
        for (end, score, id) in pieces {
            let score = score + so_far;
            if ways[end].is_none_or(|way| score > way.0) {
                ways[end] = Some((score, start, id.ok_or(EncodeError::UnknownTokenUnset)?));
            }
        }
    }
    let (mut strings, mut run, mut end) = (vec![], String::new(), word.len());
    while end > 0 {
        let (_, start, id) = ways[end].expect("every character is a piece or unknown");
        if Some(id) == settings.unk_id {
            run.insert_str(0, &word[start..end]);
        } else {
            strings.extend((!run.is_empty()).then(|| std::mem::take(&mut run)));
            strings.push(word[start..end].to_owned());
        }
        end = start;
    }
    strings.extend((!run.is_empty()).then_some(run));
    strings.reverse();
    let mut out = vec![];
    for string in strings {
        let len = string.len() as u32;
        let byte_tokens = || string.bytes().map(|byte| vocab.id(format!("<0x{byte:02X}>").as_bytes())).collect();
        if let Some(id) = vocab.id(string.as_bytes()) {
            out.push(Symbol { id, len });
        } else if let Some(ids) = Some(byte_tokens).filter(|_| settings.byte_fallback).and_then(|ids| ids()) {
            let ids: Vec<u32> = ids;
            out.extend(
                ids.iter().enumerate().map(|(at, &id)| Symbol { id, len: if at == 0 { len } else { Symbol::SAME } }),
            );
        } else {
            out.push(Symbol { id: settings.unk_id.ok_or(EncodeError::UnknownTokenUnset)?, len });
        }
    }
    Ok(out)
}

/// WordPiece: tries every end, from the last one on.
pub(crate) fn wordpiece(
    settings: &WordPieceSettings,
    vocab: &Vocab,
    word: &str,
    out: &mut Vec<Symbol>,
) -> Result<(), EncodeError> {
    let unknown = || {
        let token = &settings.unk_token;
        let missing = || EncodeError::UnknownTokenMissing { token: token.clone() };
        Ok::<_, EncodeError>(Symbol { id: vocab.id(token.as_bytes()).ok_or_else(missing)?, len: word.len() as u32 })
    };
    let mut symbols = vec![];
    let mut start = 0;
    if word.chars().count() > settings.max_input_chars_per_word {
        out.push(unknown()?);
        return Ok(());
    }
    while start < word.len() {
        let prefix = if start > 0 { &settings.continuing_subword_prefix[..] } else { "" };
        let ends = (start + 1..=word.len()).rev().filter(|&end| word.is_char_boundary(end));
        let id = |end: usize| vocab.id([prefix, &word[start..end]].concat().as_bytes());
        let Some((end, id)) = ends.into_iter().find_map(|end| Some((end, id(end)?))) else {
            out.push(unknown()?);
            return Ok(());
        };
        symbols.push(Symbol { id, len: (end - start) as u32 });
        start = end;
    }
    out.extend(symbols);
    Ok(())
}
