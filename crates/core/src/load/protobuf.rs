//! Reads the fields of protobuf messages in order, without a schema and without copies.
//!
//! It neither recurses nor allocates. A length is checked against the number of remaining bytes
//! before it is used, so the time is linear in the file size for any content.

use crate::error::LoadError;

/// A message, or the part of it that was not read yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    bytes: &'a [u8],
    /// Where `bytes` starts in the file.
    start: usize,
}

/// The value of a field, by wire type.
#[derive(Debug, Clone, Copy)]
pub(super) enum FieldValue<'a> {
    Varint(u64),
    Fixed64,
    /// Text, bytes or a message.
    Bytes(Message<'a>),
    Fixed32(u32),
}

/// A field: its number, its value, and where it starts in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) number: u32,
    pub(super) value: FieldValue<'a>,
    start: usize,
}

impl<'a> Message<'a> {
    pub(super) fn new(file: &'a [u8]) -> Self {
        Self { bytes: file, start: 0 }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The next field, or `None` at the end of the message.
    pub(super) fn next(&mut self) -> Result<Option<Field<'a>>, LoadError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let start = self.start;
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|&number| number > 0 && number < 1 << 29);
        let number = number.ok_or_else(|| broken(start, "a field has a number that protobuf does not allow"))?;
        let value = match key & 7 {
            0 => FieldValue::Varint(self.varint()?),
            1 => self.take(8).map(|_| FieldValue::Fixed64)?,
            2 => {
                let length = self.varint()?;
                let left = self.bytes.len();
                let length = usize::try_from(length).ok().filter(|&length| length <= left).ok_or_else(|| {
                    broken(
                        start,
                        format!("a field is said to have {length} bytes, and {left} are left: is the file truncated?"),
                    )
                })?;
                let start = self.start;
                FieldValue::Bytes(Message { bytes: self.take(length)?, start })
            }
            5 => {
                let bytes = self.take(4)?;
                FieldValue::Fixed32(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            }
            wire_type => {
                return Err(broken(start, format!("wire type {wire_type} is not one of a SentencePiece model")));
            }
        };
        Ok(Some(Field { number, value, start }))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], LoadError> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or_else(|| {
            broken(self.start, format!("the message ends within a number of {count} bytes: is the file truncated?"))
        })?;
        self.bytes = rest;
        self.start += count;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, LoadError> {
        let mut value = 0u64;
        for (index, &byte) in self.bytes.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7F).checked_shl(7 * index as u32).unwrap_or(0);
            if byte < 0x80 {
                self.bytes = &self.bytes[index + 1..];
                self.start += index + 1;
                return Ok(value);
            }
        }
        let what = if self.bytes.len() < 10 {
            "the message ends within a number: is the file truncated?"
        } else {
            "a number has more than ten bytes"
        };
        Err(broken(self.start, what))
    }
}

impl<'a> Field<'a> {
    pub(super) fn message(&self) -> Result<Message<'a>, LoadError> {
        match self.value {
            FieldValue::Bytes(message) => Ok(message),
            _ => Err(self.other_type("bytes")),
        }
    }

    pub(super) fn text(&self, path: &dyn Fn() -> String) -> Result<&'a str, LoadError> {
        std::str::from_utf8(self.message()?.bytes()).map_err(|error| {
            LoadError::shape(path(), format!("the text is not UTF-8 from byte {} on", error.valid_up_to()))
        })
    }

    pub(super) fn number(&self) -> Result<u64, LoadError> {
        match self.value {
            FieldValue::Varint(value) => Ok(value),
            _ => Err(self.other_type("a varint")),
        }
    }

    pub(super) fn flag(&self) -> Result<bool, LoadError> {
        Ok(self.number()? != 0)
    }

    pub(super) fn float(&self) -> Result<f32, LoadError> {
        match self.value {
            FieldValue::Fixed32(bits) => Ok(f32::from_bits(bits)),
            _ => Err(self.other_type("a float")),
        }
    }

    fn other_type(&self, wanted: &str) -> LoadError {
        broken(self.start, format!("field {} is not {wanted}, so this is not a SentencePiece model", self.number))
    }
}

fn broken(byte: usize, message: impl Into<String>) -> LoadError {
    LoadError::Protobuf { byte, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<(u32, String)>, LoadError> {
        let (mut message, mut fields) = (Message::new(bytes), vec![]);
        while let Some(field) = message.next()? {
            let value = match field.value {
                FieldValue::Varint(value) => value.to_string(),
                FieldValue::Fixed64 => "64".into(),
                FieldValue::Bytes(bytes) => format!("{:?}", bytes.bytes()),
                FieldValue::Fixed32(bits) => f32::from_bits(bits).to_string(),
            };
            fields.push((field.number, value));
        }
        Ok(fields)
    }

    #[test]
    fn fields_of_all_wire_types() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 2, 7, 8, 0x1D, 0, 0, 0x80, 0x3F, 0x21, 1, 2, 3, 4, 5, 6, 7, 8];
        let fields = [(1, "150"), (2, "[7, 8]"), (3, "1"), (4, "64")].map(|(number, value)| (number, value.to_owned()));
        assert_eq!(read(&bytes), Ok(fields.to_vec()));
        for end in (1..bytes.len()).filter(|end| ![3, 7, 12].contains(end)) {
            let error = read(&bytes[..end]).expect_err("it is cut");
            assert_eq!(error.code(), "ERR_TOKENLANE_PROTOBUF");
            assert!(error.to_string().contains("truncated"), "{error}");
        }
    }

    #[test]
    fn malformed_fields_are_refused() {
        let cases: [(&[u8], &str); 5] = [
            (&[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1], "4294967295 bytes, and 1 are left"),
            (&[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 1], "18446744073709551615 bytes"),
            (&[0x0B, 0x0B, 0x0B], "wire type 3"),
            (&[0x02, 0x00], "a number that protobuf does not allow"),
            (&[0xFF; 11], "more than ten bytes"),
        ];
        for (bytes, message) in cases {
            let error = read(bytes).expect_err("it is refused").to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
