//! References that are written as objects: `{"$ref": "a.price"}`, `{"step": "a", "field": "price"}`.

use reknit_expressions::Reference;
use reknit_protocol::spelling::folded;
use reknit_protocol::{Object, Path, Value};

use super::operand::{Operand, read_path};
use super::source_names::NameMatch;
use super::{Certainty, ParameterContext, UnbracedFinder, UnbracedReason, UnbracedReference, is_listed};

/// Keys whose value is a whole reference.
const REFERENCE_KEYS: &str = "$ref ref $reference reference $var var $from $step $expr $expression @ref $path $get \
    valueFrom value_from $output $result $value $eval $";

/// Keys whose value is the id of a step, folded.
const STEP_KEYS: &str = "step stepid $step fromstep sourcestep source task taskid node nodeid from ref $ref $from \
    $stepid resultof outputof";

/// Keys whose value is a path in the result, folded.
const PATH_KEYS: &str = "field path key output property outputkey outputfield name attribute select jsonpath $path \
    $field value outputname fieldname $key";

/// Keys that say that the object is a reference, folded.
const KIND_KEYS: &str = "type kind $type";

/// A reference in an object, or what looks like one and cannot be written as one.
enum ReferenceForm {
    Known(Reference),
    Unsupported,
}

/// The reference that an object stands for, if it names a step.
pub(crate) fn reference_in_object(
    finder: &UnbracedFinder<'_>,
    object: &Object,
    context: &ParameterContext<'_>,
) -> Option<UnbracedReference> {
    let declared = context.schema.and_then(|schema| schema.get("properties")?.as_object());
    if object.keys().any(|key| declared.is_some_and(|declared| declared.contains_key(key))) {
        return None;
    }
    let written = match object.iter().next()? {
        (key, Value::String(text)) if object.len() == 1 && is_listed(REFERENCE_KEYS, key) => {
            whole_reference(finder, text)?
        }
        (key, Value::Array(parts)) if object.len() == 1 && key.starts_with("Fn::") => attribute(finder, parts)?,
        _ => step_and_path(finder, object)?,
    };
    let text = Value::Object(object.clone()).to_string();
    let (rewrite, certainty, reason) = match written {
        ReferenceForm::Known(reference) => {
            (Some(format!("{{{{{reference}}}}}")), Certainty::Certain, UnbracedReason::Unbraced)
        }
        ReferenceForm::Unsupported => (None, Certainty::Doubtful, UnbracedReason::Unsupported),
    };
    Some(UnbracedReference { range: 0..text.len(), text, rewrite, certainty, reason })
}

/// `a.price`, `$.a.price`, `#/a/price`, `#/steps/a/price`.
fn whole_reference(finder: &UnbracedFinder<'_>, text: &str) -> Option<ReferenceForm> {
    let text = text.trim();
    let text = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")).unwrap_or(text).trim();
    let pointer = text.strip_prefix("#/").or_else(|| text.strip_prefix('/')).map(|pointer| pointer.replace('/', "."));
    let dotted = pointer.unwrap_or_else(|| text.to_owned());
    let dotted = dotted.trim_start_matches(['$', '#', '@']).trim_start_matches('.');
    let operand = Operand::read(dotted, finder.names)?;
    if operand.len < dotted.len() || operand.is_unsupported || operand.matched != NameMatch::Exact {
        return Some(ReferenceForm::Unsupported);
    }
    Some(ReferenceForm::Known(finder.reference(finder.names.id(operand.source)?, operand.path)))
}

/// `["a", "price"]`
fn attribute(finder: &UnbracedFinder<'_>, parts: &[Value]) -> Option<ReferenceForm> {
    let (first, rest) = parts.split_first()?;
    let source = finder.names.exact(first.as_str()?)?;
    let mut path = Path::root();
    for key in rest {
        path.push_key(key.as_str()?);
    }
    Some(ReferenceForm::Known(finder.reference(finder.names.id(source)?, path)))
}

fn step_and_path(finder: &UnbracedFinder<'_>, object: &Object) -> Option<ReferenceForm> {
    let find = |keys: &str| object.iter().find(|(key, _)| is_listed(keys, &folded(key)));
    let (step_key, step) = find(STEP_KEYS)?;
    let source = finder.names.exact(step.as_str()?)?;
    let is_marked = step_key.starts_with('$') || folded(step_key).contains("step");
    let path = find(PATH_KEYS).filter(|(key, _)| *key != step_key);
    let kind = find(KIND_KEYS);
    let known = 1 + usize::from(path.is_some()) + usize::from(kind.is_some());
    if known < object.len() || (path.is_none() && kind.is_none()) {
        // More keys: perhaps a value of the tool's own. A key that can only mean a step makes it a problem.
        return is_marked.then_some(ReferenceForm::Unsupported);
    }
    let Some((_, Value::String(path))) = path else { return Some(ReferenceForm::Unsupported) };
    let dotted = format!(".{}", path.trim_start_matches(['$', '.']));
    let (path, is_unsupported, len) = read_path(&dotted);
    if is_unsupported || len < dotted.len() {
        return Some(ReferenceForm::Unsupported);
    }
    Some(ReferenceForm::Known(finder.reference(finder.names.id(source)?, path)))
}
