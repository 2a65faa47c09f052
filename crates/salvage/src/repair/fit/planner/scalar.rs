//! Planning scalars, and every value that has to become another type.

use std::rc::Rc;

use reknit_protocol::{Number, Value};

use super::{Context, MAX_AMBIGUOUS, MAX_DECODINGS, Planner, Validity, ValuePath};
use crate::FixKind;
use crate::repair::fit::apply;
use crate::repair::fit::decode::{self, DecodedText};
use crate::repair::fit::envelope::named_values;
use crate::repair::fit::plan::{CheapestPlan, Decoded, Plan};
use crate::repair::notation::read_object;
use crate::repair::read::to_expression;
use crate::schema::shape::{Shape, ShapeId};
use crate::schema::{FitProblemKind, SchemaType, address, in_format, is_date_format, parse_scalar};

impl Planner<'_> {
    /// Keeps a value that the shape accepts. Otherwise plans the cheapest change to one that it accepts.
    pub(super) fn plan_scalar(&mut self, value: &Value, id: ShapeId, context: Context<'_>) -> Plan {
        let shape = self.schema.shape(id);
        if shape.restricts_scalars && !self.budget.may_use(&shape.subschemas) {
            return self.give_up();
        }
        if context.validity != Validity::Invalid && self.schema.accepts(shape, value) {
            return Plan::keep(true);
        }
        let mut cheapest = CheapestPlan::default();
        for (kind, replacement) in replacements(value, shape) {
            if self.schema.accepts(shape, &replacement) {
                cheapest.offer(Plan::replace(kind, replacement.clone()), replacement);
            }
        }
        if cheapest.is_empty() {
            self.offer_undecorated(value, shape, context, &mut cheapest);
        }
        let mut partial = None;
        let mut may_wrap = context.may_wrap;
        if let Value::String(text) = value
            && let Some(plan) = self.plan_expression(text, shape, context)
        {
            return plan;
        }
        match self.plan_content(value, id, context) {
            ContentPlan::Nothing => {}
            ContentPlan::Truncated => may_wrap = false,
            ContentPlan::Plan(plan) if plan.fits => {
                may_wrap = false;
                let result = apply::preview(value, &plan).value;
                cheapest.offer(plan, result);
            }
            ContentPlan::Plan(plan) => {
                may_wrap = false;
                partial = Some(plan);
            }
        }
        if let Some(plan) = self.plan_without_layer(value, id, context) {
            let result = apply::preview(value, &plan).value;
            cheapest.offer(plan, result);
        }
        if may_wrap && shape.types.contains(SchemaType::Array) {
            match self.plan_list(value, id, context) {
                Ok(Some((plan, result))) => cheapest.offer(plan, result),
                Ok(None) => {}
                Err(tie) => {
                    self.note_ambiguous(tie, context);
                    return Plan::keep(false);
                }
            }
        }
        self.choose(cheapest, context).or(partial).unwrap_or(Plan::keep(false))
    }

    /// Offers what a text stands for without what a model wrote around it. What is around a text without a form is its content.
    fn offer_undecorated(&self, value: &Value, shape: &Shape, context: Context<'_>, cheapest: &mut CheapestPlan) {
        let is_free_text =
            shape.types.contains(SchemaType::String) && shape.allowed.is_none() && shape.format.is_none();
        let Value::String(text) = value else { return };
        if is_free_text {
            return;
        }
        let Some(inner) = parse_scalar::without_decoration(text, context.path.name()).map(Value::from) else { return };
        let itself = [(FixKind::Decoration, inner.clone())];
        for (_, replacement) in itself.into_iter().chain(replacements(&inner, shape)) {
            if self.schema.accepts(shape, &replacement) {
                cheapest.offer(Plan::replace(FixKind::Decoration, replacement.clone()), replacement);
            }
        }
    }

    /// The cheapest plan. A tie between different results is noted as ambiguous.
    pub(super) fn choose(&mut self, cheapest: CheapestPlan, context: Context<'_>) -> Option<Plan> {
        match cheapest.into_plan() {
            Ok(best) => best,
            Err(tie) => {
                self.note_ambiguous(tie, context);
                None
            }
        }
    }

    fn note_ambiguous(&mut self, tie: FitProblemKind, context: Context<'_>) {
        if self.notes.ambiguous.len() < MAX_AMBIGUOUS {
            self.notes.ambiguous.push((context.path.to_path(), tie));
        }
    }

    fn plan_expression(&self, text: &str, shape: &Shape, context: Context<'_>) -> Option<Plan> {
        let wants_number = shape.types.contains(SchemaType::Integer) && !shape.types.contains(SchemaType::String);
        let is_arithmetic = || context.path.is_original() && self.arithmetic.contains(&context.path.to_path());
        if self.arithmetic.is_empty() || !wants_number || !is_arithmetic() {
            return None;
        }
        to_expression(text).map(|expression| Plan::expression(&expression))
    }

    /// Plans to make the content of a value fit that was written as another one.
    fn plan_content(&mut self, value: &Value, id: ShapeId, context: Context<'_>) -> ContentPlan {
        let types = self.schema.shape(id).types;
        let (takes_array, takes_object) = (types.contains(SchemaType::Array), types.contains(SchemaType::Object));
        let is_text = value.as_str().is_some();
        let is_wanted = match value {
            Value::String(_) => (takes_array || takes_object) && context.decodings < MAX_DECODINGS,
            Value::Object(_) => takes_array && !takes_object,
            Value::Array(_) => takes_object && !takes_array,
            _ => false,
        };
        if !is_wanted {
            return ContentPlan::Nothing;
        }
        let decoded = self.decoded.entry(address(value)).or_insert_with(|| decode::decode(value).into()).clone();
        let inner = match decoded.as_ref() {
            DecodedText::Nothing => return self.plan_notation(value, id, context),
            DecodedText::Truncated => return ContentPlan::Truncated,
            DecodedText::Value(inner) => inner,
        };
        // The content may be a string that is encoded in turn.
        let is_encoded_text = inner.value.as_str().is_some();
        if !is_encoded_text && !types.allows(inner.value.kind()) {
            return ContentPlan::Nothing;
        }
        let path = ValuePath::Decoded(context.path);
        let decodings = context.decodings + u8::from(is_text);
        let then = self.plan(&inner.value, id, Context { decodings, may_wrap: false, ..context.child(&path) });
        if is_encoded_text && then.is_keep() {
            return ContentPlan::Nothing;
        }
        ContentPlan::Plan(Plan::decode(inner.clone(), then))
    }
}

impl Planner<'_> {
    /// Plans an object that a text has in another notation, `city=Bern&zip=1`, or that a list has as names and values.
    fn plan_notation(&mut self, value: &Value, id: ShapeId, context: Context<'_>) -> ContentPlan {
        let shape = self.schema.shape(id);
        if !shape.types.contains(SchemaType::Object) || shape.object.properties.is_empty() {
            return ContentPlan::Nothing;
        }
        let (kind, object) = match value {
            Value::String(text) if !shape.types.contains(SchemaType::String) => {
                (FixKind::Notation, read_object(text, &shape.object).map(Value::Object))
            }
            Value::Array(items) => (FixKind::NamedValues, named_values(items)),
            _ => return ContentPlan::Nothing,
        };
        let Some(object) = object else { return ContentPlan::Nothing };
        let decoded = Rc::new(Decoded { kind, value: object, fixes: Vec::new() });
        self.lists.push(Rc::clone(&decoded));
        let path = ValuePath::Decoded(context.path);
        let then = self.plan(&decoded.value, id, Context { may_wrap: false, ..context.child(&path) });
        if then.fits { ContentPlan::Plan(Plan::decode(decoded, then)) } else { ContentPlan::Nothing }
    }
}

enum ContentPlan {
    Nothing,
    /// The string is a truncated array or object.
    Truncated,
    Plan(Plan),
}

/// The values that a value might stand for. The caller drops those that the shape does not accept.
fn replacements(value: &Value, shape: &Shape) -> Vec<(FixKind, Value)> {
    let mut replacements = Vec::new();
    if let Some(meant) = shape.allowed.as_ref().and_then(|allowed| allowed.find_by_spelling(value)) {
        let kind = match (value, meant) {
            (Value::String(_), Value::Number(_)) => FixKind::NumberInString,
            (Value::Number(_), Value::String(_)) => FixKind::NumberToString,
            _ => FixKind::EnumSpelling,
        };
        replacements.push((kind, meant.clone()));
        return replacements;
    }
    if let (Some(allowed), Value::String(text)) = (&shape.allowed, value) {
        let by_label = allowed.find_by_label(text).map(|meant| (FixKind::EnumLabel, meant));
        let meant = by_label.or_else(|| allowed.find_typo(text).map(|meant| (FixKind::EnumTypo, meant)));
        if let Some((kind, meant)) = meant {
            replacements.push((kind, meant.clone()));
            return replacements;
        }
    }
    match value {
        Value::String(written) => add_for_text(written, shape, &mut replacements),
        Value::Number(number) => add_for_number(number, shape, &mut replacements),
        _ => {}
    }
    replacements
}

fn add_for_text(written: &str, shape: &Shape, replacements: &mut Vec<(FixKind, Value)>) {
    let types = shape.types;
    if types.contains(SchemaType::Integer) {
        let number = parse_scalar::number(written).map(|number| (FixKind::NumberInString, number));
        let notation = || Some((FixKind::NumberNotation, parse_scalar::number_in_other_notation(written)?));
        if let Some((kind, number)) = number.or_else(notation) {
            if types.contains(SchemaType::Number) && parse_scalar::may_have_decimal_comma(written) {
                let with_point = Number::parse(&parse_scalar::strip_marks(written).replace(',', ".")).ok();
                replacements.extend(with_point.map(|number| (kind, number.into())));
            }
            let number = if types.contains(SchemaType::Number) { Some(number) } else { number.to_integer() };
            replacements.extend(number.map(|number| (kind, number.into())));
        }
    }
    if types.contains(SchemaType::Boolean)
        && let Some(meant) = parse_scalar::boolean(written)
    {
        replacements.push((FixKind::BooleanFromWord, meant.into()));
    }
    let is_null = if types.contains(SchemaType::String) { parse_scalar::is_null } else { parse_scalar::is_absent };
    if types.contains(SchemaType::Null) && is_null(written) {
        replacements.push((FixKind::DoubleEncoding, Value::Null));
    }
    if let Some(date) = shape.format.as_deref().and_then(|format| in_format(written, format)) {
        replacements.push((FixKind::DateSpelling, date.into()));
    }
    let stripped = parse_scalar::strip_marks(written);
    if types.contains(SchemaType::String) && stripped.len() < written.trim().len() {
        replacements.push((FixKind::Emphasis, stripped.into()));
    }
}

fn add_for_number(number: &Number, shape: &Shape, replacements: &mut Vec<(FixKind, Value)>) {
    let types = shape.types;
    let format = shape.format.as_deref().filter(|format| is_date_format(format));
    if let Some(format) = format {
        // A date is no number, but it may be written as one.
        replacements.extend(in_format(&number.to_string(), format).map(|date| (FixKind::DateSpelling, date.into())));
    } else if types.contains(SchemaType::String) {
        replacements.push((FixKind::NumberToString, number.to_string().into()));
    }
    if types.contains(SchemaType::Boolean)
        && let Some(meant) = parse_scalar::boolean_from_number(number)
    {
        replacements.push((FixKind::BooleanFromWord, meant.into()));
    }
    // Draft 4 does not accept `5.0` as an integer.
    if types.contains(SchemaType::Integer)
        && let Some(integer) = number.to_integer()
    {
        replacements.push((FixKind::NumberSpelling, integer.into()));
    }
}
