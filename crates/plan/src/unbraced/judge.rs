//! Decides whether a text in another template language can only be a reference.

use reknit_expressions::Expression;
use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Path, Segment, Value};

use super::context::ParameterContext;
use super::form::Form;
use super::operand::Operand;
use super::source_names::{NameMatch, Source, is_generic_id, name_len};
use super::{Certainty, UnbracedFinder};
use crate::announced::{DeclaredValue, declared_at, declares, field_names, is_result_name, types};

/// What a text means if it is a reference.
#[derive(Debug)]
pub(super) struct Meaning {
    /// The expression to write; `None` if there is none.
    pub(super) expression: Option<String>,
    /// The values that it refers to, at least one.
    targets: Vec<(Source, Path)>,
    matched: NameMatch,
    has_container: bool,
    pub(super) is_unsupported: bool,
}

/// What a tool announces about a value, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Announced {
    OtherFields,
    /// The tool announces nothing.
    Silent,
    WholeResult,
    Field,
}

impl Meaning {
    pub(super) fn of_operand(operand: &Operand, finder: &UnbracedFinder<'_>) -> Self {
        let id = finder.names.id(operand.source);
        let expression = id.map(|id| finder.reference(id, operand.path.clone()).to_string());
        Self {
            expression: expression.filter(|_| !operand.is_unsupported),
            targets: vec![(operand.source, operand.path.clone())],
            matched: operand.matched,
            has_container: operand.has_container,
            is_unsupported: operand.is_unsupported,
        }
    }

    fn unsupported(source: Source) -> Self {
        let targets = vec![(source, Path::root())];
        Self { expression: None, targets, matched: NameMatch::Exact, has_container: false, is_unsupported: true }
    }

    fn has_path(&self) -> bool {
        self.targets.iter().any(|(_, path)| !path.is_root())
    }

    fn has_brackets(&self) -> bool {
        let is_bracket = |segment: &Segment| matches!(segment, Segment::Index(_));
        self.targets.iter().any(|(_, path)| path.segments().iter().any(is_bracket))
    }
}

impl UnbracedFinder<'_> {
    /// Whether the text of a placeholder can be read as it is.
    pub(super) fn is_expression(&self, inside: &str) -> bool {
        self.names.exact(inside.trim()).is_some() || Expression::parse_with_ids(inside, &self.ids).is_ok()
    }

    /// What the text between delimiters means, if it names a step.
    pub(super) fn meaning(&self, inside: &str) -> Option<Meaning> {
        let inside = inside.trim();
        // `$('a')`: the id of a step as a text.
        let quoted = inside.strip_prefix(['\'', '"']).and_then(|name| name.strip_suffix(['\'', '"']));
        if let Some(source) = quoted.and_then(|name| self.names.exact(name)) {
            return Some(Meaning::unsupported(source));
        }
        if let Ok(expression) = Expression::parse_with_ids(inside, &self.ids) {
            let targets: Vec<(Source, Path)> = expression
                .references()
                .iter()
                .filter_map(|reference| Some((self.names.exact(reference.step().as_str())?, reference.path().clone())))
                .collect();
            return (!targets.is_empty()).then(|| Meaning {
                expression: Some(inside.to_owned()),
                targets,
                matched: NameMatch::Exact,
                has_container: false,
                is_unsupported: false,
            });
        }
        let inner = inside.strip_prefix("${").and_then(|inner| inner.strip_suffix('}'));
        let inner = inner.or_else(|| inside.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')));
        let inner = inner.unwrap_or(inside);
        let has_sigil = inner.starts_with(['$', '@', '#', '%', '=']);
        let name = inner.trim_start_matches(['$', '@', '#', '%', '=']).trim_start_matches('.').trim();
        let name = name.strip_suffix('$').unwrap_or(name);
        // `${ a . price }`
        let compact = name.replace(" .", ".").replace(". ", ".");
        let name = if name.contains(" .") { compact.as_str() } else { name };
        let operand = Operand::read(name, self.names)?;
        if operand.len == name.len() {
            return Some(Meaning::of_operand(&operand, self));
        }
        if let Some(meaning) = self.with_spaces_in_keys(name, &operand) {
            return Some(meaning);
        }
        let is_like_reference = !operand.path.is_root() || operand.has_container || has_sigil || operand.is_unsupported;
        let is_first = name.get(operand.len..).is_some_and(|rest| !rest.trim_start().starts_with([':', '=']));
        (is_like_reference && is_first && operand.matched != NameMatch::Alias).then(|| Meaning {
            expression: None,
            is_unsupported: true,
            ..Meaning::of_operand(&operand, self)
        })
    }

    /// `a.Exchange Rate`: an announced field with spaces in its name.
    fn with_spaces_in_keys(&self, name: &str, operand: &Operand) -> Option<Meaning> {
        let id = self.names.id(operand.source)?;
        let keys = name.strip_prefix(id.as_str())?.strip_prefix('.')?;
        let path: Path = keys.split('.').map(|key| Segment::Key(key.trim().to_owned())).collect();
        let schema = self.schema(operand.source)?;
        if !matches!(declared_at(schema, path.segments()), DeclaredValue::Schema(_)) {
            return None;
        }
        let expression = Some(self.reference(id, path.clone()).to_string());
        let targets = vec![(operand.source, path)];
        Some(Meaning { expression, targets, is_unsupported: false, ..Meaning::of_operand(operand, self) })
    }

    fn schema(&self, source: Source) -> Option<&Value> {
        match source {
            Source::Step(index) => self.announced.result_schema(index),
            Source::Inputs => Some(self.announced.of_inputs()),
        }
    }

    /// Whether a source announces a field of this name.
    pub(super) fn has_field(&self, source: Source, name: &str) -> bool {
        !name.is_empty()
            && self.schema(source).is_some_and(|schema| field_names(schema).iter().any(|field| are_alike(field, name)))
    }

    /// What is announced about the values of a reference, the least of them.
    fn announced_of(&self, meaning: &Meaning) -> Announced {
        let each = meaning.targets.iter().map(|(source, path)| self.announced_at(*source, path));
        each.min().unwrap_or(Announced::Silent)
    }

    fn announced_at(&self, source: Source, path: &Path) -> Announced {
        let schema = self.schema(source).filter(|schema| !field_names(schema).is_empty());
        let is_declared = |key: &str| schema.is_some_and(|schema| declares(schema, key));
        let is_layer =
            |segment: &Segment| matches!(segment, Segment::Key(key) if is_result_name(key) && !is_declared(key));
        let fields: Vec<&Segment> = path.segments().iter().skip_while(|segment| is_layer(segment)).collect();
        let Some(first) = fields.first() else { return Announced::WholeResult };
        let Some(schema) = schema else { return Announced::Silent };
        match (declared_at(schema, path.segments()), first) {
            (DeclaredValue::Schema(_), _) => Announced::Field,
            (DeclaredValue::Open, Segment::Key(key)) if is_declared(key) => Announced::Field,
            _ => Announced::OtherFields,
        }
    }

    /// How certain it is that a text is a reference; `None` if the text is not one.
    pub(super) fn judge(
        &self,
        form: Form,
        meaning: &Meaning,
        is_whole: bool,
        part: &str,
        text: &str,
        context: &ParameterContext<'_>,
    ) -> Option<Certainty> {
        let announced = self.announced_of(meaning);
        let source = meaning.targets.first().map(|(source, _)| *source)?;
        let certainty = match form {
            Form::Bare => self.judge_bare(meaning, announced, is_whole, part, context)?,
            Form::DollarPlaceholder => self.judge_dollar(meaning, is_whole, context),
            Form::Sigil if !meaning.has_path() && !self.is_generic(source) => {
                // A hashtag or a person, unless the step is one that this step waits for.
                return matches!(source, Source::Step(index) if context.depends_on(index))
                    .then_some(Certainty::Doubtful);
            }
            Form::Bracket if !meaning.has_path() && !is_whole => return None,
            Form::Angle | Form::Bracket => certain_if(meaning.has_path() && announced == Announced::Field),
            Form::Sigil => certain_if(match announced {
                Announced::Field => true,
                Announced::WholeResult | Announced::Silent => is_whole,
                Announced::OtherFields => false,
            }),
            Form::Dollar if self.is_number(source) => certain_if(match source {
                Source::Step(index) => {
                    is_whole && context.depends_on(index) || meaning.has_path() && announced == Announced::Field
                }
                Source::Inputs => false,
            }),
            Form::Dollar => certain_if(announced != Announced::OtherFields),
            Form::Delimited | Form::Brace | Form::Placeholder => Certainty::Certain,
        };
        let is_own = matches!(source, Source::Step(index) if index == context.step);
        let is_doubtful = meaning.expression.is_none()
            || is_own
            || meaning.matched == NameMatch::Alias
            || meaning.matched == NameMatch::Alike && announced != Announced::Field
            || context.is_code(text);
        // The check reports an expression that cannot be read itself.
        if is_doubtful && form == Form::Placeholder {
            return None;
        }
        Some(if is_doubtful { Certainty::Doubtful } else { certainty })
    }

    /// A name without any sign counts only if more than the name speaks for a reference.
    fn judge_bare(
        &self,
        meaning: &Meaning,
        announced: Announced,
        is_whole: bool,
        part: &str,
        context: &ParameterContext<'_>,
    ) -> Option<Certainty> {
        let (source, _) = meaning.targets.first()?;
        let is_dependency = match source {
            Source::Step(index) => context.depends_on(*index),
            Source::Inputs => true,
        };
        if !meaning.has_path() && !meaning.is_unsupported {
            let is_meant = is_whole && (meaning.has_container || is_dependency && self.is_generic(*source));
            return (is_meant && meaning.matched == NameMatch::Exact).then_some(Certainty::Doubtful);
        }
        if meaning.matched == NameMatch::Alias {
            return (is_whole && is_dependency).then_some(Certainty::Doubtful);
        }
        let is_strong = meaning.has_container || meaning.has_brackets() || part.contains('[');
        match announced {
            _ if meaning.is_unsupported => (is_strong || is_dependency || is_whole).then_some(Certainty::Doubtful),
            Announced::Field | Announced::WholeResult => {
                Some(certain_if(is_whole && (is_strong || !context.has_dotted_names())))
            }
            Announced::Silent if is_strong => Some(certain_if(is_whole)),
            Announced::OtherFields if is_strong || self.starts_with_field(meaning) => Some(Certainty::Doubtful),
            Announced::Silent | Announced::OtherFields => {
                (is_whole && is_dependency && !is_file_or_address(part)).then_some(Certainty::Doubtful)
            }
        }
    }

    /// `${{a.price}}` is a reference if no dollar sign can be meant. Otherwise it may be a price in dollars.
    fn judge_dollar(&self, meaning: &Meaning, is_whole: bool, context: &ParameterContext<'_>) -> Certainty {
        if is_whole && context.rejects_strings() {
            return Certainty::Certain;
        }
        let Some((source, path)) = meaning.targets.first() else { return Certainty::Doubtful };
        let declared = self.schema(*source).map(|schema| declared_at(schema, path.segments()));
        let types = match &declared {
            Some(DeclaredValue::Schema(schema)) => types(schema),
            _ => Vec::new(),
        };
        certain_if(types == ["string"])
    }

    /// Whether a key of the path is an announced field before a hyphen: `a.code-1`.
    fn starts_with_field(&self, meaning: &Meaning) -> bool {
        meaning.targets.iter().any(|(source, path)| {
            let mut starts = path.segments().iter().filter_map(|segment| match segment {
                Segment::Key(key) => key.split_once('-').map(|(start, _)| start),
                Segment::Index(_) => None,
            });
            self.schema(*source).is_some_and(|schema| starts.any(|start| declares(schema, start)))
        })
    }

    fn is_generic(&self, source: Source) -> bool {
        self.names.id(source).is_some_and(|id| is_generic_id(id.as_str()) || self.is_number(source))
    }

    fn is_number(&self, source: Source) -> bool {
        self.names.id(source).is_some_and(|id| id.as_str().bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// The reference that is meant if a text names only a field: `{price}` in a step that depends on `quote`.
    pub(super) fn field_of_dependency(&self, inside: &str, context: &ParameterContext<'_>) -> Option<String> {
        let inside = inside.trim().trim_start_matches('$');
        let word = inside.get(..name_len(inside)).filter(|word| !word.is_empty())?;
        if word.len() < inside.len() && !inside.get(word.len()..)?.starts_with(['.', '[']) {
            return None;
        }
        let input = self.names.exact(crate::INPUTS);
        let of_steps = context.nearby.iter().map(|index| Source::Step(*index));
        let found = of_steps.chain(input).find_map(|source| {
            let start = word.split_once('-').map_or(word, |(start, _)| start);
            let is_meant = |field: &&str| are_alike(field, word) || are_alike(field, start);
            let field = field_names(self.schema(source)?).into_iter().find(is_meant)?;
            Some((self.names.id(source)?, field))
        });
        let (id, field) = found?;
        Some(format!("{{{{{}}}}}", self.reference(id, Path::root().key(field))))
    }

    /// The step that a number stands for: `$1` or `#E1` in a plan with the step `step-1`.
    pub(super) fn numbered_step(&self, word: &str, context: &ParameterContext<'_>, sigil: char) -> Option<String> {
        let digits = match sigil {
            '#' => word.strip_prefix('E').unwrap_or(word),
            '$' => word,
            _ => return None,
        };
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
        let source = self.names.numbered(digits)?;
        let Source::Step(index) = source else { return None };
        (word.starts_with('E') || context.depends_on(index)).then_some(())?;
        Some(format!("{{{{{}}}}}", self.reference(self.names.id(source)?, Path::root())))
    }
}

fn certain_if(is_certain: bool) -> Certainty {
    if is_certain { Certainty::Certain } else { Certainty::Doubtful }
}

/// Whether a text with a dot is more likely the name of a file or of a machine.
fn is_file_or_address(text: &str) -> bool {
    const ENDINGS: [&str; 43] = [
        "csv", "json", "txt", "pdf", "xml", "html", "htm", "md", "yaml", "yml", "doc", "docx", "xls", "xlsx", "ppt",
        "pptx", "png", "jpg", "jpeg", "gif", "svg", "mp3", "mp4", "wav", "zip", "gz", "tar", "log", "sql", "py", "js",
        "ts", "rs", "go", "sh", "com", "org", "net", "io", "de", "uk", "dev", "ai",
    ];
    text.rsplit('.').next().is_some_and(|ending| ENDINGS.contains(&ending.to_ascii_lowercase().as_str()))
}
