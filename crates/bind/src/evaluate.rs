//! From an expression to its value.

mod compare;
mod dates;
mod halt;
mod lists;
mod numbers;
mod operand;
mod texts;
mod work;

use std::borrow::Cow;

use reknit_protocol::{Path, Value};
use serde::Serialize;

pub(crate) use halt::{Halt, Outcome};
pub(crate) use work::Work;

use crate::expression::{Function, Level, Node, Operator};
use crate::lookup::{look_inside, look_up};
use crate::provenance::{Input, InputSource};
use crate::{Change, Exactness, Expression, Reason, Sources, project};
use operand::describe;

/// The most that is kept of a value that went into a calculation, in bytes of its JSON.
const INPUT: usize = 2_048;

/// What an expression gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluated {
    /// The value.
    #[serde(with = "reknit_protocol::exact")]
    pub value: Value,
    /// What went into it, in the order it came up.
    pub inputs: Vec<Input>,
    /// Whether it was rounded.
    pub exact: Exactness,
    /// The texts that were taken for numbers. The path is the root: the place of the expression itself.
    pub changes: Vec<Change>,
}

impl Expression {
    /// Calculates the value.
    ///
    /// Fails if a step has no result, a field is missing, or the calculation makes no sense.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use reknit_bind::Expression;
    /// use reknit_protocol::{StepId, Value};
    ///
    /// let results = BTreeMap::from([(StepId::from("quote"), Value::parse(r#"{"price": 468.285}"#)?)]);
    /// let total = Expression::parse("100 * quote.price", &["quote".into()])?.evaluate(&results)?;
    /// assert_eq!(total.value.to_string(), "46828.5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn evaluate(&self, sources: &dyn Sources) -> Result<Evaluated, Reason> {
        evaluate(self, sources, &mut Work::new(), &Path::root())
    }
}

/// Calculates an expression that stands at `path`, with what is left of the work that is allowed.
pub(crate) fn evaluate(
    expression: &Expression,
    sources: &dyn Sources,
    work: &mut Work,
    path: &Path,
) -> Result<Evaluated, Reason> {
    let mut evaluator =
        Evaluator { sources, work, inputs: Vec::new(), exact: Exactness::Exact, taken: Vec::new(), taken_more: 0 };
    let root = &expression.root;
    let value = evaluator.value(root).and_then(|value| match value {
        Cow::Owned(value) => Ok(value),
        Cow::Borrowed(value) => evaluator.work.copy(value),
    });
    match value {
        Ok(value) => {
            let changes = evaluator.changes(path);
            Ok(Evaluated { value, changes, inputs: evaluator.inputs, exact: evaluator.exact })
        }
        Err(halt) => Err(halt.into_reason(expression)),
    }
}

/// A calculation under way.
struct Evaluator<'a, 'w> {
    sources: &'a dyn Sources,
    work: &'w mut Work,
    inputs: Vec<Input>,
    exact: Exactness,
    /// Texts that were taken for numbers.
    taken: Vec<String>,
    /// How many more there were than are listed.
    taken_more: usize,
}

impl<'a> Evaluator<'a, '_> {
    fn value(&mut self, node: &'a Node) -> Outcome<Cow<'a, Value>> {
        self.work.spend(1)?;
        match node {
            Node::Literal(value) => {
                self.note(InputSource::Literal, value)?;
                Ok(Cow::Borrowed(value))
            }
            Node::Reference(reference) => {
                let found = look_up(self.sources, reference.step(), reference.path())?;
                let (step, path) = (reference.step().clone(), found.path);
                self.note(InputSource::Reference { step, path }, found.value)?;
                Ok(Cow::Borrowed(found.value))
            }
            Node::Negate(inner) => self.negate(inner),
            Node::Chain(first, rest) => match node.level() {
                Some(Level::Otherwise) => self.first_present(first, rest),
                Some(Level::Compare) => self.compare(first, rest),
                Some(Level::Add | Level::Multiply) | None => self.calculate(first, rest),
            },
            Node::Call(function, arguments) => self.call(*function, arguments),
            Node::Inside(inner, path) => self.inside(node, inner, path),
        }
    }

    fn inside(&mut self, whole: &Node, inner: &'a Node, path: &Path) -> Outcome<Cow<'a, Value>> {
        let missing = |available| Halt::Absent(Reason::NoSuchField { reference: whole.to_string(), available });
        match self.present(inner)? {
            Cow::Borrowed(value) => Ok(Cow::Borrowed(look_inside(value, path).map_err(missing)?)),
            Cow::Owned(value) => {
                let found = look_inside(&value, path).map_err(missing)?;
                Ok(Cow::Owned(self.work.copy(found)?))
            }
        }
    }

    /// Notes what goes into the result, each thing once.
    fn note(&mut self, source: InputSource, value: &Value) -> Outcome<()> {
        self.work.spend(self.inputs.len())?;
        let is_same = |input: &Input| {
            // One place has one value, so only literals have to be compared by theirs.
            input.source == source && (source != InputSource::Literal || input.value == *value)
        };
        if self.inputs.iter().any(is_same) {
            return Ok(());
        }
        self.inputs.push(Input { source, value: project(value, INPUT, &[]) });
        Ok(())
    }

    /// `a ?? b`: the first that is there and not null.
    fn first_present(&mut self, first: &'a Node, rest: &'a [(Operator, Node)]) -> Outcome<Cow<'a, Value>> {
        let mut node = first;
        let mut others = rest.iter();
        loop {
            let Some((_, next)) = others.next() else { return self.value(node) };
            let before = (self.inputs.len(), self.taken.len(), self.exact);
            match self.value(node) {
                Ok(value) if !value.is_null() => return Ok(value),
                Err(halt) if !halt.is_absence() => return Err(halt),
                Ok(_) | Err(_) => {}
            }
            // What led to nothing did not go into the result.
            self.inputs.truncate(before.0);
            self.taken.truncate(before.1);
            self.exact = before.2;
            node = next;
        }
    }

    fn call(&mut self, function: Function, arguments: &'a [Node]) -> Outcome<Cow<'a, Value>> {
        match function {
            Function::If => self.choose(arguments),
            Function::Sum | Function::Min | Function::Max | Function::Avg | Function::Round | Function::Abs => {
                self.call_on_numbers(function, arguments)
            }
            Function::Len
            | Function::Join
            | Function::First
            | Function::Last
            | Function::Unique
            | Function::SortBy
            | Function::Pluck => self.call_on_lists(function, arguments),
            Function::Lower
            | Function::Upper
            | Function::Trim
            | Function::Split
            | Function::Replace
            | Function::ToNumber
            | Function::ToString => self.call_on_texts(function, arguments),
            Function::DateAdd | Function::DateDiff => self.call_on_dates(function, arguments),
        }
    }

    fn choose(&mut self, arguments: &'a [Node]) -> Outcome<Cow<'a, Value>> {
        let [condition, then, otherwise] = arguments else { return Err(Halt::arguments(Function::If)) };
        match self.value(condition)?.as_ref() {
            Value::Bool(true) => self.value(then),
            Value::Bool(false) => self.value(otherwise),
            Value::Null => Err(Halt::null(condition)),
            other => Err(Halt::kind(&Function::If, "true or false", describe(other))),
        }
    }

    fn changes(&self, path: &Path) -> Vec<Change> {
        let kind = reknit_salvage::FixKind::NumberInString.name();
        let change =
            |before: String, after: String| Change { path: path.clone(), kind: kind.to_owned(), before, after };
        let listed = self.taken.iter().map(|text| change(Value::from(text.as_str()).to_string(), text.clone()));
        let more = (self.taken_more > 0).then(|| change(String::new(), format!("{} more", self.taken_more)));
        listed.chain(more).collect()
    }
}
