//! The `normalizer` of a tokenizer.json.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;

use super::json::Part;
use crate::error::LoadError;
use crate::normalizer::{Form, Letters, Normalizer, Precompiled, Replace, Strip};

#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn load(part: &Part<'_>) -> Result<Option<Normalizer>, LoadError> {
    if part.is_null() {
        return Ok(None);
    }
    part.check_components("the list of normalizers", "normalizers")?;
    component(part).map(Some)
}

fn component(part: &Part<'_>) -> Result<Normalizer, LoadError> {
    let kind = part.kind_or_none()?;
    if let Some(kind) = kind
        && let Some(named) = of_kind(kind, part)?
    {
        return Ok(named);
    }
    let guessed = guess(part).map(|kind| of_kind(kind, part)).transpose()?.flatten();
    guessed.ok_or_else(|| part.unknown("normalizer", kind))
}

/// The component of a type that the reference knows by name; `None` for other types. A component
/// with another type, or without one, is taken for the first kind whose fields are all present
/// ([`guess`]), but never for Precompiled. This way files from before types were introduced load,
/// and so does BertNormalizer, which the reference's list of names contains as "Bert".
fn of_kind(kind: &str, part: &Part<'_>) -> Result<Option<Normalizer>, LoadError> {
    Ok(Some(match kind {
        "NFC" => Normalizer::Form(Form::Nfc.prepared()),
        "NFD" => Normalizer::Form(Form::Nfd.prepared()),
        "NFKC" => Normalizer::Form(Form::Nfkc.prepared()),
        "NFKD" => Normalizer::Form(Form::Nfkd.prepared()),
        "StripAccents" => Normalizer::Letters(Letters::NoCombiningMarks),
        "Lowercase" => Normalizer::Letters(Letters::Lowercase),
        "Nmt" => Normalizer::Letters(Letters::Nmt),
        "ByteLevel" => Normalizer::Letters(Letters::ByteLevel),
        "Bert" | "BertNormalizer" => bert(part)?,
        "Strip" => Normalizer::Strip(Strip {
            left: part.required("strip_left")?.flag()?,
            right: part.required("strip_right")?.flag()?,
        }),
        "Sequence" => {
            let parts = part.required("normalizers")?.items()?;
            Normalizer::Sequence(parts.iter().map(component).collect::<Result<_, _>>()?)
        }
        "Precompiled" => Normalizer::Precompiled(Arc::new(precompiled(&part.required("precompiled_charsmap")?)?)),
        "Replace" => Normalizer::Replace(Replace {
            pattern: part.required("pattern")?.pattern()?,
            content: part.required("content")?.text()?.to_owned(),
        }),
        "Prepend" => Normalizer::Prepend(part.required("prepend")?.text()?.to_owned()),
        _ => return Ok(None),
    }))
}

fn guess(part: &Part<'_>) -> Option<&'static str> {
    let has = |name: &str| part.value.get(name).is_some();
    let fields: [(&[&str], &str); 5] = [
        (&["clean_text", "handle_chinese_chars", "lowercase"], "Bert"),
        (&["strip_left", "strip_right"], "Strip"),
        (&["normalizers"], "Sequence"),
        (&["pattern", "content"], "Replace"),
        (&["prepend"], "Prepend"),
    ];
    fields.into_iter().find(|(names, _)| names.iter().all(|name| has(name))).map(|(_, kind)| kind)
}

/// BertNormalizer as a sequence of simpler steps.
fn bert(part: &Part<'_>) -> Result<Normalizer, LoadError> {
    let clean = part.required("clean_text")?.flag()?;
    let ideographs = part.required("handle_chinese_chars")?.flag()?;
    let lowercase = part.required("lowercase")?.flag()?;
    let accents = part.field("strip_accents");
    let accents = if accents.is_null() { lowercase } else { accents.flag()? };
    let steps = [
        (clean, Normalizer::Letters(Letters::Clean)),
        (ideographs, Normalizer::Letters(Letters::SpacesAroundIdeographs)),
        (accents, Normalizer::Form(Form::Nfd.prepared())),
        (accents, Normalizer::Letters(Letters::NoNonspacingMarks)),
        (lowercase, Normalizer::Letters(Letters::Lowercase)),
    ];
    Ok(Normalizer::Sequence(steps.into_iter().filter(|(wanted, _)| *wanted).map(|(_, step)| step).collect()))
}

fn precompiled(part: &Part<'_>) -> Result<Precompiled, LoadError> {
    let wrong = |message: String| LoadError::shape(&part.path, format!("the charsmap does not load: {message}"));
    let bytes = STANDARD.decode(part.text()?).map_err(|error| wrong(error.to_string()))?;
    Precompiled::new(&bytes).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn normalized(component: &Value, text: &str) -> String {
        let normalizer = load(&Part::new(component, "normalizer")).expect("it loads").expect("there is one");
        normalizer.normalized(text, &mut crate::budget::Budget::of_text(text.len())).expect("no test text is hard")
    }

    #[test]
    fn components_with_and_without_a_type() {
        let bert = json!({"clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true});
        for kind in [None, Some("Bert"), Some("BertNormalizer")] {
            let mut component = bert.clone();
            if let Some(kind) = kind {
                component["type"] = json!(kind);
            }
            assert_eq!(normalized(&component, "É\0中 "), "e 中  ");
        }
        assert_eq!(normalized(&json!({"strip_left": true, "strip_right": false}), " a "), "a ");
        assert_eq!(normalized(&json!({"type": "Nosuch", "prepend": "_"}), "a"), "_a");
        assert_eq!(normalized(&json!({"normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]}), "é"), "e");
        assert_eq!(normalized(&json!({"pattern": {"String": "a"}, "content": "b"}), "xa"), "xb");
    }

    #[test]
    fn errors_name_the_cause_and_the_path() {
        let cases = [
            (json!({"type": "Nosuch"}), "normalizer: the normalizer Nosuch is not supported"),
            (
                json!({"type": "Sequence", "normalizers": [null]}),
                "normalizer.normalizers[0]: an object is expected here, not nothing",
            ),
            (json!({"type": "Strip", "strip_left": true}), "normalizer: \"strip_right\" is missing"),
            (
                json!({"precompiled_charsmap": ""}),
                "normalizer: \"type\" is missing, and the fields are not those of a normalizer",
            ),
            (
                json!({"type": "Replace", "pattern": {"String": "a", "Other": "b"}, "content": ""}),
                "normalizer.pattern: one field is expected here, not 2",
            ),
            (
                json!({"type": "Precompiled", "precompiled_charsmap": "gAAAAA=="}),
                "normalizer.precompiled_charsmap: the charsmap does not load: it is truncated: its trie should have 128 bytes, but only 0 follow",
            ),
        ];
        for (component, message) in cases {
            let error = load(&Part::new(&component, "normalizer")).expect_err("it is refused");
            assert_eq!(error.to_string(), message);
        }
    }
}
