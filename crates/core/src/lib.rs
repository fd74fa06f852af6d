//! The core of tokenlane: text to token ids and back, exactly like the reference libraries (Hugging
//! Face tokenizers, tiktoken and SentencePiece).
//!
//! # The stages of a text
//!
//! In this order, each in the module of the same name:
//!
//! 1. [`text`]: UTF-16 or bytes are converted to UTF-8.
//! 2. `added_tokens`: special and added tokens are found; the text between them passes on.
//! 3. `normalizer`: Unicode forms and replacements; `aligned` records where each byte comes from.
//! 4. `pretokenizer`: the text is split into words. For some combinations, `segmenter` does stages
//!    3 and 4 in one pass.
//! 5. `model`: a word becomes token ids, from the word cache or by the model, such as [`bpe`].
//! 6. `truncation`: an encoding that is longer than the limit is cut into parts.
//! 7. `post_processor`: special tokens are added around a text or a pair of texts.
//! 8. `padding`: shorter encodings are extended to a common length.
//!
//! [`Tokenizer`] contains these stages and is immutable; an `Encoder` runs them, with the caches
//! and buffers of one worker (`EncoderState`). [`batch`] distributes many texts to several workers.
//! `decoder` converts ids to text; [`DecodeStream`] does so for ids that arrive one after the
//! other. [`Tokenizer::from_bytes`] builds a tokenizer from a file.
//!
//! # WebAssembly
//!
//! An engine compiles WebAssembly a function at a time, while it runs, and the time grows faster
//! than the size of the function. What rarely runs is therefore no part of a function that often
//! does: it has `cfg_attr(target_arch = "wasm32", inline(never))`, and so have stages of loading,
//! where a single loop would otherwise make the engine compile all of it.
//!
//! # Terms
//!
//! - *Token*: an entry of the vocabulary. *Id*: its number.
//! - *Word*: a piece of text from the pre-tokenizer, encoded by the model on its own (a pre-token).
//! - *Merge*: two adjacent tokens that become one. *Rank*: the position of a merge; the lowest is
//!   merged first.
//! - *Added token*: a token that is found in the text before the model. *Special token*: an added
//!   token that has a meaning other than its text.
//! - *Pair*: two texts that are encoded together.
//! - *Overflow*: the parts that truncation cuts off.
//! - *Row*: one encoding of a batch, of a text or of a part of it.
//! - *Offsets*: the start and end of a token in the original text.
#![deny(unsafe_code)]

mod added_tokens;
mod affix;
mod aligned;
mod automaton;
pub mod batch;
#[doc(hidden)]
pub mod bench_support;
pub mod bpe;
mod budget;
mod byte_level;
mod categories;
mod change;
pub mod cuts;
mod decode_stream;
mod decoder;
mod encoder;
mod encoding;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod json_fields;
mod load;
mod min_tokens;
mod model;
mod normalizer;
mod object_pool;
mod options;
mod padding;
mod parts;
mod pipeline;
mod post_processor;
mod pretokenizer;
mod save;
mod segmenter;
pub mod split;
mod stop_stream;
#[cfg(test)]
mod testdata;
pub mod text;
mod token_bytes;
mod token_lens;
mod tokenizer;
mod trie;
mod truncation;
mod vocab;
mod within;

pub use added_tokens::{AddedToken, SpecialTokens};
pub use budget::{DEFAULT_MAX_EXPANSION, max_expansion, set_max_expansion};
pub use byte_level::byte_character;
pub use change::{Changes, DefaultSpecialTokens, NewToken};
pub use decode_stream::DecodeStream;
pub use decoder::to_utf16;
pub use encoder::Word;
pub use encoding::{Columns, Encoding, NO_ID, OffsetUnit};
pub use error::{DecodeError, EncodeError, LoadError, SaveError};
pub use load::encodings::{definition as encoding_definition, file as encoding_file, names as encoding_names};
pub use options::{DecodeOptions, EncodeOptions, RankDefinition, Setting};
pub use padding::{PadTo, Padding};
pub use parts::Format;
pub use simd::choice::{CpuLevelError, cpu_level};
pub use stop_stream::{Finish, Released, StopOptions, StopReason, StopStream};
pub use text::{Input, Literal, Sequence, Text};
pub use token_bytes::TokenBytes;
pub use tokenizer::Tokenizer;
pub use tokenlane_memory as memory;
use tokenlane_memory::lock;
use tokenlane_pattern as pattern;
use tokenlane_pattern::span;
use tokenlane_simd as simd;
use tokenlane_simd::word_key;
pub use truncation::{Direction, Truncation, TruncationStrategy};

/// Compiles and runs the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
