//! A value that may have to become another: the rules of fitting.

use reknit_protocol::{Number, Value};

use super::{MOST_DECODINGS, MOST_NOTES, Planner, Spot, Trail};
use crate::FixKind;
use crate::fit::apply;
use crate::fit::choice::Choice;
use crate::fit::decode::{self, Found};
use crate::fit::plan::Plan;
use crate::read::expression;
use crate::schema::shape::{Shape, ShapeId};
use crate::schema::spelling::without_marks;
use crate::schema::{Type, text};

impl Planner<'_> {
    /// Keeps what is accepted; else takes the cheapest way to something that is.
    pub(super) fn plan_scalar(&mut self, value: &Value, id: ShapeId, spot: Spot<'_>) -> Plan {
        let shape = self.schema.shape(id);
        if self.accepts(shape, value) {
            return Plan::keep(true);
        }
        let mut choice = Choice::default();
        for (kind, offered) in offers(value, shape) {
            if self.accepts(shape, &offered) {
                choice.offer(Plan::set(kind, offered.clone()), offered);
            }
        }
        let mut partly = None;
        let mut may_wrap = spot.may_wrap;
        if let Value::String(text) = value {
            if let Some(plan) = self.plan_expression(text, shape, spot) {
                return plan;
            }
            match self.plan_decoded(value, text, id, spot) {
                Content::Nothing => {}
                Content::Cut => may_wrap = false,
                Content::Plan(plan) if plan.fits => {
                    may_wrap = false;
                    let result = apply::preview(value, &plan).value;
                    choice.offer(plan, result);
                }
                Content::Plan(plan) => {
                    may_wrap = false;
                    partly = Some(plan);
                }
            }
        }
        if may_wrap
            && shape.types.has(Type::Array)
            && let Some((plan, result)) = self.plan_wrapped(value, shape, spot)
        {
            choice.offer(plan, result);
        }
        self.decide(choice, spot).or(partly).unwrap_or(Plan::keep(false))
    }

    /// The best offer; a tie between different results is noted.
    pub(super) fn decide(&mut self, choice: Choice, spot: Spot<'_>) -> Option<Plan> {
        match choice.decide() {
            Ok(best) => best,
            Err(tie) => {
                if self.notes.ambiguous.len() < MOST_NOTES {
                    self.notes.ambiguous.push((spot.trail.path(), tie));
                }
                None
            }
        }
    }

    /// Unquoted arithmetic where a number is wanted.
    fn plan_expression(&self, text: &str, shape: &Shape, spot: Spot<'_>) -> Option<Plan> {
        let wants_number = shape.types.has(Type::Integer) && !shape.types.has(Type::String);
        let is_arithmetic = || spot.trail.is_original() && self.arithmetic.contains(&spot.trail.path());
        if self.arithmetic.is_empty() || !wants_number || !is_arithmetic() {
            return None;
        }
        expression(text).map(|expression| Plan::expression(&expression))
    }

    /// The array or object that a text holds, made to fit.
    fn plan_decoded(&mut self, value: &Value, text: &str, id: ShapeId, spot: Spot<'_>) -> Content {
        let types = self.schema.shape(id).types;
        let wants_container = types.has(Type::Array) || types.has(Type::Object);
        if !wants_container || spot.decodings >= MOST_DECODINGS {
            return Content::Nothing;
        }
        let address = std::ptr::from_ref(value).addr();
        let found = self.decoded.entry(address).or_insert_with(|| decode::look_into(text).into()).clone();
        let inner = match found.as_ref() {
            Found::Nothing => return Content::Nothing,
            Found::Cut => return Content::Cut,
            Found::Value(inner) => inner,
        };
        // A text inside the text may hold what is wanted.
        let is_text = inner.value.as_str().is_some();
        if !is_text && !types.allow(inner.value.kind()) {
            return Content::Nothing;
        }
        let trail = Trail::Decoded(spot.trail);
        let inside = Spot { decodings: spot.decodings + 1, may_wrap: false, ..spot.below(&trail) };
        let then = self.plan(&inner.value, id, inside);
        if is_text && then.is_keep() {
            return Content::Nothing;
        }
        Content::Plan(Plan::decode(inner.clone(), then))
    }

    /// The value as the only item of an array.
    fn plan_wrapped(&mut self, value: &Value, shape: &Shape, spot: Spot<'_>) -> Option<(Plan, Value)> {
        if matches!(value, Value::Array(_) | Value::Null) {
            return None;
        }
        let item = match shape.array.item(0) {
            Some(id) => self.plan(value, id, Spot { may_wrap: false, ..spot }),
            None => Plan::keep(true),
        };
        if !item.fits {
            return None;
        }
        let plan = Plan::wrap(item);
        let result = apply::preview(value, &plan);
        self.accepts_result(shape, &result).then_some((plan, result.value))
    }
}

/// What looking into a text led to.
enum Content {
    Nothing,
    /// The start of an array or object.
    Cut,
    Plan(Plan),
}

/// What a value might stand for, other than itself; what is not accepted is left out later.
fn offers(value: &Value, shape: &Shape) -> Vec<(FixKind, Value)> {
    let mut offers = Vec::new();
    if let Some(meant) = shape.allowed.as_ref().and_then(|allowed| allowed.meant_by(value)) {
        let kind = match (value, meant) {
            (Value::String(_), Value::Number(_)) => FixKind::NumberInString,
            (Value::Number(_), Value::String(_)) => FixKind::NumberToString,
            _ => FixKind::EnumSpelling,
        };
        offers.push((kind, meant.clone()));
        return offers;
    }
    match value {
        Value::String(written) => offer_for_text(written, shape, &mut offers),
        Value::Number(number) => offer_for_number(number, shape, &mut offers),
        _ => {}
    }
    offers
}

fn offer_for_text(written: &str, shape: &Shape, offers: &mut Vec<(FixKind, Value)>) {
    let types = shape.types;
    if types.has(Type::Integer)
        && let Some(number) = text::number(written)
    {
        let number = if types.has(Type::Number) { Some(number) } else { number.to_integer() };
        offers.extend(number.map(|number| (FixKind::NumberInString, number.into())));
    }
    if types.has(Type::Boolean)
        && let Some(meant) = text::boolean(written)
    {
        offers.push((FixKind::BooleanFromWord, meant.into()));
    }
    if types.has(Type::Null) && text::is_null(written) {
        offers.push((FixKind::DoubleEncoding, Value::Null));
    }
    let bare = without_marks(written);
    if types.has(Type::String) && bare.len() < written.trim().len() {
        offers.push((FixKind::Emphasis, bare.into()));
    }
}

fn offer_for_number(number: &Number, shape: &Shape, offers: &mut Vec<(FixKind, Value)>) {
    let types = shape.types;
    if types.has(Type::String) {
        offers.push((FixKind::NumberToString, number.to_string().into()));
    }
    if types.has(Type::Boolean)
        && let Some(meant) = text::boolean_of_number(number)
    {
        offers.push((FixKind::BooleanFromWord, meant.into()));
    }
    // Draft 4 does not take `5.0` for an integer.
    if types.has(Type::Integer)
        && let Some(integer) = number.to_integer()
    {
        offers.push((FixKind::NumberSpelling, integer.into()));
    }
}
