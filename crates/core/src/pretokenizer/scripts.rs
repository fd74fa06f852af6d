//! UnicodeScripts: a new word starts where the script changes.
//!
//! The reference took its scripts from SentencePiece: those of Unicode 9, with a few characters
//! assigned differently and the Japanese scripts merged. They are derived here from newer tables,
//! which include the version in which a character was added (the property Age).

use std::sync::LazyLock;

use crate::categories::class;
use crate::span::Span;

/// The scripts of Unicode 9. The index in this list is the number of a script below.
const SCRIPT_NAMES: &str = "Common Inherited Han Hiragana Katakana Devanagari \
    Adlam Ahom AnatolianHieroglyphs Arabic Armenian Avestan Balinese Bamum BassaVah Batak Bengali Bhaiksuki Bopomofo \
    Brahmi Braille Buginese Buhid CanadianAboriginal Carian CaucasianAlbanian Chakma Cham Cherokee Coptic Cuneiform \
    Cypriot Cyrillic Deseret Duployan EgyptianHieroglyphs Elbasan Ethiopic Georgian Glagolitic Gothic Grantha Greek \
    Gujarati Gurmukhi Hangul Hanunoo Hatran Hebrew ImperialAramaic InscriptionalPahlavi InscriptionalParthian Javanese \
    Kaithi Kannada KayahLi Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu LinearA LinearB Lisu Lycian Lydian \
    Mahajani Malayalam Mandaic Manichaean Marchen MeeteiMayek MendeKikakui MeroiticCursive MeroiticHieroglyphs Miao Modi \
    Mongolian Mro Multani Myanmar Nabataean NewTaiLue Newa Nko Ogham OlChiki OldHungarian OldItalic OldNorthArabian \
    OldPermic OldPersian OldSouthArabian OldTurkic Oriya Osage Osmanya PahawhHmong Palmyrene PauCinHau PhagsPa \
    Phoenician PsalterPahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala SoraSompeng \
    Sundanese SylotiNagri Syriac Tagalog Tagbanwa TaiLe TaiTham TaiViet Takri Tamil Tangut Telugu Thaana Thai Tibetan \
    Tifinagh Tirhuta Ugaritic Vai WarangCiti Yi";

const COMMON_SCRIPT: u8 = 0;
const HAN: u8 = 2;
const HIRAGANA: u8 = 3;
const KATAKANA: u8 = 4;
const DEVANAGARI: u8 = 5;

/// First character, last character and script of each range, in ascending order. Built when a text
/// is split by scripts for the first time.
static RANGES: LazyLock<Vec<(char, char, u8)>> = LazyLock::new(|| {
    let then_assigned = class(r"\p{Age=9.0}");
    let mut ranges = vec![];
    for (script, name) in SCRIPT_NAMES.split_whitespace().enumerate() {
        let mut characters = class(&format!(r"\p{{Script={name}}}"));
        characters.intersect(&then_assigned);
        ranges.extend(characters.ranges().iter().map(|range| (range.start(), range.end(), script as u8)));
    }
    ranges.sort_unstable();
    ranges
});

/// The script of a character; `None` if the character belongs to the run that surrounds it.
fn script(character: char) -> Option<u8> {
    let script = match character {
        ' ' => return None,
        'ー' => HAN,
        '\u{61c}' | '\u{589}' => COMMON_SCRIPT,
        '\u{953}' | '\u{954}' => DEVANAGARI,
        _ => {
            let index = RANGES.partition_point(|&(_, end, _)| end < character);
            let &(start, _, script) = RANGES.get(index)?;
            if character < start {
                return None;
            }
            script
        }
    };
    Some(if matches!(script, HIRAGANA | KATAKANA) { HAN } else { script })
}

/// Calls `found` with each run of one script. Characters without a script belong to the run before
/// them; those before the first run belong to no run.
pub(super) fn for_each_run(text: &str, mut found: impl FnMut(Span)) {
    let mut run: Option<(usize, u8)> = None;
    for (at, character) in text.char_indices() {
        let Some(script) = script(character) else { continue };
        match run {
            Some((_, same)) if same == script => {}
            other => {
                if let Some((start, _)) = other {
                    found(Span::new(start, at));
                }
                run = Some((at, script));
            }
        }
    }
    if let Some((start, _)) = run {
        found(Span::new(start, text.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_those_of_unicode_9_as_sentencepiece_has_them() {
        let same = |a, b| assert_eq!(script(a), script(b), "{a:?} and {b:?}");
        same('あ', '漢');
        same('ー', 'カ');
        same('1', '.');
        same('\u{953}', 'क');
        same('\u{589}', ',');
        // Added in Unicode 10 and 13: these had no script in Unicode 9.
        assert_eq!(script('\u{2bb0}').and(script('\u{9ff0}')), None);
        assert_eq!(script('\u{e000}'), None);
        // Counted in the table of the reference, without the space, which the reference excludes
        // later.
        let count = ('\0'..=char::MAX).filter(|&c| script(c).is_some()).count();
        assert_eq!(count, 128_237 - 1);
    }
}
