//! The printable form of bytes in byte-level vocabularies, as introduced by GPT-2: each of the 256
//! bytes is represented by one character. Printable bytes represent themselves; the others are
//! mapped to characters from U+0100 on.

const fn stays(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF)
}

/// The character of each byte.
pub(crate) const CHARACTERS: [char; 256] = {
    let mut table = ['\0'; 256];
    let (mut byte, mut moved) = (0, 0x100);
    while byte < 256 {
        let code = if stays(byte as u8) {
            byte as u32
        } else {
            moved += 1;
            moved - 1
        };
        table[byte] = match char::from_u32(code) {
            Some(character) => character,
            None => unreachable!(),
        };
        byte += 1;
    }
    table
};

/// The character that represents a byte in byte-level vocabularies.
pub fn byte_character(byte: u8) -> char {
    CHARACTERS[usize::from(byte)]
}

/// One more than the largest code point in [`CHARACTERS`].
const CHARACTER_LIMIT: usize = 0x100 + 68;

const BYTE_OF_CHARACTER: [Option<u8>; CHARACTER_LIMIT] = {
    let mut table = [None; CHARACTER_LIMIT];
    let mut byte = 0;
    while byte < 256 {
        table[CHARACTERS[byte] as usize] = Some(byte as u8);
        byte += 1;
    }
    table
};

/// The byte that a character represents, if it is one of the 256 characters.
pub(crate) fn byte_of(character: char) -> Option<u8> {
    *BYTE_OF_CHARACTER.get(character as usize)?
}

/// The bytes that the characters of a token, given as UTF-8, represent; `None` for each character
/// that is not one of the 256.
pub(crate) fn bytes(token: &[u8]) -> impl Iterator<Item = Option<u8>> {
    let mut rest = token.iter();
    std::iter::from_fn(move || {
        let first = *rest.next()?;
        if first.is_ascii() {
            return Some(BYTE_OF_CHARACTER[usize::from(first)]);
        }
        // The non-ASCII characters among the 256 have two bytes each. Of longer characters, only
        // the first two bytes are skipped.
        let is_pair = first & 0xE0 == 0xC0;
        let code = usize::from(first & 0x1F) << 6 | usize::from(rest.next()? & 0x3F);
        Some(if is_pair { BYTE_OF_CHARACTER.get(code).copied().flatten() } else { None })
    })
}

/// The bytes that a token represents; `None` if a character is not one of the 256.
pub(crate) fn bytes_of(token: &str) -> Option<Vec<u8>> {
    bytes(token.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_character_and_back() {
        for byte in 0..=255u8 {
            assert_eq!(byte_of(CHARACTERS[usize::from(byte)]), Some(byte));
        }
        assert_eq!((CHARACTERS[usize::from(b' ')], CHARACTERS[usize::from(b'\n')], CHARACTERS[0]), ('Ġ', 'Ċ', 'Ā'));
        assert_eq!(('\0'..=char::MAX).filter(|&c| byte_of(c).is_some()).count(), 256);
        for c in ('\0'..='\u{1000}').chain(['中', '\u{FFFF}', '\u{1F600}', char::MAX]) {
            assert_eq!(bytes_of(&format!("a{c}b")), byte_of(c).map(|byte| vec![b'a', byte, b'b']), "{c:?}");
        }
        assert_eq!(bytes_of("Ġé中"), None);
    }
}
