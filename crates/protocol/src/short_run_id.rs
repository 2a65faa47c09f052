//! Short forms of run ids, for people.

use crate::RunId;

impl RunId {
    /// The length of the short form of an id that Reknit made.
    pub const SHORT_LENGTH: usize = 8;

    /// The form for tables. Of a UUID these are the last eight characters: the first ones are the time, which runs have in common.
    /// Any other id stays as it is.
    pub fn short(&self) -> &str {
        let text = self.as_str();
        let is_uuid = text.len() == 36
            && text.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            });
        let start = if is_uuid { text.len() - Self::SHORT_LENGTH } else { 0 };
        text.get(start..).unwrap_or(text)
    }

    /// Whether somebody who types `part` can mean this run: its beginning, or at least its last eight characters.
    pub fn can_be_meant_by(&self, part: &str) -> bool {
        self.as_str().starts_with(part) || (part.len() >= Self::SHORT_LENGTH && self.as_str().ends_with(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_id_that_reknit_made_is_shortened() {
        for (id, short) in [
            ("0199a6c2-0000-7000-8000-00000b99d4745", "0199a6c2-0000-7000-8000-00000b99d4745"),
            ("0199a6c2-0000-7000-8000-00000b99d474", "0b99d474"),
            ("refund-order-7-of-customer-ann-lee-12", "refund-order-7-of-customer-ann-lee-12"),
            ("ééééééééé-----------------", "ééééééééé-----------------"),
            ("r", "r"),
        ] {
            assert_eq!(RunId::new(id).short(), short);
        }
    }

    #[test]
    fn a_run_is_meant_by_its_beginning_or_its_last_eight_characters() {
        let run = RunId::new("0199a6c2-0000-7000-8000-00000b99d474");
        for part in ["", "0", "0199a6c2", run.as_str(), run.short(), "00000b99d474"] {
            assert!(run.can_be_meant_by(part), "case: {part}");
        }
        for part in ["b99d474", "1199a6c2", "b99d475"] {
            assert!(!run.can_be_meant_by(part), "case: {part}");
        }
    }
}
