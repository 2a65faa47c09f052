//! A build that reads no configuration files: only an empty text is one.

use super::error::ConfigError;
use super::file_content::FileContent;
use super::origin::SettingOrigin;

pub(super) fn parse(text: &str, name: &str) -> Result<FileContent, ConfigError> {
    if text.trim().is_empty() {
        return Ok(FileContent::default());
    }
    let problem = "this program was built without the feature `config-file`".to_owned();
    Err(ConfigError::Invalid { origin: SettingOrigin::File { name: name.to_owned(), line: 1 }, problem })
}
