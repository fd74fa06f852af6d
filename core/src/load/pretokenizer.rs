//! The `pre_tokenizer` of a tokenizer.json.

use super::json::Part;
use crate::error::LoadError;
use crate::pattern::Dialect;
use crate::pretokenizer::{Behavior, Cut, Letter, PreTokenizer, Prepend, Stage};

pub(crate) fn load(part: &Part<'_>) -> Result<PreTokenizer, LoadError> {
    let mut stages = vec![];
    if !part.is_null() {
        push(part, &mut stages)?;
    }
    Ok(PreTokenizer { stages })
}

/// Every pre-tokenizer has a type: none is told by its fields alone in the reference either.
fn push(part: &Part<'_>, stages: &mut Vec<Stage>) -> Result<(), LoadError> {
    let mut cut = |cut| stages.push(Stage::Cut(cut));
    match part.kind()? {
        "Sequence" => {
            for item in part.required("pretokenizers")?.items()? {
                push(&item, stages)?;
            }
        }
        "ByteLevel" => {
            part.required("trim_offsets")?.flag()?;
            if part.required("add_prefix_space")?.flag()? {
                stages.push(Stage::PrefixSpace);
            }
            if part.flag_or("use_regex", true)? {
                stages.push(Stage::Cut(Cut::byte_level()));
            }
            stages.push(Stage::Bytes);
        }
        "Metaspace" => {
            let metaspace = metaspace(part)?;
            let Metaspace { replacement, prepend, split } = metaspace;
            stages.push(Stage::Spaces { replacement, prepend });
            if split {
                stages.push(Stage::Cut(Cut::letter(Letter::Is(replacement), Behavior::MergedWithNext)));
            }
        }
        "Split" => cut(split(part)?),
        "BertPreTokenizer" => {
            cut(Cut::letter(Letter::Space, Behavior::Removed));
            cut(Cut::letter(Letter::Punctuation, Behavior::Isolated));
        }
        "Whitespace" => cut(Cut::words()),
        "WhitespaceSplit" => cut(Cut::letter(Letter::Space, Behavior::Removed)),
        "CharDelimiterSplit" => {
            cut(Cut::letter(Letter::Is(part.required("delimiter")?.character()?), Behavior::Removed));
        }
        "Punctuation" => {
            let given = part.field("behavior");
            let behavior = if part.value.get("behavior").is_some() { behavior(&given)? } else { Behavior::Isolated };
            cut(Cut::letter(Letter::Punctuation, behavior));
        }
        "Digits" => {
            let alone = part.required("individual_digits")?.flag()?;
            cut(Cut::letter(Letter::Number, if alone { Behavior::Isolated } else { Behavior::Contiguous }));
        }
        "UnicodeScripts" => cut(Cut::scripts()),
        "FixedLength" => {
            let length = part.value.get("length").map_or(Ok(5), |_| part.field("length").count())?;
            if length == 0 {
                // The reference loads this and panics at the first text.
                return Err(LoadError::shape(&part.field("length").path, "words of no characters cannot be cut"));
            }
            cut(Cut::length(length));
        }
        other => return Err(part.unknown("pre-tokenizer", Some(other))),
    }
    Ok(())
}

/// What Metaspace says, as a pre-tokenizer and as a decoder.
pub(super) struct Metaspace {
    pub(super) replacement: char,
    pub(super) prepend: Prepend,
    pub(super) split: bool,
}

pub(super) fn metaspace(part: &Part<'_>) -> Result<Metaspace, LoadError> {
    let replacement = part.required("replacement")?.character()?;
    let scheme = part.field("prepend_scheme");
    let mut prepend = match part.value.get("prepend_scheme").map(|_| scheme.text()).transpose()? {
        None | Some("always") => Prepend::Always,
        Some("first") => Prepend::First,
        Some("never") => Prepend::Never,
        Some(other) => return Err(scheme.unsupported(format!("the prepend scheme {other}"))),
    };
    // From before there were schemes; `str_rep` of that time says nothing that `replacement` does not.
    let legacy = part.field("add_prefix_space");
    if !legacy.is_null() && !legacy.flag()? {
        if prepend != Prepend::Never {
            return Err(LoadError::shape(
                &legacy.path,
                "false contradicts the prepend scheme, which is \"always\" unless the file says otherwise",
            ));
        }
        prepend = Prepend::Never;
    }
    let split = part.field("split");
    Ok(Metaspace { replacement, prepend, split: split.is_null() || split.flag()? })
}

fn split(part: &Part<'_>) -> Result<Cut, LoadError> {
    let behavior = behavior(&part.required("behavior")?)?;
    let invert = part.required("invert")?.flag()?;
    let pattern = part.required("pattern")?;
    let regex = pattern.field("Regex");
    if regex.is_null() {
        return Ok(Cut::pattern(pattern.pattern()?, behavior, invert));
    }
    Cut::new(regex.text()?, Dialect::Oniguruma, behavior, invert, &regex.path)
}

fn behavior(part: &Part<'_>) -> Result<Behavior, LoadError> {
    Ok(match part.text()? {
        "Removed" => Behavior::Removed,
        "Isolated" => Behavior::Isolated,
        "MergedWithPrevious" => Behavior::MergedWithPrevious,
        "MergedWithNext" => Behavior::MergedWithNext,
        "Contiguous" => Behavior::Contiguous,
        other => return Err(part.unsupported(format!("the behavior {other}"))),
    })
}
