//! Long words that are split where no merge is possible, and texts that are not rewritten, compared
//! with the slow path that handles each text as a whole.

use serde_json::{Value, json};

use super::draw::Draw;
use crate::encoding::{Columns, OffsetUnit};
use crate::options::EncodeOptions;
use crate::tokenizer::Tokenizer;

/// Characters of one to four bytes, the meta symbol `▁`, and characters at which classes change.
pub(crate) const CHARACTERS: [char; 14] = ['a', 'b', 'q', '1', '2', '.', '\'', '\n', '\t', 'é', '中', '國', '😀', '▁'];

/// How a file represents spaces.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SpaceForm {
    Nothing,
    Replace,
    PrependThenReplace,
    ReplaceThenPrepend,
    ReplaceThenSplit,
    Metaspace(&'static str, bool),
    Words,
}

pub(crate) const FORMS: [SpaceForm; 11] = [
    SpaceForm::Nothing,
    SpaceForm::Replace,
    SpaceForm::PrependThenReplace,
    SpaceForm::ReplaceThenPrepend,
    SpaceForm::ReplaceThenSplit,
    SpaceForm::Metaspace("first", false),
    SpaceForm::Metaspace("always", false),
    SpaceForm::Metaspace("never", true),
    SpaceForm::Metaspace("first", true),
    SpaceForm::Metaspace("always", true),
    SpaceForm::Words,
];

impl SpaceForm {
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

/// A tokenizer.json, described by the properties that decide whether a text is used without
/// rewriting and where it is split.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) form: SpaceForm,
    /// The indices of [`CHARACTERS`] that are not tokens.
    pub(crate) unknown: Vec<usize>,
    /// Pairs of tokens, by index. Earlier pairs merge first.
    pub(crate) merges: Vec<(usize, usize)>,
    pub(crate) byte_fallback: Option<u8>,
    pub(crate) unk_token: bool,
    pub(crate) fuse_unk: bool,
    pub(crate) added: bool,
}

impl File {
    /// The contents of the file.
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

/// Checks that texts that are not rewritten and are split give the same result, in every column, as
/// on the slow path.
pub(crate) fn check(file: &File, texts: &[String]) {
    let bytes = file.json().to_string();
    let load = || Tokenizer::from_tokenizer_json(bytes.as_bytes()).expect("it loads");
    let (fast, mut slow) = (load(), load());
    slow.pipeline.spaces = None;
    let crate::model::Model::Bpe(bpe) = std::sync::Arc::get_mut(&mut slow.pipeline.model).expect("it is not shared")
    else {
        unreachable!("the file has merges")
    };
    bpe.split_points = None;
    let every = EncodeOptions { columns: Columns::ALL, offset_unit: OffsetUnit::CodePoint, ..EncodeOptions::default() };
    for text in texts {
        // The second round uses the cache. Each round also encodes without columns.
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

/// Interprets bytes as a file and a text.
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
