//! The table of signals: every name is produced on some path, and a contract name only on its own paths.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use reknit_telemetry::{Signal, SignalKind, markdown_tables, prometheus_series, table};

use crate::contract::CONTRACT;
use crate::paths::paths;
use crate::sessions::session_paths;
use crate::signals::signals_of;

fn names(signals: &[Signal]) -> BTreeSet<&'static str> {
    signals.iter().flat_map(Signal::names).collect()
}

#[test]
fn each_contract_name_is_produced_on_its_paths_of_a_run_only() {
    let contract: BTreeSet<&str> = CONTRACT.iter().map(|(name, _)| *name).collect();
    for (case, events, expected) in paths() {
        let produced: BTreeSet<_> = names(&signals_of(&events)).intersection(&contract).copied().collect();
        assert_eq!(produced, BTreeSet::from_iter(expected), "case: {case}");
    }
}

#[test]
fn each_contract_name_is_produced_on_its_paths_of_a_session_only() {
    let contract: BTreeSet<&str> = CONTRACT.iter().map(|(name, _)| *name).collect();
    let always = ["ai_agent_final_report_total", "ai_agent_final_report_attempts_total", "ai_agent_final_report_turns"];
    for (case, events, expected) in session_paths() {
        let produced: BTreeSet<_> = names(&signals_of(&events)).intersection(&contract).copied().collect();
        assert_eq!(produced, expected.into_iter().chain(always).collect(), "case: {case}");
    }
}

#[test]
fn the_paths_produce_every_name_of_the_table_and_no_other() {
    let produced: BTreeSet<&str> = paths()
        .into_iter()
        .map(|(_, events, _)| events)
        .chain(session_paths().into_iter().map(|(_, events, _)| events))
        .flat_map(|events| names(&signals_of(&events)))
        .collect();
    let listed: BTreeSet<&str> = table().iter().map(|entry| entry.name).collect();
    assert_eq!(listed.difference(&produced).collect::<Vec<_>>(), Vec::<&&str>::new(), "no path produces these");
    assert_eq!(produced.difference(&listed).collect::<Vec<_>>(), Vec::<&&str>::new(), "these are not in the table");
    let missing: Vec<&str> = CONTRACT.iter().map(|(name, _)| *name).filter(|name| !listed.contains(name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn names_are_unique_and_labels_of_metrics_are_closed() {
    let mut seen = BTreeSet::new();
    let labels = BTreeSet::from([
        "agent",
        "capability",
        "decision",
        "forced_final_reason",
        "http_status",
        "module",
        "provider",
        "purpose",
        "reason",
        "rule",
        "source",
        "status",
        "synthetic_reason",
        "type",
        "will_retry",
    ]);
    for entry in table() {
        assert!(seen.insert((entry.name, matches!(entry.kind, SignalKind::Log(..)))), "{} is listed twice", entry.name);
        if matches!(entry.kind, SignalKind::Counter | SignalKind::Histogram) {
            assert!(entry.keys.iter().all(|key| labels.contains(key)), "{entry:?}");
        }
        assert!(!entry.description.is_empty() && !entry.name.is_empty());
    }
}

/// Prometheus queries of existing dashboards and alerts.
const QUERIES: [&str; 14] = [
    "sum(rate(orchestration_semantic_retry_success_total[5m]))
     / sum(rate(orchestration_semantic_retry_success_total[5m]) + rate(orchestration_semantic_retry_cannot_fix_total[5m]))",
    "histogram_quantile(0.99, rate(orchestration_semantic_retry_llm_latency_ms_bucket[5m]))",
    "rate(orchestration_semantic_retry_llm_errors_total[5m])",
    "sum(rate(orchestration_type_coercion_applied_total[5m])) by (capability)",
    "sum(rate(orchestration_type_coercion_applied_total[5m]))",
    "sum(rate(orchestration_validation_feedback_attempts_total[5m])) by (agent)",
    "sum(rate(orchestration_validation_feedback_success_total[5m])) /
     sum(rate(orchestration_validation_feedback_attempts_total[5m]))",
    "sum(rate(orchestration_validation_feedback_failed_total[5m])) by (reason)",
    "sum(rate(orchestration_semantic_retry_success_total[5m])) /
     sum(rate(orchestration_semantic_retry_attempts_total[5m]))",
    "sum(rate(orchestration_semantic_retry_independent_step_total[5m])) by (capability)",
    "ai_agent_final_report_total{source!=\"tool-call\"}",
    "rate(ai_agent_final_report_attempts_total[5m])",
    "histogram_quantile(0.95, rate(ai_agent_final_report_turns_bucket[5m]))",
    "sum(rate(ai_agent_retry_collapse_total[5m])) by (reason)",
];

#[test]
fn every_series_of_the_existing_queries_exists() {
    let series: Vec<(String, &[&str])> = table()
        .into_iter()
        .flat_map(|entry| prometheus_series(entry.name, entry.kind).into_iter().map(move |series| (series, entry.keys)))
        .collect();
    for query in QUERIES {
        let words = query.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let asked: Vec<&str> =
            words.filter(|word| word.starts_with("orchestration_") || word.starts_with("ai_agent_")).collect();
        assert!(!asked.is_empty(), "{query}");
        for word in asked {
            let found = series.iter().find(|(name, _)| name == word);
            let (_, labels) = found.unwrap_or_else(|| panic!("there is no series {word}"));
            let by = query.split_once("by (").and_then(|(_, rest)| rest.split_once(')')).map(|(label, _)| label);
            assert!(by.is_none_or(|label| labels.contains(&label)), "{word} has no label {by:?}");
        }
    }
    for (name, _) in &series {
        assert!(!name.contains("total_total") && !name.contains("ms_ms"), "{name}");
    }
    let spelled = |name: &str| series.iter().any(|(series, _)| series == name);
    assert!(spelled("ai_request_total") && spelled("plan_generation_total") && spelled("ai_tokens_used_total"));
}

#[test]
fn the_documentation_contains_the_table() {
    let tables = markdown_tables();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/telemetry.md");
    let written = fs::read_to_string(&file).expect("the file is readable");
    let (head, _) = written.split_once("## Spans\n").expect("the tables begin with spans");
    let current = format!("{head}{}", tables.trim_end());
    if env::var_os("WRITE_DOCS").is_some() {
        fs::write(&file, format!("{current}\n")).expect("the file is writable");
    } else {
        assert!(written.trim_end() == current, "docs/telemetry.md is out of date; run this test with WRITE_DOCS=1");
    }
    for entry in table() {
        assert!(tables.contains(&format!("| `{}` |", entry.name.trim_end())), "{}", entry.name);
    }
}
