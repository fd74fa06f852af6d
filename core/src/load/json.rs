//! Reading a component of a tokenizer.json, with errors that say where in the file they are.

use serde_json::Value;

use crate::error::LoadError;
use crate::pattern::{Dialect, Pattern};

/// A value of the file and its path, as `pre_tokenizer.pretokenizers[0]`.
#[derive(Debug, Clone)]
pub(crate) struct Part<'a> {
    pub(crate) value: &'a Value,
    pub(crate) path: String,
}

const NULL: Value = Value::Null;

/// Components of a normalizer, a pre-tokenizer, a post-processor or a decoder. Each costs a pass over the text; real files
/// have less than a hundred.
const MOST_COMPONENTS: usize = 512;

/// How many components a value is, sequences among them. JSON is not nested deep enough for this to go too deep.
fn components(value: &Value, list: &str) -> usize {
    let parts = value.get(list).and_then(Value::as_array);
    1 + parts.map_or(0, |parts| parts.iter().map(|part| components(part, list)).sum())
}

impl<'a> Part<'a> {
    pub(crate) fn new(value: &'a Value, path: impl Into<String>) -> Self {
        Self { value, path: path.into() }
    }

    /// A field; null where there is none.
    pub(crate) fn field(&self, name: &str) -> Part<'a> {
        Part { value: self.value.get(name).unwrap_or(&NULL), path: format!("{}.{name}", self.path) }
    }

    /// A field that has to be there.
    pub(crate) fn required(&self, name: &str) -> Result<Part<'a>, LoadError> {
        match self.value.get(name) {
            Some(value) => Ok(Part { value, path: format!("{}.{name}", self.path) }),
            None => Err(LoadError::shape(&self.path, format!("{name:?} is missing"))),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    /// The component's `type`.
    pub(crate) fn kind(&self) -> Result<&'a str, LoadError> {
        if !self.value.is_object() {
            return Err(self.wrong("an object"));
        }
        self.required("type")?.text()
    }

    /// The component's `type`, where it has one that is a string.
    pub(crate) fn kind_or_none(&self) -> Result<Option<&'a str>, LoadError> {
        if !self.value.is_object() {
            return Err(self.wrong("an object"));
        }
        Ok(self.value.get("type").and_then(Value::as_str))
    }

    /// A component that is neither of a known type nor has the fields of one. `stage` is what it should be.
    pub(crate) fn unknown(&self, stage: &str, kind: Option<&str>) -> LoadError {
        match kind {
            Some(kind) => self.unsupported(format!("the {stage} {kind}")),
            None => LoadError::shape(&self.path, format!("\"type\" is missing, and it has the fields of no {stage}")),
        }
    }

    pub(crate) fn text(&self) -> Result<&'a str, LoadError> {
        self.value.as_str().ok_or_else(|| self.wrong("a string"))
    }

    pub(crate) fn flag(&self) -> Result<bool, LoadError> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// A field that is a flag, with what it means when it is absent.
    pub(crate) fn flag_or(&self, name: &str, default: bool) -> Result<bool, LoadError> {
        match self.value.get(name) {
            None => Ok(default),
            Some(_) => self.field(name).flag(),
        }
    }

    pub(crate) fn id(&self) -> Result<u32, LoadError> {
        let id = self.value.as_u64().and_then(|id| u32::try_from(id).ok());
        id.ok_or_else(|| self.wrong("a whole number from 0 to 4294967295"))
    }

    pub(crate) fn number(&self) -> Result<f64, LoadError> {
        self.value.as_f64().ok_or_else(|| self.wrong("a number"))
    }

    /// A string of exactly one character.
    pub(crate) fn character(&self) -> Result<char, LoadError> {
        let mut characters = self.text()?.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => Err(self.wrong("one character")),
        }
    }

    /// A whole number that is no id.
    pub(crate) fn count(&self) -> Result<usize, LoadError> {
        let count = self.value.as_u64().and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| self.wrong("a whole number"))
    }

    /// `{"Regex": …}` or `{"String": …}`.
    pub(crate) fn pattern(&self) -> Result<Pattern, LoadError> {
        let (regex, string) = (self.field("Regex"), self.field("String"));
        match (regex.is_null(), string.is_null()) {
            (false, true) => Pattern::new(regex.text()?, Dialect::Oniguruma, &regex.path),
            (true, false) => Pattern::literal(string.text()?, &string.path),
            _ => Err(LoadError::shape(&self.path, "either \"Regex\" or \"String\" is wanted here")),
        }
    }

    pub(crate) fn items(&self) -> Result<Vec<Part<'a>>, LoadError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("a list"))?;
        Ok(items.iter().enumerate().map(|(at, value)| Part { value, path: format!("{}[{at}]", self.path) }).collect())
    }

    /// Fails if a component has too many within it. `list` is the field that a sequence has them in.
    pub(crate) fn check_components(&self, what: &'static str, list: &str) -> Result<(), LoadError> {
        let size = components(self.value, list);
        if size > MOST_COMPONENTS {
            return Err(LoadError::TooLarge { what, size: size as u64, limit: MOST_COMPONENTS as u64 });
        }
        Ok(())
    }

    /// A component of a type that is not known here.
    pub(crate) fn unsupported(&self, component: impl Into<String>) -> LoadError {
        LoadError::unsupported(&self.path, component)
    }

    fn wrong(&self, wanted: &str) -> LoadError {
        let found = match self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => format!("the number {number}"),
            Value::String(text) => format!("the string {:?}", text.chars().take(40).collect::<String>()),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        LoadError::shape(&self.path, format!("{wanted} is wanted here, not {found}"))
    }
}
