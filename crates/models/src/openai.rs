//! Wire format of `chat/completions`, which most servers support. No I/O.

mod error_names;
mod family;
mod hosts;
mod reasoning_details;
mod request;
mod response;
mod strict;
mod text_event;
mod text_pattern;

pub(crate) use error_names::ERROR_CLASSES;
pub(crate) use family::{Reasoning, family};
pub(crate) use reasoning_details::ReasoningDetails;
pub(crate) use request::{render, tool_choice};
pub(crate) use response::{read_event, read_whole};
pub(crate) use strict::is_strict;
pub(crate) use text_pattern::TextPattern;
