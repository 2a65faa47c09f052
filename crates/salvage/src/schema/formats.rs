//! What the keyword `format` means for a schema.

use std::sync::Arc;

use jsonschema::ValidationOptions;

use super::unambiguous_date::is_readable;
use super::validator_input::ValueInput;

pub(super) const KNOWN_FORMATS: &str = "date date-time time duration email hostname ipv4 ipv6 uri \
    uri-reference iri iri-reference uri-template uuid json-pointer relative-json-pointer regex";

/// What the keyword `format` means for a schema.
///
/// Known formats are those of JSON Schema 2020-12 without the internationalised ones: `date`, `date-time`, `time`, `duration`,
/// `email`, `hostname`, `ipv4`, `ipv6`, `uri`, `uri-reference`, `iri`, `iri-reference`, `uri-template`, `uuid`, `json-pointer`,
/// `relative-json-pointer` and `regex`. Others mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formats {
    /// Nothing, as in a schema for what a tool answers.
    Ignored,
    /// Where a date is asked for, a text fits that names one day of the calendar, and fitting writes it as `date` or `date-time` asks
    /// for. `2026-02-30`, `next Friday` and `03/04/2026`, which can be two days, do not fit. A date with a time of day where none is
    /// asked for, and a time without an offset, fit as they are: most services read them. A text without its format fits where the
    /// schema states another format, because tools accept more than their schemas say;
    /// [`format_problems`](crate::Schema::format_problems) lists it.
    #[default]
    Guide,
    /// A text that does not have its format does not fit. Fitting writes unambiguous dates as with [`Formats::Guide`].
    Checked,
}

type Options<'i> = ValidationOptions<'i, Arc<dyn jsonschema::Retrieve>, ValueInput>;

/// The options with checks of formats as the schema wants them.
pub(super) fn with_checks<'i>(options: Options<'i>, formats: Formats) -> Options<'i> {
    match formats {
        Formats::Ignored => options.should_validate_formats(false),
        Formats::Checked => options.should_validate_formats(true),
        Formats::Guide => {
            let options = options.should_validate_formats(true);
            let with_check =
                |options: Options<'i>, name| options.with_format(name, move |text: &str| is_readable(text, name));
            KNOWN_FORMATS.split(' ').fold(options, with_check)
        }
    }
}
