//! Names of tools as models decorate them.

use reknit_plan::{PlanAuthor, correct_plan};
use reknit_protocol::{Plan, Step};

use crate::support::catalogue;

#[test]
fn a_decorated_name_is_the_tool() {
    for (agent, capability) in [
        ("stocks", "functions.get_quote"),
        ("stocks", "get_quote()"),
        ("", "functions.get_quote"),
        ("", "tool.get_quote"),
        ("", "tools.get_quote()"),
        ("functions.stocks", "get_quote"),
        ("", "stocks.get_quote"),
        ("", "stocks/get_quote"),
        ("functions", "get_quote"),
    ] {
        let mut plan = Plan::new("p", "", vec![Step::new("s", agent, capability, "")]);
        correct_plan(&mut plan, &catalogue(), PlanAuthor::Model);
        let step = &plan.steps[0];
        assert_eq!((step.tool.as_str(), step.capability()), ("stocks", Some("get_quote")), "{agent} {capability}");
    }
}

#[test]
fn another_name_is_not_taken_for_the_tool() {
    for capability in ["my.get_quote", "get_quote(x)", "functions."] {
        let mut plan = Plan::new("p", "", vec![Step::new("s", "", capability, "")]);
        assert_eq!(correct_plan(&mut plan, &catalogue(), PlanAuthor::Model), [], "{capability}");
    }
}
