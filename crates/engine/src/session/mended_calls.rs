//! What is told about calls that were not sent as the model wrote them.

use reknit_mend::{Mend, MendEffect, Rung};

use crate::answer::StepReport;
use crate::report::MendedCall;

/// The repairs of a call that changed it or sent it again, for the report.
pub(super) fn mended_calls<'a>(
    turn: u32,
    call: &'a str,
    tool: &'a str,
    mends: &'a [Mend],
) -> impl Iterator<Item = MendedCall> + 'a {
    mends.iter().filter(|mend| mend.effect == MendEffect::Applied).map(move |mend| MendedCall {
        turn,
        call: call.to_owned(),
        tool: tool.to_owned(),
        rung: mend.rung,
        change: mend.description.clone(),
    })
}

/// The approvals of a call, for the report.
pub(super) fn approved_calls(report: &StepReport) -> impl Iterator<Item = String> + '_ {
    report.approvals.iter().map(|approval| format!("`{}` of `{}`: {approval}", report.capability, report.tool))
}

/// All changes of a call, for the model that wrote it; `None` if it was sent as written.
pub(super) fn changes_text(mends: &[Mend]) -> Option<String> {
    let is_change = |mend: &&Mend| mend.effect == MendEffect::Applied && mend.rung != Rung::Resend;
    let changes: Vec<&str> = mends.iter().filter(is_change).map(|mend| mend.description.as_str()).collect();
    (!changes.is_empty()).then(|| changes.join("; "))
}
