//! All configured targets.

use std::time::Duration;

use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure, ModelRequest, TargetName};

#[cfg(feature = "http")]
use crate::attempt::Attempt;
use crate::client::{OnDelta, SharedClient};
#[cfg(feature = "http")]
use crate::endpoint::Endpoint;
use crate::{Target, TargetError};

/// All configured targets, with their HTTP clients. Idle connections are reused for a few seconds.
#[derive(Debug)]
pub struct Models {
    /// In the order of the configuration.
    routes: Vec<ModelRoute>,
}

#[derive(Debug)]
enum ModelRoute {
    #[cfg(feature = "http")]
    Server(Box<Endpoint>),
    Client(Box<Target>, SharedClient),
}

impl ModelRoute {
    fn new(mut target: Target) -> Result<Self, TargetError> {
        Ok(match target.client.take() {
            Some(client) => Self::Client(Box::new(target), client),
            #[cfg(feature = "http")]
            None => Self::Server(Box::new(Endpoint::new(target)?)),
            #[cfg(not(feature = "http"))]
            None => return Err(TargetError::WithoutHttp { target: target.name }),
        })
    }

    fn target(&self) -> &Target {
        match self {
            #[cfg(feature = "http")]
            Self::Server(endpoint) => &endpoint.target,
            Self::Client(target, _) => target,
        }
    }
}

impl Models {
    /// Checks every target, without any network access.
    ///
    /// Proxies of `HTTPS_PROXY` and the like are used, except for loopback addresses.
    pub fn new(targets: Vec<Target>) -> Result<Self, TargetError> {
        let mut models = Self { routes: Vec::new() };
        for target in targets {
            if models.route(&target.name).is_some() {
                return Err(TargetError::Duplicate { target: target.name });
            }
            models.routes.push(ModelRoute::new(target)?);
        }
        Ok(models)
    }

    pub fn target(&self, name: &TargetName) -> Option<&Target> {
        self.route(name).map(ModelRoute::target)
    }

    fn route(&self, name: &TargetName) -> Option<&ModelRoute> {
        self.routes.iter().find(|route| route.target().name == *name)
    }

    /// The server of a target; none if code of the program is asked instead.
    #[cfg(feature = "http")]
    pub(crate) fn server(&self, target: &TargetName) -> Option<&Endpoint> {
        match self.route(target)? {
            ModelRoute::Server(endpoint) => Some(endpoint),
            ModelRoute::Client(..) => None,
        }
    }

    /// An attempt at a server; none if code of the program is asked instead.
    #[cfg(feature = "http")]
    pub(crate) fn attempt<'a>(&'a self, target: &TargetName, request: &'a ModelRequest) -> Option<Attempt<'a>> {
        Some(Attempt::start(self.server(target)?, request))
    }

    /// Every target, in the order of the configuration.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.routes.iter().map(ModelRoute::target)
    }

    /// Makes one attempt at one target. `on_delta` gets each piece of the answer as it arrives; on success the pieces together
    /// are the answer. Nothing is read from the server while `on_delta` runs. The answer may have no text; see
    /// [`ModelAnswer::require_text`].
    ///
    /// | failure | when |
    /// |---|---|
    /// | by status and body, see [`classify`](reknit_model_api::classify) | the server reports an error, as its response or inside a stream |
    /// | `network_error` | the connection failed or broke |
    /// | `timeout` | one of the [`Timeouts`](crate::Timeouts) passed |
    /// | `invalid_response` | the answer is truncated, too long, or not in the wire format |
    /// | `context_length` | the request cannot fit; see [`Target::max_context`] |
    /// | `model_error` | there is no such target, or it cannot take an attachment |
    ///
    /// [`ModelFailure::usage`] is set if the provider may bill the attempt; it is an estimate if the provider did not report it.
    /// Dropping the future closes the connection.
    pub async fn ask(
        &self,
        target: &TargetName,
        request: &ModelRequest,
        on_delta: OnDelta<'_>,
    ) -> Result<ModelAnswer, ModelFailure> {
        match self.route(target) {
            #[cfg(feature = "http")]
            Some(ModelRoute::Server(endpoint)) => Attempt::start(endpoint, request).run(on_delta).await,
            Some(ModelRoute::Client(target, client)) => ask_client(target, client, request, on_delta).await,
            None => {
                Err(ModelFailure::new(ErrorClass::ModelError, format!("there is no model with the name `{target}`")))
            }
        }
    }
}

/// Asks a client of the program within the total timeout of its target.
async fn ask_client(
    target: &Target,
    client: &SharedClient,
    request: &ModelRequest,
    on_delta: OnDelta<'_>,
) -> Result<ModelAnswer, ModelFailure> {
    let limit = request.timeout_ms.map_or(target.timeouts.total, Duration::from_millis).min(target.timeouts.total);
    let Ok(result) = tokio::time::timeout(limit, client.ask(request, on_delta)).await else {
        let message = format!("no answer within {} ms", limit.as_millis());
        return Err(ModelFailure::new(ErrorClass::Timeout, message));
    };
    let mut answer = result?;
    answer.cost = answer.cost.or_else(|| target.prices.map(|prices| prices.cost(&answer.usage)));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_targets_with_the_same_name_are_refused() {
        let target = Target::new("a", "http://localhost", "m");
        let error = Models::new(vec![target.clone(), target]).unwrap_err();
        assert_eq!(error.to_string(), "two models have the name `a`");
    }

    #[test]
    fn targets_are_listed_in_the_order_of_the_configuration() {
        let names = ["z", "a", "m"];
        let models = Models::new(names.map(|name| Target::new(name, "http://localhost", "m")).to_vec()).unwrap();
        assert_eq!(models.targets().map(|target| target.name.as_str()).collect::<Vec<_>>(), names);
    }

    #[test]
    fn the_debug_output_of_models_and_their_targets_redacts_keys() {
        let target = Target { key: Some("sk-very-secret".into()), ..Target::new("a", "http://localhost", "m") };
        let debug = format!("{:?}", Models::new(vec![target]).unwrap());
        assert!(!debug.contains("very-secret") && debug.contains("REDACTED"), "{debug}");
    }

    #[test]
    fn the_future_of_a_request_is_send() {
        fn is_send(_: &impl Send) {}
        let models = Models::new(vec![]).unwrap();
        let request = ModelRequest::new(vec![], 1);
        is_send(&models.ask(&"a".into(), &request, &mut |_| {}));
    }
}
