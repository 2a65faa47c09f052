//! What a planner is shown, and the shape its plan is asked for in.

mod choice;
mod shape;
mod tools;

pub use choice::Choice;
pub use shape::plan_shape;
pub use tools::{list_tools, name_tools};
