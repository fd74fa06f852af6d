//! The printable form of bytes that byte-level vocabularies are written in, as GPT-2 introduced it: each of the 256
//! bytes is one character, those that print well are themselves, the others are moved behind U+0100.

const fn stays(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF)
}

/// Byte to character.
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

/// One past the largest code point in [`CHARACTERS`].
const LIMIT: usize = 0x100 + 68;

const BYTES: [Option<u8>; LIMIT] = {
    let mut table = [None; LIMIT];
    let mut byte = 0;
    while byte < 256 {
        table[CHARACTERS[byte] as usize] = Some(byte as u8);
        byte += 1;
    }
    table
};

/// The byte that a character stands for, if it is one of the 256.
pub(crate) fn byte_of(character: char) -> Option<u8> {
    *BYTES.get(character as usize)?
}

/// The bytes that a token's printable form stands for; nothing when a character in it is none of the 256.
pub(crate) fn bytes_of(token: &str) -> Option<Vec<u8>> {
    token.chars().map(byte_of).collect()
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
        assert_eq!(bytes_of("Ġé中"), None);
    }
}
