//! The `post_processor` of a tokenizer.json.
//!
//! Hugging Face tokenizers recognizes `RobertaProcessing`, `BertProcessing` and
//! `TemplateProcessing` by their fields and not by their `type`, which is missing in very old
//! files. This module does the same.

use serde_json::Value;

use super::json::Part;
use crate::error::LoadError;
use crate::post_processor::{PostProcessor, Processor, SpecialToken, TemplateItem, TrimOffsets};

#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn load(part: &Part<'_>) -> Result<PostProcessor, LoadError> {
    if part.is_null() {
        return Ok(PostProcessor::default());
    }
    part.check_components("the list of post-processors", "processors")?;
    let mut steps = vec![];
    let mut specials = vec![];
    add(part, &mut steps, &mut specials)?;
    Ok(PostProcessor::new(Some(steps), specials))
}

fn add(part: &Part<'_>, steps: &mut Vec<Processor>, specials: &mut Vec<SpecialToken>) -> Result<(), LoadError> {
    let has = |names: &[&str]| names.iter().all(|name| part.value.get(name).is_some());
    if has(&["sep", "cls"]) {
        let mut token = |name| {
            specials.push(token_and_id(&part.required(name)?)?);
            Ok::<_, LoadError>(specials.len() - 1)
        };
        let (sep, cls) = (token("sep")?, token("cls")?);
        steps.push(match has(&["trim_offsets", "add_prefix_space"]) {
            true => Processor::Roberta { cls, sep, trim: trim_offsets(part)? },
            false => Processor::Bert { cls, sep },
        });
        return Ok(());
    }
    if has(&["single", "pair", "special_tokens"]) {
        check_special_tokens(&part.required("special_tokens")?)?;
        let single = template(part, "single", specials)?;
        steps.push(Processor::Template { single, pair: template(part, "pair", specials)? });
        return Ok(());
    }
    match part.kind()? {
        "Sequence" => part.required("processors")?.items()?.iter().try_for_each(|item| add(item, steps, specials)),
        "ByteLevel" => {
            for name in ["add_prefix_space", "trim_offsets"] {
                part.required(name)?;
            }
            part.flag_or("use_regex", true)?;
            steps.push(Processor::ByteLevel { trim: trim_offsets(part)? });
            Ok(())
        }
        // Reports the field that is missing.
        "TemplateProcessing" => {
            for name in ["single", "pair", "special_tokens"] {
                part.required(name)?;
            }
            Ok(())
        }
        "BertProcessing" | "RobertaProcessing" => part.required("sep").and_then(|_| part.required("cls")).map(|_| ()),
        other => Err(part.unsupported(format!("the post-processor {other}"))),
    }
}

fn trim_offsets(part: &Part<'_>) -> Result<Option<TrimOffsets>, LoadError> {
    let add_prefix_space = part.flag_or("add_prefix_space", true)?;
    Ok(part.flag_or("trim_offsets", true)?.then_some(TrimOffsets { add_prefix_space }))
}

/// Parses `["</s>", 2]`.
fn token_and_id(part: &Part<'_>) -> Result<SpecialToken, LoadError> {
    match &part.items()?[..] {
        [token, id] => Ok(SpecialToken { ids: vec![id.id()?], tokens: vec![token.text()?.to_owned()] }),
        _ => Err(LoadError::shape(&part.path, "a token and its id are expected here")),
    }
}

/// Maximum numbers for a template: its entries, the ids of its special tokens, and the bytes of
/// their texts. The templates of real files have up to ten of each.
const MAX_PIECES: usize = 1 << 12;
const MAX_SPECIAL_IDS: usize = 1 << 12;
const MAX_SPECIAL_BYTES: usize = 1 << 20;
/// Maximum number of entries for a text in one template. The text is encoded for each of them.
const MAX_TEXTS: usize = 16;

/// Fails if a template adds too many tokens to a text. It only checks the file and allocates
/// nothing.
fn check_template(whole: &Part<'_>, name: &str) -> Result<(), LoadError> {
    let check = |what, size: usize, limit: usize| match size <= limit {
        true => Ok(()),
        false => Err(LoadError::TooLarge { what, size: size as u64, limit: limit as u64 }),
    };
    let pieces = whole.value.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    check("a template of the post-processor", pieces.len(), MAX_PIECES)?;
    let (mut texts, mut ids, mut bytes) = (0, 0, 0);
    for piece in pieces {
        let Some(special) = piece.get("SpecialToken") else {
            texts += 1;
            continue;
        };
        let special = special.get("id").and_then(Value::as_str);
        let token = special.and_then(|id| whole.value.get("special_tokens")?.get(id));
        let list = |field| token.and_then(|token| token.get(field)?.as_array()).map_or(&[][..], Vec::as_slice);
        ids += list("ids").len().max(list("tokens").len());
        check("the list of ids that a template adds to a text", ids, MAX_SPECIAL_IDS)?;
        bytes += list("tokens").iter().filter_map(Value::as_str).map(str::len).sum::<usize>();
        check("the text of the tokens that a template adds", bytes, MAX_SPECIAL_BYTES)?;
    }
    check("the number of places for a text in a template", texts, MAX_TEXTS)
}

/// Fails if a special token lacks a field, also one that no template names.
fn check_special_tokens(table: &Part<'_>) -> Result<(), LoadError> {
    for name in table.value.as_object().into_iter().flat_map(serde_json::Map::keys) {
        let token = table.field(name);
        token.required("id")?.text()?;
        token.required("ids")?.items()?.iter().try_for_each(|id| id.id().map(|_| ()))?;
        token.required("tokens")?.items()?.iter().try_for_each(|text| text.text().map(|_| ()))?;
    }
    Ok(())
}

fn template(whole: &Part<'_>, name: &str, specials: &mut Vec<SpecialToken>) -> Result<Vec<TemplateItem>, LoadError> {
    check_template(whole, name)?;
    let known = whole.required("special_tokens")?;
    let items = whole.required(name)?.items()?;
    let pieces = items.iter().map(|item| {
        item.only_field()?;
        let (sequence, special) = (item.field("Sequence"), item.field("SpecialToken"));
        if special.is_null() {
            let sequence = if sequence.is_null() { item.required("Sequence")? } else { sequence };
            let type_id = sequence.required("type_id")?.id()?;
            return match sequence.required("id")?.text()? {
                "A" => Ok(TemplateItem::Sequence { sequence: 0, type_id }),
                "B" => Ok(TemplateItem::Sequence { sequence: 1, type_id }),
                other => Err(sequence.unsupported(format!("the text {other:?} in a template; there are A and B"))),
            };
        }
        let type_id = special.required("type_id")?.id()?;
        let name = special.required("id")?.text()?;
        let token = known.field(name);
        if token.is_null() {
            return Err(LoadError::UnknownTemplateToken { path: special.path, token: name.to_owned() });
        }
        let ids = token.required("ids")?.items()?.iter().map(Part::id).collect::<Result<_, _>>()?;
        let texts = token.required("tokens")?.items()?;
        let tokens = texts.iter().map(|text| text.text().map(str::to_owned)).collect::<Result<_, _>>()?;
        specials.push(SpecialToken { ids, tokens });
        Ok(TemplateItem::Special { token: specials.len() - 1, type_id })
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_name_the_cause_and_the_path() {
        let template = |piece: &Value, token: &Value| json!({"type": "TemplateProcessing", "single": [piece], "pair": [], "special_tokens": {"<s>": token}});
        let (piece, token) =
            (json!({"Sequence": {"id": "A", "type_id": 0}}), json!({"id": "<s>", "ids": [1], "tokens": ["<s>"]}));
        let without = |name: &str| {
            let mut token = token.clone();
            token.as_object_mut().expect("an object").remove(name);
            template(&piece, &token)
        };
        let byte_level = |name: &str, value: Value| {
            let mut flags = json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true});
            match value {
                Value::Null => drop(flags.as_object_mut().expect("an object").remove(name)),
                value => flags[name] = value,
            }
            flags
        };
        let cases = [
            (byte_level("trim_offsets", Value::Null), "post_processor: \"trim_offsets\" is missing"),
            (byte_level("add_prefix_space", Value::Null), "post_processor: \"add_prefix_space\" is missing"),
            (
                byte_level("use_regex", json!(1)),
                "post_processor.use_regex: true or false is expected here, not the number 1",
            ),
            (without("id"), "post_processor.special_tokens.<s>: \"id\" is missing"),
            (without("ids"), "post_processor.special_tokens.<s>: \"ids\" is missing"),
            (without("tokens"), "post_processor.special_tokens.<s>: \"tokens\" is missing"),
            (
                template(&json!({"Sequence": {"id": "A", "type_id": 0}, "SpecialToken": null}), &token),
                "post_processor.single[0]: one field is expected here, not 2",
            ),
        ];
        for (component, message) in cases {
            let error = load(&Part::new(&component, "post_processor")).expect_err("it is refused");
            assert_eq!(error.to_string(), message);
        }
        load(&Part::new(&template(&piece, &token), "post_processor")).expect("it loads");
    }
}
