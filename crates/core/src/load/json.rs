//! Access to the components of a tokenizer.json, with errors that give the path in the file.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::error::LoadError;
use crate::pattern::{Dialect, Pattern};

/// A value of the file and its path, such as `pre_tokenizer.pretokenizers[0]`.
#[derive(Debug, Clone)]
pub(crate) struct Part<'a> {
    pub(crate) value: &'a Value,
    pub(crate) path: String,
}

const NULL: Value = Value::Null;

/// Maximum number of components of a normalizer, a pre-tokenizer, a post-processor or a decoder.
/// Each costs a pass over the text; real files have fewer than a hundred.
const MAX_COMPONENTS: usize = 512;

/// The number of components of a value, including those in sequences. The JSON parser limits the
/// depth of nesting, and thereby the recursion.
fn components(value: &Value, list: &str) -> usize {
    let parts = value.get(list).and_then(Value::as_array);
    1 + parts.map_or(0, |parts| parts.iter().map(|part| components(part, list)).sum())
}

impl<'a> Part<'a> {
    pub(crate) fn new(value: &'a Value, path: impl Into<String>) -> Self {
        Self { value, path: path.into() }
    }

    /// A field; null if it is missing.
    pub(crate) fn field(&self, name: &str) -> Self {
        Part { value: self.value.get(name).unwrap_or(&NULL), path: format!("{}.{name}", self.path) }
    }

    /// A field that must be present.
    pub(crate) fn required(&self, name: &str) -> Result<Self, LoadError> {
        match self.value.get(name) {
            Some(value) => Ok(Part { value, path: format!("{}.{name}", self.path) }),
            None => Err(LoadError::shape(&self.path, format!("{name:?} is missing"))),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    /// The `type` of the component, which must be present.
    pub(crate) fn kind(&self) -> Result<&'a str, LoadError> {
        if !self.value.is_object() {
            return Err(self.wrong("an object"));
        }
        self.required("type")?.text()
    }

    /// The `type` of the component, if it is a string.
    pub(crate) fn kind_or_none(&self) -> Result<Option<&'a str>, LoadError> {
        if !self.value.is_object() {
            return Err(self.wrong("an object"));
        }
        Ok(self.value.get("type").and_then(Value::as_str))
    }

    /// The error for a component that neither has a known type nor the fields of one. `stage` is
    /// the kind of component, for the message.
    pub(crate) fn unknown(&self, stage: &str, kind: Option<&str>) -> LoadError {
        match kind {
            Some(kind) => self.unsupported(format!("the {stage} {kind}")),
            None => {
                LoadError::shape(&self.path, format!("\"type\" is missing, and the fields are not those of a {stage}"))
            }
        }
    }

    /// The value, unless it is null.
    pub(crate) fn or_null<T>(&self, read: impl FnOnce(&Self) -> Result<T, LoadError>) -> Result<Option<T>, LoadError> {
        if self.is_null() { Ok(None) } else { read(self).map(Some) }
    }

    pub(crate) fn text(&self) -> Result<&'a str, LoadError> {
        self.value.as_str().ok_or_else(|| self.wrong("a string"))
    }

    pub(crate) fn flag(&self) -> Result<bool, LoadError> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// A Boolean field, or `default` if it is missing.
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

    /// A non-negative integer that is not an id.
    pub(crate) fn count(&self) -> Result<usize, LoadError> {
        let count = self.value.as_u64().and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| self.wrong("a whole number"))
    }

    /// `{"Regex": …}` or `{"String": …}`.
    pub(crate) fn pattern(&self) -> Result<Pattern, LoadError> {
        self.only_field()?;
        let (regex, string) = (self.field("Regex"), self.field("String"));
        match (regex.is_null(), string.is_null()) {
            (false, true) => Pattern::new(regex.text()?, Dialect::Oniguruma)
                .map_err(|error| LoadError::pattern(&regex.path, regex.text().unwrap_or_default(), error)),
            (true, false) => Pattern::literal(string.text()?)
                .map_err(|error| LoadError::pattern(&string.path, string.text().unwrap_or_default(), error)),
            _ => Err(LoadError::shape(&self.path, "either \"Regex\" or \"String\" is expected here")),
        }
    }

    /// Fails if this is an object with more than one field.
    pub(crate) fn only_field(&self) -> Result<(), LoadError> {
        match self.value.as_object().map_or(0, serde_json::Map::len) {
            0 | 1 => Ok(()),
            fields => Err(LoadError::shape(&self.path, format!("one field is expected here, not {fields}"))),
        }
    }

    pub(crate) fn items(&self) -> Result<Vec<Self>, LoadError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("a list"))?;
        Ok(items.iter().enumerate().map(|(at, value)| Part { value, path: format!("{}[{at}]", self.path) }).collect())
    }

    /// Fails if a component contains too many others. `list` is the name of the field in which a
    /// sequence has its components.
    pub(crate) fn check_components(&self, what: &'static str, list: &str) -> Result<(), LoadError> {
        let size = components(self.value, list);
        if size > MAX_COMPONENTS {
            return Err(LoadError::TooLarge { what, size: size as u64, limit: MAX_COMPONENTS as u64 });
        }
        Ok(())
    }

    /// The error for a component or option that is not supported.
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
        LoadError::shape(&self.path, format!("{wanted} is expected here, not {found}"))
    }
}

/// A string, borrowed from the file unless it has escapes.
#[derive(Deserialize)]
pub(super) struct FileText<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Stores an error that serde cannot carry. Returns one that ends the parsing.
pub(super) fn store_error<E: serde::de::Error>(slot: &mut Option<LoadError>, error: LoadError) -> E {
    let carried = E::custom(&error);
    *slot = Some(error);
    carried
}
