//! tekken.json, the format of Mistral's tokenizers, as mistral-common reads it: ranks like those of
//! a rank file, with ids shifted to make room for special tokens.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::borrow::Cow;

use super::ranks::{self, MergedPairs};
use super::splits::TokenSplits;
use crate::added_tokens::Policy;
use crate::error::LoadError;
use crate::memory::require_large;
use crate::options::RankDefinition;
use crate::pipeline::Pipeline;
use crate::vocab::Vocab;

#[derive(Deserialize)]
struct TekkenFile<'a> {
    #[serde(borrow)]
    config: Config<'a>,
    #[serde(borrow)]
    vocab: Vec<TokenEntry<'a>>,
    /// Missing in files of the first versions.
    #[serde(borrow, default)]
    special_tokens: Option<Vec<SpecialEntry<'a>>>,
}

#[derive(Deserialize)]
struct Config<'a> {
    #[serde(borrow)]
    pattern: Cow<'a, str>,
    default_vocab_size: u32,
    default_num_special_tokens: u32,
}

#[derive(Deserialize)]
struct TokenEntry<'a> {
    rank: u32,
    #[serde(borrow)]
    token_bytes: Cow<'a, str>,
}

#[derive(Deserialize)]
struct SpecialEntry<'a> {
    rank: u32,
    #[serde(borrow)]
    token_str: Cow<'a, str>,
}

/// The special tokens of files that do not list them; the index is the id.
const FIRST_SPECIAL_TOKENS: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];

/// Whether the top-level fields of a JSON file are those of a tekken.json.
pub(crate) fn is_tekken(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Top {
        config: Option<serde::de::IgnoredAny>,
        model: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Top>(bytes).is_ok_and(|top| top.config.is_some() && top.model.is_none())
}

pub(crate) fn load(bytes: &[u8]) -> Result<Pipeline, LoadError> {
    // The list of tokens is parsed as a whole. The shortest entry has 25 bytes in the file and
    // takes 32 bytes in a list that doubles its capacity.
    require_large(bytes.len().saturating_mul(4))?;
    let file: TekkenFile<'_> =
        serde_json::from_slice(bytes).map_err(|error| LoadError::shape("tekken.json", error.to_string()))?;
    let Config { pattern, default_vocab_size: size, default_num_special_tokens: specials } = file.config;
    let Some(ranks_used) = size.checked_sub(specials) else {
        let message = format!("{specials} special tokens do not fit into a vocabulary of {size}");
        return Err(LoadError::shape("config", message));
    };
    // The file may contain more ranks than the vocabulary of the model has. The others are ignored.
    let mut vocab = Vocab::builder(file.vocab.len(), file.vocab.len() * 8);
    for (at, entry) in file.vocab.iter().enumerate().filter(|(_, entry)| entry.rank < ranks_used) {
        let wrong = |message: String| LoadError::shape(format!("vocab[{at}].token_bytes"), message);
        let token = STANDARD.decode(entry.token_bytes.as_bytes()).map_err(|error| wrong(error.to_string()))?;
        if token.is_empty() {
            return Err(wrong("the token is empty".into()));
        }
        vocab.push(&token, entry.rank + specials)?;
    }
    let special_tokens = match file.special_tokens {
        Some(tokens) => tokens.into_iter().map(|token| (token.token_str.into_owned(), token.rank)).collect(),
        None => FIRST_SPECIAL_TOKENS.iter().map(|&token| token.to_owned()).zip(0..specials).collect::<Vec<_>>(),
    };
    let named = special_tokens.iter().map(|&(_, id)| id).collect::<std::collections::HashSet<_>>();
    if let Some((token, id)) = special_tokens.iter().find(|(_, id)| *id >= specials) {
        let message = format!("{token:?} has the rank {id}, but the ranks of special tokens are below {specials}");
        return Err(LoadError::shape("special_tokens", message));
    }
    // Every id below that of the first rank is a special token, even if it is not used.
    let fillers =
        (0..specials.min(MAX_FILLERS)).filter(|id| !named.contains(id)).map(|id| (format!("<SPECIAL_{id}>"), id));
    let special_tokens = special_tokens.into_iter().chain(fillers).collect();
    let definition = RankDefinition { pattern: pattern.into_owned(), special_tokens };
    // mistral-common never recognizes special tokens in text: callers insert their ids.
    ranks::tokenizer(vocab.finish()?, MergedPairs::Search(TokenSplits::UNKNOWN), &definition, Policy::Text)
}

/// If a file claims more special tokens than this, only this many get names.
const MAX_FILLERS: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::Tokenizer;
    use crate::{DecodeOptions, EncodeOptions, SpecialTokens};

    /// The bytes a to d, then ab, cd, abcd and, beyond the size of the vocabulary, abc.
    fn file(special_tokens: &str) -> String {
        let tokens = ["a", "b", "c", "d", "ab", "cd", "abcd", "abc"];
        let entry =
            |(rank, token): (usize, &&str)| format!(r#"{{"rank":{rank},"token_bytes":"{}"}}"#, STANDARD.encode(token));
        let vocab: Vec<String> = tokens.iter().enumerate().map(entry).collect();
        let config =
            r#"{"pattern":"[a-z]+","num_vocab_tokens":8,"default_vocab_size":37,"default_num_special_tokens":30}"#;
        format!(r#"{{"config":{config},"vocab":[{}]{special_tokens}}}"#, vocab.join(","))
    }

    #[test]
    fn ranks_are_moved_behind_the_special_tokens_and_cut_at_the_size() {
        let json = file("");
        let tokenizer = Tokenizer::from_bytes(json.as_bytes()).expect("the file is sound");
        let ids = |text: &str, special_tokens| {
            let options = EncodeOptions { special_tokens, ..EncodeOptions::default() };
            tokenizer.encode(text.into(), &options).map(crate::Encoding::into_ids)
        };
        assert_eq!(ids("abcd", SpecialTokens::FileDefault), Ok(vec![36]));
        assert_eq!(ids("abc", SpecialTokens::FileDefault), Ok(vec![34, 32]));
        assert_eq!(ids("ab<s>cd", SpecialTokens::Parse), Ok(vec![34, 1, 35]));
        assert_eq!(tokenizer.decode(&[1, 36, 25, 2], &DecodeOptions::default()), Ok("<s>abcd<SPECIAL_25></s>".into()));
        assert_eq!(tokenizer.decode(&[1, 36, 2], &DecodeOptions { skip_special_tokens: true }), Ok("abcd".into()));
    }

    #[test]
    fn special_tokens_may_be_named() {
        let json = file(r#","special_tokens":[{"rank":0,"token_str":"<pad>","is_control":true}]"#);
        let tokenizer = Tokenizer::from_bytes(json.as_bytes()).expect("the file is sound");
        assert_eq!((tokenizer.token_to_id("<pad>"), tokenizer.token_to_id("<s>")), (Some(0), None));
        assert_eq!(tokenizer.id_to_token(1), Some("<SPECIAL_1>".into()));
    }

    #[test]
    fn wrong_files_are_refused() {
        for (from, to) in
            [("\"rank\":0", "\"rank\":-1"), ("YQ==", "Y"), ("37", "7"), ("\"pattern\":", "\"p\":"), ("[a-z]+", "(")]
        {
            let json = file("").replacen(from, to, 1);
            assert!(Tokenizer::from_bytes(json.as_bytes()).is_err(), "{json}");
        }
        let json = file(r#","special_tokens":[{"rank":30,"token_str":"<x>"}]"#);
        assert!(Tokenizer::from_bytes(json.as_bytes()).is_err());
    }
}
