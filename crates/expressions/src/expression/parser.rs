//! Recursive-descent parser for expressions.

use reknit_protocol::spelling::nearest;
use reknit_protocol::{Number, Path, Segment, Value};

use super::cursor::Cursor;
use super::cursor::{quoted_len, unquote};
use super::operator::word;
use super::{Function, ITEM, Node, Operator, Precedence};
use crate::expression::parse_error::TemplateProblem as Problem;
use crate::step_ids::{StepIds, is_name_char, name_len};
use crate::{Reference, TemplateParseError};

/// The maximum length in bytes: far longer than a real expression, and quick to parse.
const MAX_LENGTH: usize = 64 * 1024;

/// The maximum nesting of parentheses, calls and signs. Parsing and evaluation recurse this deep.
const MAX_DEPTH: usize = 48;

/// The maximum number of values, operators, calls and path segments.
const MAX_PARTS: usize = 2000;

type Parsed<T> = Result<T, TemplateParseError>;

pub(super) fn parse(text: &str, ids: &StepIds<'_>) -> Parsed<Node> {
    let mut parser = Parser::new(text, ids);
    if text.len() > MAX_LENGTH {
        return Err(parser.error(Problem::LimitExceeded { unit: "bytes", limit: MAX_LENGTH }));
    }
    let node = parser.expression()?;
    parser.cursor.skip_space();
    match parser.cursor.peek() {
        None => Ok(node),
        Some(_) => Err(match key_with_spaces(&node, parser.cursor.rest(), ids) {
            Some(suggestion) => parser.error(Problem::SpaceInKey { suggestion }),
            None => parser.unexpected("an operator or the end of the expression"),
        }),
    }
}

/// How to write `a.Exchange Rate`: the reference before the space, with the rest of the key in brackets.
fn key_with_spaces(node: &Node, rest: &str, ids: &StepIds<'_>) -> Option<String> {
    let Node::Reference(reference) = node else { return None };
    let (last, before) = reference.path().segments().split_last()?;
    let Segment::Key(start) = last else { return None };
    let words: Vec<&str> = rest.split_whitespace().collect();
    words.iter().all(|word| word.chars().all(is_name_char)).then_some(())?;
    let key = format!("{start} {}", words.join(" "));
    let path: Path = before.iter().cloned().chain([Segment::Key(key)]).collect();
    Some(Reference::new(reference.step().clone(), path, ids).to_string())
}

struct Parser<'t, 'i> {
    cursor: Cursor<'t>,
    ids: &'i StepIds<'i>,
    depth: usize,
    parts: usize,
    /// The names of the items of lists, the innermost last.
    items: Vec<String>,
    /// Where `and`, `or` or `not` stands outside of parentheses.
    logic_at: Option<Cursor<'t>>,
    /// Whether the next value is the right side of `in`.
    is_after_in: bool,
}

impl<'t, 'i> Parser<'t, 'i> {
    fn new(text: &'t str, ids: &'i StepIds<'i>) -> Self {
        Self {
            cursor: Cursor::new(text),
            ids,
            depth: 0,
            parts: 0,
            items: Vec::new(),
            logic_at: None,
            is_after_in: false,
        }
    }

    fn expression(&mut self) -> Parsed<Node> {
        let outer = self.logic_at.take();
        let node = self.binary(Precedence::Coalesce);
        self.logic_at = outer;
        node
    }

    fn binary(&mut self, precedence: Precedence) -> Parsed<Node> {
        let first = self.operand(precedence)?;
        let mut rest = Vec::new();
        while let Some((operator, length)) = self.operator(precedence)? {
            if precedence == Precedence::Comparison && !rest.is_empty() {
                return Err(self.unexpected("a single comparison (comparisons cannot be chained)"));
            }
            if matches!(operator, Operator::And | Operator::Or) {
                self.logic_at.get_or_insert_with(|| self.cursor.clone());
            }
            self.count_part()?;
            self.cursor.take(length);
            self.is_after_in = matches!(operator, Operator::In | Operator::NotIn);
            rest.push((operator, self.operand(precedence)?));
        }
        if precedence == Precedence::Coalesce
            && !rest.is_empty()
            && let Some(at) = self.logic_at.take()
        {
            self.cursor = at;
            return Err(self.error(Problem::CoalesceWithLogic));
        }
        Ok(if rest.is_empty() { first } else { Node::Chain(Box::new(first), rest) })
    }

    fn operand(&mut self, precedence: Precedence) -> Parsed<Node> {
        match precedence.next_higher() {
            Some(Precedence::Comparison) => self.negation(),
            Some(higher) => self.binary(higher),
            None => self.unary(),
        }
    }

    /// Parses `not a == b`, or a comparison.
    fn negation(&mut self) -> Parsed<Node> {
        self.cursor.skip_space();
        let Some(rest) = word(self.cursor.rest(), "not") else { return self.binary(Precedence::Comparison) };
        self.logic_at.get_or_insert_with(|| self.cursor.clone());
        self.count_part()?;
        self.cursor.take(self.cursor.rest().len() - rest.len());
        let inner = self.nested(Self::negation)?;
        Ok(Node::Not(Box::new(inner)))
    }

    /// The next operator and its length, if it has this precedence. The cursor stays before it, so that errors point at it.
    fn operator(&mut self, precedence: Precedence) -> Parsed<Option<(Operator, usize)>> {
        self.cursor.skip_space();
        let rest = self.cursor.rest();
        let mut operators = Operator::ALL.iter().filter(|operator| operator.precedence() == precedence);
        let found = operators.find_map(|operator| Some((*operator, operator.len_at_start(rest)?)));
        if matches!(found, Some((Operator::Subtract, _))) && !self.cursor.is_after_space() {
            return Err(self.error(Problem::MinusWithoutSpace));
        }
        Ok(found)
    }

    fn unary(&mut self) -> Parsed<Node> {
        self.cursor.skip_space();
        self.count_part()?;
        if self.cursor.peek() != Some('-') {
            return self.primary();
        }
        self.cursor.take(1);
        let inner = self.nested(Self::unary)?;
        Ok(Node::Negate(Box::new(inner)))
    }

    fn primary(&mut self) -> Parsed<Node> {
        let is_after_in = std::mem::take(&mut self.is_after_in);
        match self.cursor.peek() {
            Some('(') => {
                let node = self.enclosed("(", ")", "`)`")?;
                self.with_path(node)
            }
            // Nested braces, as in `{{100 * {{a.price}}}}`, act as parentheses.
            Some('{') if self.cursor.rest().starts_with("{{") => self.enclosed("{{", "}}", "`}}`"),
            Some('[') => self.quoted_step_or_list(is_after_in),
            Some('"' | '\'') => self.string().map(|text| Node::Literal(text.into())),
            Some(character) if is_name_char(character) => self.name_or_number(character),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn enclosed(&mut self, open: &str, close: &str, expected: &'static str) -> Parsed<Node> {
        self.cursor.take(open.len());
        let node = self.nested(Self::expression)?;
        self.cursor.skip_space();
        if self.cursor.eat(close) { Ok(node) } else { Err(self.unexpected(expected)) }
    }

    fn with_path(&mut self, node: Node) -> Parsed<Node> {
        let path = self.path()?;
        Ok(if path.is_root() { node } else { Node::Access(Box::new(node), path) })
    }

    fn name_or_number(&mut self, first: char) -> Parsed<Node> {
        let rest = self.cursor.rest();
        let (name, after) = rest.split_at_checked(name_len(rest)).unwrap_or((rest, ""));
        let literal = match name {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            _ => None,
        };
        if let Some(value) = literal {
            self.cursor.take(name.len());
            return Ok(Node::Literal(value));
        }
        if name == "not" {
            return Err(self.unexpected("a value (`not` stands in parentheses here)"));
        }
        if after.starts_with('(') {
            let call = self.call(name)?;
            return self.with_path(call);
        }
        if self.items.iter().any(|item| item == name) {
            self.cursor.take(name.len());
            return Ok(Node::Item(name.to_owned(), self.path()?));
        }
        if let Some(id) = self.ids.longest_prefix_of(rest) {
            self.cursor.take(id.as_str().len());
            let path = self.path()?;
            return Ok(Node::Reference(Reference::new(id.clone(), path, self.ids)));
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        Err(self.unknown_step(name))
    }

    fn unknown_step(&self, found: &str) -> TemplateParseError {
        let (nearest, available) = (self.ids.nearest(found), self.ids.suggestions().to_vec());
        if let Some(item) = self.items.last().filter(|_| nearest.is_none()) {
            return self.error(Problem::UnknownName { found: found.to_owned(), item: item.clone() });
        }
        self.error(Problem::UnknownStep { found: found.to_owned(), nearest, available })
    }

    fn number(&mut self) -> Parsed<Node> {
        let rest = self.cursor.rest();
        let number = number_text(rest);
        let next = rest.get(number.len()..).and_then(|after| after.chars().next());
        if next.is_some_and(is_name_char) {
            return Err(self.unknown_step(rest.get(..name_len(rest)).unwrap_or_default()));
        }
        match Number::parse(number) {
            Ok(parsed) => {
                self.cursor.take(number.len());
                Ok(Node::Literal(parsed.into()))
            }
            Err(error) => Err(self.error(Problem::InvalidLiteral { kind: "number", problem: error.to_string() })),
        }
    }

    fn string(&mut self) -> Parsed<String> {
        let Some(length) = quoted_len(self.cursor.rest()) else {
            let problem = "the closing quote is missing".to_owned();
            return Err(self.error(Problem::InvalidLiteral { kind: "string", problem }));
        };
        let quoted = self.cursor.rest().get(..length).unwrap_or_default();
        let text =
            unquote(quoted).map_err(|problem| self.error(Problem::InvalidLiteral { kind: "string", problem }))?;
        self.cursor.take(length);
        Ok(text)
    }

    fn call(&mut self, name: &str) -> Parsed<Node> {
        let Some(function) = Function::from_word(name) else {
            let nearest = nearest(name, Function::ALL).copied();
            return Err(self.error(Problem::UnknownFunction { found: name.to_owned(), nearest }));
        };
        let start = self.cursor.clone();
        self.cursor.take(name.len() + 1);
        let arguments = self.nested(|parser| parser.arguments(function))?;
        let (expected, range) = function.arity();
        if !range.contains(&arguments.len()) {
            self.cursor = start;
            return Err(self.error(Problem::ArgumentCount { function, expected, found: arguments.len() }));
        }
        Ok(Node::Call(function, arguments))
    }

    fn arguments(&mut self, function: Function) -> Parsed<Vec<Node>> {
        let mut arguments = Vec::new();
        self.cursor.skip_space();
        if self.cursor.eat(")") {
            return Ok(arguments);
        }
        loop {
            let is_for_item = arguments.len() == 1 && function.takes_item_expression();
            arguments.push(if is_for_item { self.for_item(function)? } else { self.expression()? });
            self.cursor.skip_space();
            if self.cursor.eat(")") {
                return Ok(arguments);
            }
            if !self.cursor.eat(",") {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
    }

    /// Parses an argument that is evaluated for each item: `item.price > 5` or `order => order.price > 5`.
    fn for_item(&mut self, function: Function) -> Parsed<Node> {
        self.cursor.skip_space();
        let name = self.item_name()?;
        self.items.push(name.clone());
        let body = self.expression();
        self.items.pop();
        let body = match body? {
            Node::Literal(Value::String(field)) if function.takes_field_name() => {
                Node::Item(name.clone(), Path::root().key(&field))
            }
            other => other,
        };
        Ok(Node::ForItem(name, Box::new(body)))
    }

    /// Reads `order =>` if it comes next; otherwise the item is called `item`.
    fn item_name(&mut self) -> Parsed<String> {
        let rest = self.cursor.rest();
        let (name, after) = rest.split_at_checked(name_len(rest)).unwrap_or((rest, ""));
        let Some(body) = after.trim_start().strip_prefix("=>").filter(|_| !name.is_empty()) else {
            return Ok(ITEM.to_owned());
        };
        let is_reserved = matches!(name, "true" | "false" | "null" | "not");
        if is_reserved || !name.starts_with(char::is_alphabetic) {
            return Err(self.unexpected("a name for the item, which begins with a letter"));
        }
        self.cursor.take(rest.len() - body.len());
        Ok(name.to_owned())
    }

    /// Parses a reference with a quoted step id, `["odd id"].field`, or a list: `["lost", "late"]`.
    ///
    /// One quoted text in brackets that is no id is a list after `in`, and elsewhere if it is not spelled like an id.
    fn quoted_step_or_list(&mut self, is_after_in: bool) -> Parsed<Node> {
        let start = self.cursor.clone();
        self.cursor.take(1);
        self.cursor.skip_space();
        if matches!(self.cursor.peek(), Some('"' | '\'')) {
            let id = self.string()?;
            self.cursor.skip_space();
            if self.cursor.eat("]") {
                if let Some(step) = self.ids.get(&id) {
                    let reference = Reference::new(step.clone(), self.path()?, self.ids);
                    let is_hidden = self.items.iter().any(|item| id.get(..name_len(&id)) == Some(item));
                    return Ok(Node::Reference(if is_hidden { reference.in_quotes() } else { reference }));
                }
                let has_path = matches!(self.cursor.peek(), Some('.' | '['));
                if has_path || (!is_after_in && self.ids.nearest(&id).is_some()) {
                    self.cursor = start;
                    return Err(self.unknown_step(&id));
                }
            }
        }
        self.cursor = start;
        self.cursor.take(1);
        let items = self.nested(Self::list_items)?;
        self.with_path(Node::List(items))
    }

    /// Parses the items of a list and its closing bracket. A comma may follow the last one.
    fn list_items(&mut self) -> Parsed<Vec<Node>> {
        let mut items = Vec::new();
        loop {
            self.cursor.skip_space();
            if self.cursor.eat("]") {
                return Ok(items);
            }
            items.push(self.expression()?);
            self.cursor.skip_space();
            if !self.cursor.eat(",") {
                return if self.cursor.eat("]") { Ok(items) } else { Err(self.unexpected("`,` or `]`")) };
            }
        }
    }

    fn path(&mut self) -> Parsed<Path> {
        let mut path = Path::root();
        loop {
            match self.cursor.peek() {
                Some('.') => {
                    self.cursor.take(1);
                    let length = name_len(self.cursor.rest());
                    if length == 0 {
                        return Err(self.unexpected("a field name"));
                    }
                    path.push_key(self.cursor.take(length));
                }
                Some('[') => {
                    self.cursor.take(1);
                    self.cursor.skip_space();
                    self.bracketed(&mut path)?;
                    self.cursor.skip_space();
                    if !self.cursor.eat("]") {
                        return Err(self.unexpected("`]`"));
                    }
                }
                _ => return Ok(path),
            }
            self.count_part()?;
        }
    }

    fn bracketed(&mut self, path: &mut Path) -> Parsed<()> {
        if matches!(self.cursor.peek(), Some('"' | '\'')) {
            path.push_key(self.string()?);
            return Ok(());
        }
        let rest = self.cursor.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Some(index) = rest.get(..digits).and_then(|digits| digits.parse().ok()) else {
            return Err(self.unexpected("an index from 0 or a quoted key"));
        };
        self.cursor.take(digits);
        path.push_index(index);
        Ok(())
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(Problem::LimitExceeded { unit: "nesting levels", limit: MAX_DEPTH }));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn count_part(&mut self) -> Parsed<()> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(self.error(Problem::LimitExceeded { unit: "parts", limit: MAX_PARTS }));
        }
        Ok(())
    }

    fn unexpected(&self, expected: &'static str) -> TemplateParseError {
        let found = match self.cursor.peek() {
            None => "the end of the expression".to_owned(),
            Some(character) => format!("`{character}`"),
        };
        self.error(Problem::Unexpected { expected, found })
    }

    fn error(&self, problem: Problem) -> TemplateParseError {
        TemplateParseError { path: Path::root(), position: self.cursor.position(), problem }
    }
}

/// The number at the start of a text: digits, an optional fraction and an optional exponent.
fn number_text(text: &str) -> &str {
    let digits = |from: usize| {
        text.get(from..).map_or(0, |rest| rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len())
    };
    let starts = |from: usize, with: &[char]| text.get(from..).is_some_and(|rest| rest.starts_with(with));
    let mut end = digits(0);
    if starts(end, &['.']) && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if starts(end, &['e', 'E']) {
        let sign = usize::from(starts(end + 1, &['+', '-']));
        if digits(end + 1 + sign) > 0 {
            end += 1 + sign + digits(end + 1 + sign);
        }
    }
    text.get(..end).unwrap_or_default()
}
