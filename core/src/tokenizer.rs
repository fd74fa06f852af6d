//! A tokenizer: the stages in order, immutable and shared, and a pool of encoders for workers.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

use crate::added_tokens::{AddedTokens, Policy, SpecialTokens};
use crate::bounded::reach::Reach;
use crate::bpe::Spaces;
use crate::bpe::word_cache::SharedWords;
use crate::budget::Budget;
use crate::decoder::Decoder;
use crate::definition::Definition;
use crate::encoder::{Encoder, Plan, Seeds};
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::{DecodeError, EncodeError, LoadError, SaveError};
use crate::load;
use crate::memory::fallible::{catch, check, collect, with_room};
use crate::memory::{Grow, OutOfMemory};
use crate::model::Model;
use crate::normalizer::Normalizer;
use crate::object_pool::ObjectPool;
use crate::padding::Padding;
use crate::post_processor::PostProcessor;
use crate::pretokenizer::PreTokenizer;
use crate::pretokenizer::scanner::Scanner;
use crate::save;
use crate::segmenter::Segmenter;
use crate::text::{Input, Sequence, Text};
use crate::token_lens::TokenLens;
use crate::truncation::Truncation;
use crate::vocab::Vocab;

/// Converts text to token ids and back. Immutable; any number of threads may use it at the same
/// time.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use tokenlane_core::{EncodeOptions, DecodeOptions, RankDefinition, Tokenizer};
///
/// // A rank file of six tokens; real ones have hundreds of thousands.
/// let ranks = "aA== 0\nZQ== 1\nbA== 2\nbw== 3\nbGw= 4\naGU= 5\n"; // h e l o ll he
/// let definition = RankDefinition { pattern: r"\w+|\s+|[^\w\s]+".into(), special_tokens: vec![] };
/// let tokenizer = Tokenizer::from_ranks(ranks.as_bytes(), &definition)?;
/// let encoding = tokenizer.encode("hello".into(), &EncodeOptions::default())?;
/// assert_eq!(encoding.ids(), [5, 4, 3]);
/// assert_eq!(tokenizer.decode(encoding.ids(), &DecodeOptions::default())?, "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Tokenizer {
    pub(crate) vocab: Arc<Vocab>,
    pub(crate) token_form: TokenForm,
    token_lens: TokenLens,
    pub(crate) added_tokens: AddedTokens,
    pub(crate) normalizer: Option<Normalizer>,
    pub(crate) pretokenizer: PreTokenizer,
    /// Replaces normalizer and pre-tokenizer for most texts, if the combination has a segmenter.
    pub(crate) segmenter: Option<Segmenter>,
    /// Replaces the last stages of the pre-tokenizer, which split text into words, if there is a
    /// scanner for them. The remaining stages then do not split.
    pub(crate) scanner: Option<Scanner>,
    /// Whether a stage needs the position of its text in the original, even if offsets are not
    /// requested.
    pub(crate) needs_origins: bool,
    /// Set if the model can read a text without replacing its spaces first, except for its first
    /// piece.
    pub(crate) spaces: Option<Spaces>,
    pub(crate) model: Arc<Model>,
    pub(crate) post_processor: PostProcessor,
    pub(crate) decoder: Decoder,
    /// The file's truncation and padding.
    truncation: Option<Truncation>,
    padding: Option<Padding>,
    /// The meaning of [`SpecialTokens::FileDefault`] for this tokenizer.
    pub(crate) default_policy: Policy,
    /// The definition from which it was built.
    pub(crate) definition: Definition,
    encoders: Encoders,
    /// See [`Self::most_bytes_per_token`].
    pub(crate) token_reach: OnceLock<Option<usize>>,
    /// See [`Self::reach`].
    pub(crate) reach: OnceLock<Option<Box<Reach>>>,
}

/// The form of the tokens in the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenForm {
    /// The text that the model reads.
    Text,
    /// The printable form of the bytes that the model reads.
    Printable,
    /// The bytes that the model reads, from a rank file. Decoding an id outside the vocabulary is
    /// an error.
    Ranks,
}

/// The options of encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Whether the post-processor adds its special tokens. Default true. (A rank file has no
    /// post-processor.)
    pub add_special_tokens: bool,
    /// The treatment of special tokens that are spelled out in the text. Default
    /// [`SpecialTokens::FileDefault`].
    pub special_tokens: SpecialTokens,
    /// The columns to compute in addition to the ids. Default none.
    pub columns: Columns,
    /// The unit of offsets. Default bytes.
    pub offset_unit: OffsetUnit,
    /// The maximum length of an encoding. Default that of the file; most files have none.
    pub truncation: Setting<Truncation>,
    /// The padding of encodings. Default that of the file; most files have none.
    pub padding: Setting<Padding>,
    /// Whether to return the overflow of truncation. Default false.
    pub overflow: bool,
}

/// A setting of the file that a call can override.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Setting<T> {
    /// The setting of the file. The default.
    #[default]
    FileDefault,
    /// Disabled.
    Off,
    /// Enabled, with this value.
    On(T),
}

impl<T: Clone> Setting<T> {
    pub(crate) fn or_file(&self, file: Option<&T>) -> Option<T> {
        match self {
            Self::FileDefault => file.cloned(),
            Self::Off => None,
            Self::On(value) => Some(value.clone()),
        }
    }
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self {
            add_special_tokens: true,
            special_tokens: SpecialTokens::FileDefault,
            columns: Columns::NONE,
            offset_unit: OffsetUnit::Byte,
            truncation: Setting::FileDefault,
            padding: Setting::FileDefault,
            overflow: false,
        }
    }
}

/// The options of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecodeOptions {
    /// Whether special tokens are left out. Default false.
    pub skip_special_tokens: bool,
}

/// The parts of a tokenizer that a rank file does not contain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankDefinition {
    /// The regular expression whose matches are the words, in the dialect of the fancy-regex crate,
    /// which tiktoken uses. Text that it does not match is dropped.
    pub pattern: String,
    /// Special tokens with their ids. If two share an id, it decodes to the first.
    pub special_tokens: Vec<(String, u32)>,
}

/// The parts of a tokenizer, as the loaders build them.
pub(crate) struct Parts {
    pub(crate) vocab: Arc<Vocab>,
    pub(crate) token_form: TokenForm,
    pub(crate) added_tokens: AddedTokens,
    pub(crate) normalizer: Option<Normalizer>,
    pub(crate) pretokenizer: PreTokenizer,
    pub(crate) spaces: Option<Spaces>,
    pub(crate) segmenter: Option<Segmenter>,
    pub(crate) model: Arc<Model>,
    pub(crate) post_processor: PostProcessor,
    pub(crate) decoder: Decoder,
    pub(crate) truncation: Option<Truncation>,
    pub(crate) padding: Option<Padding>,
    pub(crate) definition: Definition,
}

impl Tokenizer {
    pub(crate) fn from_parts(parts: Parts) -> Self {
        let Parts { vocab, token_form, added_tokens, normalizer, mut pretokenizer, .. } = parts;
        let Parts { spaces, segmenter, model, post_processor, decoder, truncation, padding, .. } = parts;
        let marks = segmenter.as_ref().and_then(Segmenter::mark).map(|mark| Spaces { mark, start_words: true });
        Self {
            segmenter,
            scanner: pretokenizer.take_scanner(),
            needs_origins: pretokenizer.needs_origins(normalizer.is_some())
                || normalizer.as_ref().is_some_and(Normalizer::puts_before),
            default_policy: if token_form == TokenForm::Ranks { Policy::Throw } else { Policy::Parse },
            encoders: Encoders::default(),
            token_reach: OnceLock::new(),
            reach: OnceLock::new(),
            token_lens: TokenLens::new(
                &vocab,
                token_form,
                spaces.or(marks),
                parts.definition.continuing_prefix().as_bytes(),
                model.bpe().map(|bpe| &bpe.alphabet),
            ),
            vocab,
            token_form,
            added_tokens,
            normalizer,
            pretokenizer,
            spaces,
            model,
            post_processor,
            decoder,
            truncation,
            padding,
            definition: parts.definition,
        }
    }

    /// Loads a tokenizer from the bytes of a file. The format is recognized by its content.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        catch(|| load::from_bytes(bytes).map(Self::ready))
    }

    /// Loads a tokenizer from the bytes of a tokenizer.json (Hugging Face).
    pub fn from_tokenizer_json(bytes: &[u8]) -> Result<Self, LoadError> {
        catch(|| load::tokenizer_json::load(bytes).map(Self::ready))
    }

    /// Loads a bundled encoding by name. `ranks` are the bytes of the file that
    /// [`crate::encoding_file`] names.
    pub fn from_encoding(name: &str, ranks: &[u8]) -> Result<Self, LoadError> {
        catch(|| load::ranks::load(ranks, &load::encodings::definition(name)?).map(Self::ready))
    }

    /// Loads a tokenizer from the bytes of a rank file (tiktoken): lines of base64 and rank.
    pub fn from_ranks(ranks: &[u8], definition: &RankDefinition) -> Result<Self, LoadError> {
        catch(|| load::ranks::load(ranks, definition).map(Self::ready))
    }

    /// Returns the bytes of a tokenizer.json that loads to a tokenizer with the same behaviour. The
    /// result is deterministic.
    ///
    /// A tokenizer from a tokenizer.json can always be saved. For a tokenizer from ranks, this is
    /// an error if the format cannot express it. The saved tokenizer has three differences that the
    /// format implies: special tokens are parsed unless the caller's options differ, decoding skips
    /// unknown ids, and tokens are written with the printable characters of ByteLevel.
    pub fn to_json(&self) -> Result<Vec<u8>, SaveError> {
        catch(|| save::tokenizer_json(self))
    }

    /// Encodes one text.
    pub fn encode(&self, text: Text<'_>, options: &EncodeOptions) -> Result<Encoding, EncodeError> {
        self.encode_input(&text.into(), options)
    }

    /// Encodes a pair of texts.
    pub fn encode_pair<'a>(
        &self,
        text: impl Into<Sequence<'a>>,
        pair: impl Into<Sequence<'a>>,
        options: &EncodeOptions,
    ) -> Result<Encoding, EncodeError> {
        self.encode_input(&(text, pair).into(), options)
    }

    /// Encodes a text or a pair, each whole or split into words.
    pub fn encode_input(&self, input: &Input<'_>, options: &EncodeOptions) -> Result<Encoding, EncodeError> {
        let plan = Plan { ranges: options.columns != Columns::NONE, ..self.plan(options)? };
        self.with_encoder(|encoder| {
            let mut made = Encoding::default();
            let overflowing = encoder.encode(self, input, &plan, &mut made)?;
            let padding = plan.padding.as_ref().map(|padding| (padding, padding.target(made.len())));
            let finish = |mut encoding: Encoding| {
                if let Some((padding, target)) = padding {
                    encoding.pad(target, padding, plan.columns)?;
                }
                Ok(encoding)
            };
            made.overflowing = with_room(overflowing.len())?;
            for draft in &overflowing {
                let own_overflow = collect(draft.own_overflow.iter().copied())?;
                let mut part = Encoding { own_overflow, ..Encoding::default() };
                encoder.write(self, draft, &plan, &mut part);
                made.overflowing.push(finish(part)?);
            }
            finish(made)
        })
    }

    /// Appends the ids of one text to `ids`. Ignores the columns of the options. After an error,
    /// `ids` is unchanged.
    pub fn encode_ids(&self, text: Text<'_>, options: &EncodeOptions, ids: &mut Vec<u32>) -> Result<(), EncodeError> {
        let plan = Plan { columns: Columns::NONE, overflow: false, ..self.plan(options)? };
        if plan.padding.is_some() {
            let options = EncodeOptions { columns: Columns::NONE, overflow: false, ..options.clone() };
            let encoding = self.encode(text, &options)?;
            ids.try_grow(encoding.ids.len())?;
            ids.extend_from_slice(&encoding.ids);
            return Ok(());
        }
        let before = ids.len();
        let mut out = Encoding { ids: std::mem::take(ids), ..Encoding::default() };
        let result = self.with_encoder(|encoder| encoder.encode(self, &text.into(), &plan, &mut out));
        *ids = out.ids;
        if result.is_err() {
            ids.truncate(before);
        }
        result.map(|_| ())
    }

    /// Counts the tokens of a text. Ignores truncation and padding, in the options and in the file.
    pub fn count(&self, text: Text<'_>, options: &EncodeOptions) -> Result<usize, EncodeError> {
        let plan = self.count_plan(options)?;
        self.with_encoder(|encoder| encoder.count(self, &text.into(), &plan, usize::MAX))
    }

    /// Decodes ids to text. Invalid UTF-8 becomes U+FFFD: one for each maximal part of an invalid
    /// character; or one for each byte of an invalid run, if bytes are tokens of their own (byte
    /// fallback). Ids outside the vocabulary are skipped for a tokenizer.json, as in Hugging Face
    /// tokenizers, and an error for ranks, as in tiktoken.
    pub fn decode(&self, ids: &[u32], options: &DecodeOptions) -> Result<String, DecodeError> {
        self.check_ids(ids, 0)?;
        catch(|| self.decoder.text(self.decoded_tokens(ids, options), Budget::of_ids(ids.len())))
    }

    /// Decodes ids to bytes: like [`Self::decode`], without replacing invalid UTF-8. (A decoder
    /// that replaces by a regular expression needs text, so it replaces invalid UTF-8 here too.)
    pub fn decode_bytes(&self, ids: &[u32], options: &DecodeOptions) -> Result<Vec<u8>, DecodeError> {
        self.check_ids(ids, 0)?;
        catch(|| self.decoder.bytes(self.decoded_tokens(ids, options), Budget::of_ids(ids.len())))
    }

    /// Fails at the first unknown id, if that is an error. `before` is the number of ids that were
    /// checked before.
    pub(crate) fn check_ids(&self, ids: &[u32], before: usize) -> Result<(), DecodeError> {
        match self.token_form {
            TokenForm::Ranks => match ids.iter().position(|&id| self.token_bytes(id).is_none()) {
                Some(index) => Err(DecodeError::UnknownId { id: ids[index], index: before + index }),
                None => Ok(()),
            },
            TokenForm::Text | TokenForm::Printable => Ok(()),
        }
    }

    /// The tokens of ids, as input of the decoder.
    pub(crate) fn decoded_tokens<'a>(
        &'a self,
        ids: &'a [u32],
        options: &DecodeOptions,
    ) -> impl Iterator<Item = &'a [u8]> {
        let skip_special_tokens = options.skip_special_tokens;
        ids.iter().filter_map(|&id| self.token_bytes(id)).filter(move |token| {
            !skip_special_tokens || !std::str::from_utf8(token).is_ok_and(|token| self.added_tokens.is_special(token))
        })
    }

    /// The id of a token, spelled as in the vocabulary.
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.added_tokens.by_content(token).map(|added| added.id).or_else(|| self.vocab.id(token.as_bytes()))
    }

    /// An upper bound of the length of a token in bytes.
    pub fn max_token_bytes(&self) -> usize {
        let added = self.added_tokens.tokens().iter().map(|token| token.content.len());
        added.fold(self.vocab.text_bytes(), usize::max)
    }

    /// The token with an id, spelled as in the vocabulary. Tokens of a rank file may be parts of
    /// characters; invalid UTF-8 is replaced by U+FFFD.
    pub fn id_to_token(&self, id: u32) -> Option<String> {
        self.token_bytes(id).map(|token| String::from_utf8_lossy(token).into_owned())
    }

    /// The number of tokens in the model's vocabulary, with or without the added tokens.
    pub fn vocab_size(&self, with_added_tokens: bool) -> usize {
        let added = self.added_tokens.tokens().iter().filter(|token| self.vocab.id(token.content.as_bytes()).is_none());
        self.vocab.len() + if with_added_tokens { added.count() } else { 0 }
    }

    /// Approximate heap memory of the tables and of the idle encoders, in bytes. Tables that
    /// another tokenizer shares (see [`Self::with`]) do not count.
    pub fn memory_bytes(&self) -> usize {
        let vocab = if Arc::strong_count(&self.vocab) == 1 { self.vocab.memory_bytes() } else { 0 };
        let model = if Arc::strong_count(&self.model) == 1 { self.model.memory_bytes() } else { 0 };
        let reach = self.reach.get().and_then(Option::as_deref).map_or(0, Reach::memory_bytes);
        vocab + model + self.token_lens.memory_bytes() + reach + self.encoders.memory_bytes()
    }

    /// Heap memory of the word caches of the idle encoders, in bytes.
    pub fn cache_bytes(&self) -> usize {
        self.encoders.memory_bytes()
    }

    /// The hits and misses of the word caches of the idle encoders.
    pub fn cache_counts(&self) -> (u64, u64) {
        self.encoders.cache_counts()
    }

    /// The number of text bytes that the idle encoders have encoded in all calls. Tests measure
    /// work with it.
    pub fn encoded_bytes(&self) -> u64 {
        self.encoders.encoded_bytes()
    }

    fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.added_tokens.decoded_form(id).map(str::as_bytes).or_else(|| self.vocab.token(id))
    }

    /// A token of the model, spelled as in the vocabulary.
    pub(crate) fn model_token(&self, id: u32) -> Option<Cow<'_, str>> {
        self.vocab.token(id).map(String::from_utf8_lossy)
    }

    /// The number of bytes of the model's text that a token covers, unless the word makes it vary.
    #[inline]
    pub(crate) fn token_len(&self, id: u32) -> u32 {
        self.token_lens.get(&self.vocab, id)
    }

    pub(crate) fn plan(&self, options: &EncodeOptions) -> Result<Plan, EncodeError> {
        Ok(Plan {
            add_special_tokens: options.add_special_tokens,
            policy: self.added_tokens.policy(&options.special_tokens, &self.default_policy)?,
            columns: options.columns,
            offset_unit: options.offset_unit,
            truncation: self.truncation_of(options)?,
            padding: options.padding.or_file(self.padding.as_ref()),
            overflow: options.overflow,
            ranges: false,
        })
    }

    /// A plan that only yields the number of tokens.
    pub(crate) fn count_plan(&self, options: &EncodeOptions) -> Result<Plan, EncodeError> {
        let plan = self.plan(options)?;
        Ok(Plan { columns: Columns::NONE, truncation: None, padding: None, overflow: false, ..plan })
    }

    /// The truncation of a call. Fails at once if the stride of the caller's truncation exceeds the
    /// length that special tokens leave for a single text. The file's truncation fails only when it
    /// applies.
    fn truncation_of(&self, options: &EncodeOptions) -> Result<Option<Truncation>, EncodeError> {
        if let Setting::On(truncation) = options.truncation {
            let added = self.post_processor.added_tokens(false);
            let max_length = truncation.max_length.saturating_sub(if options.add_special_tokens { added } else { 0 });
            // If the special tokens alone exceed `max_length`, Hugging Face tokenizers never fails,
            // whether they are added or not.
            if truncation.max_length >= added && max_length < truncation.stride {
                return Err(EncodeError::TruncationStride { stride: truncation.stride, max_length });
            }
        }
        Ok(options.truncation.or_file(self.truncation.as_ref()))
    }

    /// The truncation of the file.
    pub fn truncation(&self) -> Option<&Truncation> {
        self.truncation.as_ref()
    }

    /// The padding of the file.
    pub fn padding(&self) -> Option<&Padding> {
        self.padding.as_ref()
    }

    /// The words that word caches contain from the start.
    pub(crate) fn seeds(&self) -> Seeds<'_> {
        Seeds::new(&self.vocab, self.token_form, &self.model)
    }

    /// Creates an encoder with seed words, so that the first text need not wait for it. If memory
    /// is short, the first text creates it.
    fn ready(self) -> Self {
        let seed = |encoder: &mut Encoder| {
            encoder.seed(&self.seeds());
            Ok::<_, OutOfMemory>(())
        };
        let _ = self.with_encoder(seed);
        self
    }

    /// Like [`Self::lend_encoder`], but a shortage of memory is an error.
    pub(crate) fn with_encoder<T, E: From<OutOfMemory>>(
        &self,
        work: impl FnOnce(&mut Encoder) -> Result<T, E>,
    ) -> Result<T, E> {
        catch(|| {
            check()?;
            self.lend_encoder(work)
        })
    }

    /// Runs `work` with an encoder of the pool. If `work` unwinds, the encoder is dropped, because
    /// its state may be inconsistent.
    pub(crate) fn lend_encoder<T>(&self, work: impl FnOnce(&mut Encoder) -> T) -> T {
        let mut encoder = self.encoders.lend();
        let result = work(&mut encoder);
        self.encoders.give_back(encoder);
        result
    }

    /// Like [`Self::with_encoder`], for a batch of `bytes`. For a large batch, inserts the seed
    /// words if the encoder does not have them yet, which takes some milliseconds. A single text
    /// never waits for that.
    pub(crate) fn with_encoder_for<T, E: From<OutOfMemory>>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut Encoder) -> Result<T, E>,
    ) -> Result<T, E> {
        const LARGE: usize = 1 << 18;
        self.with_encoder(|encoder| {
            if bytes >= LARGE {
                encoder.seed(&self.seeds());
            }
            work(encoder)
        })
    }
}

/// The encoders that are not in use.
#[derive(Debug)]
struct Encoders {
    /// Boxed, because encoders are large and are moved for every text.
    idle: ObjectPool<Box<Encoder>>,
    /// Short words that their caches share.
    shared: Arc<SharedWords>,
}

impl Default for Encoders {
    fn default() -> Self {
        Self { idle: ObjectPool::new(Self::most_idle()), shared: Arc::default() }
    }
}

impl Encoders {
    /// Approximate maximum size of all idle encoders' word caches, in bytes, whatever the number of
    /// processors: 72 MiB.
    const ALL_CACHE_BYTES: usize = 72 << 20;
    /// Maximum size of one encoder's word cache, in bytes: 524,288 short words and 6 MiB for
    /// others. The cache grows to that size as needed.
    const MOST_CACHE_BYTES: usize = if cfg!(feature = "fuzzing") { Self::LEAST_CACHE_BYTES } else { 24 << 20 };
    /// Minimum size of one encoder's word cache, in bytes. A smaller cache evicts words before they
    /// occur again. (Fuzz targets need evictions, and caches that are created quickly.)
    const LEAST_CACHE_BYTES: usize = if cfg!(feature = "fuzzing") { 1 << 14 } else { 1 << 20 };

    /// The maximum number of idle encoders: one for each worker on a processor, and one for the
    /// calling thread.
    fn most_idle() -> usize {
        static PROCESSORS: LazyLock<usize> =
            LazyLock::new(|| std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get));
        *PROCESSORS + 1
    }

    fn cache_bytes() -> usize {
        (Self::ALL_CACHE_BYTES / Self::most_idle()).clamp(Self::LEAST_CACHE_BYTES, Self::MOST_CACHE_BYTES)
    }

    fn lend(&self) -> Box<Encoder> {
        self.idle.take(|number| {
            if number > 0 {
                self.shared.start();
            }
            Box::new(Encoder::new(Self::cache_bytes(), number).sharing(Arc::clone(&self.shared)))
        })
    }

    fn give_back(&self, mut encoder: Box<Encoder>) {
        encoder.trim();
        self.idle.put(encoder);
    }

    fn memory_bytes(&self) -> usize {
        self.shared.memory_bytes()
            + self.idle.with_idle(|idle| idle.iter().map(|encoder| encoder.memory_bytes()).sum::<usize>())
    }

    fn encoded_bytes(&self) -> u64 {
        self.idle.with_idle(|idle| idle.iter().map(|encoder| encoder.encoded_bytes).sum())
    }

    fn cache_counts(&self) -> (u64, u64) {
        let counts = |idle: &[Box<Encoder>]| {
            idle.iter().map(|encoder| encoder.cache_counts()).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
        };
        self.idle.with_idle(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::Encoders;

    #[test]
    fn what_the_workers_and_the_caller_learned_is_kept_when_all_of_them_were_at_work() {
        let encoders = Encoders::default();
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let at_once = || {
            let lent: Vec<_> = (0..=workers).map(|_| encoders.lend()).collect();
            let mut which: Vec<_> = lent.iter().map(|encoder| &raw const **encoder).collect();
            lent.into_iter().for_each(|encoder| encoders.give_back(encoder));
            which.sort();
            (which, encoders.idle.with_idle(<[_]>::len))
        };
        let (before, idle) = at_once();
        assert_eq!(idle, workers + 1);
        assert_eq!(at_once().0, before);
    }
}
