//! A tokenizer: the stages in order, immutable and shared, and a pool of encoders for workers.

use std::sync::{Arc, LazyLock, OnceLock};

use crate::added_tokens::AddedToken;
use crate::bpe::word_cache::{CacheBudget, WordCache};
use crate::budget::Budget;
use crate::decoder::from_utf8_lossy;
use crate::decoder::token_table::TokenTable;
use crate::encoder::{Encoder, Plan, Request, Seeds, Session, Word};
use crate::encoding::{Columns, Encoding};
use crate::error::{DecodeError, EncodeError, LoadError, SaveError};
use crate::load;
use crate::memory::fallible::{catch, check, collect, with_capacity};
use crate::memory::{Grow, OutOfMemory};
use crate::object_pool::ObjectPool;
use crate::options::{DecodeOptions, EncodeOptions, RankDefinition, Setting};
use crate::padding::Padding;
use crate::parts::{Format, ModelSettings, Parts, Source};
use crate::pipeline::Pipeline;
use crate::save;
use crate::text::{Input, Sequence, Text};
use crate::truncation::Truncation;
use crate::vocab::TokenForm;

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
    pub(crate) pipeline: Pipeline,
    encoders: Encoders,
    /// The result of [`Self::max_bytes_per_token`], computed on first use.
    pub(crate) token_reach: OnceLock<Option<usize>>,
}

impl Tokenizer {
    pub(crate) fn new(pipeline: Pipeline) -> Self {
        Self { pipeline, encoders: Encoders::default(), token_reach: OnceLock::new() }
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
    /// A tokenizer from a tokenizer.json can always be saved, one from a SentencePiece model never.
    /// For a tokenizer from ranks, this is an error if the format cannot express it. Its saved form
    /// has three differences that the format implies: special tokens are parsed unless the caller's
    /// options differ, decoding skips unknown ids, and tokens are written with the printable
    /// characters of ByteLevel.
    pub fn to_json(&self) -> Result<Vec<u8>, SaveError> {
        catch(|| save::tokenizer_json(&self.pipeline))
    }

    /// Writes the tokenizer.json without its vocabulary and merges; `None` for a tokenizer of
    /// another file.
    pub fn components_json(&self) -> Result<Option<Vec<u8>>, SaveError> {
        catch(|| Ok(save::components_json(&self.pipeline)))
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
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub fn encode_input(&self, input: &Input<'_>, options: &EncodeOptions) -> Result<Encoding, EncodeError> {
        let plan = Plan { ranges: options.columns != Columns::NONE, ..self.plan(options)? };
        self.with_encoder(|session| {
            let mut made = Encoding::default();
            let overflowing = session.encode(*input, &mut Request::all(&plan), &mut made)?;
            let padding = plan.padding.as_ref().map(|padding| (padding, padding.target(made.len())));
            let finish = |mut encoding: Encoding| {
                if let Some((padding, target)) = padding {
                    encoding.pad(target, padding, plan.columns)?;
                }
                Ok(encoding)
            };
            made.overflowing = with_capacity(overflowing.len())?;
            for draft in &overflowing {
                let own_overflow = collect(draft.own_overflow.iter().copied())?;
                let mut part = Encoding { own_overflow, ..Encoding::default() };
                session.write(draft, &plan, &mut part);
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
        let result = self.with_encoder(|session| session.encode(text, &mut Request::all(&plan), &mut out));
        *ids = out.ids;
        if result.is_err() {
            ids.truncate(before);
        }
        result.map(|_| ())
    }

    /// Counts the tokens of a text. Ignores truncation and padding, in the options and in the file.
    pub fn count(&self, text: Text<'_>, options: &EncodeOptions) -> Result<usize, EncodeError> {
        let plan = self.count_plan(options)?;
        self.with_encoder(|session| session.count(text, &mut Request::all(&plan)))
    }

    /// Calls `visit` with the words of texts, in order: added tokens, and what the normalizer and
    /// the pre-tokenizer make of the text between them. Words are what the model would get: if it
    /// reads bytes instead of the printable characters of ByteLevel ([`Self::reads_bytes`]), so do
    /// words. A failure names the text by its index.
    pub fn each_word<'a>(
        &self,
        texts: impl IntoIterator<Item = Text<'a>>,
        mut visit: impl FnMut(Word<'_>),
    ) -> Result<(), (usize, EncodeError)> {
        let mut number = 0;
        let mut buffer = String::new();
        let visited = self.with_encoder(|session| {
            texts.into_iter().enumerate().try_for_each(|(index, text)| {
                number = index;
                session.each_word(text.to_utf8(&mut buffer)?, &mut visit)
            })
        });
        visited.map_err(|error: EncodeError| (number, error))
    }

    /// Whether the model works on bytes, so that the pre-tokenizer does not write them as printable
    /// characters.
    pub fn reads_bytes(&self) -> bool {
        self.pipeline.token_form != TokenForm::Text
    }

    /// Decodes ids to text. Invalid UTF-8 becomes U+FFFD: one for each maximal part of an invalid
    /// character; or one for each byte of an invalid run, if bytes are tokens of their own (byte
    /// fallback). Ids outside the vocabulary are skipped for a tokenizer.json, as in Hugging Face
    /// tokenizers, and an error for ranks, as in tiktoken.
    pub fn decode(&self, ids: &[u32], options: &DecodeOptions) -> Result<String, DecodeError> {
        catch(|| Ok(from_utf8_lossy(self.decoded(ids, *options, false)?)))
    }

    /// Decodes ids to bytes: like [`Self::decode`], without replacing invalid UTF-8. (A decoder
    /// that replaces by a regular expression needs text, so it replaces invalid UTF-8 here too.)
    pub fn decode_bytes(&self, ids: &[u32], options: &DecodeOptions) -> Result<Vec<u8>, DecodeError> {
        catch(|| self.decoded(ids, *options, true))
    }

    /// The bytes of ids. Unless they are `raw`, a step of the decoder that joins bytes replaces
    /// invalid UTF-8.
    fn decoded(&self, ids: &[u32], options: DecodeOptions, raw: bool) -> Result<Vec<u8>, DecodeError> {
        let (pipeline, budget) = (&self.pipeline, Budget::of_ids(ids.len()));
        if let Some(bytes) = pipeline.joined_tokens(ids, options, budget.limit()) {
            return Ok(bytes);
        }
        pipeline.check_ids(ids, 0)?;
        let mut state = pipeline.decoder.start(budget, raw);
        pipeline.decoder.decode(&mut state, pipeline.decoded_tokens(ids, options), true)
    }

    /// The id of a token, spelled as in the vocabulary.
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        let Parts { vocab, added_tokens, .. } = &self.pipeline.parts;
        added_tokens.by_content(token).map(|added| added.id).or_else(|| vocab.id(token.as_bytes()))
    }

    /// An upper bound of the length of a token in bytes.
    pub fn max_token_bytes(&self) -> usize {
        let added = self.pipeline.parts.added_tokens.tokens().iter().map(|token| token.content.len());
        added.fold(self.pipeline.parts.vocab.text_bytes(), usize::max)
    }

    /// The token with an id, spelled as in the vocabulary. Tokens of a rank file may be parts of
    /// characters; invalid UTF-8 is replaced by U+FFFD.
    pub fn id_to_token(&self, id: u32) -> Option<String> {
        self.pipeline.token_bytes(id).map(|token| String::from_utf8_lossy(token).into_owned())
    }

    /// The largest id of a token; `None` if there are no tokens.
    pub fn max_id(&self) -> Option<u32> {
        let added = self.pipeline.parts.added_tokens.tokens().iter().map(|token| token.id).max();
        self.pipeline.parts.vocab.max_id().max(added)
    }

    /// The special tokens that decoding knows, in the order of their definitions.
    pub fn special_tokens(&self) -> impl Iterator<Item = (&str, u32)> {
        let added = &self.pipeline.parts.added_tokens;
        let is_special = |token: &&AddedToken| token.special && added.by_id(token.id).is_some();
        added.tokens().iter().filter(is_special).map(|token| (token.content.as_str(), token.id))
    }

    /// The id of the token for unknown text, if the model has one.
    pub fn unk_id(&self) -> Option<u32> {
        match &self.pipeline.parts.source {
            Source::TokenizerJson(components) => match &components.model {
                ModelSettings::Bpe(model) => self.token_to_id(model.unk_token.as_deref()?),
                ModelSettings::WordPiece(model) => self.token_to_id(&model.unk_token),
                ModelSettings::WordLevel(model) => self.token_to_id(&model.unk_token),
                ModelSettings::Unigram(model) => model.unk_id,
            },
            Source::SentencePiece => self.pipeline.model.sentencepiece_unk_id(),
            Source::Ranks(_) => None,
        }
    }

    /// The number of tokens in the model's vocabulary, with or without the added tokens.
    pub fn vocab_size(&self, with_added_tokens: bool) -> usize {
        let Parts { vocab, added_tokens, .. } = &self.pipeline.parts;
        let added = added_tokens.tokens().iter().filter(|token| vocab.id(token.content.as_bytes()).is_none());
        vocab.len() + if with_added_tokens { added.count() } else { 0 }
    }

    /// Approximate heap memory of the tables and of the idle encoders, in bytes. Tables that
    /// another tokenizer shares (see [`Self::with`]) do not count.
    pub fn memory_bytes(&self) -> usize {
        let Pipeline { parts: Parts { vocab, .. }, model, token_lens, token_table, .. } = &self.pipeline;
        let vocab = if Arc::strong_count(vocab) == 1 { vocab.memory_bytes() } else { 0 };
        let model = if Arc::strong_count(model) == 1 { model.memory_bytes() } else { 0 };
        let texts = token_table.get().and_then(Option::as_ref).map_or(0, TokenTable::memory_bytes);
        vocab + model + token_lens.memory_bytes() + texts + self.encoders.memory_bytes()
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

    pub(crate) fn plan(&self, options: &EncodeOptions) -> Result<Plan, EncodeError> {
        let Parts { added_tokens, default_policy, padding, .. } = &self.pipeline.parts;
        Ok(Plan {
            add_special_tokens: options.add_special_tokens,
            policy: added_tokens.policy(&options.special_tokens, default_policy)?,
            columns: options.columns,
            offset_unit: options.offset_unit,
            spans_sources: false,
            truncation: self.truncation_of(options)?,
            padding: options.padding.or_file(padding.as_ref()),
            overflow: options.overflow,
            ranges: false,
        })
    }

    /// A plan that only yields the number of tokens. Offsets added to it are for cutting texts.
    pub(crate) fn count_plan(&self, options: &EncodeOptions) -> Result<Plan, EncodeError> {
        let plan = self.plan(options)?;
        let columns = Columns::NONE;
        Ok(Plan { columns, spans_sources: true, truncation: None, padding: None, overflow: false, ..plan })
    }

    /// The truncation of a call. Fails at once if the stride of the caller's truncation exceeds the
    /// length that special tokens leave for a single text. The file's truncation fails only when it
    /// applies.
    fn truncation_of(&self, options: &EncodeOptions) -> Result<Option<Truncation>, EncodeError> {
        if let Setting::On(truncation) = options.truncation {
            let added = self.pipeline.post_processor.added_tokens(false);
            let max_length = truncation.max_length.saturating_sub(if options.add_special_tokens { added } else { 0 });
            // If the special tokens alone exceed `max_length`, Hugging Face tokenizers never fails,
            // whether they are added or not.
            if truncation.max_length >= added && max_length < truncation.stride {
                return Err(EncodeError::TruncationStride { stride: truncation.stride, max_length });
            }
        }
        Ok(options.truncation.or_file(self.pipeline.parts.truncation.as_ref()))
    }

    /// The format of the file.
    pub fn format(&self) -> Format {
        match self.pipeline.parts.source {
            Source::TokenizerJson(_) => Format::TokenizerJson,
            Source::SentencePiece => Format::SentencePiece,
            Source::Ranks(_) => Format::Ranks,
        }
    }

    /// The truncation of the file.
    pub fn truncation(&self) -> Option<&Truncation> {
        self.pipeline.parts.truncation.as_ref()
    }

    /// The padding of the file.
    pub fn padding(&self) -> Option<&Padding> {
        self.pipeline.parts.padding.as_ref()
    }

    /// The words that word caches contain from the start.
    pub(crate) fn seeds(&self) -> Seeds<'_> {
        Seeds::new(&self.pipeline.parts.vocab, self.pipeline.token_form, &self.pipeline.model)
    }

    /// A tokenizer with one encoder that has seed words, so that the first text need not wait for
    /// it. If memory is short, the first text creates it.
    fn ready(pipeline: Pipeline) -> Self {
        let made = Self::new(pipeline);
        let seed = |session: &mut Session<'_>| {
            session.seed(&made.seeds());
            Ok::<_, OutOfMemory>(())
        };
        let _ = made.with_encoder(seed);
        made
    }

    /// Like [`Self::with_idle_encoder`], but a shortage of memory is an error.
    pub(crate) fn with_encoder<T, E: From<OutOfMemory>>(
        &self,
        work: impl FnOnce(&mut Session<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        catch(|| {
            check()?;
            self.with_idle_encoder(|encoder| work(&mut Session::new(&self.pipeline, encoder)))
        })
    }

    /// Runs `work` with an encoder of the pool. If `work` unwinds, the encoder is dropped, because
    /// its state may be inconsistent.
    pub(crate) fn with_idle_encoder<T>(&self, work: impl FnOnce(&mut Encoder) -> T) -> T {
        let mut encoder = self.encoders.take();
        let result = work(&mut encoder);
        self.encoders.put(encoder);
        result
    }

    /// Like [`Self::with_encoder`], for a batch of `bytes`. For a large batch, inserts the seed
    /// words if the encoder does not have them yet, which takes some milliseconds. A single text
    /// never waits for that.
    pub(crate) fn with_encoder_for<T, E: From<OutOfMemory>>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut Session<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        const MIN_SEEDED_BATCH: usize = 1 << 18;
        self.with_encoder(|session| {
            if bytes >= MIN_SEEDED_BATCH {
                session.seed(&self.seeds());
            }
            work(session)
        })
    }
}

/// The encoders that are not in use.
#[derive(Debug)]
struct Encoders {
    /// Boxed, because encoders are large and are moved for every text.
    idle: ObjectPool<Box<Encoder>>,
    /// The memory by which all caches may grow.
    budget: Arc<CacheBudget>,
}

impl Default for Encoders {
    fn default() -> Self {
        let fixed = Self::max_idle() * WordCache::initial_bytes(Self::cache_bytes());
        Self {
            idle: ObjectPool::new(Self::max_idle()),
            budget: Arc::new(CacheBudget::new(Self::ALL_CACHE_BYTES.saturating_sub(fixed))),
        }
    }
}

impl Encoders {
    /// Maximum size of all encoders' word caches together, in bytes: 32 MiB. With many processors
    /// it is more, because each cache has a minimum size. Caches start small, and those that meet
    /// many different words grow while this lasts, to 16 MiB of short words.
    const ALL_CACHE_BYTES: usize = if cfg!(feature = "fuzzing") { 0 } else { 32 << 20 };
    /// Maximum size of one encoder's word cache before it grows, in bytes.
    const MAX_CACHE_BYTES: usize = if cfg!(feature = "fuzzing") { Self::MIN_CACHE_BYTES } else { 12 << 20 };
    /// Minimum size of one encoder's word cache, in bytes. A smaller cache evicts words before they
    /// occur again. (Fuzz targets need evictions, and caches that are created quickly.)
    const MIN_CACHE_BYTES: usize = if cfg!(feature = "fuzzing") { 1 << 14 } else { 1 << 20 };

    /// The maximum number of idle encoders: one for each worker on a processor, and one for the
    /// calling thread.
    fn max_idle() -> usize {
        static MAX_IDLE: LazyLock<usize> =
            LazyLock::new(|| std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get) + 1);
        *MAX_IDLE
    }

    fn cache_bytes() -> usize {
        (Self::ALL_CACHE_BYTES * 9 / 8 / Self::max_idle()).clamp(Self::MIN_CACHE_BYTES, Self::MAX_CACHE_BYTES)
    }

    fn take(&self) -> Box<Encoder> {
        self.idle.take(|number| Box::new(Encoder::new(Self::cache_bytes(), number).sharing(Arc::clone(&self.budget))))
    }

    fn put(&self, mut encoder: Box<Encoder>) {
        encoder.trim();
        self.idle.put(encoder);
    }

    fn memory_bytes(&self) -> usize {
        self.idle.with_idle(|idle| idle.iter().map(|encoder| encoder.memory_bytes()).sum())
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
    fn the_encoders_of_all_workers_and_of_the_caller_are_kept() {
        let encoders = Encoders::default();
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let at_once = || {
            let taken: Vec<_> = (0..=workers).map(|_| encoders.take()).collect();
            let mut which: Vec<_> = taken.iter().map(|encoder| &raw const **encoder).collect();
            taken.into_iter().for_each(|encoder| encoders.put(encoder));
            which.sort();
            (which, encoders.idle.with_idle(<[_]>::len))
        };
        let (before, idle) = at_once();
        assert_eq!(idle, workers + 1);
        assert_eq!(at_once().0, before);
    }
}
