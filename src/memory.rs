//! Whose memory the ids lie in.
//!
//! The core gathers a batch into one block of words. JS gets that block itself, as the memory of an ArrayBuffer, and Node
//! calls a finalizer when V8 has let go of it. Finalizers run between turns of the event loop: a loop that never yields
//! would let blocks pile up. Therefore what is outstanding is counted, and past [`MOST_OUTSTANDING`] bytes, or where a
//! runtime allows no external memory (Electron), the words are copied into memory that V8 itself collects.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The most bytes that may wait for a finalizer, in the whole process: 256 MiB.
const MOST_OUTSTANDING: usize = 256 << 20;

/// Up to this many bytes a copy costs less than a finalizer: 16 KiB.
const SMALL: usize = 16 << 10;

/// Bytes lent to V8 and not yet given back: `lent == sum of the bytes of all live loans`.
static LENT: AtomicUsize = AtomicUsize::new(0);

/// Words on their way to JS, where they become an ArrayBuffer of 32-bit words in this machine's byte order.
#[derive(Debug)]
pub struct Slab(pub Vec<u32>);

/// Bytes on their way to JS, where they become a Uint8Array.
#[derive(Debug)]
pub struct Bytes(pub Vec<u8>);

/// Words that V8 looks at. Dropping it gives them back.
#[derive(Debug)]
pub struct Loan {
    words: Vec<u32>,
}

impl Loan {
    /// Registers the words as lent, or gives them back where they had better be copied.
    pub fn take(words: Vec<u32>) -> Result<Self, Vec<u32>> {
        let bytes = words.len() * size_of::<u32>();
        if bytes <= SMALL {
            return Err(words);
        }
        // Relaxed: the count guards no memory, it only has to add up.
        let before = LENT.fetch_add(bytes, Ordering::Relaxed);
        let loan = Self { words };
        if before + bytes > MOST_OUTSTANDING { Err(loan.into_words()) } else { Ok(loan) }
    }

    /// The words, for V8 to look at. They stay where they are until the loan is dropped.
    pub fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// Takes the words back.
    pub fn into_words(mut self) -> Vec<u32> {
        LENT.fetch_sub(self.words.len() * size_of::<u32>(), Ordering::Relaxed);
        std::mem::take(&mut self.words)
    }
}

impl Drop for Loan {
    /// The block goes back to the core, which keeps it warm for the next batch.
    fn drop(&mut self) {
        LENT.fetch_sub(self.words.len() * size_of::<u32>(), Ordering::Relaxed);
        tokenlane_core::memory::give_back(std::mem::take(&mut self.words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loans_add_up_and_are_capped() {
        assert_eq!(Loan::take(vec![7; 4]).err(), Some(vec![7; 4]), "small blocks are copied");
        let block = MOST_OUTSTANDING / size_of::<u32>() / 2;
        let first = Loan::take(vec![0; block]).expect("half of the cap");
        let second = Loan::take(vec![0; block]).expect("the other half");
        assert!(Loan::take(vec![0; 1 << 20]).is_err(), "nothing is left");
        drop(first);
        let third = Loan::take(vec![0; 1 << 20]).expect("there is room again");
        assert_eq!(second.into_words().len() + third.into_words().len(), block + (1 << 20));
        assert_eq!(LENT.load(Ordering::Relaxed), 0);
    }
}
