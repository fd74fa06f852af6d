//! Post-processing: adds the special tokens of a model around the tokens of one or two texts, sets
//! type ids, and trims white space at the edges of tokens from their offsets.
//!
//! - [`draft`]: the data that post-processors work on.
//! - [`layout`]: the result for complete texts, computed once when the tokenizer is built.
//!
//! Every component, and every sequence of components, behaves as in Hugging Face tokenizers, even
//! where that is surprising: a template after another one treats the pieces of the first one as
//! texts.

pub(crate) mod draft;
pub(crate) mod layout;

use crate::error::EncodeError;
use draft::{Draft, Run, RunTokens, Trim};
use layout::Layout;

/// The post-processors of a file, in order, and the special tokens that they refer to.
#[derive(Debug)]
pub(crate) struct PostProcessor {
    /// `None` if the file has no post-processor. An empty sequence behaves differently: see
    /// [`Self::process`].
    steps: Option<Vec<Processor>>,
    specials: Vec<SpecialToken>,
    /// The layouts for one text and for two, each without and with special tokens.
    layouts: [[Result<Layout, EncodeError>; 2]; 2],
}

/// A post-processor. Special tokens are given as indices of [`PostProcessor::specials`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Processor {
    /// Trims offsets.
    ByteLevel { trim: Option<TrimOffsets> },
    /// `cls A sep`, followed by `B sep` for a pair.
    Bert { cls: usize, sep: usize },
    /// `cls A sep`, followed by `sep B sep` for a pair. All type ids are 0. Trims offsets if `trim`
    /// is set.
    Roberta { cls: usize, sep: usize, trim: Option<TrimOffsets> },
    /// The templates of the file, for one text and for two.
    Template { single: Vec<TemplateItem>, pair: Vec<TemplateItem> },
}

/// How white space at the edges of a token is removed from its offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrimOffsets {
    /// Whether a single leading space at the start of the text was added by the pre-tokenizer and
    /// is not trimmed.
    pub(crate) add_prefix_space: bool,
}

/// An entry of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemplateItem {
    /// The tokens of a text.
    Sequence { sequence: usize, type_id: u32 },
    /// A special token.
    Special { token: usize, type_id: u32 },
}

/// A special token as in the file, which may give it several ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SpecialToken {
    pub(crate) ids: Vec<u32>,
    pub(crate) tokens: Vec<String>,
}

impl Default for PostProcessor {
    fn default() -> Self {
        Self::new(None, vec![])
    }
}

impl PostProcessor {
    pub(crate) fn new(steps: Option<Vec<Processor>>, specials: Vec<SpecialToken>) -> Self {
        let missing = || Err(EncodeError::Template { message: String::new() });
        let layouts = [[missing(), missing()], [missing(), missing()]];
        let mut post_processor = Self { steps, specials, layouts };
        post_processor.layouts = [1, 2].map(|texts| {
            [false, true].map(|add_special_tokens| Layout::new(&post_processor, texts, add_special_tokens))
        });
        post_processor
    }

    pub(crate) fn special(&self, token: usize) -> &SpecialToken {
        &self.specials[token]
    }

    /// The result for complete texts.
    pub(crate) fn layout(&self, is_pair: bool, add_special_tokens: bool) -> Result<&Layout, EncodeError> {
        self.layouts[usize::from(is_pair)][usize::from(add_special_tokens)].as_ref().map_err(Clone::clone)
    }

    /// The number of special tokens that are added.
    pub(crate) fn added_tokens(&self, is_pair: bool) -> usize {
        let count = |step: &Processor| match step {
            Processor::ByteLevel { .. } => 0,
            Processor::Bert { .. } => 2 + usize::from(is_pair),
            Processor::Roberta { .. } => 2 + 2 * usize::from(is_pair),
            Processor::Template { single, pair } => {
                let ids = |piece: &TemplateItem| match piece {
                    TemplateItem::Special { token, .. } => self.special(*token).ids.len(),
                    TemplateItem::Sequence { .. } => 0,
                };
                if is_pair { pair } else { single }.iter().map(ids).sum()
            }
        };
        self.steps.iter().flatten().map(count).sum()
    }

    /// Combines the drafts of the texts to a single draft.
    pub(crate) fn process(&self, mut drafts: Vec<Draft>, add_special_tokens: bool) -> Result<Draft, EncodeError> {
        let Some(steps) = &self.steps else {
            if drafts.len() > 1 {
                drafts.iter_mut().enumerate().for_each(|(i, draft)| draft.set_sequence(i as u32));
            }
            return Draft::merge(drafts);
        };
        for (i, draft) in drafts.iter_mut().enumerate() {
            draft.set_sequence(i as u32);
            draft.overflowing.iter_mut().for_each(|part| part.set_sequence(i as u32));
        }
        for step in steps {
            drafts = self.apply(step, drafts, add_special_tokens)?;
        }
        Draft::merge(drafts)
    }

    fn apply(
        &self,
        step: &Processor,
        mut drafts: Vec<Draft>,
        add_special_tokens: bool,
    ) -> Result<Vec<Draft>, EncodeError> {
        match step {
            Processor::ByteLevel { trim } => {
                for (i, draft) in drafts.iter_mut().enumerate() {
                    self.trim(draft, *trim);
                    draft.set_sequence(i as u32);
                }
            }
            Processor::Bert { cls, sep } => {
                if add_special_tokens {
                    for (i, draft) in drafts.iter_mut().enumerate() {
                        let (before, after) = if i == 0 { (Some(*cls), 0) } else { (None, 1) };
                        draft.and_parts(|draft| self.wrap(draft, i, before, *sep, after));
                    }
                }
            }
            Processor::Roberta { cls, sep, trim } => {
                for (i, draft) in drafts.iter_mut().enumerate() {
                    self.trim(draft, *trim);
                    draft.set_type(0);
                    if add_special_tokens {
                        let before = if i == 0 { *cls } else { *sep };
                        draft.and_parts(|draft| {
                            draft.set_type(0);
                            self.wrap(draft, i, Some(before), *sep, 0);
                        });
                    }
                }
            }
            Processor::Template { single, pair } => {
                let template = match drafts.len() {
                    1 => single,
                    2 => pair,
                    count => {
                        let message = format!(
                            "a template after another post-processor gets {count} pieces, but takes only 1 or 2"
                        );
                        return Err(EncodeError::Template { message });
                    }
                };
                return self.fill(template, &mut drafts, add_special_tokens);
            }
        }
        Ok(drafts)
    }

    fn fill(
        &self,
        template: &[TemplateItem],
        drafts: &mut [Draft],
        add_special_tokens: bool,
    ) -> Result<Vec<Draft>, EncodeError> {
        let mut filled = Vec::with_capacity(template.len());
        for piece in template {
            match *piece {
                TemplateItem::Sequence { sequence, type_id } => {
                    let draft = drafts.get_mut(sequence).ok_or_else(|| EncodeError::Template {
                        message: "the template for one text has a place for a second one".into(),
                    })?;
                    draft.set_type(type_id);
                    draft.set_sequence(sequence as u32);
                    filled.push(draft.clone());
                }
                TemplateItem::Special { token, type_id } if add_special_tokens => {
                    filled.push(Draft::of(self.special_run(token, type_id)));
                }
                TemplateItem::Special { .. } => {}
            }
        }
        Ok(filled)
    }

    fn special_run(&self, token: usize, type_id: u32) -> Run {
        let tokens = RunTokens::Special { token, count: self.special(token).ids.len() };
        Run { tokens, type_id, special: true, trims: vec![] }
    }

    /// Adds a special token before a text, if `before` is given, and one after it.
    fn wrap(&self, draft: &mut Draft, sequence: usize, before: Option<usize>, after: usize, after_type: u32) {
        draft.runs.iter_mut().for_each(|run| run.special = false);
        let start = usize::from(before.is_some());
        // The reference only distinguishes the first text from later ones.
        draft.ranges = vec![(usize::from(sequence > 0) as u32, start..start + draft.len())];
        draft.runs.splice(0..0, before.map(|token| self.special_run(token, 0)));
        draft.runs.push(self.special_run(after, after_type));
    }

    fn trim(&self, draft: &mut Draft, trim: Option<TrimOffsets>) {
        let Some(TrimOffsets { add_prefix_space }) = trim else { return };
        draft.and_parts(|draft| {
            let mut position = 0;
            for run in &mut draft.runs {
                run.trims.push(Trim { add_prefix_space, at_start: position == 0 });
                position += run.len();
            }
        });
    }
}
