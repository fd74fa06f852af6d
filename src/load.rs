//! Making tokenizers: from a file, from bytes, on the JS thread or the threadpool.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{AsyncTask, External, Unknown};
use napi_derive::napi;
use tokenlane_core::memory::Grow;
use tokenlane_core::{RankDefinition, Tokenizer};

use crate::allocator;
use crate::error::{Class, Failure, caught};
use crate::line::Turn;
use crate::node_api::{self, Owned};
use crate::registry;
use crate::task::{Job, Work};
use crate::text;

/// What JS holds: a share of a tokenizer.
pub struct Handle {
    /// The tokenizer, which other handles in other threads may share.
    pub tokenizer: Arc<Tokenizer>,
}

impl Handle {
    /// The handle as JS gets it. Only the first share tells V8 of the memory: the others add none.
    pub fn into_external(tokenizer: Arc<Tokenizer>) -> External<Self> {
        let bytes = if Arc::strong_count(&tokenizer) == 1 { tokenizer.memory_bytes() } else { 0 };
        External::new_with_size_hint(Self { tokenizer }, bytes)
    }
}

/// What `lib/tokenizer.js` says of the bytes beside the bytes.
#[napi(object)]
pub struct LoadOptions {
    /// The bundled encoding that a rank file is to be read as.
    pub encoding: Option<String>,
    /// The pattern that a rank file's text is split by.
    pub pattern: Option<String>,
    /// The special tokens of a rank file.
    pub special_tokens: Option<HashMap<String, u32>>,
}

/// How the bytes of a file become a tokenizer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Definition {
    /// The bytes say it themselves.
    Content,
    /// As the encoding of that name.
    Encoding(String),
    /// Ranks, with a pattern and special tokens in the order of their ids.
    Ranks { pattern: String, special_tokens: Vec<(String, u32)> },
}

impl From<LoadOptions> for Definition {
    fn from(options: LoadOptions) -> Self {
        match options {
            LoadOptions { encoding: Some(name), .. } => Self::Encoding(name),
            LoadOptions { pattern: Some(pattern), special_tokens, .. } => {
                let mut special_tokens: Vec<_> = special_tokens.unwrap_or_default().into_iter().collect();
                special_tokens.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
                Self::Ranks { pattern, special_tokens }
            }
            _ => Self::Content,
        }
    }
}

impl Definition {
    /// Makes the tokenizer.
    pub fn build(&self, bytes: &[u8]) -> Result<Tokenizer, Failure> {
        Ok(match self {
            Self::Content => Tokenizer::from_bytes(bytes),
            Self::Encoding(name) => Tokenizer::from_encoding(name, bytes),
            Self::Ranks { pattern, special_tokens } => {
                let definition = RankDefinition { pattern: pattern.clone(), special_tokens: special_tokens.clone() };
                Tokenizer::from_ranks(bytes, &definition)
            }
        }?)
    }
}

/// Where the bytes come from.
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
    // Taking a file apart needs several times what the tokenizer keeps, and this thread may not allocate again soon.
    allocator::release_free_memory();
    loaded
}

/// Reads a regular file. Anything else is refused before a read could wait for it, as for a FIFO that nobody writes to.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    // Checked before the file is opened, because opening a device can change its state, and again afterwards, because the
    // file can have been replaced in between.
    check_regular(path, &fs::metadata(path).map_err(|error| cannot_read(path, &error))?)?;
    let mut file = open_nonblocking(path).map_err(|error| cannot_read(path, &error))?;
    let metadata = file.metadata().map_err(|error| cannot_read(path, &error))?;
    check_regular(path, &metadata)?;
    let mut bytes = Vec::new();
    let no_memory = |error| Failure::from(error).within(&format!("cannot read {}", path.display()));
    // One byte more, so that the end is found without growing.
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

/// Opens a file without waiting for the other end of a FIFO.
fn open_nonblocking(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // O_NONBLOCK of the platforms that have an addon.
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

/// A load on the threadpool.
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

    fn deliver(&mut self, _env: Env, tokenizer: Self::Output) -> napi::Result<Self::Js> {
        Ok(Owned(Handle::into_external(tokenizer)))
    }
}

fn load_now(env: Env, source: Source, options: LoadOptions) -> napi::Result<External<Handle>> {
    caught(|| load(&source, &options.into()))
        .map(Handle::into_external)
        .map_err(|failure| node_api::js_error(env, &failure))
}

fn copy_of(env: Env, bytes: &Unknown<'_>) -> napi::Result<Source> {
    caught(|| text::copy_bytes("bytes", bytes)).map(Source::Bytes).map_err(|failure| node_api::js_error(env, &failure))
}

/// Loads a file on the threadpool.
#[napi]
pub fn load_file(turn: &External<Turn>, path: String, options: LoadOptions) -> AsyncTask<Job<LoadWork>> {
    let work = LoadWork { source: Source::File(path.into()), definition: options.into() };
    AsyncTask::new(Job::new(work, turn.take_permit()))
}

/// Loads bytes on the threadpool. They are copied first.
#[napi]
pub fn load_bytes(
    env: Env,
    turn: &External<Turn>,
    bytes: Unknown<'_>,
    options: LoadOptions,
) -> napi::Result<AsyncTask<Job<LoadWork>>> {
    let work = LoadWork { source: copy_of(env, &bytes)?, definition: options.into() };
    Ok(AsyncTask::new(Job::new(work, turn.take_permit())))
}

/// Loads a file on this thread.
#[napi]
pub fn load_file_sync(env: Env, path: String, options: LoadOptions) -> napi::Result<External<Handle>> {
    load_now(env, Source::File(path.into()), options)
}

/// Loads bytes on this thread.
#[napi]
pub fn load_bytes_sync(env: Env, bytes: Unknown<'_>, options: LoadOptions) -> napi::Result<External<Handle>> {
    let source = copy_of(env, &bytes)?;
    load_now(env, source, options)
}

/// The names of the bundled encodings.
#[napi]
pub fn encoding_names() -> Vec<&'static str> {
    tokenlane_core::encoding_names().collect()
}

/// The name of the rank file that a bundled encoding is made from.
#[napi]
pub fn encoding_file(env: Env, name: String) -> napi::Result<&'static str> {
    if let Some(file) = tokenlane_core::encoding_file(&name) {
        return Ok(file);
    }
    let known = tokenlane_core::encoding_names().map(str::to_owned).collect::<Vec<_>>().join(", ");
    let failure = Failure::from(tokenlane_core::LoadError::UnknownEncoding { name, known });
    Err(node_api::js_error(env, &failure))
}

/// What a bundled encoding's rank file does not say itself, and the name of that file.
#[napi(object)]
pub struct EncodingDefinition {
    /// The rank file.
    pub file: String,
    /// The regular expression whose matches are the words.
    pub pattern: String,
    /// Special tokens and their ids.
    pub special_tokens: HashMap<String, u32>,
}

/// The definition of a bundled encoding, for those who add to it.
#[napi]
pub fn encoding_definition(env: Env, name: String) -> napi::Result<EncodingDefinition> {
    let file = encoding_file(env, name.clone())?.to_owned();
    caught(|| {
        let RankDefinition { pattern, special_tokens } = tokenlane_core::encoding_definition(&name)?;
        Ok(EncodingDefinition { file, pattern, special_tokens: special_tokens.into_iter().collect() })
    })
    .map_err(|failure| node_api::js_error(env, &failure))
}
