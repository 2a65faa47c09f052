//! Operations by the library.

use reknit::plan::read_plan_file;
use reknit::runtime::operations::{self, StartOptions};
use reknit::runtime::{ForkChanges, Refusal, new_run_id, system_ms};
use reknit::{AskPerson, Decision, Object, Reknit, RunError, RunHandle, RunId, Value};
use reknit_engine::{AskScope, Synthesis};

use super::Operation::{
    self, Approve, Cancel, Deny, Edit, EditBadly, Explain, Fork, ForkNowhere, GoOn, Retry, SayItHappened, Start,
};
use super::{Face, Outcome, PLAN, RUN};

pub(super) struct Library {
    reknit: Reknit,
    handle: Option<RunHandle>,
    asked: Option<AskPerson>,
}

impl Library {
    pub(super) fn new(reknit: Reknit) -> Self {
        Self { reknit, handle: None, asked: None }
    }

    /// The handle of the run; of one that there is not before it was started.
    fn handle(&self) -> RunHandle {
        self.handle.clone().unwrap_or_else(|| self.reknit.follow(&RunId::new(RUN)))
    }

    async fn start(&mut self) -> Result<(), String> {
        let (plan, _) = read_plan_file(PLAN).expect("a plan");
        let runtime = self.reknit.runtime();
        let options = StartOptions {
            id: Some(RunId::new(RUN)),
            answer: Some(Synthesis::Template),
            ask: Some(AskScope::All),
            ..StartOptions::default()
        };
        let start = operations::start(runtime, runtime.started("Pay", Some(plan)), options);
        self.handle = Some(self.reknit.start(start.map_err(|refusal| refusal.to_string())?));
        self.settle().await;
        Ok(())
    }

    /// Waits until the run goes on, if it can.
    async fn go_on(&mut self, handle: RunHandle) -> Result<(), String> {
        match handle.settled().await {
            Err(RunError::NotDriven(error)) => Err(error.to_string()),
            other => {
                other.expect("it goes on");
                self.handle = Some(handle);
                self.settle().await;
                Ok(())
            }
        }
    }

    async fn fork(&self, at: &str) -> Result<(), String> {
        let (runtime, run) = (self.reknit.runtime(), RunId::new(RUN));
        let fork = operations::fork(runtime, &run, at, &ForkChanges::default(), (new_run_id().0, system_ms())).await;
        let fork = fork.map_err(|error| error.to_string())?;
        runtime.driver().start_fork(fork).await.expect("it is driven");
        Ok(())
    }

    async fn decide(&mut self, decision: Decision) -> Result<(), String> {
        let asked = self.asked.as_ref().expect("it asks");
        self.handle().decide(asked, decision).await.map(|_| ()).map_err(|refusal: Refusal| refusal.to_string())
    }

    /// Waits until the run has ended or waits for a person, and looks at its question.
    async fn settle(&mut self) {
        self.handle().settled().await.expect("it is driven");
        if let Some(question) = self.handle().questions().await.expect("it can be read").into_iter().next() {
            self.asked = Some(question);
        }
    }
}

fn amount(amount: i64) -> Decision {
    Decision::Edit { parameters: Object::from([("amount", amount.into())]) }
}

impl Face for Library {
    async fn act(&mut self, operation: Operation) -> Outcome {
        let run = RunId::new(RUN);
        let outcome = match operation {
            Start => self.start().await,
            SayItHappened => self.decide(Decision::Happened { result: Value::Null }).await,
            EditBadly => self.decide(amount(0)).await,
            Edit => self.decide(amount(5)).await,
            Deny => self.decide(Decision::Deny { reason: Some("too much".to_owned()) }).await,
            Approve => self.decide(Decision::Approve).await,
            GoOn => self.go_on(self.reknit.resume(&run)).await,
            Retry => {
                let handle = self.reknit.retry(&run);
                match handle.continued().await {
                    Err(RunError::NotDriven(error)) => Err(error.to_string()),
                    _ => self.go_on(handle).await,
                }
            }
            Cancel => self.handle().cancel().await.map(|_| ()).map_err(|refusal| refusal.to_string()),
            Explain => match self.handle().explain().await {
                Ok(explanation) => {
                    let text = serde_json::to_string(&explanation).expect("JSON");
                    return Outcome::Explained(Box::new(Value::parse(&text).expect("JSON")));
                }
                Err(refusal) => Err(refusal.to_string()),
            },
            Fork => self.fork("pay").await,
            ForkNowhere => self.fork("nowhere").await,
        };
        outcome.into()
    }
}
