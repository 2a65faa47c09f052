//! Wire format of Cohere's `chat`, version 2. No I/O.

mod request;
mod response;

pub(crate) use request::render;
pub(crate) use response::{read_event, read_whole};

/// Format of the mark that a thought is the plan of the calls after it.
const PLAN_FORMAT: &str = "cohere-plan";
