//! The words between the brackets of `#[tool(..)]`.

use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Token};

/// The words and the variants of `SideEffect` that they stand for.
const SIDE_EFFECTS: [(&str, &str); 4] =
    [("read", "Read"), ("idempotent", "Idempotent"), ("keyed", "Keyed"), ("unsafe", "Unsafe")];

/// The options of a tool.
pub(crate) struct ToolOptions {
    /// The variant of `SideEffect`.
    pub(crate) side_effect: Ident,
    pub(crate) service: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
}

impl Parse for ToolOptions {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let side_effect = Ident::new("Undeclared", Span::call_site());
        let mut options = Self { side_effect, service: None, name: None };
        while !input.is_empty() {
            let word = Ident::parse_any(input)?;
            let text = word.to_string();
            let side_effect = SIDE_EFFECTS.iter().find(|(known, _)| *known == text);
            match (text.as_str(), side_effect) {
                (_, Some((_, variant))) => options.side_effect = Ident::new(variant, word.span()),
                ("service", _) => options.service = Some(value(input)?),
                ("name", _) => options.name = Some(value(input)?),
                _ => {
                    let expected =
                        "write `read`, `idempotent`, `keyed`, `unsafe`, `service = \"..\"` or `name = \"..\"`";
                    return Err(syn::Error::new(word.span(), expected));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

fn value(input: ParseStream<'_>) -> syn::Result<LitStr> {
    input.parse::<Token![=]>()?;
    input.parse()
}
