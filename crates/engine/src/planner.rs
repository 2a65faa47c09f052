//! What a planner is shown, and the shape its plan is asked for in.

mod choice;
mod shape;
mod tools;

pub(crate) use choice::Choice;
pub(crate) use shape::plan_shape;
pub(crate) use tools::{list_tools, name_tools};
