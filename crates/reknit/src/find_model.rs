//! A model without a word of configuration.

use std::io::Write as _;

use reknit_models::detect::{self, By};
use reknit_runtime::config::{Config, FindModel, KeySource, Origin};

use crate::show::harmless;
use crate::work::environment;

/// The configuration as it is if it names a model, else with one that was found; who pays for it is told.
pub(crate) async fn with_a_model(config: Config) -> Config {
    if !config.models.is_empty() || config.find_model == FindModel::Off {
        return config;
    }
    let found = match detect::by_key(&environment) {
        Some(found) => Some(found),
        None => detect::on_this_machine().await,
    };
    let Some(found) = found else { return config };
    // Who cannot be told can look with `reknit models`.
    let _ = writeln!(
        std::io::stderr(),
        "note: no model is configured; `{}` of {} is asked, found by {}",
        harmless(&found.target.model),
        found.target.name,
        found.by
    );
    let name = found.target.name.clone();
    let mut config = config.with_models(vec![found.target], &Origin::Default);
    if let By::Key(variable) = found.by {
        config.keys.insert(name, KeySource::Variable(variable.to_owned()));
    }
    config
}
