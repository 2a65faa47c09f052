use std::fmt::Write as _;

use super::*;

/// The page of the documentation with the table. `REKNIT_WRITE_DOCS=1` writes it anew.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gate-table.md");

#[test]
fn the_table_of_the_documentation_is_what_the_gate_decides() {
    let page = format!("{INTRODUCTION}\n{}{}", rows(), table());
    if std::env::var_os("REKNIT_WRITE_DOCS").is_some() {
        std::fs::write(PAGE, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(PAGE).expect("the page of the documentation");
    assert!(written == page, "docs/gate-table.md is not what the gate decides; write it with REKNIT_WRITE_DOCS=1");
}

const INTRODUCTION: &str = "# What is sent, and what a person decides

Every tool call of a plan passes one function before it is sent. Each value of its parameters is judged by the first row that applies
to it, and the strictest value decides about the call. Where nobody can be asked, `ask` is a refusal with its reason.

- The **role** of a parameter is declared in the configuration (`[[roles]]`) or by its tool (`x-reknit-role` in the schema), or guessed: a boolean and `dry_run` are switches,
  numbers are quantities, and ids, accounts, recipients, addresses and URLs are targets. For tools other than the undeclared ones of the
  tool protocol, every short text is a target. Other texts are content.
- The **origin** is where the value comes from. What a model or a rule found after a call was answered is `found`, with what has it; a field that `[[trust]]`
  names counts as issued by the service.
- The **columns** are the difference from what was written. A value is `stated` if the request has it: the same number, or the same
  whole words.

A test writes this page from the function.
";

fn rows() -> String {
    let mut out = "## Rows\n\n| row | what | verdict |\n|---|---|---|\n".to_owned();
    for row in GateRow::ALL {
        let _ = writeln!(out, "| {} | {row} | {} |", row.number(), row.decision());
    }
    out
}

fn table() -> String {
    let mut out = "\n## Calls that change something\n".to_owned();
    let classes = SideEffect::ALL.iter().filter(|class| **class != SideEffect::Read);
    for class in classes {
        for role in ParameterRole::ALL {
            let _ = writeln!(out, "\n### `{class}`, {role}\n");
            let heads: Vec<&str> = ValueDifference::ALL.iter().map(|difference| difference.as_str()).collect();
            let _ = writeln!(out, "| origin | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
            for origin in OriginClass::ALL {
                let cells = ValueDifference::ALL.iter().map(|difference| cell(*class, *role, *origin, *difference));
                let _ = writeln!(out, "| {origin} | {} |", cells.collect::<Vec<_>>().join(" | "));
            }
        }
    }
    out
}

/// The decision with the number of its row, and the one for a value that the request states if it is another one.
fn cell(class: SideEffect, role: ParameterRole, origin: OriginClass, difference: ValueDifference) -> String {
    let row = |stated: Option<&str>| row_of(class, &value(role, origin, difference, stated));
    let (plain, stated) = (row(None), row(Some("it")));
    let text = |row: GateRow| format!("{} ({})", row.decision(), row.number());
    if plain == stated { text(plain) } else { format!("{}; stated: {}", text(plain), text(stated)) }
}

fn value(role: ParameterRole, origin: OriginClass, difference: ValueDifference, stated: Option<&str>) -> ProposedValue {
    ProposedValue {
        name: "x".to_owned(),
        role,
        origin,
        difference,
        stated: stated.map(str::to_owned),
        is_refused_elsewhere: false,
        carries_results: false,
        found_in: None,
        nearly_stated: None,
    }
}

#[test]
fn no_value_of_an_unsafe_call_that_was_found_by_name_or_corrected_is_sent_without_a_person() {
    for role in ParameterRole::ALL {
        for origin in [OriginClass::Wired, OriginClass::Mapped] {
            let value = value(*role, origin, ValueDifference::Added, None);
            assert_eq!(row_of(SideEffect::Unsafe, &value).decision(), GateDecision::Ask, "{role} {origin}");
        }
    }
}

#[test]
fn what_the_request_states_is_changed_only_by_a_person() {
    for class in SideEffect::ALL.iter().filter(|class| **class != SideEffect::Read) {
        for role in [ParameterRole::Target, ParameterRole::Quantity] {
            for origin in OriginClass::ALL.iter().filter(|origin| origin.is_found()) {
                for difference in [ValueDifference::Replaced, ValueDifference::Dropped] {
                    let value = value(role, *origin, difference, Some("Jon"));
                    assert_eq!(row_of(*class, &value), GateRow::AgainstTheRequest, "{class} {role} {origin}");
                }
            }
        }
    }
}

#[test]
fn the_strictest_value_decides_about_the_call() {
    let told = value(ParameterRole::Content, OriginClass::FoundNowhere, ValueDifference::Replaced, None);
    let asked = value(ParameterRole::Target, OriginClass::FoundNowhere, ValueDifference::Replaced, Some("Jon"));
    let call =
        |values: Vec<ProposedValue>| ProposedCall { class: SideEffect::Keyed, values, ..ProposedCall::default() };
    assert!(matches!(judge(&call(Vec::new())), GateVerdict::Send(_)));
    assert!(matches!(judge(&call(vec![told.clone()])), GateVerdict::SendAndTell(_, notes) if notes.len() == 1));
    let GateVerdict::Ask(findings) = judge(&call(vec![told, asked.clone()])) else { panic!("a person is asked") };
    assert_eq!(joined(&findings), "`x` is not changed without approval: the request says `Jon`");
    let approved = ProposedCall { is_approved: true, ..call(vec![asked]) };
    assert!(matches!(judge(&approved), GateVerdict::Send(_)));
    let refused = ProposedCall { refusal: Some("access was denied".to_owned()), ..approved };
    assert!(matches!(judge(&refused), GateVerdict::Refuse(_)));
}
