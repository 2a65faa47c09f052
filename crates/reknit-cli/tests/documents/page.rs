//! Pages of the documentation, their fenced blocks and what a comment before a block says about it.

use std::fs;
use std::path::{Path, PathBuf};

/// A page with its fenced blocks.
pub(crate) struct Page {
    /// The path from the root of the repository.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
}

/// A fenced block.
#[derive(Debug, PartialEq)]
pub(crate) struct Block {
    /// The line of the page where it begins, from 1.
    pub(crate) line: usize,
    /// The first word after the fence.
    pub(crate) language: String,
    pub(crate) content: String,
    pub(crate) mark: Option<Mark>,
}

/// What the HTML comment directly before a block says.
#[derive(Debug, PartialEq)]
pub(crate) enum Mark {
    /// `<!-- file: NAME -->`: the reader saves the block as this file.
    File(String),
    /// `<!-- add to: NAME -->`: the reader adds the block to the end of this file.
    AddTo(String),
    /// `<!-- not run: REASON -->`
    NotRun(String),
    /// `<!-- checked by: PATH -->`: a test that reads this block.
    CheckedBy(String),
    /// `<!-- inside: LINES -->`: a part of a configuration that stands below these lines, separated by `;`.
    Inside(String),
}

impl Mark {
    /// Reads a line such as `<!-- not run: needs a cluster -->`.
    fn read(line: &str) -> Option<Self> {
        let comment = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
        let (key, value) = comment.split_once(": ")?;
        let value = value.trim().to_owned();
        match key {
            "file" => Some(Self::File(value)),
            "add to" => Some(Self::AddTo(value)),
            "not run" => Some(Self::NotRun(value)),
            "checked by" => Some(Self::CheckedBy(value)),
            "inside" => Some(Self::Inside(value)),
            _ => None,
        }
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/reknit-cli is two folders deep").to_owned()
}

/// The pages at the root and all pages in `docs/`, in the order of their names.
pub(crate) fn pages() -> Vec<Page> {
    let mut names: Vec<String> = Vec::new();
    let mut folders = vec![String::from("docs")];
    while let Some(folder) = folders.pop() {
        for (name, is_folder) in entries(&folder) {
            let list = if is_folder { &mut folders } else { &mut names };
            list.push(format!("{folder}/{name}"));
        }
    }
    names.extend(entries(".").into_iter().filter(|(_, is_folder)| !is_folder).map(|(name, _)| name));
    names.retain(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"));
    names.sort();
    names.into_iter().map(Page::open).collect()
}

/// The names in a folder, and whether each is a folder.
fn entries(folder: &str) -> Vec<(String, bool)> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder can be read");
    let entry = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("the folder can be read");
        (entry.file_name().into_string().expect("the name is UTF-8"), entry.path().is_dir())
    };
    entries.map(entry).collect()
}

impl Page {
    pub(crate) fn open(name: String) -> Self {
        let text = fs::read_to_string(root().join(&name)).expect("the page can be read");
        let blocks = blocks(&text);
        Self { name, text, blocks }
    }

    /// Whether the page says that its commands need programs of others: `<!-- needs third-party programs -->`.
    pub(crate) fn needs_third_party(&self) -> bool {
        self.text.contains("<!-- needs third-party programs -->")
    }

    pub(crate) fn has_commands(&self) -> bool {
        self.blocks.iter().any(|block| block.language == "console" && block.mark.is_none())
    }

    /// Where a block is, for messages.
    pub(crate) fn place(&self, block: &Block) -> String {
        format!("{}:{}", self.name, block.line)
    }
}

/// The fenced blocks of a page.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut fence: Option<(usize, usize)> = None;
    let mut before = "";
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 => {
                fence = Some((ticks, line.len() - trimmed.len()));
                let language = trimmed[ticks..].split([' ', ',']).next().unwrap_or_default().to_owned();
                blocks.push(Block { line: index + 1, language, content: String::new(), mark: Mark::read(before) });
            }
            Some((opened, _)) if ticks == opened && trimmed.len() == ticks => fence = None,
            Some((_, indent)) => {
                let inside = line.get(indent..).unwrap_or(trimmed);
                blocks.last_mut().expect("a block is open").content.extend([inside, "\n"]);
            }
            None => {}
        }
        before = line;
    }
    blocks
}

#[test]
fn blocks_have_their_language_their_place_and_their_mark() {
    let text = "a\n<!-- file: x.sh -->\n```sh\none\n```\n````console\n$ two\n```\n````\n  ```toml title=\"x\"\n  a = 1\n  ```\n";
    let block = |line, language: &str, content: &str, mark| Block {
        line,
        language: language.to_owned(),
        content: content.to_owned(),
        mark,
    };
    assert_eq!(
        blocks(text),
        [
            block(3, "sh", "one\n", Some(Mark::File("x.sh".to_owned()))),
            block(6, "console", "$ two\n```\n", None),
            block(10, "toml", "a = 1\n", None),
        ]
    );
}
