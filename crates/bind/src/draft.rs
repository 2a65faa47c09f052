//! Parameters on their way from templates to a call.

use reknit_protocol::{Object, Path, Segment, Value};
use reknit_salvage::{Fix, FixKind, Problem, ProblemKind, Schema, fit};

use crate::provenance::NestedPart;
use crate::resolve::Resolver;
use crate::{Bound, Change, Provenance, Reason, Template, Unbound};

/// Parameters that are resolved, but not yet known to fit.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) parameters: Object,
    pub(crate) provenance: Vec<(String, Provenance)>,
    pub(crate) changes: Vec<Change>,
    pub(crate) unbound: Vec<Unbound>,
}

impl Draft {
    /// Resolves every parameter; those that have no value are among the unbound.
    pub(crate) fn resolve<'a>(entries: &'a [(String, Template)], resolver: &mut Resolver<'a>) -> Self {
        let mut draft = Self::default();
        for (name, template) in entries {
            match resolver.resolve(template, &mut Path::root().key(name)) {
                Ok((value, provenance)) => {
                    draft.parameters.insert(name, value);
                    draft.provenance.push((name.clone(), provenance));
                }
                Err(reason) => draft.unbound.push(Unbound { parameter: name.clone(), reason }),
            }
        }
        draft
    }

    /// Looks again at what only the schema can decide: texts that may be calculations, and nulls from results.
    pub(crate) fn settle(&mut self, resolver: &mut Resolver<'_>, schema: &Schema) {
        self.settle_calculations(resolver, schema);
        self.settle_nulls(resolver, schema);
    }

    /// A text that can be read as a calculation is one where no text is wanted.
    fn settle_calculations(&mut self, resolver: &mut Resolver<'_>, schema: &Schema) {
        let calculations = std::mem::take(&mut resolver.calculations);
        if calculations.is_empty() {
            return;
        }
        let problems = self.problems(schema);
        let refuses_text = |problem: &Problem| matches!(problem.kind, ProblemKind::Type { .. } | ProblemKind::NoBranch);
        for (path, expression) in calculations {
            if !problems.iter().any(|problem| problem.path == path && refuses_text(problem)) {
                continue;
            }
            match resolver.expression(expression, &path) {
                Ok((value, provenance)) => {
                    if value.is_null() {
                        resolver.nulls.push((path.clone(), expression.to_string()));
                    }
                    self.replace(&path, value, provenance);
                }
                Err(reason) => self.unbind(&path, reason),
            }
        }
    }

    /// A null that the plan has asked for is not an option to drop: it is kept where it fits, and unbound elsewhere.
    fn settle_nulls(&mut self, resolver: &mut Resolver<'_>, schema: &Schema) {
        let nulls = std::mem::take(&mut resolver.nulls);
        if nulls.is_empty() {
            return;
        }
        let problems = self.problems(schema);
        for (path, what) in nulls {
            if problems.iter().any(|problem| problem.path == path) {
                self.unbind(&path, Reason::Null { what });
            }
        }
    }

    /// What is wrong with the parameters as they are.
    pub(crate) fn problems(&mut self, schema: &Schema) -> Vec<Problem> {
        let whole = Value::Object(std::mem::take(&mut self.parameters));
        let problems = schema.problems(&whole);
        if let Value::Object(parameters) = whole {
            self.parameters = parameters;
        }
        problems
    }

    /// Puts the result of a calculation where its text stood.
    fn replace(&mut self, path: &Path, value: Value, provenance: Provenance) {
        let [Segment::Key(name), rest @ ..] = path.segments() else { return };
        let inner: Path = rest.iter().cloned().collect();
        let Some(slot) = self.parameters.get_mut(name).and_then(|parameter| parameter.at_mut(&inner)) else { return };
        let kind = Change::CALCULATION.to_owned();
        self.changes.push(Change { path: path.clone(), kind, before: slot.to_string(), after: value.to_string() });
        *slot = value;
        let Some((_, whole)) = self.provenance.iter_mut().find(|(parameter, _)| parameter == name) else { return };
        match whole {
            Provenance::Nested { parts } if !inner.is_root() => {
                parts.retain(|part| part.path != *path);
                parts.push(NestedPart { path: path.clone(), provenance });
            }
            _ => *whole = provenance,
        }
    }

    fn unbind(&mut self, path: &Path, reason: Reason) {
        let Some(Segment::Key(name)) = path.segments().first() else { return };
        if self.unbound.iter().any(|unbound| unbound.parameter == *name) {
            return;
        }
        self.parameters.remove(name);
        self.provenance.retain(|(parameter, _)| parameter != name);
        self.unbound.push(Unbound { parameter: name.clone(), reason });
    }

    /// Fits the whole to the schema; gives back the problems if that cannot be done.
    pub(crate) fn fit(mut self, schema: &Schema) -> Result<Bound, (Bound, Vec<Problem>)> {
        match fit(Value::Object(std::mem::take(&mut self.parameters)), schema) {
            Ok(fitted) => {
                self.rename(&fitted.fixes);
                self.changes.extend(fitted.fixes.into_iter().map(Change::from));
                // An object stays one: fitting changes what is in it.
                if let Value::Object(object) = fitted.value {
                    self.parameters = object;
                }
                let parameters = &self.parameters;
                self.provenance.retain(|(name, _)| parameters.contains_key(name));
                Ok(self.into_bound())
            }
            Err(misfit) => {
                if let Value::Object(object) = misfit.value {
                    self.parameters = object;
                }
                Err((self.into_bound(), misfit.problems))
            }
        }
    }

    /// Follows parameters to the names that fitting gave them.
    fn rename(&mut self, fixes: &[Fix]) {
        for fix in fixes.iter().filter(|fix| fix.kind == FixKind::KeySpelling) {
            let [Segment::Key(name)] = fix.path.segments() else { continue };
            if let Some((old, _)) = self.provenance.iter_mut().find(|(old, _)| *old == fix.before) {
                old.clone_from(name);
            }
        }
    }

    pub(crate) fn into_bound(self) -> Bound {
        Bound { parameters: self.parameters, provenance: self.provenance, changes: self.changes }
    }
}
