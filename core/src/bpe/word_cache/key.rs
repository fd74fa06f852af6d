//! Words that are their own keys: their bytes, zeros behind them, and in the last of sixteen bytes how many they are.

/// The longest word, in bytes, that is its own key.
pub(crate) const MAX_SHORT_LEN: usize = 15;

/// A short word and its length; never zero, because no word is empty.
pub(crate) type Key = u128;
/// The key of all words that are not short. No slot has it.
pub(crate) const NOT_SHORT: Key = Key::MAX;

/// The bytes of a word of each length in a load of sixteen.
pub(crate) const LEN_MASKS: [Key; MAX_SHORT_LEN + 1] = {
    let mut masks = [0; MAX_SHORT_LEN + 1];
    let mut len = 1;
    while len <= MAX_SHORT_LEN {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

/// The key of `text[start..end]`, or [`LONG`]. `text` goes on behind the word, so that most keys are one load.
#[inline(always)]
pub(crate) fn of_range(text: &[u8], start: u32, end: u32) -> Key {
    let len = (end - start) as usize;
    if len > MAX_SHORT_LEN {
        return NOT_SHORT;
    }
    let start = start as usize;
    let bytes = match text.get(start..start + 16) {
        Some(chunk) => u128::from_le_bytes(*chunk.first_chunk().expect("sixteen bytes")) & LEN_MASKS[len],
        None => read_short(&text[start..end as usize]),
    };
    with_len(bytes, len)
}

/// The key of a word that stands alone, or [`LONG`].
pub(crate) fn of_word(word: &[u8]) -> Key {
    of_range(word, 0, word.len() as u32)
}

/// The key of a short word, of which these are the bytes, little-endian.
#[inline(always)]
pub(crate) fn with_len(bytes: u128, len: usize) -> Key {
    bytes | (len as u128) << 120
}

/// Whether it is the key of a short word, and not of an empty one.
pub(crate) fn is_short(key: Key) -> bool {
    key != 0 && key != NOT_SHORT
}

/// The word that a key is of, which has to be a short one, in the key's bytes, little-endian.
pub(crate) fn word(bytes: &[u8; 16]) -> &[u8] {
    &bytes[..usize::from(bytes[MAX_SHORT_LEN])]
}

/// The bytes of a short word that nothing follows, each half of it in a load of its own.
fn read_short(word: &[u8]) -> u128 {
    let ends = |first: u64, last: u64, len: usize| u128::from(first) | u128::from(last) << (8 * (word.len() - len));
    if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        ends(u64::from_le_bytes(*first), u64::from_le_bytes(*last), 8)
    } else if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        ends(u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into(), 4)
    } else {
        word.iter().rev().fold(0, |bytes, &byte| bytes << 8 | u128::from(byte))
    }
}

/// Both halves of a key in one, for tables that multiply it by an odd number of their own.
#[inline(always)]
pub(crate) fn fold(key: Key) -> u64 {
    key as u64 ^ ((key >> 64) as u64).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_the_same_wherever_the_word_stands() {
        let text: Vec<u8> = (1..=60).collect();
        for start in 0..44 {
            for len in 1..=MAX_SHORT_LEN {
                let alone = &text[start as usize..start as usize + len];
                let key = of_word(alone);
                assert_eq!(of_range(&text, start, start + len as u32), key);
                assert!(is_short(key));
                assert_eq!(word(&key.to_le_bytes()), alone);
            }
            assert_eq!(of_range(&text, start, start + 16), NOT_SHORT);
        }
        assert_ne!(of_range(b"a", 0, 1), of_range(b"a\0", 0, 2));
    }
}
