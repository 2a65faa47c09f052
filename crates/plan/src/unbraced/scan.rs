//! Searches a text for references in other template languages.

use reknit_expressions::{Expression, placeholder_len};

use super::context::ParameterContext;
use super::form::Form;
use super::judge::Meaning;
use super::mention;
use super::operand::{Operand, bracketed, read_path};
use super::source_names::{is_name_char, name_len};
use super::{Certainty, UnbracedFinder, UnbracedReason, UnbracedReference};

/// Longer texts between delimiters are no references.
const MAX_INSIDE: usize = 300;

/// How many closing delimiters are tried: a reference may contain them, as in `[[a.items[0]]]`.
const MAX_CLOSINGS: usize = 3;

/// The delimiters of other template languages. A longer one stands before a shorter one with the same start.
const DELIMITERS: [(&str, &str, Form); 14] = [
    ("<%=", "%>", Form::Delimited),
    ("<%", "%>", Form::Delimited),
    ("{%", "%}", Form::Delimited),
    ("[[", "]]", Form::Delimited),
    ("<<", ">>", Form::Delimited),
    ("${", "}", Form::Delimited),
    ("$(", ")", Form::Delimited),
    ("#{", "}", Form::Delimited),
    ("@{", "}", Form::Delimited),
    ("%{", "}", Form::Delimited),
    ("((", "))", Form::Delimited),
    ("{", "}", Form::Brace),
    ("<", ">", Form::Angle),
    ("[", "]", Form::Bracket),
];

/// The signs that other languages put before a variable.
const SIGILS: [char; 5] = ['$', '@', '#', '%', '&'];

pub(super) struct Scan<'f, 'a, 't> {
    finder: &'f UnbracedFinder<'a>,
    text: &'t str,
    context: &'f ParameterContext<'f>,
    found: Vec<UnbracedReference>,
}

impl<'f, 'a, 't> Scan<'f, 'a, 't> {
    pub(super) fn new(finder: &'f UnbracedFinder<'a>, text: &'t str, context: &'f ParameterContext<'f>) -> Self {
        Self { finder, text, context, found: Vec::new() }
    }

    pub(super) fn run(mut self) -> Vec<UnbracedReference> {
        let mut at = 0;
        while at < self.text.len() {
            at += self.advance(at).max(1);
            at = self.text.ceil_char_boundary(at);
        }
        self.found
    }

    /// Looks at one place and returns how far to go on.
    fn advance(&mut self, at: usize) -> usize {
        let rest = self.rest(at);
        if rest.starts_with("{{") {
            return self.braces(at);
        }
        if rest.starts_with("${{") {
            return self.dollar_before_placeholder(at);
        }
        for (open, close, form) in DELIMITERS {
            if rest.starts_with(open)
                && let Some(len) = self.delimited(at, open, close, form)
            {
                return len;
            }
        }
        let Some(first) = rest.chars().next() else { return 1 };
        let before = self.text.get(..at).and_then(|text| text.chars().next_back());
        let follows_reference = self.found.last().is_some_and(|found| found.range.end == at);
        let is_boundary = follows_reference || !before.is_some_and(|before| is_name_char(before) || before == first);
        if SIGILS.contains(&first) && is_boundary {
            return self.after_sigil(at, first).unwrap_or(1);
        }
        if is_name_char(first) {
            let is_start = !before.is_some_and(|before| ".-/\\@$#%&".contains(before));
            return is_start.then(|| self.bare(at)).flatten().unwrap_or_else(|| name_len(rest));
        }
        first.len_utf8()
    }

    fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    /// Whether a part of the text is all of it.
    fn is_whole(&self, at: usize, len: usize) -> bool {
        self.text.get(at..at + len).is_some_and(|part| part.trim() == self.text.trim())
    }

    /// Two or more opening braces: a placeholder that can be read, an escape, or braces that were doubled once more.
    fn braces(&mut self, at: usize) -> usize {
        let rest = self.rest(at);
        for (open, close) in [("{{{{", "}}}}"), ("{{{", "}}}")] {
            let Some(inside) = rest.strip_prefix(open) else { continue };
            let end = inside.find(close).filter(|end| *end <= MAX_INSIDE);
            if let Some(end) = end
                && let Some(meaning) = inside.get(..end).and_then(|inside| self.finder.meaning(inside))
            {
                let len = open.len() + end + close.len();
                self.judge(at, len, Form::Delimited, &meaning);
                return len;
            }
            if open.len() == 4 {
                // The escape for two braces: what follows is text up to the closing ones.
                return inside.find("}}").map_or(4, |end| 4 + end + 2);
            }
        }
        let Some(inside) = rest.get(2..) else { return 2 };
        let Some(len) = placeholder_len(inside) else { return rest.len() };
        let inside = inside.get(..len).unwrap_or_default();
        if !self.finder.is_expression(inside)
            && let Some(meaning) = self.finder.meaning(inside)
        {
            self.judge(at, len + 4, Form::Placeholder, &meaning);
        } else if rest.get(len + 4..).is_some_and(|after| after.starts_with('}')) && self.is_whole(at, len + 5) {
            let rewrite = Some(format!("{{{{{inside}}}}}"));
            self.add(at..at + len + 5, rewrite, Certainty::Doubtful, UnbracedReason::Unbraced);
        }
        len + 4
    }

    /// `${{a.price}}`: a reference in the language of GitHub Actions, or a price in dollars.
    fn dollar_before_placeholder(&mut self, at: usize) -> usize {
        let Some(inside) = self.rest(at).get(3..) else { return 1 };
        let Some(len) = placeholder_len(inside) else { return 1 };
        let before = self.text.get(..at).and_then(|text| text.chars().next_back());
        // `US${{a.price}}` is a price.
        if before.is_some_and(is_name_char) {
            return 1;
        }
        let inside = inside.get(..len).unwrap_or_default();
        let form = if self.finder.is_expression(inside) { Form::DollarPlaceholder } else { Form::Placeholder };
        if let Some(meaning) = self.finder.meaning(inside) {
            self.judge(at, len + 5, form, &meaning);
        }
        len + 5
    }

    /// A text between delimiters. `None` if it is not a reference.
    fn delimited(&mut self, at: usize, open: &str, close: &str, form: Form) -> Option<usize> {
        let after = self.rest(at).get(open.len()..)?;
        let mut from = 0;
        // A longer text up to the next closing delimiter may be one that is supported.
        let mut unsupported: Option<(usize, Meaning)> = None;
        for _ in 0..MAX_CLOSINGS {
            let found = after.get(from..).and_then(|rest| rest.find(close)).map(|end| from + end);
            let Some(end) = found.filter(|end| *end <= MAX_INSIDE) else { break };
            let inside = after.get(..end)?;
            let len = open.len() + end + close.len();
            if self.is_markup(at, len, form, inside) {
                return None;
            }
            let has_path_after = form == Form::Bracket && self.rest(at + len).starts_with(['.', '[']);
            if has_path_after && self.finder.names.exact(inside.trim()).is_some() {
                self.add(at..at + len, None, Certainty::Doubtful, UnbracedReason::Unsupported);
                return Some(len);
            }
            if let Some(meaning) = self.finder.meaning(inside) {
                if !meaning.is_unsupported {
                    return self.judge(at, len, form, &meaning).then_some(len);
                }
                unsupported = unsupported.or(Some((len, meaning)));
            }
            from = end + 1;
        }
        if let Some((len, meaning)) = unsupported {
            return self.judge(at, len, form, &meaning).then_some(len);
        }
        let end = after.find(close).filter(|end| *end <= MAX_INSIDE)?;
        let inside = after.get(..end)?.trim();
        let len = open.len() + end + close.len();
        self.unknown_name(at, len, form, inside).then_some(len)
    }

    /// Whether the delimiters are HTML or a link: `<b>bold</b>`, `[a](https://…)`.
    fn is_markup(&self, at: usize, len: usize, form: Form, inside: &str) -> bool {
        match form {
            Form::Angle => inside.starts_with(['/', ' ']) || self.text.contains(&format!("</{}>", inside.trim())),
            Form::Bracket => self.rest(at + len).starts_with('('),
            _ => false,
        }
    }

    /// A text between delimiters that is no reference to a step: to a field of one, to a step with another name, or to
    /// what another language calls its last result.
    fn unknown_name(&mut self, at: usize, len: usize, form: Form, inside: &str) -> bool {
        if self.context.is_code(self.text) || inside.is_empty() {
            return false;
        }
        let is_whole = self.is_whole(at, len);
        let field = self.finder.field_of_dependency(inside, self.context);
        let follows = self.rest(at + len);
        let is_generated = form == Form::Angle
            && ["generated", "resource"].contains(&inside.to_ascii_lowercase().as_str())
            && follows.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if let Some(reference) = field.filter(|_| form != Form::Bracket || is_whole) {
            self.add(at..at + len, Some(reference), Certainty::Doubtful, UnbracedReason::Unbraced);
        } else if is_generated
            || mention::speaks_of_step(self.finder, inside, self.context)
            || mention::joins_step_and_field(self.finder, inside, self.context)
            || is_whole && mention::is_position(self.finder, inside, self.context)
        {
            let digits = follows.len() - follows.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit()).len();
            let len = if is_generated { len + digits } else { len };
            self.add(at..at + len, None, Certainty::Doubtful, UnbracedReason::Unsupported);
        } else if self.looks_like_reference(inside, form, is_whole) {
            self.add(at..at + len, None, Certainty::Doubtful, UnbracedReason::UnknownStep);
        } else {
            return false;
        }
        true
    }

    /// Whether a text has the form of a reference to something that is no step.
    fn looks_like_reference(&self, inside: &str, form: Form, is_whole: bool) -> bool {
        let inside = inside.trim_start_matches(['$', '@', '#', '%', '=', '.']).trim();
        let word = inside.get(..name_len(inside)).unwrap_or_default();
        let rest = inside.get(word.len()..).unwrap_or_default();
        let (path, is_unsupported, len) = read_path(rest);
        if word.is_empty() || !word.starts_with(|c: char| c.is_alphabetic() || c == '_') || len < rest.len() {
            return false;
        }
        let has_path = !path.is_root() || is_unsupported;
        let is_near = self.finder.names.nearest(word).is_some();
        match form {
            _ if is_whole && mention::is_framework_word(word) => true,
            Form::Angle | Form::Bracket => has_path && (is_near || mention::is_framework_word(word)),
            Form::Brace => has_path && (is_whole || is_near || mention::is_framework_word(word)),
            _ => is_whole || has_path && (is_near || mention::is_framework_word(word)),
        }
    }

    /// A sign before a name: `$a.price`, `#E1`, `@a.price`, also with the same sign after it.
    fn after_sigil(&mut self, at: usize, sigil: char) -> Option<usize> {
        let rest = self.rest(at);
        // `$.a.price` and `$$.a.price` are paths from a root.
        let start = ["$$.", "$."].into_iter().find(|root| rest.starts_with(root)).map_or(1, str::len);
        let name = rest.get(start..)?;
        if let Some(operand) = self.operand(name, start, rest) {
            let closed = self.is_closed(name.get(operand.len..).unwrap_or_default(), sigil);
            let len = start + operand.len + usize::from(closed);
            let form = match (closed, sigil) {
                (true, _) => Form::Delimited,
                (false, '$') => Form::Dollar,
                (false, _) => Form::Sigil,
            };
            let meaning = Meaning::of_operand(&operand, self.finder);
            return self.judge(at, len, form, &meaning).then_some(len);
        }
        self.unknown_after_sigil(at, sigil, start)
    }

    /// Whether a sign closes a reference. It may open the next one instead: `$a.first$a.last`.
    fn is_closed(&self, after: &str, sigil: char) -> bool {
        let Some(next) = after.strip_prefix(sigil) else { return false };
        let name = next.trim_start_matches('.');
        let opens_next =
            next.starts_with("['") || next.starts_with("[\"") || Operand::read(name, self.finder.names).is_some();
        !opens_next
    }

    /// The reference after a sign. In `$['a'].price` the name is in brackets.
    fn operand(&self, name: &str, start: usize, rest: &str) -> Option<Operand> {
        let is_amount = name.starts_with(|c: char| c.is_ascii_digit())
            && name
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .strip_prefix(['.', ','])
                .is_some_and(|fraction| fraction.starts_with(|c: char| c.is_ascii_digit()));
        if is_amount {
            return None;
        }
        if start == 1 && rest.starts_with("$[") {
            return Operand::read(&format!("steps{name}"), self.finder.names)
                .map(|operand| Operand { len: operand.len - "steps".len(), ..operand });
        }
        Operand::read(name, self.finder.names)
    }

    fn unknown_after_sigil(&mut self, at: usize, sigil: char, start: usize) -> Option<usize> {
        let name = self.rest(at).get(start..)?;
        let word = name.get(..name_len(name)).filter(|word| !word.is_empty())?;
        if self.context.is_code(self.text) {
            return None;
        }
        let (path, is_unsupported, path_len) = read_path(name.get(word.len()..)?);
        let mut len = start + word.len() + path_len;
        let is_call = sigil == '$' && self.rest(at + len).starts_with('(');
        len += usize::from(self.rest(at + len).starts_with(sigil));
        let is_whole = self.is_whole(at, len);
        let has_path = !path.is_root() || is_unsupported;
        let inside = name.get(..word.len() + path_len)?;
        let field = matches!(sigil, '$' | '%').then(|| self.finder.field_of_dependency(inside, self.context)).flatten();
        if let Some(reference) = field.or_else(|| self.finder.numbered_step(word, self.context, sigil)) {
            self.add(at..at + len, Some(reference), Certainty::Doubtful, UnbracedReason::Unbraced);
            return Some(len);
        }
        let is_rewoo = sigil == '#' && word.strip_prefix('E').is_some_and(|digits| digits.parse::<u32>().is_ok());
        let is_root_path = start > 1 && word.starts_with(char::is_alphabetic);
        let is_variable = sigil == '$'
            && (mention::is_framework_word(word) && (has_path || is_call || is_whole)
                || mention::joins_step_and_field(self.finder, inside, self.context)
                || is_whole && mention::is_position(self.finder, word, self.context)
                || has_path && is_whole && word.starts_with(|c: char| c.is_alphabetic())
                || has_path && self.finder.names.nearest(word).is_some());
        if !(is_rewoo || is_variable || is_root_path && (is_whole || has_path)) {
            return None;
        }
        self.add(at..at + len, None, Certainty::Doubtful, UnbracedReason::UnknownStep);
        Some(len)
    }

    /// A name without any sign: `a.price`, `steps.a.output.price`, `results[0].id`, `outputs('a')`.
    fn bare(&mut self, at: usize) -> Option<usize> {
        let rest = self.rest(at);
        if let Some(len) = self.indexed_container(at) {
            return Some(len);
        }
        let operand = Operand::read(rest, self.finder.names)?;
        let len = operand.len;
        if self.rest(at + len).starts_with(|next: char| is_name_char(next) || next == '@') {
            return None;
        }
        let meaning = Meaning::of_operand(&operand, self.finder);
        if self.is_calculation() {
            let rewrite = format!("{{{{{}}}}}", self.text.trim());
            let whole = self.text.len() - at;
            self.found.clear();
            self.add(0..self.text.len(), Some(rewrite), Certainty::Certain, UnbracedReason::Unbraced);
            return Some(whole);
        }
        self.judge(at, len, Form::Bare, &meaning).then_some(len)
    }

    /// Whether the whole text is a calculation over results, for a parameter that takes no text: `100 * a.price`.
    fn is_calculation(&self) -> bool {
        self.context.rejects_strings()
            && Expression::parse_with_ids(self.text, &self.finder.ids)
                .is_ok_and(|expression| expression.as_reference().is_none() && !expression.references().is_empty())
    }

    /// `results[0].id`: a step by its number. `outputs('a')`: a step as an argument.
    fn indexed_container(&mut self, at: usize) -> Option<usize> {
        let rest = self.rest(at);
        let word = rest.get(..name_len(rest))?;
        let after = rest.get(word.len()..)?;
        let called = after.strip_prefix("('").or_else(|| after.strip_prefix("(\""));
        if let Some(argument) = called {
            let name = argument.get(..argument.find(['\'', '"'])?)?;
            self.finder.names.exact(name)?;
            let end = argument.find(')').map_or(argument.len(), |end| end + 1);
            let used = word.len() + 2 + end;
            let (_, _, path) = read_path(rest.get(used..).unwrap_or_default());
            self.add(at..at + used + path, None, Certainty::Doubtful, UnbracedReason::Unsupported);
            return Some(used + path);
        }
        let is_plural = ["steps", "results", "outputs", "tasks", "nodes", "responses"].contains(&word);
        let (super::operand::Bracketed::Index(_), _) = bracketed(after).filter(|_| is_plural)? else { return None };
        if self.finder.names.exact(word).is_some() {
            return None;
        }
        let (_, _, path) = read_path(after);
        self.add(at..at + word.len() + path, None, Certainty::Doubtful, UnbracedReason::Unsupported);
        Some(word.len() + path)
    }

    /// Adds what was found, unless it turns out not to be a reference.
    fn judge(&mut self, at: usize, len: usize, form: Form, meaning: &Meaning) -> bool {
        let is_whole = self.is_whole(at, len);
        let text = self.text.get(at..at + len).unwrap_or_default();
        let Some(certainty) = self.finder.judge(form, meaning, is_whole, text, self.text, self.context) else {
            return false;
        };
        let reason = if meaning.is_unsupported { UnbracedReason::Unsupported } else { UnbracedReason::Unbraced };
        let rewrite = meaning.expression.as_ref().map(|expression| format!("{{{{{expression}}}}}"));
        let range = if is_whole { 0..self.text.len() } else { at..at + len };
        self.add(range, rewrite, certainty, reason);
        true
    }

    fn add(
        &mut self,
        range: std::ops::Range<usize>,
        rewrite: Option<String>,
        certainty: Certainty,
        reason: UnbracedReason,
    ) {
        let text = self.text.get(range.clone()).unwrap_or_default().trim().to_owned();
        self.found.push(UnbracedReference { range, text, rewrite, certainty, reason });
    }
}
