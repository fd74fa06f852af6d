//! The `pre_tokenizer` of a tokenizer.json.

use super::json::Part;
use crate::error::LoadError;
use crate::pattern::Dialect;
use crate::pretokenizer::{Behavior, CharClass, Cut, PreTokenizer, Prepend, Stage};

#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn load(part: &Part<'_>) -> Result<PreTokenizer, LoadError> {
    let mut stages = vec![];
    if !part.is_null() {
        part.check_components("the list of pre-tokenizers", "pretokenizers")?;
        push(part, &mut stages)?;
    }
    Ok(PreTokenizer { stages })
}

/// Adds the stages of a component. Pre-tokenizers must have a type: the reference does not
/// recognize them by their fields either.
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
            let MetaspaceFields { replacement, prepend, split } = metaspace;
            stages.push(Stage::Spaces { replacement, prepend });
            if split {
                stages.push(Stage::Cut(Cut::characters(CharClass::Is(replacement), Behavior::MergedWithNext)));
            }
        }
        "Split" => cut(split(part)?),
        "BertPreTokenizer" => {
            cut(Cut::characters(CharClass::Space, Behavior::Removed));
            cut(Cut::characters(CharClass::Punctuation, Behavior::Isolated));
        }
        "Whitespace" => cut(Cut::words()),
        "WhitespaceSplit" => cut(Cut::characters(CharClass::Space, Behavior::Removed)),
        "CharDelimiterSplit" => {
            cut(Cut::characters(CharClass::Is(part.required("delimiter")?.character()?), Behavior::Removed));
        }
        "Punctuation" => {
            let given = part.field("behavior");
            let behavior = if part.value.get("behavior").is_some() { behavior(&given)? } else { Behavior::Isolated };
            cut(Cut::characters(CharClass::Punctuation, behavior));
        }
        "Digits" => {
            let alone = part.required("individual_digits")?.flag()?;
            cut(Cut::characters(CharClass::Number, if alone { Behavior::Isolated } else { Behavior::Contiguous }));
        }
        "UnicodeScripts" => cut(Cut::scripts()),
        "FixedLength" => {
            let length = part.value.get("length").map_or(Ok(5), |_| part.field("length").count())?;
            if length == 0 {
                // The reference loads this, and panics on the first text.
                return Err(LoadError::shape(&part.field("length").path, "the length of words must be at least 1"));
            }
            cut(Cut::length(length));
        }
        other => return Err(part.unknown("pre-tokenizer", Some(other))),
    }
    Ok(())
}

/// The fields of Metaspace, which is a pre-tokenizer and a decoder.
pub(super) struct MetaspaceFields {
    pub(super) replacement: char,
    pub(super) prepend: Prepend,
    pub(super) split: bool,
}

pub(super) fn metaspace(part: &Part<'_>) -> Result<MetaspaceFields, LoadError> {
    let replacement = part.required("replacement")?.character()?;
    let scheme = part.field("prepend_scheme");
    let mut prepend = match part.value.get("prepend_scheme").map(|_| scheme.text()).transpose()? {
        None | Some("always") => Prepend::Always,
        Some("first") => Prepend::First,
        Some("never") => Prepend::Never,
        Some(other) => return Err(scheme.unsupported(format!("the prepend scheme {other}"))),
    };
    // Legacy fields from before prepend schemes were introduced. `str_rep` contains nothing that
    // `replacement` does not.
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
    let repeated = part.field("str_rep");
    if !repeated.is_null() {
        repeated.text()?;
    }
    let split = part.field("split");
    Ok(MetaspaceFields { replacement, prepend, split: split.is_null() || split.flag()? })
}

fn split(part: &Part<'_>) -> Result<Cut, LoadError> {
    let behavior = behavior(&part.required("behavior")?)?;
    let invert = part.required("invert")?.flag()?;
    let pattern = part.required("pattern")?;
    let regex = pattern.field("Regex");
    if regex.is_null() {
        return Ok(Cut::pattern(pattern.pattern()?, behavior, invert));
    }
    pattern.only_field()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn loaded(component: &Value) -> Result<PreTokenizer, LoadError> {
        load(&Part::new(component, "pre_tokenizer"))
    }

    #[test]
    fn metaspace_of_before_there_were_schemes() {
        let metaspace = |more: Value| {
            let mut component = json!({"type": "Metaspace", "replacement": "▁"});
            component.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            metaspace(&Part::new(&component, "pre_tokenizer")).map(|read| (read.prepend, read.split))
        };
        assert_eq!(metaspace(json!({})), Ok((Prepend::Always, true)));
        assert_eq!(metaspace(json!({"add_prefix_space": true, "str_rep": "▁"})), Ok((Prepend::Always, true)));
        assert_eq!(metaspace(json!({"add_prefix_space": true, "prepend_scheme": "never"})), Ok((Prepend::Never, true)));
        assert_eq!(metaspace(json!({"prepend_scheme": "first", "split": false})), Ok((Prepend::First, false)));
        let number = metaspace(json!({"str_rep": 7})).expect_err("it is not a string");
        assert_eq!(number.to_string(), "pre_tokenizer.str_rep: a string is expected here, not the number 7");
        let contradiction = metaspace(json!({"add_prefix_space": false})).expect_err("it contradicts the default");
        assert_eq!(
            contradiction.to_string(),
            "pre_tokenizer.add_prefix_space: false contradicts the prepend scheme, which is \"always\" unless the file says otherwise"
        );
    }

    #[test]
    fn errors_name_the_cause_and_the_path() {
        let cases = [
            (json!({"pretokenizers": []}), "pre_tokenizer: \"type\" is missing"),
            (
                json!({"type": "Delimiter", "delimiter": "a"}),
                "pre_tokenizer: the pre-tokenizer Delimiter is not supported",
            ),
            (
                json!({"type": "CharDelimiterSplit", "delimiter": "ab"}),
                "pre_tokenizer.delimiter: one character is expected here, not the string \"ab\"",
            ),
            (
                json!({"type": "FixedLength", "length": 0}),
                "pre_tokenizer.length: the length of words must be at least 1",
            ),
            (json!({"type": "Digits"}), "pre_tokenizer: \"individual_digits\" is missing"),
            (
                json!({"type": "Split", "pattern": {"Regex": "a(?s:b)"}, "behavior": "Isolated", "invert": false}),
                "pre_tokenizer.pattern.Regex: the pattern \"a(?s:b)\" does not compile: the group option 's' is not supported (at byte 3)",
            ),
        ];
        for (component, message) in cases {
            assert_eq!(loaded(&component).expect_err("it is refused").to_string(), message);
        }
    }
}
