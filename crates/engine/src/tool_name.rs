//! The names under which models are shown the capabilities of tools.

/// The longest tool name that every provider accepts.
const MAX_NAME_LENGTH: usize = 64;

/// `tool__capability` in characters that every provider accepts, with a number appended as long as the name is taken.
///
/// ```
/// use reknit_engine::tool_name;
///
/// assert_eq!(tool_name("shop", "order/new", |_| false), "shop__order_new");
/// assert_eq!(tool_name("shop", "order", |name| name == "shop__order"), "shop__order_2");
/// ```
pub fn tool_name(tool: &str, capability: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let full = safe_name(&format!("{tool}__{capability}"));
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("_{number}") };
        let length = MAX_NAME_LENGTH.saturating_sub(suffix.len());
        let name = full.chars().take(length).collect::<String>() + &suffix;
        if !is_taken(&name) {
            return name;
        }
        number += 1;
    }
}

/// The text with each character replaced that some provider does not accept in tool names.
pub(crate) fn safe_name(text: &str) -> String {
    let is_safe = |character: char| character.is_ascii_alphanumeric() || character == '-';
    text.chars().map(|character| if is_safe(character) { character } else { '_' }).collect()
}
