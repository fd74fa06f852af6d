//! Loading tokenizers from a file or from bytes, on the JS thread or on the threadpool.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{AsyncTask, External, Unknown};
use napi_derive::napi;
use tokenlane_core::Tokenizer;
use tokenlane_core::memory::Grow;

use crate::allocator;
use crate::definition::{Definition, EncodingDefinition, LoadOptions};
use crate::error::{Class, Failure};
use crate::handle::Handle;
use crate::node_api::{self, Owned};
use crate::queue::QueueEntry;
use crate::registry;
use crate::task::{Job, Work};
use crate::text;

/// The source of the bytes.
pub enum Source {
    File(PathBuf),
    Bytes(Vec<u8>),
}

fn load(source: &Source, definition: &Definition) -> Result<Arc<Tokenizer>, Failure> {
    let loaded = match source {
        Source::Bytes(bytes) => registry::shared(bytes, definition),
        Source::File(path) => read(path).and_then(|bytes| {
            registry::shared(&bytes, definition).map_err(|failure| failure.within(&path.display().to_string()))
        }),
    };
    // Parsing a file needs several times the memory of the tokenizer, and this thread may not
    // allocate again soon.
    allocator::release_free_memory();
    loaded
}

/// Reads a regular file. Anything else is an error before the first read, because reading a FIFO
/// without a writer would block.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    // The type is checked before opening, because opening a device can change its state, and again
    // afterwards, because the file may have been replaced in the meantime.
    check_regular(path, &fs::metadata(path).map_err(|error| cannot_read(path, &error))?)?;
    let mut file = open_nonblocking(path).map_err(|error| cannot_read(path, &error))?;
    let metadata = file.metadata().map_err(|error| cannot_read(path, &error))?;
    check_regular(path, &metadata)?;
    let mut bytes = Vec::new();
    let no_memory = |error| Failure::from(error).within(&format!("cannot read {}", path.display()));
    // One byte more than the size, so that the read that finds the end of the file does not grow
    // the buffer.
    let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX).saturating_add(1);
    bytes.try_grow(size).map_err(no_memory)?;
    file.read_to_end(&mut bytes).map_err(|error| cannot_read(path, &error))?;
    Ok(bytes)
}

fn check_regular(path: &Path, metadata: &fs::Metadata) -> Result<(), Failure> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = if metadata.is_dir() { "it is a directory" } else { "it is not a regular file" };
    Err(Failure::new(Class::Error, "ERR_TOKENLANE_NOT_A_FILE", format!("cannot read {}: {kind}", path.display())))
}

/// Opens a file without blocking on the other end of a FIFO.
fn open_nonblocking(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // The value of O_NONBLOCK on the platforms that have an addon.
        options.custom_flags(if cfg!(target_os = "linux") { 0o4000 } else { 0x4 });
    }
    options.open(path)
}

fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::NotFound {
        let message = format!("cannot read {}: there is no such file", path.display());
        return Failure::new(Class::Error, "ERR_TOKENLANE_FILE_NOT_FOUND", message);
    }
    Failure::new(Class::Error, "ERR_TOKENLANE_FILE", format!("cannot read {}: {error}", path.display()))
}

/// The work of a load on the threadpool.
pub struct LoadWork {
    source: Source,
    definition: Definition,
}

impl Work for LoadWork {
    type Output = Arc<Tokenizer>;
    type Js = Owned<Handle>;

    fn run(&mut self) -> Result<Self::Output, Failure> {
        load(&self.source, &self.definition)
    }
}

impl From<Arc<Tokenizer>> for Owned<Handle> {
    fn from(tokenizer: Arc<Tokenizer>) -> Self {
        Self(Handle::into_external(tokenizer))
    }
}

fn load_now(source: Source, options: LoadOptions) -> Result<External<Handle>, Failure> {
    load(&source, &options.into()).map(Handle::into_external)
}

fn copy_of(bytes: &Unknown<'_>) -> Result<Source, Failure> {
    text::copy_bytes("bytes", bytes).map(Source::Bytes)
}

/// Loads a file on the threadpool.
#[napi(catch_unwind)]
pub fn load_file(
    env: Env,
    entry: &External<QueueEntry>,
    path: String,
    options: LoadOptions,
) -> napi::Result<AsyncTask<Job<LoadWork>>> {
    node_api::guarded(env, || {
        let work = LoadWork { source: Source::File(path.into()), definition: options.into() };
        Ok(AsyncTask::new(Job::new(work, entry.take_permit())))
    })
}

/// Loads bytes on the threadpool. The bytes are copied first.
#[napi(catch_unwind)]
pub fn load_bytes(
    env: Env,
    entry: &External<QueueEntry>,
    bytes: Unknown<'_>,
    options: LoadOptions,
) -> napi::Result<AsyncTask<Job<LoadWork>>> {
    node_api::guarded(env, || {
        let work = LoadWork { source: copy_of(&bytes)?, definition: options.into() };
        Ok(AsyncTask::new(Job::new(work, entry.take_permit())))
    })
}

/// Loads a file on this thread.
#[napi(catch_unwind)]
pub fn load_file_sync(env: Env, path: String, options: LoadOptions) -> napi::Result<External<Handle>> {
    node_api::guarded(env, || load_now(Source::File(path.into()), options))
}

/// Loads bytes on this thread.
#[napi(catch_unwind)]
pub fn load_bytes_sync(env: Env, bytes: Unknown<'_>, options: LoadOptions) -> napi::Result<External<Handle>> {
    node_api::guarded(env, || load_now(copy_of(&bytes)?, options))
}

/// Returns the names of the bundled encodings.
#[napi(catch_unwind)]
pub fn encoding_names(env: Env) -> napi::Result<Vec<&'static str>> {
    node_api::guarded(env, || Ok(tokenlane_core::encoding_names().collect()))
}

/// Returns the name of the rank file of a bundled encoding. Error: an unknown name.
#[napi(catch_unwind)]
pub fn encoding_file(env: Env, name: String) -> napi::Result<&'static str> {
    node_api::guarded(env, || Ok(tokenlane_core::encoding_file(&name)?))
}

/// Returns the definition of a bundled encoding, for users who extend it.
#[napi(catch_unwind)]
pub fn encoding_definition(env: Env, name: String) -> napi::Result<EncodingDefinition> {
    node_api::guarded(env, || EncodingDefinition::named(&name))
}
