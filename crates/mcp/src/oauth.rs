//! Signing in at a server with OAuth 2.1 and PKCE.

use std::sync::Arc;

use reknit_tools::{ConnectionOptions, ReadBodyError, read_bytes};
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, CredentialStore as _,
    OAuthClientConfig, OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest, WWWAuthenticateParams,
};
use secrecy::ExposeSecret as _;

use crate::http::HttpClient;
use crate::options::{McpEndpoint, McpOAuth};
use crate::redirect::{RedirectListener, parameter};
use crate::token_file::TokenFile;

/// The largest answer of an authorization server, in bytes.
const MAX_OAUTH_BODY: usize = 1 << 20;
/// The address of a client that only renews tokens: nobody is sent there.
const UNUSED_REDIRECT: &str = "http://127.0.0.1/callback";

/// A sign-in that waits for a person.
pub struct SignIn {
    session: AuthorizationSession,
}

impl std::fmt::Debug for SignIn {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SignIn").finish_non_exhaustive()
    }
}

impl SignIn {
    /// Starts a sign-in, as the `WWW-Authenticate` header asks for with which the server refused a request.
    pub(crate) async fn start(
        endpoint: &McpEndpoint,
        oauth: &McpOAuth,
        http: &HttpClient,
        redirect_url: &str,
    ) -> Result<Self, AuthError> {
        let challenge = http.challenge();
        let challenge = challenge.as_deref();
        let mut manager = manager(endpoint, oauth, http).await?;
        let resolution = manager.resolve_metadata_from_challenge(challenge).await?;
        manager.set_metadata(resolution.metadata);
        let mut request = AuthorizationRequest::new(redirect_url)
            .with_client_name("Reknit")
            .with_scopes(scopes(endpoint, oauth, challenge).await?);
        request.client_id.clone_from(&oauth.client_id);
        request.client_secret = oauth.client_secret.as_ref().map(|secret| secret.expose_secret().to_owned());
        request.client_metadata_url.clone_from(&oauth.client_metadata_url);
        let session = AuthorizationSession::new(manager, request).await.map_err(|(_, error)| error)?;
        Ok(Self { session })
    }

    pub fn url(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Ends the sign-in with the URL to which the browser was sent back. The tokens are stored, encrypted. Fails with the reason.
    pub async fn finish(self, callback_url: &str) -> Result<(), String> {
        self.session.handle_callback_url(callback_url).await.map(drop).map_err(|error| error.to_string())
    }

    /// Waits for the browser, and ends the sign-in with the URL that it asks for. Fails with the reason.
    pub async fn finish_at(self, listener: &RedirectListener) -> Result<(), String> {
        let state = reqwest::Url::parse(self.url()).ok().and_then(|url| parameter(&url, "state"));
        let state = state.ok_or("the server's page for the sign-in has no `state`")?;
        let browser = listener.wait(&state).await.map_err(|error| format!("the browser cannot be heard: {error}"))?;
        let finished = match browser.refusal() {
            Some(refusal) => Err(refusal),
            None => self.finish(&browser.callback_url).await,
        };
        match &finished {
            Ok(()) => browser.tell("200 OK", "You are signed in. You can close this page.").await,
            Err(problem) => browser.tell("400 Bad Request", &format!("You are not signed in: {problem}")).await,
        }
        finished
    }
}

/// The scopes to ask for; empty for what the server proposes. A server that asks for more gets what was granted before as well.
async fn scopes(endpoint: &McpEndpoint, oauth: &McpOAuth, challenge: Option<&str>) -> Result<Vec<String>, AuthError> {
    let url = reqwest::Url::parse(&endpoint.url)?;
    let asked = challenge.and_then(|challenge| WWWAuthenticateParams::parse(challenge, &url).scope);
    // Tokens that cannot be read any more are replaced by this sign-in.
    let stored = token_file(oauth).load().await.ok().flatten();
    let granted = stored.map(|stored| stored.granted_scopes).unwrap_or_default();
    let mut scopes = oauth.scopes.clone();
    if let Some(asked) = asked.filter(|_| !granted.is_empty()) {
        for scope in granted.into_iter().chain(asked.split_whitespace().map(str::to_owned)) {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
    }
    Ok(scopes)
}

/// The client that sends the stored token, and refreshes it.
pub(crate) async fn authorized(
    endpoint: &McpEndpoint,
    oauth: &McpOAuth,
    http: &HttpClient,
) -> Result<AuthClient<HttpClient>, AuthError> {
    let mut manager = manager(endpoint, oauth, http).await?;
    if manager.initialize_from_store().await?
        && let (Some(client_id), Some(secret)) = (&oauth.client_id, &oauth.client_secret)
    {
        let client = OAuthClientConfig::new(client_id.clone(), UNUSED_REDIRECT);
        manager.configure_client(client.with_client_secret(secret.expose_secret()))?;
    }
    Ok(AuthClient::new(http.clone(), manager))
}

async fn manager(
    endpoint: &McpEndpoint,
    oauth: &McpOAuth,
    http: &HttpClient,
) -> Result<AuthorizationManager, AuthError> {
    let mut manager = if endpoint.connection == ConnectionOptions::default() {
        // This client refuses private addresses that the metadata of a public server names.
        AuthorizationManager::new(endpoint.url.as_str()).await?
    } else {
        let client = Arc::new(OAuthClient { http: http.plain().clone() });
        AuthorizationManager::new_with_oauth_http_client(endpoint.url.as_str(), client).await?
    };
    manager.set_credential_store(token_file(oauth));
    Ok(manager)
}

/// Removes the stored tokens. Returns whether there were any. Fails with the reason.
pub(crate) async fn sign_out(oauth: &McpOAuth) -> Result<bool, String> {
    let was_signed_in = oauth.token_file.exists();
    token_file(oauth).clear().await.map(|()| was_signed_in).map_err(|error| error.to_string())
}

/// Makes the requests of OAuth with the certificates and the proxy of the entry. Redirects are returned: rmcp follows those that
/// it allows.
struct OAuthClient {
    http: reqwest::Client,
}

impl OAuthHttpClient for OAuthClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let (parts, body) = request.request.into_parts();
            let mut sent = self.http.request(parts.method, parts.uri.to_string()).headers(parts.headers).body(body);
            if let Some(limit) = request.timeout {
                sent = sent.timeout(limit);
            }
            let response = sent.send().await?;
            let mut answer = http::Response::new(Vec::new());
            *answer.status_mut() = response.status();
            *answer.headers_mut() = response.headers().clone();
            *answer.body_mut() = read_bytes(response, MAX_OAUTH_BODY).await.map_err(|error| match error {
                ReadBodyError::Broken(error) => error.to_string(),
                ReadBodyError::TooLarge(limit) => format!("the answer is larger than {limit} bytes"),
            })?;
            Ok(answer)
        })
    }
}

fn token_file(oauth: &McpOAuth) -> TokenFile {
    TokenFile::new(&oauth.token_file, oauth.token_key.clone())
}
