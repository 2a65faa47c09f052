//! What a committed event survives.

/// What a committed event survives. Every level survives the end of the process, however it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A power cut, too: each group of commits waits for the disk. What is committed is never repeated.
    Full,
    /// A power cut may take the last moments, never anything before them; the file stays whole.
    Normal,
    /// A power cut may damage the file. For tests and for runs that can be thrown away.
    Off,
}
