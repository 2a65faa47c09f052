//! A name for a server, from its command line or address.

use std::path::Path;

/// Programs that start others: the server is what they are told to start.
const LAUNCHERS: [&str; 11] = ["npx", "uvx", "bunx", "pipx", "uv", "bun", "deno", "node", "python", "python3", "tsx"];
/// The endings of programs that they start.
const SOURCES: [&str; 5] = ["js", "mjs", "cjs", "ts", "py"];
/// Their own commands.
const LAUNCHER_COMMANDS: [&str; 3] = ["run", "tool", "x"];

/// Fails if it is no name of a tool.
pub(super) fn parse(name: &str) -> Result<String, String> {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || name == "agent" || !name.chars().all(is_allowed) {
        return Err("write letters, digits, `-` and `_`; `agent` is taken".to_owned());
    }
    Ok(name.to_owned())
}

/// `npx -y @modelcontextprotocol/server-time@1.2` and `https://time.example.com/mcp` are `time`.
pub(super) fn server_name(words: &[String]) -> String {
    let first = words.first().map(String::as_str).unwrap_or_default();
    let title = match first.split_once("://") {
        Some((_, rest)) => host_label(rest),
        None => program_title(first, words),
    };
    let letters = title.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    let title: String = letters.collect::<String>().trim_matches('-').to_ascii_lowercase();
    let name = ["mcp-server-", "server-", "mcp-"].iter().find_map(|start| title.strip_prefix(start)).unwrap_or(&title);
    let name = ["-mcp-server", "-mcp", "-server"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    parse(name).unwrap_or_else(|_| "server".to_owned())
}

/// The first label of a host that says something.
fn host_label(rest: &str) -> &str {
    let host = rest.split(['/', ':', '?']).next().unwrap_or_default();
    let says_nothing = |label: &str| {
        matches!(label, "www" | "api" | "mcp" | "localhost") || label.chars().all(|letter| letter.is_ascii_digit())
    };
    host.split('.').find(|label| !says_nothing(label)).unwrap_or_default()
}

fn program_title<'a>(first: &'a str, words: &'a [String]) -> &'a str {
    let stem = |path: &'a str| Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or(path);
    if !LAUNCHERS.contains(&stem(first)) {
        return stem(first);
    }
    let mut arguments = words.iter().skip(1).map(String::as_str);
    let is_target = |word: &&str| !word.starts_with('-') && !LAUNCHER_COMMANDS.contains(word);
    let Some(target) = arguments.find(is_target) else { return stem(first) };
    // `@scope/package@1.2.3` and `package==1.2.3` have a version behind the name.
    let last = target.rsplit('/').next().unwrap_or(target);
    let package = last.split(['@', '=']).next().filter(|name| !name.is_empty()).unwrap_or(last);
    let ending = Path::new(package).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if SOURCES.contains(&ending) { stem(package) } else { package }
}

#[test]
fn a_server_is_called_after_its_package_its_file_or_its_host() {
    for (line, name) in [
        ("npx -y @modelcontextprotocol/server-everything@2026.8.31", "everything"),
        ("uvx mcp-server-time --local-timezone Asia/Seoul", "time"),
        ("uv tool run weather-mcp==1.2", "weather"),
        ("python -m mcp_server_time", "time"),
        ("/usr/bin/python3 shop/server_shop.py", "shop"),
        ("node dist/index.js", "index"),
        ("./target/debug/clock", "clock"),
        ("npx", "npx"),
        ("https://mcp.docs.example.com/mcp", "docs"),
        ("http://127.0.0.1:3001/mcp", "server"),
        ("agent", "server"),
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert_eq!(server_name(&words), name, "{line}");
    }
}

#[test]
fn a_name_has_letters_digits_hyphens_and_underscores() {
    assert_eq!(parse("my-files_2").as_deref(), Ok("my-files_2"));
    for name in ["", "agent", "a/b", "two words"] {
        assert!(parse(name).is_err(), "{name}");
    }
}
