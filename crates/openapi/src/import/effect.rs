//! The class of side effect of an operation.

use reknit_protocol::SideEffect;

use super::parameters::ImportedParameter;
use super::path_items::Site;
use crate::finding::Findings;
use crate::parameter::ParameterLocation;

/// The extension by which a document declares the class.
const EXTENSION: &str = "x-reknit-effect";

/// The class of the method, or the declared one if it says that the operation does more; and the declared class.
pub(super) fn side_effect(site: &Site<'_>, has_key: bool, findings: &Findings<'_>) -> (SideEffect, Option<SideEffect>) {
    let effect = match site.method.side_effect() {
        SideEffect::Unsafe if has_key => SideEffect::Keyed,
        effect => effect,
    };
    let Some(extension) = site.node.get(EXTENSION) else { return (effect, None) };
    let declared = extension.value.as_str().and_then(SideEffect::from_word).unwrap_or_else(|| {
        let words: Vec<&str> = SideEffect::ALL.iter().map(|effect| effect.as_str()).collect();
        let message = format!("`{EXTENSION}` must be one of {}; the operation counts as unsafe", words.join(", "));
        findings.problem(&extension, message);
        SideEffect::Unsafe
    });
    // The list of all classes begins with the harmless ones.
    let danger = |class: SideEffect| SideEffect::ALL.iter().position(|other| *other == class);
    let effect = if danger(declared) > danger(effect) { declared } else { effect };
    (effect, Some(declared))
}

/// Takes the header for an idempotency key out of the parameters. Its value is not a model's to choose.
pub(super) fn take_idempotency_header(parameters: &mut Vec<ImportedParameter>) -> Option<String> {
    let is_key = |imported: &ImportedParameter| {
        imported.parameter.location == ParameterLocation::Header && is_idempotency_key(&imported.parameter.wire_name)
    };
    let at = parameters.iter().position(is_key)?;
    Some(parameters.remove(at).parameter.wire_name)
}

fn is_idempotency_key(header: &str) -> bool {
    let letters: String = header.chars().filter(char::is_ascii_alphanumeric).collect();
    letters.to_ascii_lowercase().ends_with("idempotencykey")
}
