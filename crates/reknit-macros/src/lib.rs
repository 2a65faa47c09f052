//! The attribute `#[reknit::tool]`, which makes a tool of a function. Use it through the crate `reknit`.
//!
//! The documentation of `reknit` runs this example. Here it would need that crate, which needs this one.
//!
//! ```ignore
//! use reknit::{Object, Reknit, plan::read_plan_file};
//!
//! /// The price of tea in euros.
//! #[reknit::tool(read)]
//! fn price(cups: u32) -> f64 {
//!     4.5 * f64::from(cups)
//! }
//!
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let reknit = Reknit::builder().tools([price()]).start().await?;
//! let (plan, _) = read_plan_file("steps: [{id: tea, tool: functions/price, with: {cups: 3}}]")?;
//! assert_eq!(reknit.run_plan(plan, Object::new()).await?.output::<f64>()?, 13.5);
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]

mod tool;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a tool of an `async fn`, or of a `fn` that returns at once.
///
/// The doc comment becomes the description that models read, the types of the arguments become the schema, and the name of the
/// function the name of the capability. The function itself is replaced by one without arguments that returns a `reknit::Tool`.
/// It may return a value or a `Result` whose error can become a `ToolError`. An argument of the type `CallContext` is not part of
/// the schema: it has the idempotency key of the call. A doc comment of an argument becomes its description.
///
/// ```text
/// #[reknit::tool]                               // side effects: undeclared
/// #[reknit::tool(read)]                         // or idempotent, keyed, unsafe
/// #[reknit::tool(keyed, service = "shop")]      // called shop/NAME in plans; functions/NAME by default
/// #[reknit::tool(read, name = "get-weather")]   // another name than that of the function
/// ```
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as tool::ToolOptions);
    let function = parse_macro_input!(function as syn::ItemFn);
    tool::expand(&options, function).unwrap_or_else(|error| error.to_compile_error()).into()
}
