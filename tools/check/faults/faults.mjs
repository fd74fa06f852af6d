// The faults for `npm run maintain faults`. Each one removes a limit on what a tokenizer file can
// cost.

/**
 * @typedef {object} Fault
 * @property {string} name
 * @property {string} file relative to crates/core/src
 * @property {string} from the source text, which must be there exactly once
 * @property {string} to the faulty text
 */

/** A constant with another value. */
const constant = (file, declaration, from, to) => ({
  name: `${declaration.split(':')[0]} is ${to}`,
  file,
  from: `const ${declaration} = ${from}`,
  to: `const ${declaration} = ${to}`,
})

/** @type {Fault[]} */
export const FAULTS = [
  {
    name: 'Replace writes without a limit',
    file: 'normalizer/replace.rs',
    from: 'budget.check(put.saturating_add(text.as_str().len() - taken), super::COMPONENT)?;',
    to: '',
  },
  {
    name: 'Prepend writes without a limit',
    file: 'normalizer/mod.rs',
    from: 'budget.check(put.len().saturating_add(text.as_str().len()), COMPONENT)?;',
    to: '',
  },
  {
    name: 'steps of a decoder write without a limit',
    file: 'decoder/step_budget.rs',
    from: 'self.budget.check(self.written.saturating_add(bytes), "the decoder")',
    to: '{ let _ = bytes; Ok(()) }',
  },
  {
    name: 'a decoder without steps writes without a limit',
    file: 'decoder/mod.rs',
    from: 'received.charge(token.len())?;',
    to: '',
  },
  {
    name: 'the pre-tokenizer writes without a limit',
    file: 'pretokenizer/mod.rs',
    from: 'text.check(budget, "the pre-tokenizer")?;',
    to: '',
  },
  {
    name: 'the column of tokens has no limit',
    file: 'encoder/row.rs',
    from: 'self.budget.charge(bytes, "the column of tokens")',
    to: '{ let _ = bytes; Ok(()) }',
  },
  {
    name: 'overflowing parts have no limit',
    file: 'encoder/compose.rs',
    from: 'if reached > limit {\n        return Err(EncodeError::OutputLimit { component: "truncation"',
    to: 'if false && reached > limit {\n        return Err(EncodeError::OutputLimit { component: "truncation"',
  },
  {
    name: 'steps of automata are not counted',
    file: '../../../crates/pattern/src/regular.rs',
    from: '*steps = steps.checked_sub(count as u64).ok_or(GaveUp::Steps)?;',
    to: 'let _ = (&steps, count);',
  },
  {
    name: 'steps of backtracking are counted for each match alone',
    file: '../../../crates/pattern/src/backtrack/run.rs',
    from: '*steps = search.steps;',
    to: '',
  },
  constant('load/json.rs', 'MAX_COMPONENTS: usize', '512', '1 << 30'),
  constant('load/post_processor.rs', 'MAX_SPECIAL_IDS: usize', '1 << 12', '1 << 40'),
  constant('load/post_processor.rs', 'MAX_SPECIAL_BYTES: usize', '1 << 20', '1 << 40'),
  constant('load/post_processor.rs', 'MAX_PIECES: usize', '1 << 12', '1 << 40'),
  constant('load/post_processor.rs', 'MAX_TEXTS: usize', '16', '1 << 40'),
  constant('../../../crates/pattern/src/lib.rs', 'MAX_SOURCE_BYTES: usize', '256 << 10', '256 << 20'),
  constant('load/bpe.rs', 'MAX_AFFIX_BYTES: usize', '64', '64 << 20'),
  {
    name: 'added tokens are searched again from each match',
    file: 'added_tokens/search.rs',
    from: 'Some(found) if found.is_none_or(|found| found.start >= at) => found,',
    to: 'Some(found) if false && found.is_none_or(|found| found.start >= at) => found,',
  },
  constant('added_tokens/search.rs', 'USUAL: usize', '128', '1 << 20'),
  constant('added_tokens/mod.rs', 'MAX_CONTENTS: usize', '4 << 20', '4 << 40'),
  constant('model/unigram.rs', 'MAX_NESTED: usize', 'MAX_TRIE_TOKEN_BYTES', 'usize::MAX'),
  {
    name: 'the charsmap of a SentencePiece model charges no work',
    file: 'normalizer/sentencepiece.rs',
    from: 'budget.work(steps.saturating_add(written), ALL_NORMALIZERS)?;',
    to: 'let _ = (&budget, steps, written, ALL_NORMALIZERS);',
  },
  {
    name: 'configs of folders have no limit',
    file: '../../../lib/model/folder.js',
    from: 'Math.min(this.left, MAX_CONFIG_BYTES)',
    to: 'this.left',
  },
  constant('../../../lib/model/folder.js', 'MAX_FOLDER_BYTES', '32 * 2 ** 20', '2 ** 31 - 1'),
  constant('../../../lib/model/config-tokens.js', 'MAX_ADDED_TOKENS', '200_000', 'Infinity'),
]
