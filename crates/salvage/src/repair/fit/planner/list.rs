//! Planning lists: single values that become lists, texts that list items, and lists of one in place of their item.

use std::rc::Rc;

use reknit_protocol::{Object, Value};

use super::{Context, Planner, ValuePath};
use crate::FixKind;
use crate::repair::fit::apply;
use crate::repair::fit::envelope::layered_value;
use crate::repair::fit::list_in_text::{TextList, list_in_text, list_in_words};
use crate::repair::fit::plan::{Decoded, Plan};
use crate::schema::shape::{Shape, ShapeId};
use crate::schema::{FitProblemKind, SchemaType, parse_scalar};

/// A plan with the value that it leads to.
type Planned = (Plan, Value);

impl Planner<'_> {
    /// Plans a list for a single value. A text in which a separator may stand between items is ambiguous if both the whole and
    /// its parts fit: `red, blue` may be one item or two, and the tool would not say which it took.
    pub(super) fn plan_list(
        &mut self,
        value: &Value,
        id: ShapeId,
        context: Context<'_>,
    ) -> Result<Option<Planned>, FitProblemKind> {
        let shape = self.schema.shape(id);
        let list = value.as_str().and_then(list_in_text);
        let planned = match &list {
            Some(list) => self.plan_text_list(value, list, id, context)?,
            None => self.plan_wrapped(value, shape, context),
        };
        let words = if planned.is_none() { value.as_str().and_then(list_in_words) } else { None };
        Ok(planned.or_else(|| {
            let items: Value = words?.into_iter().map(Value::from).collect();
            let (plan, fits) = self.plan_split(items, id, context);
            let result = apply::preview(value, &plan);
            (fits && self.accepts_result(shape, &result)).then_some((plan, result.value))
        }))
    }

    fn plan_text_list(
        &mut self,
        value: &Value,
        list: &TextList<'_>,
        id: ShapeId,
        context: Context<'_>,
    ) -> Result<Option<Planned>, FitProblemKind> {
        let shape = self.schema.shape(id);
        let (TextList::Marked(items) | TextList::Separated(items)) = list;
        let items: Value = items.iter().map(|item| Value::from(*item)).collect();
        let (plan, fits) = self.plan_split(items, id, context);
        let result = apply::preview(value, &plan);
        let is_accepted = fits && self.accepts_result(shape, &result);
        if matches!(list, TextList::Separated(_))
            && let Some((wrapped, whole)) = self.plan_wrapped(value, shape, context)
        {
            if fits {
                return Err(FitProblemKind::Ambiguous { first: result.value, second: whole });
            }
            return Ok(Some((wrapped, whole)));
        }
        Ok(is_accepted.then_some((plan, result.value)))
    }

    /// Plans the items of a list in a text. Also returns whether all of them fit.
    fn plan_split(&mut self, items: Value, id: ShapeId, context: Context<'_>) -> (Plan, bool) {
        let decoded = Rc::new(Decoded { kind: FixKind::SplitList, value: items, fixes: Vec::new() });
        self.lists.push(Rc::clone(&decoded));
        let path = ValuePath::Decoded(context.path);
        let then = self.plan(&decoded.value, id, Context { may_wrap: false, ..context.child(&path) });
        let plan = Plan::decode(decoded, then);
        let fits = plan.fits;
        (plan, fits)
    }

    fn plan_wrapped(&mut self, value: &Value, shape: &Shape, context: Context<'_>) -> Option<Planned> {
        let item_shape = shape.array.item(0);
        let is_listed = || item_shape.is_some_and(|id| self.schema.shape(id).allowed.is_some());
        // A word for no value is no item.
        let is_no_value = match value {
            Value::Array(_) | Value::Null => true,
            Value::String(text) => parse_scalar::is_absent(text) && !is_listed(),
            _ => false,
        };
        if is_no_value {
            return None;
        }
        let item = match item_shape {
            Some(id) => self.plan(value, id, Context { may_wrap: false, ..context.for_another_value() }),
            None => Plan::keep(true),
        };
        if !item.fits {
            return None;
        }
        let plan = Plan::wrap(item);
        let result = apply::preview(value, &plan);
        self.accepts_result(shape, &result).then_some((plan, result.value))
    }

    /// Plans to take the only item of a list where no list is possible, or the value out of a layer where no object is.
    pub(super) fn plan_without_layer(&mut self, value: &Value, id: ShapeId, context: Context<'_>) -> Option<Plan> {
        let types = self.schema.shape(id).types;
        let path = ValuePath::Decoded(context.path);
        let inside = Context { may_wrap: false, ..context.child(&path) };
        match value {
            Value::Array(items) if !types.contains(SchemaType::Array) => {
                let [only] = items.as_slice() else { return None };
                let is_allowed = match only {
                    Value::Array(_) => false,
                    Value::Null => types.contains(SchemaType::Null),
                    _ => true,
                };
                let plan = is_allowed.then(|| self.plan(only, id, inside))?;
                plan.fits.then(|| Plan::unwrap(plan))
            }
            Value::Object(_) if !types.contains(SchemaType::Object) => {
                let inner = layered_value(value, context.path.name())?;
                let plan = self.plan(inner, id, inside);
                plan.fits.then(|| Plan::take(context.path.name(), plan))
            }
            _ => None,
        }
    }

    /// Plans to take an object out of a layer around it, where an object is possible that does not have the key of the layer.
    pub(super) fn plan_object_in_layer(&mut self, value: &Value, id: ShapeId, context: Context<'_>) -> Option<Plan> {
        let shape = self.schema.shape(id);
        let name = context.path.name();
        let inner = layered_value(value, name)?;
        let declared = &shape.object.properties;
        let has_declared_key =
            |object: &Object| object.keys().any(|key| declared.contains_key(key) || shape.object.is_spelling(key));
        let is_layer = value.as_object().is_some_and(|outer| !has_declared_key(outer));
        let are_arguments = match inner {
            Value::Object(object) => has_declared_key(object),
            _ => false,
        };
        if !is_layer || !are_arguments || context.path.is_root() || self.schema.accepts(shape, value) {
            return None;
        }
        let path = ValuePath::Decoded(context.path);
        let plan = self.plan(inner, id, Context { may_wrap: false, ..context.child(&path) });
        plan.fits.then(|| Plan::take(name, plan))
    }

    /// Plans to take the only item of a list for the list itself, where the item is none: `[[1, 2]]` or `["[1, 2]"]` for `[1, 2]`.
    pub(super) fn plan_nested_list(&mut self, items: &[Value], id: ShapeId, context: Context<'_>) -> Option<Plan> {
        let [only] = items else { return None };
        let is_list = match only {
            Value::Array(_) => true,
            Value::String(text) => text.trim_start().starts_with('['),
            _ => false,
        };
        if !is_list || !context.may_wrap {
            return None;
        }
        let path = ValuePath::Decoded(context.path);
        let plan = self.plan(only, id, Context { may_wrap: false, ..context.child(&path) });
        plan.fits.then(|| Plan::unwrap(plan))
    }
}
