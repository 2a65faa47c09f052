//! Where a part of a plan stands in its file.

use reknit_protocol::{Path, Segment};

use super::Document;
use crate::PlanLocation;

impl Document {
    /// The line and the column of a part of the plan in this file, from 1, or of the closest part around it. `None` for JSON.
    ///
    /// ```
    /// use reknit_plan::{Document, check_structure, read_plan_file};
    ///
    /// let text = "steps:\n  - id: total\n    compute: \"{{summ(1, 2)}}\"\n";
    /// let (plan, _) = read_plan_file(text)?;
    /// let problems = check_structure(&plan).expect_err("there is no function `summ`");
    /// let document = Document::read(text).expect("it is YAML");
    /// assert_eq!(document.locate(&problems[0].location), Some((3, 5)));
    /// # Ok::<(), reknit_plan::PlanError>(())
    /// ```
    pub fn locate(&self, location: &PlanLocation) -> Option<(usize, usize)> {
        let written = self.written_path(location.path.segments());
        // The keys of the protocol are looked for first: a file may have them as well.
        [location.path.segments(), written.segments()]
            .into_iter()
            .find_map(|path| self.position(&path.iter().cloned().collect()))
            .or_else(|| self.closest(written.segments()))
    }

    fn closest(&self, path: &[Segment]) -> Option<(usize, usize)> {
        let prefix = |length: usize| path.iter().take(length).cloned().collect::<Path>();
        (1..=path.len()).rev().find_map(|length| self.position(&prefix(length)))
    }

    /// The path with the keys of a plan file: `steps[2].with.amount` for `steps[2].metadata.parameters.amount`.
    fn written_path(&self, path: &[Segment]) -> Path {
        let key = |segment: &Segment| match segment {
            Segment::Key(key) => key.clone(),
            Segment::Index(_) => String::new(),
        };
        let (step, inside) = match path {
            [list, index @ Segment::Index(_), inside @ ..] if key(list) == "steps" => {
                // A file may be a bare list of steps.
                let is_list = self.value.as_array().is_some();
                let step = if is_list { vec![index.clone()] } else { vec![list.clone(), index.clone()] };
                (step, inside)
            }
            other => return other.iter().cloned().collect(),
        };
        let mut compute: Path = step.iter().cloned().collect();
        compute.push_key("compute");
        let computes = || self.position(&compute).is_some();
        let (name, rest) = match inside {
            [] => return step.into_iter().collect(),
            [metadata, parameters, _, rest @ ..]
                if key(metadata) == "metadata" && key(parameters) == "parameters" && computes() =>
            {
                ("compute".to_owned(), rest)
            }
            [metadata, field, rest @ ..] if key(metadata) == "metadata" => match key(field).as_str() {
                "parameters" => ("with".to_owned(), rest),
                "capability" => ("tool".to_owned(), rest),
                "limit_ms" => ("timeout".to_owned(), rest),
                other => (other.to_owned(), rest),
            },
            [field, rest @ ..] => match key(field).as_str() {
                "step_id" => ("id".to_owned(), rest),
                "agent_name" => ("tool".to_owned(), rest),
                "depends_on" => ("after".to_owned(), rest),
                other => (other.to_owned(), rest),
            },
        };
        step.into_iter().chain([Segment::Key(name)]).chain(rest.iter().cloned()).collect()
    }
}
