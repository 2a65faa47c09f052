//! What the log contains.

use tracing::level_filters::LevelFilter;

/// The format of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// The message, then `name=value` for each field.
    #[default]
    Text,
    Json,
}

/// Which lines are written, and in which format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSettings {
    /// The most detailed level that is written.
    pub level: LevelFilter,
    pub form: Form,
}

impl Default for LogSettings {
    /// No lines.
    fn default() -> Self {
        Self { level: LevelFilter::OFF, form: Form::Text }
    }
}
