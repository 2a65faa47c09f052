//! The cost of a step with full durability, compared with one synced write to the same disk.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use reknit_journal::Durability;
use reknit_runtime::{CallLimits, Driver};

use crate::Result;
use crate::chain::immediate_reply;
use crate::fixture::{Fixture, Level, chain, drive};
use crate::statistics::median;
use crate::table::{Amount, Row, Side, Table};

const ROUNDS: usize = 25;
/// The difference in length between the two chains that are compared, so that starting and ending a run cancel out.
const STEPS: u32 = 20;
/// Limits, as multiples of a synced write.
const STEP_LIMIT: f64 = 2.0;
const KEYED_STEP_LIMIT: f64 = 4.0;

/// A chain of steps in a journal with full durability.
struct Subject {
    what: &'static str,
    driver: Driver,
    capability: &'static str,
    limit: Option<f64>,
    /// The seconds of one step.
    steps: Vec<f64>,
}

pub async fn measure(fixture: &Fixture, folder: &Path, table: &mut Table) -> Result<()> {
    let full = Level::File(Durability::Full);
    let network = fixture.driver(full, "synced", CallLimits::default())?;
    let immediate = fixture.driver_with_transport(immediate_reply()?, full, "synced-at-once", CallLimits::default())?;
    let subject = |what, driver: &Driver, capability, limit| Subject {
        what,
        driver: driver.clone(),
        capability,
        limit,
        steps: Vec::new(),
    };
    let mut subjects = [
        subject("step, no network", &immediate, "echo", Some(STEP_LIMIT)),
        subject("keyed step, no network", &immediate, "echo_keyed", None),
        subject("step", &network, "echo", None),
        subject("keyed step", &network, "echo_keyed", Some(KEYED_STEP_LIMIT)),
    ];
    // Beside the journals, and written just before each chain.
    let mut file = File::create(folder.join("synced-writes"))?;
    let mut writes = Vec::new();
    for round in 0..=ROUNDS {
        for subject in &mut subjects {
            let write = write_and_sync(&mut file)?;
            let step = subject.step(fixture).await?;
            if round > 0 {
                writes.push(write);
                subject.steps.push(step);
            }
        }
    }
    let write = median(&writes);
    for Subject { what, limit, steps, .. } in &subjects {
        let row = Row::new(*what, Side::new("Driver, Full", Amount::Seconds(median(steps))))
            .compared_with(Side::new("synced write of 4 KiB", Amount::Seconds(write)));
        table.add(match limit {
            Some(limit) => row.with_limit(Amount::Seconds(limit * write)),
            None => row,
        });
    }
    Ok(())
}

impl Subject {
    async fn step(&self, fixture: &Fixture) -> Result<f64> {
        let mut seconds = [0.0; 2];
        for (seconds, steps) in seconds.iter_mut().zip([1, 1 + STEPS]) {
            let plan = chain(self.capability, steps as usize)?;
            let start = Instant::now();
            drive(&self.driver, fixture.started(&plan)).await?;
            *seconds = start.elapsed().as_secs_f64();
        }
        let [short, long] = seconds;
        Ok((long - short) / f64::from(STEPS))
    }
}

/// The seconds of one write, each synced before the next.
fn write_and_sync(file: &mut File) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..STEPS {
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(STEPS))
}
