//! Shows progress on standard error: redrawn in place in a terminal, a line for each change in a pipe.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reknit_engine::{AskModel, Machine, ModelRecord, Progress, Record, RecordKind, SessionRecord};
use reknit_model_api::{Delta, TargetName};
use reknit_protocol::{EffectId, StepId};
use reknit_runtime::{AnswerText, TextChange};

use super::{Line, StepColumns, lines, preview_lines};
use crate::output::style::{Colour, LineStyle, is_terminal_dumb, painted};
use crate::output::{Queued, columns_and_rows, one_line, print_failure, print_progress};

const PIPE_COLUMNS: usize = 1_000;

/// The most steps of a machine that is copied after each event. Without a copy, countdowns are not redrawn between events.
const MAX_KEPT_STEPS: usize = 500;

/// How often the preview of an answer is drawn at most.
const PREVIEW_PAUSE: Duration = Duration::from_millis(40);

/// A display that several tasks use.
pub(crate) type SharedDisplay = Arc<Mutex<ProgressDisplay>>;

pub(crate) fn lock(display: &SharedDisplay) -> MutexGuard<'_, ProgressDisplay> {
    display.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the progress of a run on standard error. Errors while writing do not stop the run.
#[derive(Debug, Default)]
pub(crate) struct ProgressDisplay {
    output: OutputKind,
    drawn: Vec<Line>,
    /// The machine as it was last shown, to redraw its countdowns. Only kept in a terminal.
    machine: Option<Machine>,
    records: Vec<SessionRecord>,
    /// The steps that events changed since the progress was last shown.
    changed_steps: BTreeSet<StepId>,
    step_columns: Option<StepColumns>,
    note: Option<&'static str>,
    /// The answer that a model is writing, below the progress. It is removed when it is complete, and then printed as data.
    preview: Option<AnswerText>,
    preview_drawn_at: Option<Instant>,
    /// When the last piece of an answer arrived, in milliseconds since 1970.
    last_piece_ms: i64,
    /// The questions in progress, and whom they are put to.
    asked: Vec<(EffectId, TargetName)>,
    /// The line about the last failure of a model.
    last_failure: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum OutputKind {
    Terminal(Colour),
    #[default]
    Pipe,
    /// Nothing is shown but log lines.
    Silent,
}

impl ProgressDisplay {
    pub(crate) fn new() -> Self {
        // A dumb terminal cannot move the cursor.
        let output = if !io::stderr().is_terminal() || is_terminal_dumb() {
            OutputKind::Pipe
        } else {
            OutputKind::Terminal(Colour::of_terminal())
        };
        Self { output, ..Self::default() }
    }

    pub(crate) fn silent() -> Self {
        Self { output: OutputKind::Silent, ..Self::default() }
    }

    /// Shows the answer while a model writes it, if the answer is then printed in the same terminal.
    pub(crate) fn with_preview(self) -> Self {
        let has_preview = matches!(self.output, OutputKind::Terminal(_)) && io::stdout().is_terminal();
        Self { preview: has_preview.then(|| AnswerText::default().with_agent_text()), ..self }
    }

    pub(crate) fn has_preview(&self) -> bool {
        self.preview.is_some()
    }

    /// Adds a piece of the answer that a model is writing.
    pub(crate) fn add_piece(&mut self, ask: &AskModel, delta: Delta<'_>, now_ms: i64) {
        self.last_piece_ms = now_ms;
        let Some(preview) = &mut self.preview else { return };
        let is_due = self.preview_drawn_at.is_none_or(|at| at.elapsed() >= PREVIEW_PAUSE);
        if preview.add(ask, delta) != TextChange::Same && is_due {
            self.preview_drawn_at = Some(Instant::now());
            self.tick(now_ms);
        }
    }

    /// Says which models failed or refused, a line for each. Records of nested machines are included.
    pub(crate) fn show_model_failures(&mut self, records: &[Record]) {
        for record in records {
            let RecordKind::Model(record) = &record.kind else { continue };
            let (id, failure) = match record {
                ModelRecord::Asked(question) => {
                    self.asked.push((question.id.clone(), question.target.clone()));
                    continue;
                }
                ModelRecord::Failed { id, failure } => (id, Some(failure)),
                ModelRecord::Answered { id, failure, .. } => (id, failure.as_ref()),
                ModelRecord::Skipped { id, .. } => (id, None),
            };
            let asked = self.asked.iter().position(|(asked, _)| asked == id).map(|at| self.asked.swap_remove(at));
            if let (Some((_, target)), Some(failure), false) = (asked, failure, self.output == OutputKind::Silent) {
                let text = one_line(&format!("- model {target}: {failure}"), self.columns_and_rows().0);
                // The progress counts the attempts that fail alike.
                if self.last_failure.as_ref() != Some(&text) {
                    self.log(&format!("{text}\n"));
                    self.last_failure = Some(text);
                }
            }
        }
    }

    /// Adds the records of an event. Nested machines are shown by their state, not by their records.
    pub(crate) fn add(&mut self, records: &[Record]) {
        for record in records.iter().filter_map(Record::as_own_session) {
            // What was done for earlier messages of a conversation was shown.
            if matches!(record, SessionRecord::FollowedUp { .. }) {
                self.records.clear();
            }
            self.records.push(record.clone());
        }
        let is_answer = |record: &Record| {
            matches!(&record.kind, RecordKind::Model(ModelRecord::Answered { .. } | ModelRecord::Failed { .. }))
        };
        if let Some(preview) = self.preview.as_mut().filter(|_| records.iter().any(is_answer)) {
            preview.clear();
        }
        self.changed_steps.extend(records.iter().filter_map(Record::own_step).cloned());
    }

    pub(crate) fn show(&mut self, machine: &Machine) {
        let changed = std::mem::take(&mut self.changed_steps);
        if self.output == OutputKind::Silent {
            self.records.clear();
            return;
        }
        if !self.show_changed_steps(machine, &changed) {
            self.draw(machine, machine.now_ms());
        }
        self.keep(machine);
    }

    /// Prints the lines of the steps that an event changed, and returns `true`; the others are as they were. Only in a pipe,
    /// and only while the steps run and all of them were shown: an event then costs the same for any number of steps.
    fn show_changed_steps(&mut self, machine: &Machine, changed: &BTreeSet<StepId>) -> bool {
        let Some(run) = machine.as_run().filter(|run| run.progress() == Progress::Running) else {
            self.step_columns = None;
            return false;
        };
        if self.output != OutputKind::Pipe || self.drawn.len() != run.written_step_count() {
            return false;
        }
        let columns = *self.step_columns.get_or_insert_with(|| StepColumns::of(&run.written_steps()));
        let mut text = String::new();
        let mut changed: Vec<_> = changed.iter().filter_map(|step| run.step(step.as_str())).collect();
        changed.sort_unstable_by_key(|(index, _)| *index);
        for (index, view) in changed {
            let line = columns.line(&view, machine.now_ms(), PIPE_COLUMNS);
            // Of the items of a loop, only those are shown that need attention.
            let is_shown = match self.drawn.get(index) {
                Some(drawn) => *drawn != line,
                None => matches!(line.style, LineStyle::Warning | LineStyle::Error),
            };
            if is_shown {
                text.push_str(&line.text);
                text.push('\n');
            }
            if let Some(drawn) = self.drawn.get_mut(index) {
                *drawn = line;
            }
        }
        if !text.is_empty() {
            self.write(&text);
        }
        true
    }

    /// Redraws countdowns in a terminal. Does nothing in a pipe.
    pub(crate) fn tick(&mut self, now_ms: i64) {
        if let Some(machine) = self.machine.take() {
            self.draw(&machine, now_ms.max(machine.now_ms()));
            self.keep(&machine);
        }
    }

    fn keep(&mut self, machine: &Machine) {
        let is_small = machine.as_run().is_none_or(|run| run.step_count() <= MAX_KEPT_STEPS);
        let is_kept = is_small && matches!(self.output, OutputKind::Terminal(_));
        self.machine = is_kept.then(|| machine.clone());
    }

    /// Shows a note below the steps from now on.
    pub(crate) fn set_note(&mut self, note: &'static str) {
        self.note = Some(note);
        if self.output == OutputKind::Silent {
            return;
        }
        match self.machine.take() {
            Some(machine) => self.show(&machine),
            None => self.write(&format!("{note}\n")),
        }
    }

    /// Writes a log line above the steps.
    pub(crate) fn log(&mut self, line: &str) {
        match self.output {
            OutputKind::Terminal(colour) if !self.drawn.is_empty() => {
                let steps = redraw(&[], &self.drawn, colour);
                self.write(&format!("\x1b[{}A\x1b[J{line}{steps}", self.drawn.len()));
            }
            OutputKind::Terminal(_) | OutputKind::Pipe | OutputKind::Silent => self.write(line),
        }
    }

    /// Ends the display. Later output starts below it.
    pub(crate) fn end(&mut self) {
        if let (Some(preview), Some(machine)) = (&mut self.preview, self.machine.take()) {
            preview.clear();
            self.draw(&machine, machine.now_ms());
        }
        match self.output {
            _ if self.drawn.is_empty() => {}
            // The answer that is printed next must not be drawn over.
            OutputKind::Terminal(_) => print_failure("\n"),
            OutputKind::Pipe | OutputKind::Silent => self.write("\n"),
        }
        self.drawn.clear();
        self.machine = None;
    }

    fn draw(&mut self, machine: &Machine, now_ms: i64) {
        let (columns, rows) = self.columns_and_rows();
        let mut lines = lines(machine, &self.records, (self.last_piece_ms, now_ms), columns);
        if let (Some(note), OutputKind::Terminal(_)) = (self.note, self.output) {
            lines.push(Line { text: note.to_owned(), style: LineStyle::Warning });
        }
        let progress = lines.len();
        if let (Some(preview), OutputKind::Terminal(_)) = (&self.preview, self.output) {
            lines.extend(preview_lines(preview.text(), columns, rows.saturating_sub(progress + 1)));
        }
        if lines == self.drawn {
            return;
        }
        if lines.len() >= rows {
            // Lines that scrolled off the screen cannot be redrawn, so print changes from now on, as in a pipe.
            self.output = OutputKind::Pipe;
        }
        let text = match self.output {
            OutputKind::Terminal(colour) if lines.len() > progress => {
                // Drawing only what the next piece changes keeps the text from flickering.
                let same = lines.iter().zip(&self.drawn).take_while(|(line, drawn)| line == drawn).count();
                let (_, before) = self.drawn.split_at(same);
                let (_, after) = lines.split_at(same);
                redraw(before, after, colour)
            }
            OutputKind::Terminal(colour) => redraw(&self.drawn, &lines, colour),
            OutputKind::Pipe | OutputKind::Silent => changed_lines(&self.drawn, &lines),
        };
        self.drawn = lines;
        self.write(&text);
    }

    fn columns_and_rows(&self) -> (usize, usize) {
        match self.output {
            OutputKind::Terminal(_) => {
                let (columns, rows) = columns_and_rows(&io::stderr());
                // The `…` of a cut line takes one more column.
                (columns.saturating_sub(1).max(20), rows)
            }
            OutputKind::Pipe | OutputKind::Silent => (PIPE_COLUMNS, usize::MAX),
        }
    }

    fn write(&mut self, text: &str) {
        if print_progress(text) == Queued::No {
            // What a terminal shows is not known any more, so nothing of it can be replaced.
            if matches!(self.output, OutputKind::Terminal(_)) {
                self.drawn.clear();
            }
        }
    }
}

/// The escape sequences that replace the lines `before` by the lines `after`.
fn redraw(before: &[Line], after: &[Line], colour: Colour) -> String {
    let mut text = String::new();
    if !before.is_empty() {
        let _ = write!(text, "\x1b[{}A", before.len());
    }
    for line in after {
        let _ = writeln!(text, "\r\x1b[2K{}", painted(&line.text, line.style, colour));
    }
    if after.len() < before.len() {
        text.push_str("\x1b[J");
    }
    text
}

fn changed_lines(before: &[Line], after: &[Line]) -> String {
    let before: HashSet<&Line> = before.iter().collect();
    let new = after.iter().filter(|line| !before.contains(line));
    new.flat_map(|line| [line.text.as_str(), "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use reknit_engine::{Effect, Event, EventKind, Policy, Synthesis};
    use reknit_plan::CatalogueEntry;
    use reknit_protocol::{Capability, ReplyBody, SideEffect, Step, ToolReply, Value};

    use super::super::LINES_MADE;
    use super::*;
    use crate::test_run::started;

    fn line(text: &str, style: LineStyle) -> Line {
        Line { text: text.to_owned(), style }
    }

    #[test]
    fn a_terminal_replaces_the_lines_before() {
        let before = [line("> a  running", LineStyle::Plain), line("· b  waiting for a", LineStyle::Dimmed)];
        let after = [line("✓ a  done", LineStyle::Success)];
        let text = redraw(&before, &after, Colour::On);
        assert_eq!(text, "\x1b[2A\r\x1b[2K\x1b[32m✓ a  done\x1b[0m\n\x1b[J");
        assert_eq!(redraw(&[], &after, Colour::Off), "\r\x1b[2K✓ a  done\n");
    }

    #[test]
    fn a_pipe_gets_only_changed_lines_and_no_colour() {
        let before = [line("> a  running", LineStyle::Plain), line("· b  waiting for a", LineStyle::Dimmed)];
        let after = [line("✓ a  done", LineStyle::Success), line("· b  waiting for a", LineStyle::Dimmed)];
        assert_eq!(changed_lines(&before, &after), "✓ a  done\n");
        assert_eq!(changed_lines(&after, &after), "");
    }

    fn independent_steps(steps: usize) -> Event {
        let mut capability = Capability::new("read");
        capability.effect = SideEffect::Read;
        let entry = CatalogueEntry::new(capability, None).unwrap();
        let steps = (0..steps).map(|n| Step::new(format!("s{n}"), "t", "read", "")).collect();
        let mut policy = Policy { synthesis: Synthesis::Template, ..Policy::default() };
        policy.limits.tool_calls = u32::MAX;
        started("t", entry, steps, policy)
    }

    /// The lines that are made, and the effects that are listed, while a run of independent steps goes on.
    fn work(steps: usize) -> (usize, usize) {
        let (mut machine, records) = Machine::begin(&independent_steps(steps)).unwrap();
        let mut display = ProgressDisplay::default();
        display.add(&records);
        display.show(&machine);
        let (before, mut effects) = (LINES_MADE.with(std::cell::Cell::get), 0);
        for _ in 1..steps {
            let pending = machine.pending();
            effects += pending.len();
            let call = pending.into_iter().find_map(|effect| match effect {
                Effect::CallTool(call) => Some(call.id.clone()),
                _ => None,
            });
            let body = ReplyBody::Json(Value::from("done"));
            let reply = ToolReply { status: 200, retry_after_ms: None, body, job: None };
            let kind = EventKind::ToolAnswered { effect: call.expect("a step runs"), reply };
            let records = machine.apply(&Event { at_ms: 1, kind }).unwrap();
            display.add(&records);
            display.show(&machine);
        }
        let lines: Vec<&str> = display.drawn.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(lines.iter().filter(|line| line.starts_with('✓')).count(), steps - 1, "{lines:?}");
        (LINES_MADE.with(std::cell::Cell::get) - before, effects)
    }

    #[test]
    fn an_event_costs_the_same_for_any_number_of_steps() {
        let ((short_lines, short_effects), (long_lines, long_effects)) = (work(100), work(400));
        assert!(long_lines <= 5 * short_lines, "{short_lines} lines for 100 steps, {long_lines} for 400");
        assert!(long_effects <= 5 * short_effects, "{short_effects} effects for 100 steps, {long_effects} for 400");
    }
}
