//! The style sheet and the script, which are part of the program.

use std::sync::LazyLock;

use reknit_protocol::{Sha256, hex};

/// The style sheet of every page.
pub const STYLE: &str = include_str!("../assets/style.css");
/// The script of every page. Without it pages are read and used, but not live.
pub const SCRIPT: &str = include_str!("../assets/script.js");

/// A name for the content of style sheet and script: a browser keeps them until it changes.
pub fn asset_version() -> &'static str {
    static VERSION: LazyLock<String> =
        LazyLock::new(|| hex(&Sha256::digest([STYLE, SCRIPT].concat().as_bytes())).chars().take(12).collect());
    &VERSION
}
