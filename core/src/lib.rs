//! The core of tokenlane: text to token ids and back, exactly as the reference libraries do it.
//!
//! # The way of a text
//!
//! In this order, and in the room of the same name:
//!
//! 1. [`text`]: UTF-16 or bytes become UTF-8.
//! 2. `added_tokens`: special and added tokens are cut out; what lies between them goes on.
//! 3. `normalizer`: Unicode forms and replacements; every byte still knows where it came from (`aligned`).
//! 4. `pretokenizer`: the text is cut into words. For some combinations `segmenter` does 3 and 4 in
//!    one pass.
//! 5. `model`: a word becomes token ids, from the word cache or by the model, such as [`bpe`].
//! 6. `truncation`: what is longer than a model takes is cut into windows.
//! 7. `post_processor`: the special tokens that a model wants around the text, or around two of them.
//! 8. `padding`: what is shorter than its neighbours is filled up.
//!
//! [`Tokenizer`] has these stages in order and is immutable; an `Encoder` is one worker's mutable state. [`batch`] hands
//! many texts to several workers. `decoder` goes the other way, and [`load`](Tokenizer::from_bytes) makes a tokenizer of
//! a file.
//!
//! # Terms
//!
//! *Token*: an entry of the vocabulary; *id*: its number. *Word*: a piece of text that the pre-tokenizer cut, merged on its
//! own. *Merge*: two adjacent tokens that become one; *rank*: how early. *Added token*: one found in the text before the
//! model sees it; *special*: an added token that stands for something other than its text. *Pair*: two texts that are encoded
//! together. *Overflow*: what truncation cut off. *Row*: one encoding of a batch, of a text or of a part of it.
//! *Offsets*: where a token stands in the original text.
#![deny(unsafe_code)]

mod added_tokens;
mod aligned;
pub mod batch;
#[doc(hidden)]
pub mod bench_support;
mod bounded;
pub mod bpe;
mod budget;
mod byte_level;
mod change;
mod decoder;
mod definition;
mod encoder;
mod encoding;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod load;
mod lock;
pub mod memory;
mod model;
mod normalizer;
mod object_pool;
mod padding;
mod pattern;
mod post_processor;
mod pretokenizer;
mod save;
mod segmenter;
mod simd;
mod span;
pub mod split;
#[cfg(test)]
mod testdata;
pub mod text;
mod token_lens;
mod tokenizer;
mod truncation;
mod vocab;
mod word_key;

pub use added_tokens::{AddedToken, SpecialTokens};
pub use bounded::{Prefix, Written};
pub use budget::{DEFAULT_MAX_EXPANSION, max_expansion, set_max_expansion};
pub use change::{Changes, NewToken};
pub use decoder::stream::DecodeStream;
pub use encoding::{Columns, Encoding, NO_ID, OffsetUnit};
pub use error::{DecodeError, EncodeError, LoadError, SaveError};
pub use load::encodings::{definition as encoding_definition, file as encoding_file, names as encoding_names};
pub use padding::{PadTo, Padding};
pub use text::{Input, Sequence, Text};
pub use tokenizer::{DecodeOptions, EncodeOptions, RankDefinition, Setting, Tokenizer};
pub use truncation::{Direction, Truncation, TruncationStrategy};
