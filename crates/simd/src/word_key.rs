//! Keys of short words, and the hashing of keys.
//!
//! A word of up to [`MAX_SHORT_LEN`] bytes is its own key: its bytes, zeros after them, and its
//! length in the last of sixteen bytes. Two words are equal if and only if their keys are, so that
//! a table needs neither a stored hash nor a pointer to the word. All longer words have the key
//! [`NOT_SHORT`].
//!
//! Tables hash a key by multiplying its two folded halves with an odd constant. A bit of a factor
//! changes only the bits of the product from its own place upwards, so they use the product's
//! highest bits, or [`hash`].

/// The maximum length, in bytes, of a word that is its own key.
pub const MAX_SHORT_LEN: usize = 15;

/// The key of a word. A short word's key is never zero, because no word is empty.
pub type Key = u128;

/// The key of all words that are not short. No table contains it.
pub const NOT_SHORT: Key = Key::MAX;

/// Odd constants with well-mixed bits, for multiplicative hashing. Two tables in which the same key
/// is looked up use different constants, so that keys that collide in one do not collide in the
/// other.
pub const MULTIPLIERS: [u64; 4] =
    [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0xD6E8_FEB8_6659_FD93, 0xA24B_AED4_963E_E407];

/// For each length, the bits of sixteen loaded bytes that belong to a word of that length.
pub const LEN_MASKS: [Key; MAX_SHORT_LEN + 1] = {
    let mut masks = [0; MAX_SHORT_LEN + 1];
    let mut len = 1;
    while len <= MAX_SHORT_LEN {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

/// The key of `text[start..end]`. Most keys are one load of sixteen bytes, which reads the text
/// after the word too.
#[inline(always)]
pub fn of_range(text: &[u8], start: u32, end: u32) -> Key {
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

/// The key of a word.
pub fn of_word(word: &[u8]) -> Key {
    of_range(word, 0, word.len() as u32)
}

/// The key of a short word from its bytes, little-endian.
#[inline(always)]
pub const fn with_len(bytes: u128, len: usize) -> Key {
    bytes | (len as u128) << 120
}

/// Whether this is the key of a short word that is not empty.
pub fn is_short(key: Key) -> bool {
    key != 0 && key != NOT_SHORT
}

/// The word of a short key, whose little-endian bytes are `bytes`.
pub fn word(bytes: &[u8; 16]) -> &[u8] {
    &bytes[..usize::from(bytes[MAX_SHORT_LEN])]
}

/// The bytes of a short word with no text after it. Two overlapping loads cover most lengths.
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

/// The rotation of [`fold`].
pub const FOLD_ROTATION: u32 = 29;

/// Folds both halves of a key into one number, for multiplicative hashing.
#[inline(always)]
pub fn fold(key: Key) -> u64 {
    key as u64 ^ ((key >> 64) as u64).rotate_left(FOLD_ROTATION)
}

/// The shift of [`mix`].
pub const MIX_SHIFT: u32 = 18;

/// A hash for tables that take the number of a bucket from bit 32 upwards. `multiplier` is one of
/// [`MULTIPLIERS`].
#[inline(always)]
pub fn hash(key: Key, multiplier: u64) -> u64 {
    mix(fold(key).wrapping_mul(multiplier))
}

/// Lets the highest bits of a product change the bits around bit 32 too. Without it, words that
/// differ only in their seventh and eighth bytes get the same buckets. Scripts with four bytes per
/// character have many such words.
#[inline(always)]
pub fn mix(product: u64) -> u64 {
    product ^ product >> MIX_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_the_same_key_anywhere_in_a_text() {
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
