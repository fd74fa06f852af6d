//! A tokenizer: the stages in order, immutable and shared, and the encoders that it lends to workers.

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
use crate::memory::OutOfMemory;
use crate::memory::fallible::{catch, check, collect, with_room};
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

/// Turns text into token ids and back. Immutable; any number of threads may use one at the same time.
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
    /// What cuts into words after the pre-tokenizer's stages, which then do not cut, where there is a scanner for it.
    pub(crate) scanner: Option<Scanner>,
    /// Whether stages ask where in the original a text stands, even when no offsets are wanted.
    pub(crate) needs_origins: bool,
    /// Set when the model can read a text as it stands, all but the first of its pieces.
    pub(crate) spaces: Option<Spaces>,
    pub(crate) model: Arc<Model>,
    pub(crate) post_processor: PostProcessor,
    pub(crate) decoder: Decoder,
    /// What the file says of truncation and padding.
    truncation: Option<Truncation>,
    padding: Option<Padding>,
    /// What [`SpecialTokens::FileDefault`] means here.
    pub(crate) default_policy: Policy,
    /// What it was made from.
    pub(crate) definition: Definition,
    encoders: Encoders,
    /// See [`Self::most_bytes_per_token`].
    pub(crate) token_reach: OnceLock<Option<usize>>,
    /// See [`Self::reach`].
    pub(crate) reach: OnceLock<Option<Box<Reach>>>,
}

/// What the vocabulary's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenForm {
    /// The text that the model sees.
    Text,
    /// The printable form of the bytes that the model sees.
    Printable,
    /// The bytes that the model sees; ids outside the vocabulary are an error. Rank files.
    Ranks,
}

/// How a text is to be encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Whether the post-processor adds its special tokens. Default true. (A rank file has no post-processor.)
    pub add_special_tokens: bool,
    /// What becomes of special tokens that the text itself spells out. Default [`SpecialTokens::FileDefault`].
    pub special_tokens: SpecialTokens,
    /// What is wanted beside the ids. Default nothing.
    pub columns: Columns,
    /// What offsets count. Default bytes.
    pub offset_unit: OffsetUnit,
    /// How long an encoding may be. Default as the file says, which is mostly nothing.
    pub truncation: Setting<Truncation>,
    /// What encodings are filled up to. Default as the file says, which is mostly nothing.
    pub padding: Setting<Padding>,
    /// Whether what truncation cuts off is wanted too. Default false.
    pub overflow: bool,
}

/// Something that a file may say and a call may say otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Setting<T> {
    /// As the file says.
    #[default]
    FileDefault,
    /// Not at all.
    Off,
    /// So.
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

/// How ids are to be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecodeOptions {
    /// Whether special tokens are left out. Default false.
    pub skip_special_tokens: bool,
}

/// What a rank file does not say itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankDefinition {
    /// The regular expression whose matches are the words, in the dialect of the fancy-regex crate, as tiktoken's are.
    /// Text that it does not match is dropped.
    pub pattern: String,
    /// Special tokens with their ids. Two may share an id; the first is what it decodes to.
    pub special_tokens: Vec<(String, u32)>,
}

/// The parts of a tokenizer, as the loaders make them.
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

    /// A tokenizer from the bytes of a file, whose format is told by its content.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        catch(|| load::from_bytes(bytes).map(Self::ready))
    }

    /// A tokenizer from the bytes of a tokenizer.json (Hugging Face).
    pub fn from_tokenizer_json(bytes: &[u8]) -> Result<Self, LoadError> {
        catch(|| load::tokenizer_json::load(bytes).map(Self::ready))
    }

    /// A bundled encoding by name; `ranks` are the bytes of the file that [`crate::encoding_file`] names.
    pub fn from_encoding(name: &str, ranks: &[u8]) -> Result<Self, LoadError> {
        catch(|| load::ranks::load(ranks, &load::encodings::definition(name)?).map(Self::ready))
    }

    /// A tokenizer from the bytes of a rank file (tiktoken): lines of base64 and rank.
    pub fn from_ranks(ranks: &[u8], definition: &RankDefinition) -> Result<Self, LoadError> {
        catch(|| load::ranks::load(ranks, definition).map(Self::ready))
    }

    /// The bytes of a tokenizer.json that loads again to the same behaviour. The same tokenizer gives the same bytes.
    ///
    /// What was made from a tokenizer.json can always be written. What was made from ranks is written if it can be, and is
    /// an error otherwise; the format itself decides that special tokens are parsed unless the caller says otherwise, that
    /// decoding leaves out ids that no token has, and that tokens are written in the printable characters of ByteLevel.
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

    /// Encodes a text or a pair, each whole or cut into words.
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

    /// Appends the ids of one text to `ids`; whatever columns the options name are not made. After an error `ids` is as
    /// it was.
    pub fn encode_ids(&self, text: Text<'_>, options: &EncodeOptions, ids: &mut Vec<u32>) -> Result<(), EncodeError> {
        let plan = Plan { columns: Columns::NONE, overflow: false, ..self.plan(options)? };
        if plan.padding.is_some() {
            let options = EncodeOptions { columns: Columns::NONE, overflow: false, ..options.clone() };
            ids.extend(self.encode(text, &options)?.ids);
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

    /// How many tokens a text has, whatever the options or the file say of truncation and padding.
    pub fn count(&self, text: Text<'_>, options: &EncodeOptions) -> Result<usize, EncodeError> {
        let plan = self.count_plan(options)?;
        self.with_encoder(|encoder| encoder.count(self, &text.into(), &plan, usize::MAX))
    }

    /// The text that ids stand for. Bytes that are no UTF-8 become U+FFFD: one for each maximal part of a broken
    /// character, or, where bytes are tokens of their own (byte fallback), one for each byte of a broken run. Ids outside the vocabulary are left out for a tokenizer.json (as Hugging Face does), and an error for
    /// ranks (as in tiktoken).
    pub fn decode(&self, ids: &[u32], options: &DecodeOptions) -> Result<String, DecodeError> {
        self.check_ids(ids, 0)?;
        catch(|| self.decoder.text(self.decoded_tokens(ids, options), Budget::of_ids(ids.len())))
    }

    /// The bytes that ids stand for, as [`Self::decode`] before broken characters are replaced. (A decoder that replaces
    /// by a regular expression needs text: what is broken then is replaced here too.)
    pub fn decode_bytes(&self, ids: &[u32], options: &DecodeOptions) -> Result<Vec<u8>, DecodeError> {
        self.check_ids(ids, 0)?;
        catch(|| self.decoder.bytes(self.decoded_tokens(ids, options), Budget::of_ids(ids.len())))
    }

    /// Fails at an id that no token has, where that is an error. `before` ids were checked already.
    pub(crate) fn check_ids(&self, ids: &[u32], before: usize) -> Result<(), DecodeError> {
        match self.token_form {
            TokenForm::Ranks => match ids.iter().position(|&id| self.token_bytes(id).is_none()) {
                Some(index) => Err(DecodeError::UnknownId { id: ids[index], index: before + index }),
                None => Ok(()),
            },
            TokenForm::Text | TokenForm::Printable => Ok(()),
        }
    }

    /// The tokens of ids, as the decoder takes them.
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

    /// The id of a token, as the vocabulary writes it.
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.added_tokens.by_content(token).map(|added| added.id).or_else(|| self.vocab.id(token.as_bytes()))
    }

    /// An upper bound of the length of a token in bytes.
    pub fn max_token_bytes(&self) -> usize {
        let added = self.added_tokens.tokens().iter().map(|token| token.content.len());
        added.fold(self.vocab.text_bytes(), usize::max)
    }

    /// The token with an id, as the vocabulary writes it; of a rank file's token, which may be part of a character, with
    /// U+FFFD for what is no text.
    pub fn id_to_token(&self, id: u32) -> Option<String> {
        self.token_bytes(id).map(|token| String::from_utf8_lossy(token).into_owned())
    }

    /// How many tokens there are, in the model's vocabulary or together with the added ones.
    pub fn vocab_size(&self, with_added_tokens: bool) -> usize {
        let added = self.added_tokens.tokens().iter().filter(|token| self.vocab.id(token.content.as_bytes()).is_none());
        self.vocab.len() + if with_added_tokens { added.count() } else { 0 }
    }

    /// Heap memory of the tables and of the encoders that wait for work, in bytes, about. Tables that another tokenizer
    /// shares (see [`Self::with`]) do not count.
    pub fn memory_bytes(&self) -> usize {
        let vocab = if Arc::strong_count(&self.vocab) == 1 { self.vocab.memory_bytes() } else { 0 };
        let model = if Arc::strong_count(&self.model) == 1 { self.model.memory_bytes() } else { 0 };
        let reach = self.reach.get().and_then(Option::as_deref).map_or(0, Reach::memory_bytes);
        vocab + model + self.token_lens.memory_bytes() + reach + self.encoders.memory_bytes()
    }

    /// Heap memory of the word caches of the encoders that wait for work, in bytes.
    pub fn cache_bytes(&self) -> usize {
        self.encoders.memory_bytes()
    }

    /// Words found and not found in the caches of the encoders that wait for work.
    pub fn cache_counts(&self) -> (u64, u64) {
        self.encoders.cache_counts()
    }

    /// How many bytes of text the encoders that wait for work were given in all their calls: what tests count work by.
    pub fn encoded_bytes(&self) -> u64 {
        self.encoders.encoded_bytes()
    }

    fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.added_tokens.decoded_form(id).map(str::as_bytes).or_else(|| self.vocab.token(id))
    }

    /// A token of the model, as the vocabulary writes it.
    pub(crate) fn model_token(&self, id: u32) -> Option<Cow<'_, str>> {
        self.vocab.token(id).map(String::from_utf8_lossy)
    }

    /// How many bytes of what the model sees a token covers, if nothing about the word makes it vary.
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

    /// A plan for nothing but the number of tokens.
    pub(crate) fn count_plan(&self, options: &EncodeOptions) -> Result<Plan, EncodeError> {
        let plan = self.plan(options)?;
        Ok(Plan { columns: Columns::NONE, truncation: None, padding: None, overflow: false, ..plan })
    }

    /// The truncation of a call. What the caller asks for is refused at once when one text could never be cut that way;
    /// what the file says is only refused when it comes to that.
    fn truncation_of(&self, options: &EncodeOptions) -> Result<Option<Truncation>, EncodeError> {
        if let Setting::On(truncation) = options.truncation {
            let added = self.post_processor.added_tokens(false);
            let max_length = truncation.max_length.saturating_sub(if options.add_special_tokens { added } else { 0 });
            // Where the special tokens alone are more than `max_length` the reference never refuses, whether they are added
            // or not.
            if truncation.max_length >= added && max_length < truncation.stride {
                return Err(EncodeError::TruncationStride { stride: truncation.stride, max_length });
            }
        }
        Ok(options.truncation.or_file(self.truncation.as_ref()))
    }

    /// What the file says of truncation.
    pub fn truncation(&self) -> Option<&Truncation> {
        self.truncation.as_ref()
    }

    /// What the file says of padding.
    pub fn padding(&self) -> Option<&Padding> {
        self.padding.as_ref()
    }

    /// What word caches know from the start.
    pub(crate) fn seeds(&self) -> Seeds<'_> {
        Seeds::new(&self.vocab, self.token_form, &self.model)
    }

    /// Makes an encoder that knows words, so that the first text need not wait for it. Without memory for that it waits.
    fn ready(self) -> Self {
        let seed = |encoder: &mut Encoder| {
            encoder.seed(&self.seeds());
            Ok::<_, OutOfMemory>(())
        };
        let _ = self.with_encoder(seed);
        self
    }

    /// As [`Self::lend_encoder`]; without enough memory that is an error.
    pub(crate) fn with_encoder<T, E: From<OutOfMemory>>(
        &self,
        work: impl FnOnce(&mut Encoder) -> Result<T, E>,
    ) -> Result<T, E> {
        catch(|| {
            check()?;
            self.lend_encoder(work)
        })
    }

    /// Lends an encoder for as long as `work` takes. When `work` unwinds the encoder is dropped with whatever state it is in.
    pub(crate) fn lend_encoder<T>(&self, work: impl FnOnce(&mut Encoder) -> T) -> T {
        let mut encoder = self.encoders.lend();
        let result = work(&mut encoder);
        self.encoders.give_back(encoder);
        result
    }

    /// The same for a batch of so many bytes. Where it is large the encoder knows words from the start, which takes it some
    /// milliseconds if it does not know them yet. A single text never waits for that.
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

/// Encoders that nobody uses at the moment.
#[derive(Debug)]
struct Encoders {
    /// In boxes, because they are lent for every text and larger than most.
    idle: ObjectPool<Box<Encoder>>,
    /// What their word caches tell each other.
    shared: Arc<SharedWords>,
}

impl Default for Encoders {
    fn default() -> Self {
        Self { idle: ObjectPool::new(Self::most_idle()), shared: Arc::default() }
    }
}

impl Encoders {
    /// Bytes of all idle encoders' word caches together, about, however many processors there are.
    const ALL_CACHE_BYTES: usize = 72 << 20;
    /// Bytes of one encoder's word cache, at most: 524,288 short words and 6 MiB for the others. It grows to that with the words it meets.
    const MOST_CACHE_BYTES: usize = if cfg!(feature = "fuzzing") { Self::LEAST_CACHE_BYTES } else { 24 << 20 };
    /// And at least: less forgets words before they come again. (That is what fuzz targets want, and small ones are quick to make.)
    const LEAST_CACHE_BYTES: usize = if cfg!(feature = "fuzzing") { 1 << 14 } else { 1 << 20 };

    /// As many encoders as work at the same time are kept when idle, those of one worker for each processor and that of
    /// the thread that calls; the caches share what there is for all.
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
