//! The `pre_tokenizer` of a tokenizer.json.

use super::json::Part;
use crate::error::LoadError;
use crate::pretokenizer::pattern::Dialect;
use crate::pretokenizer::{Behavior, Cut, PreTokenizer, Stage};

pub(crate) fn load(part: &Part<'_>) -> Result<PreTokenizer, LoadError> {
    let mut stages = vec![];
    if !part.is_null() {
        push(part, &mut stages)?;
    }
    Ok(PreTokenizer { stages })
}

fn push(part: &Part<'_>, stages: &mut Vec<Stage>) -> Result<(), LoadError> {
    match part.kind()? {
        "Sequence" => {
            for item in part.required("pretokenizers")?.items()? {
                push(&item, stages)?;
            }
        }
        "ByteLevel" => {
            if part.required("add_prefix_space")?.flag()? {
                stages.push(Stage::PrefixSpace);
            }
            if part.flag_or("use_regex", true)? {
                stages.push(Stage::Cut(Cut::byte_level()));
            }
            stages.push(Stage::Bytes);
        }
        "Split" => stages.push(Stage::Cut(split(part)?)),
        other => return Err(part.unsupported(format!("the pre-tokenizer {other}"))),
    }
    Ok(())
}

fn split(part: &Part<'_>) -> Result<Cut, LoadError> {
    let behavior = behavior(&part.required("behavior")?)?;
    let invert = part.flag_or("invert", false)?;
    let pattern = part.required("pattern")?;
    let (regex, string) = (pattern.field("Regex"), pattern.field("String"));
    match (regex.is_null(), string.is_null()) {
        (false, true) => Cut::new(regex.text()?, Dialect::Oniguruma, behavior, invert, &regex.path),
        (true, false) => Cut::literal(string.text()?, behavior, invert, &string.path),
        _ => Err(LoadError::shape(&pattern.path, "either \"Regex\" or \"String\" is wanted here")),
    }
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
