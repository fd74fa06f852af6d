//! The check of the fuzz target `train`. Any bytes are a valid case, and a panic is a finding.

use std::ops::ControlFlow;

use tokenlane_core::Tokenizer;

use crate::progress::Meter;
use crate::{
    Base, BpeOptions, ExtendOptions, TrainError, Trainer, UnigramOptions, WordCounts, WordLevelOptions, bpe, extend,
    prune,
};

/// The longest words together, in bytes, that the slow twin takes.
const MAX_BYTES: usize = 400;
/// What words are made of.
const PARTS: [&str; 12] = ["a", "b", "ab", "ba", "#", "#a", "_", "é", "漢", "\u{1F600}", "aaaa", "abab"];

/// Trains each model on random words with random options. BPE is compared with its slow twin; what
/// is trained has to load, to encode its words, and to survive extending and pruning.
pub fn train(bytes: &[u8]) {
    let mut bytes = bytes.iter().copied();
    let mut byte = || usize::from(bytes.next().unwrap_or(0));
    let kind = byte() % 4;
    let special = [&[][..], &["<s>"], &["a", "ab", "<s>"]][byte() % 3];
    let affix = |drawn: usize, affix: &str| (drawn % 4 == 1).then(|| affix.to_owned());
    let options = BpeOptions {
        vocab_size: byte(),
        min_frequency: byte() as u64 % 5,
        special_tokens: special.iter().copied().map(Into::into).collect(),
        limit_alphabet: Some(byte()).filter(|limit| *limit < 6),
        continuing_subword_prefix: affix(byte(), "#"),
        end_of_word_suffix: affix(byte(), "_"),
        max_token_length: Some(byte()).filter(|limit| *limit < 8),
        ..BpeOptions::default()
    };
    let longest = byte() % 20;
    let (mut words, mut word, mut len) = (Vec::new(), String::new(), 0);
    for byte in bytes.take(MAX_BYTES) {
        // The highest values end a word; they are its count.
        if byte >= 200 {
            words.push((std::mem::take(&mut word).into(), u64::from(byte - 199)));
        } else if len < MAX_BYTES {
            let part = PARTS[usize::from(byte) % PARTS.len()];
            len += part.len();
            word.push_str(part);
        }
    }
    words.push((word.into(), 1));
    words.retain(|(word, _): &(Box<str>, u64)| !word.is_empty());
    let words = WordCounts::new(words);
    let trainer = match kind {
        0 => Trainer::Bpe(options),
        1 => Trainer::WordPiece(options),
        2 => {
            let BpeOptions { vocab_size, min_frequency, special_tokens, .. } = options;
            Trainer::WordLevel(WordLevelOptions { vocab_size, min_frequency, special_tokens })
        }
        _ => Trainer::Unigram(UnigramOptions {
            vocab_size: options.vocab_size,
            max_piece_length: longest,
            special_tokens: options.special_tokens,
            unk_token: Some("<unk>".to_owned()),
            ..UnigramOptions::default()
        }),
    };
    check(&trainer, &words);
}

fn check(trainer: &Trainer, words: &WordCounts) {
    let mut go_on = |_| ControlFlow::Continue(());
    if let Trainer::Bpe(options) = trainer {
        let start = || bpe::start(words, options, &mut Meter::new(&mut |_| ControlFlow::Continue(())));
        let slow = bpe::naive::train(start().expect("the options are valid"), options);
        let fast = bpe::train(words.clone(), options, &mut Meter::new(&mut go_on)).expect("the options are valid");
        assert_eq!(fast, slow);
    }
    let base = Base::from_json(br#"{ "model": {}, "pre_tokenizer": { "type": "WhitespaceSplit" } }"#);
    let file = match trainer.train(&base.expect("the base is valid"), words.clone(), &mut go_on) {
        Ok(file) => file,
        Err(TrainError::NoWords | TrainError::VocabularyTooSmall { .. } | TrainError::Option { .. }) => return,
        Err(error) => unreachable!("{error}"),
    };
    Tokenizer::from_bytes(file.as_bytes()).expect("the core loads what was trained");
    let options = ExtendOptions { new_tokens: 7, ..ExtendOptions::default() };
    for changed in [
        extend(file.as_bytes(), words, &options, &mut go_on).map(|extended| extended.file),
        prune(file.as_bytes(), words, &mut go_on).map(|pruned| pruned.file),
    ] {
        match changed {
            Ok(changed) => _ = Tokenizer::from_bytes(changed.as_bytes()).expect("the core loads what was changed"),
            // A word that needs an unknown token, a model that cannot be extended, no words.
            Err(TrainError::Word { .. } | TrainError::NoWords) => (),
            Err(TrainError::Model { problem, .. }) => assert_eq!(problem, "cannot be extended"),
            Err(error) => unreachable!("{error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_a_case(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            super::train(&bytes);
        }
    }
}
