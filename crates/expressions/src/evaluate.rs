//! Evaluates expressions.

mod compare;
mod dates;
mod failure;
mod items;
mod lists;
mod logic;
pub(crate) mod lookup;
mod numbers;
mod operand;
mod strings;
mod work_budget;

use std::borrow::Cow;
use std::collections::HashMap;

use reknit_protocol::{Path, Value};
use serde::Serialize;

use failure::ValueResult;
pub(crate) use failure::{EvalFailure, EvalResult};
pub(crate) use work_budget::WorkBudget;

use crate::evaluate::items::ScopedItem;
use crate::evaluate::lookup::{FoundValue, look_inside, look_up};
use crate::evaluate::operand::owned;
use crate::expression::{Function, Node, Operator, Precedence};
use crate::provenance::{EvaluationInput, InputSource};
use crate::{Exactness, Expression, Reference, StepResults, UnboundReason, ValueChange, abridge};

/// The maximum size of a recorded input, in bytes of JSON.
const MAX_INPUT: usize = 2_048;

/// The value of an expression, with the inputs that were used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The value.
    #[serde(with = "reknit_protocol::exact")]
    pub value: Value,
    /// The literals and references that were used, in order of evaluation.
    pub inputs: Vec<EvaluationInput>,
    /// Whether the value was rounded.
    pub exact: Exactness,
    /// The strings that were coerced to numbers. Their path is the root.
    pub changes: Vec<ValueChange>,
}

impl Expression {
    /// Evaluates the expression.
    ///
    /// Fails if a step has no result, a field is missing, or an operation does not accept its operands.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use reknit_expressions::Expression;
    /// use reknit_protocol::{StepId, Value};
    ///
    /// let results = BTreeMap::from([(StepId::from("quote"), Value::parse(r#"{"price": 468.285}"#)?)]);
    /// let total = Expression::parse("100 * quote.price", &["quote".into()])?.evaluate(&results)?;
    /// assert_eq!(total.value.to_string(), "46828.5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

/// The state of an evaluation.
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
        match self.non_null(inner)? {
            Cow::Borrowed(value) => Ok(Cow::Borrowed(look_inside(value, path).map_err(missing)?)),
            Cow::Owned(value) => {
                let found = look_inside(&value, path).map_err(missing)?;
                Ok(Cow::Owned(self.budget.clone_charged(found)?))
            }
        }
    }

    /// Records a literal or a reference as an input, each once.
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
        match function {
            Function::If => self.call_if(arguments),
            Function::Sum | Function::Min | Function::Max | Function::Avg | Function::Round | Function::Abs => {
                self.call_number_function(function, arguments)
            }
            Function::Len
            | Function::Join
            | Function::First
            | Function::Last
            | Function::Unique
            | Function::SortBy
            | Function::Pluck => self.call_list_function(function, arguments),
            Function::Filter | Function::Map | Function::Any | Function::All | Function::GroupBy | Function::SumBy => {
                self.call_item_function(function, arguments)
            }
            Function::Contains => self.call_contains(arguments),
            Function::StartsWith
            | Function::EndsWith
            | Function::Lower
            | Function::Upper
            | Function::Trim
            | Function::Split
            | Function::Replace
            | Function::ToNumber
            | Function::ToString => self.call_string_function(function, arguments),
            Function::DateAdd | Function::DateDiff => self.call_date_function(function, arguments),
        }
    }

    fn call_if(&mut self, arguments: &'a [Node]) -> ValueResult<'a> {
        let [condition, then, otherwise] = arguments else { return Err(EvalFailure::argument_count(Function::If)) };
        if self.boolean(condition, &Function::If)? { self.value(then) } else { self.value(otherwise) }
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
