//! A setting, and what it changes.

use std::path::Path;

use reknit_runtime::config::Config;

use crate::scene::{Scene, Seen};

/// A setting, and what it changes.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// As it stands in the file; `FOLDER` is a folder with a prompt in it.
    pub(crate) value: &'static str,
    /// What else is set, both times.
    pub(crate) given: &'static str,
    pub(crate) scene: fn() -> Scene,
    /// What happened. The configuration is not shown here: what it says proves nothing.
    pub(crate) look: fn(&Seen) -> String,
    pub(crate) usual: &'static str,
    pub(crate) changed: &'static str,
}

/// A row in which nothing else is set.
pub(crate) fn row(
    name: &'static str,
    value: &'static str,
    scene: fn() -> Scene,
    look: fn(&Seen) -> String,
    (usual, changed): (&'static str, &'static str),
) -> Row {
    Row { name, value, given: "", scene, look, usual, changed }
}

impl Row {
    /// The same with something else set both times.
    pub(crate) fn given(self, given: &'static str) -> Self {
        Self { given, ..self }
    }

    /// What is seen without the setting, and with it.
    pub(crate) async fn play(&self) -> (String, String) {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("choice.txt"), "MINE {{ tools }} {{ request }}").expect("a prompt");
        let path = folder.path().display().to_string();
        let setting = format!("{} = {}\n", self.name, self.value.replace("FOLDER", &path));
        let mut seen = Vec::new();
        for text in [self.given.to_owned(), format!("{setting}{}", self.given)] {
            let config = Config::read(&text, self.name, &|_| None).expect("it can be read");
            let played = (self.scene)().play(config).await;
            let files = std::fs::read_dir(folder.path()).expect("the folder is there");
            let names = files.map(|file| file.expect("a file").file_name().display().to_string());
            let files = names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "db")).collect();
            seen.push((self.look)(&Seen { files, ..played }));
        }
        (seen.swap_remove(0), seen.swap_remove(0))
    }
}
