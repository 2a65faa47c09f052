//! Pseudorandom numbers, the same in every run (`SplitMix64`).

/// A pseudorandom number generator.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }

    /// Random words, separated by spaces.
    pub fn sentence(&mut self, words: usize) -> String {
        const WORDS: [&str; 16] = [
            "share", "price", "of", "the", "weather", "in", "Tokyo", "Zürich", "is", "naïve", "東京", "rises", "again",
            "tomorrow", "won", "😀",
        ];
        let words: Vec<&str> = (0..words).map(|_| self.pick(&WORDS)).collect();
        words.join(" ")
    }
}
