//! Deterministic random choices.

/// A sequence of bytes that decides every random choice. It starts over when it ends, so choices never run out.
#[derive(Debug, Clone)]
pub(crate) struct ChoiceTape {
    bytes: Vec<u8>,
    position: usize,
}

impl ChoiceTape {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, position: 0 }
    }

    /// Generates `length` bytes from a seed with xorshift.
    pub(crate) fn from_seed(seed: u64, length: usize) -> Self {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x2545_f491_4f6c_dd1d);
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_be_bytes()[0]
        };
        Self::new((0..length).map(next).collect())
    }

    fn next(&mut self) -> u8 {
        let byte = self.bytes.get(self.position).copied().unwrap_or(0);
        self.position = (self.position + 1) % self.bytes.len().max(1);
        byte
    }

    /// A number below `limit`; 0 for the byte 0.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        let high = if limit > 200 { u32::from(self.next()) * 256 } else { 0 };
        (high + u32::from(self.next())) % limit
    }

    /// True once in `times` choices on average; false for the byte 0.
    pub(crate) fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == times - 1
    }

    /// One item of a list; the first for the byte 0.
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let length = u32::try_from(list.len()).expect("a short list");
        &list[self.below(length) as usize]
    }

    /// One text of a list.
    pub(crate) fn pick_text(&mut self, list: &[&'static str]) -> &'static str {
        self.pick::<&'static str>(list)
    }
}
