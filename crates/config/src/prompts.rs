//! Prompt templates from a folder and from code.

use std::fs;
use std::path::Path;

use reknit_engine::Templates;

use super::builder::Opaque;
use super::regular_file::check_regular_file;
use super::{Config, ConfigError};

impl Config {
    /// The prompt templates: the built-in ones, replaced by those in the folder of `[prompts]`, replaced by those of
    /// [`ConfigBuilder::prompts`](super::ConfigBuilder::prompts). Fails if one of them cannot be read or lacks what a model must know.
    pub fn templates(&self) -> Result<Templates, ConfigError> {
        let templates = self.prompts.as_deref().map(read_folder).transpose()?.unwrap_or_default();
        Ok(match &self.prompt_builder {
            Some(Opaque(builder)) => templates.built_by(builder.as_ref())?,
            None => templates,
        })
    }
}

/// Reads the files of a folder: `plan.txt` replaces the built-in template for plans. Any other file is an error, since a
/// misspelt name would have no effect.
fn read_folder(folder: &Path) -> Result<Templates, ConfigError> {
    let unreadable = |path: &Path, source| ConfigError::PromptFile { path: path.to_owned(), source };
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
    let mut templates = Templates::default();
    for entry in entries {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // The error names the whole file if it ends otherwise.
        let name = name.strip_suffix(".txt").unwrap_or(name);
        let text = check_regular_file(&path).and_then(|()| fs::read_to_string(&path));
        let text = text.map_err(|error| unreadable(&path, error))?;
        templates.replace(name, text).map_err(|source| ConfigError::Prompt { path: path.clone(), source })?;
    }
    Ok(templates)
}
