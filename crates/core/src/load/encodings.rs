//! The encodings that are bundled with tokenlane: names, patterns and special tokens as in tiktoken
//! 0.14 (`tiktoken_ext/openai_public.py`). The ranks are in `encodings/`: `NAME.tiktoken`
//! here, `NAME.ranks` in the package, which is the packed form that `load::ranks` reads.

use crate::error::LoadError;
use crate::options::RankDefinition;

struct Bundled {
    name: &'static str,
    file: &'static str,
    pattern: &'static str,
    special_tokens: &'static [(&'static str, u32)],
}

const GPT2_PATTERN: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
const CL100K_PATTERN: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";
const O200K_PATTERN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const BUNDLED: [Bundled; 6] = [
    Bundled {
        name: "r50k_base",
        file: "r50k_base",
        pattern: GPT2_PATTERN,
        special_tokens: &[("<|endoftext|>", 50256)],
    },
    Bundled {
        name: "p50k_base",
        file: "p50k_base",
        pattern: GPT2_PATTERN,
        special_tokens: &[("<|endoftext|>", 50256)],
    },
    Bundled {
        name: "p50k_edit",
        file: "p50k_base",
        pattern: GPT2_PATTERN,
        special_tokens: &[
            ("<|endoftext|>", 50256),
            ("<|fim_prefix|>", 50281),
            ("<|fim_middle|>", 50282),
            ("<|fim_suffix|>", 50283),
        ],
    },
    Bundled {
        name: "cl100k_base",
        file: "cl100k_base",
        pattern: CL100K_PATTERN,
        special_tokens: &[
            ("<|endoftext|>", 100257),
            ("<|fim_prefix|>", 100258),
            ("<|fim_middle|>", 100259),
            ("<|fim_suffix|>", 100260),
            ("<|endofprompt|>", 100276),
        ],
    },
    Bundled {
        name: "o200k_base",
        file: "o200k_base",
        pattern: O200K_PATTERN,
        special_tokens: &[("<|endoftext|>", 199999), ("<|endofprompt|>", 200018)],
    },
    Bundled {
        name: "o200k_harmony",
        file: "o200k_base",
        pattern: O200K_PATTERN,
        special_tokens: &[
            ("<|endoftext|>", 199999),
            ("<|endofprompt|>", 200018),
            ("<|startoftext|>", 199998),
            ("<|reserved_200000|>", 200000),
            ("<|reserved_200001|>", 200001),
            ("<|return|>", 200002),
            ("<|constrain|>", 200003),
            ("<|reserved_200004|>", 200004),
            ("<|channel|>", 200005),
            ("<|start|>", 200006),
            ("<|end|>", 200007),
            ("<|message|>", 200008),
            ("<|reserved_200009|>", 200009),
            ("<|reserved_200010|>", 200010),
            ("<|reserved_200011|>", 200011),
            ("<|call|>", 200012),
        ],
    },
];

/// o200k_harmony also reserves every id in this range, as `<|reserved_ID|>`.
const HARMONY_RESERVED: std::ops::RangeInclusive<u32> = 200_013..=201_087;

/// The names of the bundled encodings.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUNDLED.iter().map(|bundled| bundled.name)
}

fn bundled(name: &str) -> Result<&'static Bundled, LoadError> {
    BUNDLED.iter().find(|bundled| bundled.name == name).ok_or_else(|| {
        let known = names().collect::<Vec<_>>().join(", ");
        LoadError::UnknownEncoding { name: name.into(), known }
    })
}

/// The name of the rank file of a bundled encoding, in the folder `encodings`, without its suffix.
pub fn file(name: &str) -> Result<&'static str, LoadError> {
    bundled(name).map(|bundled| bundled.file)
}

/// The definition of a bundled encoding: its pattern and special tokens, which the rank file does
/// not contain.
pub fn definition(name: &str) -> Result<RankDefinition, LoadError> {
    let bundled = bundled(name)?;
    let mut special_tokens: Vec<(String, u32)> =
        bundled.special_tokens.iter().map(|&(token, id)| (token.to_owned(), id)).collect();
    if name == "o200k_harmony" {
        special_tokens.extend(HARMONY_RESERVED.map(|id| (format!("<|reserved_{id}|>"), id)));
    }
    Ok(RankDefinition { pattern: bundled.pattern.into(), special_tokens })
}
