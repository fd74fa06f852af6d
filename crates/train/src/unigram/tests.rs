//! The fast twin against the slow one, and what holds for all words.

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::estimate::Estimator;
use super::seeds::{self, Corpus};
use super::{UnigramVocabulary, naive, prune, train};
use crate::progress::Meter;
use crate::{TrainError, UnigramOptions, WordCounts};

fn counts(words: impl IntoIterator<Item = (String, u64)>) -> WordCounts {
    WordCounts::new(words.into_iter().map(|(word, count)| (word.into_boxed_str(), count)).collect())
}

fn trained(words: &WordCounts, options: &UnigramOptions) -> Result<UnigramVocabulary, TrainError> {
    train(words, options, &mut Meter::new(&mut |_| ControlFlow::Continue(())))
}

/// Letters from a fixed sequence that looks random.
fn letters(len: usize, alphabet: u64) -> String {
    let mut state = 1_u64;
    let letter = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        char::from(b'a' + ((state >> 33) % alphabet) as u8)
    };
    (0..len).map(letter).collect()
}

fn sentence() -> WordCounts {
    counts((0..400).map(|at| (letters(1000, 5)[at * 2..at * 2 + 3 + at % 7].to_owned(), 1 + at as u64 % 11)))
}

proptest! {
    #[test]
    fn seeds_counts_and_pruning_equal_those_of_the_slow_twin(
        words in prop::collection::vec(("[ab]{1,9}|[abc\0é]{0,6}|(ab|cab){1,4}", 1_u64..50), 1..12),
        longest in 1_usize..7,
        seed_size in 1_usize..40,
        size in 2_usize..20,
    ) {
        let words = counts(words);
        let Ok(corpus) = Corpus::new(&words) else { return Ok(()) };
        let mut watch = |_| ControlFlow::Continue(());
        let mut meter = Meter::new(&mut watch);
        let options = UnigramOptions { max_piece_length: longest, seed_size, ..UnigramOptions::default() };
        let mut pieces = seeds::find(&corpus, &options, &mut meter).expect("nothing stops");
        prop_assert_eq!(naive::list(&pieces, &corpus), naive::seeds(&words, longest, seed_size));
        for _ in 0..2 {
            let expected = Estimator::new(&corpus).expected(&pieces, &mut meter).expect("nothing stops");
            let listed = pieces.pieces.iter().zip(&expected).filter(|(piece, _)| piece.listed);
            let fast: Vec<f64> = listed.map(|(_, &count)| count).collect();
            for (fast, slow) in fast.iter().zip(naive::expected(&naive::list(&pieces, &corpus), &words)) {
                prop_assert!((fast - slow).abs() <= 1e-9 * (1.0 + slow), "{} is not {}", fast, slow);
            }
            pieces.maximize(&expected);
        }
        let slow = naive::prune(&naive::list(&pieces, &corpus), &words, size);
        prune::prune(&mut pieces, &corpus, size, &mut meter).expect("nothing stops");
        let fast: Vec<String> = naive::list(&pieces, &corpus).into_iter().map(|(text, _)| text).collect();
        prop_assert_eq!(fast, slow);
    }
}

#[test]
fn the_expected_counts_of_a_long_word_cover_it() {
    let mut watch = |_| ControlFlow::Continue(());
    let mut meter = Meter::new(&mut watch);
    // Far more improbable than the smallest number, in each direction.
    for word in [letters(20_000, 26), "a".repeat(20_000), format!("{}{}", letters(9_000, 2), letters(9_000, 20))] {
        let words = counts([(word.clone(), 3), ("ab".to_owned(), 1 << 40)]);
        let corpus = Corpus::new(&words).expect("there are words");
        let mut pieces = seeds::find(&corpus, &UnigramOptions::default(), &mut meter).expect("nothing stops");
        for _ in 0..2 {
            let expected = Estimator::new(&corpus).expected(&pieces, &mut meter).expect("nothing stops");
            let covered: f64 =
                pieces.pieces.iter().zip(&expected).map(|(piece, count)| f64::from(piece.len) * count).sum();
            let characters = (3 * word.len() as u64 + (2 << 40)) as f64;
            assert!((covered / characters - 1.0).abs() < 1e-9, "{covered} of {characters}");
            pieces.maximize(&expected);
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let options = UnigramOptions { vocab_size: 60, ..UnigramOptions::default() };
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        pool.install(|| trained(&sentence(), &options)).expect("the vocabulary is large enough")
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn special_tokens_come_first_and_the_size_is_met() {
    let special = |unk_token: &str| UnigramOptions {
        vocab_size: 40,
        special_tokens: vec!["<s>".into(), "</s>".into()],
        unk_token: Some(unk_token.to_owned()),
        initial_alphabet: vec!["é".to_owned()],
        ..UnigramOptions::default()
    };
    let new = trained(&sentence(), &special("<unk>")).expect("the vocabulary is large enough");
    let texts: Vec<&str> = new.pieces.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!((&texts[..3], texts.len(), new.unk_id), (&["<unk>", "<s>", "</s>"][..], 40, Some(0)));
    assert!(["a", "b", "c", "d", "e", "é"].iter().all(|character| texts.contains(character)));
    assert!(new.pieces[3..].windows(2).all(|pair| pair[0].1 >= pair[1].1));
    let known = trained(&sentence(), &special("</s>")).expect("the vocabulary is large enough");
    assert_eq!((known.unk_id, &*known.pieces[1].0, known.pieces.len()), (Some(1), "</s>", 40));
}

#[test]
fn the_alphabet_alone_is_a_vocabulary() {
    let options = UnigramOptions { vocab_size: 5, ..UnigramOptions::default() };
    assert_eq!(trained(&sentence(), &options).expect("five letters fit").pieces.len(), 5);
    let error = trained(&sentence(), &UnigramOptions { vocab_size: 4, ..options });
    assert_eq!(error, Err(TrainError::VocabularyTooSmall { vocab_size: 4, needed: 5 }));
}

#[test]
fn no_words_and_bad_options_are_errors() {
    let empty = trained(&counts([(String::new(), 5)]), &UnigramOptions::default());
    assert_eq!(empty, Err(TrainError::NoWords));
    let bad = [
        UnigramOptions { shrinking_factor: 1.0, ..UnigramOptions::default() },
        UnigramOptions { shrinking_factor: f64::NAN, ..UnigramOptions::default() },
        UnigramOptions { max_piece_length: 0, ..UnigramOptions::default() },
        UnigramOptions { max_piece_length: 257, ..UnigramOptions::default() },
        UnigramOptions { vocab_size: usize::MAX, ..UnigramOptions::default() },
    ];
    for options in bad {
        let error = trained(&sentence(), &options).expect_err("the option is out of range");
        assert_eq!(error.code(), "ERR_TOKENLANE_TRAIN_OPTION");
    }
}
