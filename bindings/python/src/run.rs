//! Runs with Python functions as tools.

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use pyo3::exceptions::{PyAssertionError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use reknit::protocol::{Category, Object, Retryable, RunId, SideEffect, ToolError, Value};
use reknit::testing::ExpectError;
use reknit::tool_service::{CallContext, CapabilityDefinition};
use reknit::{Follow, Reknit, RunError, RunEvent, RunResult, Tool};
use tokio::runtime::Runtime;

use crate::errors;
use crate::mend::side_effect;
use crate::model::target;
use crate::value::{Decimals, from_python, to_python};

/// The runtime of all runs of the process.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap_or_else(|error| panic!("threads cannot be started: {error}"))
    });
    &RUNTIME
}

/// A tool as Python describes it: name, service, description, effect, schema, function.
type ToolDescription<'py> = (String, String, String, String, Bound<'py, PyAny>, Py<PyAny>);

/// What runs plans and agents.
#[pyclass(frozen, module = "reknit")]
pub(crate) struct Engine(Reknit);

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (tools, services, models, journal))]
    fn new(
        py: Python<'_>,
        tools: Vec<ToolDescription<'_>>,
        services: Vec<(String, String)>,
        models: Vec<Bound<'_, PyAny>>,
        journal: Option<&str>,
    ) -> PyResult<Self> {
        let tools: PyResult<Vec<Tool>> = tools.into_iter().map(python_tool).collect();
        let mut builder = Reknit::builder().tools(tools?);
        for (name, url) in services {
            builder = builder.tool_service(&name, &url);
        }
        for (number, model) in models.iter().enumerate() {
            builder = builder.model(target(&format!("model-{}", number + 1), model)?);
        }
        if let Some(path) = journal {
            builder = builder.journal(path);
        }
        let engine = py.detach(|| runtime().block_on(builder.start()));
        engine.map(Self).map_err(|error| errors::of_error(&error))
    }

    /// Runs a plan: the text of a plan file.
    fn run_plan(&self, plan: &str, inputs: &Bound<'_, PyAny>) -> PyResult<RunHandle> {
        let (plan, _) = reknit::plan::read_plan_file(plan).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let Value::Object(inputs) = from_python(inputs)? else {
            return Err(PyValueError::new_err("`inputs` is not a dictionary"));
        };
        let _entered = runtime().enter();
        Ok(RunHandle::new(&self.0, self.0.run_plan(plan, inputs)))
    }

    /// Lets a model plan a request, and runs the plan.
    fn ask(&self, request: &str) -> RunHandle {
        let _entered = runtime().enter();
        RunHandle::new(&self.0, self.0.ask(request))
    }

    /// Starts an agent: the text of an agent file.
    fn agent(&self, agent: &str, input: &str) -> PyResult<RunHandle> {
        let _entered = runtime().enter();
        self.0.agent(agent, input).map(|run| RunHandle::new(&self.0, run)).map_err(|error| errors::of_error(&error))
    }

    /// Continues a run of the journal.
    fn resume(&self, run: &str) -> RunHandle {
        let _entered = runtime().enter();
        RunHandle::new(&self.0, self.0.resume(&RunId::new(run)))
    }
}

/// A function of Python as a tool. It is called in a thread of its own, so that others go on.
fn python_tool((name, service, description, effect, schema, function): ToolDescription<'_>) -> PyResult<Tool> {
    let (function, effect) = (Arc::new(function), side_effect(&effect)?);
    let handler = move |_: CallContext, arguments: Object| {
        let function = Arc::clone(&function);
        async move {
            let called =
                tokio::task::spawn_blocking(move || Python::attach(|py| call(py, &function, &arguments, effect)));
            match called.await {
                Ok(result) => result,
                Err(error) => Err(ToolError::new("PANIC", error.to_string(), Category::Other("INTERNAL".to_owned()))),
            }
        }
    };
    let schema = from_python(&schema)?;
    let definition = CapabilityDefinition::with_schema(name, effect, schema, handler).description(description);
    Ok(Tool::new(definition).in_service(service))
}

fn call(
    py: Python<'_>,
    function: &Py<PyAny>,
    arguments: &Object,
    effect: SideEffect,
) -> Result<Value, ToolError> {
    let arguments = Value::Object(arguments.clone());
    let returned = to_python(py, &arguments, Decimals::Float).and_then(|arguments| function.call1(py, (arguments,)));
    let returned = returned.map_err(|error| tool_error(py, &error, effect))?;
    from_python(returned.bind(py)).map_err(|error| {
        // The function has done what it does.
        let message = format!("the function has returned, but its result cannot be sent: {error}");
        ToolError::new("RESULT", message, Category::Other("INTERNAL".to_owned()))
    })
}

/// An exception as the error of a tool. One of the package says what it is. A wrong value is an error of the input if the function
/// changes nothing; any other one leaves open what the call did.
fn tool_error(py: Python<'_>, error: &PyErr, effect: SideEffect) -> ToolError {
    let value = error.value(py);
    let text = |name: &str| value.getattr(name).ok().and_then(|member| member.extract::<String>().ok());
    let name = value.get_type().name().map_or_else(|_| "Exception".to_owned(), |name| name.to_string());
    let message = value.str().map_or_else(|_| name.clone(), |text| text.to_string());
    let is_input = effect == SideEffect::Read
        && (error.is_instance_of::<PyValueError>(py)
            || error.is_instance_of::<pyo3::exceptions::PyTypeError>(py)
            || error.is_instance_of::<pyo3::exceptions::PyLookupError>(py));
    let category = match text("category").as_deref() {
        Some("INPUT_ERROR") => Category::InputError,
        Some("NOT_FOUND") => Category::NotFound,
        Some("RATE_LIMIT") => Category::RateLimit,
        Some("AUTH_ERROR") => Category::AuthError,
        Some("SERVICE_ERROR") => Category::ServiceError,
        Some(other) => Category::Other(other.to_owned()),
        None if is_input => Category::InputError,
        None => Category::Other("INTERNAL".to_owned()),
    };
    let mut tool_error = ToolError::new(text("code").unwrap_or(name), message, category);
    if let Some(details) = value.getattr("details").ok().and_then(|details| from_python(&details).ok())
        && let Value::Object(details) = details
    {
        tool_error.details = details;
    }
    let retryable = value.getattr("retryable").ok().and_then(|flag| flag.extract::<bool>().ok());
    tool_error.retryable(Retryable::from(retryable))
}

/// A run that goes on.
#[pyclass(frozen, module = "reknit")]
pub(crate) struct RunHandle {
    engine: Reknit,
    handle: reknit::RunHandle,
    events: Mutex<Option<Follow<RunEvent>>>,
}

impl RunHandle {
    fn new(engine: &Reknit, handle: reknit::RunHandle) -> Self {
        let events = Mutex::new(Some(handle.events()));
        Self { engine: engine.clone(), handle, events }
    }
}

#[pymethods]
impl RunHandle {
    #[getter]
    fn id(&self) -> &str {
        self.handle.id.as_str()
    }

    /// Waits for the next event, at most so many seconds: `(True, event)`, `(True, None)` after the last one, or `(False, None)`.
    fn next_event(&self, py: Python<'_>, seconds: f64) -> PyResult<(bool, Option<Py<PyAny>>)> {
        let taken = self.events.lock().map_err(|_| PyRuntimeError::new_err("an earlier call failed"))?.take();
        let Some(mut events) = taken else { return Err(PyRuntimeError::new_err("another task reads these events")) };
        let (events, found) = py.detach(|| {
            runtime().block_on(async {
                let deadline = tokio::time::Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
                loop {
                    match tokio::time::timeout_at(deadline, events.next()).await {
                        Err(_) => break (events, None),
                        Ok(None) => break (events, Some(None)),
                        Ok(Some(event)) => {
                            // Some events only the engine needs.
                            if let Some(object) = event.to_json(&self.handle.id) {
                                break (events, Some(Some(object)));
                            }
                        }
                    }
                }
            })
        });
        *self.events.lock().map_err(|_| PyRuntimeError::new_err("an earlier call failed"))? = Some(events);
        match found {
            None => Ok((false, None)),
            Some(None) => Ok((true, None)),
            Some(Some(event)) => Ok((true, Some(to_python(py, &Value::Object(event), Decimals::Float)?))),
        }
    }

    /// Waits until the run has ended or waits for a person, at most so many seconds; returns whether it has.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let limit = Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
        let settled =
            py.detach(|| runtime().block_on(async { tokio::time::timeout(limit, self.handle.settled()).await }));
        match settled {
            Err(_) => Ok(false),
            Ok(Ok(())) => Ok(true),
            Ok(Err(error)) => Err(errors::of_error(&error)),
        }
    }

    #[getter]
    fn is_waiting(&self) -> bool {
        self.handle.is_waiting()
    }

    /// The outcome of a run that has ended, as JSON. Fails with `RunError` if it did not do everything.
    fn outcome(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if !self.handle.has_ended() {
            return Err(PyRuntimeError::new_err("the run has not ended"));
        }
        match py.detach(|| runtime().block_on(self.handle.outcome())) {
            Ok(answer) => to_python(py, &outcome_value(answer.text(), &answer.result)?, Decimals::Float),
            Err(RunError::Failed(failure)) => {
                let outcome = outcome_value(&failure.text, &failure.result)?;
                Err(errors::of_run(py, failure.to_string(), failure.status.as_str(), &outcome))
            }
            Err(error) => Err(errors::of_error(&error)),
        }
    }

    /// The questions of a run that waits for a person.
    fn questions(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let asked =
            py.detach(|| runtime().block_on(self.handle.questions())).map_err(|error| errors::of_error(&error))?;
        let questions = asked.iter().map(|question| {
            let (id, step) = (question.id.to_string(), question.step.to_string());
            Value::Object(Object::from([
                ("id", id.into()),
                ("step", step.into()),
                ("hash", question.hash.as_str().into()),
            ]))
        });
        to_python(py, &questions.collect::<Value>(), Decimals::Float)
    }

    /// Approves or denies all open questions.
    #[pyo3(signature = (approve, reason=None))]
    fn decide(&self, py: Python<'_>, approve: bool, reason: Option<String>) -> PyResult<()> {
        let decided = py.detach(|| {
            runtime().block_on(async {
                for question in self.handle.questions().await.map_err(|error| errors::of_error(&error))? {
                    let decision = match approve {
                        true => reknit::engine::Decision::Approve,
                        false => reknit::engine::Decision::Deny { reason: reason.clone() },
                    };
                    self.handle.decide(&question, decision).await.map_err(|error| errors::of_error(&error))?;
                }
                Ok(())
            })
        });
        decided
    }

    /// Fails with an `AssertionError` unless the run is as expected: what a test file has under `expect`.
    fn check(&self, py: Python<'_>, expectations: &Bound<'_, PyAny>) -> PyResult<()> {
        let expectations = from_python(expectations)?.to_string();
        let observed = py.detach(|| runtime().block_on(reknit::testing::observe(&self.engine, &self.handle.id)));
        match observed.map_err(|error| errors::of_error(&error))?.check(&expectations) {
            Ok(()) => Ok(()),
            Err(error @ ExpectError::Differs(_)) => Err(PyAssertionError::new_err(error.to_string())),
            Err(error @ ExpectError::Unreadable(_)) => Err(PyValueError::new_err(error.to_string())),
        }
    }

    /// Cancels the run.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        let cancelled = py.detach(|| runtime().block_on(self.handle.cancel()));
        cancelled.map(|_| ()).map_err(|error| errors::of_error(&error))
    }
}

/// The answer or report as JSON, with `text`.
fn outcome_value(text: &str, result: &RunResult) -> PyResult<Value> {
    let json = match result {
        RunResult::Answer(answer) => serde_json::to_string(answer),
        RunResult::Report(report) => serde_json::to_string(report),
        _ => Ok("{}".to_owned()),
    };
    let json = json.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let mut value = Value::parse(&json).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    if let Value::Object(object) = &mut value {
        object.insert("text", text);
    }
    Ok(value)
}
