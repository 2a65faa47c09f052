//! Several instances of one service: calls go to the one with the fewest calls under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reknit_protocol::{CallTool, Delivery, JobRequest, ToolReply, TransportFailure, TransportKind};

use crate::source::{CallFuture, Route, not_callable};

/// The routes of one capability to all instances that have it.
#[derive(Debug)]
pub(crate) struct Instances {
    instances: Vec<Instance>,
    /// Where the search for the least loaded instance begins, so that idle instances take turns.
    next: AtomicUsize,
}

#[derive(Debug)]
struct Instance {
    route: Arc<dyn Route>,
    calls: AtomicUsize,
}

impl Instances {
    pub(crate) fn new(routes: Vec<Arc<dyn Route>>) -> Self {
        let instances = routes.into_iter().map(|route| Instance { route, calls: AtomicUsize::new(0) }).collect();
        Self { instances, next: AtomicUsize::new(0) }
    }

    /// All instances, the one with the fewest calls under way first.
    fn by_load(&self) -> Vec<&Instance> {
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        let mut order: Vec<&Instance> = self.instances.iter().collect();
        order.rotate_left(start.checked_rem(self.instances.len()).unwrap_or(0));
        order.sort_by_key(|instance| instance.calls.load(Ordering::Relaxed));
        order
    }

    /// A connection that is refused proves that nothing was sent, so another instance can be asked.
    async fn call_one(&self, call: &CallTool, traceparent: Option<&str>) -> Result<ToolReply, TransportFailure> {
        let mut refused = None;
        for instance in self.by_load() {
            let _under_way = UnderWay::begin(&instance.calls);
            match instance.route.call(call, traceparent).await {
                Err(failure) if failure.kind == TransportKind::Refused && failure.delivery == Delivery::NotSent => {
                    refused = Some(failure);
                }
                outcome => return outcome,
            }
        }
        Err(refused.unwrap_or_else(|| no_instance(call)))
    }

    /// Asks the instance that started the job: the others do not know its handle.
    async fn ask_one(&self, call: &CallTool, request: &JobRequest) -> Result<ToolReply, TransportFailure> {
        let mut unknown = None;
        for instance in &self.instances {
            match instance.route.job(call, request).await {
                Err(failure) if failure.kind == TransportKind::NotCallable => unknown = Some(failure),
                outcome => return outcome,
            }
        }
        Err(unknown.unwrap_or_else(|| no_instance(call)))
    }
}

fn no_instance(call: &CallTool) -> TransportFailure {
    not_callable(format!("`{}` has no instance", call.tool))
}

impl Route for Instances {
    fn call<'a>(&'a self, call: &'a CallTool, traceparent: Option<&'a str>) -> CallFuture<'a> {
        Box::pin(self.call_one(call, traceparent))
    }

    fn job<'a>(&'a self, call: &'a CallTool, request: &'a JobRequest) -> CallFuture<'a> {
        Box::pin(self.ask_one(call, request))
    }
}

/// Counts a call as long as it is under way, also if it is dropped.
struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    fn begin(calls: &'a AtomicUsize) -> Self {
        calls.fetch_add(1, Ordering::Relaxed);
        Self(calls)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use reknit_protocol::{Object, ReplyBody, SideEffect};
    use tokio::sync::Notify;

    use super::*;

    /// An instance that answers with its own status once it is released, or fails.
    #[derive(Debug)]
    struct Scripted {
        status: u16,
        failure: Option<(TransportKind, Delivery)>,
        release: Option<Arc<Notify>>,
    }

    impl Route for Scripted {
        fn call<'a>(&'a self, _call: &'a CallTool, _traceparent: Option<&'a str>) -> CallFuture<'a> {
            Box::pin(async move {
                if let Some(release) = &self.release {
                    release.notified().await;
                }
                if let Some((kind, delivery)) = self.failure {
                    return Err(TransportFailure { kind, delivery, message: self.status.to_string() });
                }
                Ok(ToolReply { status: self.status, retry_after_ms: None, body: ReplyBody::Empty, job: None })
            })
        }

        fn job<'a>(&'a self, call: &'a CallTool, _request: &'a JobRequest) -> CallFuture<'a> {
            self.call(call, None)
        }
    }

    fn answering(status: u16) -> Arc<dyn Route> {
        Arc::new(Scripted { status, failure: None, release: None })
    }

    fn failing(kind: TransportKind, delivery: Delivery) -> Arc<dyn Route> {
        Arc::new(Scripted { status: 0, failure: Some((kind, delivery)), release: None })
    }

    fn call() -> CallTool {
        CallTool {
            id: "s/call/1".parse().expect("an id"),
            step: "s".into(),
            tool: "shop".into(),
            capability: "pay".into(),
            parameters: Object::new(),
            side_effect: SideEffect::Unsafe,
            idempotency_key: None,
            business_key: None,
            timeout_ms: 1_000,
            job: None,
            callback: None,
        }
    }

    async fn status(instances: &Instances) -> Result<u16, TransportKind> {
        instances.call(&call(), None).await.map(|reply| reply.status).map_err(|failure| failure.kind)
    }

    #[tokio::test]
    async fn a_refused_connection_leads_to_the_next_instance() {
        let down = failing(TransportKind::Refused, Delivery::NotSent);
        let instances = Instances::new(vec![Arc::clone(&down), answering(201), Arc::clone(&down)]);
        for _ in 0..6 {
            assert_eq!(status(&instances).await, Ok(201));
        }
        let all_down = Instances::new(vec![Arc::clone(&down), down]);
        assert_eq!(status(&all_down).await, Err(TransportKind::Refused));
    }

    #[tokio::test]
    async fn a_call_that_may_have_arrived_is_not_sent_to_another_instance() {
        let broken = failing(TransportKind::Reset, Delivery::Possible);
        let instances = Instances::new(vec![broken, answering(201)]);
        let outcomes = [status(&instances).await, status(&instances).await];
        assert_eq!(outcomes, [Err(TransportKind::Reset), Ok(201)], "idle instances take turns");
    }

    #[tokio::test]
    async fn the_instance_that_knows_a_job_is_asked_about_it() {
        let ask = JobRequest::Ask("http://127.0.0.1:9/jobs/7".to_owned());
        let asked = async |first: Arc<dyn Route>| {
            let instances = Instances::new(vec![first, answering(200)]);
            instances.job(&call(), &ask).await.map(|reply| reply.status).map_err(|failure| failure.kind)
        };
        assert_eq!(asked(failing(TransportKind::NotCallable, Delivery::NotSent)).await, Ok(200));
        let broken = failing(TransportKind::Reset, Delivery::Possible);
        assert_eq!(asked(broken).await, Err(TransportKind::Reset), "it knows the job, and is asked again later");
    }

    #[tokio::test]
    async fn calls_go_to_the_instance_with_the_fewest_calls_under_way() {
        let release = Arc::new(Notify::new());
        let slow = Arc::new(Scripted { status: 202, failure: None, release: Some(Arc::clone(&release)) });
        let instances = Arc::new(Instances::new(vec![slow, answering(201)]));
        let busy = tokio::spawn({
            let instances = Arc::clone(&instances);
            async move { status(&instances).await }
        });
        tokio::task::yield_now().await;
        for _ in 0..4 {
            assert_eq!(status(&instances).await, Ok(201));
        }
        release.notify_one();
        assert_eq!(busy.await.expect("no panic"), Ok(202));
    }
}
