//! The parsed parameters of a step.

use reknit_protocol::{Object, Path, StepId};

use crate::step_ids::StepIds;
use crate::{ParametersError, Reference, Template};

/// The parameters of a step as the plan writes them, parsed into templates.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parameters {
    pub(crate) entries: Vec<(String, Template)>,
}

impl Parameters {
    /// Parses the parameters of a step. References may name the steps in `ids`.
    ///
    /// Fails with every error, so that a plan can be corrected in one pass.
    pub fn parse(parameters: &Object, ids: &[StepId]) -> Result<Self, ParametersError> {
        Self::parse_with_ids(parameters, &StepIds::new(ids))
    }

    /// Like [`Parameters::parse`], with ids that were indexed once for all steps of a plan.
    pub fn parse_with_ids(parameters: &Object, ids: &StepIds<'_>) -> Result<Self, ParametersError> {
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

    /// Creates parameters from literal values. Braces in them have no meaning.
    pub fn literal(parameters: &Object) -> Self {
        let entries = parameters.iter().map(|(name, value)| (name.to_owned(), Template::Literal(value.clone())));
        Self { entries: entries.collect() }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Template)> {
        self.entries.iter().map(|(name, template)| (name.as_str(), template))
    }

    pub fn get(&self, name: &str) -> Option<&Template> {
        self.iter().find(|(other, _)| *other == name).map(|(_, template)| template)
    }

    pub(crate) fn set(&mut self, name: &str, template: Template) {
        match self.entries.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = template,
            None => self.entries.push((name.to_owned(), template)),
        }
    }

    pub fn references(&self) -> Vec<&Reference> {
        self.entries.iter().flat_map(|(_, template)| template.references()).collect()
    }

    /// The steps whose results the parameters need, each once, in order of first use.
    pub fn referenced_steps(&self) -> Vec<StepId> {
        let mut steps: Vec<StepId> = Vec::new();
        for reference in self.references() {
            if !steps.contains(reference.step()) {
                steps.push(reference.step().clone());
            }
        }
        steps
    }
}
