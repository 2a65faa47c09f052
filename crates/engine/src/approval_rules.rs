//! Approval rules: which calls a person approves before they are sent.

use reknit_expressions::{Expression, StepResult, StepResults, TemplateProblem, UnboundReason};
use reknit_protocol::{CallTool, Object, SideEffect, StepId, Value};
use serde::{Deserialize, Serialize};

/// How many parameters an expression may name.
const MAX_NAMES: usize = 100;

/// Which calls a person approves before they are sent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalPolicy {
    pub ask: AskScope,
    /// The rules. A call that matches one of them is asked about in any case.
    pub rules: Vec<ApprovalRule>,
}

/// Which calls a person is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskScope {
    /// Those that match a rule.
    #[default]
    Rules,
    /// All that do not only read, too.
    All,
    /// The whole plan, once, from a preview of its calls; then the same as `All` for calls that the preview does not have. A call
    /// that matches a rule and has a value from a result is asked about when it is due, for nobody has seen that value.
    Plan,
}

/// A rule. A call matches if all parts that are given hold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ApprovalRule {
    /// The capability as `tool/capability`, or a whole `tool`; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<SideEffect>,
    /// An expression over the parameters of the call: `amount > 100`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

impl ApprovalPolicy {
    /// Whether a call matches a rule.
    pub(crate) fn has_rule_for(&self, call: &CallTool) -> bool {
        self.rules.iter().any(|rule| rule.reason_to_ask(call).is_some())
    }

    /// Why a person approves a call before it is sent, one reason for each rule; empty if nobody is asked.
    pub fn reasons_to_ask(&self, call: &CallTool) -> Vec<String> {
        let matching: Vec<String> = self.rules.iter().filter_map(|rule| rule.reason_to_ask(call)).collect();
        match self.ask {
            AskScope::All if matching.is_empty() && call.side_effect != SideEffect::Read => {
                vec!["every call that does not only read needs approval".to_owned()]
            }
            AskScope::Plan if matching.is_empty() && call.side_effect != SideEffect::Read => {
                vec!["no approved plan has this call".to_owned()]
            }
            AskScope::Rules | AskScope::All | AskScope::Plan => matching,
        }
    }
}

impl ApprovalRule {
    /// Checks the rule. Fails with the name of the field that is wrong, and why.
    pub fn validate(&self) -> Result<(), (&'static str, String)> {
        if self.capability.is_none() && self.class.is_none() && self.when.is_none() {
            return Err(("capability", "write at least one of `capability`, `class` and `when`".to_owned()));
        }
        if let Some(pattern) = &self.capability
            && split(pattern).is_some_and(|(tool, capability)| tool.is_empty() || capability.is_empty())
        {
            return Err(("capability", "write the tool and its capability, like `payments/*`".to_owned()));
        }
        match self.when.as_deref().map(parse) {
            Some(Err(problem)) => Err(("when", problem)),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// Why a person approves the call, if it matches. A rule whose expression has no value matches.
    fn reason_to_ask(&self, call: &CallTool) -> Option<String> {
        let named = self
            .capability
            .as_deref()
            .is_none_or(|pattern| names_capability(pattern, call.tool.as_str(), call.capability.as_str()));
        if !named || self.class.is_some_and(|class| !covers(class, call.side_effect)) {
            return None;
        }
        match self.when.as_deref().map(|text| holds(text, &call.parameters)) {
            Some(Ok(false)) => None,
            Some(Ok(true)) | None => Some(format!("rule: {self}")),
            Some(Err(problem)) => Some(format!("rule: {self} ({problem})")),
        }
    }
}

impl std::fmt::Display for ApprovalRule {
    /// The parts that are given: `payments/*, unsafe, amount > 100`.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let class = self.class.map(SideEffect::as_str);
        let parts = [self.capability.as_deref(), class, self.when.as_deref()];
        out.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

fn split(pattern: &str) -> Option<(&str, &str)> {
    pattern.split_once('/')
}

/// Whether `tool/capability` or `tool`, in which `*` stands for any text, names a capability.
pub fn names_capability(pattern: &str, tool: &str, capability: &str) -> bool {
    let (of_tool, of_capability) = split(pattern).unwrap_or((pattern, "*"));
    matches_pattern(of_tool, tool) && matches_pattern(of_capability, capability)
}

/// Whether a name matches a pattern in which `*` stands for any text.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut name) = name.strip_suffix(end) else { return false };
    // The first place of each part leaves the most text for the parts behind it.
    middle.split('*').all(|part| match name.split_once(part) {
        Some((_, behind)) => {
            name = behind;
            true
        }
        None => false,
    })
}

/// Parses an expression. Every name in it is a parameter, because which parameters a call has is not known yet.
fn parse(text: &str) -> Result<Expression, String> {
    let mut names: Vec<StepId> = Vec::new();
    loop {
        match Expression::parse(text, &names) {
            Ok(expression) => return Ok(expression),
            Err(error) => match error.problem {
                TemplateProblem::UnknownStep { found, .. }
                    if names.len() < MAX_NAMES && names.iter().all(|name| name.as_str() != found) =>
                {
                    names.push(found.as_str().into());
                }
                _ => return Err(error.to_string()),
            },
        }
    }
}

/// Whether an expression holds for the parameters, or why that is unknown.
fn holds(text: &str, parameters: &Object) -> Result<bool, String> {
    let value = parse(text)?.evaluate(&CallParameters(parameters)).map_err(|reason| match reason {
        UnboundReason::UnknownStep { step } => format!("the call has no parameter `{step}`"),
        reason => reason.to_string(),
    })?;
    match value.value {
        Value::Bool(holds) => Ok(holds),
        other => Err(format!("it is {other}, neither true nor false")),
    }
}

/// The parameters of a call, for expressions.
struct CallParameters<'a>(&'a Object);

impl StepResults for CallParameters<'_> {
    fn result_of(&self, name: &StepId) -> StepResult<'_> {
        self.0.get(name.as_str()).map_or(StepResult::Absent, StepResult::Ready)
    }
}

/// Whether a rule for a class holds for a call. Who asks about undeclared calls asks about those of class `unknown`, too.
fn covers(rule: SideEffect, class: SideEffect) -> bool {
    rule == class || rule == SideEffect::Undeclared && class.is_undeclared()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(capability: &str, class: SideEffect, parameters: &str) -> CallTool {
        let call = format!(
            r#"{{"id": "s/call/1", "step": "s", "agent": "payments", "capability": "{capability}", "parameters": {parameters},
            "side_effect": "read", "idempotency_key": null, "timeout_ms": 1}}"#
        );
        CallTool { side_effect: class, ..serde_json::from_str(&call).unwrap() }
    }

    fn reasons(rule: ApprovalRule, call: &CallTool) -> Vec<String> {
        assert_eq!(rule.validate(), Ok(()));
        ApprovalPolicy { rules: vec![rule], ..ApprovalPolicy::default() }.reasons_to_ask(call)
    }

    fn when(text: &str) -> ApprovalRule {
        ApprovalRule { when: Some(text.to_owned()), ..ApprovalRule::default() }
    }

    #[test]
    fn a_rule_matches_if_all_its_parts_hold() {
        let rule = ApprovalRule {
            capability: Some("payments/re*".to_owned()),
            class: Some(SideEffect::Unsafe),
            when: Some("amount > 100".to_owned()),
        };
        for (name, class, parameters, asks) in [
            ("refund", SideEffect::Unsafe, r#"{"amount": 101}"#, true),
            ("refund", SideEffect::Unsafe, r#"{"amount": "101"}"#, true),
            ("refund", SideEffect::Unsafe, r#"{"amount": 100}"#, false),
            ("refund", SideEffect::Keyed, r#"{"amount": 101}"#, false),
            ("pay", SideEffect::Unsafe, r#"{"amount": 101}"#, false),
        ] {
            let found = reasons(rule.clone(), &call(name, class, parameters));
            let expected = asks.then(|| "rule: payments/re*, unsafe, amount > 100".to_owned());
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{name} {class:?} {parameters}");
        }
    }

    #[test]
    fn a_star_in_a_capability_stands_for_any_text() {
        for (pattern, matches) in [
            ("payments", true),
            ("payments/*", true),
            ("*", true),
            ("*/create_refund", true),
            ("pay*/*_refund", true),
            ("payments/c*e*_*fund", true),
            ("payments/create_refund*", true),
            ("payments/create", false),
            ("payment/*", false),
            ("payments/*e_refund_e", false),
            ("payments/create_r*refund", false),
            ("Payments/*", false),
        ] {
            let rule = ApprovalRule { capability: Some(pattern.to_owned()), ..ApprovalRule::default() };
            let asked = !reasons(rule, &call("create_refund", SideEffect::Read, "{}")).is_empty();
            assert_eq!(asked, matches, "{pattern}");
        }
    }

    #[test]
    fn an_expression_without_a_value_asks_and_says_why() {
        let parameters = r#"{"amount": "many", "order": {"lines": [1]}, "note": null}"#;
        let asked = |text: &str| reasons(when(text), &call("pay", SideEffect::Unsafe, parameters)).join("; ");
        for (text, reason) in [
            ("total > 100", "rule: total > 100 (the call has no parameter `total`)"),
            (
                "order.total > 100",
                "rule: order.total > 100 (`order.total` does not exist: available fields are `lines`)",
            ),
            ("note > 100", "rule: note > 100 (`note` is null)"),
            ("amount", "rule: amount (it is \"many\", neither true nor false)"),
        ] {
            assert_eq!(asked(text), reason);
        }
        assert!(asked("amount > 100").starts_with("rule: amount > 100 (cannot evaluate"), "{}", asked("amount > 100"));
        assert_eq!(asked("(total ?? 0) > 100"), "", "the expression says what a missing parameter counts as");
        assert_eq!(asked("len(order.lines) > 1"), "");
    }

    #[test]
    fn a_rule_without_parts_or_with_a_broken_expression_is_invalid() {
        let problem = |rule: ApprovalRule| rule.validate().unwrap_err();
        assert_eq!(problem(ApprovalRule::default()).0, "capability");
        assert_eq!(
            problem(when("amount >")),
            ("when", "character 9: expected a value, found the end of the expression".to_owned())
        );
        assert_eq!(problem(when("lenght(a) > 1")).1, "character 1: there is no function `lenght`");
        let capability = Some("payments/".to_owned());
        assert_eq!(problem(ApprovalRule { capability, ..ApprovalRule::default() }).0, "capability");
    }

    #[test]
    fn ask_all_asks_about_every_call_that_does_not_only_read() {
        let policy = ApprovalPolicy { ask: AskScope::All, rules: vec![when("amount > 100")] };
        let reasons = |class, parameters| policy.reasons_to_ask(&call("pay", class, parameters)).join("; ");
        assert_eq!(reasons(SideEffect::Read, r#"{"amount": 1}"#), "");
        for class in [SideEffect::Idempotent, SideEffect::Keyed, SideEffect::Undeclared, SideEffect::Unsafe] {
            assert_eq!(reasons(class, r#"{"amount": 1}"#), "every call that does not only read needs approval");
        }
        assert_eq!(reasons(SideEffect::Read, r#"{"amount": 101}"#), "rule: amount > 100");
    }
}
