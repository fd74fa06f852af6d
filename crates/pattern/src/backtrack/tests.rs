use fancy_regex::Expr;
use proptest::prelude::*;

use super::*;
use crate::regular::{Regular, as_hir};
use crate::{Dialect, GaveUp, Pattern};

/// All matches of a program. Each search starts at the end of the previous match.
fn matches(program: &Program, text: &str, steps: &mut u64) -> Result<Vec<(usize, usize)>, GaveUp> {
    let (mut at, mut found, mut scratch) = (0, vec![], SearchScratch::default());
    while at <= text.len()
        && let Some(span) = program.find(&mut scratch, text, at, false, steps)?
    {
        found.push((span.start as usize, span.end as usize));
        at = span.end as usize;
        if span.is_empty() {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    Ok(found)
}

/// The same matches found by the crate fancy-regex; `None` if it reports an error.
fn reference(regex: &fancy_regex::Regex, text: &str) -> Option<Vec<(usize, usize)>> {
    let (mut at, mut found) = (0, vec![]);
    while at <= text.len()
        && let Some(span) = regex.find_from_pos(text, at).ok()?
    {
        found.push((span.start(), span.end()));
        at = span.end();
        if span.start() == span.end() {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    Some(found)
}

fn compiled(source: &str, dialect: Dialect) -> Option<Program> {
    let tree = Expr::parse_tree(source).ok()?;
    compile(&tree.expr, |group| tree.backrefs.contains(group), dialect).ok()
}

/// Patterns with all supported constructs, including look-around and backreferences.
fn pattern() -> impl Strategy<Value = String> {
    let atoms = [
        "a",
        "b",
        "ab",
        "é",
        " ",
        "[ab]",
        "[^a]",
        r"\s",
        r"\S",
        r"\w",
        r"\d",
        r"\p{L}",
        ".",
        "(?s:.)",
        "(?i:ab)",
        "(?i:k)",
        "^",
        "$",
        "(?m:^)",
        "(?m:$)",
        r"\A",
        r"\z",
        r"\Z",
        r"\b",
        r"\B",
        r"\b{start}",
        r"\b{end}",
        r"\b{start-half}",
        r"\b{end-half}",
        r"\G",
        r"\R",
        r"\1",
        r"\K",
        "(a)",
        "(a|b)",
        "1",
        "(?<=a)",
        "(?<!b)",
        "(?<=ab|é)",
        r"(?<!\s)",
        "(?<=[ab]{1,2})",
        "(?<!a|bb)",
        "(?<=a*b)",
        r"(?<=^|\n)",
        r"(?<!\G)",
    ];
    let atom = prop::sample::select(atoms.to_vec()).prop_map(str::to_owned);
    let quantifiers =
        ["", "", "", "*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}", "{0,2}?", "{2}?", "{2,}"];
    let groups = ["(?:", "(?:", "(", "(?i:", "(?>", "(?=", "(?!"];
    atom.prop_recursive(4, 24, 5, move |inner| {
        let piece = (inner, prop::sample::select(quantifiers.to_vec())).prop_map(|(piece, sign)| piece + sign);
        let row = prop::collection::vec(piece, 1..4).prop_map(|row| row.concat());
        (prop::sample::select(groups.to_vec()), prop::collection::vec(row, 1..4))
            .prop_map(|(group, rows)| format!("{group}{})", rows.join("|")))
    })
}

/// Minimum number of bytes that an expression matches, or 0 if that is not obvious.
fn min_bytes(expr: &Expr) -> usize {
    match expr {
        Expr::Any { .. } | Expr::Delegate { .. } => 1,
        Expr::Literal { val, .. } => val.len(),
        Expr::Concat(parts) => parts.iter().map(min_bytes).sum(),
        Expr::Alt(branches) => branches.iter().map(min_bytes).min().unwrap_or(0),
        Expr::Group(body) => min_bytes(body),
        Expr::AtomicGroup(body) => min_bytes(body),
        Expr::Repeat { child, lo, .. } => lo * min_bytes(child),
        _ => 0,
    }
}

/// Whether an expression repeats a sub-expression that can be empty. fancy-regex passes some of
/// these loops to the regex crate, which tries further alternatives after an empty iteration, and
/// runs others itself, where an empty iteration ends the loop.
fn repeats_emptiness(expr: &Expr) -> bool {
    let is_loop = |child, hi| hi > 1 && min_bytes(child) == 0;
    match expr {
        Expr::Repeat { child, hi, .. } => is_loop(child, *hi) || repeats_emptiness(child),
        other => other.children_iter().any(repeats_emptiness),
    }
}

fn program_and_reference(source: &str) -> Option<(Program, fancy_regex::Regex)> {
    let regex = fancy_regex::RegexBuilder::new(source).backtrack_limit(100_000).build().ok()?;
    let is_defined = !repeats_emptiness(&Expr::parse_tree(source).ok()?.expr);
    Some((compiled(source, Dialect::FancyRegex).filter(|_| is_defined)?, regex))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_program_finds_what_the_reference_finds(source in pattern(), text in "([ab1 ékK\u{212a}.]|\r?\n){0,12}") {
        if let Some((program, regex)) = program_and_reference(&source)
            && let Some(expected) = reference(&regex, &text)
        {
            let mut steps = 1 << 22;
            match matches(&program, &text, &mut steps) {
                Ok(found) => prop_assert_eq!(found, expected, "{} in {:?}", source, text),
                Err(error) => prop_assert_eq!(error, GaveUp::Steps),
            }
        }
    }

    #[test]
    fn an_automaton_finds_what_the_reference_finds(source in pattern(), text in "([ab1 ékK\u{212a}.]|\r?\n){0,12}") {
        let Ok(tree) = Expr::parse_tree(&source) else { return Ok(()) };
        if let Some(regular) = as_hir(&tree.expr).as_ref().and_then(Regular::new)
            && let Some(expected) = fancy_regex::Regex::new(&source).ok().and_then(|regex| reference(&regex, &text))
        {
            let (mut cache, mut at, mut found, mut steps) = (regular.cache(), 0, vec![], u64::MAX);
            while at <= text.len() && let Some(span) = regular.find(&mut cache, &text, at, false, &mut steps).expect("it is short") {
                let here = regular.find(&mut cache, &text, at, true, &mut steps).expect("it is short");
                prop_assert_eq!(here, Some(span).filter(|span| span.start as usize == at));
                found.push((span.start as usize, span.end as usize));
                at = span.end as usize;
                if span.is_empty() {
                    at += text[at..].chars().next().map_or(1, char::len_utf8);
                }
            }
            prop_assert_eq!(found, expected, "{} in {:?}", source, text);
        }
    }

    /// Whatever a pattern does on repetitive text, its work is linear in the length of the text:
    /// all work is charged, and the budget is never exceeded.
    #[test]
    fn all_work_is_charged(source in pattern(), unit in "[ab1 é\n]{1,3}", end in "[ab]{0,2}", times in 1usize..3000) {
        let text = unit.repeat(times) + &end;
        for dialect in [Dialect::FancyRegex, Dialect::Oniguruma] {
            crate::testing::check(&source, dialect, &text);
        }
    }
}

#[test]
fn searches_that_are_quadratic_in_the_reference_give_up() {
    let patterns = [
        "(?=a*b)a",
        r"(?=(a+))\1b|(?=.*b)a",
        "(?:x+x+)+y|a+?b|(?>a+)c",
        "a.*b|a",
        "a++b",
        "(?<=b.*)a",
        "(?:a|a)*+b",
        r"(a*)\1b",
        r"a*?\Zb",
    ];
    let text = "a".repeat(1 << 16);
    for source in patterns {
        let pattern = Pattern::new(source, Dialect::FancyRegex).expect("it compiles");
        let mut found = 0;
        let result = pattern.for_each_match(&text, &mut crate::testing::steps(text.len()), |_| found += 1);
        let error = result.expect_err(source);
        assert_eq!(error.why, crate::GaveUp::Steps, "{error:?}");
        // On a short text the search succeeds.
        pattern.for_each_match(&text[..50], &mut crate::testing::steps(50), |_| ()).expect(source);
    }
    // The reference takes exponential time for these.
    for source in ["(?:a{1,100}){1,100}b(?!c)", "(?:a|a)*b(?!c)", r"(a*)*\1b"] {
        let pattern = Pattern::new(source, Dialect::FancyRegex).expect("it compiles");
        pattern.for_each_match(&text[..500], &mut crate::testing::steps(500), |_| ()).expect_err(source);
    }
}

#[test]
fn lazy_repetitions_have_a_maximum_and_words_have_half_boundaries() {
    for source in ["a{2}?b", "(?=a)a{1,2}?b", r"(?=.)\b{end-half}.", r"(?=.)\b{start-half}.", r"(?=.)\b{end} ?"] {
        let (program, regex) = program_and_reference(source).expect(source);
        for text in ["aaab", "aab ab", "b a", " a", "é! é"] {
            let expected = reference(&regex, text).expect(source);
            assert_eq!(matches(&program, text, &mut 1000).expect("it is short"), expected, "{source} in {text:?}");
        }
    }
}

/// The states of a lazy automaton are work, too: this one has thousands for texts of two letters.
#[test]
fn new_states_of_an_automaton_are_charged() {
    let tree = Expr::parse_tree("[ab]*a[ab]{10}").expect("it is a pattern");
    let regular = as_hir(&tree.expr).as_ref().and_then(Regular::new).expect("it is regular");
    let text: String =
        (0..2000u32).map(|at| if (at * at).wrapping_mul(0x9E37_79B1) >> 31 == 0 { 'a' } else { 'b' }).collect();
    let mut used = |cache: &mut _| {
        let mut steps = u64::MAX;
        regular.find(cache, &text, 0, true, &mut steps).expect("there are enough steps");
        u64::MAX - steps
    };
    let mut cache = regular.cache();
    let (first, again) = (used(&mut cache), used(&mut cache));
    assert!(again <= 2 * text.len() as u64, "{again} steps with known states");
    assert!(first > 2 * again, "{first} steps with new states, {again} without");
}

/// The reference searches for the start of such a look-behind differently and misses some matches.
#[test]
fn look_behinds_of_any_length_match_by_their_definition() {
    type Case<'a> = (&'a str, &'a str, &'a [(usize, usize)]);
    let cases: [Case<'_>; 8] = [
        ("(?<!a?+)", ".", &[]),
        ("(?<=(?>a?))", "xa", &[(0, 0), (2, 2)]),
        ("(?<=b.*)a", "aba caa", &[(2, 3), (5, 6), (6, 7)]),
        ("(?<!b.*)a", "aba ca", &[(0, 1)]),
        ("(?<=(?=é)..)b", "éabéb", &[(3, 4)]),
        ("(?<=a|bb|(?>c+))d", "ad bd bbd ccd", &[(1, 2), (8, 9), (12, 13)]),
        (r"(?<=(a+))\1b", "aab", &[(1, 3)]),
        (r"(?<=x\R)a", "x\na x\r\na \na", &[(2, 3), (7, 8)]),
    ];
    for (source, text, expected) in cases {
        let program = compiled(source, Dialect::FancyRegex).expect("it compiles");
        assert_eq!(matches(&program, text, &mut 1000).expect("it is short"), expected, "{source} in {text:?}");
    }
}

#[test]
fn patterns_that_stay_linear_have_an_answer_however_long_the_text_is() {
    let patterns =
        ["(?:x+x+)+y", "(?:a+a+)+b", "(a|b)*c", r"\s+(?!\S)|\s+", "a++", "(?>a+)|b", "(?:ab|a)*(?!c)", "(?=a)a"];
    for text in ["a".repeat(1 << 17), "x".repeat(1 << 17), " ".repeat(1 << 17), "ab".repeat(1 << 16)] {
        for source in patterns {
            let pattern = Pattern::new(source, Dialect::FancyRegex).expect("it compiles");
            pattern.for_each_match(&text, &mut crate::testing::steps(text.len()), |_| ()).expect(source);
        }
    }
}

#[test]
fn unsupported_syntax_is_named() {
    for (source, part) in [(r"(a)(?i:\1)", "ignores case"), (r"(?<n>a\g<n>?b)", "subroutine")] {
        let tree = Expr::parse_tree(source).expect("it parses");
        let refused =
            compile(&tree.expr, |group| tree.backrefs.contains(group), Dialect::FancyRegex).expect_err(source);
        assert!(refused.0.contains(part), "{refused:?}");
    }
}
