//! Long words cut where no merge joins, and texts read as they stand, against the whole way in one piece.

use serde_json::{Value, json};

use super::draw::Draw;
use crate::encoding::{Columns, OffsetUnit};
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// Letters of one to four bytes, the mark, and what makes classes change.
pub(crate) const CHARACTERS: [char; 14] = ['a', 'b', 'q', '1', '2', '.', '\'', '\n', '\t', 'é', '中', '國', '😀', '▁'];

/// How a file has its spaces written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Nothing,
    Replace,
    PrependThenReplace,
    ReplaceThenPrepend,
    ReplaceThenSplit,
    Metaspace(&'static str, bool),
    Words,
}

pub(crate) const FORMS: [Form; 11] = [
    Form::Nothing,
    Form::Replace,
    Form::PrependThenReplace,
    Form::ReplaceThenPrepend,
    Form::ReplaceThenSplit,
    Form::Metaspace("first", false),
    Form::Metaspace("always", false),
    Form::Metaspace("never", true),
    Form::Metaspace("first", true),
    Form::Metaspace("always", true),
    Form::Words,
];

impl Form {
    fn normalizer(self) -> Value {
        let replace = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
        let prepend = json!({"type": "Prepend", "prepend": "▁"});
        match self {
            Self::Replace | Self::ReplaceThenSplit => replace,
            Self::PrependThenReplace => json!({"type": "Sequence", "normalizers": [prepend, replace]}),
            Self::ReplaceThenPrepend => json!({"type": "Sequence", "normalizers": [replace, prepend]}),
            Self::Nothing | Self::Metaspace(..) | Self::Words => Value::Null,
        }
    }

    fn pre_tokenizer(self) -> Value {
        match self {
            Self::ReplaceThenSplit => {
                json!({"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": false})
            }
            Self::Metaspace(scheme, split) => {
                json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split})
            }
            Self::Words => json!({"type": "WhitespaceSplit"}),
            _ => Value::Null,
        }
    }
}

/// A tokenizer.json in characters, of what decides whether a text is read as it stands and where it is cut.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) form: Form,
    /// Of [`CHARACTERS`], those that are no tokens.
    pub(crate) unknown: Vec<usize>,
    /// Pairs of tokens by number; what comes first is merged first.
    pub(crate) merges: Vec<(usize, usize)>,
    pub(crate) byte_fallback: Option<u8>,
    pub(crate) unk_token: bool,
    pub(crate) fuse_unk: bool,
    pub(crate) added: bool,
}

impl File {
    /// The file.
    pub(crate) fn json(&self) -> Value {
        let known = CHARACTERS.iter().enumerate().filter(|(at, _)| !self.unknown.contains(at));
        let mut tokens: Vec<String> = known.map(|(_, c)| c.to_string()).chain(["<unk>".into()]).collect();
        let mut merges: Vec<[String; 2]> = vec![];
        for &(left, right) in &self.merges {
            let [left, right] = [left, right].map(|at| tokens[at % tokens.len()].clone());
            let joined = format!("{left}{right}");
            if !left.contains('<') && !right.contains('<') && joined.len() < 40 {
                if !tokens.contains(&joined) {
                    tokens.push(joined);
                }
                merges.push([left, right]);
            }
        }
        merges.dedup();
        if let Some(few) = self.byte_fallback {
            tokens.extend((0..=255u8).filter(|byte| byte % few != 1).map(|byte| format!("<0x{byte:02X}>")));
        }
        let vocab: serde_json::Map<_, _> =
            tokens.into_iter().enumerate().map(|(id, token)| (token, id.into())).collect();
        let added = json!([{
            "id": vocab.len(), "content": "<a>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": false,
        }]);
        json!({
            "version": "1.0",
            "added_tokens": if self.added { added } else { json!([]) },
            "normalizer": self.form.normalizer(),
            "pre_tokenizer": self.form.pre_tokenizer(),
            "model": {
                "type": "BPE", "vocab": vocab, "merges": merges,
                "byte_fallback": self.byte_fallback.is_some(),
                "unk_token": self.unk_token.then_some("<unk>"),
                "fuse_unk": self.fuse_unk,
            },
        })
    }
}

/// Texts read as they stand and cut into pieces give what they give in one piece, in every column.
pub(crate) fn check(file: &File, texts: &[String]) {
    let bytes = file.json().to_string();
    let load = || Tokenizer::from_tokenizer_json(bytes.as_bytes()).expect("it loads");
    let (fast, mut slow) = (load(), load());
    slow.spaces = None;
    let crate::model::Model::Bpe(bpe) = std::sync::Arc::get_mut(&mut slow.model).expect("nobody shares it") else {
        unreachable!("the file has merges")
    };
    bpe.split_points = None;
    let every = EncodeOptions { columns: Columns::ALL, offset_unit: OffsetUnit::CodePoint, ..EncodeOptions::default() };
    for text in texts {
        // Twice: the second time from the cache, and each time the ids alone as well.
        for _ in 0..2 {
            let [mut ids, mut expected] = [vec![], vec![]];
            assert_eq!(
                fast.encode_ids(text.as_str().into(), &EncodeOptions::default(), &mut ids),
                slow.encode_ids(text.as_str().into(), &EncodeOptions::default(), &mut expected)
            );
            assert_eq!(ids, expected, "{text:?}");
            assert_eq!(fast.encode(text.as_str().into(), &every), slow.encode(text.as_str().into(), &every));
        }
    }
}

/// Bytes as a file and a few texts.
pub(super) fn split_points(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let file = File {
        form: draw.one_of(&FORMS),
        unknown: draw.list(5, |draw| draw.below(CHARACTERS.len())),
        merges: draw.list(40, |draw| (draw.below(60), draw.below(60))),
        byte_fallback: draw.one_of(&[None, Some(1), Some(3)]),
        unk_token: draw.flag(),
        fuse_unk: draw.flag(),
        added: draw.flag(),
    };
    let mut pieces: Vec<&str> = vec![" ", "x", "ж", "<a>", "abababababab", "aaaaaaaaaaaaaaaaa", "      "];
    let characters = CHARACTERS.map(String::from);
    pieces.extend(characters.iter().map(String::as_str));
    let text = draw.text(&pieces, 2000);
    check(&file, &[text]);
}
