//! Evaluates expressions.

mod compare;
mod dates;
mod failure;
mod items;
mod lists;
pub(crate) mod lookup;
mod numbers;
mod operand;
mod strings;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use reknit_protocol::{Path, Value};
use serde::Serialize;

pub(crate) use failure::WorkBudget;
pub(crate) use failure::{EvalFailure, EvalResult};
use failure::{ValueResult, bad_argument};
use lists::empty_list_error;

use crate::evaluate::items::ScopedItem;
use crate::evaluate::lookup::{FoundValue, look_inside, look_up};
use crate::evaluate::operand::owned;
use crate::expression::{Function, Node, Operator, Precedence};
use crate::provenance::{EvaluationInput, InputSource};
use crate::{AvailableChildren, Exactness, Expression, Reference, StepResults, UnboundReason, ValueChange, abridge};

const MAX_INPUT: usize = 2_048;

/// The value of an expression, with the inputs that were used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    #[serde(with = "reknit_protocol::exact")]
    pub value: Value,
    /// The literals and references that were used, in order of evaluation.
    pub inputs: Vec<EvaluationInput>,
    pub exact: Exactness,
    /// The strings that were coerced to numbers. Their path is the root.
    pub changes: Vec<ValueChange>,
}

impl Expression {
    /// Evaluates the expression.
    ///
    /// Fails if a step has no result, a field is missing, or an operation does not accept its operands.
    pub fn evaluate(&self, results: &dyn StepResults) -> Result<Evaluation, UnboundReason> {
        evaluate(self, results, &mut WorkBudget::new(), &Path::root())
    }
}

/// Evaluates the expression at `path` within a work budget.
pub(crate) fn evaluate(
    expression: &Expression,
    results: &dyn StepResults,
    budget: &mut WorkBudget,
    path: &Path,
) -> Result<Evaluation, UnboundReason> {
    let mut evaluator = Evaluator {
        results,
        budget,
        inputs: Vec::new(),
        exact: Exactness::Exact,
        coerced: Vec::new(),
        coerced_unlisted: 0,
        items: Vec::new(),
        found: HashMap::new(),
    };
    let root = &expression.root;
    let value = evaluator.value(root).and_then(|value| match root {
        // One copy of a part of a result is no more work than the result itself.
        Node::Reference(_) => Ok(value.into_owned()),
        _ => evaluator.own(value),
    });
    match value {
        Ok(value) => {
            let changes = evaluator.changes(path);
            Ok(Evaluation { value, changes, inputs: evaluator.inputs, exact: evaluator.exact })
        }
        Err(failure) => Err(failure.into_reason(expression)),
    }
}

/// The value at a path inside a computed value. A copy is charged.
fn part_of<'a>(
    value: &Cow<'a, Value>,
    path: &Path,
    budget: &mut WorkBudget,
    missing: impl FnOnce(AvailableChildren) -> EvalFailure,
) -> ValueResult<'a> {
    match value {
        Cow::Borrowed(value) => Ok(Cow::Borrowed(look_inside(value, path).map_err(missing)?)),
        Cow::Owned(value) => Ok(Cow::Owned(budget.clone_charged(look_inside(value, path).map_err(missing)?)?)),
    }
}

struct Evaluator<'a, 'w> {
    results: &'a dyn StepResults,
    budget: &'w mut WorkBudget,
    inputs: Vec<EvaluationInput>,
    exact: Exactness,
    /// Strings that were coerced to numbers, up to a limit.
    coerced: Vec<String>,
    /// The number of coerced strings beyond the limit.
    coerced_unlisted: usize,
    /// The items that expressions are evaluated for, the innermost last.
    items: Vec<ScopedItem<'a>>,
    /// What references found that are evaluated for each item, by the place of the reference in memory.
    found: HashMap<*const Reference, EvalResult<FoundValue<'a>>>,
}

impl<'a> Evaluator<'a, '_> {
    fn value(&mut self, node: &'a Node) -> ValueResult<'a> {
        self.budget.spend(1)?;
        match node {
            Node::Literal(value) => {
                self.record_input(InputSource::Literal, value)?;
                Ok(Cow::Borrowed(value))
            }
            Node::Reference(reference) => {
                let found = self.look_up_once(reference)?;
                let (step, path) = (reference.step().clone(), found.path);
                self.record_input(InputSource::Reference { step, path }, found.value)?;
                Ok(Cow::Borrowed(found.value))
            }
            Node::Negate(inner) => self.negate(inner),
            Node::Not(inner) => Ok(owned(!self.boolean(inner, &"not")?)),
            Node::List(nodes) => self.list_of(nodes),
            // Functions evaluate it for each item; the parser puts it nowhere else.
            Node::ForItem(_, body) => self.value(body),
            Node::Item(name, path) => self.item(name, path),
            Node::Chain(first, rest) => match node.precedence() {
                Some(Precedence::Coalesce) => self.coalesce(first, rest),
                Some(precedence @ (Precedence::Or | Precedence::And)) => {
                    self.logic(first, rest, precedence == Precedence::Or)
                }
                Some(Precedence::Comparison) => self.compare(first, rest),
                Some(Precedence::Additive | Precedence::Multiplicative) | None => self.calculate(first, rest),
            },
            Node::Call(function, arguments) => self.call(*function, arguments),
            Node::Access(inner, path) => self.access(node, inner, path),
        }
    }

    /// Looks up a reference. Inside an expression for items, it is looked up for the first item only.
    fn look_up_once(&mut self, reference: &'a Reference) -> EvalResult<FoundValue<'a>> {
        if self.items.is_empty() {
            return look_up(self.results, reference.step(), reference.path());
        }
        self.budget.spend(reference.path().segments().len())?;
        let results = self.results;
        let found = self.found.entry(std::ptr::from_ref(reference));
        found.or_insert_with(|| look_up(results, reference.step(), reference.path())).clone()
    }

    fn access(&mut self, whole: &Node, inner: &'a Node, path: &Path) -> ValueResult<'a> {
        let missing =
            |available| EvalFailure::Absent(UnboundReason::NoSuchField { reference: whole.to_string(), available });
        self.budget.spend(path.segments().len())?;
        let value = self.non_null(inner)?;
        part_of(&value, path, self.budget, missing)
    }

    fn record_input(&mut self, source: InputSource, value: &Value) -> EvalResult<()> {
        self.budget.spend(self.inputs.len())?;
        if source != InputSource::Literal {
            // A reference always has the same value.
            if !self.inputs.iter().any(|input| input.source == source) {
                self.inputs.push(EvaluationInput { source, value: abridge(value, MAX_INPUT, &[]) });
            }
            return Ok(());
        }
        self.budget.charge(value)?;
        let input = EvaluationInput { source, value: abridge(value, MAX_INPUT, &[]) };
        if !self.inputs.contains(&input) {
            self.inputs.push(input);
        }
        Ok(())
    }

    /// `a ?? b`: the first value that exists and is not null.
    fn coalesce(&mut self, first: &'a Node, rest: &'a [(Operator, Node)]) -> ValueResult<'a> {
        let mut node = first;
        let mut others = rest.iter();
        loop {
            let Some((_, next)) = others.next() else { return self.value(node) };
            let before = (self.inputs.len(), self.coerced.len(), self.exact);
            match self.value(node) {
                Ok(value) if !value.is_null() => return Ok(value),
                Err(failure) if !failure.is_absence() => return Err(failure),
                Ok(_) | Err(_) => {}
            }
            // Discards what the skipped operand recorded.
            self.inputs.truncate(before.0);
            self.coerced.truncate(before.1);
            self.exact = before.2;
            node = next;
        }
    }

    fn call(&mut self, function: Function, arguments: &'a [Node]) -> ValueResult<'a> {
        match (function, arguments) {
            (Function::If, [condition, then, otherwise]) => {
                let branch = if self.boolean(condition, &function)? { then } else { otherwise };
                self.value(branch)
            }
            (Function::Sum | Function::Avg, _) => self.total(function, arguments),
            (Function::Min, _) => self.extreme(function, arguments, Ordering::Less),
            (Function::Max, _) => self.extreme(function, arguments, Ordering::Greater),
            (Function::Round, [number]) => self.round(number, None),
            (Function::Round, [number, places]) => self.round(number, Some(places)),
            (Function::Abs, [only]) => self.absolute(only),
            (Function::Len, [only]) => self.length(only),
            (Function::First, [list]) => {
                self.list(list, function)?.into_iter().next().ok_or_else(|| empty_list_error(function))
            }
            (Function::Last, [list]) => self.list(list, function)?.pop().ok_or_else(|| empty_list_error(function)),
            (Function::Join, [list, separator]) => self.join(list, separator),
            (Function::Unique, [list]) => self.unique(list),
            (Function::Pluck, [list, field]) => self.pluck(list, field),
            (Function::SortBy, [list, rest @ ..]) => self.sort(list, rest),
            (Function::Any | Function::All, [list]) => self.decide(function, list, None),
            (Function::Any | Function::All, [list, condition]) => self.decide(function, list, Some(condition)),
            (Function::Filter, [list, condition]) => self.filter(list, condition),
            (Function::Map, [list, value]) => self.map(list, value),
            (Function::GroupBy, [list, key]) => self.group(list, key),
            (Function::SumBy, [list, number]) => self.sum_by(list, number),
            (Function::Contains, [whole, part]) => self.contains(whole, part),
            (Function::Lower, [only]) => self.map_string(only, function, str::to_lowercase),
            (Function::Upper, [only]) => self.map_string(only, function, str::to_uppercase),
            (Function::Trim, [only]) => self.map_string(only, function, |text| text.trim().to_owned()),
            (Function::StartsWith | Function::EndsWith, [text, part]) => self.affix(function, text, part),
            (Function::Split, [text, separator]) => self.split(text, separator),
            (Function::Replace, [text, pattern, replacement]) => self.replace(text, pattern, replacement),
            (Function::ToNumber, [only]) => self.convert_to_number(only),
            (Function::ToString, [only]) => self.convert_to_string(only),
            (Function::DateAdd, [from, amount, unit]) => self.add_to_date(from, amount, unit),
            (Function::DateDiff, [from, to, unit]) => self.difference_of_dates(from, to, unit),
            // Unreachable: the parser checks the number of arguments.
            _ => Err(bad_argument(function, "the number of arguments is wrong")),
        }
    }

    fn changes(&self, path: &Path) -> Vec<ValueChange> {
        let kind = reknit_salvage::FixKind::NumberInString.name();
        let change =
            |before: String, after: String| ValueChange { path: path.clone(), kind: kind.to_owned(), before, after };
        let listed = self.coerced.iter().map(|text| change(Value::from(text.as_str()).to_string(), text.clone()));
        let more =
            (self.coerced_unlisted > 0).then(|| change(String::new(), format!("{} more", self.coerced_unlisted)));
        listed.chain(more).collect()
    }
}
