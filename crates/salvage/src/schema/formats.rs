//! What the keyword `format` means for a schema.

/// What the keyword `format` means for a schema.
///
/// Known formats are those of JSON Schema 2020-12 without the internationalised ones: `date`, `date-time`, `time`, `duration`,
/// `email`, `hostname`, `ipv4`, `ipv6`, `uri`, `uri-reference`, `iri`, `iri-reference`, `uri-template`, `uuid`, `json-pointer`,
/// `relative-json-pointer` and `regex`. Others mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formats {
    /// Nothing: tools accept more spellings of dates, addresses and identifiers than the standard allows.
    #[default]
    Ignored,
    /// Fitting writes an unambiguous date as `date` or `date-time` asks for. A text that does not have its format fits
    /// nevertheless; [`format_problems`](crate::Schema::format_problems) lists it.
    Guide,
    /// A text that does not have its format does not fit. Fitting writes unambiguous dates as with [`Formats::Guide`].
    Checked,
}
