//! Which tools a run called.

use std::collections::BTreeSet;

use reknit_engine::Overview;

/// The capabilities that a run called, each as `tool/capability`. What is not known, as of a run that no machine restores, is left
/// out.
pub(super) fn used_tools(overview: &Overview) -> BTreeSet<String> {
    match overview {
        Overview::Run(run) => run.steps.iter().map(|step| format!("{}/{}", step.tool, step.capability)).collect(),
        // Models know a capability as `tool__capability`.
        Overview::Session(session) => {
            let calls = session.conversation.iter().filter_map(|line| line.strip_prefix("call "));
            let names = calls.filter_map(|call| call.split_whitespace().next());
            names.map(|name| name.replacen("__", "/", 1)).collect()
        }
        Overview::Bare(_) => BTreeSet::new(),
    }
}
