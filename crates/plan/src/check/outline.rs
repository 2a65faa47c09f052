//! A plan as the check sees it: templates parsed, and who needs whom.

use std::collections::{HashMap, HashSet};

use reknit_bind::{Expression, Ids, Parameters, TemplateError, TemplateProblem};
use reknit_protocol::spelling::nearest;
use reknit_protocol::{Object, Plan, Segment, Step, StepId};

use super::{Code, MOST_STEPS, PlanPlace, PlanProblem};
use crate::INPUTS;
use crate::hint::suggestion;

/// The most ids that a wrong one is compared with: the hints for thousands of slips must not take minutes.
const MOST_COMPARED: usize = 1_000;

/// A plan with its templates parsed.
pub(super) struct Outline<'p> {
    plan: &'p Plan,
    ids: Vec<StepId>,
    at: HashMap<&'p str, usize>,
    drawn: Vec<Drawn>,
    outputs: Vec<(String, Expression)>,
}

/// What a step says, as far as it can be read.
pub(super) struct Drawn {
    /// The parameters that can be read.
    pub(super) parameters: Parameters,
    /// The other steps it needs, each once.
    pub(super) needs: Vec<Need>,
}

/// A step that another one needs.
pub(super) struct Need {
    /// Its position in the plan.
    pub(super) at: usize,
    pub(super) why: Why,
}

/// Why a step needs another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// The plan says so.
    Told,
    /// A parameter refers to its result.
    Reads,
}

impl<'p> Outline<'p> {
    /// Reads the plan; what cannot be read is a problem and left out.
    pub(super) fn draw(plan: &'p Plan) -> Result<(Self, Vec<PlanProblem>), Vec<PlanProblem>> {
        if plan.steps.len() > MOST_STEPS {
            let message = format!("it has {} steps; {MOST_STEPS} are the most", plan.steps.len());
            return Err(vec![PlanProblem::new(Code::TooManySteps, PlanPlace::plan().key("steps"), message)]);
        }
        let ids: Vec<StepId> = plan.steps.iter().map(|step| step.step_id.clone()).collect();
        // What templates may refer to: the steps, and the inputs if there are any.
        let mut sources = ids.clone();
        if !plan.inputs.is_empty() {
            sources.push(INPUTS.into());
        }
        let mut outline = Self { plan, ids, at: HashMap::new(), drawn: Vec::new(), outputs: Vec::new() };
        for (index, step) in plan.steps.iter().enumerate() {
            outline.at.entry(step.step_id.as_str()).or_insert(index);
        }
        let mut problems = outline.check_ids();
        let prepared = Ids::new(&sources);
        for (index, step) in plan.steps.iter().enumerate() {
            let place = PlanPlace::step(index, &step.step_id);
            let parameters = Self::read_parameters(step, &prepared, &place, &mut problems);
            let needs = outline.find_needs(step, &parameters, &place, &mut problems);
            outline.drawn.push(Drawn { parameters, needs });
        }
        outline.read_outputs(&prepared, &mut problems);
        Ok((outline, problems))
    }

    /// The plan itself.
    pub(super) fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// What the plan gives, as far as it can be read.
    pub(super) fn outputs(&self) -> &[(String, Expression)] {
        &self.outputs
    }

    /// The steps, in order.
    pub(super) fn steps(&self) -> impl Iterator<Item = (PlanPlace, &'p Step, &Drawn)> {
        let steps = self.plan.steps.iter().zip(&self.drawn).enumerate();
        steps.map(|(index, (step, drawn))| (PlanPlace::step(index, &step.step_id), step, drawn))
    }

    /// The id of the step at a position.
    pub(super) fn id(&self, at: usize) -> Option<&StepId> {
        self.ids.get(at)
    }

    /// The position of a step.
    pub(super) fn position(&self, id: &StepId) -> Option<usize> {
        self.at.get(id.as_str()).copied()
    }

    /// The steps that a step needs.
    pub(super) fn needs(&self, at: usize) -> &[Need] {
        self.drawn.get(at).map_or(&[], |drawn| &drawn.needs)
    }

    fn check_ids(&self) -> Vec<PlanProblem> {
        let problem = |(index, id): (usize, &StepId)| {
            let place = PlanPlace::step(index, id).key("step_id");
            if id.as_str().trim().is_empty() {
                let hint = Some(format!("call it `step-{}`", index + 1));
                return Some(PlanProblem::new(Code::EmptyId, place, "the step has no id").hint(hint));
            }
            if id.as_str() == INPUTS && !self.plan.inputs.is_empty() {
                let message = "templates mean the inputs of the plan by this name";
                return Some(PlanProblem::new(Code::ReservedId, place, message));
            }
            let first = self.position(id).filter(|first| *first != index)?;
            let message = format!("the steps {} and {} have the same id", first + 1, index + 1);
            Some(PlanProblem::new(Code::DuplicateId, place, message))
        };
        self.ids.iter().enumerate().filter_map(problem).collect()
    }

    fn read_parameters(
        step: &Step,
        sources: &Ids<'_>,
        place: &PlanPlace,
        problems: &mut Vec<PlanProblem>,
    ) -> Parameters {
        let none = Object::new();
        let given = step.parameters().unwrap_or(&none);
        let errors = match Parameters::parse_among(given, sources) {
            Ok(parameters) => return parameters,
            Err(error) => error.errors,
        };
        let is_bad = |name: &str| {
            errors
                .iter()
                .any(|error| matches!(error.path.segments().first(), Some(Segment::Key(first)) if first == name))
        };
        let good: Object = given
            .iter()
            .filter(|(name, _)| !is_bad(name))
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        problems.extend(errors.iter().map(|error| template_problem(place.clone().parameter(&error.path), error)));
        // Each of those that are left was read a moment ago.
        Parameters::parse_among(&good, sources).unwrap_or_default()
    }

    fn read_outputs(&mut self, sources: &Ids<'_>, problems: &mut Vec<PlanProblem>) {
        for (name, text) in &self.plan.outputs {
            match Expression::parse_among(text, sources) {
                Ok(expression) => self.outputs.push((name.clone(), expression)),
                Err(error) => problems.push(template_problem(PlanPlace::named("outputs", name), &error)),
            }
        }
    }

    fn find_needs(
        &self,
        step: &Step,
        parameters: &Parameters,
        place: &PlanPlace,
        problems: &mut Vec<PlanProblem>,
    ) -> Vec<Need> {
        let mut needs: Vec<Need> = Vec::new();
        let mut known: HashSet<usize> = HashSet::new();
        let mut add = |at: usize, why: Why| {
            if known.insert(at) {
                needs.push(Need { at, why });
            }
        };
        for (index, needed) in step.depends_on.iter().enumerate() {
            let place = || place.clone().key("depends_on").index(index);
            match self.position(needed) {
                _ if *needed == step.step_id => {
                    problems.push(PlanProblem::new(Code::SelfDependency, place(), "the step depends on itself"));
                }
                Some(at) => add(at, Why::Told),
                None => {
                    let message = format!("it depends on `{needed}`, which is no step");
                    let near = nearest(needed.as_str(), self.ids.iter().take(MOST_COMPARED))
                        .map(|name| format!("did you mean `{name}`?"));
                    problems.push(PlanProblem::new(Code::UnknownDependency, place(), message).hint(near));
                }
            }
        }
        let reads_itself = parameters.references().iter().any(|reference| *reference.step() == step.step_id);
        if reads_itself && !step.depends_on.contains(&step.step_id) {
            let message = "the step refers to its own result";
            problems.push(PlanProblem::new(Code::SelfDependency, place.clone(), message));
        }
        for read in parameters.steps().iter().filter(|read| **read != step.step_id) {
            if let Some(at) = self.position(read) {
                add(at, Why::Reads);
            }
        }
        needs
    }
}

/// A template that cannot be read.
fn template_problem(place: PlanPlace, error: &TemplateError) -> PlanProblem {
    let at = error.position + 1;
    let TemplateProblem::UnknownStep { found, available, .. } = &error.problem else {
        return PlanProblem::new(Code::BadExpression, place, format!("character {at}: {}", error.problem));
    };
    let names: Vec<&str> = available.iter().map(StepId::as_str).collect();
    PlanProblem::new(Code::UnknownReference, place, format!("character {at}: there is no step `{found}`"))
        .hint(Some(suggestion(found, &names)))
}
