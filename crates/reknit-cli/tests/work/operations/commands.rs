//! Operations by command.

use reknit::Value;

use super::Operation::{
    self, Approve, Cancel, Deny, Edit, EditBadly, Explain, Fork, ForkNowhere, GoOn, Retry, SayItHappened, Start,
};
use super::{Face, Outcome, RUN};
use crate::world::{World, text};

pub(super) struct Commands<'w>(pub(super) &'w World);

impl Face for Commands<'_> {
    async fn act(&mut self, operation: Operation) -> Outcome {
        let arguments: &[&str] = match operation {
            Start => &["run", "--run-id", RUN, "--answer", "template", "plan.yaml"],
            SayItHappened => &["runs", "settle", RUN, "--happened"],
            EditBadly => &["runs", "approve", RUN, "--set", "amount=0"],
            Edit => &["runs", "approve", RUN, "--set", "amount=5"],
            Deny => &["runs", "deny", RUN, "--reason", "too much"],
            Approve => &["runs", "approve", RUN],
            GoOn => &["runs", "resume", RUN],
            Retry => &["runs", "retry", RUN],
            Cancel => &["runs", "cancel", RUN],
            Explain => &["runs", "explain", RUN, "--json"],
            Fork => &["runs", "fork", RUN, "--at", "pay"],
            ForkNowhere => &["runs", "fork", RUN, "--at", "nowhere"],
        };
        let output = self.0.output(arguments);
        let (status, error) = (output.status.code().unwrap_or_default(), text(&output.stderr));
        let json = Value::parse(text(&output.stdout).trim()).ok();
        let message = error.lines().find_map(|line| line.strip_prefix("error: ")).map(str::to_owned);
        // With `--json` the error is data, too.
        let in_json = json.as_ref().and_then(|json| json.get("error")?.get("message")?.as_str());
        let message = message.or_else(|| in_json.map(str::to_owned));
        assert_eq!(status == 2, message.is_some(), "{operation:?}: {status} {error}");
        match (message, operation) {
            (Some(message), _) => Outcome::Refused(message),
            (None, Explain) => Outcome::Explained(Box::new(json.expect("an explanation"))),
            (None, _) => Outcome::Done,
        }
    }
}
