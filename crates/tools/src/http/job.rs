//! Jobs of services over HTTP: a call is answered with 202 and a status URL, which is asked until the job has ended.

use reknit_protocol::spelling::folded;
use reknit_protocol::{Category, ReplyBody, ToolJob, ToolReply, Value};
use reqwest::Url;
use reqwest::header::{HeaderMap, LOCATION};

use super::address::Address;
use crate::reply_body::parse_body;
use crate::secrets::KnownSecrets;

/// The header with which a service says that it calls back.
pub(crate) const CALLBACK_HEADER: &str = "x-reknit-callback";
const CALLBACK_ACCEPTED: &str = "accepted";

/// The headers that may hold the status URL, the most specific one first.
const STATUS_HEADERS: [&str; 3] = ["operation-location", "location", "content-location"];
/// The members of a body that may hold it.
const STATUS_MEMBERS: [&str; 2] = ["status_url", "statusUrl"];
/// The members of a body that may hold the links of a resource, `status` among them.
const LINK_MEMBERS: [&str; 2] = ["_links", "links"];
/// The members of a state that may hold the result of the job.
const RESULT_MEMBERS: [&str; 3] = ["result", "response", "output"];

/// Words for the states of jobs, without case and separators, each list as one text.
const RUNNING: &str = "accepted building creating deleting deploying executing initializing inprogress inqueue notstarted \
    paused pending processing provisioning queued retrying running scheduled started starting submitted \
    updating validating waiting working";
const DONE: &str = "complete completed done finished ok ready succeeded success successful";
const FAILED: &str = "aborted canceled cancelled error errored expired failed failure rejected terminated timedout";

#[derive(Clone, Copy)]
pub(crate) struct JobSite<'a> {
    pub(crate) address: &'a Address,
    pub(crate) requested: &'a Url,
    pub(crate) secrets: &'a KnownSecrets,
    /// Whether the service knows where to call back.
    pub(crate) has_callback: bool,
}

impl JobSite<'_> {
    /// The job that an answer with status 202 announces. Without a status URL, and without a promise to call back, there is none.
    pub(crate) fn announced(self, headers: &HeaderMap, body: &ReplyBody) -> Option<ToolJob> {
        let accepted = |word: String| word.eq_ignore_ascii_case(CALLBACK_ACCEPTED);
        let calls_back = self.has_callback && header(headers, CALLBACK_HEADER).is_some_and(accepted);
        let url = STATUS_HEADERS.iter().find_map(|name| header(headers, name)).or_else(|| url_in(&body.to_value()));
        match url.map(|text| self.handle(&text)) {
            Some(Ok(handle)) => Some(ToolJob::Ask { handle }),
            Some(Err(_)) | None if calls_back => Some(ToolJob::CallsBack),
            Some(Err(reason)) => Some(ToolJob::NotFollowed { reason }),
            None => None,
        }
    }

    /// The target of a redirect, as a handle.
    pub(crate) fn redirect(self, headers: &HeaderMap) -> Option<Result<String, String>> {
        header(headers, LOCATION.as_str()).map(|text| self.handle(&text))
    }

    /// The status URL without credentials, or why it is not followed.
    fn handle(self, text: &str) -> Result<String, String> {
        let url = self.requested.join(text).map_err(|error| format!("its status URL cannot be read: {error}"))?;
        let mut url = self.address.without_credentials(url).map_err(|host| {
            format!("its status URL is at another host ({host}) than the service, and is not followed")
        })?;
        let is_secret = |text: &str| self.secrets.redact(text) != text;
        if url.query().is_some_and(is_secret) {
            let pairs = url.query().unwrap_or_default().split('&');
            let kept: Vec<&str> = pairs.filter(|pair| !is_secret(pair)).collect();
            let query = (!kept.is_empty()).then(|| kept.join("&"));
            url.set_query(query.as_deref());
        }
        if is_secret(url.as_str()) {
            return Err("its status URL contains a credential, and is not followed".to_owned());
        }
        Ok(url.into())
    }
}

/// The reply that a callback with this body is, without the secrets; `None` if it says that the job goes on.
pub fn callback_reply(bytes: &[u8], secrets: &KnownSecrets) -> Option<ToolReply> {
    // Only a body that claims to be JSON can be refused.
    let body = parse_body(&secrets.redact_bytes(bytes.to_vec()), false).unwrap_or(ReplyBody::Empty);
    // The escapes of JSON may have hidden a secret in the bytes.
    let body = secrets.redact_body(body);
    let reply = state_in_body(ToolReply { status: 200, retry_after_ms: None, body, job: None }, "");
    reply.job.is_none().then_some(reply)
}

/// What the answer of a status URL says about the job: the reply is that of the job if it has ended, and otherwise has a job.
pub(crate) fn state(reply: ToolReply, handle: &str) -> ToolReply {
    let running = || Some(ToolJob::Ask { handle: handle.to_owned() });
    let about = |status: u16| format!("its status URL answered with status {status}");
    let job = match reply.status {
        // The caller has asked in vain already: a redirect to another host, or a result that is too large.
        _ if matches!(reply.job, Some(ToolJob::NotFollowed { .. })) => reply.job.clone(),
        202 => reply.job.clone().filter(|job| matches!(job, ToolJob::Ask { .. })).or_else(running),
        200..=299 => return state_in_body(ToolReply { job: None, ..reply }, handle),
        404 | 410 => Some(ToolJob::Lost { reason: format!("{}: the job is not known any more", about(reply.status)) }),
        // The credentials can be corrected, and the service can come back, while the job goes on.
        401 | 403 | 407 | 408 | 425 | 429 | 500.. => running(),
        status => Some(ToolJob::NotFollowed { reason: about(status) }),
    };
    ToolReply { job, ..reply }
}

fn state_in_body(reply: ToolReply, handle: &str) -> ToolReply {
    match job_state(&reply.body.to_value()) {
        JobState::Running => ToolReply { job: Some(ToolJob::Ask { handle: handle.to_owned() }), ..reply },
        JobState::Done(result) => {
            let body = match reply.body {
                ReplyBody::Repaired { fixes, .. } => ReplyBody::Repaired { value: result, fixes },
                ReplyBody::Json(_) | ReplyBody::Text(_) | ReplyBody::Empty => ReplyBody::Json(result),
            };
            ToolReply { body, ..reply }
        }
        JobState::Failed { status } => ToolReply { status, retry_after_ms: None, ..reply },
        JobState::NotStated => reply,
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JobState {
    Running,
    /// It has ended with this result.
    Done(Value),
    /// It has failed, as if the call had been answered with this status.
    Failed {
        status: u16,
    },
    /// The body names no state: it is the result.
    NotStated,
}

/// The state that a body names in `status` or `state`, or with `done`.
pub(crate) fn job_state(body: &Value) -> JobState {
    let body = unwrapped(body);
    let done = body.get("done").and_then(Value::as_bool);
    let word = ["status", "state"].iter().find_map(|name| body.get(name)?.as_str()).map(folded);
    let is_one_of = |words: &str| word.as_deref().is_some_and(|word| words.split(' ').any(|known| known == word));
    let has_error = body.get("error").is_some_and(|error| !error.is_null());
    if is_one_of(FAILED) || (done == Some(true) && has_error) {
        return JobState::Failed { status: failed_status(body) };
    }
    if done == Some(false) || is_one_of(RUNNING) {
        return JobState::Running;
    }
    if done == Some(true) || is_one_of(DONE) {
        let result = RESULT_MEMBERS.iter().find_map(|name| body.get(name)).unwrap_or(body);
        return JobState::Done(result.clone());
    }
    JobState::NotStated
}

/// The status of a failed job: the one that its error states, or that of its category.
fn failed_status(body: &Value) -> u16 {
    let error = body.get("error").unwrap_or(body);
    let number = |name: &str| error.get(name)?.to_string().parse::<u16>().ok().filter(|it| (400..600).contains(it));
    let category = || error.get("category").and_then(Value::as_str).map(Category::from);
    let of_category = || category().filter(|it| !matches!(it, Category::Other(_))).map(|it| it.status());
    number("status").or_else(|| number("code")).or_else(of_category).unwrap_or(500)
}

/// The data of a success in the envelope of the tool protocol, or any other body as it is.
fn unwrapped(body: &Value) -> &Value {
    let is_success = body.get("success").and_then(Value::as_bool) == Some(true);
    body.get("data").filter(|_| is_success).unwrap_or(body)
}

fn url_in(body: &Value) -> Option<String> {
    let body = unwrapped(body);
    let member = STATUS_MEMBERS.iter().find_map(|name| body.get(name)?.as_str());
    let link = || {
        let links = LINK_MEMBERS.iter().find_map(|name| body.get(name)?.get("status"))?;
        links.as_str().or_else(|| links.get("href")?.as_str())
    };
    member.or_else(link).map(str::to_owned)
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        Value::parse(text).expect("valid JSON")
    }

    #[test]
    fn the_state_of_a_job_is_read_from_the_words_that_services_use() {
        for (body, expected) in [
            (r#"{"status": "Running"}"#, JobState::Running),
            (r#"{"state": "IN_PROGRESS", "percent": 3}"#, JobState::Running),
            (r#"{"status": "NotStarted"}"#, JobState::Running),
            (r#"{"name": "operations/7", "done": false}"#, JobState::Running),
            (r#"{"status": "Succeeded", "result": {"id": 9}}"#, JobState::Done(value(r#"{"id": 9}"#))),
            (r#"{"done": true, "response": {"id": 9}}"#, JobState::Done(value(r#"{"id": 9}"#))),
            (r#"{"status": "completed", "id": 9}"#, JobState::Done(value(r#"{"status": "completed", "id": 9}"#))),
            (r#"{"status": "failed", "error": "no paper"}"#, JobState::Failed { status: 500 }),
            (r#"{"state": "CANCELLED"}"#, JobState::Failed { status: 500 }),
            (r#"{"done": true, "error": {"code": 3, "message": "bad"}}"#, JobState::Failed { status: 500 }),
            (r#"{"status": "failed", "error": {"status": 422}}"#, JobState::Failed { status: 422 }),
            (r#"{"status": "error", "error": {"category": "NOT_FOUND"}}"#, JobState::Failed { status: 404 }),
            (r#"{"success": true, "data": {"status": "running"}}"#, JobState::Running),
            (r#"{"success": true, "data": {"state": "done", "result": 9}}"#, JobState::Done(value("9"))),
            (r#"{"success": false, "error": {"message": "no"}}"#, JobState::NotStated),
            (r#"{"id": 9}"#, JobState::NotStated),
            (r#"{"status": "shipped", "id": 9}"#, JobState::NotStated),
            (r#"{"status": 200}"#, JobState::NotStated),
            ("[1]", JobState::NotStated),
        ] {
            assert_eq!(job_state(&value(body)), expected, "{body}");
        }
    }
}
