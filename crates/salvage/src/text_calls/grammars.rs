//! The table of the notations in which models write calls as text, each with the token that makes it unmistakable.

use super::code::{braced_calls, python_calls};
use super::json::{functools_calls, json_calls, keyed_calls};
use super::markup::{argument_pairs, invoke_tags, nested_calls};
use super::named::{harmony_message, named_calls, react_call};
use super::{Body, TextCall};

/// Reads the calls in a block. None if the block has anything else than calls.
pub(super) type Notation = fn(&Body<'_>) -> Option<Vec<TextCall>>;

/// Where the token of a grammar may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Anywhere: nobody writes the token by accident.
    Anywhere,
    /// At the end of a line. Behind other text of the line, it is in doubt.
    Line,
    /// At the beginning of a line.
    LineStart,
}

/// How one kind of model writes calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grammar {
    pub(super) open: &'static str,
    /// Any of them ends the block; so does the next opening, or the end of the text.
    pub(super) ends: &'static [&'static str],
    pub(super) place: Place,
    /// Whether the tokens are part of the body.
    pub(super) keeps_tokens: bool,
    pub(super) notations: &'static [Notation],
}

const fn grammar(
    open: &'static str,
    ends: &'static [&'static str],
    place: Place,
    notations: &'static [Notation],
) -> Grammar {
    Grammar { open, ends, place, keeps_tokens: false, notations }
}

/// A grammar whose tokens are a part of the call.
const fn keeping(grammar: Grammar) -> Grammar {
    Grammar { keeps_tokens: true, ..grammar }
}

const TAG: &[Notation] = &[json_calls, invoke_tags, argument_pairs, named_calls];
const INVOKES: &[Notation] = &[invoke_tags, python_calls, json_calls];
const HARMONY_ENDS: &[&str] = &["<|call|>", "<|end|>", "<|return|>"];
const DEEPSEEK_ENDS: &[&str] = &["<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"];

use Place::{Anywhere, Line, LineStart};

pub(super) const GRAMMARS: &[Grammar] = &[
    // Qwen, Hermes, GLM, Granite 4, ERNIE, Exaone, Nemotron 3, Step 3.5, Hunyuan 3
    grammar("<tool_call>", &["</tool_call>"], Line, TAG),
    // Jamba, MiniMax M1, Hunyuan A13B and 3
    grammar("<tool_calls>", &["</tool_calls>"], Line, &[json_calls, nested_calls]),
    grammar("<tools>", &["</tools>"], Line, &[json_calls]),
    // Granite 20B
    grammar("<function_call>", &["</function_call>"], Line, &[json_calls]),
    // OLMo 3, Claude
    grammar("<function_calls>", &["</function_calls>"], Line, INVOKES),
    keeping(grammar("<invoke ", &["</invoke>"], Line, &[invoke_tags])),
    keeping(grammar("<invoke>", &["</invoke>"], Line, &[invoke_tags])),
    // Llama 3.1, Functionary 3.1
    keeping(grammar("<function=", &["</function>"], Line, &[invoke_tags])),
    // MiniCPM 5
    keeping(grammar("<function name=", &["</function>"], Line, &[invoke_tags])),
    // Nemotron
    grammar("<TOOLCALL>", &["</TOOLCALL>"], Line, &[json_calls]),
    grammar("<minimax:tool_call>", &["</minimax:tool_call>"], Anywhere, INVOKES),
    grammar("<seed:tool_call>", &["</seed:tool_call>"], Anywhere, TAG),
    grammar("<longcat_tool_call>", &["</longcat_tool_call>"], Anywhere, TAG),
    grammar("<dots_function_call>", &["</dots_function_call>"], Anywhere, INVOKES),
    grammar("<atem:function_calls>", &["</atem:function_calls>"], Anywhere, INVOKES),
    // Granite 3, Phi-4 mini
    grammar("<|tool_call|>", &["<|/tool_call|>", "<|end_of_text|>"], Anywhere, &[json_calls]),
    // Llama 3
    grammar("<|python_tag|>", &["<|eom_id|>", "<|eot_id|>"], Anywhere, &[json_calls, python_calls]),
    // Llama 4
    grammar("<|python_start|>", &["<|python_end|>"], Anywhere, &[python_calls, json_calls]),
    // Mistral: `[{...}]`, `name{...}` and `name[ARGS]{...}`
    grammar("[TOOL_CALLS]", &["[/TOOL_CALLS]", "</s>"], Anywhere, &[json_calls, named_calls]),
    // DeepSeek V3 and V3.1, then V3.2 and V4
    grammar("<｜tool▁calls▁begin｜>", DEEPSEEK_ENDS, Anywhere, &[named_calls]),
    grammar("<｜DSML｜function_calls>", &["</｜DSML｜function_calls>"], Anywhere, INVOKES),
    grammar("<｜DSML｜tool_calls>", &["</｜DSML｜tool_calls>"], Anywhere, INVOKES),
    // Step 3
    grammar("<｜tool_calls_begin｜>", &["<｜tool_calls_end｜>"], Anywhere, &[invoke_tags]),
    // Kimi K2
    grammar("<|tool_calls_section_begin|>", &["<|tool_calls_section_end|>"], Anywhere, &[named_calls]),
    // gpt-oss
    keeping(grammar("<|channel|>commentary to", HARMONY_ENDS, Anywhere, &[harmony_message])),
    keeping(grammar("<|channel|>analysis to", HARMONY_ENDS, Anywhere, &[harmony_message])),
    keeping(grammar("<|start|>assistant to", HARMONY_ENDS, Anywhere, &[harmony_message])),
    keeping(grammar("<|start|>assistant<|channel|>commentary to", HARMONY_ENDS, Anywhere, &[harmony_message])),
    // Command R7B and A
    grammar("<|START_ACTION|>", &["<|END_ACTION|>"], Anywhere, &[json_calls]),
    // Phi-4, Firefunction
    keeping(grammar("functools[", &["<|im_end|>"], LineStart, &[functools_calls])),
    // InternLM 2
    grammar("<|action_start|><|plugin|>", &["<|action_end|>"], Anywhere, &[json_calls]),
    // LFM 2
    grammar("<|tool_call_start|>", &["<|tool_call_end|>"], Anywhere, &[python_calls, json_calls]),
    // Apertus
    grammar("<|tools_prefix|>", &["<|tools_suffix|>"], Anywhere, &[keyed_calls]),
    // FunctionGemma, Gemma 4
    grammar("<start_function_call>", &["<end_function_call>"], Anywhere, &[braced_calls]),
    grammar("<|tool_call>", &["<tool_call|>"], Anywhere, &[braced_calls]),
    // GigaChat 3
    grammar("<|function_call|>", &["</s>"], Anywhere, &[json_calls]),
    grammar("function call<|role_sep|>", &["</s>"], Anywhere, &[json_calls]),
    // Inkling
    grammar("<|content_invoke_tool_json|>", &["<|end_message|>"], Anywhere, &[json_calls]),
    // Functionary 2
    grammar("<|recipient|>", &["<|stop|>"], Anywhere, &[named_calls]),
    // Command R, and ReAct
    grammar("Action:", &["\nObservation", "<|END_OF_TURN_TOKEN|>"], LineStart, &[react_call, json_calls]),
];

/// An opening token in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    pub(super) at: usize,
    pub(super) grammar: &'static Grammar,
}

/// The first opening token that begins at or behind a place; the longest of those that begin there.
pub(super) fn next_opening(text: &str, from: usize) -> Option<Opening> {
    let tail = text.get(from..)?;
    let starts = tail.char_indices().filter(|(_, character)| FIRST_CHARACTERS.contains(character));
    starts.into_iter().find_map(|(at, _)| {
        let rest = tail.get(at..).unwrap_or_default();
        let grammar = GRAMMARS.iter().filter(|grammar| rest.starts_with(grammar.open)).max_by_key(|row| row.open.len());
        grammar.map(|grammar| Opening { at: from + at, grammar })
    })
}

/// The characters with which the tokens of the table begin.
const FIRST_CHARACTERS: [char; 4] = ['<', '[', 'f', 'A'];

/// No token of the table has more bytes.
pub(super) const LONGEST_TOKEN: usize = 48;

/// Whether the text is the beginning of a token that may go on.
pub(super) fn may_become_token(text: &str, place: Place) -> bool {
    let is_at = |grammar: &&Grammar| place == Place::LineStart || grammar.place != Place::LineStart;
    GRAMMARS.iter().filter(is_at).any(|grammar| grammar.open.len() > text.len() && grammar.open.starts_with(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_by_its_first_character_and_is_there_once() {
        for grammar in GRAMMARS {
            assert!(grammar.open.starts_with(FIRST_CHARACTERS), "{}", grammar.open);
            assert!(grammar.open.len() <= LONGEST_TOKEN, "{}", grammar.open);
            assert_eq!(GRAMMARS.iter().filter(|other| other.open == grammar.open).count(), 1, "{}", grammar.open);
        }
    }
}
