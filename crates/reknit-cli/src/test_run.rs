//! The start of a run, for unit tests.

use std::sync::Arc;

use reknit_engine::{Earlier, Event, EventKind, MACHINE_VERSION, Metadata, Policy, Started};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool, PlanAuthor};
use reknit_protocol::{Object, Plan, Step};

/// The start of a run with these steps, and with one tool.
pub(crate) fn started(tool: &str, entry: CatalogueEntry, steps: Vec<Step>, policy: Policy) -> Event {
    let tool = CatalogueTool { name: tool.into(), description: String::new(), capabilities: vec![entry] };
    let started = Started {
        run: "r".into(),
        request: "x".to_owned(),
        plan: Some(Plan::new("p", "x", steps)),
        plan_author: PlanAuthor::Person,
        inputs: Object::new(),
        attachments: Vec::new(),
        agents: Vec::new(),
        metadata: Metadata::default(),
        catalogue: Arc::new(Catalogue { tools: vec![tool] }),
        targets: Vec::new(),
        policy: Arc::new(policy),
        templates: Arc::default(),
        mappings: Vec::new(),
        seed: 7,
        trace_parent: None,
        fork: None,
        earlier: Earlier::default(),
        machine_version: MACHINE_VERSION,
    };
    Event { at_ms: 0, kind: EventKind::Started(Box::new(started)) }
}
