//! Tokenizers of many kinds for tests that count prefixes: most components, with random merges.

use std::fmt;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::Tokenizer;
use crate::byte_level;

/// The parts of a tokenizer: indices into the lists below, and merges as pairs of indices into the
/// tokens so far.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) normalizer: usize,
    pub(crate) pretokenizer: usize,
    pub(crate) model: usize,
    pub(crate) merges: Vec<(usize, usize)>,
    /// Whether there are added tokens.
    pub(crate) added: bool,
}

/// Tokenizers with any normalizer, pre-tokenizer and characters, and fewer than `merge_count`
/// merges of tokens below `token_count`.
pub(crate) fn subjects(token_count: usize, merge_count: usize) -> impl Strategy<Value = Subject> {
    let merges = prop::collection::vec((0..token_count, 0..token_count), 0..merge_count);
    (0..NORMALIZERS.len(), 0..PRETOKENIZERS.len(), 0..CHARACTER_TOKENS.len(), merges, any::<bool>()).prop_map(
        |(normalizer, pretokenizer, model, merges, added)| Subject { normalizer, pretokenizer, model, merges, added },
    )
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { normalizer, pretokenizer, model, merges, added } = self;
        let [normalizer, pretokenizer] = [&NORMALIZERS[*normalizer], &PRETOKENIZERS[*pretokenizer]];
        write!(f, "{normalizer} {pretokenizer} {:?} {merges:?} {added}", CHARACTER_TOKENS[*model])
    }
}

pub(crate) static NORMALIZERS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let form = |name: &str| json!({"type": name});
    let replace = |pattern: Value, content: &str| json!({"type": "Replace", "pattern": pattern, "content": content});
    let sequence = |all: Value| json!({"type": "Sequence", "normalizers": all});
    let prepend = json!({"type": "Prepend", "prepend": "▁"});
    let spaces = replace(json!({"String": " "}), "▁");
    vec![
        Value::Null,
        form("NFC"),
        form("NFD"),
        form("NFKC"),
        form("NFKD"),
        sequence(json!([])),
        sequence(json!([prepend, spaces])),
        spaces,
        prepend,
        json!({"type": "Strip", "strip_left": true, "strip_right": true}),
        json!({"type": "Strip", "strip_left": false, "strip_right": true}),
        replace(json!({"String": "a"}), "bb"),
        replace(json!({"String": "ab"}), ""),
        replace(json!({"Regex": r"\s+"}), " "),
        form("Lowercase"),
        sequence(json!([form("NFD"), form("StripAccents")])),
        json!({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true}),
    ]
});

pub(crate) static PRETOKENIZERS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let byte_level = |prefix: bool, regex: bool| json!({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": regex});
    let metaspace = |scheme: &str, split: bool| json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split});
    let split = |pattern: &str| json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
    let sequence = |all: Value| json!({"type": "Sequence", "pretokenizers": all});
    let fixed = |length: usize| json!({"type": "FixedLength", "length": length});
    let cl100k = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    vec![
        Value::Null,
        byte_level(false, true),
        byte_level(true, true),
        byte_level(false, false),
        json!({"type": "Whitespace"}),
        json!({"type": "WhitespaceSplit"}),
        metaspace("always", true),
        metaspace("first", true),
        metaspace("never", false),
        metaspace("always", false),
        json!({"type": "BertPreTokenizer"}),
        json!({"type": "Digits", "individual_digits": true}),
        split(cl100k),
        sequence(json!([split(cl100k), byte_level(false, false)])),
        sequence(json!([split(r"\d{1,3}"), split(r" ?[a-z]+"), byte_level(false, false)])),
        json!({"type": "Punctuation", "behavior": "Isolated"}),
        sequence(json!([fixed(3), {"type": "Digits", "individual_digits": true}])),
        sequence(json!([fixed(7), {"type": "Whitespace"}, byte_level(true, false)])),
        json!({"type": "CharDelimiterSplit", "delimiter": "a"}),
        sequence(json!([{"type": "UnicodeScripts"}, {"type": "WhitespaceSplit"}])),
    ]
});

/// How characters become tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CharacterTokens {
    /// Each byte is a token, written with the printable characters of byte-level vocabularies.
    Bytes,
    /// Some characters are tokens; each other character is an unknown token.
    Unknown,
    /// Some characters are tokens; others become the tokens of their bytes.
    ByteFallback,
    /// Some characters are tokens; adjacent other characters become one unknown token.
    Fused,
    /// Some characters are tokens; others are dropped.
    Dropped,
    /// Some characters are tokens; tokens at the end of a word have a suffix.
    Suffix,
    /// Some characters are tokens; tokens that do not start a word have a prefix.
    Prefix,
    /// The same; others become the tokens of their bytes. Their offsets lie within characters, and
    /// beyond the text, as in Hugging Face tokenizers.
    PrefixAndBytes,
    /// Like `Suffix`; others become the tokens of their bytes.
    SuffixAndBytes,
}

impl CharacterTokens {
    fn has_prefix(self) -> bool {
        matches!(self, Self::Prefix | Self::PrefixAndBytes)
    }

    fn has_suffix(self) -> bool {
        matches!(self, Self::Suffix | Self::SuffixAndBytes)
    }

    fn has_byte_tokens(self) -> bool {
        matches!(self, Self::ByteFallback | Self::PrefixAndBytes | Self::SuffixAndBytes)
    }
}

pub(crate) const CHARACTER_TOKENS: [CharacterTokens; 9] = [
    CharacterTokens::Bytes,
    CharacterTokens::Unknown,
    CharacterTokens::ByteFallback,
    CharacterTokens::Fused,
    CharacterTokens::Dropped,
    CharacterTokens::Suffix,
    CharacterTokens::Prefix,
    CharacterTokens::PrefixAndBytes,
    CharacterTokens::SuffixAndBytes,
];

/// Parts of texts.
pub(crate) fn pieces() -> Vec<String> {
    let pieces = [
        "a",
        "b",
        "ab",
        "abab",
        "aaaaaaa",
        "cd",
        "c",
        "d",
        " ",
        "  ",
        "      ",
        "\n",
        " \n",
        "\t",
        "1",
        "1234567",
        "'s",
        "A",
        "Ab",
        "ABab",
        "é",
        "e\u{301}",
        "\u{301}",
        "\u{323}\u{301}",
        "\u{1103}\u{1170}\u{11b7}",
        "\u{1103}\u{1170}",
        "\u{1103}",
        "뒈",
        "뒘",
        "ﬁ",
        "①",
        "中文",
        "中",
        "👩\u{200d}🚀",
        "<x>",
        "<y>",
        "  <y>",
        "<z>  ",
        "<x",
        ".",
        "!?",
        "\u{200b}",
    ];
    pieces.iter().map(|piece| (*piece).to_owned()).collect()
}

/// The tokenizer of a form. In byte-level forms, a few syllables are tokens even without merges of
/// the form.
pub(crate) fn tokenizer(form: &Subject) -> Tokenizer {
    let pretokenizer = &PRETOKENIZERS[form.pretokenizer];
    let writes_bytes = pretokenizer.to_string().contains("ByteLevel");
    let kind = match CHARACTER_TOKENS[form.model] {
        CharacterTokens::Bytes if !writes_bytes => CharacterTokens::ByteFallback,
        _ if writes_bytes => CharacterTokens::Bytes,
        kind => kind,
    };
    let printable = |text: &str| text.bytes().map(|byte| byte_level::CHARACTERS[usize::from(byte)]).collect::<String>();
    let mut tokens: Vec<String> = match kind {
        CharacterTokens::Bytes => byte_level::CHARACTERS.iter().map(char::to_string).collect(),
        _ => "▁abcd Ab1é뒈\u{1103}中.\u{301}".chars().map(String::from).collect(),
    };
    if kind.has_byte_tokens() {
        tokens.extend((0..256).map(|byte| format!("<0x{byte:02X}>")));
    }
    if kind.has_suffix() {
        tokens.extend("abcd1.▁".chars().map(|c| format!("{c}</w>")));
    }
    if kind.has_prefix() {
        tokens.extend("abcd1.▁".chars().map(|c| format!("##{c}")));
    }
    let mut joined: Vec<String> = match kind {
        CharacterTokens::Bytes => "abcd \u{301}1é"
            .chars()
            .flat_map(|c| printable(&c.to_string()).chars().collect::<Vec<_>>())
            .map(String::from)
            .collect(),
        _ if kind.has_suffix() => "a b c d a</w> b</w> d</w>".split(' ').map(String::from).collect(),
        _ if kind.has_prefix() => "a b d ##a ##b ##c ##d".split(' ').map(String::from).collect(),
        _ => "▁▁abcd 1é".chars().map(String::from).collect(),
    };
    let mut merges: Vec<[String; 2]> = vec![];
    let merge = |left: String, right: String, tokens: &mut Vec<String>, merges: &mut Vec<[String; 2]>| {
        // The right part of a merge does not start a word.
        if kind.has_prefix() && !right.starts_with("##") {
            return None;
        }
        let token = format!("{left}{}", right.strip_prefix("##").unwrap_or(&right));
        if !tokens.contains(&token) && !left.ends_with("</w>") {
            tokens.push(token.clone());
            merges.push([left, right]);
            return Some(token);
        }
        None
    };
    if kind == CharacterTokens::Bytes {
        for syllable in ["뒈", "뒘", "é"] {
            let mut left = String::new();
            for byte in printable(syllable).chars() {
                let token = format!("{left}{byte}");
                if !left.is_empty() {
                    merge(left, byte.to_string(), &mut tokens, &mut merges);
                }
                left = token;
            }
        }
    }
    for &(left, right) in &form.merges {
        let [left, right] = [left, right].map(|place| joined[place % joined.len()].clone());
        joined.extend(merge(left, right, &mut tokens, &mut merges));
    }
    tokens.push("<unk>".into());
    let vocab: Map<String, Value> = tokens.into_iter().zip((0..).map(Value::from)).collect();
    let model = json!({
        "type": "BPE", "vocab": vocab, "merges": merges,
        "byte_fallback": kind.has_byte_tokens(),
        "unk_token": if matches!(kind, CharacterTokens::Unknown | CharacterTokens::Fused | CharacterTokens::Suffix | CharacterTokens::Prefix) { json!("<unk>") } else { Value::Null },
        "fuse_unk": kind == CharacterTokens::Fused,
        "continuing_subword_prefix": if kind.has_prefix() { json!("##") } else { Value::Null },
        "end_of_word_suffix": if kind.has_suffix() { json!("</w>") } else { Value::Null },
    });
    let added = |id: u32, content: &str, flag: &str| {
        let mut token = json!({"id": id, "content": content, "special": true, "normalized": false, "single_word": false,
            "lstrip": false, "rstrip": false});
        if !flag.is_empty() {
            token[flag] = json!(true);
        }
        token
    };
    let mut word_after_spaces = added(1005, "cd", "single_word");
    word_after_spaces["lstrip"] = json!(true);
    let added = match form.added {
        true => json!([
            added(1000, "<x>", ""),
            added(1001, "<y>", "lstrip"),
            added(1002, "<z>", "rstrip"),
            added(1003, "Ab", "single_word"),
            added(1004, "<x><x>", ""),
            word_after_spaces,
        ]),
        false => json!([]),
    };
    let file = json!({"version": "1.0", "added_tokens": added, "normalizer": NORMALIZERS[form.normalizer],
        "pre_tokenizer": pretokenizer, "model": model});
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file")
}
