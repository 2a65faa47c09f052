//! Earlier results in, parameters with provenance out.
//!
//! ```text
//! plan text --parse once--> Parameters --bind(results, schema)--> Bound: values, provenance, changes
//!                                           |                     Unbound: which parameter, and why
//!                                           '-------------------> Misfit: what the tool would reject
//! ```

mod bind;
mod change;
mod correct;
mod decimal;
mod draft;
mod error;
mod evaluate;
mod expression;
mod ids;
mod lookup;
mod nearest;
mod parameters;
mod path_text;
mod provenance;
mod reason;
mod reference;
mod resolve;
mod source;
mod spelling;
mod template;
mod wire;

pub use bind::{Binding, Bound, bind};
pub use change::Change;
pub use correct::{Corrected, CorrectionError, correct};
pub use decimal::Exactness;
pub use error::{ParametersError, TemplateError, TemplateProblem};
pub use evaluate::Evaluated;
pub use expression::{Expression, Function};
pub use parameters::Parameters;
pub use provenance::{Input, InputSource, NestedPart, Provenance};
pub use reason::{Available, Fault, Reason, Unbound};
pub use reference::Reference;
pub use source::{Source, Sources};
pub use template::{Part, Template, Text};
