use super::*;
use proptest::prelude::*;

fn token(content: &str, change: impl Fn(&mut AddedToken)) -> AddedToken {
    // Each has an id of its own: of two that share one, only the later is searched.
    let id = content.bytes().fold(0, |id: u32, byte| id.wrapping_mul(257).wrapping_add(byte.into()));
    let mut token = AddedToken { content: content.into(), id, special: true, ..Default::default() };
    change(&mut token);
    token
}

fn segments(tokens: &AddedTokens, text: &str, policy: &Policy) -> Result<Vec<String>, EncodeError> {
    let mut all = vec![];
    tokens.segments(SearchStage::Raw, text, policy, |segment| {
        all.push(match segment {
            Segment::Text(span) => text[span.range()].to_string(),
            Segment::Token { span, token } => {
                format!("[{}:{}]", tokens.tokens()[token].content, &text[span.range()])
            }
        });
        Ok(())
    })?;
    Ok(all)
}

fn made(tokens: Vec<AddedToken>, looks_within: bool) -> AddedTokens {
    let tokens = tokens.into_iter().zip(0..).map(|(token, id)| AddedToken { id, ..token }).collect();
    AddedTokens::none(looks_within).extended(tokens, |content| Ok(content.to_owned())).expect("the tokens are fine")
}

#[test]
fn flags_do_what_they_say() {
    let tokens = made(
        vec![
            token("<l>", |t| t.lstrip = true),
            token("<r>", |t| t.rstrip = true),
            token("ab", |t| t.single_word = true),
            token("<s>", |_| ()),
            token("<s><s>", |_| ()),
            token("\t\t", |_| ()),
        ],
        false,
    );
    let cases = [
        ("x  <l> y", vec!["x", "[<l>:  <l>]", " y"]),
        ("x <r>\n y", vec!["x ", "[<r>:<r>\n ]", "y"]),
        ("<r>  <l>", vec!["[<r>:<r>  ]", "[<l>:<l>]"]),
        ("<r> \t\t x", vec!["[<r>:<r> \t\t ]", "[\t\t:\t\t]", " x"]),
        ("ab cab ab_ éab,ab", vec!["[ab:ab]", " cab ab_ éab,", "[ab:ab]"]),
        ("<s><s><s>", vec!["[<s><s>:<s><s>]", "[<s>:<s>]"]),
        ("", vec![]),
        ("none", vec!["none"]),
    ];
    for (text, expected) in cases {
        assert_eq!(segments(&tokens, text, &Policy::Parse).expect("nothing is refused"), expected, "{text:?}");
    }
}

/// The segments by definition: one search after the other, reading all white space again.
fn by_definition(tokens: &AddedTokens, text: &str, policy: &Policy) -> Vec<Segment> {
    let (mut all, mut done, mut at) = (vec![], 0, 0);
    while at <= text.len() {
        let starting = |start: usize| {
            let places =
                (0..tokens.tokens().len()).filter(|&place| text[start..].starts_with(&tokens.tokens()[place].content));
            places.max_by_key(|&place| tokens.tokens()[place].content.len())
        };
        let mut starts = (at..=text.len()).filter(|&start| text.is_char_boundary(start));
        let Some((start, place)) = starts.find_map(|start| Some((start, starting(start)?))) else { break };
        let token = &tokens.tokens()[place];
        let end = start + token.content.len();
        at = end;
        if token.single_word && touches_word(text, start, end) {
            continue;
        }
        if token.special && *policy == Policy::Text {
            if tokens.looks_within {
                at = start + text[start..].chars().next().map_or(1, char::len_utf8);
            }
            continue;
        }
        let start = if token.lstrip { text[..start].trim_end().len().max(done) } else { start };
        let end = if token.rstrip { text.len() - text[end..].trim_start().len() } else { end };
        if done < start {
            all.push(Segment::Text(Span::new(done, start)));
        }
        if start < end {
            all.push(Segment::Token { token: place, span: Span::new(start, end) });
        }
        done = end;
    }
    if done < text.len() {
        all.push(Segment::Text(Span::new(done, text.len())));
    }
    all
}

/// A token with flags as bits.
fn flagged(content: &str, flags: u8) -> AddedToken {
    token(content, |token| {
        [token.lstrip, token.rstrip, token.single_word, token.special] =
            std::array::from_fn(|bit| flags >> bit & 1 == 1);
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn segments_are_those_of_the_definition(
        contents in prop::collection::btree_map("[ab é]{1,4}|a{120,140}|(ab){63,66}", 0u8..16, 1..6),
        text in "([ab é\n]|  |a{100,150}|(ab){50,70}){0,12}",
        looks_within: bool,
        parse: bool,
    ) {
        let tokens = contents.iter().map(|(content, &flags)| flagged(content, flags)).collect();
        let tokens = made(tokens, looks_within);
        let policy = if parse { Policy::Parse } else { Policy::Text };
        let mut all = vec![];
        tokens.segments(SearchStage::Raw, &text, &policy, |segment| { all.push(segment); Ok(()) }).expect("nothing is refused");
        prop_assert_eq!(all, by_definition(&tokens, &text, &policy));
    }
}

/// Regression: each token read the white space up to the end of the text again.
#[test]
fn a_token_within_white_space_that_it_takes_does_not_read_all_of_it_again() {
    let tokens = made(vec![flagged(" ", 0b1011)], false);
    let text = " ".repeat(1 << 20);
    let mut count = 0;
    tokens
        .segments(SearchStage::Raw, &text, &Policy::Parse, |_| {
            count += 1;
            Ok(())
        })
        .expect("nothing is refused");
    assert_eq!(count, 1);
    let tokens = made(vec![flagged(" ", 0b1010)], false);
    let mut count = 0;
    tokens
        .segments(SearchStage::Raw, &text, &Policy::Parse, |_| {
            count += 1;
            Ok(())
        })
        .expect("nothing is refused");
    assert_eq!(count, 1 << 20);
}

/// Regression: each match searched for the long token up to the end of the text.
#[test]
fn a_token_that_starts_like_a_much_longer_one_is_found_without_looking_for_that_each_time() {
    let long = "a".repeat(1 << 19) + "b";
    let tokens = made(vec![flagged("a", 8), flagged(&long, 8)], false);
    let text = "a".repeat(1 << 20);
    let mut count = 0;
    tokens
        .segments(SearchStage::Raw, &text, &Policy::Parse, |_| {
            count += 1;
            Ok(())
        })
        .expect("nothing is refused");
    assert_eq!(count, 1 << 20);
}

#[test]
fn many_tokens_that_begin_with_each_other_are_found_and_take_linear_time() {
    let text = "t123456t7x t99999 t1000000t";
    let many = made((0..200_000).map(|i| token(&format!("t{i}"), |_| ())).collect(), false);
    let mut found = vec![];
    many.segments(SearchStage::Raw, text, &Policy::Parse, |segment| {
        found.push(segment);
        Ok(())
    })
    .expect("nothing is refused");
    assert_eq!(found, by_definition(&many, text, &Policy::Parse));
    assert_eq!(
        segments(&many, text, &Policy::Parse).expect("nothing is refused"),
        ["[t123456:t123456]", "[t7:t7]", "x ", "[t99999:t99999]", " ", "[t100000:t100000]", "0t"]
    );
}

/// Found by the differential test: a token of white space only, and a normalizer that strips.
#[test]
fn a_token_whose_normalized_form_is_empty_cuts_between_all_characters() {
    let mut tokens = vec![token("\n\n", |t| t.normalized = true), token("ab", |t| t.normalized = true)];
    tokens[1].id = 1;
    let all = |tokens: &[AddedToken], text: &str| {
        let made = AddedTokens::none(false).extended(tokens.to_vec(), |content| Ok(content.trim().to_owned()));
        let mut cut = vec![];
        made.expect("any tokens will do")
            .segments(SearchStage::Normalized, text, &Policy::Parse, |segment| {
                cut.push(match segment {
                    Segment::Text(span) => text[span.range()].to_owned(),
                    Segment::Token { token, span } => format!("[{token}:{}]", &text[span.range()]),
                });
                Ok(())
            })
            .expect("nothing is refused");
        cut
    };
    assert_eq!(all(&tokens, "xyabé"), ["x", "y", "[1:ab]", "é"]);
    assert_eq!(all(&tokens, ""), [""; 0]);
    tokens[0].rstrip = true;
    // Each of the two spaces has such a position before it.
    assert_eq!(all(&tokens, "x  y"), ["x", "[0:  ]", "[0: ]", "y"]);
}

#[test]
fn policies_decide_over_special_tokens_only() {
    let tokens = made(vec![token("<s>", |_| ()), token("<t>", |_| ()), token("plain", |t| t.special = false)], false);
    let only = tokens.policy(&SpecialTokens::Only(vec!["<t>".into()]), &Policy::Parse).expect("it is one");
    let text = "<s>plain<t>";
    assert_eq!(segments(&tokens, text, &Policy::Text), Ok(vec!["<s>".into(), "[plain:plain]".into(), "<t>".into()]));
    assert_eq!(segments(&tokens, text, &only), Ok(vec!["<s>".into(), "[plain:plain]".into(), "[<t>:<t>]".into()]));
    let refused = segments(&tokens, "é<s>", &Policy::Throw);
    assert_eq!(refused, Err(EncodeError::SpecialToken { token: "<s>".into(), byte: 2 }));
    let unknown = tokens.policy(&SpecialTokens::Only(vec!["plain".into()]), &Policy::Parse);
    assert_eq!(unknown, Err(EncodeError::NoSuchSpecialToken { token: "plain".into() }));
}

#[test]
fn a_refused_token_hides_what_overlaps_it_for_one_library_and_not_for_the_other() {
    for (looks_within, expected) in [(false, vec!["<a><b>"]), (true, vec!["<a>", "[<b>:<b>]"])] {
        let tokens = made(vec![token("<a><b", |_| ()), token("<b>", |_| ())], looks_within);
        let only = tokens.policy(&SpecialTokens::Only(vec!["<b>".into()]), &Policy::Parse).expect("it is one");
        assert_eq!(segments(&tokens, "<a><b>", &only).expect("nothing is refused"), expected);
    }
}
