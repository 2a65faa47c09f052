//! Support for tests: a second driver, which works in segments.

mod segmented_driver;

pub use segmented_driver::SegmentedDriver;
