//! The standard variables of OpenTelemetry, as far as they decide whether anything is sent. Addresses and headers are read
//! by the exporter itself, by the same standard.

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtlpSettings {
    /// Whether spans are.
    pub traces: bool,
    /// Whether metrics are.
    pub metrics: bool,
    /// What the service is called, if the environment does not say.
    pub service: Option<&'static str>,
}

/// A variable that asks for what there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Another protocol.
    #[error("`{variable}` asks for the protocol `{value}`; telemetry is only sent as `http/protobuf`")]
    Protocol {
        /// Which variable.
        variable: String,
        /// What it says.
        value: String,
    },
}

impl OtlpSettings {
    /// Reads what the environment says; nothing if it names no collector, or does not want to hear from us.
    pub fn from_environment(environment: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, SettingsError> {
        let get = |name: &str| environment(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        if get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let traces = is_wanted("TRACES", &get)?;
        let metrics = is_wanted("METRICS", &get)?;
        let is_named = get("OTEL_SERVICE_NAME").is_some()
            || get("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|list| list.contains("service.name="));
        let service = (!is_named).then_some("reknit");
        Ok((traces || metrics).then_some(Self { traces, metrics, service }))
    }
}

/// Whether a kind of signal is sent: there is an address for it, and nobody names another way for it.
fn is_wanted(signal: &str, get: &dyn Fn(&str) -> Option<String>) -> Result<bool, SettingsError> {
    let own = |name: &str| name.replace("OTLP_", &format!("OTLP_{signal}_"));
    let has_address = get(&own(ENDPOINT)).or_else(|| get(ENDPOINT)).is_some();
    let ways = get(&format!("OTEL_{signal}_EXPORTER")).unwrap_or_else(|| "otlp".to_owned());
    if !has_address || !ways.split(',').any(|way| way.trim() == "otlp") {
        return Ok(false);
    }
    for variable in [own(PROTOCOL), PROTOCOL.to_owned()] {
        match get(&variable) {
            None => {}
            Some(value) if value == "http/protobuf" => break,
            Some(value) => return Err(SettingsError::Protocol { variable, value }),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<(bool, bool)>, String> {
        let environment =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let read = OtlpSettings::from_environment(&environment);
        read.map(|settings| settings.map(|it| (it.traces, it.metrics))).map_err(|error| error.to_string())
    }

    #[test]
    fn the_standard_variables_decide_what_is_sent() {
        const THERE: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        for (variables, expected) in [
            (&[][..], None),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")], None),
            (&[THERE], Some((true, true))),
            (&[THERE, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")], Some((true, true))),
            (&[THERE, ("OTEL_SDK_DISABLED", "TRUE")], None),
            (&[THERE, ("OTEL_METRICS_EXPORTER", "none")], Some((true, false))),
            (&[THERE, ("OTEL_TRACES_EXPORTER", "console"), ("OTEL_METRICS_EXPORTER", "prometheus")], None),
            (&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1/v1/traces")], Some((true, false))),
            (
                &[
                    THERE,
                    ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
                    ("OTEL_METRICS_EXPORTER", "none"),
                    ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
                ],
                Some((true, false)),
            ),
        ] {
            assert_eq!(read(variables), Ok(expected), "{variables:?}");
        }
    }

    #[test]
    fn a_protocol_that_is_not_spoken_is_an_error_that_names_it() {
        let error = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]);
        assert_eq!(
            error,
            Err(
                "`OTEL_EXPORTER_OTLP_PROTOCOL` asks for the protocol `grpc`; telemetry is only sent as `http/protobuf`"
                    .to_owned()
            )
        );
        assert_eq!(read(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]), Ok(None), "without an address nothing is sent");
    }
}
