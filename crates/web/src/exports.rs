//! The functions of the module. Each converts its input, calls the core and keeps the result.
//!
//! Arguments are numbers: the index of a tokenizer, lengths of what is in the input buffer, flags
//! as in `tokenlane_calls::options`. `extra` is the length of further options as JSON, which come
//! after the texts; 0 if there are none.
#![allow(unsafe_code, reason = "a function of the module has a name that the linker keeps")]

use std::cell::RefCell;
use std::sync::Arc;

use serde::Serialize;
use tokenlane_calls::change::ChangeOptions;
use tokenlane_calls::columns::Request;
use tokenlane_calls::definition::{Definition, EncodingDefinition, LoadOptions};
use tokenlane_calls::error::{Class, Failure};
use tokenlane_calls::facts::Facts;
use tokenlane_calls::options::{self, COLUMNS};
use tokenlane_calls::part::{self, TextPartRequest};
use tokenlane_calls::split::{self, SplitRequest};
use tokenlane_calls::stop::{StopRequest, Stopper};
use tokenlane_core::batch::{self, BatchError, RunOptions};
use tokenlane_core::memory::OutOfMemory;
use tokenlane_core::split::Start;
use tokenlane_core::{Columns, DecodeStream, TokenBytes, Tokenizer};

use crate::inputs::{Rows, text};
use crate::instance::{self, Batch, Instance, Value, call, read};

/// One thread.
const RUN: RunOptions<'static> = RunOptions { threads: Some(1), cancel: None, is_slice: true };

thread_local! {
    static LAST_PANIC: RefCell<String> = RefCell::default();
}

/// Prepares the instance; called once, before all other functions.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    std::panic::set_hook(Box::new(|panic| {
        // The standard library panics instead of allocating more than `isize::MAX` bytes. Without a
        // message the trap is that of a refused allocation.
        if panic.payload_as_str() != Some("capacity overflow") {
            LAST_PANIC.set(panic.to_string());
        }
    }));
    batch::set_threads(Some(1));
}

/// The address of the stack; 0 if a call is in progress. An exception of JS that ends a call, which
/// is an overflow of the stack, leaves either at another value than after [`start`].
#[unsafe(no_mangle)]
pub extern "C" fn stack_at() -> u32 {
    let local = std::hint::black_box(0_u8);
    if instance::is_free() { (&raw const local).addr() as u32 } else { 0 }
}

/// Makes the message of the panic that ended the instance the result.
#[unsafe(no_mangle)]
pub extern "C" fn last_panic() -> i32 {
    let message = LAST_PANIC.take();
    let length = message.len() as i32;
    // The instance may be borrowed by the call that trapped, so the text is leaked. The instance is
    // about to be dropped as a whole.
    let start = Box::leak(message.into_bytes().into_boxed_slice()).as_ptr();
    LAST_PANIC_AT.set(start.addr() as u32);
    length
}

thread_local! {
    static LAST_PANIC_AT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// The address of the message that [`last_panic`] returned the length of.
#[unsafe(no_mangle)]
pub extern "C" fn last_panic_at() -> u32 {
    LAST_PANIC_AT.get()
}

/// Space for `bytes` bytes of input. Returns its address; 0 if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> u32 {
    read(|instance| instance.reserve_input(bytes).unwrap_or(0))
}

/// The address of the numbers of a result.
#[unsafe(no_mangle)]
pub extern "C" fn numbers_at() -> u32 {
    read(|instance| instance.numbers.as_ptr().addr() as u32)
}

/// The address of the descriptions of a result's values.
#[unsafe(no_mangle)]
pub extern "C" fn values_at() -> u32 {
    read(|instance| instance.described())
}

/// Loads `bytes` bytes, with options as JSON. Returns the tokenizer.
#[unsafe(no_mangle)]
pub extern "C" fn load(bytes: u32, options: u32) -> i32 {
    call(|instance, input| {
        let definition = Definition::from(input.json::<LoadOptions>(bytes as usize, options as usize)?);
        let tokenizer = definition.build(input.bytes(0, bytes as usize)?)?;
        Ok(instance.tokenizers.add(Arc::new(tokenizer)))
    })
}

/// Derives a tokenizer. Returns it.
#[unsafe(no_mangle)]
pub extern "C" fn change(tokenizer: u32, changes: u32) -> i32 {
    call(|instance, input| {
        let changes: ChangeOptions = input.json(0, changes as usize)?;
        let changed = instance.tokenizers.get(tokenizer)?.with(&changes.into())?;
        Ok(instance.tokenizers.add(Arc::new(changed)))
    })
}

/// Frees a tokenizer.
#[unsafe(no_mangle)]
pub extern "C" fn free_tokenizer(tokenizer: u32) {
    drop(read(|instance| instance.tokenizers.take(tokenizer)));
}

fn of_tokenizer(instance: &mut Instance, tokenizer: u32) -> Result<Arc<Tokenizer>, Failure> {
    instance.tokenizers.get(tokenizer).map(|tokenizer| Arc::clone(tokenizer))
}

/// Encodes a text. Returns the number of ids, whose address is the first number of the result.
#[unsafe(no_mangle)]
pub extern "C" fn encode(tokenizer: u32, kind: u32, length: u32, flags: u32, extra: u32) -> i32 {
    call(|instance, input| {
        let (text, bytes) = text(input, kind, length)?;
        let options = options::encode_options(flags, input.extra(bytes, extra)?, Columns::NONE);
        let Instance { tokenizers, ids, numbers, .. } = instance;
        ids.clear();
        tokenizers.get(tokenizer)?.encode_ids(text, &options, ids)?;
        numbers[0] = ids.as_ptr().addr() as u32;
        Ok(ids.len() as u32)
    })
}

/// Encodes one input of `sequences` texts or lists of words. The result is its ids.
#[unsafe(no_mangle)]
pub extern "C" fn encode_input(tokenizer: u32, length: u32, table: u32, flags: u32, extra: u32) -> i32 {
    call(|instance, input| {
        let rows = Rows::read(input, length, table)?;
        let options = options::encode_options(flags, input.extra(rows.bytes, extra)?, Columns::NONE);
        let tokenizer = instance.tokenizers.get(tokenizer)?;
        let ids = rows.with_input(flags, |text| Ok(tokenizer.encode_input(text, &options)?.into_ids()))?;
        instance.give(Value::Words(ids));
        Ok(0)
    })
}

/// One column of an input, or all numeric ones if `which` is above all columns.
#[unsafe(no_mangle)]
pub extern "C" fn column(tokenizer: u32, length: u32, table: u32, flags: u32, extra: u32, which: u32) -> i32 {
    call(|instance, input| {
        let rows = Rows::read(input, length, table)?;
        let request = if which == u32::MAX { Request::Numbers } else { Request::One(which as usize) };
        let options = request.options(flags, input.extra(rows.bytes, extra)?)?;
        let tokenizer = instance.tokenizers.get(tokenizer)?;
        let column = rows.with_input(flags, |text| request.column(tokenizer, text, &options))?;
        instance.give(column.into());
        Ok(0)
    })
}

/// Counts the ids of a text.
#[unsafe(no_mangle)]
pub extern "C" fn count(tokenizer: u32, kind: u32, length: u32, flags: u32, extra: u32) -> i32 {
    call(|instance, input| {
        let (text, bytes) = text(input, kind, length)?;
        let options = options::encode_options(flags, input.extra(bytes, extra)?, Columns::NONE);
        Ok(instance.tokenizers.get(tokenizer)?.count(text, &options)? as u32)
    })
}

/// Returns 1 if every text of this many bytes has more than `limit` ids, so that the text need not
/// be written.
#[unsafe(no_mangle)]
pub extern "C" fn is_surely_beyond(tokenizer: u32, bytes: u32, limit: u32, flags: u32, extra: u32) -> i32 {
    call(|instance, input| {
        let options = options::encode_options(flags, input.extra(0, extra)?, Columns::NONE);
        let tokenizer = instance.tokenizers.get(tokenizer)?;
        Ok(tokenizer.is_surely_beyond(bytes as usize, limit as usize, &options)?.into())
    })
}

/// Returns 1 if a text has at most `limit` ids.
#[unsafe(no_mangle)]
pub extern "C" fn is_within(tokenizer: u32, kind: u32, length: u32, limit: u32, flags: u32, extra: u32) -> i32 {
    call(|instance, input| {
        let (text, bytes) = text(input, kind, length)?;
        let options = options::encode_options(flags, input.extra(bytes, extra)?, Columns::NONE);
        Ok(instance.tokenizers.get(tokenizer)?.is_within(text, limit as usize, &options)?.into())
    })
}

/// Encodes the longest start of a text that has at most `capacity` ids. Returns 0 if more of the
/// text is needed. The numbers of the result are the address of the ids, the length of the start
/// and the number of ids.
#[unsafe(no_mangle)]
pub extern "C" fn encode_into(tokenizer: u32, kind: u32, length: u32, capacity: u32, flags: u32, extra: u32) -> i32 {
    call(|instance, input| {
        let (text, bytes) = text(input, kind, length)?;
        let options = options::encode_options(flags, input.extra(bytes, extra)?, Columns::NONE);
        let Instance { tokenizers, ids, numbers, .. } = instance;
        ids.clear();
        let is_end = !options::is_part(flags);
        let found = tokenizers.get(tokenizer)?.encode_first(text, capacity as usize, &options, is_end, ids)?;
        let Some(found) = found else { return Ok(0) };
        *numbers = [ids.as_ptr().addr() as u32, found.read as u32, found.written as u32, 0, 0, 0];
        Ok(1)
    })
}

/// Finds the start of a text that has at most `limit` ids: its length and its number of ids are the
/// numbers of the result. Returns 0, or why there is none: 1 if the special tokens alone exceed the
/// limit, 2 if more of the text is needed.
#[unsafe(no_mangle)]
pub extern "C" fn truncate(tokenizer: u32, kind: u32, length: u32, limit: u32, flags: u32, extra: u32) -> i32 {
    call(|instance, input| {
        let (text, bytes) = text(input, kind, length)?;
        let options = options::encode_options(flags, input.extra(bytes, extra)?, Columns::NONE);
        let is_end = !options::is_part(flags);
        let tokenizer = instance.tokenizers.get(tokenizer)?;
        Ok(match tokenizer.truncate(text, limit as usize, &options, is_end)? {
            Start::SpecialTokens => 1,
            Start::DependsOnMore => 2,
            Start::Found { length, tokens } => {
                instance.numbers = [length as u32, tokens as u32, 0, 0, 0, 0];
                0
            }
        })
    })
}

/// Splits a text. `options` is the length of the extra options and the request, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn split(tokenizer: u32, kind: u32, length: u32, flags: u32, extra: u32, request: u32) -> i32 {
    call(|instance, input| {
        let (text, bytes) = text(input, kind, length)?;
        let options = options::encode_options(flags, input.extra(bytes, extra)?, Columns::NONE);
        let before = crate::input::aligned(bytes) + extra as usize;
        let request: SplitRequest = input.json(before, request as usize)?;
        let tokenizer = instance.tokenizers.get(tokenizer)?;
        let pieces = split::pieces(tokenizer, text, &options, &request, None)?;
        instance.give(Value::Words(pieces));
        Ok(0)
    })
}

/// Encodes a part of a text. `options` is the length of the extra options and the request, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn encode_part(tokenizer: u32, kind: u32, length: u32, flags: u32, extra: u32, request: u32) -> i32 {
    call(|instance, input| {
        let (text, bytes) = text(input, kind, length)?;
        let options = options::encode_options(flags, input.extra(bytes, extra)?, Columns::NONE);
        let before = crate::input::aligned(bytes) + extra as usize;
        let request: TextPartRequest = input.json(before, request as usize)?;
        let words = part::encode(instance.tokenizers.get(tokenizer)?, text, &options, &request)?;
        instance.give(Value::Words(words));
        Ok(0)
    })
}

/// Decodes ids to text; to bytes if `raw` is not 0.
#[unsafe(no_mangle)]
pub extern "C" fn decode(tokenizer: u32, ids: u32, skip_special_tokens: u32, raw: u32) -> i32 {
    call(|instance, input| {
        let options = options::decode_options(skip_special_tokens != 0);
        let ids = input.words(0, ids as usize)?;
        let tokenizer = instance.tokenizers.get(tokenizer)?;
        let bytes = if raw == 0 {
            tokenizer.decode(ids, &options)?.into_bytes()
        } else {
            tokenizer.decode_bytes(ids, &options)?
        };
        Ok(give_bytes(instance, bytes))
    })
}

/// Returns 1 if there is the token whose text is the input; its id is the number of the result.
#[unsafe(no_mangle)]
pub extern "C" fn token_to_id(tokenizer: u32, length: u32) -> i32 {
    call(|instance, input| {
        let token = String::from_utf8_lossy(input.bytes(0, length as usize)?);
        let found = instance.tokenizers.get(tokenizer)?.token_to_id(&token);
        instance.numbers[0] = found.unwrap_or(0);
        Ok(found.is_some().into())
    })
}

/// Returns 1 if there is the token with this id; its text is the result.
#[unsafe(no_mangle)]
pub extern "C" fn id_to_token(tokenizer: u32, id: u32) -> i32 {
    call(|instance, _| {
        let token = instance.tokenizers.get(tokenizer)?.id_to_token(id);
        Ok(give_if(instance, token.map(String::into_bytes)))
    })
}

/// Returns 1 if the ids of tokens are close to each other. The values of the result are then the
/// offsets and the bytes of all tokens, and whether each is added.
#[unsafe(no_mangle)]
pub extern "C" fn token_bytes(tokenizer: u32) -> i32 {
    call(|instance, _| {
        let all = instance.tokenizers.get(tokenizer)?.token_bytes()?;
        let Some(TokenBytes { bytes, offsets, added }) = all else { return Ok(0) };
        instance.give_all([Value::Words(offsets), Value::Bytes(bytes), Value::Bytes(added)].map(Some));
        Ok(1)
    })
}

/// The number of tokens.
#[unsafe(no_mangle)]
pub extern "C" fn vocab_size(tokenizer: u32, with_added_tokens: u32) -> i32 {
    call(|instance, _| Ok(instance.tokenizers.get(tokenizer)?.vocab_size(with_added_tokens != 0) as u32))
}

/// Returns 1 if there are tokens; the largest id is the number of the result.
#[unsafe(no_mangle)]
pub extern "C" fn max_id(tokenizer: u32) -> i32 {
    call(|instance, _| {
        let max = instance.tokenizers.get(tokenizer)?.max_id();
        instance.numbers[0] = max.unwrap_or(0);
        Ok(max.is_some().into())
    })
}

/// The special tokens and ids of a tokenizer, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn facts(tokenizer: u32) -> i32 {
    call(|instance, _| {
        let facts = Facts::of(instance.tokenizers.get(tokenizer)?);
        give_json(instance, &facts)
    })
}

/// The bytes of the tables and of the word caches, the hits and misses of the word caches, and the
/// bytes of text that were encoded, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn stats(tokenizer: u32) -> i32 {
    call(|instance, _| {
        let tokenizer = of_tokenizer(instance, tokenizer)?;
        let (hits, misses) = tokenizer.cache_counts();
        let caches = tokenizer.cache_bytes() as u64;
        let tables = tokenizer.memory_bytes() as u64 - caches;
        give_json(instance, &[tables, caches, hits, misses, tokenizer.encoded_bytes()])
    })
}

/// Makes bytes the result. Returns 0.
fn give_bytes(instance: &mut Instance, bytes: Vec<u8>) -> u32 {
    instance.give(Value::Bytes(bytes));
    0
}

/// Returns 1 if there are bytes, which become the result; else 0.
fn give_if(instance: &mut Instance, bytes: Option<Vec<u8>>) -> u32 {
    bytes.map(|bytes| give_bytes(instance, bytes)).is_some().into()
}

fn give_json(instance: &mut Instance, value: &impl Serialize) -> Result<u32, Failure> {
    let json = serde_json::to_vec(value)
        .map_err(|error| Failure::new(Class::Error, "ERR_TOKENLANE_PANIC", error.to_string()))?;
    Ok(give_bytes(instance, json))
}

/// The bytes of a tokenizer.json.
#[unsafe(no_mangle)]
pub extern "C" fn to_buffer(tokenizer: u32) -> i32 {
    call(|instance, _| {
        let json = instance.tokenizers.get(tokenizer)?.to_json()?;
        Ok(give_bytes(instance, json))
    })
}

/// Returns 1 if the tokenizer is that of a tokenizer.json; the file without its vocabulary and
/// merges is the result.
#[unsafe(no_mangle)]
pub extern "C" fn components(tokenizer: u32) -> i32 {
    call(|instance, _| {
        let json = instance.tokenizers.get(tokenizer)?.components_json()?;
        Ok(give_if(instance, json))
    })
}

/// Creates a stream. Returns it.
#[unsafe(no_mangle)]
pub extern "C" fn stream(tokenizer: u32, skip_special_tokens: u32) -> i32 {
    call(|instance, _| {
        let tokenizer = of_tokenizer(instance, tokenizer)?;
        let options = options::decode_options(skip_special_tokens != 0);
        Ok(instance.streams.add(DecodeStream::new(tokenizer, options)))
    })
}

/// Adds ids to a stream. The text that is certain is the result.
#[unsafe(no_mangle)]
pub extern "C" fn stream_push(stream: u32, ids: u32, skipped: u32) -> i32 {
    call(|instance, input| {
        let stream = instance.streams.get(stream)?;
        stream.skip(skipped as usize);
        let text = stream.push(input.words(0, ids as usize)?)?;
        Ok(give_bytes(instance, text.into_bytes()))
    })
}

/// Returns 1 if an id adds the same text wherever it stands between two characters; that text is
/// the result.
#[unsafe(no_mangle)]
pub extern "C" fn stream_text(stream: u32, id: u32) -> i32 {
    call(|instance, _| {
        let text = instance.streams.get(stream)?.fixed_text(id);
        Ok(give_if(instance, text.map(String::into_bytes)))
    })
}

/// Resets a stream. The rest of its text is the result.
#[unsafe(no_mangle)]
pub extern "C" fn stream_end(stream: u32) -> i32 {
    call(|instance, _| {
        let text = instance.streams.get(stream)?.end()?;
        Ok(give_bytes(instance, text.into_bytes()))
    })
}

/// Frees a stream.
#[unsafe(no_mangle)]
pub extern "C" fn free_stream(stream: u32) {
    drop(read(|instance| instance.streams.take(stream)));
}

/// Creates a stream that stops; `request` is the length of its options, as JSON. Returns it.
#[unsafe(no_mangle)]
pub extern "C" fn stop_stream(tokenizer: u32, request: u32) -> i32 {
    call(|instance, input| {
        let tokenizer = of_tokenizer(instance, tokenizer)?;
        let request: StopRequest = input.json(0, request as usize)?;
        Ok(instance.stoppers.add(Stopper::new(&tokenizer, request)?))
    })
}

/// Adds ids to a stream that stops, after `count` others. The text that they release is the result,
/// with its numbers.
#[unsafe(no_mangle)]
pub extern "C" fn stop_push(stream: u32, ids: u32, count: u32) -> i32 {
    call(|instance, input| {
        let ids = input.words(0, ids as usize)?;
        let (text, numbers) = instance.stoppers.get(stream)?.push(ids, count)?;
        instance.numbers = numbers;
        Ok(give_bytes(instance, text.into_bytes()))
    })
}

/// Resets a stream that stops. The rest of its text is the result, with its numbers.
#[unsafe(no_mangle)]
pub extern "C" fn stop_end(stream: u32) -> i32 {
    call(|instance, _| {
        let (text, numbers) = instance.stoppers.get(stream)?.end()?;
        instance.numbers = numbers;
        Ok(give_bytes(instance, text.into_bytes()))
    })
}

/// Makes the text that the end of a stream cut the result.
#[unsafe(no_mangle)]
pub extern "C" fn stop_cut(stream: u32) -> i32 {
    call(|instance, _| {
        let cut = instance.stoppers.get(stream)?.take_cut();
        Ok(give_bytes(instance, cut.into_bytes()))
    })
}

/// Frees a stream that stops.
#[unsafe(no_mangle)]
pub extern "C" fn free_stop_stream(stream: u32) {
    drop(read(|instance| instance.stoppers.take(stream)));
}

/// Creates a batch without rows. Returns it.
#[unsafe(no_mangle)]
pub extern "C" fn batch(tokenizer: u32, flags: u32, extra: u32) -> i32 {
    call(|instance, input| {
        let extra = input.extra(0, extra)?;
        let options = options::batch_options(flags, extra, instance.tokenizers.get(tokenizer)?);
        Ok(instance.batches.add(Batch { options, rows: None }))
    })
}

/// Encodes the next rows of a batch, whose first has the index `first`.
#[unsafe(no_mangle)]
pub extern "C" fn batch_push(tokenizer: u32, batch: u32, length: u32, table: u32, sequences: u32, first: usize) -> i32 {
    call(|instance, input| {
        let rows = Rows::read(input, length, table)?;
        let tokenizer = of_tokenizer(instance, tokenizer)?;
        let batch = instance.batches.get(batch)?;
        let encoded = match rows.texts().filter(|_| sequences == 1) {
            Some(texts) => batch::encode_rows(&tokenizer, texts, &batch.options, &RUN),
            None => batch::encode_rows(&tokenizer, &rows.inputs(sequences as usize), &batch.options, &RUN),
        };
        let encoded = encoded.map_err(|error| error.after_texts(first))?;
        match &mut batch.rows {
            Some(rows) => rows.append(encoded, first),
            rows => *rows = Some(encoded),
        }
        Ok(0)
    })
}

/// Joins the rows of a batch, and frees it. Returns the number of rows. The values of the result
/// are the row offsets and ids, the texts of the rows, and the columns.
#[unsafe(no_mangle)]
pub extern "C" fn batch_end(tokenizer: u32, batch: u32) -> i32 {
    call(|instance, _| {
        let tokenizer = of_tokenizer(instance, tokenizer)?;
        let Some(Batch { options, rows }) = instance.batches.take(batch) else { return Ok(0) };
        let none: &[tokenlane_core::Text<'_>] = &[];
        let rows = rows.map_or_else(|| batch::encode_rows(&tokenizer, none, &options, &RUN), Ok)?;
        let encoded = rows.gather()?;
        let count = encoded.len() as u32;
        let (slab, mut columns, row_texts) = encoded.into_parts();
        let columns = COLUMNS.map(|column| {
            options.columns.contains(column).then(|| match column {
                Columns::TOKENS => Value::of_texts(&columns.take_tokens()),
                Columns::SPECIAL_TOKENS_MASK | Columns::ATTENTION_MASK => Value::ByteSlab(columns.take_u8(column)),
                _ => Value::WordSlab(columns.take_u32(column)),
            })
        });
        let ids = [Some(Value::WordSlab(slab)), row_texts.map(Value::Words)];
        instance.give_all(ids.into_iter().chain(columns));
        Ok(count)
    })
}

/// Frees a batch that will have no more rows.
#[unsafe(no_mangle)]
pub extern "C" fn free_batch(batch: u32) {
    drop(read(|instance| instance.batches.take(batch)));
}

/// Counts the ids of rows, whose first has the index `first`. The result is their numbers.
#[unsafe(no_mangle)]
pub extern "C" fn count_rows(tokenizer: u32, length: u32, table: u32, flags: u32, extra: u32, first: usize) -> i32 {
    call(|instance, input| {
        let rows = Rows::read(input, length, table)?;
        let options = options::encode_options(flags, input.extra(rows.bytes, extra)?, Columns::NONE);
        let tokenizer = of_tokenizer(instance, tokenizer)?;
        let counts = batch::count_batch(&tokenizer, rows.texts().unwrap_or_default(), &options, &RUN);
        instance.give(Value::Words(counts.map_err(|error: BatchError| error.after_texts(first))?));
        Ok(0)
    })
}

/// The names of the bundled encodings, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn encoding_names() -> i32 {
    call(|instance, _| give_json(instance, &tokenlane_core::encoding_names().collect::<Vec<_>>()))
}

/// The definition of the bundled encoding whose name is the input, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn encoding_definition(length: u32) -> i32 {
    call(|instance, input| {
        let name = String::from_utf8_lossy(input.bytes(0, length as usize)?);
        give_json(instance, &EncodingDefinition::named(&name)?)
    })
}

/// The bits of the flags and the names of the columns, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn constants() -> i32 {
    call(|instance, _| give_json(instance, &(options::BITS, options::COLUMN_NAMES)))
}

/// Sets the limit of `tokenlane_core::set_max_expansion`; `u32::MAX` is no limit.
#[unsafe(no_mangle)]
pub extern "C" fn set_max_expansion(factor: u32) {
    tokenlane_core::set_max_expansion(if factor == u32::MAX { usize::MAX } else { factor as usize });
}

/// Makes the name of the CPU level the result.
#[unsafe(no_mangle)]
pub extern "C" fn cpu_level() -> i32 {
    call(|instance, _| {
        let level = tokenlane_core::cpu_level().unwrap_or("unknown");
        Ok(give_bytes(instance, level.into()))
    })
}

/// Fails in the ways that end an instance, for tests: 0 panics, 1 needs more memory than there is,
/// 2 overflows the stack, 3 needs more memory than can be addressed.
#[unsafe(no_mangle)]
pub extern "C" fn end_for_tests(how: u32) -> i32 {
    match how {
        0 => panic!("as the test requested"),
        1 => OutOfMemory { bytes: usize::MAX }.unwind(),
        3 => Vec::<u8>::with_capacity(std::hint::black_box(usize::MAX)).capacity() as i32,
        _ => {
            let frame = std::hint::black_box([how; 64]);
            end_for_tests(frame[0] | 2).wrapping_add(std::hint::black_box(frame)[63] as i32)
        }
    }
}
