//! From text to expression.

use reknit_protocol::{Number, Path, Value};

use super::cursor::Cursor;
use super::quoted::{quoted_len, unquote};
use super::{Function, Level, Node, Operator};
use crate::error::TemplateProblem as Problem;
use crate::ids::{Ids, is_name_letter, name_len};
use crate::{Reference, TemplateError};
use reknit_protocol::spelling::nearest;

/// How long a text may be: far more than anyone writes, little enough to read in no time.
const MAX_LENGTH: usize = 64 * 1024;

/// How deep parentheses, calls and signs may be nested: evaluation goes as deep.
const MAX_DEPTH: usize = 48;

/// How many values, references, operators and calls there may be.
const MAX_PARTS: usize = 2000;

type Parsed<T> = Result<T, TemplateError>;

pub(super) fn parse(text: &str, ids: &Ids<'_>) -> Parsed<Node> {
    let mut parser = Parser { cursor: Cursor::new(text), ids, depth: 0, parts: 0 };
    if text.len() > MAX_LENGTH {
        return Err(parser.error(Problem::TooMuch { of: "bytes", limit: MAX_LENGTH }));
    }
    let node = parser.chain(Level::Otherwise)?;
    parser.cursor.skip_space();
    match parser.cursor.peek() {
        None => Ok(node),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'t, 'i> {
    cursor: Cursor<'t>,
    ids: &'i Ids<'i>,
    depth: usize,
    parts: usize,
}

impl Parser<'_, '_> {
    fn chain(&mut self, level: Level) -> Parsed<Node> {
        let first = self.operand(level)?;
        let mut rest = Vec::new();
        while let Some(operator) = self.operator(level)? {
            if level == Level::Compare && !rest.is_empty() {
                return Err(self.unexpected("one comparison at a time"));
            }
            self.count()?;
            self.cursor.take(operator.as_str().len());
            rest.push((operator, self.operand(level)?));
        }
        Ok(if rest.is_empty() { first } else { Node::Chain(Box::new(first), rest) })
    }

    fn operand(&mut self, level: Level) -> Parsed<Node> {
        match level.tighter() {
            Some(tighter) => self.chain(tighter),
            None => self.signed(),
        }
    }

    /// The operator of this level that stands here. It is not read yet, so that errors point at it.
    fn operator(&mut self, level: Level) -> Parsed<Option<Operator>> {
        self.cursor.skip_space();
        let rest = self.cursor.rest();
        let found = level.operators().iter().copied().find(|operator| rest.starts_with(operator.as_str()));
        if found == Some(Operator::Subtract) && !self.cursor.is_after_space() {
            return Err(self.error(Problem::TightMinus));
        }
        Ok(found)
    }

    fn signed(&mut self) -> Parsed<Node> {
        self.cursor.skip_space();
        self.count()?;
        if self.cursor.peek() != Some('-') {
            return self.single();
        }
        self.cursor.take(1);
        let inner = self.nested(Self::signed)?;
        Ok(Node::Negate(Box::new(inner)))
    }

    fn single(&mut self) -> Parsed<Node> {
        match self.cursor.peek() {
            Some('(') => {
                let node = self.enclosed("(", ")", "`)`")?;
                self.inside(node)
            }
            // Braces inside braces, `{{100 * {{a.price}}}}`, can only mean what parentheses do.
            Some('{') if self.cursor.rest().starts_with("{{") => self.enclosed("{{", "}}", "`}}`"),
            Some('[') => self.quoted_step(),
            Some('"' | '\'') => self.text().map(|text| Node::Literal(text.into())),
            Some(letter) if is_name_letter(letter) => self.name_or_number(letter),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn enclosed(&mut self, open: &str, close: &str, expected: &'static str) -> Parsed<Node> {
        self.cursor.take(open.len());
        let node = self.nested(|parser| parser.chain(Level::Otherwise))?;
        self.cursor.skip_space();
        if self.cursor.eat(close) { Ok(node) } else { Err(self.unexpected(expected)) }
    }

    /// The node, or the place in it that is named behind it.
    fn inside(&mut self, node: Node) -> Parsed<Node> {
        let path = self.path()?;
        Ok(if path.is_root() { node } else { Node::Inside(Box::new(node), path) })
    }

    fn name_or_number(&mut self, first: char) -> Parsed<Node> {
        let rest = self.cursor.rest();
        let (name, behind) = rest.split_at_checked(name_len(rest)).unwrap_or((rest, ""));
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
        if behind.starts_with('(') {
            let call = self.call(name)?;
            return self.inside(call);
        }
        if let Some(id) = self.ids.at_start_of(rest) {
            self.cursor.take(id.as_str().len());
            let path = self.path()?;
            return Ok(Node::Reference(Reference::new(id.clone(), path, self.ids)));
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        Err(self.unknown_step(name))
    }

    fn unknown_step(&self, found: &str) -> TemplateError {
        let (nearest, available) = (self.ids.nearest(found), self.ids.some().to_vec());
        self.error(Problem::UnknownStep { found: found.to_owned(), nearest, available })
    }

    fn number(&mut self) -> Parsed<Node> {
        let rest = self.cursor.rest();
        let number = number_text(rest);
        let next = rest.get(number.len()..).and_then(|behind| behind.chars().next());
        if next.is_some_and(is_name_letter) {
            return Err(self.unknown_step(rest.get(..name_len(rest)).unwrap_or_default()));
        }
        match Number::parse(number) {
            Ok(parsed) => {
                self.cursor.take(number.len());
                Ok(Node::Literal(parsed.into()))
            }
            Err(error) => Err(self.error(Problem::BadLiteral { what: "the number", problem: error.to_string() })),
        }
    }

    fn text(&mut self) -> Parsed<String> {
        let Some(length) = quoted_len(self.cursor.rest()) else {
            return Err(
                self.error(Problem::BadLiteral { what: "the text", problem: "its quote is missing".to_owned() })
            );
        };
        let quoted = self.cursor.rest().get(..length).unwrap_or_default();
        let text = unquote(quoted).map_err(|problem| self.error(Problem::BadLiteral { what: "the text", problem }))?;
        self.cursor.take(length);
        Ok(text)
    }

    fn call(&mut self, name: &str) -> Parsed<Node> {
        let Some(function) = Function::from_name(name) else {
            let nearest = nearest(name, Function::ALL);
            return Err(self.error(Problem::UnknownFunction { found: name.to_owned(), nearest }));
        };
        let start = self.cursor.clone();
        self.cursor.take(name.len() + 1);
        let arguments = self.nested(Self::arguments)?;
        let (expected, range) = function.arguments();
        if !range.contains(&arguments.len()) {
            self.cursor = start;
            return Err(self.error(Problem::Arguments { function, expected, found: arguments.len() }));
        }
        Ok(Node::Call(function, arguments))
    }

    /// What stands between the parentheses of a call, with the closing one.
    fn arguments(&mut self) -> Parsed<Vec<Node>> {
        let mut arguments = Vec::new();
        self.cursor.skip_space();
        if self.cursor.eat(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.chain(Level::Otherwise)?);
            self.cursor.skip_space();
            if self.cursor.eat(")") {
                return Ok(arguments);
            }
            if !self.cursor.eat(",") {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
    }

    /// `["odd id"].field`.
    fn quoted_step(&mut self) -> Parsed<Node> {
        let start = self.cursor.clone();
        self.cursor.take(1);
        self.cursor.skip_space();
        if !matches!(self.cursor.peek(), Some('"' | '\'')) {
            return Err(self.unexpected("the id of a step in quotes"));
        }
        let id = self.text()?;
        self.close_bracket()?;
        let Some(step) = self.ids.exactly(&id) else {
            self.cursor = start;
            return Err(self.unknown_step(&id));
        };
        let path = self.path()?;
        Ok(Node::Reference(Reference::new(step.clone(), path, self.ids)))
    }

    /// The fields and items behind the id of a step.
    fn path(&mut self) -> Parsed<Path> {
        let mut path = Path::root();
        loop {
            match self.cursor.peek() {
                Some('.') => {
                    self.cursor.take(1);
                    let length = name_len(self.cursor.rest());
                    if length == 0 {
                        return Err(self.unexpected("the name of a field"));
                    }
                    path.push_key(self.cursor.take(length));
                }
                Some('[') => {
                    self.cursor.take(1);
                    self.cursor.skip_space();
                    self.bracketed(&mut path)?;
                    self.close_bracket()?;
                }
                _ => return Ok(path),
            }
            self.count()?;
        }
    }

    fn bracketed(&mut self, path: &mut Path) -> Parsed<()> {
        if matches!(self.cursor.peek(), Some('"' | '\'')) {
            path.push_key(self.text()?);
            return Ok(());
        }
        let rest = self.cursor.rest();
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let Some(index) = rest.get(..digits).and_then(|digits| digits.parse().ok()) else {
            return Err(self.unexpected("a position from 0, or a key in quotes"));
        };
        self.cursor.take(digits);
        path.push_index(index);
        Ok(())
    }

    fn close_bracket(&mut self) -> Parsed<()> {
        self.cursor.skip_space();
        if self.cursor.eat("]") { Ok(()) } else { Err(self.unexpected("`]`")) }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(Problem::TooMuch { of: "levels", limit: MAX_DEPTH }));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn count(&mut self) -> Parsed<()> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(self.error(Problem::TooMuch { of: "parts", limit: MAX_PARTS }));
        }
        Ok(())
    }

    fn unexpected(&self, expected: &'static str) -> TemplateError {
        let found = match self.cursor.peek() {
            None => "the end".to_owned(),
            Some(letter) => format!("`{letter}`"),
        };
        self.error(Problem::Unexpected { expected, found })
    }

    fn error(&self, problem: Problem) -> TemplateError {
        TemplateError { path: Path::root(), position: self.cursor.position(), problem }
    }
}

/// The longest start of the text that may be a number: digits, with a fraction, with an exponent.
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
