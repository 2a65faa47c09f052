//! Plans: read from a model's text or a file, checked against the catalogue, made ready to run.

mod catalogue;
mod check;
mod checked;
mod file;
mod hint;
mod inputs;
mod names;
mod planner;
mod problem;
mod read;

pub use catalogue::{Catalogue, Entry, ListingError, Tool};
pub use check::{Author, PlanNote, check, check_structure, notes};
pub use checked::{Checked, INPUTS, Planned};
pub use file::{Document, FileProblem, read_plan_file};
pub use inputs::settle_inputs;
pub use names::{NameFix, Named, correct_names};
pub use planner::{Choice, list_tools, name_tools, plan_shape};
pub use problem::{PlanPlace, PlanProblem, ProblemCode};
pub use read::{PlanError, read_plan};
