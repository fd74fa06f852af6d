//! The text of each id in blocks of one size, for decoders that map every token separately and join
//! the results. A block is copied whole, whatever the length of its token, and the next one
//! overwrites the rest.
//!
//! [`Decoder::decode`](super::Decoder::decode) is the slow twin, and reports every error.

use crate::memory::Grow;

/// The size of a block: up to [`MAX_INLINE`] bytes of a token, and a tag.
const BLOCK: usize = 16;
const MAX_INLINE: usize = BLOCK - 1;

/// Tag of a token with more bytes. The block has the start and end of its bytes in `long`.
const LONG: u8 = 16;

/// Tag of an id without a token, and of added tokens, which options can leave out.
const OTHER: u8 = 17;

/// Number of ids of a call for which the table is built: it costs as much as decoding all tokens.
pub(crate) const MIN_IDS: usize = 256;

/// A token's bytes, then zeros, then the tag: the number of bytes, [`LONG`] or [`OTHER`].
#[derive(Debug, Clone, Copy)]
#[repr(align(16))]
struct Block([u8; BLOCK]);

/// The blocks of a tokenizer, by id.
#[derive(Debug)]
pub(crate) struct TokenTable {
    blocks: Vec<Block>,
    /// The bytes of the long tokens, end to end.
    long: Vec<u8>,
}

/// The text of an id.
enum Found<'a> {
    Inline(&'a [u8; BLOCK], usize),
    Long(&'a [u8]),
    Other,
}

impl TokenTable {
    /// The table for ids below `count`. `append` appends the text of an id to a list, or returns
    /// `None` for ids that get no block. `None` if memory is short.
    pub(crate) fn new(count: usize, append: impl Fn(u32, &mut Vec<u8>) -> Option<()>) -> Option<Self> {
        let mut table = Self { blocks: Vec::new(), long: Vec::new() };
        table.blocks.try_grow(count).ok()?;
        let mut text = Vec::new();
        for id in 0..count as u32 {
            let mut block = [0; BLOCK];
            text.clear();
            block[MAX_INLINE] = match append(id, &mut text) {
                None => OTHER,
                Some(()) if text.len() <= MAX_INLINE => {
                    block[..text.len()].copy_from_slice(&text);
                    text.len() as u8
                }
                Some(()) => {
                    let start = u32::try_from(table.long.len()).ok()?;
                    table.long.try_grow(text.len()).ok()?;
                    table.long.extend_from_slice(&text);
                    let end = u32::try_from(table.long.len()).ok()?;
                    block[..4].copy_from_slice(&start.to_ne_bytes());
                    block[4..8].copy_from_slice(&end.to_ne_bytes());
                    LONG
                }
            };
            table.blocks.push(Block(block));
        }
        Some(table)
    }

    /// The bytes of ids. `other` returns the text of an id without a block. `None` if it does, and
    /// for more bytes than `limit`.
    pub(crate) fn join(&self, ids: &[u32], other: impl Fn(u32) -> Option<Vec<u8>>, limit: usize) -> Option<Vec<u8>> {
        let mut len = 0_usize;
        for &id in ids {
            len += match self.get(id) {
                Found::Inline(_, len) => len,
                Found::Long(text) => text.len(),
                Found::Other => other(id)?.len(),
            };
        }
        if len > limit {
            return None;
        }
        let mut bytes = Vec::new();
        bytes.grow(len + BLOCK);
        bytes.resize(len + BLOCK, 0);
        let mut at = 0;
        for &id in ids {
            at += match self.get(id) {
                Found::Inline(block, len) => {
                    bytes[at..at + BLOCK].copy_from_slice(block);
                    len
                }
                Found::Long(text) => write(text, &mut bytes[at..]),
                Found::Other => write(&other(id)?, &mut bytes[at..]),
            };
        }
        bytes.truncate(len);
        Some(bytes)
    }

    fn get(&self, id: u32) -> Found<'_> {
        let Some(Block(block)) = self.blocks.get(id as usize) else { return Found::Other };
        match block[MAX_INLINE] {
            LONG => {
                let offset = |at: usize| u32::from_ne_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
                Found::Long(&self.long[offset(0) as usize..offset(4) as usize])
            }
            OTHER => Found::Other,
            len => Found::Inline(block, usize::from(len)),
        }
    }

    /// The allocated heap memory in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.blocks.capacity() * BLOCK + self.long.capacity()
    }
}

fn write(text: &[u8], bytes: &mut [u8]) -> usize {
    bytes[..text.len()].copy_from_slice(text);
    text.len()
}
