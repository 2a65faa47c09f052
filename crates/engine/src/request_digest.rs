//! The digest of a request: whether two starts with the same run id want the same.

use reknit_model_api::{Attachment, AttachmentSource};
use reknit_plan::PlanAuthor;
use reknit_protocol::{Object, Plan, Value};

use crate::digest::short_digest;
use crate::metadata::Metadata;
use crate::session_start::SessionStarted;
use crate::{Started, SubAgent};

/// A digest of what the caller of a run chose: the request, the plan, its inputs and the metadata; of a session the agent and its
/// input. What may differ between two attempts of the same script is not part of it: tools, models, limits and other settings.
///
/// It prints as 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestDigest(String);

impl RequestDigest {
    /// The digest of a run. The order of the inputs does not count.
    pub fn of_run(request: &str, plan: Option<&Plan>, inputs: &Object, metadata: &Metadata) -> Self {
        Self::of_run_by(PlanAuthor::Person, request, plan, inputs, metadata)
    }

    fn of_run_by(author: PlanAuthor, request: &str, plan: Option<&Plan>, inputs: &Object, metadata: &Metadata) -> Self {
        let mut inputs: Vec<(&str, &Value)> = inputs.iter().collect();
        inputs.sort_unstable_by_key(|(name, _)| *name);
        let inputs = inputs.into_iter().flat_map(|(name, value)| [name.to_owned(), value.to_string()]);
        let plan = plan.map_or_else(String::new, |plan| plan.to_value().to_string());
        let author = if author == PlanAuthor::Person { "person" } else { "model" };
        let fixed = ["run".to_owned(), author.to_owned(), request.to_owned(), plan];
        Self::of_texts(fixed.into_iter().chain(inputs).chain(metadata_texts(metadata)))
    }

    /// The digest of a session. `agent` are the texts that define it: its file, and the files of the agents that it may call.
    pub fn of_session<'a>(agent: impl IntoIterator<Item = &'a str>, input: &str, metadata: &Metadata) -> Self {
        let agent = agent.into_iter().map(str::to_owned);
        let fixed = ["session".to_owned(), input.to_owned()];
        Self::of_texts(fixed.into_iter().chain(metadata_texts(metadata)).chain(agent))
    }

    /// The digest of the same request with these attachments.
    #[must_use]
    pub fn with_attachments(self, attachments: &[Attachment]) -> Self {
        if attachments.is_empty() {
            return self;
        }
        let texts = attachments.iter().flat_map(|Attachment { media_type, source, .. }| {
            let (AttachmentSource::Base64(text) | AttachmentSource::Path(text) | AttachmentSource::Url(text)) = source;
            [media_type.clone(), text.clone()]
        });
        Self::of_texts(["attachments".to_owned(), self.0].into_iter().chain(texts))
    }

    /// The digest of the same request with a plan whose steps run agents. `agents` are the texts that define them.
    #[must_use]
    pub fn with_agents<'a>(self, agents: impl IntoIterator<Item = &'a str>) -> Self {
        let texts: Vec<String> = agents.into_iter().map(str::to_owned).collect();
        if texts.is_empty() {
            return self;
        }
        Self::of_texts(["agents".to_owned(), self.0].into_iter().chain(texts))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn of_texts(texts: impl Iterator<Item = String>) -> Self {
        let texts: Vec<String> = texts.collect();
        Self(short_digest(&texts.iter().map(String::as_str).collect::<Vec<_>>()))
    }
}

impl std::fmt::Display for RequestDigest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

/// The number of entries, then each key and value.
fn metadata_texts(metadata: &Metadata) -> impl Iterator<Item = String> {
    let texts: Vec<String> = metadata.iter().flat_map(|(key, value)| [key.to_owned(), value.to_owned()]).collect();
    std::iter::once(format!("metadata {}", texts.len())).chain(texts)
}

impl Started {
    pub fn request_digest(&self) -> RequestDigest {
        let mut agents = Vec::new();
        self.agents.iter().for_each(|agent| add_agent(&agent.session, &agent.description, &mut agents));
        RequestDigest::of_run_by(self.plan_author, &self.request, self.plan.as_ref(), &self.inputs, &self.metadata)
            .with_attachments(&self.attachments)
            .with_agents(agents.iter().map(String::as_str))
    }
}

impl SessionStarted {
    /// The digest of the request: the input, the metadata, and the name, instructions and form of the report of the agent and of
    /// those that it may call.
    pub fn request_digest(&self) -> RequestDigest {
        let mut texts = Vec::new();
        add_agent(self, "", &mut texts);
        RequestDigest::of_session(texts.iter().map(String::as_str), &self.input, &self.metadata)
            .with_attachments(&self.attachments)
    }
}

fn add_agent(session: &SessionStarted, description: &str, texts: &mut Vec<String>) {
    let schema = session.rules.report.schema.as_ref().map_or_else(String::new, ToString::to_string);
    let format = format!("{:?}", session.rules.report.format);
    texts.extend([session.agent.clone(), description.to_owned(), session.prompt.clone(), format, schema]);
    texts.push(session.agents.len().to_string());
    for SubAgent { name: _, description, session } in &session.agents {
        add_agent(session, description, texts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(pairs: &[(&str, &str)]) -> Metadata {
        Metadata::from_pairs(pairs.iter().copied()).unwrap()
    }

    fn inputs(pairs: &[(&str, i64)]) -> Object {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
    }

    fn of(request: &str, inputs: &Object, metadata: &Metadata) -> RequestDigest {
        RequestDigest::of_run(request, None, inputs, metadata)
    }

    #[test]
    fn everything_that_the_caller_chose_changes_the_digest() {
        let (no_inputs, nobody) = (Object::new(), Metadata::default());
        let plan = Plan::new("p", "x", Vec::new());
        let digests = [
            of("x", &no_inputs, &nobody),
            of("y", &no_inputs, &nobody),
            of("x", &inputs(&[("a", 1)]), &nobody),
            of("x", &inputs(&[("a", 2)]), &nobody),
            of("x", &no_inputs, &metadata(&[("a", "1")])),
            RequestDigest::of_run("x", Some(&plan), &no_inputs, &nobody),
            RequestDigest::of_session(["agent"], "x", &nobody),
            RequestDigest::of_session(["other agent"], "x", &nobody),
            RequestDigest::of_session(["agent"], "y", &nobody),
            RequestDigest::of_session(["agent"], "x", &metadata(&[("a", "1")])),
        ];
        for (at, digest) in digests.iter().enumerate() {
            assert_eq!(digest.as_str().len(), 32);
            assert!(digests.iter().skip(at + 1).all(|other| other != digest), "digest {at} is not alone");
        }
    }

    #[test]
    fn the_order_of_inputs_and_metadata_does_not_change_the_digest() {
        let one = of("x", &inputs(&[("a", 1), ("b", 2)]), &metadata(&[("t", "1"), ("u", "2")]));
        let two = of("x", &inputs(&[("b", 2), ("a", 1)]), &metadata(&[("u", "2"), ("t", "1")]));
        assert_eq!(one, two);
    }
}
