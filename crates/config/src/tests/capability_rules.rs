//! What a configuration says about single capabilities: checks, business keys, approvals, roles, confirmations.

use super::*;

#[test]
fn a_check_names_a_capability_that_tells_whether_a_call_took_effect() {
    let file = "[[checks]]\nof = \"shop/pay\"\ncall = \"shop/find\"\nparameters = { order = \"{{call.order}}\" }\n\
                happened = \"len(reply.items) > 0\"\n";
    let config = read(file);
    let check = config.policy.effects.check("shop", "pay").expect("the check is read").clone();
    assert_eq!((check.tool.as_str(), check.capability.as_str()), ("shop", "find"));
    assert_eq!(check.if_absent, reknit_engine::IfAbsent::Ask);
    let built = Config::builder().check("shop/pay", check).build().expect("the check is valid");
    assert_eq!(built.policy, config.policy);
    let shown = config.to_value(ShowSettings::Changed).to_string();
    assert!(shown.contains(r#""checks":[{"of":"shop/pay","call":"shop/find""#), "{shown}");
    let errors = [
        ("shop/pay", "shop"),
        ("shop/pay", "/pay"),
        ("shop/find", "find"),
        ("shop/find", "shop/"),
        ("{{call.order}}", "{{cal.order}}"),
        ("len(reply.items) > 0", "lenght(reply.items) > 0"),
        ("len(reply.items) > 0", "answer.items"),
        ("parameters = { order = \"{{call.order}}\" }", "parameters = 7"),
    ]
    .map(|(right, wrong)| Config::read(&file.replace(right, wrong), "reknit.toml", &|_| None).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @r#"
    reknit.toml, line 2: `checks.of` is "shop"; write the tool and its capability, like `refunds/create`
    reknit.toml, line 2: `checks.of` is "/pay"; write the tool and its capability, like `refunds/create`
    reknit.toml, line 3: `checks.call` is "find"; write the tool and its capability, like `refunds/find`
    reknit.toml, line 3: `checks.call` is "shop/"; write the tool and its capability, like `refunds/find`
    reknit.toml, line 4: `checks.parameters` is {"order":"{{cal.order}}"}; `$.order`, character 3: there is no step `cal`; did you mean `call`?
    reknit.toml, line 5: `checks.happened` is "lenght(reply.items) > 0"; character 1: there is no function `lenght`
    reknit.toml, line 5: `checks.happened` is "answer.items"; character 1: there is no step `answer`; the steps are `call`, `key`, `status`, `reply`
    reknit.toml, line 4: `checks.parameters` is 7; write the parameters as a table, like `{ id = "{{call.id}}" }`
    "#);
}

#[test]
fn a_business_key_names_the_parameters_that_identify_a_deed() {
    let file = "[[keys]]\ncapability = \"shop/refund\"\nfields = [\"order_id\", \"price.amount\"]\nwindow = \"36h\"\n";
    let config = read(file);
    let rule = config.policy.effects.key("shop", "refund").expect("the key is read").clone();
    assert_eq!((rule.fields.join(" ").as_str(), rule.window_s), ("order_id price.amount", 36 * 3_600));
    let built = Config::builder().business_key("shop/refund", rule).build().expect("the key is valid");
    assert_eq!(built.policy, config.policy);
    assert_eq!(read(&config.to_toml(ShowSettings::Changed)).policy, config.policy);
    let shown = config.to_value(ShowSettings::Changed).to_string();
    let expected = r#""keys":[{"capability":"shop/refund","fields":["order_id","price.amount"],"window":"36h"}]"#;
    assert!(shown.contains(expected), "{shown}");
    let default = read(&file.replace("window = \"36h\"", ""));
    assert_eq!(default.policy.effects.key("shop", "refund").map(|rule| rule.window_s), Some(24 * 3_600));
    let twice = format!("{file}{file}");
    let errors = [
        ("shop/refund", "shop"),
        ("[\"order_id\", \"price.amount\"]", "[]"),
        ("[\"order_id\", \"price.amount\"]", "\"order_id\""),
        ("fields", "field"),
        ("36h", "soon"),
        ("36h", "0s"),
        ("36h", "1500ms"),
        (file, &twice),
    ]
    .map(|(right, wrong)| Config::read(&file.replace(right, wrong), "reknit.toml", &|_| None).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @r#"
    reknit.toml, line 2: `keys.capability` is "shop"; write the tool and its capability, like `shop/refund`
    reknit.toml, line 3: `keys.fields` is []; write the parameters that identify the deed, like `["order_id", "amount"]`
    reknit.toml, line 3: `keys.fields` is "order_id"; write a list of texts, like `["orders", "refunds"]`, without quotes
    reknit.toml, line 3: there is no setting `keys.field`; did you mean `fields`?
    reknit.toml, line 4: `keys.window` is "soon"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 4: `keys.window` is "0s"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 4: `keys.window` is "1500ms"; write whole seconds, like `24h`
    reknit.toml, line 6: `keys.capability` is "shop/refund"; another key has it; write one key for each capability
    "#);
}

#[test]
fn a_business_key_names_a_capability_that_changes_something_and_its_parameters() {
    let schema = r#"{"type": "object", "properties": {"order_id": {}, "price": {"type": "object", "properties": {"amount": {}}}}}"#;
    let entry = |name: &str, effect| {
        let mut capability = reknit_protocol::Capability::new(name);
        capability.effect = effect;
        reknit_plan::CatalogueEntry::new(capability, Some(Value::parse(schema).expect("JSON"))).expect("a schema")
    };
    let capabilities =
        vec![entry("refund", reknit_protocol::SideEffect::Unsafe), entry("find", reknit_protocol::SideEffect::Read)];
    let shop = reknit_plan::CatalogueTool { name: "shop".into(), description: String::new(), capabilities };
    let catalogue = reknit_plan::Catalogue { tools: vec![shop] };
    let checked = |capability: &str, fields: &str| {
        let tool = "[[tools]]\nname = \"shop\"\nurl = \"http://127.0.0.1:1\"\n\n";
        let key = format!("{tool}[[keys]]\ncapability = \"{capability}\"\nfields = [{fields}]\n");
        read(&key).check_effect_names(&catalogue)
    };
    checked("shop/refund", r#""order_id", "price.amount""#).expect("the key is valid");
    let errors = [
        checked("shopp/refund", r#""order_id""#),
        checked("shop/refunds", r#""order_id""#),
        checked("shop/find", r#""order_id""#),
        checked("shop/refund", r#""order""#),
        checked("shop/refund", r#""order_id", "price.amont""#),
        checked("shop/refund", r#""customer""#),
    ]
    .map(|checked| checked.unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @"
    reknit.toml, line 5: `keys.capability` names `shopp/refund`, but there is no tool `shopp`; did you mean `shop`?
    reknit.toml, line 5: `keys.capability` names `shop/refunds`, but there is no capability `refunds` of tool `shop`; did you mean `shop/refund`?
    reknit.toml, line 5: `keys.capability` names `shop/find`, but its calls only read, so there is no deed to identify: remove the key
    reknit.toml, line 5: `keys.capability` names `shop/refund`, but it has no parameter `order`; did you mean `order_id`?
    reknit.toml, line 5: `keys.capability` names `shop/refund`, but it has no parameter `price.amont`; did you mean `price.amount`?
    reknit.toml, line 5: `keys.capability` names `shop/refund`, but it has no parameter `customer`; there is: order_id, price
    ");
}

#[test]
fn a_rule_says_which_calls_a_person_approves() {
    let file = "[[approve]]\ncapability = \"shop/*\"\nclass = \"unsafe\"\nwhen = \"amount > 100\"\n\n\
                [[approve]]\nclass = \"undeclared\"\n";
    let config = read(file);
    let rules: Vec<String> = config.policy.approvals.rules.iter().map(ToString::to_string).collect();
    assert_eq!(rules, ["shop/*, unsafe, amount > 100", "undeclared"]);
    let [first, second] = [0, 1].map(|at| config.policy.approvals.rules[at].clone());
    let built = Config::builder().approve(first).approve(second).build().expect("the rules are valid");
    assert_eq!(built.policy, config.policy);
    assert_eq!(read(&config.to_toml(ShowSettings::Changed)).policy, config.policy);
    let errors = [
        ("shop/*", "/pay"),
        ("unsafe", "dangerous"),
        ("amount > 100", "amount >"),
        ("amount > 100", "lenght(amount) > 1"),
        ("class = \"undeclared\"\n", ""),
        ("class = \"undeclared\"", "clas = \"undeclared\""),
    ]
    .map(|(right, wrong)| Config::read(&file.replace(right, wrong), "reknit.toml", &|_| None).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @r#"
    reknit.toml, line 2: `approve.capability` is "/pay"; write the tool and its capability, like `payments/*`
    reknit.toml, line 3: `approve.class` is "dangerous"; write one of `read`, `idempotent`, `keyed`, `undeclared`, `unknown`, `unsafe`
    reknit.toml, line 4: `approve.when` is "amount >"; character 9: expected a value, found the end of the expression
    reknit.toml, line 4: `approve.when` is "lenght(amount) > 1"; character 1: there is no function `lenght`
    reknit.toml, line 6: `approve.capability` is missing; write at least one of `capability`, `class` and `when`
    reknit.toml, line 7: there is no setting `approve.clas`; did you mean `class`?
    "#);
}

#[test]
fn roles_of_parameters_and_trusted_results_are_declared() {
    let file = "[[roles]]\ncapability = \"bank/*\"\nparameter = \"payment.to\"\nrole = \"target\"\n\n\
                [[trust]]\ncapability = \"crm/find\"\nfields = [\"customer.email\"]\n\n[[trust]]\ncapability = \"own\"\n";
    let config = read(file);
    let effects = &config.policy.effects;
    assert_eq!((effects.roles.len(), effects.trust.len()), (1, 2));
    let [first, second] = [0, 1].map(|at| effects.trust[at].clone());
    let built = Config::builder().role(effects.roles[0].clone()).trust(first).trust(second).build().expect("valid");
    assert_eq!(built.policy, config.policy);
    assert_eq!(read(&config.to_toml(ShowSettings::Changed)).policy, config.policy);
    let errors = [
        ("bank/*", "/pay"),
        ("payment.to", "payment..to"),
        ("payment.to", "payment[0].to"),
        ("role = \"target\"\n", ""),
        ("\"target\"", "\"filter\""),
        ("crm/find", "crm/find/it"),
        ("\"customer.email\"", ""),
        ("fields", "feilds"),
    ]
    .map(|(right, wrong)| Config::read(&file.replace(right, wrong), "reknit.toml", &|_| None).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @r#"
    reknit.toml, line 2: `roles.capability` is "/pay"; write a tool and its capability, like `bank/transfer` or `bank/*`
    reknit.toml, line 3: `roles.parameter` is "payment..to"; write a parameter or a part of it, like `amount` or `lines.price`, without the numbers of items
    reknit.toml, line 3: `roles.parameter` is "payment[0].to"; write a parameter or a part of it, like `amount` or `lines.price`, without the numbers of items
    reknit.toml, line 1: `roles.role` is missing; write one of `target`, `quantity`, `switch`, `content`
    reknit.toml, line 4: `roles.role` is "filter"; write one of `target`, `quantity`, `switch`, `content`
    reknit.toml, line 7: `trust.capability` is "crm/find/it"; write a tool and its capability, like `bank/transfer` or `bank/*`
    reknit.toml, line 8: `trust.fields` is []; write fields of the result, like `["customer.email"]`, or leave it out
    reknit.toml, line 8: there is no setting `trust.feilds`; did you mean `fields`?
    "#);
}

#[test]
fn a_role_names_a_tool_and_a_parameter_that_exist() {
    let tool = "[[tools]]\nname = \"shop\"\nurl = \"http://127.0.0.1:1\"\n\n";
    let config = |capability: &str, parameter: &str| {
        let role = format!("capability = \"{capability}\"\nparameter = \"{parameter}\"\nrole = \"target\"\n");
        read(&format!("{tool}[[roles]]\n{role}"))
    };
    let entry = |name: &str, schema: &str| {
        let schema = Value::parse(schema).expect("it is JSON");
        reknit_plan::CatalogueEntry::new(reknit_protocol::Capability::new(name), Some(schema)).expect("it is valid")
    };
    let capabilities = vec![
        entry("pay", r#"{"properties": {"to": {"properties": {"iban": {}}}, "amount": {}}}"#),
        entry("find", r#"{"properties": {"query": {}}}"#),
    ];
    let shop = reknit_plan::CatalogueTool { name: "shop".into(), description: String::new(), capabilities };
    let catalogue = reknit_plan::Catalogue { tools: vec![shop] };
    for (capability, parameter) in [("shop/pay", "to.iban"), ("shop/pay", "to"), ("shop", "query"), ("*/pay", "amount")]
    {
        let checked = config(capability, parameter).check_effect_names(&catalogue);
        checked.unwrap_or_else(|error| panic!("{capability} {parameter}: {error}"));
    }
    let errors = [
        ("shopp/pay", "to"),
        ("shop/pya", "to"),
        ("shop/pay", "amuont"),
        ("shop/*", "to.ibna"),
        ("shop/find", "amount"),
    ]
    .map(|(capability, parameter)| {
        config(capability, parameter).check_effect_names(&catalogue).unwrap_err().to_string()
    });
    insta::assert_snapshot!(errors.join("\n"), @"
    reknit.toml, line 5: `roles.capability` names `shopp/pay`, but there is no tool `shopp`; did you mean `shop`?
    reknit.toml, line 5: `roles.capability` names `shop/pya`, but there is no capability `pya` of tool `shop`; did you mean `shop/pay`?
    reknit.toml, line 5: `roles.capability` names `shop/pay`, but it has no parameter `amuont`; did you mean `amount`?
    reknit.toml, line 5: `roles.capability` names `shop/*`, but it has no parameter `to.ibna`; did you mean `to.iban`?
    reknit.toml, line 5: `roles.capability` names `shop/find`, but it has no parameter `amount`; there is: query
    ");
}

#[test]
fn a_rule_names_a_tool_and_a_capability_that_exist_unless_it_has_a_star() {
    let tool = "[[tools]]\nname = \"shop\"\nurl = \"http://127.0.0.1:1\"\n\n";
    let config = |capability: &str| read(&format!("{tool}[[approve]]\ncapability = \"{capability}\"\n"));
    let entry = reknit_plan::CatalogueEntry::new(reknit_protocol::Capability::new("pay"), None).expect("no schema");
    let shop =
        reknit_plan::CatalogueTool { name: "shop".into(), description: String::new(), capabilities: vec![entry] };
    let catalogue = reknit_plan::Catalogue { tools: vec![shop] };
    for accepted in ["shop", "shop/pay", "shop/*", "*/pay", "*"] {
        config(accepted).check_effect_names(&catalogue).unwrap_or_else(|error| panic!("{accepted}: {error}"));
    }
    let errors =
        ["shopp/*", "shop/pya"].map(|name| config(name).check_effect_names(&catalogue).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @"
    reknit.toml, line 5: `approve.capability` names `shopp/*`, but there is no tool `shopp`; did you mean `shop`?
    reknit.toml, line 5: `approve.capability` names `shop/pya`, but there is no capability `pya` of tool `shop`; did you mean `shop/pay`?
    ");
}

#[test]
fn a_confirmation_says_what_is_expected_of_the_results_of_a_capability() {
    let file = "[[confirm]]\ncapability = \"shop/pay\"\nexpect = \"result.amount > 0\"\nverify = \"shop/find\"\n\
                with = { id = \"{{result.id}}\" }\nreply = \"reply.paid\"\nwait = \"5 s\"\ntimes = 6\n";
    let config = read(file);
    let confirmation = config.policy.effects.confirmations["shop/pay"].clone();
    assert_eq!(confirmation.expect.as_deref(), Some("result.amount > 0"));
    let verify = confirmation.verify.clone().expect("a call");
    assert_eq!((verify.capability.as_str(), verify.again), ("find", Some(("5 s".to_owned(), 6))));
    let built = Config::default().with_confirmation("shop/pay", confirmation).expect("it is valid");
    assert_eq!(built.policy, config.policy);
    let shown = config.to_value(ShowSettings::Changed).to_string();
    assert!(
        shown.contains(r#""confirm":[{"capability":"shop/pay","expect":"result.amount > 0","verify":"shop/find""#),
        "{shown}"
    );
    let errors = [
        ("shop/pay", "shop"),
        ("result.amount > 0", "rslt.amount > 0"),
        ("shop/find", "find"),
        ("{{result.id}}", "{{reply.id}}"),
        ("reply.paid", "repply.paid"),
        ("reply = \"reply.paid\"\n", ""),
        ("5 s", "5"),
        ("wait = \"5 s\"\n", ""),
        ("verify = \"shop/find\"\n", ""),
        ("times = 6", "times = 0"),
    ]
    .map(|(right, wrong)| Config::read(&file.replace(right, wrong), "reknit.toml", &|_| None).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @r#"
    reknit.toml, line 2: `confirm.capability` is "shop"; write the tool and its capability, like `bank/refund`
    reknit.toml, line 3: `confirm.expect` is "rslt.amount > 0"; character 1: there is no step `rslt`; did you mean `result`?
    reknit.toml, line 4: `confirm.verify` is "find"; write the tool and its capability, like `bank/get_refund`
    reknit.toml, line 5: `confirm.with` is {"id":"{{reply.id}}"}; `$.id`, character 3: there is no step `reply`; the steps are `result`
    reknit.toml, line 6: `confirm.reply` is "repply.paid"; character 1: there is no step `repply`; did you mean `reply`?
    reknit.toml, line 1: `confirm.reply` is missing; write when the reply confirms the effect, like `reply.status == "booked"`
    reknit.toml, line 7: `confirm.wait` is "5"; write a number and a unit, like `5 s`
    reknit.toml, line 1: `confirm.wait` is missing; `wait` and `times` belong together
    reknit.toml, line 4: `confirm.with` is {"id":"{{result.id}}"}; it belongs to `verify`, which is missing
    reknit.toml, line 8: `confirm.times` is 0; write a whole number from 1 to 4294967295
    "#);
}
