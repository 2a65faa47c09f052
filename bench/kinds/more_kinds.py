#!/usr/bin/env python3
"""Second held-out set: kinds of damage that make_kinds.py does not have.  Standard library only, seeded, deterministic.

    python3 more_kinds.py            writes heldout.jsonl beside this file, and checks it

The form of the cases, the tools and the ways to write them are those of make_kinds.py.
All texts are written here; the sources cite where a failure of that kind was publicly reported or tested.
"""
import os

import make_kinds as base
from make_kinds import *

FIRST = {name for name, *_ in base.KINDS}
base.KINDS.clear()
base.SEED = "held-out kinds v2"
base.HERE = os.path.dirname(os.path.abspath(__file__))


def hit(good, damaged):
    """None where the damage left the text as it was."""
    return None if good == damaged else damaged


# ================================================================== envelopes: calls of other protocols and runtimes
env("gemini_function_call", "langchain-ai/langchain-google#1819", lambda r, c, t: ser({"functionCall": {"name": c.tool, "args": c.value}}, ind=r.choice([None, 2])))
env("bedrock_tool_use", "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html", lambda r, c, t: ser({"toolUse": {"toolUseId": "tooluse_%05d" % r.randint(0, 99999), "name": c.tool, "input": c.value}}))
env("json_rpc_call", "microsoft/simplechat#1163", lambda r, c, t: ser({"jsonrpc": "2.0", "id": r.randint(1, 99), "method": "tools/call", "params": {"name": c.tool, "arguments": c.value}}))
env("responses_function_call", VLLM + "test_openai_tool_parser.py", lambda r, c, t: ser({"type": "function_call", "call_id": "call_%05d" % r.randint(0, 99999), "name": c.tool, "arguments": json.dumps(c.value)}))
env("legacy_function_call", "langchain-ai/langchain#9654", lambda r, c, t: ser({"function_call": {"name": c.tool, "arguments": json.dumps(c.value)}}))
env("ai_sdk_tool_call", "minpeter/ai-sdk-tool-call-middleware#306", lambda r, c, t: ser({"type": "tool-call", "toolCallId": "c%04d" % r.randint(0, 9999), "toolName": c.tool, "args": c.value}))
env("tool_and_tool_input", "FlowiseAI/Flowise#1879", lambda r, c, t: ser({"tool": c.tool, "tool_input": c.value}, ind=r.choice([None, 2])))
env("action_and_action_input", "langchain-ai/langchain#19646", lambda r, c, t: r.choice(["%s", "```json\n%s\n```", "Action:\n```\n%s\n```"]) % ser({"action": c.tool, "action_input": c.value}, ind=2))
env("kwargs_wrapper", "NousResearch/hermes-agent#49800", lambda r, c, t: ser({"kwargs": c.value}, ind=r.choice([None, 2])), closed=True)
env("function_and_args", "sipeed/picoclaw#2104", lambda r, c, t: ser({"function": c.tool, r.choice(["args", "arguments", "parameters"]): c.value}))
env("internlm_plugin", VLLM + "test_internlm2_tool_parser.py", lambda r, c, t: "<|action_start|><|plugin|>%s<|action_end|>" % ser({"name": c.tool, "parameters": c.value}))
env("jamba_list", VLLM + "test_jamba_tool_parser.py", lambda r, c, t: "<tool_calls>%s</tool_calls>" % r.choice(["[%s]", "[\n    %s\n]"]) % ser({"name": c.tool, "arguments": c.value}))
env("granite_list", VLLM + "test_granite_tool_parser.py", lambda r, c, t: "<|tool_call|>[%s]" % ser({"name": c.tool, "arguments": c.value}))
env("granite_20b", VLLM + "test_granite_20b_fc_tool_parser.py", lambda r, c, t: "<function_call> %s" % ser({"name": c.tool, "arguments": c.value}))
env("nemotron_list", VLLM + "test_nemotron_json_tool_parser.py", lambda r, c, t: "<TOOLCALL>[%s]</TOOLCALL>" % ser({"name": c.tool, "arguments": c.value}))
env("phi4_functools", VLLM + "test_phi4mini_tool_parser.py", lambda r, c, t: "functools[%s]" % ser({"name": c.tool, "arguments": c.value}))
env("apertus_list", VLLM + "test_apertus_tool_parser.py", lambda r, c, t: "<|tools_prefix|>[%s]<|tools_suffix|>" % ser({c.tool: c.value}))
env("cohere_action", VLLM + "test_cohere_command_tool_parser.py", lambda r, c, t: "<|START_ACTION|>[\n    %s\n]<|END_ACTION|>" % ser({"tool_call_id": "0", "tool_name": c.tool, "parameters": c.value}))
env("gigachat_call", VLLM + "test_gigachat3_tool_parser.py", lambda r, c, t: "function call<|role_sep|>\n%s" % ser({"name": c.tool, "arguments": c.value}))
env("longcat_call", VLLM + "test_longcat_tool_parser.py", lambda r, c, t: "<longcat_tool_call>\n%s\n</longcat_tool_call>" % ser({"name": c.tool, "arguments": c.value}))
env("hyperclovax_call", VLLM + "test_hyperclovax_seed_think_14b_tool_parser.py", lambda r, c, t: " -> tool/function_call\n[%s]" % ser({"name": c.tool, "arguments": c.value}))
env("pangu_call", VLLM + "test_pangu_tool_parser.py", lambda r, c, t: "[unused11][%s][unused12]" % ser({"name": c.tool, "arguments": c.value}))
env("qwen_agent_flowers", "QwenLM/Qwen-Agent (function calling prompt)", lambda r, c, t: "✿FUNCTION✿: %s\n✿ARGS✿: %s" % (c.tool, ser(c.value)))
env("action_input_upper", "zoedolan/Vybn#2077", lambda r, c, t: r.choice(["ACTION: %s\nINPUT: %s", "<ACTION: %s\nINPUT: %s\n</ITERAL>"]) % (c.tool, ser(c.value)))
env("toolcall_named_element", "sipeed/picoclaw#2104", lambda r, c, t: "<toolcall><%s>%s</%s></toolcall>" % (c.tool, ser(c.value), c.tool))
env("tool_name_and_parameters_elements", "chenyme/grok2api#557", lambda r, c, t: "<tool_calls>\n  <tool_call>\n    <tool_name>%s</tool_name>\n    <parameters>%s</parameters>\n  </tool_call>\n</tool_calls>" % (c.tool, ser(c.value)))
env("hermes_unclosed_tag", "ahwurm/localharness#14", lambda r, c, t: "<tool_call>\n%s" % ser({"name": c.tool, "arguments": c.value}))
env("hermes_doubled_closer", "ahwurm/localharness#14", lambda r, c, t: "<tool_call>\n%s\n</tool_call>\n</tool_call>" % ser({"name": c.tool, "arguments": c.value}))
env("hermes_missing_outer_brace", "scouzi1966/maclocal-api#141", lambda r, c, t: "<tool_call>\n%s\n</tool_call>" % ser({"name": c.tool, "arguments": c.value})[:-1])
env("hermes_name_equals", "scouzi1966/maclocal-api#141", lambda r, c, t: '<tool_call>\n{"name="%s", "arguments": %s}\n</tool_call>' % (c.tool, ser(c.value)))
env("hermes_name_colon_twice", "nullclaw/nullclaw#440", lambda r, c, t: '<tool_call>\n{"name":": "%s", "arguments": %s}\n</tool_call>' % (c.tool, ser(c.value)))
env("hermes_python_literals", "waybarrios/vllm-mlx#63", lambda r, c, t: "<tool_call>\n%s\n</tool_call>" % ser({"name": c.tool, "arguments": c.value}, key=sq, st=sq, lit=("True", "False", "None")))
env("answer_tags", "josdejong/jsonrepair#147", lambda r, c, t: r.choice(["<answer>%s</answer>", "<json>\n%s\n</json>", "<output>\n%s\n</output>", "<response>%s</response>", "<result>\n%s\n</result>"]) % t)
env("boxed_answer", "lamalab-org/chembench#295", lambda r, c, t: r.choice(["\\boxed{%s}", "The final answer is \\boxed{%s}", "$\\boxed{%s}$"]) % ser(c.value))
env("language_word_without_fence", "josdejong/jsonrepair#147", lambda r, c, t: r.choice(["json\n%s", "JSON\n%s", "json %s", "JSON: %s", "jsonc\n%s"]) % t)
env("tilde_fence", JR, lambda r, c, t: r.choice(["~~~json\n%s\n~~~", "~~~\n%s\n~~~", "````json\n%s\n````"]) % t)
env("inline_fence", "josdejong/jsonrepair#147", lambda r, c, t: r.choice(["```json %s ```", "```%s```", "Here: ```json%s```", "The call is `%s`."]) % ser(c.value))
env("indented_fence_with_prose", "josdejong/jsonrepair#147", lambda r, c, t: "    here is the json:\n    ```json\n%s\n    ```\n" % "\n".join("    " + x for x in ser(c.value, ind=4).split("\n")))
env("fence_with_info_words", "anthropics/claude-code#22394", lambda r, c, t: "```%s\n%s\n```" % (r.choice(["json title=\"args.json\"", "json {.line-numbers}", "tool_call", "tool_json", "json:args.json", "JSON5 args"]), t))
env("html_pre_code", "tetsuo-ai/AgenC#1283", lambda r, c, t: r.choice(["<pre>%s</pre>", "<pre><code>%s</code></pre>", '<pre><code class="language-json">\n%s\n</code></pre>', "<code>%s</code>"]) % t)
env("role_prefix", "livekit/agents#5840", lambda r, c, t: r.choice(["assistant: %s", "Assistant:\n%s", "<|im_start|>assistant\n%s<|im_end|>", "<|assistant|>\n%s", "[ASSISTANT] %s", "<start_of_turn>model\n%s<end_of_turn>"]) % t)
env("event_stream_line", "lobehub/lobehub#13817", lambda r, c, t: r.choice(["data: %s", "data: %s\n\n", "event: message\ndata: %s\n\n"]) % ser(c.value))
env("log_line_prefix", "godwinjk/Json_Parser#47", lambda r, c, t: r.choice(["[INFO] 2024-05-01 10:00:00 args: %s", "DEBUG tool args %s", "2024-05-01T10:00:00Z arguments=%s", "INFO:root:%s"]) % ser(c.value))
env("json_parse_call", JR, lambda r, c, t: r.choice(["JSON.parse('%s')", "json.loads('%s')", "JSON.parse(`%s`)", "json.loads('''%s''')"]) % ser(c.value) if "'" not in ser(c.value) else None)
env("json_stringify_call", JR, lambda r, c, t: r.choice(["JSON.stringify(%s)", "json.dumps(%s)", "JSON.stringify(%s);", "JSON.stringify(%s, null, 2)"]) % ser(c.value))
env("padded_callback", JR, lambda r, c, t: r.choice(["callback(%s);", "/**/cb(%s)", "handle_result(%s);", "jsonp_1(%s)"]) % ser(c.value))
env("curl_data", "tinyhumansai/tinyagents#68", lambda r, c, t: r.choice(["curl -X POST -d '%s' https://example.com/tools", "curl https://example.com/t --data '%s'", "curl -H 'Content-Type: application/json' -d '%s' http://localhost/x"]) % ser(c.value) if "'" not in ser(c.value) else None)
env("cdata_wrapper", BAML + "test_xml.rs", lambda r, c, t: r.choice(["<![CDATA[%s]]>", "<args><![CDATA[%s]]></args>", "<arguments>\n<![CDATA[\n%s\n]]>\n</arguments>"]) % t)
env("rust_json_macro", BAML + "test_code.rs", lambda r, c, t: r.choice(["json!(%s)", "serde_json::json!(%s)", "let args = json!(%s);"]) % t)
env("typed_constant", BAML + "test_code.rs", lambda r, c, t: r.choice(["const args: Args = %s;", "%s as const", "export default %s;", "module.exports = %s;", "var args = %s", "%s satisfies Args"]) % t)
env("thinking_tags_other", "langchain-ai/langchain#32120", lambda r, c, t: r.choice(["<thinking>\n%s\n</thinking>\n%s", "<reasoning>%s</reasoning>\n%s", "<|channel|>analysis<|message|>%s<|end|>%s", "<thought>%s</thought>%s", "[THINK]%s[/THINK]%s", "◁think▷%s◁/think▷%s"]) % (r.choice(THINK), t))
env("result_after_call", "signalnine/q27#24", lambda r, c, t: "<tool_call>\n%s\n</tool_call>\n<tool_response>\n%s\n</tool_response>" % (ser({"name": c.tool, "arguments": c.value}), r.choice(["ok", "done", "null", "no results"])))


@kind("request_wrapper_of_one_key", "envelopes", "microsoft/simplechat#1163")
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2), closed=True, allreq=True)
    return c.schema, ser({r.choice(["request", "body", "payload", "data", "params"]): c.value}, ind=r.choice([None, 2])), c.value


@kind("root_named_by_title", "envelopes", "tidyverse/ellmer#929")
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2), closed=True, allreq=True)
    c.schema["title"] = pascal(c.tool)
    return c.schema, ser({pascal(c.tool): c.value}, ind=r.choice([None, 2])), c.value


@kind("wrapper_beside_other_arguments", "envelopes", "tya5/reyn#1646")
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2), closed=True, allreq=True)
    other = {**c.value, c.t[1]: c.value[c.t[1]] + r.randint(1, 9)}
    return c.schema, ser({**c.value, "arguments": other}), AMB


@kind("draft_then_final_fence", "envelopes", "HKUDS/DeepTutor#675")
def _(r):
    c = build(r, want=["str", "int"], extra=(0, 2), allreq=True)
    d = {**c.value, c.t[1]: c.value[c.t[1]] + r.randint(1, 9)}
    return c.schema, "```json\n%s\n```\nWait, or rather this one, I am not sure:\n```json\n%s\n```" % (ser(d), ser(c.value)), AMB


@kind("example_beside_refusal", "envelopes", "raullenchai/Rapid-MLX#1536")
def _(r):
    c = build(r, want=["int", "int"], extra=(1, 1), allreq=True)
    return c.schema, "I cannot call the tool. Two examples of what it takes: %s and %s" % (ser(c.value), ser({**c.value, c.t[0]: c.value[c.t[0]] + 1})), AMB


# ================================================================== keys
GW = "taylorwilsdon/google_workspace_mcp#921"
rekey("key_markdown_escape", "HAibiiin/json-repair#35", lambda r, k: k.replace("_", "\\_"))
rekey("key_type_suffix", BAML + "test_class.rs", lambda r, k: r.choice(["%s:str", "%s: string", "%s (string)", "%s (required)", "%s<string>", "%s:int"]) % k)
rekey("key_optional_mark", BAML + "test_class.rs", lambda r, k: r.choice(["%s?", "%s*", "*%s", "%s!"]) % k)
rekey("key_argument_path", "bastani-inc/atomic#1507", lambda r, k: r.choice(["arguments.%s", "args.%s", "params.%s", "parameters.%s", "input.%s"]) % k)
rekey("key_underscore_around", GW, lambda r, k: r.choice(["_%s", "%s_", "__%s"]) % k)
rekey("key_double_underscore", GW, lambda r, k: k.replace("_", "__"))
rekey("key_dots_for_underscores", GW, lambda r, k: k.replace("_", "."))
rekey("key_slashes_for_underscores", GW, lambda r, k: k.replace("_", "/"))
rekey("key_screaming_kebab", GW, lambda r, k: k.upper().replace("_", "-"))
rekey("key_train_case", GW, lambda r, k: k.title().replace("_", "-"))
rekey("key_acronym_camel", "Azure/azure-sdk-for-js#28673", lambda r, k: (lambda m: re.sub(r"Id$|Url$|Gb$", lambda x: x.group(0).upper(), camel(m)))(k))
rekey("key_fullwidth", "Graphify-Labs/graphify#2286", lambda r, k: "".join(chr(ord(x) + 0xFEE0) if x.isalpha() else "＿" for x in k))
rekey("key_smart_quoted", "Graphify-Labs/graphify#2286", lambda r, k: r.choice(["“%s”", "‘%s’", "”%s”", "「%s」"]) % k)
rekey("key_bracketed", "bastani-inc/atomic#1507", lambda r, k: r.choice(["[%s]", "<%s>", "{%s}", "(%s)", "{{%s}}", "%%%s%%"]) % k)
rekey("key_numbered", BAML + "test_class_2.rs", lambda r, k: r.choice(["1. %s", "1) %s", "2. %s", "(1) %s"]) % k)
rekey("key_token_tail", "livekit/agents#5840", lambda r, k: r.choice(["%s<|im_end|>", "<|%s", "%s|>", "%s</s>", "%s<|end|>"]) % k)
rekey("key_json_pointer", "bastani-inc/atomic#1507", lambda r, k: r.choice(["/%s", "#/%s", "$.%s", "./%s"]) % k)
rekey("key_escaped_quotes", JR, lambda r, k: r.choice(['\\"%s\\"', '""%s""', '"%s']) % k)


@kind("key_plural_for_singular", "keys", "netclaw-dev/netclaw#1398")
def _(r):
    c = build(r, want=[("str", "int")], extra=(1, 2), closed=True)
    k = c.t[0]
    if k.endswith("s") or k.endswith("y"):
        return None
    return c.schema, dumps(r, {(x + "s" if x == k else x): v for x, v in c.value.items()}), c.value


@kind("key_swapped_letters", "keys", "netclaw-dev/netclaw#1398")
def _(r):
    c = build(r, want=[("str", "int", "enum", "bool")], extra=(1, 2), closed=True, allreq=True)
    k = c.t[0]
    i = r.randint(1, len(k) - 3)
    if len(k) < 8 or k[i] == k[i + 1] or "_" in k[i:i + 2]:
        return None
    return c.schema, dumps(r, {(k[:i] + k[i + 1] + k[i] + k[i + 2:] if x == k else x): v for x, v in c.value.items()}), c.value


@kind("same_key_twice_alike", "keys", VLLM + "test_hy_v4_duplicate_arg_key.py")
def _(r):
    c = build(r, want=[("str", "int", "enum")], extra=(1, 2), closed=True)
    p = Pairs(c.value.items())
    p.append((c.t[0], c.value[c.t[0]]))
    return c.schema, ser(p, tail=","), c.value


@kind("two_spellings_alike", "keys", GW)
def _(r):
    c = build(r, want=[("str", "int", "enum")], extra=(1, 2), closed=True)
    k = c.t[0]
    if "_" not in k:
        return None
    return c.schema, dumps(r, {**c.value, camel(k): c.value[k]}), c.value


@kind("computed_keys", "keys", JR)
def _(r):
    c = build(r, extra=(2, 4), want=["str"])
    return c.schema, ser(c.value, key=lambda k: '["%s"]' % k), c.value


@kind("backtick_keys", "keys", "QwenLM/qwen-code#288")
def _(r):
    c = build(r, extra=(2, 4), want=["str"], tags=STR)
    return c.schema, ser(c.value, key=lambda k: "`%s`" % k, ind=r.choice([None, 2])), c.value


@kind("key_colon_inside_quotes", "keys", "MatterAIOrg/OrbCode#52")
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2))
    k = r.choice(c.t)
    style = r.choice(['"%s:" %s', '"%s: %s', '"%s:": %s'])
    return c.schema, "{" + ", ".join((style if a == k else '"%s": %s') % (a, ser(b)) for a, b in c.value.items()) + "}", c.value


@kind("key_extra_quote", "keys", "mangiucugna/json_repair#146")
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2))
    k = r.choice(c.t)
    style = r.choice(['""%s": %s', '"%s"": %s', "'\"%s\"': %s"])
    return c.schema, "{" + ", ".join((style if a == k else '"%s": %s') % (a, ser(b)) for a, b in c.value.items()) + "}", c.value


@kind("nested_path_keys", "keys", "bastani-inc/atomic#1507")
def _(r):
    c = build(r, want=["obj"], extra=(1, 2), closed=True, tags=("str", "int", "bool"))
    k, form = c.t[0], r.choice(["%s/%s", "%s[%s]", "%s['%s']", "%s__%s", "%s:%s", "%s->%s"])
    b = {}
    for a, v in c.value.items():
        b.update({form % (a, x): y for x, y in v.items()} if a == k else {a: v})
    return c.schema, dumps(r, b), c.value


@kind("key_of_two_close", "keys", GW)
def _(r):
    a, b, w = r.choice([("min_price", "max_price", "price"), ("start_date", "start_time", "start"), ("home_email", "work_email", "email"), ("source_path", "target_path", "path"), ("from_city", "to_city", "city"), ("row_from", "row_to", "row"), ("old_name", "new_name", "name"), ("sender_id", "receiver_id", "id")])
    s = obj({a: S, b: S, "quantity": I}, required=["quantity"])
    s["anyOf"] = [{"required": [a]}, {"required": [b]}]
    return s, dumps(r, {w: r.choice(WORD), "quantity": r.randint(1, 99)}), AMB


@kind("key_stands_for_none", "keys", "exa-labs/exa-mcp-server#202")
def _(r):
    c = build(r, want=["str"], extra=(1, 2), closed=True, allreq=True)
    k, v = r.choice([("force", True), ("region", "north"), ("confirm", False), ("timeout_ms", 500), ("unless", "empty"), ("recipients", ["omar"]), ("currency", "EUR"), ("invert", True)])
    return c.schema, dumps(r, {**c.value, k: v}), AMB


@kind("key_negated", "keys", "software-mansion/argent#811")
def _(r):
    k, w = r.choice([("include_images", "exclude_images"), ("send_invites", "skip_invites"), ("keep_aspect", "ignore_aspect"), ("is_private", "is_public"), ("enabled", "disabled"), ("allow_retry", "disallow_retry"), ("verify_tls", "no_verify_tls")])
    s = obj({k: B, "label": S})
    return s, dumps(r, {w: r.random() < .5, "label": r.choice(WORD)}), AMB


# ================================================================== lists
PQ = "https://www.postgresql.org/docs/current/arrays.html (output syntax)"
coerce("ints_numpy_text", "lists", "agentscope-ai/agentscope#2222", "intlist", lambda r, v, s, c: r.choice(["[%s]", "array([%s])", "[ %s ]"]) % r.choice([" ", ", "]).join(map(str, v)))
coerce("ints_braced_text", "lists", PQ, "intlist", lambda r, v, s, c: "{%s}" % ",".join(map(str, v)))
coerce("ints_tuple_text", "lists", PY + "test_parse_array.py", "intlist", lambda r, v, s, c: "(%s)" % ", ".join(map(str, v)))
coerce("ints_and_text", "lists", "emcie-co/parlant#433", "intlist", lambda r, v, s, c: ", ".join(map(str, v[:-1])) + r.choice([" and ", ", and ", " & "]) + str(v[-1]))
coerce("ints_trailing_comma_text", "lists", "emcie-co/parlant#433", "intlist", lambda r, v, s, c: ",".join(map(str, v)) + r.choice([",", ", ", ";"]))
coerce("ints_nested_each", "lists", "langchain-ai/langchain-google#881", "intlist", lambda r, v, s, c: [[x] for x in v])
coerce("ints_json_text_in_list", "lists", "langchain-ai/deepagents#119", "intlist", lambda r, v, s, c: [json.dumps(v)])
coerce("ints_array_call", "lists", JR, "intlist", lambda r, v, s, c: Raw(r.choice(["list([%s])", "np.array([%s])", "set([%s])", "tuple((%s))", "new Array(%s)"]) % ", ".join(map(str, v))))
coerce("ints_hash_prefixed", "lists", "kopfrechner/gitlab-mr-mcp#4", "intlist", lambda r, v, s, c: ["#%d" % x for x in v])
coerce("enums_newline_text", "lists", "emcie-co/parlant#433", "enumlist", lambda r, v, s, c: r.choice(["\n", "; ", " | ", ";"]).join(v))
coerce("enums_cased_items", "lists", "margince/margince#417", "enumlist", lambda r, v, s, c: [r.choice([x.upper(), x.capitalize(), x + " "]) for x in v])
coerce("enums_json_text_in_list", "lists", "langchain-ai/langchain-google#1819", "enumlist", lambda r, v, s, c: [json.dumps(v)])
coerce("enums_nested_each", "lists", "langchain-ai/langchain-google#881", "enumlist", lambda r, v, s, c: [[x] for x in v])
coerce("enums_as_flags", "lists", "Miso2233/SonettoHere#319", "enumlist", lambda r, v, s, c: {x: True for x in v})
coerce("list_value_objects", "lists", "anomalyco/opencode#35296", ("enumlist", "intlist"), lambda r, v, s, c: [{"value": x} for x in v])
coerce("list_in_value", "lists", "anomalyco/opencode#35296", ("strlist", "intlist", "enumlist", "objlist"), lambda r, v, s, c: {r.choice(["value", "values", "list", "elements"]): v})
coerce("list_in_own_key", "lists", "Kilo-Org/kilocode#3282", ("strlist", "intlist", "objlist"), lambda r, v, s, c: {c.t[0]: v})
coerce("list_text_fenced", "lists", "vectorize-io/hindsight#2542", ("strlist", "intlist", "enumlist", "objlist"), lambda r, v, s, c: "```json\n%s\n```" % json.dumps(v))
coerce("list_text_twice", "lists", "MoonshotAI/kimi-cli#2572", ("strlist", "intlist", "enumlist"), lambda r, v, s, c: json.dumps(json.dumps(v)))
coerce("list_text_trailing_comma", "lists", PY + "test_parse_array.py", ("strlist", "intlist", "enumlist"), lambda r, v, s, c: ser(v, tail=","))
coerce("list_missing_commas", "lists", "mangiucugna/json_repair#146", "strlist", lambda r, v, s, c: Raw("[" + " ".join(map(js, v)) + "]"))
coerce("list_semicolons", "lists", PY + "test_parse_array.py", ("strlist", "intlist"), lambda r, v, s, c: Raw("[" + "; ".join(map(js, v)) + "]"))
coerce("list_doubled_commas", "lists", JR, ("strlist", "intlist"), lambda r, v, s, c: Raw("[" + ",, ".join(map(js, v)) + "]"))
coerce("list_item_missing_open_quote", "lists", "mangiucugna/json_repair#146", "strlist", lambda r, v, s, c: Raw("[" + ", ".join(map(js, v[:-1])) + ", " + v[-1] + '"]') if re.fullmatch("[A-Za-z0-9]+", v[-1]) else None)
coerce("empty_list_text", "lists", "openclaw/openclaw#96922", ("strlist", "intlist", "enumlist"), lambda r, v, s, c: ([], r.choice(["[]", "[ ]", "()"])))
coerce("objects_newline_text", "lists", "langchain-ai/langchain-google#1819", "objlist", lambda r, v, s, c: "\n".join(json.dumps(x) for x in v) if len(v) > 1 else None)
coerce("objects_wrapped_each", "lists", "anomalyco/opencode#35296", "objlist", lambda r, v, s, c: [{"item": x} for x in v])
vague("ints_spread_range", "lists", JR, "intlist", lambda r, v, s, c: r.choice(["[%d..%d]", "range(%d, %d)", "[%d, ..., %d]", "%d through %d", "%d:%d"]) % (v[0], v[-1] + 5))
vague("enums_except", "lists", "ralphgrewe/TradingAgents#174", "enumlist", lambda r, v, s, c: r.choice(["all except %s", "everything but %s", "not %s", "no %s", "anything other than %s"]) % v[0])
vague("enums_one_unknown", "lists", "margince/margince#417", "enumlist", lambda r, v, s, c: v + [r.choice(["something", "unknown", "the other one", "others", "custom"])])
vague("ints_one_is_no_number", "lists", "agentscope-ai/agentscope#2222", "intlist", lambda r, v, s, c: [str(x) for x in v] + [r.choice(["latest", "?", "many", "n/a", "12a"])])
vague("list_of_lists_differ", "lists", "langchain-ai/langchain-google#881", "intlist", lambda r, v, s, c: [v, [x + 1 for x in v]])
vague("words_for_objects", "lists", "vectorize-io/hindsight#2542", "objlist", lambda r, v, s, c: r.choice(["as before", "two of the usual", "see the message", "none listed", "3", ["BX-1042", "KL-77"], "the first three"]))

# ================================================================== enums
TA = "ralphgrewe/TradingAgents#174"
coerce("enum_namespace_colons", "enums", TA, E, lambda r, v, s, c: "%s::%s" % (pascal(c.t[0]), r.choice([pascal(v), v.upper(), v])))
coerce("enum_field_prefix_upper", "enums", TA, E, lambda r, v, s, c: "%s_%s" % (c.t[0].upper(), v.upper()))
coerce("enum_with_field_name", "enums", BAML + "test_enum.rs", E, lambda r, v, s, c: r.choice(["%s: %s", "%s = %s", "%s=%s"]) % (c.t[0], v))
coerce("enum_bracketed", "enums", BAML + "test_enum.rs", E, lambda r, v, s, c: r.choice(["[%s]", "(%s)", "{%s}", "<%s>"]) % v)
coerce("enum_ruby_symbol", "enums", PY + "test_parse_object.py", E, lambda r, v, s, c: ":%s" % v)
coerce("enum_fullwidth", "enums", "Graphify-Labs/graphify#2286", E, lambda r, v, s, c: "".join(chr(ord(x) + 0xFEE0) for x in v) if v.isalpha() else None)
coerce("enum_zero_width", "enums", JR, E, lambda r, v, s, c: r.choice(["\u200b%s", "%s\u200b", "\ufeff%s", "%s\u00a0"]) % v)
coerce("enum_markdown_escape", "enums", "HAibiiin/json-repair#35", E, lambda r, v, s, c: v.replace("_", "\\_") if "_" in v else None)
coerce("enum_dots_or_double", "enums", "margince/margince#417", E, lambda r, v, s, c: v.replace("_", r.choice([".", "__", " - "])) if "_" in v else None)
coerce("enum_under_its_field", "enums", "samchon/typia#1774", E, lambda r, v, s, c: {c.t[0]: v})
coerce("enum_chosen_by_flag", "enums", "samchon/typia#1774", E, lambda r, v, s, c: (lambda o: {v: True} if r.random() < .5 else {x: x == v for x in o})(s["enum"]))
coerce("enum_swapped_letters", "enums", TA, E, lambda r, v, s, c: (lambda i: v[:i] + v[i + 1] + v[i] + v[i + 2:] if v[i] != v[i + 1] and "_" not in v[i:i + 2] else None)(r.randint(1, len(v) - 3)) if len(v) >= 7 else None)
coerce("enum_doubled_letter", "enums", TA, E, lambda r, v, s, c: (lambda i: v[:i] + v[i] + v[i:])(r.randint(1, len(v) - 2)) if len(v) >= 7 and v.isalpha() else None)
coerce("enum_token_tail", "enums", "livekit/agents#5840", E, lambda r, v, s, c: v + r.choice(["<|im_end|>", "</s>", "<|eot_id|>", "<|end|>", "<eos>"]))
coerce("enum_tag_around", "enums", BAML + "test_xml.rs", E, lambda r, v, s, c: r.choice(["<%s>%s</%s>" % (c.t[0], v, c.t[0]), "<value>%s</value>" % v]))
coerce("enum_quoted_with_comma", "enums", JR, E, lambda r, v, s, c: r.choice(['"%s",', "'%s',", '"%s".']) % v)
coerce("enum_diacritics", "enums", BAML + "test_international.rs", E, lambda r, v, s, c: (lambda d: d if d != v else None)(v.translate(str.maketrans("aeiou", r.choice(["áéíóú", "àèìòù", "äëïöü"])))))
enum_add("enum_number_padded_text", BAML + "test_enum.rs", [("log_level", en(10, 20, 30), x, y % x) for x in (10, 20, 30) for y in ("%d ", " %d", "'%d'", "%d.0")])
enum_add("enum_hyphenated_members", TA, [("region", en("eu-west-1", "eu-west-2", "us-east-1"), x, y) for x in ("eu-west-1", "us-east-1", "eu-west-2") for y in (x.upper(), x.replace("-", "_"), x.replace("-", " "), x.replace("-", "_").upper())])
enum_add("enum_mixed_case_members", "comigor/artemis#152", [("sort_key", en("createdAt", "updatedAt", "displayName"), x, y) for x in ("createdAt", "updatedAt", "displayName") for y in (x.lower(), x.upper(), re.sub("([A-Z])", r"_\1", x).lower(), re.sub("([A-Z])", r" \1", x).lower(), re.sub("([A-Z])", r"-\1", x).lower())])
enum_add("enum_scale_word", TA, [("urgency", PRI, "low", x) for x in ("very high", "lowish", "somewhere in the middle", "highest", "as high as possible", "higher", "moderate to high")] + [("size", en("small", "large"), "small", x) for x in ("extra large", "smaller", "not so small", "mid")], amb=True)
enum_add("enum_question", TA, [("urgency", PRI, "low", x) for x in ("high?", "low or what", "unsure: high or low", "high/low?", "medium, maybe high", "low->high", "was low, now high")], amb=True)
enum_add("enum_empty_words", "exa-labs/exa-mcp-server#202", [("urgency", PRI, "low", x) for x in ("n/a", "default", "auto", "none", "unspecified", "-", "", "same")], amb=True)
enum_add("enum_close_to_two", TA, [("state", en("sent", "send", "seen"), "sent", x) for x in ("sen", "sens", "senx")] + [("door", en("left", "lift"), "left", x) for x in ("lft", "loft", "leift")] + [("mode", en("read", "reed", "road"), "read", x) for x in ("rad", "rexd", "red")], amb=True)

# ================================================================== numbers
AS = "agentscope-ai/agentscope#2222"
BB = BAML + "test_basics.rs"
coerce("decimal_comma_short", "numbers", BB, "num", lambda r, v, s, c: (lambda x: (x, ("%.1f" % x).replace(".", ",")))(round(r.randint(1, 9999) + r.randint(1, 9) / 10, 1)))
coerce("decimal_comma_zero", "numbers", BB, "num", lambda r, v, s, c: (lambda x: (x, ("%.2f" % x).replace(".", ",")))(r.randint(1, 99) / 100))
coerce("french_grouping", "numbers", "cryptosharks131/lndg#436", "num", lambda r, v, s, c: (lambda x: (x, format(x, ",.2f").replace(",", r.choice([" ", "\u00a0", "\u202f"])).replace(".", ",")))(round(r.uniform(1000, 9 * 10 ** 6), 1) + .05))
coerce("swiss_grouping", "numbers", "cryptosharks131/lndg#436", "num", lambda r, v, s, c: (lambda x: (x, format(x, ",.2f").replace(",", r.choice(["'", "’"]))))(round(r.uniform(1000, 9 * 10 ** 6), 1) + .05))
coerce("dots_group_millions", "numbers", BB, "int", lambda r, v, s, c: (lambda x: (x, format(x, ",").replace(",", ".")))(r.randint(10 ** 6, 10 ** 9)))
coerce("indian_grouping", "numbers", "cryptosharks131/lndg#436", "int", lambda r, v, s, c: (lambda a, b, d: (a * 100000 + b * 1000 + d, "%d,%02d,%03d" % (a, b, d)))(r.randint(1, 99), r.randint(0, 99), r.randint(0, 999)))
coerce("fullwidth_commas", "numbers", "Graphify-Labs/graphify#2286", "int", lambda r, v, s, c: (lambda x: (x, format(x, ",").replace(",", "，")))(r.randint(10 ** 6, 10 ** 9)))
coerce("fullwidth_decimal", "numbers", "Graphify-Labs/graphify#2286", "num", lambda r, v, s, c: "".join("．" if d == "." else chr(0xFF10 + int(d)) for d in str(v)))
coerce("devanagari_digits", "numbers", "NVIDIA/NeMo-text-processing#418", "int", lambda r, v, s, c: "".join(chr(0x966 + int(d)) for d in str(v)))
coerce("binary_or_octal", "numbers", "https://spec.json5.org/ (numbers)", "int", lambda r, v, s, c: Raw(r.choice(["0b%s" % bin(v)[2:], "0o%s" % oct(v)[2:]])))
coerce("hex_as_string", "numbers", "https://spec.json5.org/ (numbers)", "int", lambda r, v, s, c: r.choice(["0x%x", "0X%X"]) % v)
coerce("float_suffix", "numbers", BAML + "test_code.rs", "num", lambda r, v, s, c: Raw("%s%s" % (v, r.choice(["f", "F", "f64", "f32"]))))
coerce("int_suffix", "numbers", BAML + "test_code.rs", "int", lambda r, v, s, c: Raw("%d%s" % (v, r.choice(["L", "u32", "i64", "ULL", "usize"]))))
coerce("decimal_constructor", "numbers", PY + "test_parse_number.py", "num", lambda r, v, s, c: Raw(r.choice(["Decimal('%s')", "Decimal(\"%s\")", "float(%s)", "np.float64(%s)", "Number(\"%s\")", "parseFloat(\"%s\")"]) % v))
coerce("int_constructor", "numbers", PY + "test_parse_number.py", "int", lambda r, v, s, c: Raw(r.choice(["np.int64(%d)", "parseInt(\"%d\")", "parseInt(\"%d\", 10)", "Integer(%d)", "BigInt(%d)"]) % v))
coerce("number_word_compound", "numbers", BAML + "test_class.rs", "int", lambda r, v, s, c: r.choice([(21, "twenty-one"), (35, "thirty five"), (42, "Forty-two"), (99, "ninety-nine"), (100, "one hundred"), (15, "fifteen"), (60, "sixty"), (105, "one hundred and five"), (250, "two hundred fifty"), (1000, "one thousand"), (18, "Eighteen"), (73, "seventy-three")]))
coerce("number_word_and_digits", "numbers", BAML + "test_class.rs", "int", lambda r, v, s, c: r.choice([(5, "five (5)"), (7, "seven (7)"), (3, "3 (three)"), (12, "twelve (12)"), (10, "10 (ten)"), (2, "two (2)"), (9, "9 (nine)"), (4, "Four (4)"), (8, "8 (eight)"), (6, "six (6)")]))
coerce("negative_word", "numbers", "cryptosharks131/lndg#436", "int", lambda r, v, s, c: (lambda x: (-x, r.choice(["minus %d", "negative %d", "- %d"]) % x))(r.randint(1, 400)))
coerce("number_with_name", "numbers", BAML + "test_class.rs", NUM, lambda r, v, s, c: r.choice(["%s: %s", "%s = %s", "%s=%s"]) % (c.t[0], v))
coerce("number_equals_sign", "numbers", "FlowiseAI/Flowise#1879", NUM, lambda r, v, s, c: r.choice(["= %s", "=%s", ": %s"]) % v)
coerce("number_punctuation", "numbers", "QwenLM/qwen-code#4966", NUM, lambda r, v, s, c: "%s%s" % (v, r.choice([",", ";", " ."])))
coerce("number_markdown", "numbers", BB, NUM, lambda r, v, s, c: r.choice(["**%s**", "`%s`", "*%s*"]) % v)
coerce("number_bracketed_text", "numbers", BB, NUM, lambda r, v, s, c: "[%s]" % v)
coerce("number_token_tail", "numbers", "livekit/agents#5840", NUM, lambda r, v, s, c: "%s%s" % (v, r.choice(["<|im_end|>", "</s>", "<|eot_id|>", "<|end|>"])))
coerce("number_zero_width", "numbers", JR, NUM, lambda r, v, s, c: r.choice(["\u200b%s", "%s\u200b", "\ufeff%s", "%s\u00a0", "\u2007%s"]) % v)
coerce("number_under_its_field", "numbers", "samchon/typia#1774", NUM, lambda r, v, s, c: {c.t[0]: v})
coerce("number_schema_echo", "numbers", "timtoole02/Camelid#703", NUM, lambda r, v, s, c: {"type": s["type"], "value": v})
coerce("number_text_twice_quoted", "numbers", "MoonshotAI/kimi-cli#2572", NUM, lambda r, v, s, c: json.dumps(json.dumps(str(v))))
coerce("scientific_capital_plus", "numbers", AS, "int", lambda r, v, s, c: r.choice([(1500, "1.5E+3"), (20000, "2.0e4"), (7, "7e0"), (120, "1.2E2"), (640000, "6.4e5"), (10, "1E1"), (35, "3.5e1"), (4000000, "4E6"), (12500, "1.25e+04"), (90, "9.0e+1")]))
vague("accounting_negative", "numbers", "ex-money/money#112", NUM, lambda r, v, s, c: r.choice(["(%s)", "%s-", "%s CR", "<%s>"]) % v)
vague("fraction_text", "numbers", PY + "test_parse_number.py", "num", lambda r, v, s, c: r.choice(["1/2", "3/4", "½", "1 1/2", "2⅓", "7/8", "Fraction(1, 2)", "one half"]))
vague("power_text", "numbers", PY + "test_parse_number.py", NUM, lambda r, v, s, c: r.choice(["10^3", "2**8", "5 * 4", "3+2", "10³", "2x", "1e", "1e+", "x10", "6 x 7"]))
vague("roman_or_ordinal", "numbers", BAML + "test_class.rs", "int", lambda r, v, s, c: r.choice(["IV", "XII", "5th", "3rd", "1st one", "second", "③", "first", "Nº", "no. five-ish"]))
vague("letters_for_digits", "numbers", "QwenLM/qwen-code#4967", "int", lambda r, v, s, c: r.choice(["1O0", "l2", "5O", "I0", "2S", "B8", "1_0_O", "0x", "12a", "#"]))
vague("grouping_broken", "numbers", "cryptosharks131/lndg#436", "num", lambda r, v, s, c: r.choice(["1,23,4", "12,3456", "1,2345.6", "1.23.456,7", "1,,234", "1.234,567.8", "12.34,56.7", "1,234,56", "0,123,45"]))
vague("one_dot_group_for_integer", "numbers", "dm4t2/vue-currency-input#102", "int", lambda r, v, s, c: "%d.%03d" % (r.randint(1, 99), r.randint(101, 999)))
vague("sum_of_units", "numbers", "ml-explore/mlx-lm#1310", NUM, lambda r, v, s, c: r.choice(["1h 30m", "5'10\"", "2 lb 3 oz", "1:30", "90 s (1.5 min)", "1 day 2 hours", "3 km 200 m", "2w"]))
vague("bound_words", "numbers", BAML + "test_class.rs", NUM, lambda r, v, s, c: r.choice(["no more than %s", "%s at most", "over %s", "less than %s", "%s or more", "under %s", "min %s", "%s max"]) % v)

# ================================================================== booleans
PK = "Strike48-public/pick#382"
bkind("bool_check_marks", PK, ["✓", "✔", "✅", "[x]", "☑"], ["✗", "✘", "❌", "[ ]", "☐"])
bkind("bool_other_languages", BAML + "test_international.rs", ["oui", "ja", "sí", "Ja", "Oui"], ["non", "nein", "Nein", "Non"])
bkind("bool_cjk", BAML + "test_international.rs", ["是", "はい", "예"], ["否", "いいえ", "아니요"])
bkind("bool_float", PK, [1.0, "1.0"], [0.0, "0.0"])
bkind("bool_fortran", PK, [".true.", ".TRUE."], [".false.", ".FALSE."])
bkind("bool_lisp_or_shell", PK, ["#t", "$true", "#true"], ["#f", "$false", "#false"])
bkind("bool_capital_letter", PK, ["T", "Y"], ["F", "N"])
bkind("bool_js_negation", JR, ["!0", "!!1"], ["!1", "!!0"], True)
bkind("bool_constructor", PY + "test_parse_string.py", ["bool(True)", "Boolean(true)", "np.True_"], ["bool(False)", "Boolean(false)", "np.False_"], True)
bkind("bool_punctuated", "homeassistant-ai/ha-mcp#218", ["Yes.", "True.", "yes!", "true;", "true,"], ["No.", "False.", "no!", "false;", "false,"])
bkind("bool_markdown", BB, ["**true**", "`true`", "*Yes*", "**Yes**"], ["**false**", "`false`", "*No*", "**No**"])
bkind("bool_token_tail", "livekit/agents#5840", ["true<|im_end|>", "true</s>", "True<|eot_id|>", "true<|end|>"], ["false<|im_end|>", "false</s>", "False<|eot_id|>", "false<|end|>"])
bkind("bool_zero_width", JR, ["true\u200b", "\ufefftrue", "true\u00a0"], ["false\u200b", "\ufefffalse", "false\u00a0"])
bkind("bool_explained", BAML + "test_class.rs", ["true (as the user asked)", "true - requested", "Yes (requested)"], ["false (as the user asked)", "false - not requested", "No (not requested)"])
coerce("bool_with_name", "booleans", BAML + "test_class.rs", "bool", lambda r, v, s, c: r.choice(["%s: %s", "%s = %s", "%s=%s"]) % (c.t[0], "true" if v else "false"))
coerce("bool_under_its_field", "booleans", "samchon/typia#1774", "bool", lambda r, v, s, c: {c.t[0]: v})
coerce("bool_schema_echo", "booleans", "timtoole02/Camelid#703", "bool", lambda r, v, s, c: {"type": "boolean", "value": v})
coerce("bool_text_in_array", "booleans", "tidyverse/ellmer#929", "bool", lambda r, v, s, c: [r.choice([str(v), str(v).lower()])])
vague("bool_any_word", "booleans", PK, "bool", lambda r, v, s, c: r.choice(["default", "auto", "inherit", "required", "optional", "none", "both", "all", "later", "ask"]))
vague("bool_double_negation", "booleans", "software-mansion/argent#811", "bool", lambda r, v, s, c: r.choice(["not false", "not no", "!false", "no, yes", "never not", "not disabled", "un-true"]))
vague("bool_question", "booleans", PK, "bool", lambda r, v, s, c: r.choice(["true?", "yes?", "no?", "false?", "true or so", "mostly true", "half true", "nearly always"]))
vague("bool_value_of_other_kind", "booleans", PK, "bool", lambda r, v, s, c: r.choice(["2024-01-01", "red", 3.5, "0x1f", "Oslo", "http://example.com", "1,0", [0, 1], {"yes": "no"}]))

# ================================================================== dates
DU = "deeplethe/utopia#688"
SPANISH = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()
GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
FRENCH = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()
dk("date_spanish", BAML + "test_international.rs", lambda r, d: "%d de %s de %d" % (d.day, SPANISH[d.month - 1], d.year))
dk("date_german", BAML + "test_international.rs", lambda r, d: "%d. %s %d" % (d.day, GERMAN[d.month - 1], d.year))
dk("date_french", BAML + "test_international.rs", lambda r, d: "%s %s %d" % ("1er" if d.day == 1 else d.day, FRENCH[d.month - 1], d.year))
dk("date_lower_or_upper_month", DU, lambda r, d: r.choice(["%s %d, %d", "%s %d %d"]) % (r.choice([MONTH[d.month - 1].lower(), MONTH[d.month - 1].upper(), MONTH[d.month - 1][:3].upper(), MONTH[d.month - 1][:3].lower()]), d.day, d.year))
dk("date_month_dot", DU, lambda r, d: "%s. %d, %d" % (MONTH[d.month - 1][:3], d.day, d.year) if d.month != 5 else None)
dk("date_year_first_words", DU, lambda r, d: r.choice(["%d %s %d", "%d, %s %d", "%d-%s-%02d"]) % (d.year, r.choice([MONTH[d.month - 1], MONTH[d.month - 1][:3]]), d.day))
dk("date_rfc2822", DU, lambda r, d: "%s, %02d %s %d" % (DAY[d.weekday()][:3], d.day, MONTH[d.month - 1][:3], d.year))
dk("date_rfc2822_midnight", DU, lambda r, d: "%s, %02d %s %d 00:00:00 GMT" % (DAY[d.weekday()][:3], d.day, MONTH[d.month - 1][:3], d.year))
dk("date_midnight_fraction", PYD, lambda r, d: d.isoformat() + r.choice(["T00:00:00.000Z", "T00:00:00+00:00", "T00:00:00.000", "T00:00", " 00:00"]))
dk("date_timestamp_call", JR, lambda r, d: Raw(r.choice(["Timestamp('%s 00:00:00')", 'new Date("%s")', 'LocalDate.parse("%s")', 'pd.Timestamp("%s")', 'Date.parse("%s")', "DATE '%s'"]) % d.isoformat()))
dk("date_fullwidth_digits", "Graphify-Labs/graphify#2286", lambda r, d: "".join(chr(ord(x) + 0xFEE0) if x.isdigit() else x for x in d.isoformat()))
dk("date_with_weekday_note", DU, lambda r, d: r.choice(["%s (%s)", "%s, %s", "%s %s"]) % (d.isoformat(), DAY[d.weekday()]))
dk("date_with_name", BAML + "test_class.rs", lambda r, d: r.choice(["date: %s", "date=%s", "on %s"]) % d.isoformat())
dk("date_in_array", "tidyverse/ellmer#929", lambda r, d: [d.isoformat()])
dk("date_under_value", "samchon/typia#1774", lambda r, d: {r.choice(["value", "date", "$date"]): d.isoformat()})
dk("date_parts_object", "samchon/typia#1774", lambda r, d: {"year": d.year, "month": d.month, "day": d.day})
dk("date_quoted_inside", JR, lambda r, d: r.choice(["'%s'", '"%s"', "`%s`", "**%s**"]) % d.isoformat())
dk("date_underscores", "receptron/mulmoclaude#2333", lambda r, d: d.isoformat().replace("-", r.choice(["_", " ", ":"])))
coerce("datetime_named_utc", "dates", "ollama/ollama#10944", DT, lambda r, v, s, c: (v[:19] + "Z", v[:19].replace("T", r.choice(["T", " "])) + r.choice([" UTC", " GMT", "UTC", " Z"])))
coerce("datetime_http", "dates", "https://www.rfc-editor.org/rfc/rfc9110 (5.6.7)", DT, lambda r, v, s, c: (lambda d: (v, "%s, %02d %s %d %s GMT" % (DAY[d.weekday()][:3], d.day, MONTH[d.month - 1][:3], d.year, v[11:19])))(datetime.date.fromisoformat(v[:10])))
coerce("datetime_basic", "dates", "moment/momentjs.com#628", DT, lambda r, v, s, c: v.replace("-", "").replace(":", ""))
coerce("datetime_zone_region", "dates", "ollama/ollama#10944", DT, lambda r, v, s, c: v + "[UTC]")
coerce("datetime_epoch_seconds", "dates", "xorbitsai/xagent#2433", DT, lambda r, v, s, c: (lambda n: r.choice([n, str(n)]))(int(datetime.datetime.fromisoformat(v.replace("Z", "+00:00")).timestamp())))
coerce("datetime_epoch_millis", "dates", "xorbitsai/xagent#2433", DT, lambda r, v, s, c: (lambda n: r.choice([n, str(n)]))(1000 * int(datetime.datetime.fromisoformat(v.replace("Z", "+00:00")).timestamp())))
coerce("datetime_constructor", "dates", JR, DT, lambda r, v, s, c: Raw(r.choice(['ISODate("%s")', 'new Date("%s")', 'datetime.fromisoformat("%s")', 'Instant.parse("%s")']) % v))
coerce("datetime_meridiem_utc", "dates", "xorbitsai/xagent#2433", DT, lambda r, v, s, c: (lambda h: (v[:17] + "00Z", "%s %d:%s %s UTC" % (v[:10], h % 12 or 12, v[14:16], "AM" if h < 12 else "PM")))(int(v[11:13])))
vague("datetime_no_zone", "dates", "ollama/ollama#10944", DT, lambda r, v, s, c: r.choice([v[:19].replace("T", " "), v[:16].replace("T", " "), v[:10] + " at " + v[11:16]]))
vague("datetime_zone_abbreviation", "dates", "dateutil/dateutil#1246", DT, lambda r, v, s, c: v[:19] + r.choice([" CST", " IST", " BST", " PT", " local time", " A"]))
vague("date_excel_serial", "dates", "moment/momentjs.com#628", D, lambda r, v, s, c: r.choice([r.randint(44000, 47000), str(r.randint(44000, 47000)) + ".5"]))
vague("date_around", "dates", DU, D, lambda r, v, s, c: r.choice(["around %s", "%s or so", "by %s", "before %s", "not %s", "after %s", "~%s", "since %s"]) % v)
vague("date_moving_words", "dates", DU, D, lambda r, v, s, c: r.choice(["a week from %s", "%s + 3 days", "the Monday after %s", "two days before %s", "%s plus one month"]) % v)
vague("date_month_out_of_range", "dates", "mjordan/islandora_workbench#790", D, lambda r, v, s, c: r.choice(["31 June 2024", "2025-02-29", "29 Feb 2025", "2024/13/13", "32.01.2025", "2026-06-31", "April 31, 2025", "0000-00-00", "2025-15-15"]))
vague("date_holiday", "dates", DU, D, lambda r, v, s, c: r.choice(["Christmas 2025", "Easter 2025", "New Year's Eve", "the deadline", "payday", "summer 2026", "H1 2025", "FY2025", "spring"]))
vague("date_two_digit_dotted", "dates", "sw-carlos-cristobal/sharetab#45", D, lambda r, v, s, c: (lambda d: r.choice(["%02d.%02d.%02d", "%d-%d-%02d"]) % (d.day, d.month, d.year % 100))(date(r)))

# ================================================================== texts: whole notations
SRC = BAML + "test_code.rs"
txt("seed_oss_xml", VLLM + "test_seed_oss_tool_parser.py", lambda r, c: "<seed:tool_call>\n<function=%s>\n%s\n</function>\n</seed:tool_call>" % (c.tool, "\n".join("<parameter=%s>%s</parameter>" % (k, raw(x)) for k, x in c.value.items())), tags=SIMPLE + ("strlist", "obj"))
txt("step3_xml", VLLM + "test_step3_tool_parser.py", lambda r, c: '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="%s">%s</steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>' % (c.tool, "".join('<steptml:parameter name="%s">%s</steptml:parameter>' % (k, raw(x)) for k, x in c.value.items())))
txt("minicpm_xml", "jundot/omlx#3429", lambda r, c: '<function name="%s">%s</function>' % (c.tool, "".join('<param name="%s">%s</param>' % (k, raw(x)) for k, x in c.value.items())))
txt("functiongemma_call", VLLM + "test_functiongemma_tool_parser.py", lambda r, c: "<start_function_call>call:%s{%s}<end_function_call>" % (c.tool, args(c.value, eq=":", st=lambda s: "<escape>%s<escape>" % s, lit=("true", "false", "null"), sep=",")))
txt("lfm2_call", VLLM + "test_lfm2_tool_parser.py", lambda r, c: "<|tool_call_start|>[%s(%s)]<|tool_call_end|>" % (c.tool, args(c.value, st=r.choice([js, sq]))))
txt("longcat_arg_pairs", VLLM + "test_longcat_tool_parser.py", lambda r, c: "<longcat_tool_call>%s\n%s\n</longcat_tool_call>" % (c.tool, "\n".join("<longcat_arg_key>%s</longcat_arg_key>\n<longcat_arg_value>%s</longcat_arg_value>" % (k, raw(x)) for k, x in c.value.items())))
txt("xml_invoke_indented", "anthropics/claude-code#64099", lambda r, c: '    <invoke name="%s">\n%s\n    </invoke>' % (c.tool, "\n".join('      <parameter name="%s">%s</parameter>' % (k, raw(x)) for k, x in c.value.items())))
txt("xml_legacy_tool_name", "anthropics/claude-code#61375", lambda r, c: "<function_calls>\n<invoke>\n<tool_name>%s</tool_name>\n<parameters>\n%s\n</parameters>\n</invoke>\n</function_calls>" % (c.tool, "\n".join("<%s>%s</%s>" % (k, raw(x), k) for k, x in c.value.items())))
txt("xml_parameter_single_quotes", VLLM + "test_minimax_m2_tool_parser.py", lambda r, c: "<invoke name='%s'>\n%s\n</invoke>" % (c.tool, "\n".join("<parameter name='%s'>%s</parameter>" % (k, raw(x)) for k, x in c.value.items())))
txt("xml_parameter_typed", VLLM + "test_minimax_m3_tool_parser.py", lambda r, c: '<invoke name="%s">\n%s\n</invoke>' % (c.tool, "\n".join('<parameter name="%s" type="%s">%s</parameter>' % (k, {str: "string", bool: "boolean", int: "integer", float: "number"}[type(x)], raw(x)) for k, x in c.value.items())))
txt("xml_parameter_value_attribute", BAML + "test_xml.rs", lambda r, c: '<%s>\n%s\n</%s>' % (c.tool, "\n".join('  <param name="%s" value="%s"/>' % (k, raw(x)) for k, x in c.value.items()), c.tool))
txt("xml_elements_cdata", BAML + "test_xml.rs", lambda r, c: "<arguments>\n%s\n</arguments>" % "\n".join("<%s>%s</%s>" % (k, "<![CDATA[%s]]>" % x if isinstance(x, str) else raw(x), k) for k, x in c.value.items()))
txt("xml_elements_declared", BAML + "test_xml.rs", lambda r, c: '<?xml version="1.0" encoding="UTF-8"?>\n<%s>\n%s\n</%s>' % (c.tool, "\n".join("  <%s>%s</%s>" % (k, raw(x), k) for k, x in c.value.items()), c.tool))
txt("xml_parameters_tool_name_first", "signalnine/q27#24", lambda r, c: "<parameter=%s>\n%s\n</function>" % (c.tool, "\n".join("<parameter=%s>\n%s\n</parameter>" % (k, raw(x)) for k, x in c.value.items())))
txt("xml_qwen_no_function", "signalnine/q27#24", lambda r, c: "<tool_call>\n%s\n</tool_call>" % "\n".join("<parameter=%s>\n%s\n</parameter>" % (k, raw(x)) for k, x in c.value.items()))
txt("xml_qwen_quoted_names", "signalnine/q27#24", lambda r, c: '<tool_call>\n<function="%s">\n%s\n</function>\n</tool_call>' % (c.tool, "\n".join('<parameter="%s">%s</parameter>' % (k, raw(x)) for k, x in c.value.items())))
txt("edn_map", "https://github.com/edn-format/edn", lambda r, c: "{%s}" % r.choice([" ", ", "]).join(":%s %s" % (k, ser(x, lit=("true", "false", "nil"))) for k, x in c.value.items()))
txt("lisp_call", "ahyatt/llm#272", lambda r, c: "(%s %s)" % (c.tool, " ".join(":%s %s" % (k, ser(x, lit=("t", "nil", "nil"))) for k, x in c.value.items())), tags=("str", "int", "num", "text", "enum"))
txt("scala_map", SRC, lambda r, c: "Map(%s)" % ", ".join('%s -> %s' % (js(k), ser(x)) for k, x in c.value.items()))
txt("kotlin_map", SRC, lambda r, c: "mapOf(%s)" % ", ".join('%s to %s' % (js(k), ser(x)) for k, x in c.value.items()))
txt("csharp_anonymous", SRC, lambda r, c: "new { %s }" % ", ".join("%s = %s" % (k, ser(x)) for k, x in c.value.items()))
txt("r_list", "tidyverse/ellmer#929", lambda r, c: "list(%s)" % ", ".join("%s = %s" % (k, ser(x, lit=("TRUE", "FALSE", "NULL"))) for k, x in c.value.items()))
txt("julia_dict", SRC, lambda r, c: "Dict(%s)" % ", ".join("%s => %s" % (js(k), ser(x)) for k, x in c.value.items()))
txt("erlang_map", "https://hexdocs.pm/elixir/Map.html", lambda r, c: "#{%s}" % ", ".join("%s => %s" % (k, ser(x)) for k, x in c.value.items()))
txt("perl_hash", PY + "test_parse_object.py", lambda r, c: "(%s)" % ", ".join("%s => %s" % (k, ser(x, lit=("1", "0", "undef"))) for k, x in c.value.items()), tags=("str", "int", "num", "text", "enum"))
txt("swift_dictionary", SRC, lambda r, c: r.choice(["[%s]", "let args: [String: Any] = [%s]"]) % ", ".join("%s: %s" % (js(k), ser(x)) for k, x in c.value.items()))
txt("python_ordered_dict", "waybarrios/vllm-mlx#63", lambda r, c: "OrderedDict([%s])" % ", ".join("(%s, %s)" % (sq(k), ser(x, st=sq, lit=PYL)) for k, x in c.value.items()))
txt("python_model_repr", "567-labs/instructor#1839", lambda r, c: "%s(%s)" % (r.choice([pascal(c.tool), pascal(c.tool) + "Args", "Arguments"]), args(c.value, st=sq)))
txt("python_method_call", VLLM + "test_pythonic_tool_parser.py", lambda r, c: r.choice(["await tools.%s(%s)", "client.%s(%s)", "tools.%s(%s)", "functions.%s(%s)"]) % (c.tool, args(c.value, st=r.choice([js, sq]))))
txt("python_call_with_dict_spread", VLLM + "test_pythonic_tool_parser.py", lambda r, c: "%s(**%s)" % (c.tool, ser(c.value, key=sq, st=sq, lit=PYL)))
txt("python_call_multiline", VLLM + "test_pythonic_tool_parser.py", lambda r, c: "%s(\n%s,\n)" % (c.tool, ",\n".join("    %s=%s" % (k, ser(x, lit=PYL)) for k, x in c.value.items())), tags=SIMPLE + ("strlist", "obj"))
txt("graphql_arguments", SRC, lambda r, c: r.choice(["{ %s(%s) }", "mutation { %s(%s) { ok } }", "%s(%s) { id }"]) % (c.tool, ", ".join("%s: %s" % (k, ser(x)) for k, x in c.value.items())))
txt("hcl_block", SRC, lambda r, c: 'arguments {\n%s\n}' % "\n".join("  %s = %s" % (k, ser(x)) for k, x in c.value.items()))
txt("ini_section", "crux-toolkit/crux-toolkit#230", lambda r, c: "[%s]\n%s" % (r.choice(["arguments", c.tool, "args"]), "\n".join(r.choice(["%s = %s", "%s=%s"]) % (k, raw(x)) for k, x in c.value.items())))
txt("dotenv_exports", "crux-toolkit/crux-toolkit#230", lambda r, c: "\n".join("export %s=%s" % (k.upper(), js(x) if isinstance(x, str) else raw(x)) for k, x in c.value.items()), closed=True)
txt("logfmt", "crux-toolkit/crux-toolkit#230", lambda r, c: " ".join("%s=%s" % (k, js(x) if isinstance(x, str) and re.search(r"[^\w.@/:-]", x) else raw(x)) for k, x in c.value.items()))
txt("arrows", BAML + "test_class_2.rs", lambda r, c: "\n".join("%s %s %s" % (k, a, raw(x)) for a in [r.choice(["->", "→", "=>", ":="])] for k, x in c.value.items()))
txt("headings", BAML + "test_class_2.rs", lambda r, c: "\n".join("%s %s\n%s" % (h, k, raw(x)) for h in [r.choice(["##", "###", "####"])] for k, x in c.value.items()))
txt("bold_lines", BAML + "test_class_2.rs", lambda r, c: "\n".join(r.choice(["**%s**: %s", "**%s:** %s"]) % (k, raw(x)) for k, x in c.value.items()))
txt("html_table", BAML + "test_class_2.rs", lambda r, c: "<table>%s</table>" % "".join("<tr><td>%s</td><td>%s</td></tr>" % (k, raw(x)) for k, x in c.value.items()))
txt("html_definition_list", BAML + "test_class_2.rs", lambda r, c: "<dl>%s</dl>" % "".join("<dt>%s</dt><dd>%s</dd>" % (k, raw(x)) for k, x in c.value.items()))
txt("tab_separated_pairs", BAML + "test_toon.rs", lambda r, c: "\n".join("%s\t%s" % (k, raw(x)) for k, x in c.value.items()))
txt("piped_pairs", BAML + "test_class_2.rs", lambda r, c: " | ".join("%s: %s" % (k, raw(x)) for k, x in c.value.items()))
txt("yaml_commented", "langchain-ai/langchain#14496", lambda r, c: "# arguments\n" + yaml(c.value, st=js).replace("\n", "  # as asked\n", 1))
txt("yaml_under_arguments", "langchain-ai/langchain#14496", lambda r, c: r.choice(["name: %s\narguments:\n%s", "tool: %s\nargs:\n%s"]) % (c.tool, yaml(c.value, 2)))
txt("yaml_flow", "langchain-ai/langchain#14496", lambda r, c: "{%s}" % ", ".join("%s: %s" % (k, x if isinstance(x, str) and re.fullmatch(r"[A-Za-z][\w .-]*", x) else ser(x)) for k, x in c.value.items()))
txt("yaml_with_prose", "567-labs/instructor#1839", lambda r, c: "%s\n\n```yaml\n%s\n```\n\n%s" % (r.choice(INTRO), yaml(c.value, st=r.choice([str, js])), r.choice(OUTRO)))
txt("toon_object", BAML + "test_toon.rs", lambda r, c: "%s:\n%s" % (r.choice(["args", "arguments"]), "\n".join("  %s: %s" % (k, raw(x)) for k, x in c.value.items())))
txt("pairs_of_key_and_value", BAML + "test_maps.rs", lambda r, c: ser([{"key": k, "value": x} for k, x in c.value.items()], ind=r.choice([None, 2])))
txt("pairs_as_arrays", BAML + "test_maps.rs", lambda r, c: ser([[k, x] for k, x in c.value.items()]))
txt("named_parameter_list", BAML + "test_maps.rs", lambda r, c: ser({"name": c.tool, "parameters": [{"name": k, "value": x} for k, x in c.value.items()]}))
txt("one_object_for_each_key", BAML + "test_maps.rs", lambda r, c: ser([{k: x} for k, x in c.value.items()]))


@kind("yaml_block_scalar", "texts", "langchain-ai/langchain#14496")
def _(r):
    a, b = two(r)
    c = build(r, want=["int"], extra=(1, 2), add=[("note_text", S, "%s\n%s\n" % (a, b))], tags=("int", "bool", "enum"))
    v = {k: x for k, x in c.value.items() if k != "note_text"}
    return c.schema, "%s\nnote_text: |\n  %s\n  %s\n" % (yaml(v), a, b), c.value


@kind("call_of_other_tool", "texts", "tya5/reyn#1646")
def _(r):
    c = build(r, want=["str", "int"], extra=(0, 2), allreq=True, closed=True)
    return c.schema, "%s\n%s" % (ser(c.value), ser({**c.value, c.t[1]: c.value[c.t[1]] * 2 + 1})), AMB


@kind("numbers_without_names", "texts", BAML + "test_class_2.rs")
def _(r):
    c = build(r, want=["int", "num"], extra=(0, 1), allreq=True, tags=("int", "num"))
    return c.schema, r.choice([", ", " / ", "; ", " and "]).join(raw(x) for x in c.value.values()), AMB


@kind("prose_with_the_values", "texts", "misospace/pr-reviewer-action#449")
def _(r):
    c = build(r, want=["str", "int"], extra=(0, 1), allreq=True)
    return c.schema, r.choice(["Use %s for it, %s if you can, otherwise double that.", "The user said %s, then changed it to %s or more.", "For %s the limit was %s last time."]) % (c.value[c.t[0]], c.value[c.t[1]]), AMB


# ================================================================== strings
skind("inner_quote_then_comma", "mangiucugna/json_repair#140", lambda r: (lambda n, w: ('The 1/%d" %s wrench was, in the end, replaced' % (n, w), '"The 1/%d" %s wrench was, in the end, replaced"' % (n, w)))(r.choice([2, 4, 8]), r.choice(WORD)))
skind("inner_quoted_words_two", "mangiucugna/json_repair#85", lambda r: (lambda a, b: ('Terms such as "%s" and "%s". Use them more often' % (a, b), '"Terms such as "%s" and "%s". Use them more often"' % (a, b)))(*r.sample(WORD, 2)))
skind("inner_quote_at_end", "josdejong/jsonrepair#116", lambda r: (lambda w: ('The sign says "%s"' % w, '"The sign says "%s""' % w))(r.choice(WORD)))
skind("inner_quote_at_start", "josdejong/jsonrepair#116", lambda r: (lambda w: ('"%s" is the sign on the door' % w, '""%s" is the sign on the door"' % w))(r.choice(WORD)))
skind("html_attribute_quotes", "HAibiiin/json-repair#35", lambda r: (lambda w: ('<div class="%s">hello</div>' % w, '"<div class="%s">hello</div>"' % w))(r.choice(WORD)), field="content")
skind("inner_json_unescaped", "mangiucugna/json_repair#189", lambda r: (lambda w: ('the answer is wrapped in {"blank_1": "%s"} which was not requested' % w, '"the answer is wrapped in {"blank_1": "%s"} which was not requested"' % w))(r.choice(WORD)))
skind("raw_carriage_return", "langchain-ai/langchain#36915", lambda r: (lambda a, b: ("%s\r\n%s" % (a, b), '"%s\r\n%s"' % (a, b)))(*two(r)))
skind("raw_control_character", "langchain-ai/langchain#36763", lambda r: (lambda a, x: ("%s%s done" % (a, x), '"%s%s done"' % (a, x)))(r.choice(SENT), r.choice(["\x0b", "\x0c", "\x08", "\x1b[0m", "\x07"])))
skind("raw_line_separator", "anthropics/anthropic-sdk-typescript#882", lambda r: (lambda a, b, x: ("%s%s%s" % (a, x, b), "'%s%s%s'" % (a, x, b)))(*two(r), r.choice(["\u2028", "\u2029"])))
skind("line_continuation", "https://spec.json5.org/ (strings)", lambda r: (lambda a, b: ("%s %s" % (a, b), '"%s \\\n%s"' % (a, b)))(*two(r)))
skind("implicit_concatenation", "https://docs.python.org/3/reference/lexical_analysis.html#string-literal-concatenation", lambda r: (lambda a, b: ("%s. %s" % (a, b), '("%s. "\n    "%s")' % (a, b)))(*two(r)))
skind("corner_brackets", BAML + "test_international.rs", lambda r: (lambda a: (a, r.choice(["「%s」", "『%s』", "《%s》"]) % a))(r.choice(SENT)))
skind("other_prefixes", PY + "test_parse_string.py", lambda r: (lambda a: (a, r.choice(["b'%s'", 'b"%s"', 'f"%s"', "f'%s'", '@"%s"', '$"%s"', 'R"(%s)"']) % a))(r.choice(SENT)))
skind("string_constructor", JR, lambda r: (lambda a: (a, r.choice(['str("%s")', 'String("%s")', 'new String("%s")', 'Text("%s")', 'std::string("%s")']) % a))(r.choice(SENT)))
skind("identifier_constructor", JR, lambda r: (lambda x: (x, r.choice(['ObjectId("%s")', "ObjectId('%s')", 'UUID("%s")', 'uuid.UUID("%s")']) % x))("%024x" % r.getrandbits(96)), field="description")
skind("path_constructor", JR, lambda r: (lambda x: (x, r.choice(["Path('%s')", 'PosixPath("%s")', 'Path("%s")', "pathlib.Path('%s')"]) % x))(r.choice(PATH)), field="file_path")
skind("mismatched_quotes", JR, lambda r: (lambda a: (a, r.choice(["\"%s'", "'%s\"", "“%s\"", "\"%s”"]) % a))(r.choice(SENT)))
skind("escaped_delimiters", JR, lambda r: (lambda a: (a, '\\"%s\\"' % a))(r.choice(SENT)))
skind("unicode_escaped_delimiters", JR, lambda r: (lambda a: (a, "\\u0022%s\\u0022" % a))(r.choice(SENT)))
skind("entity_delimiters", "tetsuo-ai/AgenC#1283", lambda r: (lambda a: (a, "&quot;%s&quot;" % a))(r.choice(SENT)))
skind("missing_start_quote_with_comma", "mangiucugna/json_repair#53", lambda r: (lambda a, b: ("%s, unlike %s." % (a, b), '%s, unlike %s."' % (a, b)))(r.choice(SENT), r.choice(PERSON)))
skind("null_escape", "https://spec.json5.org/ (strings)", lambda r: (lambda a: ("%s\0" % a, '"%s\\0"' % a))(r.choice(SENT)))
skind("vertical_tab_escape", "https://spec.json5.org/ (strings)", lambda r: (lambda a, b: ("%s\x0b%s" % (a, b), '"%s\\v%s"' % (a, b)))(*two(r)))


@kind("missing_end_quote_with_commas", "strings", "josdejong/jsonrepair#133")
def _(r):
    t = "%s, %s, %s" % (r.choice(WORD), r.choice(WORD), r.choice(SENT).lower())
    c = build(r, want=["int"], extra=(0, 1), tags=("int", "bool"))
    v = {"description": t, **c.value}
    c.schema["properties"]["description"] = S
    c.schema["required"] = list(v)
    return c.schema, ser({**v, "description": Raw('"' + t)}, ind=2), v


@kind("quotes_around_number_half", "strings", "MatterAIOrg/OrbCode#52")
def _(r):
    c = build(r, want=["int", "str"], extra=(0, 2))
    k = c.t[0]
    return c.schema, ser({**c.value, k: Raw(r.choice(['"%d', '%d"']) % c.value[k])}, ind=2), c.value


@kind("unicode_quotes_mixed", "strings", "Graphify-Labs/graphify#2286")
def _(r):
    c = build(r, extra=(2, 4), want=["str"])
    return c.schema, ser(c.value, key=lambda k: r.choice(['"%s"', "“%s”", "'%s'"]) % k, st=lambda k: r.choice(['"%s"', "“%s”", "‘%s’"]) % k), c.value


@kind("all_quotes_escaped_twice", "strings", "MoonshotAI/kimi-cli#2572")
def _(r):
    c = build(r, extra=(2, 4), want=["str"])
    return c.schema, ser(c.value).replace('"', '\\\\\\"'), c.value


@kind("all_quotes_unicode_escaped", "strings", "ggml-org/llama.cpp#16465")
def _(r):
    c = build(r, extra=(2, 4), want=["str"])
    return c.schema, ser(c.value).replace('"', "\\u0022"), c.value


# ================================================================== structure
st("colon_equals", SRC, lambda r, c: ser(c.value, col=r.choice([" := ", ":=", " => ", " -> "]), key=r.choice([js, str])), tags=SIMPLE)
st("bare_key_space_before_colon", JR, lambda r, c: ser(c.value, key=str, col=r.choice([" : ", "\n:", "\t:\t"])), tags=SIMPLE)
st("comma_at_line_start", JR, lambda r, c: ser(c.value, ind=2).replace(",\n  ", "\n, ").replace("{\n  ", "{\n  , " if r.random() < .5 else "{\n  "), tags=SIMPLE)
st("comma_before_close_doubled", "huggingface/chat-ui#1229", lambda r, c: ser(c.value, tail=r.choice([",,", ", ,", ";", ",\n,"])), tags=SIMPLE)
st("comment_double_dash", PY + "test_parse_comment.py", lambda r, c: re.sub(r",\n", lambda m: "," + r.choice(["", "  -- as asked"]) + "\n", ser(c.value, ind=2)) + "\n-- end", tags=SIMPLE)
st("comment_trailing_hash", PY + "test_parse_comment.py", lambda r, c: re.sub(r",\n", lambda m: "," + r.choice(["", "  # as asked", " # it's fine"]) + "\n", ser(c.value, ind=2)) + "  # done", tags=SIMPLE)
st("comment_between_key_and_value", JR, lambda r, c: ser(c.value, col=": /* value */ "), tags=SIMPLE)
st("diff_plus_lines", PY + "test_json_repair.py", lambda r, c: "\n".join("+" + x for x in ser(c.value, ind=2).split("\n")), tags=SIMPLE)
st("prompt_prefix_lines", PY + "test_json_repair.py", lambda r, c: (lambda p: "\n".join((p[0] if i == 0 else p[1]) + x for i, x in enumerate(ser(c.value, ind=2).split("\n"))))(r.choice([(">>> ", "... "), ("$ ", "> ")])), tags=SIMPLE)
st("numbered_lines_colon", PY + "test_json_repair.py", lambda r, c: (lambda f: "\n".join(f % (i + 1, x) for i, x in enumerate(ser(c.value, ind=2).split("\n"))))(r.choice(["%d: %s", "%d\t%s", "%3d  %s"])), tags=SIMPLE)
st("opening_brace_twice", "tinyhumansai/tinyagents#68", lambda r, c: r.choice(["{\n", "{ "]) + ser(c.value), tags=SIMPLE, allreq=True, closed=True)
st("stray_backslash_before_brace", "OpenHands/software-agent-sdk#2488", lambda r, c: (lambda t: r.choice([t.replace("{", "\\{").replace("}", "\\}"), "\\n" + t + "\\n", t[:-1] + "\\n}", t.replace(", ", ", \\n")]))(ser(c.value)), tags=SIMPLE)
st("underscore_keys_markdown_escaped", "HAibiiin/json-repair#35", lambda r, c: (lambda t: hit(t, re.sub(r'"([a-z_]+)":', lambda m: '"%s":' % m.group(1).replace("_", "\\_"), t)))(ser(c.value)), tags=("str", "int", "bool"))
st("tags_as_punctuation", "MatterAIOrg/OrbCode#52", lambda r, c: (lambda k: "{" + ", ".join(('"%s</longcat_arg_key>%s' if a == k else '"%s": %s') % (a, ser(b)) for a, b in c.value.items()) + "}")(c.t[1]), tags=SIMPLE)
st("token_in_the_middle", "livekit/agents#5840", lambda r, c: (lambda t: t.replace(", ", ", " + r.choice(["<|im_start|>", "<|endoftext|>", "<|tool_call|>", "<pad>"]) + " ", 1))(ser(c.value)), tags=SIMPLE)
st("tokens_around", "livekit/agents#5840", lambda r, c: r.choice(["<s>%s</s>", "<bos>%s<eos>", "<|begin_of_text|>%s<|end_of_text|>", "[INST]%s[/INST]", "<|startoftext|>%s"]) % ser(c.value), tags=SIMPLE)
st("zero_width_between", JR, lambda r, c: ser(c.value, sep=",\u200b", col="\u200b: "), tags=SIMPLE)
st("nbsp_indent", JR, lambda r, c: ser(c.value, ind=2).replace("\n  ", "\n" + r.choice(["\u00a0\u00a0", "\u3000", "\u2003 "])), tags=SIMPLE)
st("single_braces_tripled", "tinyhumansai/tinyagents#68", lambda r, c: "{{{%s}}}" % ser(c.value)[1:-1], tags=SIMPLE)
st("parentheses_for_braces", "esengine/DeepSeek-Reasonix#2839", lambda r, c: ser(c.value, wrap=("(", ")")), tags=SIMPLE)
st("closed_by_parenthesis_and_brace", JR, lambda r, c: r.choice(["(%s)", "(%s);", "((%s))", "[(%s)]"]) % ser(c.value), tags=SIMPLE)
st("prose_in_front_without_break", "remyxai/outrider#110", lambda r, c: r.choice(["Arguments%s", "args=%s", "Calling with %s now.", "-> %s", "Output : %s END", "=> %s"]) % ser(c.value), tags=SIMPLE)


@kind("middle_closer_missing", "structure", "mangiucugna/json_repair#126")
def _(r):
    s = obj({"label": S, "window": BOX, "quantity": I})
    v = {"label": r.choice(WORD), "window": g_box(r), "quantity": r.randint(1, 99)}
    t = ser(v)
    return s, t.replace("}, ", ", ", 1), v


@kind("middle_bracket_wrong", "structure", "mangiucugna/json_repair#173")
def _(r):
    s = obj({"label": S, "points": {"type": "array", "items": BOX}, "quantity": I})
    v = {"label": r.choice(WORD), "points": [g_box(r) for _ in range(r.randint(1, 2))], "quantity": r.randint(1, 99)}
    return s, ser(v).replace("}], ", r.choice(["}}, ", "}]], ", "]}, "]), 1), v


@kind("closers_in_wrong_order", "structure", "mangiucugna/json_repair#173")
def _(r):
    s = obj({"label": S, "points": {"type": "array", "items": BOX}})
    v = {"label": r.choice(WORD), "points": [g_box(r) for _ in range(r.randint(1, 2))]}
    return s, ser(v)[:-3] + r.choice(["}}]", "]}}", "}]"]), v


@kind("array_items_without_brackets", "structure", "josdejong/jsonrepair#147")
def _(r):
    c = build(r, want=["intlist", "str"], extra=(0, 1), tags=("int", "bool"))
    k = c.t[0]
    if list(c.value)[-1] == k:
        return None
    return c.schema, "{" + ", ".join('"%s": %s' % (a, ", ".join(map(str, b)) if a == k else ser(b)) for a, b in c.value.items()) + "}", c.value


@kind("array_comma_object_tail", "structure", "josdejong/jsonrepair#147")
def _(r):
    item, g = r.choice([(ITEM, g_item), (ROOM, g_room)])
    v = [g(r) for _ in range(r.randint(2, 3))]
    return {"type": "array", "items": item}, r.choice(["[%s]},\n%s]", "[%s],\n%s]"]) % (ser(v[0]), ", ".join(map(ser, v[1:]))), v


@kind("objects_in_words_between", "structure", "josdejong/jsonrepair#147")
def _(r):
    item, g = r.choice([(ITEM, g_item), (BOX, g_box)])
    v = [g(r) for _ in range(2)]
    return {"type": "array", "items": item}, "First: %s\nSecond: %s" % tuple(map(ser, v)), v


def cut(name, source, write, want=("str", "int"), **kw):
    sv(name, source, write, want=list(want), **kw)


cut("spread_defaults", JR, lambda r, c: ser({k: v for k, v in c.value.items() if k != c.t[1]})[:-1] + r.choice([", ...defaults}", ", **defaults}", ", ...rest }"]))
cut("shorthand_property", JR, lambda r, c: "{" + ", ".join(k if k == c.t[0] else "%s: %s" % (k, ser(v)) for k, v in c.value.items()) + "}")
cut("variable_value", JR, lambda r, c: ser({**c.value, c.t[1]: Raw(r.choice(["count + 1", "getCount()", "process.env.N", "args[0]", "x * 2", "len(items)", "user.total"]))}))
cut("ellipsis_comment", JR, lambda r, c: ser({c.t[0]: c.value[c.t[0]]}, ind=2)[:-2] + r.choice([",\n  // ... the rest as before\n}", ",\n  # ... other fields\n}", ",\n  /* remaining arguments */\n}"]))
cut("template_value", "timtoole02/Camelid#703", lambda r, c: ser({**c.value, c.t[1]: r.choice(["${count}", "{%s}" % c.t[1], "%d", "{{ steps.one.result }}", "[%s]" % c.t[1].upper(), "<your %s>" % c.t[1], "___", "XXX"])}))
cut("two_values_one_key_text", "anthropics/claude-code#61375", lambda r, c: "<parameter=%s>%s</parameter>\n<parameter=%s>%s</parameter>\n<parameter=%s>%s</parameter>" % (c.t[0], c.value[c.t[0]], c.t[1], c.value[c.t[1]], c.t[1], c.value[c.t[1]] + 3))
cut("alternatives_in_value", "OpenHands/software-agent-sdk#3735", lambda r, c: ser({**c.value, c.t[1]: Raw("%s %s %s" % (c.value[c.t[1]], r.choice(["or", "|", "||", "/", "?:"]), c.value[c.t[1]] + 2))}))
cut("cut_in_nested_call", "ikawrakow/ik_llama.cpp#750", lambda r, c: '{"name": "%s", "arguments": %s' % (c.tool, (lambda t: t[:t.rindex(":") + 1])(ser(last_first(c, c.t[1])))))
cut("cut_in_tag", "GCWing/OpenBitFun#643", lambda r, c: "<tool_call>\n<function=%s>\n<parameter=%s>\n%s\n</parameter>\n<parameter=%s" % (c.tool, c.t[0], c.value[c.t[0]], c.t[1][:-1]))

# ================================================================== null / optional
nullable("null_in_array_for_nullable", "tidyverse/ellmer#929", ["integer", "number", "boolean"], lambda r: [None])
nullable("null_quoted_inside", "PrimeIntellect-ai/renderers#52", ["integer", "number", "boolean"], lambda r: r.choice(["'null'", '"null"', "`null`", "null.", " null "]))
nullable("null_value_object", "samchon/typia#1774", ["integer", "number", "boolean"], lambda r: {"value": None})
nullable("null_token_tail", "livekit/agents#5840", ["integer", "number", "boolean"], lambda r: r.choice(["null<|im_end|>", "null</s>", "None<|eot_id|>"]))
nullable("null_other_languages", JR, ["integer", "number", "boolean"], lambda r: Raw(r.choice(["NIL", "Nil", "nullptr"])))
vague("required_word_of_absence", "null/optional", "exa-labs/exa-mcp-server#202", ("int", "num", "bool", "enum", "date"), lambda r, v, s, c: r.choice(["not specified", "TBD", "unknown", "not provided", "(empty)", "no value", "to be decided", "omit"]))

# ================================================================== nesting
coerce("object_as_query_string", "nesting", "websanova/js-url#65", "obj", lambda r, v, s, c: urllib.parse.urlencode({k: raw(x) for k, x in v.items()}))
coerce("object_as_yaml_text", "nesting", "langchain-ai/langchain#14496", "obj", lambda r, v, s, c: yaml(v))
coerce("object_as_pair_arrays", "nesting", BAML + "test_maps.rs", "obj", lambda r, v, s, c: [[k, x] for k, x in v.items()])
coerce("object_as_single_key_objects", "nesting", BAML + "test_maps.rs", "obj", lambda r, v, s, c: [{k: x} for k, x in v.items()])
coerce("object_string_braces_lost", "nesting", "godwinjk/Json_Parser#18", "obj", lambda r, v, s, c: json.dumps(v)[1:-1])
coerce("object_string_single_quoted_keys", "nesting", "waybarrios/vllm-mlx#63", "obj", lambda r, v, s, c: ser(v, key=sq, st=sq))
coerce("object_in_array_text", "nesting", "langchain-ai/langchain-google#1819", "obj", lambda r, v, s, c: [json.dumps(v)])
coerce("object_keys_title", "nesting", "gridbeario/gridbear#31", "obj", lambda r, v, s, c: {k.replace("_", " ").title(): y for k, y in v.items()})
coerce("object_keys_escaped", "nesting", "HAibiiin/json-repair#35", "obj", lambda r, v, s, c: {k.replace("_", "\\_"): y for k, y in v.items()} if any("_" in k for k in v) else None)
coerce("object_schema_echo", "nesting", "timtoole02/Camelid#703", "obj", lambda r, v, s, c: {"type": "object", "value": v})
coerce("object_values_wrapped", "nesting", "timtoole02/Camelid#703", "obj", lambda r, v, s, c: {k: {"value": y} for k, y in v.items()})
coerce("object_string_python_call", "nesting", SRC, "obj", lambda r, v, s, c: "dict(%s)" % args(v))
coerce("objects_as_python_text", "nesting", "waybarrios/vllm-mlx#63", "objlist", lambda r, v, s, c: [repr(x) for x in v])
coerce("objects_under_items", "nesting", "anomalyco/opencode#35296", "objlist", lambda r, v, s, c: {"items": json.dumps(v)})


@kind("arguments_text_with_damage", "nesting", "ollama/ollama#12413")
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2))
    return c.schema, ser({"name": c.tool, "arguments": r.choice([ser(c.value, tail=","), ser(c.value, key=str), ser(c.value, key=sq, st=sq, lit=PYL)])}), c.value


@kind("every_value_schema_echo", "nesting", "timtoole02/Camelid#703")
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2))
    return c.schema, dumps(r, {k: {"type": c.schema["properties"][k]["type"], "value": x} for k, x in c.value.items()}), c.value


@kind("every_value_wrapped", "nesting", "samchon/typia#1774")
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2))
    return c.schema, dumps(r, {k: {"value": x} for k, x in c.value.items()}), c.value


@kind("every_value_in_array", "nesting", "tidyverse/ellmer#929")
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2))
    return c.schema, dumps(r, {k: [x] for k, x in c.value.items()}), c.value


@kind("nested_object_under_other_name", "nesting", "Kilo-Org/kilocode#3282")
def _(r):
    c = build(r, want=["obj"], extra=(1, 2), closed=True, allreq=True)
    k = c.t[0]
    inner = c.value[k]
    n = list(inner)[-1]
    b = {**c.value, k: {x: y for x, y in inner.items() if x != n}, n: inner[n]}
    return c.schema, dumps(r, b), c.value


@kind("object_for_scalar_of_many", "nesting", "samchon/typia#1774")
def _(r):
    c = build(r, want=[("int", "num")], extra=(1, 2))
    k = c.t[0]
    return c.schema, dumps(r, {**c.value, k: r.choice([{"min": c.value[k], "max": c.value[k] + 4}, {"from": c.value[k], "to": c.value[k] + 2}, {"a": c.value[k], "b": c.value[k] + 1}, {"old": 1, "new": 2}])}), AMB


@kind("object_with_two_spellings", "nesting", GW)
def _(r):
    c = build(r, want=["obj"], extra=(1, 2), closed=True)
    inner = dict(c.value[c.t[0]])
    k = next((x for x in inner if "_" in x and isinstance(inner[x], str)), None)
    if k is None or k == "operator":
        return None
    v = inner.pop(k)
    return c.schema, dumps(r, {**c.value, c.t[0]: {**inner, camel(k): v, k.replace("_", "-"): v + "x"}}), AMB


# ================================================================== traps: everything here is right as it stands
trap("list_of_one_json_text", "langchain-ai/deepagents#119", ["snippets", "lines", "examples"], lambda r: [r.choice(['["a", "b"]', "[1, 2]", '{"a": 1}', "a, b", "- x", "1. y"])], {"type": "array", "items": {"type": "string"}})
trap("wrapper_like_object", "samchon/typia#1774", ["setting", "cell", "metric"], lambda r: {"type": r.choice(["string", "number"]), "value": r.choice(["5", "x", "true"])}, obj({"type": S, "value": S}))
trap("token_text_in_string", "software-mansion-labs/private-mind#342", TXT, lambda r: r.choice(["the <|im_end|> token ends %s", "%s</s>", "<bos>%s", "[INST]%s[/INST]", "<|endoftext|> and %s", "✿FUNCTION✿: %s"]) % r.choice(WORD))
trap("escapes_in_code_string", "mistralai/mistral-vibe#216", ["code", "pattern", "content"], ["a\\_b", "\\frac{1}{2}", "\\boxed{x}", "\\'", "\\x41", "100\\%", "C:\\dir\\", "\\\\n", "print(\"\\n\")"])
trap("notations_in_string", "HAibiiin/json-repair#35", ["content", "template", "body"], ["<a name=\"x\">y</a>", "key -> value", "list(a = 1)", "Map(\"a\" -> 1)", "{{ steps.one.result }}", "${HOME}/x", ":symbol", "(f :a 1)", "%d items", "data: {\"a\": 1}"])
trap("marks_in_string", PK, ["answer", "status_text", "nickname"], ["✓", "[x]", "#t", "T", "N", "Yes.", "!0", "oui", ".true.", "1.0", "**bold**", "`code`"])
trap("grouped_digits_in_string", "dm4t2/vue-currency-input#102", ["amount_text", "phone_number", "iban"], ["1,234", "1.234", "12 345", "1'000", "(5)", "5-", "½", "IV", "5th", "1,23,456", "0x1F", "minus 5"])
trap("string_map_values", "exa-labs/exa-mcp-server#202", ["labels", "env"], lambda r: {k: r.choice(["true", "5", "null", "[1]", "1,2", "None", "yes", "2024-1-5"]) for k in r.sample(WORD, 3)}, {"type": "object", "additionalProperties": {"type": "string"}})
trap("number_or_string_kept", "PrefectHQ/fastmcp#1946", ["ref", "page"], ["5", "five", 5, "0x5", "5.0", "1,234"], {"anyOf": [{"type": "integer"}, {"type": "string"}]})
trap("boolean_or_string_kept", "jgravelle/jcodemunch-mcp#135", ["mode", "cache"], ["true", "false", True, "auto", "no", "1"], {"anyOf": [{"type": "boolean"}, {"type": "string"}]})
trap("array_of_any_kept", "TokenRhythm/opensquilla#1263", ["rows", "cells"], lambda r: r.choice([[["1", 2], [None, "x"]], ["5", 5, True], [[1], [2]], [{"value": 1}], []]), {"type": "array"})


@kind("declared_wrapper_key", "traps", "langchain-ai/langchain-mcp-adapters#566")
def _(r):
    k = r.choice(["kwargs", "request", "payload", "config", "args", "input", "data", "body"])
    c = build(r, want=["str", "int"], extra=(0, 1))
    s = {"type": "object", "properties": {k: c.schema}, "required": [k]}
    return s, dumps(r, {k: c.value}), {k: c.value}


@kind("declared_odd_keys", "traps", "bastani-inc/atomic#1507")
def _(r):
    a, b = r.choice([("file\\_path", "file_path"), ("name?", "name"), ("$ref", "ref"), ("arguments.name", "name"), ("_id", "id"), ("1. step", "step"), ("user_ids", "user_id"), ("a/b", "a_b")])
    s = {"type": "object", "properties": {a: S, b: S}, "required": [r.choice([a, b])], "additionalProperties": False}
    v = {s["required"][0]: r.choice(WORD)}
    return s, dumps(r, v), v


@kind("enum_of_odd_members", "traps", TA)
def _(r):
    vals = r.choice([["[x]", "x"], ["a::b", "b"], [":low", "low"], ["high?", "high"], ["n/a", "none", "null"], ["true.", "true"], ["1,5", "15"], ["low ", "low"], ["a_b", "a-b", "a b"], ["<v>", "v"]])
    v = r.choice(vals)
    c = build(r, extra=(1, 3), add=[("mode_code", {"type": "string", "enum": vals}, v)])
    return c.schema, dumps(r, c.value), c.value


damaged("single_quotes_tricky_string", JR, lambda r, c: ser(c.value, key=sq), TRICKY)
damaged("lfm2_call_tricky_string", VLLM + "test_lfm2_tool_parser.py", lambda r, c: "<|tool_call_start|>[%s(%s)]<|tool_call_end|>" % (c.tool, args(c.value)), TRICKY)
damaged("json_rpc_tricky_string", "microsoft/simplechat#1163", lambda r, c: ser({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": c.tool, "arguments": c.value}}), TRICKY)
damaged("prefix_tricky_string", "josdejong/jsonrepair#147", lambda r, c: "json\n" + ser(c.value, ind=2), TRICKY)
damaged("arrow_pairs_tricky_string", SRC, lambda r, c: "Map(%s)" % ", ".join("%s -> %s" % (js(k), ser(x)) for k, x in c.value.items()), TRICKY)

if __name__ == "__main__":
    assert not FIRST & {name for name, *_ in base.KINDS}, FIRST & {name for name, *_ in base.KINDS}
    base.main()
