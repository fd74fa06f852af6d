//! Tokenizers of many kinds for what counts prefixes: most components, with merges at random.

use std::fmt;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::Tokenizer;
use crate::byte_level;

/// How a tokenizer is made: places in the lists below, and merges as pairs of places among the tokens so far.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) normalizer: usize,
    pub(crate) pretokenizer: usize,
    pub(crate) model: usize,
    pub(crate) merges: Vec<(usize, usize)>,
    /// Whether there are added tokens.
    pub(crate) added: bool,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { normalizer, pretokenizer, model, merges, added } = self;
        let [normalizer, pretokenizer] = [&NORMALIZERS[*normalizer], &PRETOKENIZERS[*pretokenizer]];
        write!(f, "{normalizer} {pretokenizer} {:?} {merges:?} {added}", MODELS[*model])
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
    ]
});

/// How characters become tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By their bytes, in the printable characters of byte-level vocabularies.
    Bytes,
    /// By themselves; others are unknown, one by one.
    Unknown,
    /// By themselves; others by their bytes.
    ByteFallback,
    /// By themselves; others are unknown, several in a row as one.
    Fused,
    /// By themselves; others are left out.
    Dropped,
    /// By themselves, with a suffix at the end of a word.
    Suffix,
    /// By themselves, with a prefix where they do not start a word.
    Prefix,
}

pub(crate) const MODELS: [Kind; 7] =
    [Kind::Bytes, Kind::Unknown, Kind::ByteFallback, Kind::Fused, Kind::Dropped, Kind::Suffix, Kind::Prefix];

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

/// The tokenizer of a form. Without merges of its own each of some syllables is a token.
pub(crate) fn tokenizer(form: &Form) -> Tokenizer {
    let pretokenizer = &PRETOKENIZERS[form.pretokenizer];
    let writes_bytes = pretokenizer.to_string().contains("ByteLevel");
    let kind = match MODELS[form.model] {
        Kind::Bytes if !writes_bytes => Kind::ByteFallback,
        _ if writes_bytes => Kind::Bytes,
        kind => kind,
    };
    let printable = |text: &str| text.bytes().map(|byte| byte_level::CHARACTERS[usize::from(byte)]).collect::<String>();
    let mut tokens: Vec<String> = match kind {
        Kind::Bytes => byte_level::CHARACTERS.iter().map(char::to_string).collect(),
        _ => "▁abcd Ab1é뒈\u{1103}中.\u{301}".chars().map(String::from).collect(),
    };
    match kind {
        Kind::ByteFallback => tokens.extend((0..256).map(|byte| format!("<0x{byte:02X}>"))),
        Kind::Suffix => tokens.extend("abcd1.▁".chars().map(|c| format!("{c}</w>"))),
        Kind::Prefix => tokens.extend("abcd1.▁".chars().map(|c| format!("##{c}"))),
        _ => {}
    }
    let mut joined: Vec<String> = match kind {
        Kind::Bytes => "abcd \u{301}1é"
            .chars()
            .flat_map(|c| printable(&c.to_string()).chars().collect::<Vec<_>>())
            .map(String::from)
            .collect(),
        Kind::Suffix => "a b c d a</w> b</w> d</w>".split(' ').map(String::from).collect(),
        Kind::Prefix => "a b d ##a ##b ##c ##d".split(' ').map(String::from).collect(),
        _ => "▁▁abcd 1é".chars().map(String::from).collect(),
    };
    let mut merges: Vec<[String; 2]> = vec![];
    let merge = |left: String, right: String, tokens: &mut Vec<String>, merges: &mut Vec<[String; 2]>| {
        // Only what does not start a word can stand on the right.
        if kind == Kind::Prefix && !right.starts_with("##") {
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
    if kind == Kind::Bytes {
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
        "byte_fallback": kind == Kind::ByteFallback,
        "unk_token": if matches!(kind, Kind::Unknown | Kind::Fused | Kind::Suffix | Kind::Prefix) { json!("<unk>") } else { Value::Null },
        "fuse_unk": kind == Kind::Fused,
        "continuing_subword_prefix": if kind == Kind::Prefix { json!("##") } else { Value::Null },
        "end_of_word_suffix": if kind == Kind::Suffix { json!("</w>") } else { Value::Null },
    });
    let added = |id: u32, content: &str, flag: &str| {
        let mut token = json!({"id": id, "content": content, "special": true, "normalized": false, "single_word": false,
            "lstrip": false, "rstrip": false});
        if !flag.is_empty() {
            token[flag] = json!(true);
        }
        token
    };
    let added = match form.added {
        true => json!([
            added(1000, "<x>", ""),
            added(1001, "<y>", "lstrip"),
            added(1002, "<z>", "rstrip"),
            added(1003, "Ab", "single_word"),
            added(1004, "<x><x>", "")
        ]),
        false => json!([]),
    };
    let file = json!({"version": "1.0", "added_tokens": added, "normalizer": NORMALIZERS[form.normalizer],
        "pre_tokenizer": pretokenizer, "model": model});
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file")
}
