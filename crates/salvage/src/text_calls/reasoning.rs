//! Finds the reasoning that a model wrote into its text. It is never searched for calls, and stays in the text.

use std::ops::Range;

const REASONING: [(&str, &str); 12] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("<|channel>thought\n", "<channel|>"),
];

/// The places of the reasoning, in order. An opening tag without an end hides everything after it, and an end without an opening tag
/// everything before it.
pub(super) fn reasoning(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (open, close) in REASONING {
        let mut from = 0;
        let first_open = text.find(open);
        // `<|end|>` ends every message, not only reasoning.
        if close != "<|end|>"
            && let Some(end) = text.find(close)
            && first_open.is_none_or(|start| start > end)
        {
            from = end + close.len();
            ranges.push(0..from);
        }
        while let Some(start) = text.get(from..).and_then(|tail| tail.find(open)).map(|at| from + at) {
            let end = text.get(start..).and_then(|tail| tail.find(close)).map(|at| start + at + close.len());
            from = end.unwrap_or(text.len());
            ranges.push(start..from);
        }
    }
    ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The text without reasoning that the model wrote between tags. An opening tag without an end hides everything after
/// it, and an end without an opening tag everything before it.
pub fn without_reasoning(text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut from = 0;
    for range in reasoning(text) {
        rest.push_str(text.get(from..range.start).unwrap_or_default());
        from = range.end;
    }
    rest.push_str(text.get(from..).unwrap_or_default());
    rest.trim().to_owned()
}

/// The length of the text up to the end of the last closing tag of reasoning in it.
pub fn reasoning_end(text: &str) -> Option<usize> {
    let ends = REASONING.iter().filter_map(|(_, close)| Some(text.rfind(close)? + close.len()));
    ends.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_between_tags_is_removed() {
        for (text, rest) in [
            ("<think>call weather</think>\nhello", "hello"),
            ("<think>never ends", ""),
            ("the beginning was cut</think>hello", "hello"),
            ("<thinking>a</thinking>b<thinking>c</thinking>", "b"),
            ("<seed:think>a</seed:think>b", "b"),
            ("[THINK]a[/THINK]b", "b"),
            ("<|START_THINKING|>a<|END_THINKING|>b", "b"),
            ("<|channel|>analysis<|message|>a<|end|>b<|end|>", "b<|end|>"),
            ("hello<|end|>", "hello<|end|>"),
            ("<think>a <thinking>b</thinking></think>c", "c"),
            ("no tags", "no tags"),
        ] {
            assert_eq!(without_reasoning(text), rest, "{text}");
        }
    }
}
