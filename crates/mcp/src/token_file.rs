//! Tokens of OAuth in a file, encrypted with a key that is not in it.

use std::num::NonZeroU32;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use parking_lot::Mutex;
use reknit_protocol::{Sha256, hex};
use reknit_tools::write_beside;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::options::TokenKey;

const SALT_LEN: usize = 16;
/// The rounds that make a guessed key expensive to try. A build without optimization takes seconds for each 100,000.
const ROUNDS: NonZeroU32 = NonZeroU32::new(if cfg!(debug_assertions) { 10_000 } else { 600_000 }).unwrap();
/// The rounds for a random key, which cannot be guessed.
const RANDOM_KEY_ROUNDS: NonZeroU32 = NonZeroU32::MIN;
/// The most rounds that a file may ask for.
const MAX_ROUNDS: u32 = 10_000_000;

/// The name of the file with the tokens of a tool. At another address there is another server, which must not get them.
pub fn token_file_name(tool: &str, url: &str) -> String {
    let digest = hex(&Sha256::digest(format!("{tool}\n{url}")));
    let readable: String =
        tool.chars().filter(|char| char.is_ascii_alphanumeric() || "-_".contains(*char)).take(40).collect();
    format!("{readable}-{digest:.32}.json")
}

/// A file with encrypted tokens. Cloning shares it.
#[derive(Debug, Clone)]
pub(crate) struct TokenFile {
    path: Arc<PathBuf>,
    key: TokenKey,
    /// What the file contains, as far as this process knows, so that a call does not decrypt it each time.
    known: Arc<Mutex<Option<(EncryptedTokens, StoredCredentials)>>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct EncryptedTokens {
    version: u32,
    rounds: NonZeroU32,
    salt: String,
    nonce: String,
    data: String,
}

impl TokenFile {
    pub(crate) fn new(path: &Path, key: TokenKey) -> Self {
        Self { path: Arc::new(path.to_owned()), key, known: Arc::default() }
    }

    /// The key of tokens that were stored before.
    fn stored_key(&self) -> Result<SecretString, String> {
        match &self.key {
            TokenKey::Text(key) => Ok(key.clone()),
            TokenKey::Missing(reason) => Err(reason.clone()),
            TokenKey::File(path) => {
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|error| format!("cannot read the key in {}: {error}", path.display()))?;
                Ok(text.trim().into())
            }
        }
    }

    /// The key of tokens that are stored now. A key file is made if there is none.
    fn new_key(&self) -> Result<SecretString, String> {
        if let TokenKey::File(path) = &self.key {
            make_key_file(path).map_err(|error| format!("cannot write the key to {}: {error}", path.display()))?;
        }
        self.stored_key()
    }

    fn read(&self) -> Result<Option<StoredCredentials>, String> {
        let text = match std::fs::read_to_string(&*self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("cannot read {}: {error}", self.path.display())),
        };
        let damaged = || format!("{} is damaged, or was written with another key", self.path.display());
        let encrypted: EncryptedTokens = serde_json::from_str(&text).map_err(|_| damaged())?;
        if let Some((known, credentials)) = &*self.known.lock()
            && *known == encrypted
        {
            return Ok(Some(credentials.clone()));
        }
        let bytes = decrypt(&encrypted, &self.stored_key()?).ok_or_else(damaged)?;
        let credentials: StoredCredentials = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
        self.remember(Some((encrypted, credentials.clone())));
        Ok(Some(credentials))
    }

    fn write(&self, credentials: StoredCredentials) -> Result<(), String> {
        let problem = |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", self.path.display());
        let bytes = serde_json::to_vec(&credentials).map_err(|error| problem(&error))?;
        let rounds = if matches!(self.key, TokenKey::File(_)) { RANDOM_KEY_ROUNDS } else { ROUNDS };
        let encrypted = encrypt(bytes, &self.new_key()?, rounds).ok_or_else(|| problem(&"it cannot be encrypted"))?;
        let text = serde_json::to_string(&encrypted).map_err(|error| problem(&error))?;
        let written = write_beside(&self.path, &text)
            .and_then(|(file, new)| file.sync_all().and_then(|()| std::fs::rename(new, &*self.path)));
        written.map_err(|error| problem(&error))?;
        self.remember(Some((encrypted, credentials)));
        Ok(())
    }

    fn remember(&self, content: Option<(EncryptedTokens, StoredCredentials)>) {
        *self.known.lock() = content;
    }
}

#[async_trait::async_trait]
impl CredentialStore for TokenFile {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let file = self.clone();
        in_background(move || file.read()).await
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let file = self.clone();
        in_background(move || file.write(credentials)).await
    }

    /// One process at a time renews the tokens: a server may accept each token for renewal only once.
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let path = self.path.with_extension("lock");
        let lock = move || {
            let mut options = std::fs::OpenOptions::new();
            let file = options.write(true).create(true).truncate(false).mode(0o600).open(&path);
            let locked = file.and_then(|file| file.lock().map(|()| file));
            locked.map_err(|error| format!("cannot lock {}: {error}", path.display()))
        };
        in_background(lock).await.map(|file| Some(CredentialRefreshGuard::new(file)))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        let file = self.clone();
        in_background(move || {
            file.remember(None);
            match std::fs::remove_file(&*file.path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(format!("cannot remove {}: {error}", file.path.display()))
                }
                _ => Ok(()),
            }
        })
        .await
    }
}

/// Files and keys take time, which the threads of tokio do not have.
async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, AuthError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string()).and_then(|done| done);
    done.map_err(AuthError::CredentialStoreError)
}

/// Makes a file with a random key, unless it is there.
fn make_key_file(path: &Path) -> std::io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let mut key = [0_u8; 32];
    SystemRandom::new().fill(&mut key).map_err(|_| std::io::Error::other("there are no random bytes"))?;
    let (file, new) = write_beside(path, &BASE64.encode(key))?;
    file.sync_all()?;
    // Another process may have made one in the meantime, which stays.
    let linked = std::fs::hard_link(&new, path);
    std::fs::remove_file(&new)?;
    match linked {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn cipher(secret: &SecretString, salt: &[u8], rounds: NonZeroU32) -> Option<LessSafeKey> {
    let mut key = [0_u8; 32];
    let secret = secret.expose_secret().as_bytes();
    ring::pbkdf2::derive(ring::pbkdf2::PBKDF2_HMAC_SHA256, rounds, salt, secret, &mut key);
    Some(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).ok()?))
}

fn encrypt(mut bytes: Vec<u8>, secret: &SecretString, rounds: NonZeroU32) -> Option<EncryptedTokens> {
    let (mut salt, mut nonce) = ([0_u8; SALT_LEN], [0_u8; NONCE_LEN]);
    let random = SystemRandom::new();
    random.fill(&mut salt).ok()?;
    random.fill(&mut nonce).ok()?;
    let cipher = cipher(secret, &salt, rounds)?;
    cipher.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut bytes).ok()?;
    Some(EncryptedTokens {
        version: 1,
        rounds,
        salt: BASE64.encode(salt),
        nonce: BASE64.encode(nonce),
        data: BASE64.encode(bytes),
    })
}

fn decrypt(tokens: &EncryptedTokens, secret: &SecretString) -> Option<Vec<u8>> {
    if tokens.rounds.get() > MAX_ROUNDS {
        return None;
    }
    let cipher = cipher(secret, &BASE64.decode(&tokens.salt).ok()?, tokens.rounds)?;
    let nonce = Nonce::try_assume_unique_for_key(&BASE64.decode(&tokens.nonce).ok()?).ok()?;
    let mut data = BASE64.decode(&tokens.data).ok()?;
    let length = cipher.open_in_place(nonce, Aad::empty(), &mut data).ok()?.len();
    data.truncate(length);
    (tokens.version == 1).then_some(data)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn tokens_are_read_only_with_the_key_they_were_written_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens/server.json");
        let file = |key: &str| TokenFile::new(&path, TokenKey::Text(key.into()));
        assert!(file("key").load().await.expect("it is readable").is_none());
        let token = r#"{"access_token":"token-secret","token_type":"bearer"}"#;
        let token = serde_json::from_str(token).expect("a token");
        let credentials = StoredCredentials::new("client-1".to_owned(), Some(token), Vec::new(), None);
        file("key").save(credentials).await.expect("it is written");
        let text = std::fs::read_to_string(&path).expect("it is there");
        assert!(!text.contains("token-secret") && !text.contains("client-1"), "{text}");
        assert_eq!(std::fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        let loaded = file("key").load().await.expect("it is readable").expect("there are tokens");
        assert_eq!(loaded.client_id, "client-1");
        let error = file("other").load().await.expect_err("the key is another");
        assert!(error.to_string().ends_with("is damaged, or was written with another key"), "{error}");
        file("key").clear().await.expect("it is removed");
        assert!(file("key").load().await.expect("it is readable").is_none());
    }

    #[test]
    fn the_tokens_of_a_tool_belong_to_its_address() {
        let name = token_file_name("do/cs", "https://a.example/mcp");
        assert!(name.starts_with("docs-") && name.len() == "docs-".len() + 32 + ".json".len(), "{name}");
        assert_eq!(name, token_file_name("do/cs", "https://a.example/mcp"));
        assert_ne!(name, token_file_name("do/cs", "https://b.example/mcp"));
    }

    #[tokio::test]
    async fn a_key_file_is_made_with_the_first_tokens_and_needed_from_then_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, key) = (folder.path().join("tokens.json"), folder.path().join("keys/key"));
        let file = || TokenFile::new(&path, TokenKey::File(key.clone()));
        assert!(file().load().await.expect("there is nothing to read").is_none());
        assert!(!key.exists(), "nothing is stored yet");
        let credentials = StoredCredentials::new("client-1".to_owned(), None, Vec::new(), None);
        file().save(credentials.clone()).await.expect("it is written");
        assert_eq!(std::fs::metadata(&key).expect("it is there").permissions().mode() & 0o777, 0o600);
        let made = std::fs::read_to_string(&key).expect("it is text");
        file().save(credentials).await.expect("it is written again");
        assert_eq!(std::fs::read_to_string(&key).expect("it is text"), made, "the key stays");
        assert_eq!(file().load().await.expect("it is readable").expect("tokens").client_id, "client-1");
        std::fs::remove_file(&key).expect("it is removable");
        let error = file().load().await.expect_err("the key is gone");
        assert!(error.to_string().contains("cannot read the key in"), "{error}");
    }
}
