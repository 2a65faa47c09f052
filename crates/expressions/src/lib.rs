//! The expression language of plans: `{{100 * step-1.price}}`, and what plans do with it.
//!
//! The crate parses and evaluates references to earlier results and expressions over them. With these it binds the parameters of a
//! step, wires those that the plan omits, applies corrections, and records where each value comes from.
//!
//! ```text
//! plan text --parsed once--> Parameters --bind(results, schema)--> Bound:   values, their provenance, changes
//!                                                                  Unbound: parameters without a value, and why
//!                                                                  Misfit:  what the tool would reject
//! ```
//!
//! A parameter is a literal, a reference to an earlier result, an expression over results, or a string that contains
//! expressions. A parameter that the plan omits is wired from an earlier result if exactly one result matches. Only
//! parameters that fit the tool's schema are bound, and every value has a provenance.
//!
//! ```
//! use std::collections::BTreeMap;
//! use reknit_expressions::{Binding, Parameters, bind};
//! use reknit_protocol::{StepId, Value};
//!
//! let ids: [StepId; 1] = ["step-1".into()];
//! let plan = Value::parse(r#"{"amount": "{{100 * step-1.price}}", "note": "100 shares at {{step-1.price}}"}"#)?;
//! let parameters = Parameters::parse(plan.as_object().expect("the plan is an object"), &ids)?;
//! assert_eq!(parameters.referenced_steps(), ids);
//!
//! let results = BTreeMap::from([(ids[0].clone(), Value::parse(r#"{"price": 468.285}"#)?)]);
//! let Binding::Bound(bound) = bind(&parameters, &results, &ids, None) else { panic!("every parameter has a value") };
//! assert_eq!(bound.parameters.to_string(), r#"{"amount":46828.5,"note":"100 shares at 468.285"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The language
//!
//! ```text
//! string      = { any text | "{{{{" | placeholder }     "{{{{" is an escape for two literal braces
//! placeholder = "{{" expression "}}"                     a placeholder that is the whole string keeps its value's type
//! expression  = either { "??" either }                   the first value that exists and is not null
//! either      = both { ("or" | "||") both }              beside `??`, `and`, `or` and `not` need parentheses
//! both        = negation { ("and" | "&&") negation }
//! negation    = "not" negation | comparison
//! comparison  = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in") sum ]
//! sum         = product { ("+" | " -") product }         a binary minus needs a space before it
//! product     = unary { ("*" | "×" | "·" | "/" | "÷" | "%") unary }
//! unary       = "-" unary | primary
//! primary     = number | "string" | 'string' | true | false | null | step path | item path | placeholder
//!             | name "(" argument { "," argument } ")" path | "(" expression ")" path | list path
//! argument    = expression | name "=>" expression        the second one of `filter`, `map`, `any`, `all`, `group_by`, `sum_by`
//! item        = "item" | the name before "=>"            only in such an argument
//! list        = "[" [ expression { "," expression } [ "," ] ] "]"
//! path        = { "." key | "[" index "]" | "[" "any key" "]" }
//! step        = a step id of the plan, the longest that matches | "[" "any id" "]"
//! key         = letters, digits, "_", and "-" between them
//! ```
//!
//! ```
//! use std::collections::BTreeMap;
//! use reknit_expressions::Expression;
//! use reknit_protocol::{StepId, Value};
//!
//! let shop = r#"{"data": {"items": [{"id": 7, "price": 19.99}, {"id": 8, "price": 5}], "no vat": null}}"#;
//! let results = BTreeMap::from([(StepId::from("shop-1"), Value::parse(shop)?)]);
//! for (text, expected) in [
//!     ("shop-1.items[0].id", "7"),
//!     ("shop-1.response.items.1.id", "8"),
//!     (r#"shop-1["no vat"] ?? 0"#, "0"),
//!     ("3 * shop-1.items[0].price", "59.97"),
//!     (r#"first(sort_by(shop-1.items, "price")).id"#, "8"),
//!     (r#"sum(pluck(shop-1.items, "price")) - 4.99"#, "20"),
//!     (r#"if(len(shop-1.items) > 1, "many", "one")"#, r#""many""#),
//!     (r#"date_diff("09:00", "14:00", "hours")"#, "5"),
//!     ("round(10 / 3, 2)", "3.33"),
//!     ("map(filter(shop-1.items, item.price > 5 and item.id in [7, 8]), item.id)", "[7]"),
//!     ("sum_by(shop-1.items, entry => entry.price * 2)", "49.98"),
//!     ("any(shop-1.items, not (item.price < 10))", "true"),
//! ] {
//!     let expression = Expression::parse(text, &["shop-1".into()])?;
//!     assert_eq!(expression.evaluate(&results)?.value.to_string(), expected);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - A reference is looked up in what the tool announces, then in the body of the result and inside its envelope (the keys
//!   `response`, `data` and `result`). If several places contain it with different values, the reference is ambiguous. In a
//!   body without the key `response`, `response` is the body itself, and so are `data`, `result`, `output` and `outputs`.
//! - `and`, `or`, `not` and conditions take booleans only. `and` and `or` do not evaluate what cannot change the result.
//! - `x in y` finds an item of an array, a part of a string or a key of an object. Values of different types are different
//!   items, except a number and a string that is the same number.
//! - `filter(list, condition)` and the like evaluate their second argument for each item. It is called `item`, or by the name
//!   before `=>`, which an inner function needs to refer to the item of an outer one. An item hides a step of the same name:
//!   write `["item"]` for the step. In `map`, `group_by` and `sum_by` the second argument may be the name of a field in quotes.
//! - One quoted text in brackets is a step if one is called so. Write `["text",]` for the list.
//! - Missing is not null. `??` replaces both, also when an operand of its left side is missing or null. `??` never
//!   replaces the result of a step that failed, was skipped or has not finished, unless its plan says that the steps after
//!   it go on (`when`, `on_failure`).
//! - Numbers are decimals of 34 digits. A result with more digits is rounded half to even and marked ([`Exactness`]). A
//!   number that is only passed on keeps all its digits.
//! - A string is coerced to a number only in arithmetic and when compared with a number, only if it is strictly a JSON
//!   number, and the coercion is recorded. `+` does not concatenate: write the placeholders side by side in one string.
//! - Inside a string, numbers keep their spelling; null, arrays and objects are errors.
//! - Results are never parsed as templates. An expression has at most 64 KiB, 48 nesting levels and 2000 parts, and the
//!   evaluation of a step has a fixed work budget.
//!
//! [`Function`] lists the functions, [`UnboundReason`] every reason why a parameter has no value, and [`TemplateProblem`]
//! every problem of a template. [`abridge_results`] shortens results for the model that is asked for a missing parameter,
//! [`fill_missing`] applies its answer, and [`learnable_expression`] and [`bind_with_mappings`] reuse that answer in later
//! runs. [`apply_correction`] applies a model's correction, [`explain_number`] checks whether a number in it follows from
//! the results, and [`replace_parameters`] applies a correction made by code.

mod abridge;
mod bind;
mod correction;
mod evaluate;
mod explain_number;
mod expression;
mod fill_missing;
mod fit_parameters;
mod generalize;
mod parameter_mapping;
mod parameters;
mod provenance;
mod reference;
mod rename;
mod resolve;
mod step_ids;
mod step_results;
mod template;
mod unbound;

pub use abridge::{abridge, abridge_results};
pub use bind::related_names::{belong_together, is_generic_name};
pub use bind::{Binding, BoundParameters, bind};
pub use correction::{CorrectionError, CorrectionOutcome, apply_correction, replace_parameters};
pub use evaluate::Evaluation;
pub use explain_number::explain_number;
pub use expression::parse_error::{ParametersError, TemplateParseError, TemplateProblem};
pub use expression::{Expression, Function};
pub use fill_missing::{FilledParameters, fill_missing};
pub use fit_parameters::fit_parameters;
pub use parameter_mapping::{
    MappingCandidate, MappingStatus, ParameterMapping, bind_with_mappings, learnable_expression,
};
pub use parameters::Parameters;
pub use provenance::ValueChange;
pub use provenance::{Backing, EvaluationInput, InputSource, NestedPart, Provenance, ResolvedBy};
pub use reference::Reference;
pub use reknit_protocol::Exactness;
pub use rename::{RenameError, Renaming};
pub use step_ids::StepIds;
pub use step_results::{StepResult, StepResults};
pub use template::{Template, TextPart, TextTemplate, placeholder_len};
pub use unbound::EvaluationError;
pub use unbound::{AvailableChildren, UnboundParameter, UnboundReason};
