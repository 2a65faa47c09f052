//! The parameters of a step, parsed once.

use reknit_protocol::{Object, Path, StepId};

use crate::ids::Ids;
use crate::{ParametersError, Reference, Template};

/// The parameters of a step as the plan has them, parsed once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parameters {
    pub(crate) entries: Vec<(String, Template)>,
}

impl Parameters {
    /// Reads the parameters of a step whose references are to the steps in `ids`.
    ///
    /// Fails with everything that is wrong, so that a plan can be mended at once.
    pub fn parse(parameters: &Object, ids: &[StepId]) -> Result<Self, ParametersError> {
        Self::parse_among(parameters, &Ids::new(ids))
    }

    /// The same with ids that were prepared before: for plans of many steps.
    pub fn parse_among(parameters: &Object, ids: &Ids<'_>) -> Result<Self, ParametersError> {
        let mut entries = Vec::with_capacity(parameters.len());
        let mut errors = Vec::new();
        for (name, value) in parameters {
            match Template::parse_at(value, ids, &mut Path::root().key(name)) {
                Ok(template) => entries.push((name.to_owned(), template)),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(Self { entries }) } else { Err(ParametersError { errors }) }
    }

    /// Parameters that are values as they are: braces in them mean nothing.
    pub fn literal(parameters: &Object) -> Self {
        let entries = parameters.iter().map(|(name, value)| (name.to_owned(), Template::Literal(value.clone())));
        Self { entries: entries.collect() }
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// The names with what stands for their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Template)> {
        self.entries.iter().map(|(name, template)| (name.as_str(), template))
    }

    /// What stands for the value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Template> {
        self.iter().find(|(other, _)| *other == name).map(|(_, template)| template)
    }

    /// Puts something in the place of a parameter, or adds it.
    pub(crate) fn set(&mut self, name: &str, template: Template) {
        match self.entries.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = template,
            None => self.entries.push((name.to_owned(), template)),
        }
    }

    /// The references in them, in order.
    pub fn references(&self) -> Vec<&Reference> {
        self.entries.iter().flat_map(|(_, template)| template.references()).collect()
    }

    /// The steps whose results they need, each once, in the order they come up.
    pub fn steps(&self) -> Vec<StepId> {
        let mut steps: Vec<StepId> = Vec::new();
        for reference in self.references() {
            if !steps.contains(reference.step()) {
                steps.push(reference.step().clone());
            }
        }
        steps
    }
}
