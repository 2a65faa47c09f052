//! Earlier results in, parameters with provenance out.
//!
//! ```text
//! plan text --parsed once--> Parameters --bind(results, schema)--> Bound:   values, where each comes from, changes
//!                                                                  Unbound: which parameter has no value, and why
//!                                                                  Misfit:  what the tool would reject
//! ```
//!
//! A parameter is a literal, a reference to an earlier result, a calculation over results, or a text with those in it.
//! What the plan leaves out is wired from a result where there is exactly one that can be meant. Nothing is sent that is
//! not known to fit, and every value says where it comes from.
//!
//! ```
//! use std::collections::BTreeMap;
//! use reknit_bind::{Binding, Parameters, bind};
//! use reknit_protocol::{StepId, Value};
//!
//! let ids: [StepId; 1] = ["step-1".into()];
//! let plan = Value::parse(r#"{"amount": "{{100 * step-1.price}}", "note": "100 shares at {{step-1.price}}"}"#)?;
//! let parameters = Parameters::parse(plan.as_object().expect("it is one"), &ids)?;
//! assert_eq!(parameters.steps(), ids);
//!
//! let results = BTreeMap::from([(ids[0].clone(), Value::parse(r#"{"price": 468.285}"#)?)]);
//! let Binding::Bound(bound) = bind(&parameters, &results, &ids, None) else { panic!("it binds") };
//! assert_eq!(bound.parameters.to_string(), r#"{"amount":46828.5,"note":"100 shares at 468.285"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The language
//!
//! ```text
//! text        = { anything | "{{{{" | hole }             "{{{{" stands for two braces
//! hole        = "{{" expression "}}"                     a hole that is the whole text keeps the type of its value
//! expression  = comparison { "??" comparison }           the first that is there and not null
//! comparison  = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
//! sum         = product { ("+" | " -") product }         a minus that subtracts needs a space before it
//! product     = signed { ("*" | "/" | "%") signed }
//! signed      = "-" signed | single
//! single      = number | "text" | 'text' | true | false | null | step path | hole
//!             | name "(" expression { "," expression } ")" path | "(" expression ")" path
//! path        = { "." key | "[" position "]" | "[" "any key" "]" }
//! step        = an id of the plan, the longest that matches | "[" "any id" "]"
//! key         = letters, digits, "_", and "-" between them
//! ```
//!
//! ```
//! use std::collections::BTreeMap;
//! use reknit_bind::Expression;
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
//! ] {
//!     let expression = Expression::parse(text, &["shop-1".into()])?;
//!     assert_eq!(expression.evaluate(&results)?.value.to_string(), expected);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - A reference is looked up in the body of the answer, and in one envelope around it (`response`, `data`, `result`). If
//!   both have it and differ, it is ambiguous. `response` in a body without such a key is the body itself.
//! - Missing is not null. `??` covers both, and a calculation with either of them; it never covers a step that failed, was
//!   skipped or is not done.
//! - Numbers are decimals of 34 digits, rounded half to even where those do not suffice, and then marked
//!   ([`Exactness`]). What is only passed on keeps all its digits.
//! - A text is a number only in arithmetic and beside a number in a comparison, only if it is strictly a JSON number, and
//!   it is recorded. `+` does not join texts: write them side by side in one text.
//! - In a text, numbers stand as they were written; null, lists and objects are errors.
//! - Results are never read as templates. Size, depth and work are bounded: 64 KiB, 48 levels and 2000 parts to an
//!   expression, and a fixed amount of work to a step.
//!
//! [`Function`] lists the functions, [`Reason`] everything that can keep a parameter from its value, [`TemplateProblem`]
//! everything that can be wrong with a text. [`project_results`] says what a model may see that is asked for a parameter
//! without a value, [`supply`] takes in its answer, [`lesson`] and [`bind_as_learned`] keep it for the next time; [`correct`]
//! applies what it says should be different, [`explain`] says whether a number in it follows from the results, and
//! [`correct_to`] applies what code does.

mod bind;
mod change;
mod correct;
mod decimal;
mod draft;
mod error;
mod evaluate;
mod explain;
mod expression;
mod ids;
mod lookup;
mod mapping;
mod parameters;
mod path_text;
mod project;
mod provenance;
mod reason;
mod reference;
mod resolve;
mod source;
mod supply;
mod template;
mod wire;

pub use bind::{Binding, Bound, Optional, bind};
pub use change::Change;
pub use correct::{Corrected, CorrectionError, correct, correct_to};
pub use decimal::Exactness;
pub use error::{ParametersError, TemplateError, TemplateProblem};
pub use evaluate::Evaluated;
pub use explain::explain;
pub use expression::{Expression, Function};
pub use ids::Ids;
pub use mapping::{Known, Mapping, bind_as_learned, lesson};
pub use parameters::Parameters;
pub use project::{project, project_results};
pub use provenance::{Backing, Finder, Input, InputSource, NestedPart, Provenance};
pub use reason::{Available, Fault, Reason, Unbound};
pub use reference::Reference;
pub use source::{Source, Sources};
pub use supply::{Supplied, supply};
pub use template::{Part, Template, Text};
