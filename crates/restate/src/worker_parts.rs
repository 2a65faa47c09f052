//! What the services of a worker share.

use std::sync::Arc;

use reknit_runtime::EffectRunner;

use crate::blobs::BlobStore;
use crate::machine_cache::MachineCache;

/// What the services of a worker share.
#[derive(Debug)]
pub(crate) struct WorkerParts {
    pub(crate) runner: EffectRunner,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) machines: MachineCache,
}
