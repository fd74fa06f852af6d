//! A tokenizer: the stages in order, immutable and shared, and a pool of encoder states.

use std::sync::{Arc, LazyLock, OnceLock};

use crate::added_tokens::{AddedToken, Policy};
use crate::bpe::word_cache::{GrowthMemory, WordCache};
use crate::budget::Budget;
use crate::decoder::from_utf8_lossy;
use crate::decoder::token_table::TokenTable;
use crate::encoder::{Encoder, EncoderState, Plan, Request, Seeds, Word};
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
use crate::token_lens::TokenReach;
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
    states: EncoderStates,
    /// The result of [`Self::max_bytes_per_token`], computed on first use.
    pub(crate) token_reach: OnceLock<TokenReach>,
    /// The result of [`Self::has_crossing_tokens`], computed on first use.
    pub(crate) crossing_tokens: OnceLock<bool>,
}

impl Tokenizer {
    pub(crate) fn new(pipeline: Pipeline) -> Self {
        Self {
            pipeline,
            states: EncoderStates::default(),
            token_reach: OnceLock::new(),
            crossing_tokens: OnceLock::new(),
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
        self.with_encoder(|encoder| {
            let mut encoding = Encoding::default();
            let overflowing = encoder.encode(*input, &mut Request::all(&plan), &mut encoding)?;
            let padding = plan.padding.as_ref().map(|padding| (padding, padding.target(encoding.len())));
            let finish = |mut encoding: Encoding| {
                if let Some((padding, target)) = padding {
                    encoding.pad(target, padding, plan.columns)?;
                }
                Ok(encoding)
            };
            encoding.overflowing = with_capacity(overflowing.len())?;
            for draft in &overflowing {
                let own_overflow = collect(draft.own_overflow.iter().copied())?;
                let mut part = Encoding { own_overflow, ..Encoding::default() };
                encoder.write(draft, &plan, &mut part);
                encoding.overflowing.push(finish(part)?);
            }
            finish(encoding)
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
        let result = self.with_encoder(|encoder| encoder.encode(text, &mut Request::all(&plan), &mut out));
        *ids = out.ids;
        if result.is_err() {
            ids.truncate(before);
        }
        result.map(|_| ())
    }

    /// Counts the tokens of a text. Ignores truncation and padding, in the options and in the file.
    pub fn count(&self, text: Text<'_>, options: &EncodeOptions) -> Result<usize, EncodeError> {
        let plan = self.count_plan(options)?;
        self.with_encoder(|encoder| encoder.count(text, &mut Request::all(&plan)))
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
        let visited = self.with_encoder(|encoder| {
            texts.into_iter().enumerate().try_for_each(|(index, text)| {
                number = index;
                encoder.each_word(text.to_utf8(&mut buffer)?, &Policy::Parse, &mut visit)
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

    /// Approximate heap memory of the tables and of the idle encoder states, in bytes. Tables that
    /// another tokenizer shares (see [`Self::with`]) do not count.
    pub fn memory_bytes(&self) -> usize {
        let Pipeline { parts: Parts { vocab, .. }, model, token_lens, token_table, .. } = &self.pipeline;
        let vocab = if Arc::strong_count(vocab) == 1 { vocab.memory_bytes() } else { 0 };
        let model = if Arc::strong_count(model) == 1 { model.memory_bytes() } else { 0 };
        let texts = token_table.get().and_then(Option::as_ref).map_or(0, TokenTable::memory_bytes);
        vocab + model + token_lens.memory_bytes() + texts + self.states.memory_bytes()
    }

    /// Heap memory of the word caches of the idle encoder states, in bytes.
    pub fn cache_bytes(&self) -> usize {
        self.states.memory_bytes()
    }

    /// The hits and misses of the word caches of the idle encoder states.
    pub fn cache_counts(&self) -> (u64, u64) {
        self.states.cache_counts()
    }

    /// The number of text bytes that the idle encoder states have encoded in all calls. Tests
    /// measure work with it.
    pub fn encoded_bytes(&self) -> u64 {
        self.states.encoded_bytes()
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

    /// A tokenizer with one encoder state that has seed words, so that the first text need not wait
    /// for it. If memory is short, the first text creates it.
    fn ready(pipeline: Pipeline) -> Self {
        let tokenizer = Self::new(pipeline);
        let _ = tokenizer.with_encoder(|encoder| {
            encoder.seed(&tokenizer.seeds());
            Ok::<_, OutOfMemory>(())
        });
        tokenizer
    }

    /// Runs `work` with an encoder, whose state comes from the pool and returns to it. A shortage
    /// of memory is an error. If `work` unwinds, the state is dropped, because it may be
    /// inconsistent.
    pub(crate) fn with_encoder<T, E: From<OutOfMemory>>(
        &self,
        work: impl FnOnce(&mut Encoder<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        catch(|| {
            check()?;
            let mut state = self.states.take();
            let result = work(&mut Encoder::new(&self.pipeline, &mut state));
            self.states.put(state);
            result
        })
    }
}

/// The pool of encoder states.
#[derive(Debug)]
struct EncoderStates {
    /// Boxed, because states are large and are moved for every text.
    idle: ObjectPool<Box<EncoderState>>,
    /// The size to which each cache grows whatever the others take, in bytes.
    own_cache_bytes: usize,
    /// The memory by which all caches may grow beyond that.
    growth: Arc<GrowthMemory>,
}

impl Default for EncoderStates {
    fn default() -> Self {
        Self::new(Self::max_idle())
    }
}

impl EncoderStates {
    /// The number of states that share [`Self::ALL_CACHE_BYTES`]: those of two processors.
    const MIN_SHARES: usize = 3;
    /// Maximum size of the word caches of all states together on one or two processors, in bytes:
    /// 32 MiB. Caches start small, and those that meet many different words grow while this lasts,
    /// to 16 MiB of short words.
    const ALL_CACHE_BYTES: usize = if cfg!(feature = "fuzzing") { 0 } else { 32 << 20 };
    /// The bytes that each further processor adds: 8 MiB, the size of a table with all seed words.
    /// Each worker meets the words of a language itself.
    const CACHE_BYTES_PER_PROCESSOR: usize = if cfg!(feature = "fuzzing") { 0 } else { 8 << 20 };
    /// Maximum size of the word caches of all states together on any machine, in bytes: 512 MiB.
    const MAX_CACHE_BYTES: usize = 512 << 20;
    /// Minimum size of the word cache of one state, in bytes. A smaller cache evicts words before
    /// they occur again. (Fuzz targets need evictions, and caches that are created quickly.)
    const MIN_CACHE_BYTES: usize = if cfg!(feature = "fuzzing") { 1 << 14 } else { 1 << 20 };

    /// The maximum number of idle states: one for each worker on a processor, and one for the
    /// calling thread.
    fn max_idle() -> usize {
        static MAX_IDLE: LazyLock<usize> =
            LazyLock::new(|| std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get) + 1);
        *MAX_IDLE
    }

    /// Maximum size of the word caches of all states together, in bytes.
    fn all_cache_bytes(states: usize) -> usize {
        let more = states.saturating_sub(Self::MIN_SHARES) * Self::CACHE_BYTES_PER_PROCESSOR;
        (Self::ALL_CACHE_BYTES + more).min(Self::MAX_CACHE_BYTES)
    }

    /// A pool of up to `states` states. Half of the memory for caches is divided among them, so
    /// that none is without words because others came first. The rest is for those that need more.
    fn new(states: usize) -> Self {
        let all = Self::all_cache_bytes(states);
        let own_cache_bytes = (all / states.max(Self::MIN_SHARES) / 2).max(Self::MIN_CACHE_BYTES);
        let own = states * WordCache::own_bytes(own_cache_bytes);
        let growth = Arc::new(GrowthMemory::new(all.saturating_sub(own)));
        Self { idle: ObjectPool::new(states), own_cache_bytes, growth }
    }

    fn take(&self) -> Box<EncoderState> {
        let make = |number| EncoderState::new(self.own_cache_bytes, number).sharing(Arc::clone(&self.growth));
        self.idle.take(|number| Box::new(make(number)))
    }

    fn put(&self, mut state: Box<EncoderState>) {
        state.trim();
        self.idle.put(state);
    }

    fn memory_bytes(&self) -> usize {
        self.idle.with_idle(|idle| idle.iter().map(|state| state.memory_bytes()).sum())
    }

    fn encoded_bytes(&self) -> u64 {
        self.idle.with_idle(|idle| idle.iter().map(|state| state.encoded_bytes).sum())
    }

    fn cache_counts(&self) -> (u64, u64) {
        let counts = |idle: &[Box<EncoderState>]| {
            idle.iter().map(|state| state.cache_counts()).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
        };
        self.idle.with_idle(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::EncoderStates;
    use crate::word_key;

    /// On 16 processors, the first four workers took all memory for their seed words, and the other
    /// ones merged nearly every word again.
    #[test]
    fn the_cache_of_each_of_many_workers_holds_the_words_of_a_language() {
        let seeds = || (0..50_000u32).map(|number| (word_key::of_word(&number.to_le_bytes()), number));
        for (states, max_mib) in [(2, 32), (3, 32), (9, 80), (17, 144), (65, 512)] {
            let pool = EncoderStates::new(states);
            let mut taken: Vec<_> = (0..states).map(|_| pool.take()).collect();
            taken.iter_mut().for_each(|state| state.seed_with(50_000, seeds()));
            let mut sizes: Vec<usize> = taken.iter().map(|state| state.memory_bytes()).collect();
            sizes.sort_unstable();
            assert!(sizes[0] > 1 << 20, "{states} states: the smallest has {} bytes", sizes[0]);
            let all: usize = sizes.iter().sum();
            assert!(all <= max_mib << 20, "{states} states have {all} bytes");
        }
    }

    #[test]
    fn the_states_of_all_workers_and_of_the_caller_are_kept() {
        let states = EncoderStates::default();
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let at_once = || {
            let taken: Vec<_> = (0..=workers).map(|_| states.take()).collect();
            let mut which: Vec<_> = taken.iter().map(|state| &raw const **state).collect();
            taken.into_iter().for_each(|state| states.put(state));
            which.sort();
            (which, states.idle.with_idle(<[_]>::len))
        };
        let (before, idle) = at_once();
        assert_eq!(idle, workers + 1);
        assert_eq!(at_once().0, before);
    }
}
