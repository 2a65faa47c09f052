//! What a committed event survives.

/// What a committed event survives. At every level it survives a crash of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Survives a power cut: each group of commits waits for the disk, so a committed effect is never repeated.
    Full,
    /// A power cut may lose the most recent commits, never older ones; the file stays intact.
    Normal,
    /// A power cut may damage the file. For tests and for runs that can be thrown away.
    Off,
}
