//! Settings that count before anything runs. What follows from them is tested where it is done: which file the journal is
//! whether a model is looked for and what a log looks like with the command line, what a commit survives with the journal.

use crate::edge::Does;
use crate::row::{Row, row};
use crate::scene::{Scene, step};

fn nothing() -> Scene {
    Scene::of(vec![step("s", "read", "{}")], |_, _| Does::Takes(0))
}

pub(crate) fn rows() -> Vec<Row> {
    vec![
        row(
            "journal.path",
            "\"here.db\"",
            nothing,
            |config, _| format!("{:?}", config.journal),
            ("None", "Some(\"here.db\")"),
        ),
        row("journal.durability", "\"off\"", nothing, |config, _| format!("{:?}", config.durability), ("Full", "Off")),
        row("log.level", "\"info\"", nothing, |config, _| format!("{:?}", config.log.level), ("Off", "Info")),
        row("log.format", "\"json\"", nothing, |config, _| format!("{:?}", config.log.form), ("Text", "Json")),
        row("find-model", "false", nothing, |config, _| format!("{:?}", config.find_model), ("Allowed", "Off")),
    ]
}
