//! The last listing of each source, so that the tools of a source that is down are still known, on disk also after a restart.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use reknit_protocol::{Sha256, SideEffect, hex};

use crate::definition_pins::{DefinitionChange, PinPolicy, PinRules, Pins};
use crate::source::{SourceProvider, ToolSource};

#[derive(Debug, Clone)]
pub struct ListingStore {
    place: Place,
    pin_rules: PinRules,
}

#[derive(Debug, Clone)]
enum Place {
    Memory(Listings),
    /// Only its owner can read the folder.
    Folder {
        folder: PathBuf,
        /// What was read or saved last: it counts if a file cannot be read, as when too many are open.
        known: Listings,
    },
}

type Listings = Arc<Mutex<HashMap<String, String>>>;

impl ListingStore {
    /// A store that ends with the process.
    pub fn in_memory() -> Self {
        Self { place: Place::Memory(Arc::default()), pin_rules: PinRules::default() }
    }

    /// A store in a folder, which is created when the first listing is saved.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { place: Place::Folder { folder: folder.into(), known: Arc::default() }, pin_rules: PinRules::default() }
    }

    /// Sets what follows a changed definition. `find_class` returns the side effect of a call by tool, capability and declared one.
    #[must_use]
    pub fn pinning(
        mut self,
        policy: PinPolicy,
        find_class: impl Fn(&str, &str, SideEffect) -> SideEffect + Send + Sync + 'static,
    ) -> Self {
        self.pin_rules = PinRules { policy, find_class: Some(Arc::new(find_class)) };
        self
    }

    pub(crate) fn pin_rules(&self) -> &PinRules {
        &self.pin_rules
    }

    /// Pins the new definition of a capability, which is then no longer withheld.
    pub fn accept(&self, change: &DefinitionChange) -> io::Result<()> {
        let mut pins = self.load_pins(change.pins())?;
        pins.accept(change);
        self.save_pins(&pins)
    }

    pub(crate) fn load_pins(&self, pins: Pins) -> io::Result<Pins> {
        match self.load(ListingOwner::Pins(&pins))? {
            Some(saved) => {
                let key = ListingOwner::Pins(&pins).key();
                pins.restore(&saved).map_err(|problem| match &self.place {
                    Place::Memory(_) => io::Error::other(problem),
                    Place::Folder { folder, .. } => io::Error::other(format!(
                        "{problem}; if you remove {}, they are pinned again as they are then",
                        folder.join(key).display()
                    )),
                })
            }
            None => Ok(pins),
        }
    }

    pub(crate) fn save_pins(&self, pins: &Pins) -> io::Result<()> {
        self.save(ListingOwner::Pins(pins), &pins.saved())
    }

    pub(crate) fn load(&self, owner: ListingOwner<'_>) -> io::Result<Option<String>> {
        match &self.place {
            Place::Memory(listings) => Ok(listings.lock().get(&owner.key()).cloned()),
            Place::Folder { folder, known } => match fs::read_to_string(folder.join(owner.key())) {
                Ok(text) => {
                    known.lock().insert(owner.key(), text.clone());
                    Ok(Some(text))
                }
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => known.lock().get(&owner.key()).cloned().map(Some).ok_or(error),
            },
        }
    }

    pub(crate) fn save(&self, owner: ListingOwner<'_>, text: &str) -> io::Result<()> {
        match &self.place {
            Place::Memory(listings) => {
                listings.lock().insert(owner.key(), text.to_owned());
                Ok(())
            }
            Place::Folder { folder, known } => {
                known.lock().insert(owner.key(), text.to_owned());
                save_file(folder, &owner.key(), text)
            }
        }
    }
}

/// Whose listing it is: known by name and address, for at another address there is another service.
#[derive(Clone, Copy)]
pub(crate) enum ListingOwner<'a> {
    Source(&'a dyn ToolSource),
    Provider(&'a dyn SourceProvider),
    Pins(&'a Pins),
}

impl ListingOwner<'_> {
    fn key(self) -> String {
        let text = match self {
            Self::Source(source) => format!("{}\n{}", source.name(), source.address()),
            Self::Pins(pins) => format!("pins\n{}\n{}", pins.tool, pins.scope),
            Self::Provider(provider) => format!("provider\n{}\n{}", provider.name(), provider.address()),
        };
        format!("{:.32}.json", hex(&Sha256::digest(text)))
    }
}

/// Writes a file, unless it is the same already.
fn save_file(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let file = folder.join(name);
    let is_same_size = fs::metadata(&file).is_ok_and(|data| data.len() == text.len() as u64);
    if is_same_size && fs::read(&file)? == text.as_bytes() {
        return Ok(());
    }
    let (_, part) = write_beside(&file, text)?;
    fs::rename(part, file)
}

/// Writes a text beside a file, in a folder and a file that only their owner can read. The caller puts it into its place: so a reader
/// sees the old text or the new one, never a part of one.
pub fn write_beside(file: &Path, text: &str) -> io::Result<(File, PathBuf)> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(file.parent().unwrap_or(Path::new(".")))?;
    let part = file.with_extension(format!("part-{}", std::process::id()));
    let mut open = File::options().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    open.write_all(text.as_bytes())?;
    Ok((open, part))
}
