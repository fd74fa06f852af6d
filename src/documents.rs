//! The documents of corpus jobs. Internal: only `@tokenlane/corpus` calls these functions.
//!
//! [`Lines`] has whole lines of an input. [`take_documents`] appends the texts of its lines to
//! [`Documents`], which keep them as UTF-8 until [`encode_documents`] encodes all of them. Neither
//! a string nor another object of JS exists for a document. Lines that the reader of the core
//! leaves to `JSON.parse` are left to its `document-reader.mjs`, which appends their texts
//! with [`push_document`].

use std::cell::{Ref, RefCell, RefMut};
use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{AsyncTask, External, Unknown};
use napi_derive::napi;
use tokenlane_core::json_fields::{self, Document, Fields};
use tokenlane_core::memory::{Grow, OutOfMemory, Slab};

use crate::batch::{self, EncodeWork};
use crate::error::{Class, Failure};
use crate::guard::Held;
use crate::handle::Handle;
use crate::memory::{U8Values, U32Values};
use crate::node_api;
use crate::options::Extra;
use crate::queue::QueueEntry;
use crate::task::Job;
use crate::text::{self, Arena, Inputs};

/// Lines are freed after use if they are larger: 2 MiB.
const MAX_KEPT_BYTES: usize = 2 << 20;

/// Where [`take_documents`] stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// After the last line.
    End = 0,
    /// The documents are as many as wanted.
    Full = 1,
    /// At a line that `lib/` has to read.
    Unread = 2,
}

/// Whole lines of an input, each with its line end except perhaps the last one.
pub struct Lines(Held<RefCell<LineReader>>);

impl Lines {
    fn reader(&self) -> Result<RefMut<'_, LineReader>, Failure> {
        self.0.try_borrow_mut().map_err(|_| misuse("the lines are in use"))
    }
}

struct LineReader {
    /// The fields of lines of JSON; `None` if a line is itself the text.
    fields: Option<Fields>,
    /// Maximum length of a line in bytes, without its line end.
    max_line: usize,
    /// Whether a line that is itself the text has its line end.
    keeps_line_ends: bool,
    bytes: Slab<u8>,
}

/// Documents that are encoded together.
pub struct Documents {
    limits: DocumentLimits,
    filled: Held<RefCell<Filled>>,
}

/// The size from which a list of documents is full.
#[derive(Debug, Clone, Copy)]
struct DocumentLimits {
    /// Bytes of texts, and of ids.
    bytes: usize,
    documents: usize,
}

impl Documents {
    fn filled(&self) -> Result<Ref<'_, Filled>, Failure> {
        self.filled.try_borrow().map_err(|_| misuse("the documents are in use"))
    }

    /// The texts, which stay the same as long as they are shared.
    pub fn texts(&self) -> Result<Arc<Arena>, Failure> {
        Ok(Arc::clone(&self.filled()?.texts))
    }

    fn filled_mut(&self) -> Result<RefMut<'_, Filled>, Failure> {
        self.filled.try_borrow_mut().map_err(|_| misuse("the documents are in use"))
    }
}

#[derive(Default)]
struct Filled {
    texts: Arc<Arena>,
    /// Bytes of all texts.
    bytes: usize,
    /// For each document three doubles, each as two words: the byte of the input at which its row
    /// starts, the number of the row, and the length of the text in bytes.
    table: Vec<u32>,
    /// The ids as JSON, each with a comma before it.
    ids: Vec<u8>,
}

impl Filled {
    fn push_row(&mut self, at: f64, row: f64, length: usize) -> Result<(), OutOfMemory> {
        self.bytes = self.bytes.saturating_add(length);
        self.table.try_grow(6)?;
        for number in [at, row, length as f64] {
            let bits = number.to_bits();
            // All targets are little-endian, so the lower word comes first.
            self.table.extend([bits as u32, (bits >> 32) as u32]);
        }
        Ok(())
    }

    fn push_id(&mut self, id: &[u8]) -> Result<(), OutOfMemory> {
        self.ids.try_grow(1 + id.len())?;
        self.ids.push(b',');
        self.ids.extend_from_slice(id);
        Ok(())
    }

    /// The texts, to be appended to. Fails while the documents are being encoded.
    fn texts_mut(&mut self) -> Result<&mut Arena, Failure> {
        Arc::get_mut(&mut self.texts).ok_or_else(|| misuse("the documents are being encoded"))
    }
}

fn misuse(message: &str) -> Failure {
    Failure::new(Class::Error, "ERR_TOKENLANE_ARGUMENT_VALUE", message)
}

/// The lines that a call has taken.
struct Progress {
    at: usize,
    lines: usize,
    /// The end of the line that was not read, without its line end.
    end: usize,
}

impl LineReader {
    /// Removes all lines, and frees their memory if they were large.
    fn clear(&mut self) {
        self.free_large();
        self.bytes.resize(0, 0);
    }

    /// Frees the memory of large lines.
    fn free_large(&mut self) {
        if self.bytes.capacity() > MAX_KEPT_BYTES {
            self.bytes = Slab::default();
        }
    }

    /// Appends the documents of the lines from `start` on. `base` is the position of the lines in
    /// the input, and `row` the number of rows before them.
    fn take(
        &mut self,
        start: usize,
        base: f64,
        row: f64,
        limits: DocumentLimits,
        to: &mut Filled,
    ) -> Result<(Stop, Progress), Failure> {
        let mut progress = Progress { at: start, lines: 0, end: start };
        while progress.at < self.bytes.len() {
            if to.bytes >= limits.bytes || to.texts.len() >= limits.documents || to.ids.len() >= limits.bytes {
                return Ok((Stop::Full, progress));
            }
            let start = progress.at;
            let end = start + json_fields::line_length(&self.bytes[start..]);
            progress.end = end;
            let location = (base + start as f64, row + (progress.lines + 1) as f64);
            if end - start > self.max_line || !self.take_line(start, end, location, to)? {
                return Ok((Stop::Unread, progress));
            }
            progress.at = (end + 1).min(self.bytes.len());
            progress.lines += 1;
        }
        // Before the documents are encoded, which takes the most memory.
        self.free_large();
        Ok((Stop::End, progress))
    }

    /// Appends the document of a line, if it has one. Returns false if the line could not be read.
    fn take_line(&self, start: usize, end: usize, (at, row): (f64, f64), to: &mut Filled) -> Result<bool, Failure> {
        let line = &self.bytes[start..end];
        let Some(fields) = &self.fields else {
            let text = if self.keeps_line_ends {
                &self.bytes[start..(end + 1).min(self.bytes.len())]
            } else {
                line.strip_suffix(b"\r").unwrap_or(line)
            };
            to.texts_mut()?.push_utf8(text)?;
            to.push_row(at, row, text.len())?;
            return Ok(true);
        };
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return Ok(true);
        }
        let Some(Document { text, id }) = fields.read(line)? else { return Ok(false) };
        to.texts_mut()?.push_utf8(text.as_bytes())?;
        to.push_row(at, row, text.len())?;
        if let Some(id) = id {
            to.push_id(id.as_bytes())?;
        }
        Ok(true)
    }
}

/// Creates a reader of lines: of JSON with this field, and this field for ids, or of plain text,
/// with or without line ends.
#[napi(catch_unwind)]
pub fn line_reader(
    env: Env,
    field: Option<String>,
    id_field: Option<String>,
    max_line: f64,
    keeps_line_ends: Option<bool>,
) -> napi::Result<External<Lines>> {
    node_api::guarded(env, || {
        let fields = field.map(|field| Fields { text: field.into(), id: id_field.map(Into::into) });
        let reader = LineReader {
            fields,
            max_line: max_line as usize,
            keeps_line_ends: keeps_line_ends.unwrap_or(false),
            bytes: Slab::default(),
        };
        Ok(External::new(Lines(Held::new(RefCell::new(reader)))))
    })
}

/// Creates a list of documents that is full with `max_bytes` bytes of texts or of ids, or with
/// `max_documents` documents.
#[napi(catch_unwind)]
pub fn documents(env: Env, max_bytes: u32, max_documents: u32) -> napi::Result<External<Documents>> {
    node_api::guarded(env, || {
        let limits = DocumentLimits { bytes: max_bytes as usize, documents: max_documents as usize };
        Ok(External::new(Documents { limits, filled: Held::new(RefCell::default()) }))
    })
}

/// Copies whole lines of an input, which replace those before.
#[napi(catch_unwind)]
pub fn load_lines(env: Env, lines: &External<Lines>, bytes: Unknown<'_>) -> napi::Result<()> {
    node_api::guarded(env, || {
        let mut reader = lines.reader()?;
        reader.clear();
        text::append_bytes("bytes", &bytes, &mut reader.bytes)
    })
}

/// Removes all lines.
#[napi(catch_unwind)]
pub fn clear_lines(env: Env, lines: &External<Lines>) -> napi::Result<()> {
    node_api::guarded(env, || {
        lines.reader()?.clear();
        Ok(())
    })
}

/// Appends a part of a line; [`clear_lines`] comes before the first part. `capacity` is the number
/// of bytes to reserve for the whole line.
#[napi(catch_unwind)]
pub fn append_to_line(env: Env, lines: &External<Lines>, bytes: Unknown<'_>, capacity: f64) -> napi::Result<()> {
    node_api::guarded(env, || {
        let mut reader = lines.reader()?;
        let more = (capacity as usize).saturating_sub(reader.bytes.len());
        reader.bytes.try_grow(more)?;
        text::append_bytes("bytes", &bytes, &mut reader.bytes)
    })
}

/// Removes a byte order mark from the start of the first line. Returns whether there was one.
#[napi(catch_unwind)]
pub fn drop_byte_order_mark(env: Env, lines: &External<Lines>) -> napi::Result<bool> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    node_api::guarded(env, || {
        let mut reader = lines.reader()?;
        let is_there = reader.bytes.starts_with(MARK);
        if is_there {
            let length = reader.bytes.len() - MARK.len();
            reader.bytes.copy_within(MARK.len().., 0);
            reader.bytes.resize(length, 0);
        }
        Ok(is_there)
    })
}

/// A copy of the loaded lines.
#[napi(catch_unwind)]
pub fn line_bytes(env: Env, lines: &External<Lines>) -> napi::Result<U8Values> {
    node_api::guarded(env, || {
        let reader = lines.reader()?;
        let mut copy = vec![];
        copy.try_grow(reader.bytes.len())?;
        copy.extend_from_slice(&reader.bytes);
        Ok(U8Values::try_from(copy)?)
    })
}

/// Appends the documents of the loaded lines from byte `start` on, until the list of documents is
/// full or a line has to be read by `lib/`. `base` is the position of the first loaded byte in the
/// input, and `row` the number of rows before `start`.
///
/// `result`, a Uint32Array, gets the reason for the stop, see [`Stop`], the position of the next
/// line, its end if it has to be read by `lib/`, and the number of lines that were taken.
#[napi(catch_unwind)]
pub fn take_documents(
    lines: &External<Lines>,
    documents: &External<Documents>,
    start: u32,
    base: f64,
    row: f64,
    result: Unknown<'_>,
) -> napi::Result<()> {
    node_api::guarded(node_api::env_of(&result), || {
        let mut reader = lines.reader()?;
        let mut filled = documents.filled_mut()?;
        let (stop, progress) = reader.take(start as usize, base, row, documents.limits, &mut filled)?;
        let Progress { at, lines, end } = progress;
        node_api::fill_words(&result, &[stop as u32, at as u32, end as u32, lines as u32]);
        Ok(())
    })
}

/// Appends a document. `at` and `row` are the place of its row, and `id` is its id as JSON.
#[napi(catch_unwind)]
pub fn push_document(
    env: Env,
    documents: &External<Documents>,
    bytes: Unknown<'_>,
    at: f64,
    row: f64,
    id: Option<String>,
) -> napi::Result<()> {
    node_api::guarded(env, || {
        let mut filled = documents.filled_mut()?;
        let length = filled.texts_mut()?.push_js_bytes("bytes", &bytes)?;
        filled.push_row(at, row, length)?;
        Ok(id.map_or(Ok(()), |id| filled.push_id(id.as_bytes()))?)
    })
}

/// The number of documents and the bytes of their texts and ids, as doubles.
#[napi(catch_unwind)]
pub fn documents_size(env: Env, documents: &External<Documents>) -> napi::Result<Vec<f64>> {
    node_api::guarded(env, || {
        let filled = documents.filled()?;
        Ok(vec![filled.texts.len() as f64, filled.bytes as f64, filled.ids.len() as f64])
    })
}

/// Takes the table of the documents: for each of them three doubles, the byte of the input at which
/// its row starts, the number of the row, and the length of the text in bytes.
#[napi(catch_unwind)]
pub fn take_document_table(env: Env, documents: &External<Documents>) -> napi::Result<U32Values> {
    node_api::guarded(env, || {
        let mut filled = documents.filled_mut()?;
        Ok(U32Values::try_from(std::mem::take(&mut filled.table))?)
    })
}

/// Takes the ids of the documents: their JSON, each with a comma before it.
#[napi(catch_unwind)]
pub fn take_document_ids(env: Env, documents: &External<Documents>) -> napi::Result<U8Values> {
    node_api::guarded(env, || {
        let mut filled = documents.filled_mut()?;
        Ok(U8Values::try_from(std::mem::take(&mut filled.ids))?)
    })
}

/// The number of characters, Unicode code points, of the text of each document.
#[napi(catch_unwind)]
pub fn document_characters(env: Env, documents: &External<Documents>) -> napi::Result<U32Values> {
    node_api::guarded(env, || {
        let filled = documents.filled()?;
        let mut counts = vec![];
        counts.try_grow(filled.texts.len())?;
        for index in 0..filled.texts.len() {
            let text = filled.texts.utf8_at(index).ok_or_else(|| misuse("there is no such document"))?;
            counts.push(characters(text) as u32);
        }
        Ok(U32Values::try_from(counts)?)
    })
}

/// The number of characters of a text of UTF-8. All bytes of a character but the first one are from
/// 0x80 to 0xBF.
fn characters(text: &[u8]) -> usize {
    /// The counts of so few bytes fit into a byte, so that a vector register has many of them.
    const BLOCK: usize = 224;
    let in_block = |block: &[u8]| block.iter().map(|&byte| u8::from(byte.cast_signed() >= -0x40)).sum::<u8>();
    text.chunks(BLOCK).map(|block| usize::from(in_block(block))).sum()
}

/// A copy of the text of a document.
#[napi(catch_unwind)]
pub fn document_text(env: Env, documents: &External<Documents>, index: u32) -> napi::Result<U8Values> {
    node_api::guarded(env, || {
        let filled = documents.filled()?;
        let text = filled.texts.utf8_at(index as usize).ok_or_else(|| misuse("there is no such document"))?;
        let mut copy = vec![];
        copy.try_grow(text.len())?;
        copy.extend_from_slice(text);
        Ok(U8Values::try_from(copy)?)
    })
}

/// Removes all documents and releases their memory.
#[napi(catch_unwind)]
pub fn clear_documents(env: Env, documents: &External<Documents>) -> napi::Result<()> {
    node_api::guarded(env, || {
        *documents.filled_mut()? = Filled::default();
        Ok(())
    })
}

/// How documents are encoded.
#[napi(object, object_to_js = false)]
pub struct DocumentOptions {
    /// As of `encode_batch`.
    pub flags: u32,
    /// As of `encode_batch`.
    pub extra: Option<Extra>,
    /// The maximum number of threads. 0: the processors, divided by `batches`.
    pub threads: u32,
    /// The number of batches that run at the same time.
    pub batches: u32,
}

/// Encodes the documents on the threadpool, as `encode_batch` does with texts.
#[napi(catch_unwind)]
pub fn encode_documents(
    env: Env,
    entry: &External<QueueEntry>,
    handle: &External<Handle>,
    documents: &External<Documents>,
    options: DocumentOptions,
) -> napi::Result<AsyncTask<Job<EncodeWork>>> {
    node_api::guarded(env, || {
        let DocumentOptions { flags, extra, threads, batches } = options;
        let share = || (tokenlane_core::batch::threads() as u32).div_ceil(batches.max(1));
        let threads = if threads == 0 { share() } else { threads };
        let texts = documents.texts()?;
        let work = batch::encode_work(Some(entry), handle, Inputs::Shared(texts), flags, extra, threads);
        Ok(AsyncTask::new(Job::new(work, entry.take_permit())))
    })
}
