//! The bytes of all tokens.

use crate::budget::Budget;
use crate::error::DecodeError;
use crate::memory::fallible::{catch, push, with_capacity};
use crate::tokenizer::Tokenizer;

/// The bytes that each token adds to a text if other tokens stand around it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TokenBytes {
    /// Those of all ids, in the order of the ids.
    pub bytes: Vec<u8>,
    /// Where those of an id start; at the end, the number of all bytes.
    pub offsets: Vec<u32>,
    /// Per id: 1 if it is of an added token, else 0.
    pub added: Vec<u8>,
}

impl Tokenizer {
    /// The bytes of all tokens up to the largest id. An id without a token has none. `None` if the
    /// ids are so far apart that the result would mostly be about missing ones.
    pub fn token_bytes(&self) -> Result<Option<TokenBytes>, DecodeError> {
        let pipeline = &self.pipeline;
        let ids = self.max_id().map_or(0, |id| id as usize + 1);
        if ids > 8 * self.vocab_size(true) + 65_536 {
            return Ok(None);
        }
        catch(|| {
            let mut all = TokenBytes { bytes: vec![], offsets: with_capacity(ids + 1)?, added: with_capacity(ids)? };
            push(&mut all.offsets, 0);
            let mut budget = Budget::of_ids(ids);
            for id in 0..ids as u32 {
                let added = pipeline.parts.added_tokens.decoded_form(id);
                if let Some(token) = added.map(str::as_bytes).or_else(|| pipeline.parts.vocab.token(id)) {
                    pipeline.decoder.append_inside(token, &mut budget, &mut all.bytes)?;
                }
                push(&mut all.added, added.is_some().into());
                push(&mut all.offsets, all.bytes.len() as u32);
            }
            Ok(Some(all))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::DecodeOptions;
    use crate::fuzzing::decode::{components, tokenizer};

    proptest! {
        #[test]
        fn the_bytes_are_those_that_a_token_adds_between_two(
            steps in prop::sample::select(components()).prop_map(|step| vec![step]),
        ) {
            let tokenizer = tokenizer(&serde_json::json!({"type": "Sequence", "decoders": steps}));
            let all = tokenizer.token_bytes().expect("they are short").expect("the ids have no gaps");
            let bytes = |ids: &[u32]| tokenizer.decode_bytes(ids, &DecodeOptions::default()).expect("they are short");
            let without = bytes(&[5, 6]);
            for id in (0..all.added.len()).filter(|id| ![5, 6].contains(id)) {
                let own = &all.bytes[all.offsets[id] as usize..all.offsets[id + 1] as usize];
                let with = bytes(&[5, id as u32, 6]);
                let is_there = |at: usize| with == [&without[..at], own, &without[at..]].concat();
                prop_assert!((0..=without.len()).any(is_there), "{id}: {own:?} in {with:?}");
            }
        }
    }
}
