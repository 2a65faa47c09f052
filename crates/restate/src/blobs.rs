//! Large texts, stored once outside of Restate, whose messages and state entries must stay small.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reknit_protocol::{Sha256, hex};
use reknit_runtime::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Texts up to this size are part of a message or a state entry.
pub(crate) const MAX_INLINE_BYTES: usize = 16 * 1024;
/// The longest pause before an outcome is stored again.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Stores texts under their digests, where all workers of an engine reach them. [`FileBlobs`] or an object store implement this.
pub trait BlobStore: Send + Sync + std::fmt::Debug + 'static {
    /// Stores a text durably under its digest. One that is there already is the same.
    fn put<'a>(&'a self, digest: &'a str, text: &'a str) -> BoxFuture<'a, io::Result<()>>;

    /// The text with this digest.
    fn get<'a>(&'a self, digest: &'a str) -> BoxFuture<'a, io::Result<String>>;
}

/// Blobs as files in a folder that all workers share: a folder of this machine, or a network file system.
#[derive(Debug)]
pub struct FileBlobs {
    folder: PathBuf,
    /// Makes the names of unfinished files differ.
    next: AtomicU64,
}

impl FileBlobs {
    /// Uses a folder, which is created if it is not there.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned(), next: AtomicU64::new(0) })
    }

    fn path(&self, digest: &str) -> PathBuf {
        // Few files in each folder: some file systems are slow otherwise.
        self.folder.join(digest.get(..2).unwrap_or("_")).join(digest)
    }

    fn write(&self, digest: &str, text: &str) -> io::Result<()> {
        let path = self.path(digest);
        if path.exists() {
            return Ok(());
        }
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        // A file has its name only once it is complete, so a reader never sees a part of it.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let unfinished = folder.join(format!(".{digest}.{}.{number}", std::process::id()));
        let mut file = File::create(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, &path)?;
        File::open(folder)?.sync_all()
    }
}

impl BlobStore for FileBlobs {
    fn put<'a>(&'a self, digest: &'a str, text: &'a str) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move { tokio::task::block_in_place(|| self.write(digest, text)) })
    }

    fn get<'a>(&'a self, digest: &'a str) -> BoxFuture<'a, io::Result<String>> {
        Box::pin(async move {
            tokio::task::block_in_place(|| {
                let path = self.path(digest);
                let text = fs::read_to_string(&path)
                    .map_err(|error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display())))?;
                if digest_of(&text) == digest {
                    return Ok(text);
                }
                let message = format!("`{}` does not have the content that its name says", path.display());
                Err(io::Error::new(io::ErrorKind::InvalidData, message))
            })
        })
    }
}

pub(crate) fn digest_of(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// JSON in a message or a state entry, or where it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredJson {
    /// The JSON itself.
    Inline(Box<RawValue>),
    /// The digest of a blob.
    Blob {
        digest: String,
        /// Its size in bytes.
        bytes: usize,
    },
}

impl StoredJson {
    pub(crate) async fn store(json: String, blobs: &dyn BlobStore) -> io::Result<Self> {
        if json.len() <= MAX_INLINE_BYTES {
            return Ok(Self::Inline(RawValue::from_string(json)?));
        }
        Self::store_as_blob(json, blobs).await
    }

    /// Stores JSON, however long the store of blobs is away: what became of a call must not be lost.
    pub(crate) async fn store_patiently(json: String, blobs: &dyn BlobStore) -> Self {
        let mut pause = Duration::from_millis(100);
        loop {
            match Self::store(json.clone(), blobs).await {
                Ok(stored) => return stored,
                Err(error) => tracing::warn!("an outcome cannot be stored, and is stored again: {error}"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    pub(crate) async fn store_as_blob(json: String, blobs: &dyn BlobStore) -> io::Result<Self> {
        let digest = digest_of(&json);
        blobs.put(&digest, &json).await?;
        Ok(Self::Blob { digest, bytes: json.len() })
    }

    pub(crate) async fn load(&self, blobs: &dyn BlobStore) -> io::Result<String> {
        match self {
            Self::Inline(json) => Ok(json.get().to_owned()),
            Self::Blob { digest, .. } => blobs.get(digest).await,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Inline(json) => json.get().len(),
            Self::Blob { bytes, .. } => *bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn small_json_is_inline_and_large_json_is_stored_once_under_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = FileBlobs::open(folder.path()).unwrap();
        let small = StoredJson::store(r#"{"a": 1}"#.to_owned(), &blobs).await.unwrap();
        assert!(matches!(small, StoredJson::Inline(_)));
        let json = format!("\"{}\"", "x".repeat(MAX_INLINE_BYTES));
        for _ in 0..2 {
            let large = StoredJson::store(json.clone(), &blobs).await.unwrap();
            let message = serde_json::to_string(&large).unwrap();
            assert!(message.len() < 200, "{message}");
            assert_eq!(large.load(&blobs).await.unwrap(), json);
            assert_eq!(large.bytes(), json.len());
        }
        let files = walk(folder.path());
        assert_eq!(files.len(), 1, "{files:?}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_damaged_blob_is_an_error_and_not_another_value() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = FileBlobs::open(folder.path()).unwrap();
        let json = format!("\"{}\"", "x".repeat(MAX_INLINE_BYTES));
        let stored = StoredJson::store(json, &blobs).await.unwrap();
        fs::write(&walk(folder.path())[0], "\"y\"").unwrap();
        let error = stored.load(&blobs).await.unwrap_err();
        assert!(error.to_string().contains("does not have the content that its name says"), "{error}");
    }

    fn walk(folder: &Path) -> Vec<PathBuf> {
        let folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())).collect()
    }
}
