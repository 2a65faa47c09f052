//! A folder of prompts in the place of ours.

use std::fs;
use std::path::Path;

use reknit_engine::Templates;

use super::ConfigError;

/// Reads a folder of prompts: `plan.txt` takes the place of our words for a plan. What is not there stays ours; what is
/// there and no prompt is an error, since a misspelt name would be ignored otherwise.
pub(super) fn read(folder: &Path) -> Result<Templates, ConfigError> {
    let unreadable = |path: &Path, source| ConfigError::PromptFile { path: path.to_owned(), source };
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
    let mut templates = Templates::default();
    for entry in entries {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // A name without the ending is looked up as it is, so that the error shows what is there.
        let name = name.strip_suffix(".txt").unwrap_or(name);
        let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, error))?;
        templates.replace(name, text).map_err(|source| ConfigError::Prompt { path: path.clone(), source })?;
    }
    Ok(templates)
}
