//! All configured targets.

use std::collections::HashMap;

use reknit_dialogue::{Answer, Delta, ErrorClass, Failure, Request, TargetName};

use crate::attempt::Attempt;
use crate::endpoint::Endpoint;
use crate::{ConfigError, Target};

/// All configured targets, ready to be asked. Connections are kept for a few seconds and used again.
#[derive(Debug)]
pub struct Models {
    endpoints: HashMap<TargetName, Endpoint>,
    order: Vec<TargetName>,
}

impl Models {
    /// Checks every target. Nothing is sent, and no name is looked up.
    ///
    /// A proxy named by `HTTPS_PROXY` and its like is used, except for addresses of this machine itself.
    pub fn new(targets: Vec<Target>) -> Result<Self, ConfigError> {
        let mut models = Self { endpoints: HashMap::new(), order: Vec::new() };
        for target in targets {
            let name = target.name.clone();
            if models.endpoints.contains_key(&name) {
                return Err(ConfigError::Duplicate { target: name });
            }
            models.endpoints.insert(name.clone(), Endpoint::new(target)?);
            models.order.push(name);
        }
        Ok(models)
    }

    /// The target of this name.
    pub fn target(&self, name: &TargetName) -> Option<&Target> {
        self.endpoints.get(name).map(|endpoint| &endpoint.target)
    }

    /// Every target, in the order of the configuration.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.order.iter().filter_map(|name| self.target(name))
    }

    /// Asks one target once. `on_delta` gets the answer piece by piece as it arrives; together the pieces are the answer,
    /// and with a failure what had arrived by then. Nothing is read from the server while it runs, so who is slow to take
    /// pieces in slows the server down. An answer may have no words; see [`Answer::words`].
    ///
    /// | failure | when |
    /// |---|---|
    /// | by status and body, see [`classify`](reknit_dialogue::classify) | the server answers with an error, at once or inside a stream |
    /// | `network_error` | no connection, or it broke |
    /// | `timeout` | one of the [`Limits`](crate::Limits) has passed |
    /// | `invalid_response` | the answer is cut without an error, too long, or something else altogether |
    /// | `context_length` | the question cannot fit; see [`Target::max_context`] |
    /// | `model_error` | there is no such target |
    ///
    /// [`Failure::usage`] is there if the server may have worked for it, counted by us if it could not say. Dropping the
    /// future closes the connection.
    pub async fn ask(
        &self,
        target: &TargetName,
        request: &Request,
        on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Answer, Failure> {
        match self.endpoints.get(target) {
            Some(endpoint) => Attempt::new(endpoint, request).run(on_delta).await,
            None => Err(Failure::new(ErrorClass::ModelError, format!("no model is called `{target}`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_targets_of_one_name_are_refused() {
        let target = Target::new("a", "http://localhost", "m");
        let error = Models::new(vec![target.clone(), target]).unwrap_err();
        assert_eq!(error.to_string(), "two models are called `a`");
    }

    #[test]
    fn targets_are_listed_in_the_order_of_the_configuration() {
        let names = ["z", "a", "m"];
        let models = Models::new(names.map(|name| Target::new(name, "http://localhost", "m")).to_vec()).unwrap();
        assert_eq!(models.targets().map(|target| target.name.as_str()).collect::<Vec<_>>(), names);
    }

    #[test]
    fn models_shown_for_debugging_do_not_show_their_keys() {
        let target = Target { key: Some("sk-very-secret".into()), ..Target::new("a", "http://localhost", "m") };
        let shown = format!("{:?}", Models::new(vec![target]).unwrap());
        assert!(!shown.contains("very-secret"), "{shown}");
    }

    #[test]
    fn a_question_can_be_asked_from_any_task() {
        fn is_send(_: &impl Send) {}
        let models = Models::new(vec![]).unwrap();
        let request = Request::new(vec![], 1);
        is_send(&models.ask(&"a".into(), &request, &mut |_| {}));
    }
}
