//! Planning lists: single values that become lists, texts that list items, and lists of one in place of their item.

use std::rc::Rc;

use reknit_protocol::Value;

use super::{Context, Planner, ValuePath};
use crate::FixKind;
use crate::repair::fit::apply;
use crate::repair::fit::envelope::layered_value;
use crate::repair::fit::list_in_text::{TextList, list_in_text};
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
        let Some(list) = value.as_str().and_then(list_in_text) else {
            return Ok(self.plan_wrapped(value, shape, context));
        };
        let (TextList::Marked(items) | TextList::Separated(items)) = &list;
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
        let (kind, inner) = match value {
            Value::Array(items) if !types.contains(SchemaType::Array) => match items.as_slice() {
                [Value::Array(_) | Value::Null] => return None,
                [only] => (FixKind::ListOfOne, only),
                _ => return None,
            },
            Value::Object(_) if !types.contains(SchemaType::Object) => (FixKind::ValueLayer, layered_value(value)?),
            _ => return None,
        };
        let path = ValuePath::Decoded(context.path);
        let plan = self.plan(inner, id, Context { may_wrap: false, ..context.child(&path) });
        plan.fits.then(|| Plan::take(kind, plan))
    }
}
