//! The `decoder` of a tokenizer.json.

use super::json::Part;
use super::pretokenizer::metaspace;
use crate::decoder::{Decoder, Step, StripEnds};
use crate::error::LoadError;
use crate::pretokenizer::Prepend;

#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn load(part: &Part<'_>) -> Result<Decoder, LoadError> {
    let mut steps = vec![];
    if part.is_null() {
        steps.push(Step::Spaces);
    } else {
        part.check_components("the list of decoders", "decoders")?;
        push(part, &mut steps)?;
    }
    Ok(Decoder::new(steps))
}

fn push(part: &Part<'_>, steps: &mut Vec<Step>) -> Result<(), LoadError> {
    let kind = part.kind_or_none()?;
    if let Some(kind) = kind
        && push_kind(kind, part, steps)?
    {
        return Ok(());
    }
    let guessed = guess(part).ok_or_else(|| part.unknown("decoder", kind))?;
    push_kind(guessed, part, steps).map(|_| ())
}

/// Adds the steps of a type that the reference knows by name. Returns whether it is one.
fn push_kind(kind: &str, part: &Part<'_>, steps: &mut Vec<Step>) -> Result<bool, LoadError> {
    let text = |name| Ok::<_, LoadError>(part.required(name)?.text()?.to_owned());
    let flag = |name| part.required(name)?.flag();
    steps.push(match kind {
        "Sequence" => {
            let items = part.required("decoders")?.items()?;
            return items.iter().try_for_each(|item| push(item, steps)).map(|()| true);
        }
        "BPEDecoder" => Step::Bpe { suffix: text("suffix")? },
        "ByteLevel" => {
            for name in ["add_prefix_space", "trim_offsets"] {
                flag(name)?;
            }
            part.flag_or("use_regex", true)?;
            Step::ByteLevel
        }
        "WordPiece" => Step::WordPiece { prefix: text("prefix")?, cleanup: flag("cleanup")? },
        "Metaspace" => {
            let read = metaspace(part)?;
            Step::Metaspace { replacement: read.replacement, prepends: read.prepend != Prepend::Never }
        }
        "CTC" => {
            Step::Ctc { pad: text("pad_token")?, delimiter: text("word_delimiter_token")?, cleanup: flag("cleanup")? }
        }
        "Replace" => Step::Replace { pattern: part.required("pattern")?.pattern()?, content: text("content")? },
        "Fuse" => Step::Fuse,
        "Strip" => Step::Strip(StripEnds {
            content: part.required("content")?.character()?,
            start: part.required("start")?.count()?,
            stop: part.required("stop")?.count()?,
        }),
        "ByteFallback" => Step::ByteFallback,
        _ => return Ok(false),
    });
    Ok(true)
}

/// The kind of a component without a known type: the first one whose fields are all present, as in
/// the reference.
fn guess(part: &Part<'_>) -> Option<&'static str> {
    let fields: [(&[&str], &str); 5] = [
        (&["suffix"], "BPEDecoder"),
        (&["prefix", "cleanup"], "WordPiece"),
        (&["pad_token", "word_delimiter_token", "cleanup"], "CTC"),
        (&["pattern", "content"], "Replace"),
        (&["content", "start", "stop"], "Strip"),
    ];
    let has = |name: &&str| part.value.get(*name).is_some();
    fields.into_iter().find(|(names, _)| names.iter().all(has)).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn decoded(component: &Value, tokens: &[&str]) -> Result<String, LoadError> {
        let decoder = load(&Part::new(component, "decoder"))?;
        let budget = crate::budget::Budget::of_ids(tokens.len());
        let mut state = decoder.start(budget, false);
        let text = decoder.decode(&mut state, tokens.iter().map(|token| token.as_bytes()), true);
        Ok(String::from_utf8(text.expect("no test token is hard")).expect("text"))
    }

    #[test]
    fn components_without_a_type_are_recognized_by_their_fields() {
        let cases = [
            (json!({"suffix": "_"}), "a b "),
            (json!({"type": "Nosuch", "prefix": "b", "cleanup": true}), "a__ _"),
            (json!({"pad_token": "b", "word_delimiter_token": "_", "cleanup": true}), "a   "),
            (json!({"pattern": {"String": "_"}, "content": "-"}), "a-b--"),
            (json!({"content": "_", "start": 1, "stop": 0}), "a_b_"),
            (
                json!({"type": "Sequence", "decoders": [{"type": "Fuse"}, {"content": "a", "start": 1, "stop": 0}]}),
                "_b__",
            ),
        ];
        for (component, wanted) in cases {
            assert_eq!(decoded(&component, &["a_", "b_", "_"]).as_deref(), Ok(wanted), "{component}");
        }
        let error = decoded(&json!({"type": "Sequence", "decoders": [null]}), &[]).expect_err("it is refused");
        assert_eq!(error.to_string(), "decoder.decoders[0]: an object is expected here, not nothing");
    }
}
