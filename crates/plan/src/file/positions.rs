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

    /// The position of a value, or of the closest value around it that has one.
    pub(super) fn closest(&self, path: &[Segment]) -> Option<(usize, usize)> {
        let prefix = |length: usize| path.iter().take(length).cloned().collect::<Path>();
        (1..=path.len()).rev().find_map(|length| self.position(&prefix(length)))
    }

    /// The path with the keys of a plan file: `steps[2].with.amount` for `steps[2].metadata.parameters.amount`.
    fn written_path(&self, path: &[Segment]) -> Path {
        let key = |segment: &Segment| match segment {
            Segment::Key(key) => key.clone(),
            Segment::Index(_) => String::new(),
        };
        let (list, inside) = match path {
            [list, Segment::Index(_), inside @ ..] if key(list) == "steps" => (list, inside),
            other => return other.iter().cloned().collect(),
        };
        // A file may be a bare list of steps.
        let is_list = self.value.as_array().is_some();
        let step = || path.iter().take(2).filter(|segment| !is_list || *segment != list).cloned();
        let computes = || self.position(&step().collect::<Path>().key("compute")).is_some();
        let keys: Vec<String> = inside.iter().take(2).map(key).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let (name, used) = match keys.as_slice() {
            [] => return step().collect(),
            ["metadata", "parameters"] if inside.len() > 2 && computes() => ("compute", 3),
            ["metadata", "parameters"] => ("with", 2),
            ["metadata", "capability"] => ("tool", 2),
            ["metadata", "limit_ms"] => ("timeout", 2),
            ["metadata", other] => (*other, 2),
            ["step_id", ..] => ("id", 1),
            ["agent_name", ..] => ("tool", 1),
            ["depends_on", ..] => ("after", 1),
            [other, ..] => (*other, 1),
        };
        step().chain([Segment::Key(name.to_owned())]).chain(inside.iter().skip(used).cloned()).collect()
    }
}
