//! The `post_processor` of a tokenizer.json.

use super::json::Part;
use crate::error::LoadError;
use crate::post_processor::{Piece, PostProcessor};

pub(crate) fn load(part: &Part<'_>) -> Result<PostProcessor, LoadError> {
    let mut made = PostProcessor::default();
    if !part.is_null() {
        add(part, &mut made)?;
    }
    Ok(made)
}

fn add(part: &Part<'_>, made: &mut PostProcessor) -> Result<(), LoadError> {
    match part.kind()? {
        "Sequence" => {
            for item in part.required("processors")?.items()? {
                add(&item, made)?;
            }
        }
        "ByteLevel" => {
            if part.flag_or("trim_offsets", true)? {
                return Err(part.unsupported("trim_offsets of the post-processor ByteLevel"));
            }
        }
        "TemplateProcessing" => {
            if !made.single.is_empty() {
                return Err(part.unsupported("a second template"));
            }
            made.single = template(part, &part.required("single")?)?;
        }
        other => return Err(part.unsupported(format!("the post-processor {other}"))),
    }
    Ok(())
}

fn template(whole: &Part<'_>, list: &Part<'_>) -> Result<Vec<Piece>, LoadError> {
    let special_tokens = whole.required("special_tokens")?;
    let items = list.items()?;
    let pieces = items.iter().map(|item| {
        let (sequence, special) = (item.field("Sequence"), item.field("SpecialToken"));
        let piece = if special.is_null() { &sequence } else { &special };
        let type_id = piece.required("type_id")?.id()?;
        if special.is_null() {
            return match sequence.required("id")?.text()? {
                "A" => Ok(Piece::Sequence { type_id }),
                other => Err(sequence.unsupported(format!("the sequence {other} in a template for one text"))),
            };
        }
        let name = special.required("id")?.text()?;
        let token = special_tokens.required(name)?;
        let ids = token.required("ids")?.items()?.iter().map(Part::id).collect::<Result<_, _>>()?;
        let texts = token.required("tokens")?.items()?;
        let tokens = texts.iter().map(|text| text.text().map(str::to_owned)).collect::<Result<_, _>>()?;
        Ok(Piece::Special { ids, tokens, type_id })
    });
    pieces.collect()
}
