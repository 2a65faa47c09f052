//! A plan with its templates parsed and the dependencies of its steps resolved.

use std::collections::{HashMap, HashSet};

use reknit_expressions::{Expression, Parameters, Reference, StepIds};
use reknit_protocol::spelling::nearest;
use reknit_protocol::{Object, Plan, Segment, Step, StepId};

use super::controls::{reads_own_result, source_lists, sources_of};
use super::template_problem::template_problem;
use super::{Code, MAX_STEPS, PlanLocation, PlanProblem, controls};
use crate::{INPUTS, ITEM, PlannedOutput, REPLY, RESULT, StepControls, StepIndex, inputs};

/// The most ids that a wrong id is compared with: hints for thousands of typos must not take minutes.
const MAX_COMPARED_IDS: usize = 1_000;

/// A plan with its templates parsed and the dependencies of its steps resolved.
pub(super) struct ParsedPlan<'p> {
    plan: &'p Plan,
    ids: Vec<StepId>,
    indices: HashMap<&'p str, StepIndex>,
    steps: Vec<ParsedStep>,
    outputs: Vec<PlannedOutput>,
}

/// The valid parts of a step.
pub(super) struct ParsedStep {
    /// The parameters whose templates can be parsed.
    pub(super) parameters: Parameters,
    pub(super) controls: StepControls,
    /// The other steps that it depends on, each once.
    pub(super) dependencies: Vec<Dependency>,
}

/// A step that another one depends on.
pub(super) struct Dependency {
    pub(super) index: StepIndex,
    pub(super) reason: DependencyReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DependencyReason {
    Declared,
    Reference,
}

impl<'p> ParsedPlan<'p> {
    /// Parses a plan. Parts that cannot be parsed are reported as problems and left out.
    pub(super) fn parse(plan: &'p Plan) -> Result<(Self, Vec<PlanProblem>), Vec<PlanProblem>> {
        if plan.steps.len() > MAX_STEPS {
            let message = format!("the plan has {} steps; at most {MAX_STEPS} are allowed", plan.steps.len());
            return Err(vec![PlanProblem::new(Code::TooManySteps, PlanLocation::plan().key("steps"), message)]);
        }
        let ids: Vec<StepId> = plan.steps.iter().map(|step| step.step_id.clone()).collect();
        // Templates may refer to the steps, and to the inputs if there are any.
        let mut sources = ids.clone();
        if !plan.inputs.is_empty() {
            sources.push(INPUTS.into());
        }
        let mut parsed = Self { plan, ids, indices: HashMap::new(), steps: Vec::new(), outputs: Vec::new() };
        for (index, step) in parsed.indices().zip(&plan.steps) {
            parsed.indices.entry(step.step_id.as_str()).or_insert(index);
        }
        let mut problems = parsed.check_ids();
        let names = source_lists(plan, &sources);
        // The names are indexed once for all steps.
        let source_ids = names.each_ref().map(|lists| lists.each_ref().map(|names| StepIds::new(names)));
        for (index, step) in parsed.indices().zip(&plan.steps) {
            let location = PlanLocation::step(index, &step.step_id);
            let own_sources = sources_of(&source_ids, step);
            let parameters = Self::read_parameters(step, own_sources.of_step, &location, &mut problems);
            let controls = controls::read(step, own_sources, &location, &mut problems);
            let dependencies = parsed.find_dependencies(step, &parameters, &controls, &location, &mut problems);
            parsed.steps.push(ParsedStep { parameters, controls, dependencies });
        }
        let [[outside_loops, ..], _] = &source_ids;
        parsed.read_outputs(outside_loops, &mut problems);
        Ok((parsed, problems))
    }

    pub(super) fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// The outputs whose expressions can be parsed.
    pub(super) fn outputs(&self) -> &[PlannedOutput] {
        &self.outputs
    }

    pub(super) fn indices(&self) -> impl Iterator<Item = StepIndex> + use<> {
        (0..self.plan.steps.len()).map(StepIndex::new)
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = (PlanLocation, &'p Step, &ParsedStep)> {
        let steps = self.indices().zip(self.plan.steps.iter().zip(&self.steps));
        steps.map(|(index, (step, parsed_step))| (PlanLocation::step(index, &step.step_id), step, parsed_step))
    }

    pub(super) fn id(&self, index: StepIndex) -> Option<&StepId> {
        self.ids.get(index.get())
    }

    pub(super) fn index_of(&self, id: &StepId) -> Option<StepIndex> {
        self.indices.get(id.as_str()).copied()
    }

    pub(super) fn dependencies(&self, index: StepIndex) -> &[Dependency] {
        self.steps.get(index.get()).map_or(&[], |step| &step.dependencies)
    }

    fn check_ids(&self) -> Vec<PlanProblem> {
        let has = |check: fn(&Step) -> bool| self.plan.steps.iter().any(check);
        let reserved = [
            (INPUTS, !self.plan.inputs.is_empty(), "the inputs of the plan"),
            (ITEM, has(Step::has_foreach), "the item of a step with `foreach`"),
            (RESULT, has(reads_own_result), "the result of a step with `until`, `expect` or `verify`"),
            (REPLY, has(|step| step.has_control("verify")), "the reply to a `verify`"),
        ];
        let is_of_loop = |id: &StepId| {
            id.as_str().rsplit_once('[').and_then(|(of, rest)| {
                let position = rest.strip_suffix(']')?;
                let is_number = !position.is_empty() && position.bytes().all(|byte| byte.is_ascii_digit());
                self.plan.steps.get(self.indices.get(of)?.get()).filter(|step| is_number && step.has_foreach())
            })
        };
        let problem = |(index, id): (StepIndex, &StepId)| {
            let location = PlanLocation::step(index, id).key("step_id");
            if id.as_str().trim().is_empty() {
                let hint = Some(format!("call it `step-{}`", index.get() + 1));
                return Some(PlanProblem::new(Code::EmptyId, location, "the step has no id").with_hint(hint));
            }
            let is_reserved = |(name, is_used, _): &&(&str, bool, &str)| *is_used && id.as_str() == *name;
            if let Some((name, _, meaning)) = reserved.iter().find(is_reserved) {
                let message = format!("`{name}` is reserved for {meaning}");
                return Some(PlanProblem::new(Code::ReservedId, location, message));
            }
            if let Some(step) = is_of_loop(id) {
                let message = format!("`{id}` is the id of an item of `{}`", step.step_id);
                return Some(PlanProblem::new(Code::DuplicateId, location, message));
            }
            let first = self.index_of(id).filter(|first| *first != index)?;
            let message = format!("the steps {} and {} have the same id", first.get() + 1, index.get() + 1);
            Some(PlanProblem::new(Code::DuplicateId, location, message))
        };
        self.indices().zip(&self.ids).filter_map(problem).collect()
    }

    fn read_parameters(
        step: &Step,
        sources: &StepIds<'_>,
        location: &PlanLocation,
        problems: &mut Vec<PlanProblem>,
    ) -> Parameters {
        let none = Object::new();
        let given = step.parameters().unwrap_or(&none);
        let errors = match Parameters::parse_with_ids(given, sources) {
            Ok(parameters) => return parameters,
            Err(error) => error.errors,
        };
        let mut good = given.clone();
        for error in &errors {
            if let Some(Segment::Key(name)) = error.path.segments().first() {
                good.remove(name);
            }
        }
        problems.extend(errors.iter().map(|error| template_problem(location.clone().parameter(&error.path), error)));
        // The remaining parameters parsed without an error a moment ago.
        Parameters::parse_with_ids(&good, sources).unwrap_or_default()
    }

    fn read_outputs(&mut self, sources: &StepIds<'_>, problems: &mut Vec<PlanProblem>) {
        for (name, output) in &self.plan.outputs {
            let schema = inputs::output_schema(name, output).unwrap_or_else(|problem| {
                problems.push(problem);
                None
            });
            match Expression::parse_with_ids(&output.value, sources) {
                Ok(expression) => self.outputs.push(PlannedOutput { name: name.clone(), expression, schema }),
                Err(error) => problems.push(template_problem(PlanLocation::named("outputs", name), &error)),
            }
        }
    }

    fn find_dependencies(
        &self,
        step: &Step,
        parameters: &Parameters,
        controls: &StepControls,
        location: &PlanLocation,
        problems: &mut Vec<PlanProblem>,
    ) -> Vec<Dependency> {
        let mut dependencies: Vec<Dependency> = Vec::new();
        let mut known: HashSet<StepIndex> = HashSet::new();
        let mut add = |index: StepIndex, reason: DependencyReason| {
            if known.insert(index) {
                dependencies.push(Dependency { index, reason });
            }
        };
        for (position, needed) in step.depends_on.iter().enumerate() {
            let location = || location.clone().key("depends_on").index(position);
            match self.index_of(needed) {
                _ if *needed == step.step_id => {
                    problems.push(PlanProblem::new(Code::SelfDependency, location(), "the step depends on itself"));
                }
                Some(index) => add(index, DependencyReason::Declared),
                None => {
                    let message = format!("the step depends on `{needed}`, but there is no such step");
                    let near = nearest(needed.as_str(), self.ids.iter().take(MAX_COMPARED_IDS))
                        .map(|name| format!("did you mean `{name}`?"));
                    problems.push(PlanProblem::new(Code::UnknownDependency, location(), message).with_hint(near));
                }
            }
        }
        let read: Vec<&Reference> = parameters.references().into_iter().chain(controls.references()).collect();
        let reads_itself = read.iter().any(|reference| *reference.step() == step.step_id);
        if reads_itself && !step.depends_on.contains(&step.step_id) {
            let message = "the step refers to its own result";
            problems.push(PlanProblem::new(Code::SelfDependency, location.clone(), message));
        }
        for reference in read.iter().filter(|reference| *reference.step() != step.step_id) {
            if let Some(index) = self.index_of(reference.step()) {
                add(index, DependencyReason::Reference);
            }
        }
        dependencies
    }
}
