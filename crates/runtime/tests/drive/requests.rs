//! Requests of many kinds, from the plan that a model writes to the calls that the tools receive.

mod computed_values;
mod corrections;
mod plans;
mod scene;
