//! The table: every name is told on some path, those of the contract on no other than theirs.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use reknit_engine::telemetry::{Kind, Signal, page, prometheus_series, table};

use crate::paths::paths;
use crate::sessions::session_paths;
use crate::told::told;

/// What dashboards and habits rely upon, besides the names of sessions.
const CONTRACT: [&str; 56] = [
    "orchestration.process_request",
    "orchestration.step_execution",
    "http.client.request",
    "llm.plan_generation.request",
    "llm.plan_generation.response",
    "llm.plan_generation.parse_error",
    "llm.plan_generation.error",
    "type_coercion_applied",
    "validation_feedback_started",
    "validation_feedback_success",
    "validation_feedback_failed",
    "error_analyzer.llm_call_start",
    "error_analyzer.analysis_complete",
    "llm_error_analysis_no_retry",
    "contextual_re_resolution.start",
    "contextual_re_resolution.error",
    "contextual_re_resolution.parse_error",
    "contextual_re_resolution.complete",
    "semantic_retry_applied",
    "llm.synthesis.response",
    "orchestration.type_coercion.applied",
    "orchestration.validation_feedback.attempts",
    "orchestration.validation_feedback.success",
    "orchestration.validation_feedback.failed",
    "orchestration.error_analysis.no_retry",
    "orchestration.semantic_retry.attempts",
    "orchestration.semantic_retry.success",
    "orchestration.semantic_retry.cannot_fix",
    "orchestration.semantic_retry.applied",
    "orchestration.semantic_retry.llm_errors",
    "orchestration.semantic_retry.independent_step",
    "orchestration.semantic_retry.llm_latency_ms",
    "plan_generation.total",
    "plan_generation.duration_ms",
    "plan_generation.parse_errors",
    "plan_generation.retries",
    "ai.request.total",
    "ai.request.duration_ms",
    "ai.tokens.used",
    "ai_agent_final_report_total",
    "ai_agent_final_report_attempts_total",
    "ai_agent_final_report_turns",
    "ai_agent_retry_collapse_total",
    "Parameter types coerced to match schema",
    "Type error detected, requesting LLM correction",
    "Call refused, requesting LLM correction",
    "Parameters corrected by LLM",
    "Parameter correction failed",
    "LLM error analysis: not retryable",
    "Starting contextual re-resolution",
    "Re-resolution LLM call failed",
    "Failed to parse re-resolution response",
    "Contextual re-resolution completed",
    "SEMANTIC RETRY: Applying corrected parameters",
    "Semantic retry failed",
    "Retry attempt",
];

fn names(signals: &[Signal]) -> BTreeSet<&'static str> {
    signals.iter().flat_map(Signal::names).collect()
}

#[test]
fn each_name_of_the_contract_is_told_on_its_path_and_on_no_other() {
    let contract = BTreeSet::from(CONTRACT);
    for (case, events, expected) in paths() {
        let told: BTreeSet<_> = names(&told(&events)).intersection(&contract).copied().collect();
        assert_eq!(told, BTreeSet::from_iter(expected), "case: {case}");
    }
}

#[test]
fn each_name_of_the_contract_is_told_on_its_path_of_a_session_and_on_no_other() {
    let contract = BTreeSet::from(CONTRACT);
    let always = ["ai_agent_final_report_total", "ai_agent_final_report_attempts_total", "ai_agent_final_report_turns"];
    for (case, events, expected) in session_paths() {
        let told: BTreeSet<_> = names(&told(&events)).intersection(&contract).copied().collect();
        assert_eq!(told, expected.into_iter().chain(always).collect(), "case: {case}");
    }
}

#[test]
fn every_name_of_the_table_is_told_on_some_path_and_no_other_name_is() {
    let told: BTreeSet<&str> = paths()
        .into_iter()
        .map(|(_, events, _)| events)
        .chain(session_paths().into_iter().map(|(_, events, _)| events))
        .flat_map(|events| names(&told(&events)))
        .collect();
    let listed: BTreeSet<&str> = table().iter().map(|name| name.name).collect();
    assert_eq!(listed.difference(&told).collect::<Vec<_>>(), Vec::<&&str>::new(), "nobody tells these");
    assert_eq!(told.difference(&listed).collect::<Vec<_>>(), Vec::<&&str>::new(), "these are not in the table");
    let missing: Vec<&str> = CONTRACT.into_iter().filter(|name| !listed.contains(name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn a_name_stands_once_in_the_table_and_no_metric_has_a_step_or_a_text_as_a_label() {
    let mut seen = BTreeSet::new();
    let labels = BTreeSet::from([
        "agent",
        "capability",
        "forced_final_reason",
        "http_status",
        "module",
        "provider",
        "reason",
        "source",
        "status",
        "synthetic_reason",
        "type",
        "will_retry",
    ]);
    for name in table() {
        assert!(seen.insert((name.name, matches!(name.kind, Kind::Log(..)))), "{} stands twice", name.name);
        if matches!(name.kind, Kind::Counter | Kind::Histogram) {
            assert!(name.keys.iter().all(|key| labels.contains(key)), "{name:?}");
        }
        assert!(!name.words.is_empty() && !name.name.is_empty());
    }
}

/// Every name of a series in the queries that people have written for these metrics.
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
fn prometheus_spells_each_metric_as_the_queries_of_people_do() {
    let series: Vec<(String, &[&str])> = table()
        .into_iter()
        .flat_map(|name| prometheus_series(name.name, name.kind).into_iter().map(move |series| (series, name.keys)))
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
fn the_page_lists_every_name() {
    let page = page();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/telemetry.md");
    let written = fs::read_to_string(&file).expect("the page can be read");
    let (head, _) = written.split_once("## Spans\n").expect("the lists begin with spans");
    let current = format!("{head}{}", page.trim_end());
    if env::var_os("WRITE_DOCS").is_some() {
        fs::write(&file, format!("{current}\n")).expect("the page can be written");
    } else {
        assert!(written.trim_end() == current, "docs/telemetry.md is out of date; run this test with WRITE_DOCS=1");
    }
    for name in table() {
        assert!(page.contains(&format!("| `{}` |", name.name.trim_end())), "{}", name.name);
    }
}
