//! Finds settings by their names.

use reknit_protocol::spelling::{folded, nearest};

#[cfg(feature = "config-file")]
use super::list::SECTIONS;
use super::{SETTINGS, Setting};

impl Setting {
    /// The setting with this name in a file, ignoring case, `-` and `_`.
    pub fn find(name: &str) -> Option<&'static Self> {
        let wanted = folded(name);
        SETTINGS.iter().find(|setting| setting.names().any(|name| folded(name) == wanted))
    }
}

/// The section that is spelt most like an unknown name.
#[cfg(feature = "config-file")]
pub(super) fn nearest_section(name: &str) -> Option<&'static str> {
    nearest(name, SECTIONS.iter().map(|(section, _)| *section).chain(["tools", "models"]))
}

/// The setting that an unknown name may mean: one with the same key in another section, else the one that is spelt most
/// like it.
pub(super) fn nearest_setting(name: &str) -> Option<&'static str> {
    let key = folded(name.rsplit('.').next().unwrap_or(name));
    let elsewhere = SETTINGS.iter().find(|setting| folded(setting.key()) == key).map(|setting| setting.name);
    elsewhere.or_else(|| nearest(name, SETTINGS.iter().map(|setting| setting.name)))
}
