//! The pages of the web interface: views of runs in, HTML out.
//!
//! ```
//! use reknit_web::{PageFrame, RunList, runs_page};
//!
//! let frame = PageFrame { here: "/", ..PageFrame::default() };
//! let page = runs_page(&frame, &RunList::default()).into_string();
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! ```
//!
//! A page shows what `reknit runs show` and `explain` show: the [`Overview`](reknit_engine::Overview) of a run. It needs no script to
//! be read; `script.js` makes it live. Graph and timeline are SVG. Text of models and tools passes through [`plain_text`] and is
//! escaped, so it can never become markup.
//!
//! | what | where |
//! |---|---|
//! | the frame of every page, style sheet and script | [`PageFrame`], [`STYLE`], [`SCRIPT`] |
//! | the list of runs | [`runs_page`] |
//! | one run: graph, timeline, steps, answer | [`run_page`] |
//! | two runs side by side | [`compare_page`] |
//! | starting a run | [`new_run_page`] |
//! | questions, tools, models, statistics | [`questions_page`], [`tools_page`], [`models_page`], [`stats_page`] |
//! | learned rules | [`rules_page`] |
//! | errors and signing in | [`error_page`], [`sign_in_page`] |

mod compare_page;
mod frame;
mod marks;
mod models_page;
mod new_run_page;
mod outside_text;
mod parameter_diff;
mod question_card;
mod rules_page;
mod run_page;
mod run_usage;
mod runs_page;
mod small_pages;
mod sourced_value;
mod stats_page;
mod tools_page;
mod words;

pub use compare_page::{ComparedRun, compare_choice_page, compare_page};
pub use frame::{PageFrame, SCRIPT, STYLE, Theme};
pub use marks::ListedHealth;
pub use maud::Markup;
pub use models_page::{ListedModel, models_page};
pub use new_run_page::{NewRunForm, NewRunKind, PlanFindings, findings, new_run_page};
pub use outside_text::plain_text;
pub use question_card::AskedQuestion;
pub use rules_page::{ListedRule, RuleCase, RuleList, rules_page};
pub use run_page::{RunFacts, run_page, run_panel};
pub use run_usage::{ErrorUse, ModelPrices, ModelUse, QuestionCost, RunUsage, ToolUse, WeekUse};
pub use runs_page::{ListedRun, RunList, runs_page};
pub use small_pages::{error_page, questions_page, sign_in_page};
pub use stats_page::stats_page;
pub use tools_page::{ListedInstance, ListedTool, ToolCapability, form_parameters, tool_page, tools_page};
