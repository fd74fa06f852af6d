use proptest::prelude::*;
use serde_json::Value;

use super::{Document, Fields};

/// The text and the id of a line, as [`Fields::read`] finds them.
fn read(text: &str, id: Option<&str>, line: &str) -> Option<(String, Option<String>)> {
    let fields = Fields { text: text.into(), id: id.map(Into::into) };
    let Document { text, id } = fields.read(line.as_bytes()).expect("memory suffices")?;
    Some((text.into_owned(), id.map(ToOwned::to_owned)))
}

fn text_of(line: &str) -> Option<String> {
    read("text", None, line).map(|(text, _)| text)
}

#[test]
fn texts_are_unescaped() {
    for (line, text) in [
        (r#"{"text":""}"#, ""),
        (
            r#" { "id" : 1 , "text" : "plain words that fill more than eight bytes" } "#,
            "plain words that fill more than eight bytes",
        ),
        (r#"{"text":"a\n\t\r\b\f\"\\\/\u0041\u00e9\u6f22"}"#, "a\n\t\r\u{8}\u{c}\"\\/Aé漢"),
        (r#"{"text":"\ud83d\ude00x\u0000\uffff"}"#, "😀x\0\u{ffff}"),
        ("{\"text\":\"é漢😀\"}\r", "é漢😀"),
        (r#"{"t\u0065xt":"an escaped name","b":"\ud83dx"}"#, "an escaped name"),
        (r#"{"a":[{"text":"no"},[1,-2.5e-7,true],{}],"text":"yes","b":{"text":{"c":[]}}}"#, "yes"),
    ] {
        assert_eq!(text_of(line).as_deref(), Some(text), "{line}");
    }
}

#[test]
fn doubtful_lines_are_left_to_json_parse() {
    for line in [
        "",
        " ",
        "[]",
        "{}",
        "\"text\"",
        "\u{feff}{\"text\":\"a\"}",
        r#"{"text":1}"#,
        r#"{"text":null}"#,
        r#"{"Text":"a"}"#,
        r#"{"text":"a","text":"b"}"#,
        r#"{"text":"a","t\u0065xt":"b"}"#,
        r#"{"text":"a","\ud83d":"b"}"#,
        r#"{"text":"a"} {}"#,
        r#"{"text":"a",}"#,
        r#"{"text":"a"#,
        r#"{"text":"a\"#,
        r#"{"text":"\x"}"#,
        r#"{"text":"\u12g4"}"#,
        r#"{"text":"\u+123"}"#,
        r#"{"text":"\u12"}"#,
        r#"{"text":"\ud83d"}"#,
        r#"{"text":"\ud83d\ud83d\ude00"}"#,
        r#"{"text":"\ude00\ud83d"}"#,
        "{\"text\":\"a\tb\"}",
        "{\"text\":\"a\u{0}\"}",
        r#"{"text":"a","b":01}"#,
        r#"{"text":"a","b":+1}"#,
        r#"{"text":"a","b":1.}"#,
        r#"{"text":"a","b":.5}"#,
        r#"{"text":"a","b":-}"#,
        r#"{"text":"a","b":1e}"#,
        r#"{"text":"a","b":nul}"#,
        r#"{"text":"a","b":nulls}"#,
        r#"{"text":"a","b":[1,]}"#,
        r#"{"text":"a","b":[,1]}"#,
        r#"{"text":"a","b":{"c"}}"#,
        r#"{"text":"a","b":{"c":1,}}"#,
        r#"{"text":"a","b":[}}"#,
        r#"{"text":"a","b":{]}"#,
        "{\"text\":\"a\",\u{a0}\"b\":1}",
    ] {
        assert_eq!(text_of(line), None, "{line}");
    }
}

#[test]
fn deep_values_are_skipped_without_recursion() {
    let nested = |depth| format!(r#"{{"a":{}1{},"text":"b"}}"#, "[".repeat(depth), "]".repeat(depth));
    assert_eq!(text_of(&nested(1 << 20)).as_deref(), Some("b"));
    // The reader recurses only into the objects of the path.
    let path = "a.".repeat(1 << 20);
    let line = format!("{}1{}", r#"{"a":"#.repeat(1 << 20), "}".repeat(1 << 20));
    assert_eq!(read(&path, None, &line), None);
}

#[test]
fn paths_lead_into_objects() {
    let text = |path, line| read(path, None, line).map(|(text, _)| text);
    assert_eq!(text("a.b", r#"{"a":{"c":1,"b":"x"}}"#).as_deref(), Some("x"));
    assert_eq!(text("a.b", r#"{"a.b":"x"}"#).as_deref(), Some("x"));
    assert_eq!(text("a.b.c", r#"{"a.b":{"c":"x"}}"#).as_deref(), Some("x"));
    assert_eq!(text("a.b.c", r#"{"a":{"b.c":"x"}}"#).as_deref(), Some("x"));
    assert_eq!(text(".a", r#"{"":{"a":"x"}}"#).as_deref(), Some("x"));
    assert_eq!(text("a.", r#"{"a":{"":"x"}}"#).as_deref(), Some("x"));
    assert_eq!(text("", r#"{"":"x"}"#).as_deref(), Some("x"));
    assert_eq!(text("é.漢", r#"{"é":{"漢":"x"}}"#).as_deref(), Some("x"));
    // Two names lead to the field, so JSON.parse decides.
    assert_eq!(text("a.b", r#"{"a":{"b":"x"},"a.b":"y"}"#), None);
    assert_eq!(text("a.b", r#"{"a":{"b":"x","b":"y"}}"#), None);
    assert_eq!(text("a.0", r#"{"a":["x"]}"#), None);
    assert_eq!(text("a.b", r#"{"a":"x"}"#), None);
}

#[test]
fn ids_are_strings_or_integers() {
    let id = |id: &str| read("text", Some("id"), &format!(r#"{{"text":"a","id":{id}}}"#)).and_then(|(_, id)| id);
    for taken in ["0", "-0", "12", "-123456789012345", r#""""#, r#""\u0041é""#] {
        assert_eq!(id(taken).as_deref(), Some(taken));
    }
    for other in ["1.5", "1e3", "1234567890123456", "null", "true", "[]", "{}"] {
        assert_eq!(id(other), None, "{other}");
    }
    assert_eq!(read("a.t", Some("a.i"), r#"{"a":{"i":7,"t":"x"}}"#), Some(("x".to_owned(), Some("7".to_owned()))));
    assert_eq!(read("t", Some("i"), r#"{"t":"x"}"#), None);
    // One value for both is left to JSON.parse.
    for line in [r#"{"t":"x"}"#, r#"{"t":{}}"#] {
        assert_eq!(read("t", Some("t"), line), None);
    }
    assert_eq!(read("t", Some("t.i"), r#"{"t":{"i":1}}"#), None);
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // serde_json refuses numbers that JavaScript reads as infinite.
        (-1e6..1e6).prop_map(|number: f64| Value::from(number)),
        "[a-zé\"\\\\\n\u{0}😀]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("(text|id|a|\\PC{0,3})", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn taken_lines_are_json_with_the_same_text(
        value in json(),
        text in "\\PC{0,40}",
        cut in any::<prop::sample::Index>(),
        piece in prop::sample::select(vec!["", "", "", "\"", "\\", "{", "}", ",", "1", "\\u00e9", "\u{1}"]),
    ) {
        let mut line = format!(r#"{{"a":{value},"text":{},"b":{value}}}"#, Value::from(text));
        let mut at = cut.index(line.len());
        while !line.is_char_boundary(at) {
            at -= 1;
        }
        line.insert_str(at, piece);
        let taken = text_of(&line);
        let parsed = serde_json::from_str::<Value>(&line);
        if let Some(taken) = &taken {
            let parsed = parsed.expect(&line);
            prop_assert_eq!(Some(taken.as_str()), parsed["text"].as_str());
        } else {
            prop_assert!(!piece.is_empty(), "{}", line);
        }
    }
}
