//! Texts that speak of the result of a step: `the output of step-1`, `<price from quote>`.

use reknit_protocol::spelling::folded;

use super::context::{ParameterContext, is_free_text};
use super::source_names::{Source, is_generic_id, is_name_char};
use super::{Certainty, UnbracedFinder, UnbracedReason, UnbracedReference, is_listed};

/// Longer texts are prose, not a value.
const MAX_LEN: usize = 80;

/// Words for what a step gives.
const RESULT_WORDS: &str = "result results output outputs response responses value values answer data from \
    returned previous";

/// Variables that other languages have for their results.
const FRAMEWORK_WORDS: &str = "json node nodes input prev previous item items vars steps step results result \
    output outputs response execution context trigger workflow tasks task last lastresult previousstep \
    previousresult";

/// Whether another language has a variable of this name for its results.
pub(super) fn is_framework_word(word: &str) -> bool {
    is_listed(FRAMEWORK_WORDS, &folded(word))
}

/// A whole value that speaks of the result of a step instead of referring to it.
pub(super) fn whole_text(
    finder: &UnbracedFinder<'_>,
    text: &str,
    context: &ParameterContext<'_>,
) -> Option<UnbracedReference> {
    let is_value = text.len() <= MAX_LEN && !text.contains('\n') && !text.contains("{{") && !is_free_text(context.name);
    let is_mention = || {
        speaks_of_step(finder, text, context)
            || joins_step_and_field(finder, text, context) && !text.contains('_')
            || is_field_of_last_result(finder, text, context)
            || is_field_of_step_in_words(finder, text, context)
    };
    (is_value && is_mention()).then(|| UnbracedReference {
        range: 0..text.len(),
        text: text.trim().to_owned(),
        rewrite: None,
        certainty: Certainty::Doubtful,
        reason: UnbracedReason::Unsupported,
    })
}

/// Whether a text names a step as a word, and the result of it.
pub(super) fn speaks_of_step(finder: &UnbracedFinder<'_>, text: &str, context: &ParameterContext<'_>) -> bool {
    let words: Vec<String> = words(text);
    if text.len() > MAX_LEN || !words.iter().any(|word| is_listed(RESULT_WORDS, word)) {
        return false;
    }
    let is_meant = |source: Source| match source {
        Source::Step(index) => {
            context.depends_on(index) || finder.names.id(source).is_some_and(|id| is_generic_id(id.as_str()))
        }
        Source::Inputs => false,
    };
    let single = words.iter().filter_map(|word| finder.names.find(word));
    // "step 1" for `step-1`.
    let pairs = words.windows(2).filter_map(|pair| finder.names.find(&pair.concat()));
    let is_numbered = words.windows(2).any(|pair| match pair {
        [noun, number] => ["step", "task"].contains(&noun.as_str()) && number.parse::<u32>().is_ok(),
        _ => false,
    });
    is_numbered || single.chain(pairs).any(|(source, _)| is_meant(source))
}

/// Whether a text is a step and one of its fields in another spelling: `a->price`, `a:price`, `a_price`, "price of a".
pub(super) fn joins_step_and_field(finder: &UnbracedFinder<'_>, text: &str, context: &ParameterContext<'_>) -> bool {
    let text = text.trim();
    let is_pair = |step: &str, field: &str| {
        let source = finder.names.exact(step.trim());
        let is_needed = matches!(source, Some(Source::Step(index)) if context.depends_on(index));
        is_needed && source.is_some_and(|source| finder.has_field(source, field.trim()))
    };
    let joined = ["->", "::", "=>", ":", "/", " ", ".", "_", "-"];
    joined.iter().any(|mark| text.split_once(mark).is_some_and(|(step, field)| is_pair(step, field)))
        || [" of ", " from "].iter().any(|word| text.split_once(word).is_some_and(|(field, step)| is_pair(step, field)))
}

/// Whether a text names a field of a step in words: `the skyId of var1`, `id from step-1`, `var1's id`.
fn is_field_of_step_in_words(finder: &UnbracedFinder<'_>, text: &str, context: &ParameterContext<'_>) -> bool {
    let names_step = |(field, step): (&str, &str)| {
        let (field, source) = (field.trim(), finder.names.exact(step.trim()));
        let field = field.strip_prefix("the ").or_else(|| field.strip_prefix("The ")).unwrap_or(field);
        // `E2` and the like stand for a step only where another step exists, never for the step itself.
        let is_other = |source| matches!(source, Source::Step(index) if index != context.step);
        let is_meant = |source: Source| {
            finder.has_field(source, field)
                || finder.names.id(source).is_some_and(|id| is_generic_id(id.as_str()))
                    && !field.is_empty()
                    && field.chars().all(|character| is_name_char(character) || character == '.')
        };
        source.is_some_and(|source| is_other(source) && is_meant(source))
    };
    let text = text.trim();
    [" of ", " from ", " in "].iter().any(|word| text.rsplit_once(word).is_some_and(names_step))
        || text.split_once("'s ").is_some_and(|(step, field)| names_step((field, step)))
}

/// Whether a text is a field of what other languages call the last result: `result.price`, `previous.price`.
fn is_field_of_last_result(finder: &UnbracedFinder<'_>, text: &str, context: &ParameterContext<'_>) -> bool {
    let Some((word, field)) = text.trim().split_once('.') else { return false };
    let field = field.split(['.', '[']).next().unwrap_or_default();
    let mut needed = context.dependencies.iter().map(|index| Source::Step(*index));
    is_framework_word(word) && needed.any(|source| finder.has_field(source, field))
}

/// Whether a text is the position of a step in the plan, in a step that needs another: `{0}`, `$1`.
pub(super) fn is_position(finder: &UnbracedFinder<'_>, text: &str, context: &ParameterContext<'_>) -> bool {
    !context.dependencies.is_empty() && text.parse::<usize>().is_ok_and(|number| number <= finder.names.count())
}

/// The words of a text in lower case. A hyphen inside a word belongs to it.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !is_name_char(character) && character != '-');
    words.map(|word| word.trim_matches('-').to_lowercase()).filter(|word| !word.is_empty()).collect()
}
