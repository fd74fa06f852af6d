//! Files of words. The module above describes their format.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::TrainError;

const MAGIC: &[u8] = b"tokenlane words 1\n";
/// A block ends behind the record that reaches this length.
const BLOCK: usize = 1 << 16;

pub(super) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The number that bytes start with; `None` if there are no bytes, or if it does not end within 64
/// bits.
#[inline]
pub(super) fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, others) = bytes.split_first()?;
        *bytes = others;
        let bits = u64::from(byte & 0x7F);
        value |= bits << shift;
        if byte < 0x80 {
            return (value >> shift == bits).then_some(value);
        }
    }
    None
}

fn failed(path: &Path, error: &io::Error) -> TrainError {
    TrainError::File { path: path.to_owned(), kind: error.kind(), message: error.to_string() }
}

/// Writes a file of words, which come in order.
pub(super) struct Writer {
    path: PathBuf,
    file: File,
    block: Vec<u8>,
    /// The word before in the block.
    last: Vec<u8>,
    words: u64,
}

impl Writer {
    pub fn create(path: &Path) -> Result<Self, TrainError> {
        let opened = File::create(path).and_then(|mut file| file.write_all(MAGIC).map(|()| file));
        let file = opened.map_err(|error| failed(path, &error))?;
        Ok(Self { path: path.to_owned(), file, block: Vec::new(), last: Vec::new(), words: 0 })
    }

    pub fn push(&mut self, word: &str, count: u64) -> Result<(), TrainError> {
        let word = word.as_bytes();
        let shared = self.last.iter().zip(word).take_while(|(left, right)| left == right).count();
        write_varint(&mut self.block, shared as u64);
        write_varint(&mut self.block, (word.len() - shared) as u64);
        self.block.extend_from_slice(&word[shared..]);
        write_varint(&mut self.block, count);
        self.last.truncate(shared);
        self.last.extend_from_slice(&word[shared..]);
        self.words += 1;
        if self.block.len() < BLOCK { Ok(()) } else { self.end_block() }
    }

    fn end_block(&mut self) -> Result<(), TrainError> {
        let block = std::mem::take(&mut self.block);
        if !block.is_empty() {
            self.write(block.len() as u32, &block)?;
        }
        self.block = block;
        self.block.clear();
        self.last.clear();
        Ok(())
    }

    fn write(&mut self, len: u32, bytes: &[u8]) -> Result<(), TrainError> {
        let mut head = [0; 8];
        head[..4].copy_from_slice(&len.to_le_bytes());
        head[4..].copy_from_slice(&crc32fast::hash(bytes).to_le_bytes());
        let written = self.file.write_all(&head).and_then(|()| self.file.write_all(bytes));
        written.map_err(|error| failed(&self.path, &error))
    }

    /// Ends the file. Nothing promises that it is on the disk.
    pub fn finish(mut self) -> Result<(), TrainError> {
        self.end_block()?;
        self.write(0, &self.words.to_le_bytes())
    }
}

/// Reads a file of words.
#[derive(Debug)]
pub(super) struct Reader {
    path: PathBuf,
    file: File,
    /// The bytes of the file that were not read.
    left: u64,
    block: Vec<u8>,
    /// Where the next record is in the block.
    at: usize,
    /// The word before in the block.
    last: Vec<u8>,
    words: u64,
    ended: bool,
}

impl Reader {
    pub fn open(path: &Path) -> Result<Self, TrainError> {
        let opened = File::open(path).and_then(|file| file.metadata().map(|metadata| (file, metadata.len())));
        let (file, left) = opened.map_err(|error| failed(path, &error))?;
        let (block, last) = (Vec::new(), Vec::new());
        let mut new = Self { path: path.to_owned(), file, left, block, at: 0, last, words: 0, ended: false };
        let mut magic = [0; MAGIC.len()];
        match new.read(&mut magic) {
            Ok(()) if magic == MAGIC => Ok(new),
            Err(error @ TrainError::File { .. }) => Err(error),
            _ => Err(new.damaged("it does not start like one")),
        }
    }

    /// The bytes of the file that were not read.
    pub fn left(&self) -> u64 {
        self.left
    }

    fn damaged(&self, problem: &'static str) -> TrainError {
        TrainError::DamagedFile { path: self.path.clone(), problem, words: self.words }
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), TrainError> {
        if bytes.len() as u64 > self.left {
            return Err(self.damaged("it ends early"));
        }
        self.left -= bytes.len() as u64;
        self.file.read_exact(bytes).map_err(|error| failed(&self.path, &error))
    }

    /// Reads the next block. Returns whether there is one.
    fn next_block(&mut self) -> Result<bool, TrainError> {
        let mut head = [0; 8];
        self.read(&mut head)?;
        let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let (len, checksum) = (number(0), number(4));
        self.ended = len == 0;
        let len = if self.ended { size_of::<u64>() } else { len as usize };
        if len as u64 > self.left {
            return Err(self.damaged("it ends early"));
        }
        let mut block = std::mem::take(&mut self.block);
        block.resize(len, 0);
        self.read(&mut block)?;
        if crc32fast::hash(&block) != checksum {
            return Err(self.damaged("a checksum is wrong"));
        }
        if self.ended && block != self.words.to_le_bytes() {
            return Err(self.damaged("it has another number of words than it says"));
        }
        if self.ended && self.left > 0 {
            return Err(self.damaged("it goes on behind its end"));
        }
        (self.block, self.at) = (block, 0);
        Ok(!self.ended)
    }

    /// Writes the next word to `word`, which has the word before, and returns its count.
    pub fn next(&mut self, word: &mut String) -> Result<Option<u64>, TrainError> {
        if self.ended || self.at == self.block.len() && !self.next_block()? {
            return Ok(None);
        }
        let starts_block = self.at == 0;
        let mut rest = &self.block[self.at..];
        if starts_block {
            self.last.clear();
        }
        let Some(count) = record(&mut rest, &mut self.last) else {
            return Err(self.damaged("a record is malformed"));
        };
        self.at = self.block.len() - rest.len();
        let Ok(text) = str::from_utf8(&self.last) else {
            return Err(self.damaged("a word is not UTF-8"));
        };
        if self.words > 0 && text <= word.as_str() {
            return Err(self.damaged("its words are not in order"));
        }
        word.clear();
        word.push_str(text);
        self.words += 1;
        Ok(Some(count))
    }
}

/// Reads a record over the word before, and returns its count.
fn record(bytes: &mut &[u8], word: &mut Vec<u8>) -> Option<u64> {
    let shared = usize::try_from(read_varint(bytes)?).ok()?;
    let len = usize::try_from(read_varint(bytes)?).ok()?;
    if shared > word.len() || len > bytes.len() {
        return None;
    }
    let (new, others) = bytes.split_at(len);
    *bytes = others;
    word.truncate(shared);
    word.extend_from_slice(new);
    read_varint(bytes).filter(|&count| count > 0)
}

/// Words with their counts, in memory: one text, and the length and count of each as varints.
#[derive(Debug, Clone)]
pub(super) struct Records<'a> {
    pub text: &'a str,
    pub numbers: &'a [u8],
}

impl<'a> Iterator for Records<'a> {
    type Item = (&'a str, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let len = read_varint(&mut self.numbers)?;
        let count = read_varint(&mut self.numbers).expect("each word has a count");
        let (word, others) = self.text.split_at(len as usize);
        self.text = others;
        Some((word, count))
    }
}
