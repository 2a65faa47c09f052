//! Commands: which process is started, and what its end means.

use std::sync::Arc;

use proptest::prelude::*;
use reknit_mend::{Fate, ReplyContext, Verdict, classify_reply};
use reknit_protocol::{
    CallTool, Delivery, Object, ReplyBody, SideEffect, ToolReply, TransportFailure, TransportKind, Value,
};
use reknit_tools::{CommandInput, CommandOptions, CommandOutput, CommandTool, ToolSource, Tools, discover};

use crate::{call, capability, json, object, requiring};

pub(crate) fn options(properties: &str, command: &[&str]) -> CommandOptions {
    let capability = capability(properties, SideEffect::Undeclared);
    let mut options = CommandOptions::new(capability, command.iter().map(|&part| part.to_owned()).collect());
    let path = std::env::var("PATH").expect("a path");
    options.environment = vec![("PATH".to_owned(), path.into())];
    options
}

/// A script without parameters.
pub(crate) fn script(text: &str) -> CommandOptions {
    options("{}", &["sh", "-c", &text.replace('{', "{{").replace('}', "}}")])
}

pub(crate) async fn tools(options: CommandOptions) -> Tools {
    let tool = CommandTool::new(options).expect("the definition is valid");
    let found = discover(&[Arc::new(tool) as Arc<dyn ToolSource>]).await;
    assert_eq!(found.problems, []);
    found.tools
}

pub(crate) async fn made(options: CommandOptions, parameters: &str) -> Result<ToolReply, TransportFailure> {
    tools(options).await.call(&call(object(parameters))).await
}

#[tokio::test]
async fn a_placeholder_is_one_argument_without_a_shell() {
    let properties = r#"{"a": {}, "b": {}, "gone": {}}"#;
    let command = ["printf", "--", "<%s>", "{a}", "x={b}", "{gone}", "--limit={gone}", "$HOME {{}} *"];
    let reply = made(options(properties, &command), r#"{"a": "-rf; echo 'x' $(id)", "b": "two words"}"#).await;
    let expected = "<-rf; echo 'x' $(id)><x=two words><$HOME {} *>";
    assert_eq!(reply.expect("a reply").body, ReplyBody::Text(expected.to_owned()));
}

#[tokio::test]
async fn secrets_in_the_environment_do_not_come_back() {
    for (name, value, script_text) in [
        ("SMTP_PASS", "hunter22", "printf '%s' \"$SMTP_PASS\""),
        ("DATABASE_URL", "postgres://me:hunter22@db/x", "printf '%s' \"$DATABASE_URL\""),
        ("STORE", "postgres://me:hunter22@db/x", "printf 'wrong password: %s' hunter22"),
        ("SENTRY_DSN", "https://hunter22@sentry.example/1", "printf '%s' \"$SENTRY_DSN\""),
    ] {
        let mut options = script(script_text);
        options.environment.push((name.to_owned(), value.into()));
        let reply = made(options, "{}").await.expect("a reply");
        let ReplyBody::Text(text) = reply.body else { panic!("{reply:?}") };
        assert!(text.contains("[redacted]") && !text.contains("hunter22"), "{name}: {text}");
    }
}

#[tokio::test]
async fn a_value_that_could_be_an_option_is_refused() {
    for (value, command) in [("-x", "{a}"), ("--output=/etc/x", "{a}"), ("-5", "{a}{b}")] {
        let options = options(r#"{"a": {}, "b": {}}"#, &["echo", command, "{b}"]);
        let failure = made(options, &format!(r#"{{"a": "{value}", "b": ""}}"#)).await.expect_err("it is refused");
        assert_eq!((failure.kind, failure.delivery), (TransportKind::NotCallable, Delivery::NotSent));
        assert!(failure.message.contains("`a` begins with `-`"), "{failure}");
    }
    let after = options(r#"{"a": {}}"#, &["printf", "%s", "--", "{a}"]);
    assert!(made(after, r#"{"a": "-x"}"#).await.is_ok());
    let inside = options(r#"{"a": {}}"#, &["echo", "--name={a}"]);
    assert_eq!(made(inside, r#"{"a": "-x"}"#).await.expect("a reply").body, ReplyBody::Text("--name=-x\n".to_owned()));
}

#[tokio::test]
async fn the_input_is_a_text_or_all_parameters_as_json() {
    let properties = r#"{"a": {}, "b": {}}"#;
    for (stdin, command, expected) in [
        (CommandInput::Json, &["cat"][..], r#"{"a":"x","b":1.50}"#),
        (CommandInput::Text("{a}: {b}".to_owned()), &["cat"], "x: 1.50"),
        (CommandInput::Empty, &["echo", "{a}", "{b}"], "x 1.50\n"),
    ] {
        let options = CommandOptions { stdin, output: Some(CommandOutput::Text), ..options(properties, command) };
        let reply = made(options, r#"{"a": "x", "b": 1.50}"#).await.expect("a reply");
        assert_eq!(reply.body, ReplyBody::Text(expected.to_owned()));
    }
}

#[tokio::test]
async fn the_environment_is_clean_but_for_named_variables_the_key_and_the_trace() {
    let mut options = CommandOptions { output: Some(CommandOutput::Lines), ..options("{}", &["env"]) };
    options.environment.push(("API_TOKEN".to_owned(), "very-secret".into()));
    let tools = tools(options).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let reply = tools.call_within(&call(Object::new()), Some(trace)).await.expect("a reply").body.to_value();
    let mut variables: Vec<&str> = reply.as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    variables.retain(|line| !line.starts_with("PATH="));
    variables.sort_unstable();
    let trace = format!("TRACEPARENT={trace}");
    assert_eq!(variables, ["API_TOKEN=[redacted]", "REKNIT_IDEMPOTENCY_KEY=key-1", &trace]);
}

#[tokio::test]
async fn the_output_is_json_a_text_or_lines() {
    for (output, printed, expected) in [
        (None, r#"{"a": 0.10}"#, ReplyBody::Json(json(r#"{"a": 0.10}"#))),
        (None, "plain", ReplyBody::Text("plain".to_owned())),
        (None, "", ReplyBody::Empty),
        (Some(CommandOutput::Text), "[1]", ReplyBody::Text("[1]".to_owned())),
        (Some(CommandOutput::Lines), "a\n\nb\n", ReplyBody::Json(json(r#"["a", "", "b"]"#))),
        (Some(CommandOutput::Json), "[1]", ReplyBody::Json(json("[1]"))),
    ] {
        let options = CommandOptions { output, ..options(r#"{"a": {}}"#, &["printf", "%s", "{a}"]) };
        let parameters = Object::from([("a", printed.into())]).to_string();
        assert_eq!(made(options, &parameters).await.expect("a reply").body, expected, "{printed}");
    }
    let options = CommandOptions { output: Some(CommandOutput::Json), ..options("{}", &["echo", "no json"]) };
    let failure = made(options, "{}").await.expect_err("it is not JSON");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::Unreadable, Delivery::Possible));
}

#[tokio::test]
async fn a_command_runs_in_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = CommandOptions { folder: Some(folder.path().to_owned()), ..options("{}", &["pwd"]) };
    let reply = made(options, "{}").await.expect("a reply");
    let expected = folder.path().canonicalize().expect("a path").display().to_string();
    assert_eq!(reply.body.to_value().as_str().map(str::trim), Some(expected.as_str()));
}

/// The verdict about the end of a process.
async fn verdict(program: &str, effect: SideEffect) -> Verdict {
    let call = CallTool { side_effect: effect, ..call(Object::new()) };
    let reply = tools(script(program)).await.call(&call).await.expect("a reply");
    classify_reply(&reply, ReplyContext::new(effect, 0))
}

#[tokio::test]
async fn the_fate_of_a_failed_command_depends_on_its_class() {
    let fails = "echo 'no such order: 7' >&2; exit 1";
    for effect in [SideEffect::Read, SideEffect::Undeclared] {
        let verdict = verdict(fails, effect).await;
        let Verdict::Correctable(fault) = &verdict else { panic!("{verdict:?}") };
        assert_eq!((fault.fate, fault.code.as_str()), (Fate::Rejected, "COMMAND_FAILED"));
        assert!(fault.message.contains("`sh` ended with exit status 1: no such order: 7"), "{}", fault.message);
    }
    for effect in [SideEffect::Idempotent, SideEffect::Keyed, SideEffect::Unsafe] {
        let verdict = verdict(fails, effect).await;
        let Verdict::Transient(fault) = &verdict else { panic!("{verdict:?}") };
        assert_eq!(fault.fate, Fate::Unknown, "{effect:?}");
    }
    let verdict_of_75 = verdict("exit 75", SideEffect::Read).await;
    assert!(matches!(verdict_of_75, Verdict::Transient(_)), "{verdict_of_75:?}");
    let verdict_of_65 = verdict("exit 65", SideEffect::Unsafe).await;
    assert!(matches!(&verdict_of_65, Verdict::Correctable(fault) if fault.fate == Fate::Rejected), "{verdict_of_65:?}");
    let killed = verdict("kill -9 $$", SideEffect::Undeclared).await;
    assert!(matches!(&killed, Verdict::Transient(fault) if fault.fate == Fate::Unknown), "{killed:?}");
}

/// Makes a mistake.
type Change = fn(&mut CommandOptions);

#[test]
fn a_definition_with_a_mistake_says_where_it_is() {
    let mistakes: &[(&str, Change, &str)] = &[
        ("command", |it| it.command = vec!["grep".to_owned(), "{pattern}".to_owned()], "did you mean `{patterns}`?"),
        ("command", |it| it.command = Vec::new(), "write the program first"),
        ("command", |it| it.command = vec!["{patterns}".to_owned()], "the program cannot be a parameter"),
        ("command", |it| it.command.push("{print".to_owned()), "`{{` and `}}` are braces"),
        ("stdin", |it| it.stdin = CommandInput::Text("{x}".to_owned()), "`{x}` is not one of the parameters"),
        ("parameters", |it| it.command = vec!["true".to_owned()], "nothing uses `patterns`"),
        ("required", |it| it.capability = requiring(it.capability.clone(), &["x"]), "`x`"),
    ];
    for (key, change, problem) in mistakes {
        let mut options = options(r#"{"patterns": {"type": "string"}}"#, &["grep", "{patterns}"]);
        change(&mut options);
        let error = CommandTool::new(options).expect_err("it has a mistake");
        assert_eq!(error.key, *key, "{error}");
        assert!(error.problem.contains(problem), "{error}");
    }
}

#[test]
fn the_process_receives_exactly_the_arguments_and_the_input_that_were_bound() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let text = Some(CommandOutput::Text);
    let command = ["printf", "--", "%s\\0", "{a}", "<{b}>"];
    let arguments = CommandOptions { output: text, ..options(r#"{"a": {}, "b": {}}"#, &command) };
    let input =
        CommandOptions { output: text, stdin: CommandInput::Json, ..options(r#"{"a": {}, "b": {}}"#, &["cat"]) };
    let (arguments, input) = (runtime.block_on(tools(arguments)), runtime.block_on(tools(input)));
    let config = ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(a in any::<String>(), b in "\\PC{0,20}", number in any::<i64>())| {
        let texts = Object::from([("a", a.as_str().into()), ("b", b.as_str().into())]);
        let numbers = Object::from([("a", number.into()), ("b", [Value::from(number)].into_iter().collect())]);
        for parameters in [texts, numbers] {
            let shown = |name: &str| match parameters.get(name) {
                Some(Value::String(text)) => text.clone(),
                other => other.expect("a value").to_string(),
            };
            let call = call(parameters.clone());
            match runtime.block_on(arguments.call(&call)) {
                Ok(reply) => prop_assert_eq!(reply.body, ReplyBody::Text(format!("{}\0<{}>\0", shown("a"), shown("b")))),
                Err(failure) => {
                    prop_assert!(shown("a").contains('\0') || shown("b").contains('\0'), "{}", failure);
                    prop_assert_eq!(failure.delivery, Delivery::NotSent);
                }
            }
            let received = runtime.block_on(input.call(&call)).expect("a reply").body;
            prop_assert_eq!(received, ReplyBody::Text(parameters.to_string()));
        }
    });
}
