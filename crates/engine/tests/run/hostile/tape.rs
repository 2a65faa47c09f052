//! What chance is made of.

/// A sequence of bytes that decides everything. It begins again where it ends, so trouble never does.
#[derive(Debug, Clone)]
pub(crate) struct Tape {
    bytes: Vec<u8>,
    at: usize,
}

impl Tape {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, at: 0 }
    }

    /// A long tape that follows from a number.
    pub(crate) fn of_seed(seed: u64, length: usize) -> Self {
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
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at = (self.at + 1) % self.bytes.len().max(1);
        byte
    }

    /// A number below a limit.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        let wide = if limit > 200 { u32::from(self.next()) * 256 } else { 0 };
        (wide + u32::from(self.next())) % limit
    }

    /// Whether something happens that happens once in so many times.
    pub(crate) fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == times - 1
    }

    /// One of a list.
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let length = u32::try_from(list.len()).expect("a short list");
        &list[self.below(length) as usize]
    }

    /// One of some texts.
    pub(crate) fn word(&mut self, list: &[&'static str]) -> &'static str {
        self.pick::<&'static str>(list)
    }
}
