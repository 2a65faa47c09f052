//! Validates parameters, and describes what is wrong so that the caller can correct the call.

use reknit_protocol::spelling::nearest;
use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Object, Path, Retryable, ToolError, Value, ValueKind};
use reknit_salvage::{Comparison, FitProblem, FitProblemKind, Schema, SchemaType};

use crate::schema::{Form, allowed_values, alternatives, describe_type, example};

/// How many problems `details.problems` lists.
const MAX_PROBLEMS: usize = 10;

/// Checks that the parameters fit the schema.
///
/// The error describes one problem, a missing field before any other. If there are several, `details.problems` has the
/// message of each.
pub(crate) fn validate(schema: &Schema, parameters: &Value) -> Result<(), Box<ToolError>> {
    if schema.fits(parameters) {
        return Ok(());
    }
    let problems = schema.problems(parameters);
    let has_wrong_type = |path: &Path| {
        problems.iter().any(|other| other.path == *path && matches!(other.kind, FitProblemKind::Type { .. }))
    };
    let rejections: Vec<Rejection> = problems
        .iter()
        // The validator reports a number in place of a listed string twice; the type alone says enough.
        .filter(|problem| match problem.kind {
            FitProblemKind::Enum { .. } | FitProblemKind::Const { .. } => !has_wrong_type(&problem.path),
            _ => true,
        })
        .flat_map(|problem| Rejection::from_problem(schema.source(), parameters, problem))
        .collect();
    let Some(first) = rejections.iter().find(|one| one.is_missing()).or_else(|| rejections.first()) else {
        return Ok(());
    };
    let mut error = first.to_error();
    if rejections.len() > 1 {
        let messages = rejections.iter().take(MAX_PROBLEMS).map(|one| one.message.as_str().into());
        error.details.insert("problems", messages.collect::<Vec<Value>>());
    }
    Err(error.into())
}

/// How many characters of a rejected value the error repeats.
const MAX_ACTUAL: usize = 80;

/// Why one field is rejected.
#[derive(Debug)]
struct Rejection {
    code: &'static str,
    field: String,
    message: String,
    /// The entries of `details` between `field` and `hint`, for programs.
    facts: Object,
    hint: String,
}

impl Rejection {
    /// The rejections that follow from one problem: one for each unknown property, otherwise exactly one.
    fn from_problem(root: &Value, parameters: &Value, problem: &FitProblem) -> Vec<Self> {
        let owner = schema_of_keyword(root, &problem.schema_path);
        let path = &problem.path;
        let actual = parameters.at(path).unwrap_or(parameters);
        let rejection = match (&problem.kind, owner) {
            (FitProblemKind::UnknownProperty { names }, _) => {
                return names.iter().map(|name| Self::unknown_field(path, name, owner)).collect();
            }
            (FitProblemKind::Required { property }, _) => {
                let field = owner.and_then(|owner| owner.get("properties")?.get(property));
                Self::missing(root, &path.key(property), field.unwrap_or(&Value::Bool(true)))
            }
            (FitProblemKind::Type { .. } | FitProblemKind::NoAlternativeFits, Some(owner)) => {
                match allowed_values(root, owner).filter(|_| alternatives(owner).is_some()) {
                    Some(allowed) => Self::not_listed(path, &allowed, actual),
                    None => Self::wrong_type(root, path, owner, &problem.kind, actual),
                }
            }
            (FitProblemKind::Enum { allowed }, _) => Self::not_listed(path, allowed, actual),
            (FitProblemKind::Const { expected }, _) => Self::not_listed(path, std::slice::from_ref(expected), actual),
            (FitProblemKind::Range { comparison: bound, limit }, _) => {
                // schemars writes the bound `0` as `0.0`.
                Self::out_of_bounds(path, &format!("{} {}", bound_words(*bound), limit.canonical()), actual)
            }
            (FitProblemKind::Length { unit, comparison: bound, limit }, _) => {
                let rule = format!("{} {limit} {} long", bound_words(*bound), unit.as_str());
                Self::out_of_bounds(path, &rule, &format!("{} {}", length(actual), unit.as_str()).into())
            }
            (FitProblemKind::Pattern { pattern }, _) => {
                let facts = Object::from([("pattern", pattern.as_str().into()), ("actual", shorten(actual))]);
                let message = format!("`{}` must match the pattern `{pattern}`", field_name(path));
                Self::new(path, message, facts, format!("send text that matches `{pattern}`"))
            }
            _ => {
                let message = format!("`{}` is not valid: {}", field_name(path), problem.message);
                let hint = "the JSON Schema of this capability says what it accepts".to_owned();
                Self::new(path, message, Object::default(), hint)
            }
        };
        vec![rejection]
    }

    fn new(path: &Path, message: String, facts: Object, hint: String) -> Self {
        Self { code: codes::INVALID_FORMAT, field: field_name(path), message, facts, hint }
    }

    fn missing(root: &Value, path: &Path, schema: &Value) -> Self {
        let message = format!("`{}` is required", field_name(path));
        let facts = Object::from([("expected", describe_type(root, schema, Form::Bare).into())]);
        let rejection = Self::new(path, message, facts, String::new()).with_example(root, schema);
        Self { code: codes::MISSING_REQUIRED_FIELD, ..rejection }
    }

    /// The value has a type that the schema does not allow, or it has the right type and fits no alternative.
    fn wrong_type(root: &Value, path: &Path, schema: &Value, kind: &FitProblemKind, actual: &Value) -> Self {
        let (actual, actual_with_article) = type_names(kind, actual);
        let expected = describe_type(root, schema, Form::WithArticle);
        let message = match kind {
            FitProblemKind::NoAlternativeFits => {
                format!("`{}` fits none of its alternatives: {expected}", field_name(path))
            }
            _ => format!("`{}` must be {expected}, not {}", field_name(path), actual_with_article),
        };
        let bare = describe_type(root, schema, Form::Bare);
        let facts = Object::from([("expected", bare.into()), ("actual", actual.into())]);
        Self::new(path, message, facts, String::new()).with_example(root, schema)
    }

    /// Completes the facts and the hint with the type that the schema expects and an example, if the schema has one.
    fn with_example(mut self, root: &Value, schema: &Value) -> Self {
        self.hint = format!("send `{}` as {}", self.field, describe_type(root, schema, Form::WithArticle));
        if let Some(example) = example(root, schema) {
            self.hint = format!("{}, for example {example}", self.hint);
            self.facts.insert("example", example);
        }
        self
    }

    fn unknown_field(object: &Path, name: &str, schema: Option<&Value>) -> Self {
        let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
        let known: Vec<&str> = properties.map(|all| all.keys().collect()).unwrap_or_default();
        let mut facts = Object::default();
        let hint = if let Some(meant) = nearest(name, &known) {
            facts.insert("did_you_mean", *meant);
            format!("did you mean `{meant}`?")
        } else if known.is_empty() {
            "leave it out: no field is accepted here".to_owned()
        } else {
            format!("leave it out; the fields are {}", known.join(", "))
        };
        facts.insert("fields", known.into_iter().map(Value::from).collect::<Vec<_>>());
        let path = object.key(name);
        Self::new(&path, format!("there is no field `{}`", field_name(&path)), facts, hint)
    }

    fn not_listed(path: &Path, allowed: &[Value], actual: &Value) -> Self {
        let list = allowed.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        let facts = Object::from([("allowed", allowed.to_vec().into()), ("actual", shorten(actual))]);
        Self::new(path, format!("`{}` must be one of {list}", field_name(path)), facts, format!("send one of {list}"))
    }

    fn out_of_bounds(path: &Path, rule: &str, actual: &Value) -> Self {
        let facts = Object::from([("expected", rule.into()), ("actual", shorten(actual))]);
        let message = format!("`{}` must be {rule}", field_name(path));
        Self::new(path, message, facts, format!("send a value that is {rule}"))
    }

    fn is_missing(&self) -> bool {
        self.code == codes::MISSING_REQUIRED_FIELD
    }

    fn to_error(&self) -> ToolError {
        let mut error = ToolError::new(self.code, self.message.as_str(), Category::InputError)
            .retryable(Retryable::Yes)
            .detail("field", self.field.as_str());
        for (name, fact) in &self.facts {
            error.details.insert(name, fact.clone());
        }
        error.detail("hint", self.hint.as_str())
    }
}

/// The schema object that has the keyword at this JSON Pointer.
fn schema_of_keyword<'a>(root: &'a Value, keyword: &str) -> Option<&'a Value> {
    let (owner, _keyword) = keyword.rsplit_once('/')?;
    root.at(&Path::from_pointer(owner, root).ok()?)
}

/// `amount`, `legs[0].to`; the parameters as a whole are `parameters`.
fn field_name(path: &Path) -> String {
    if path.is_root() {
        return "parameters".to_owned();
    }
    let text = path.to_string();
    let text = text.strip_prefix('$').unwrap_or(&text);
    text.strip_prefix('.').unwrap_or(text).to_owned()
}

/// The type of a rejected value, without and with an article.
fn type_names(kind: &FitProblemKind, actual: &Value) -> (&'static str, &'static str) {
    match (kind, actual.kind()) {
        (FitProblemKind::Type { expected }, ValueKind::Number) if expected.contains(&SchemaType::Integer) => {
            ("number with a fraction", "a number with a fraction")
        }
        (_, kind) => (kind.as_str(), kind.with_article()),
    }
}

fn bound_words(bound: Comparison) -> &'static str {
    match bound {
        Comparison::MoreThan => "greater than",
        Comparison::AtLeast | Comparison::AtMost | Comparison::LessThan => bound.as_str(),
    }
}

/// How many characters, items or properties a value has.
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(object) => object.len(),
        _ => 0,
    }
}

/// A long value is replaced by the beginning of its JSON text.
fn shorten(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= MAX_ACTUAL {
        return value.clone();
    }
    Value::String(text.chars().take(MAX_ACTUAL).chain(['…']).collect())
}

#[cfg(test)]
mod tests;
