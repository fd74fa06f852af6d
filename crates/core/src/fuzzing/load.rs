//! Bytes as files.

use crate::load::encodings;
use crate::options::{DecodeOptions, EncodeOptions, RankDefinition};
use crate::text::Text;
use crate::tokenizer::Tokenizer;
use crate::{Columns, LoadError, Padding, Setting};

/// Texts that most components change.
const TEXTS: [&str; 6] = [
    "",
    "Hello, wörld! 123  中文\n",
    "▁a b\u{301}<s></s>[PAD]",
    " '\u{fb01}\u{1f468}\u{200d}",
    "\0\u{fffd}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// Interprets bytes as a file whose format is detected, and as a rank file with two definitions. If
/// one loads, encoding and decoding must not panic, and after saving and loading it must give the
/// same ids.
pub(super) fn load(bytes: &[u8]) {
    let own = RankDefinition { pattern: r"\w+|\s+|[^\w\s]+".into(), special_tokens: vec![("<s>".into(), 5)] };
    let bundled = encodings::definition("cl100k_base").expect("it is bundled");
    [Tokenizer::from_bytes(bytes), Tokenizer::from_ranks(bytes, &own), Tokenizer::from_ranks(bytes, &bundled)]
        .into_iter()
        .for_each(works);
}

fn works(loaded: Result<Tokenizer, LoadError>) {
    let tokenizer = match loaded {
        Ok(tokenizer) => tokenizer,
        Err(error) => {
            assert!(error.code().starts_with("ERR_TOKENLANE_") && !error.to_string().is_empty());
            return;
        }
    };
    let saved = tokenizer.to_json().ok();
    let again = saved.map(|file| Tokenizer::from_bytes(&file).expect("what was saved loads"));
    // The file may request more padding than a test should wait for, and dropout is random.
    let options = EncodeOptions {
        columns: Columns::ALL,
        padding: Setting::On(Padding::default()),
        special_tokens: crate::SpecialTokens::Parse,
        ..EncodeOptions::default()
    };
    for text in TEXTS {
        let encoded = tokenizer.encode(Text::Utf8(text), &options);
        if let Ok(encoded) = &encoded {
            let _ = tokenizer.decode(encoded.ids(), &DecodeOptions { skip_special_tokens: true });
            assert!(tokenizer.count(Text::Utf8(text), &options).is_ok());
        }
        if let Some(again) = again.as_ref().filter(|_| tokenizer.pipeline.model.is_deterministic()) {
            let same = again.encode(Text::Utf8(text), &options);
            assert_eq!(encoded.map(|encoded| encoded.ids), same.map(|encoded| encoded.ids), "{text:?}");
        }
    }
    let _ = tokenizer.decode(&[0, 1, 2, 3, 255, u32::MAX], &DecodeOptions::default());
}
