//! The state of an instance of the module.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use serde::Serialize;
use tokenlane_calls::columns::Column;
use tokenlane_calls::error::{Class, Failure, shortened};
use tokenlane_calls::stop::Stopper;
use tokenlane_core::batch::PendingBatch;
use tokenlane_core::memory::{OutOfMemory, Slab};
use tokenlane_core::{DecodeStream, EncodeOptions, Tokenizer};

use crate::input::Input;

/// Buffers above this number of bytes are freed after the call that needed them.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// Values that JS refers to by their index.
#[derive(Debug)]
pub struct Registry<T>(Vec<Option<T>>);

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self(vec![])
    }
}

impl<T> Registry<T> {
    /// Adds a value and returns its index.
    pub fn add(&mut self, value: T) -> u32 {
        let free = self.0.iter().position(Option::is_none);
        let at = free.unwrap_or_else(|| {
            self.0.push(None);
            self.0.len() - 1
        });
        self.0[at] = Some(value);
        at as u32
    }

    /// The value with an index.
    pub fn get(&mut self, at: u32) -> Result<&mut T, Failure> {
        let message = "this object of tokenlane was freed";
        let gone = || Failure::new(Class::Error, "ERR_TOKENLANE_DISPOSED", message);
        self.0.get_mut(at as usize).and_then(Option::as_mut).ok_or_else(gone)
    }

    /// Removes the value with an index.
    pub fn take(&mut self, at: u32) -> Option<T> {
        self.0.get_mut(at as usize).and_then(Option::take)
    }
}

/// A batch whose rows arrive in slices.
#[derive(Default)]
pub struct Batch {
    /// The options of all slices.
    pub options: EncodeOptions,
    /// The rows so far.
    pub rows: Option<PendingBatch>,
}

/// A value of a result. It stays in memory until the next call.
#[derive(Debug)]
pub enum Value {
    /// 32-bit words.
    Words(Vec<u32>),
    /// 32-bit words of the pool.
    WordSlab(Slab<u32>),
    /// Bytes of the pool.
    ByteSlab(Slab<u8>),
    /// Bytes, or text in UTF-8.
    Bytes(Vec<u8>),
    /// Texts, one after the other, with the end of each.
    Texts(Vec<u8>, Vec<u32>),
}

impl Value {
    /// Joins texts.
    pub fn of_texts(texts: &[String]) -> Self {
        let bytes = texts.concat().into_bytes();
        let ends = texts.iter().scan(0, |end, text| {
            *end += text.len() as u32;
            Some(*end)
        });
        Self::Texts(bytes, ends.collect())
    }

    /// The kind, the addresses and the lengths, as `web/instance.mjs` reads them.
    fn describe(&self) -> [u32; 5] {
        let at = |start: *const u8, length: usize| [start.addr() as u32, length as u32];
        let ([start, length], [ends, count], kind) = match self {
            Self::Words(words) => (at(words.as_ptr().cast(), words.len()), [0; 2], 1),
            Self::WordSlab(words) => (at(words.as_ptr().cast(), words.len()), [0; 2], 1),
            Self::ByteSlab(bytes) => (at(bytes.as_ptr(), bytes.len()), [0; 2], 2),
            Self::Bytes(bytes) => (at(bytes.as_ptr(), bytes.len()), [0; 2], 2),
            Self::Texts(bytes, ends) => (at(bytes.as_ptr(), bytes.len()), at(ends.as_ptr().cast(), ends.len()), 3),
        };
        [kind, start, length, ends, count]
    }
}

impl From<Column> for Value {
    fn from(column: Column) -> Self {
        match column {
            Column::U32(words) => Self::Words(words),
            Column::U8(bytes) => Self::Bytes(bytes),
            Column::Strings(texts) => Self::of_texts(&texts),
        }
    }
}

/// What an instance holds.
#[derive(Default)]
pub struct Instance {
    /// The tokenizers.
    pub tokenizers: Registry<Arc<Tokenizer>>,
    /// The streams that decode.
    pub streams: Registry<DecodeStream<Arc<Tokenizer>>>,
    /// The streams that stop.
    pub stoppers: Registry<Stopper>,
    /// The batches whose rows are being encoded.
    pub batches: Registry<Batch>,
    /// Texts, ids and options of the next call. Of words, so that ids are aligned.
    input: Vec<u64>,
    /// The ids of the last call that encoded one text.
    pub ids: Vec<u32>,
    /// Numbers of the last result.
    pub numbers: [u32; 6],
    values: Vec<Value>,
    described: Vec<u32>,
}

thread_local! {
    static INSTANCE: RefCell<Instance> = RefCell::default();
}

/// The error of a call, as `web/native.mjs` reads it.
#[derive(Serialize)]
struct Thrown<'a> {
    name: &'a str,
    code: &'a str,
    message: &'a str,
    reason: Option<Cow<'a, str>>,
    row: Option<usize>,
    component: Option<&'a str>,
    reached: Option<usize>,
    limit: Option<usize>,
}

/// Runs a call with its input. Its number is 0 or more; -1 stands for a failure, which becomes the
/// result.
pub fn call(work: impl FnOnce(&mut Instance, &Input) -> Result<u32, Failure>) -> i32 {
    INSTANCE.with_borrow_mut(|instance| {
        instance.free_large_buffers();
        // Apart from the instance, so that the rest of it can be used beside the input.
        let input = Input(std::mem::take(&mut instance.input));
        let result = work(instance, &input);
        if size_of_val(&input.0[..]) <= MAX_KEPT_BYTES {
            instance.input = input.0;
        }
        match result {
            Ok(number) => number as i32,
            Err(failure) => {
                instance.fail(&failure);
                -1
            }
        }
    })
}

/// Whether no call is in progress, nor one that an exception of JS ended before it returned.
pub fn is_free() -> bool {
    INSTANCE.with(|instance| instance.try_borrow_mut().is_ok())
}

/// Runs a call that cannot fail.
pub fn read<T>(work: impl FnOnce(&mut Instance) -> T) -> T {
    INSTANCE.with_borrow_mut(work)
}

impl Instance {
    /// Space for `bytes` bytes of input, whose start keeps its content. Returns its address.
    pub fn reserve_input(&mut self, bytes: usize) -> Result<u32, OutOfMemory> {
        // JS reserved a large buffer, but failed before its call, which would have freed it.
        if bytes <= MAX_KEPT_BYTES && size_of_val(&self.input[..]) > MAX_KEPT_BYTES {
            self.input = Vec::new();
        }
        let words = bytes.div_ceil(size_of::<u64>());
        if words > self.input.len() {
            self.input.try_reserve_exact(words - self.input.len()).map_err(|_| OutOfMemory { bytes })?;
            self.input.resize(words, 0);
        }
        Ok(self.input.as_ptr().addr() as u32)
    }

    /// Makes a value the result.
    pub fn give(&mut self, value: Value) {
        self.give_all([Some(value)]);
    }

    /// Makes values the result. A missing one has kind 0.
    pub fn give_all(&mut self, values: impl IntoIterator<Item = Option<Value>>) {
        self.values.clear();
        self.described.clear();
        for value in values {
            self.described.extend(value.as_ref().map_or([0; 5], Value::describe));
            self.values.extend(value);
        }
    }

    /// The address of the descriptions of the result's values.
    pub fn described(&self) -> u32 {
        self.described.as_ptr().addr() as u32
    }

    fn fail(&mut self, failure: &Failure) {
        let thrown = Thrown {
            name: match failure.class {
                Class::Error => "Error",
                Class::Type => "TypeError",
                Class::Range => "RangeError",
            },
            code: failure.code,
            message: &shortened(&failure.message),
            reason: failure.reason.as_deref().map(shortened),
            row: failure.index,
            component: failure.exceeded.map(|exceeded| exceeded.component),
            reached: failure.exceeded.map(|exceeded| exceeded.reached),
            limit: failure.exceeded.map(|exceeded| exceeded.limit),
        };
        self.give(Value::Bytes(serde_json::to_vec(&thrown).unwrap_or_default()));
    }

    fn free_large_buffers(&mut self) {
        if !self.values.is_empty() {
            self.values.clear();
        }
        if size_of::<u32>() * self.ids.capacity() > MAX_KEPT_BYTES {
            self.ids = Vec::new();
        }
    }
}
