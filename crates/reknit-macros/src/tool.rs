//! From the words between the brackets of `#[tool(..)]` and a function to a function that returns the tool.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, FnArg, ItemFn, Lit, LitStr, Meta, Pat, PatType, ReturnType, Token, Type};

/// An argument of the function that is part of the schema.
struct Argument {
    name: Ident,
    field_type: Type,
    attributes: Vec<Attribute>,
}

pub(crate) fn expand(options: &ToolOptions, mut function: ItemFn) -> syn::Result<TokenStream> {
    if !function.sig.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(&function.sig.generics, "a tool has no generic parameters"));
    }
    let (visibility, name) = (function.vis.clone(), function.sig.ident.clone());
    let description = description(&function.attrs);
    let (arguments, passed) = arguments(&mut function)?;
    let fields =
        arguments.iter().map(|Argument { name, field_type, attributes }| quote!(#(#attributes)* #name: #field_type));
    let capability = options.name.clone().unwrap_or_else(|| LitStr::new(&name.to_string(), name.span()));
    let service = options.service.iter().map(|service| quote!(.in_service(#service)));
    let side_effect = &options.side_effect;
    let awaited = function.sig.asyncness.map(|_| quote!(.await));
    let call = quote!(call(#(#passed),*)#awaited);
    let result = if returns_result(&function.sig.output) {
        quote!(#call.map_err(::core::convert::Into::into))
    } else {
        quote!(::core::result::Result::Ok(#call))
    };
    let documentation = format!("The tool `{}`.", capability.value());
    let (outer, inner) = split(&function.attrs);
    function.attrs = inner;
    function.vis = syn::Visibility::Inherited;
    function.sig.ident = Ident::new("call", Span::call_site());
    Ok(quote! {
        #[doc = #documentation]
        #(#outer)*
        #visibility fn #name() -> ::reknit::Tool {
            #[derive(::reknit::__private::serde::Deserialize, ::reknit::__private::schemars::JsonSchema)]
            #[serde(crate = "::reknit::__private::serde")]
            #[schemars(crate = "::reknit::__private::schemars")]
            struct Arguments { #(#fields),* }

            // A tool owns its arguments, and may be `async` without a wait.
            #[allow(clippy::needless_pass_by_value, clippy::unused_async)]
            #function

            let handler = |context: ::reknit::tool_service::CallContext, arguments: Arguments| async move {
                let _ = (&context, &arguments);
                #result
            };
            let definition = ::reknit::tool_service::CapabilityDefinition::new(
                #capability,
                ::reknit::protocol::SideEffect::#side_effect,
                handler,
            );
            ::reknit::Tool::new(definition.description(#description))#(#service)*
        }
    })
}

/// The arguments of the schema, and what the call passes for each argument. Removes the attributes of the arguments, which only the
/// schema may have.
fn arguments(function: &mut ItemFn) -> syn::Result<(Vec<Argument>, Vec<TokenStream>)> {
    let (mut arguments, mut passed) = (Vec::new(), Vec::new());
    for input in &mut function.sig.inputs {
        let FnArg::Typed(PatType { attrs, pat, ty, .. }) = input else {
            return Err(syn::Error::new_spanned(input, "a tool is a function, not a method"));
        };
        if last_word(ty).is_some_and(|word| word == "CallContext") {
            passed.push(quote!(context.clone()));
            continue;
        }
        let Pat::Ident(pattern) = &**pat else {
            return Err(syn::Error::new_spanned(pat, "an argument of a tool has a name"));
        };
        let name = pattern.ident.clone();
        passed.push(quote!(arguments.#name));
        arguments.push(Argument { name, field_type: (**ty).clone(), attributes: std::mem::take(attrs) });
    }
    Ok((arguments, passed))
}

fn returns_result(output: &ReturnType) -> bool {
    match output {
        ReturnType::Default => false,
        ReturnType::Type(_, output) => last_word(output).is_some_and(|word| word == "Result"),
    }
}

/// The last part of a path: `Result` of `std::result::Result<u8, String>`.
fn last_word(of: &Type) -> Option<String> {
    let Type::Path(path) = of else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

/// The text of the doc comment.
fn description(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(line) => Some(line.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The attributes of the function that is called, `#[cfg(..)]` first: it concerns both.
fn split(attributes: &[Attribute]) -> (Vec<Attribute>, Vec<Attribute>) {
    let is_for_both = |attribute: &&Attribute| attribute.path().is_ident("cfg");
    let is_inner = |attribute: &&Attribute| !attribute.path().is_ident("doc") && !attribute.path().is_ident("cfg");
    (attributes.iter().filter(is_for_both).cloned().collect(), attributes.iter().filter(is_inner).cloned().collect())
}

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
