//! Parameters that are resolved but not yet fitted to the schema.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Segment, Value};
use reknit_salvage::{FitProblem, FitProblemKind, Fix, FixKind, Schema};

use crate::fit_parameters::fit_parameters;
use crate::provenance::NestedPart;
use crate::resolve::Resolver;
use crate::{BoundParameters, Provenance, Template, UnboundParameter, UnboundReason, ValueChange};

/// Parameters that are resolved but not yet fitted to the schema.
#[derive(Debug, Default)]
pub(crate) struct UnfittedParameters {
    pub(crate) parameters: Object,
    pub(crate) provenance: Vec<(String, Provenance)>,
    pub(crate) changes: Vec<ValueChange>,
    pub(crate) unbound: Vec<UnboundParameter>,
}

impl UnfittedParameters {
    /// Resolves every parameter. A parameter without a value goes to `unbound`.
    pub(crate) fn resolve<'a>(entries: &'a [(String, Template)], resolver: &mut Resolver<'a>) -> Self {
        let mut unfitted = Self::default();
        for (name, template) in entries {
            match resolver.resolve(template, &mut Path::root().key(name)) {
                Ok((value, provenance)) => {
                    unfitted.parameters.insert(name, value);
                    unfitted.provenance.push((name.clone(), provenance));
                }
                Err(reason) => unfitted.unbound.push(UnboundParameter { parameter: name.clone(), reason }),
            }
        }
        unfitted
    }

    /// Decides what depends on the schema: strings that may be expressions, and nulls from results.
    pub(crate) fn decide_by_schema(&mut self, resolver: &mut Resolver<'_>, schema: &Schema) {
        self.evaluate_calculations(resolver, schema);
        self.unbind_rejected_nulls(resolver, schema);
    }

    /// Evaluates strings that parse as an expression where the schema does not allow a string.
    fn evaluate_calculations(&mut self, resolver: &mut Resolver<'_>, schema: &Schema) {
        let calculations = std::mem::take(&mut resolver.calculations);
        if calculations.is_empty() {
            return;
        }
        let problems = self.problems(schema);
        let rejects_string = |problem: &FitProblem| {
            matches!(problem.kind, FitProblemKind::Type { .. } | FitProblemKind::NoAlternativeFits)
        };
        for (path, expression) in calculations {
            if !problems.iter().any(|problem| problem.path == path && rejects_string(problem)) {
                continue;
            }
            match resolver.expression(expression, &path) {
                Ok((value, provenance)) => self.replace(&path, value, provenance),
                Err(reason) => self.unbind(&path, reason),
            }
        }
    }

    /// Unbinds references that evaluated to null where the schema does not allow null. Fitting would drop them silently.
    fn unbind_rejected_nulls(&mut self, resolver: &mut Resolver<'_>, schema: &Schema) {
        let nulls = std::mem::take(&mut resolver.nulls);
        if nulls.is_empty() {
            return;
        }
        let problems = self.problems(schema);
        for (path, expression) in nulls {
            if problems.iter().any(|problem| problem.path == path) {
                self.unbind(&path, UnboundReason::Null { expression });
            }
        }
    }

    pub(crate) fn problems(&mut self, schema: &Schema) -> Vec<FitProblem> {
        let whole = Value::Object(std::mem::take(&mut self.parameters));
        let problems = schema.problems(&whole);
        self.set_parameters(whole);
        problems
    }

    /// Whether the parameters are one layer around those that the schema wants, as in `{"arguments": {...}}`.
    pub(crate) fn is_envelope(&self, schema: &Schema) -> bool {
        let fitted = fit_parameters(Value::Object(self.parameters.clone()), schema);
        fitted.is_ok_and(|fitted| fitted.fixes.iter().any(is_envelope))
    }

    /// Sets the parameters to a value that is always an object.
    pub(crate) fn set_parameters(&mut self, value: Value) {
        if let Value::Object(parameters) = value {
            self.parameters = parameters;
        }
    }

    fn replace(&mut self, path: &Path, value: Value, provenance: Provenance) {
        let [Segment::Key(name), rest @ ..] = path.segments() else { return };
        let inner: Path = rest.iter().cloned().collect();
        let Some(slot) = self.parameters.get_mut(name).and_then(|parameter| parameter.at_mut(&inner)) else { return };
        let kind = ValueChange::CALCULATION.to_owned();
        self.changes.push(ValueChange { path: path.clone(), kind, before: slot.to_string(), after: value.to_string() });
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

    fn unbind(&mut self, path: &Path, reason: UnboundReason) {
        let Some(Segment::Key(name)) = path.segments().first() else { return };
        if self.unbound.iter().any(|unbound| unbound.parameter == *name) {
            return;
        }
        self.parameters.remove(name);
        self.provenance.retain(|(parameter, _)| parameter != name);
        self.unbound.push(UnboundParameter { parameter: name.clone(), reason });
    }

    /// Fits the parameters to the schema. Fails with the unchanged parameters and the violations.
    pub(crate) fn fit(mut self, schema: &Schema) -> Result<BoundParameters, (BoundParameters, Vec<FitProblem>)> {
        match fit_parameters(Value::Object(std::mem::take(&mut self.parameters)), schema) {
            Ok(fitted) => {
                if fitted.fixes.iter().any(is_envelope) {
                    self.open_envelope(&fitted.value);
                }
                self.rename(&fitted.fixes);
                if fitted.fixes.iter().any(|fix| fix.kind == FixKind::NestedKeys && fix.path.is_root()) {
                    self.join_flat_entries(&fitted.value);
                }
                self.changes.extend(fitted.fixes.into_iter().map(ValueChange::from));
                self.set_parameters(fitted.value);
                let parameters = &self.parameters;
                self.provenance.retain(|(name, _)| parameters.contains_key(name));
                Ok(self.into_bound())
            }
            Err(misfit) => {
                self.set_parameters(misfit.value);
                Err((self.into_bound(), misfit.problems))
            }
        }
    }

    /// Gives the parameters in an envelope the provenance that they had inside of it.
    fn open_envelope(&mut self, inner: &Value) {
        let Value::Object(inner) = inner else { return };
        let layers = std::mem::take(&mut self.provenance);
        for name in inner.keys() {
            let inside = layers.iter().find_map(|(layer, origin)| part_of_layer(layer, origin, name));
            let inside = inside.or_else(|| layers.iter().find_map(|(_, origin)| unnamed_part(origin)));
            self.provenance.push((name.to_owned(), inside.unwrap_or(Provenance::Literal)));
        }
    }

    /// Gives the parameters that were made of flat entries, `address.city`, the provenance of these: of one that is not literal, if
    /// there is any.
    fn join_flat_entries(&mut self, fitted: &Value) {
        let Value::Object(fitted) = fitted else { return };
        let is_flat = |(name, _): &&(String, Provenance)| !fitted.contains_key(name);
        let mut origins = self.provenance.iter().filter(is_flat).map(|(_, origin)| origin);
        let origin = origins.find(|origin| **origin != Provenance::Literal).cloned().unwrap_or(Provenance::Literal);
        for name in fitted.keys() {
            if self.provenance.iter().all(|(known, _)| known != name) {
                self.provenance.push((name.to_owned(), origin.clone()));
            }
        }
    }

    fn rename(&mut self, fixes: &[Fix]) {
        for fix in fixes.iter().filter(|fix| matches!(fix.kind, FixKind::KeySpelling | FixKind::KeyTypo)) {
            let [Segment::Key(name)] = fix.path.segments() else { continue };
            if let Some((old, _)) = self.provenance.iter_mut().find(|(old, _)| *old == fix.before) {
                old.clone_from(name);
            }
        }
    }

    pub(crate) fn into_bound(self) -> BoundParameters {
        BoundParameters { parameters: self.parameters, provenance: self.provenance, changes: self.changes }
    }
}

fn is_envelope(fix: &Fix) -> bool {
    fix.path.is_root() && matches!(fix.kind, FixKind::Envelope | FixKind::NamedValues)
}

/// The provenance of a value in a list of names and values, where no path says which value is whose: that of any value that is
/// not literal.
fn unnamed_part(origin: &Provenance) -> Option<Provenance> {
    let Provenance::Nested { parts } = origin else { return None };
    let is_unnamed = |part: &&NestedPart| matches!(part.path.segments(), [.., Segment::Index(_), Segment::Key(_)]);
    parts.iter().find(is_unnamed).map(|part| part.provenance.clone())
}

/// The provenance of a parameter inside a layer. What was resolved nowhere inside is as it was written.
fn part_of_layer(layer: &str, origin: &Provenance, name: &str) -> Option<Provenance> {
    let Provenance::Nested { parts } = origin else {
        return (*origin != Provenance::Literal).then(|| origin.clone());
    };
    let inside = |part: &NestedPart| match part.path.segments() {
        // There may be further layers inside of the first one.
        [Segment::Key(outer), inner @ ..] if outer == layer => {
            let is_name = |segment: &Segment| matches!(segment, Segment::Key(key) if are_alike(key, name));
            let path: Path = inner.get(inner.iter().position(is_name)?..)?.iter().cloned().collect();
            Some(NestedPart { path, provenance: part.provenance.clone() })
        }
        _ => None,
    };
    let parts: Vec<NestedPart> = parts.iter().filter_map(inside).collect();
    match parts.as_slice() {
        [] => None,
        [NestedPart { path, provenance }] if path.segments().len() == 1 => Some(provenance.clone()),
        _ => Some(Provenance::Nested { parts }),
    }
}
