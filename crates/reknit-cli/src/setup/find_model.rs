//! Finds a model when the configuration names none.

use reknit_models::detect::{self, DetectedBy};
use reknit_runtime::config::{Config, FindModel, KeySource, SettingOrigin};

use crate::environment::variable;
use crate::output::{one_line, print_message};

/// Adds a model that was detected by an API key or a local server, if the configuration names none, and prints a note.
pub(crate) async fn with_detected_model(config: Config) -> Config {
    if !config.models.is_empty() || config.find_model == FindModel::Off {
        return config;
    }
    let by_key = detect::by_api_key(&variable).next();
    let found = match by_key {
        Some(found) => Some(found),
        None => detect::local_server().await,
    };
    let Some(found) = found else { return config };
    print_message(&format!(
        "note: no model is configured; using `{}` of {}, found through {}\n",
        one_line(&found.target.model, usize::MAX),
        found.target.name,
        found.by
    ));
    let name = found.target.name.clone();
    let mut config = config.with_models(vec![found.target], &SettingOrigin::Default);
    if let DetectedBy::Key(key) = found.by {
        config.keys.insert(name, KeySource::Variable(key.to_owned()));
    }
    config
}
