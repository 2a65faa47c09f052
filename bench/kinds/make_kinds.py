#!/usr/bin/env python3
"""Held-out set: damaged tool-call arguments, by kind.  Standard library only, seeded, deterministic.

    python3 make_kinds.py            writes heldout.jsonl beside this file, and checks it

One line per case: {"kind","group","source","schema","text","expect":{"value":..}} or {...,"ambiguous":true}.
All texts are written here; the sources cite where a failure of that kind was publicly reported or tested.
"""
import copy, datetime, json, os, random, re, sys, urllib.parse, html as _html

PER_KIND = 20
SEED = "held-out kinds v1"
AMB = object()
HERE = os.path.dirname(os.path.abspath(__file__))

# ------------------------------------------------------------------ pools
CITY = ["Oslo", "Kyoto", "Porto", "Nairobi", "Lima", "New York", "Buenos Aires", "Tallinn", "Hanoi", "Cape Town", "Ghent", "Reykjavik"]
PERSON = ["Mei Lin", "Omar Haddad", "Ingrid Solberg", "Tomas Vega", "Ada Okafor", "Priya Nair", "Lukas Brandt", "Noor Rahman"]
LOGIN = ["mlin", "ohaddad", "isolberg", "tvega", "aokafor", "pnair", "lbrandt", "nrahman"]
WORD = ["alpha", "harbor", "copper", "meadow", "lantern", "orbit", "violet", "granite", "saffron", "timber", "cobalt", "willow", "ember", "quartz"]
TAG = ["backend", "billing", "mobile", "regression", "docs", "security", "onboarding", "search", "infra", "design", "latency", "checkout"]
SENT = ["Printer on floor three is jammed again", "Quarterly review moved to the large room", "Please restock the blue folders",
        "Login page loads slowly on older phones", "Invoice total does not match the order", "New badge reader installed at the north door",
        "Backup job finished without warnings", "Customer asked for a second quote", "Cable tray needs a fresh label",
        "Water the plants near the elevator", "Rotate the signing keys before release", "Battery report missing from the archive"]
SKU = ["BX-1042", "KL-77", "PRT-900", "ZQ-15", "MNT-3301", "AV-8", "HGL-256", "WD-40K"]
EMAIL = ["mei.lin@example.com", "omar@example.org", "ingrid@example.net", "tomas.vega@example.com", "ada@example.org", "priya@example.net"]
URL = ["https://img.example.com/p/8812.png", "https://cdn.example.org/a/photo-17.jpg", "https://files.example.net/scan_003.webp", "https://example.com/static/hero.png"]
PATH = ["/srv/app/config.toml", "/home/dev/notes/todo.md", "/var/log/app/error.log", "src/main.py", "tests/test_api.py", "/opt/data/in.csv"]
AIRPORT = ["OSL", "JFK", "NRT", "LIM", "CPT", "LIS", "HAN", "KEF"]


def date(r):
    return datetime.date(r.randint(2023, 2027), r.randint(1, 12), r.randint(1, 28))


def iso(r):
    return date(r).isoformat()


def iso_dt(r):
    return "%sT%02d:%02d:%02dZ" % (iso(r), r.randint(0, 23), r.choice([0, 15, 30, 45]), r.choice([0, 0, 20]))


def ch(pool):
    return lambda r: r.choice(pool)


def some(pool, lo=2, hi=4):
    return lambda r: r.sample(pool, r.randint(lo, hi))


def F(name, tag, schema, gen):
    return (name, tag, schema, gen)


S = {"type": "string"}
I = {"type": "integer"}
N = {"type": "number"}
B = {"type": "boolean"}


def fs(name, pool): return F(name, "str", S, ch(pool))
def ft(name): return F(name, "text", S, ch(SENT))
def fi(name, lo, hi): return F(name, "int", I, lambda r: r.randint(lo, hi))
def fn(name, lo, hi): return F(name, "num", N, lambda r: round(r.uniform(lo, hi), 2) if True else 0)
def fb(name): return F(name, "bool", B, lambda r: r.random() < .5)
def fe(name, *vals): return F(name, "enum", {"type": "string", "enum": list(vals)}, ch(list(vals)))
def fd(name): return F(name, "date", {"type": "string", "format": "date"}, iso)
def fdt(name): return F(name, "datetime", {"type": "string", "format": "date-time"}, iso_dt)
def fsl(name, pool): return F(name, "strlist", {"type": "array", "items": S}, some(pool))
def fil(name, lo, hi): return F(name, "intlist", {"type": "array", "items": I}, lambda r: sorted(r.sample(range(lo, hi), r.randint(2, 4))))
def fel(name, *vals): return F(name, "enumlist", {"type": "array", "items": {"type": "string", "enum": list(vals)}}, lambda r: r.sample(list(vals), r.randint(2, min(3, len(vals)))))


def obj(props, closed=True, required=None):
    o = {"type": "object", "properties": props, "required": list(props) if required is None else required}
    if closed:
        o["additionalProperties"] = False
    return o


ADDR = obj({"street": S, "city": S, "zip_code": S})
ITEM = obj({"sku": S, "quantity": I, "unit_price": N})
FILT = obj({"field_name": S, "operator": {"type": "string", "enum": ["eq", "lt", "gt", "contains"]}, "threshold": N})
BOX = obj({"left": I, "top": I, "width": I, "height": I})
ROOM = obj({"room_name": S, "floor_number": I, "has_screen": B})
INGR = obj({"ingredient": S, "grams": N, "optional": B})


def g_addr(r): return {"street": "%d %s Street" % (r.randint(1, 200), r.choice(["Birch", "Canal", "Mill", "Station"])), "city": r.choice(CITY), "zip_code": "%05d" % r.randint(10000, 99999)}
def g_item(r): return {"sku": r.choice(SKU), "quantity": r.randint(1, 9), "unit_price": round(r.uniform(1, 90), 2)}
def g_filt(r): return {"field_name": r.choice(WORD), "operator": r.choice(["eq", "lt", "gt", "contains"]), "threshold": round(r.uniform(1, 50), 1)}
def g_box(r): return {"left": r.randint(0, 99), "top": r.randint(0, 99), "width": r.randint(100, 900), "height": r.randint(100, 900)}
def g_room(r): return {"room_name": r.choice(WORD), "floor_number": r.randint(1, 12), "has_screen": r.random() < .5}
def g_ingr(r): return {"ingredient": r.choice(["flour", "butter", "lentils", "paprika"]), "grams": round(r.uniform(5, 400), 1), "optional": r.random() < .5}


def fo(name, sch, g): return F(name, "obj", sch, g)
def fol(name, sch, g): return F(name, "objlist", {"type": "array", "items": sch}, lambda r: [g(r) for _ in range(r.randint(1, 3))])


DOMAINS = {
    "get_weather_forecast": [fs("city_name", CITY), fi("days_ahead", 1, 14), fe("temperature_unit", "celsius", "fahrenheit", "kelvin"), fb("include_hourly"), fn("max_wind_speed", 5, 80), fd("start_date"), fel("alert_types", "storm", "flood", "heat", "frost")],
    "search_flights": [fs("origin_airport", AIRPORT), fd("departure_date"), fi("passenger_count", 1, 8), fe("cabin_class", "economy", "premium_economy", "business", "first"), fb("direct_only"), fn("max_price", 90, 2400), fsl("airline_names", ["Norwind", "Pacifica", "Aerolux", "Skyline"])],
    "create_issue": [ft("issue_title"), fs("assignee_login", LOGIN), fsl("label_names", TAG), fe("priority", "low", "medium", "high", "critical"), fb("is_private"), fi("milestone_number", 1, 60), fd("due_date"), fn("story_points", 1, 13)],
    "send_email": [F("to_addresses", "strlist", {"type": "array", "items": S}, some(EMAIL)), ft("subject_line"), fs("reply_to", EMAIL), fdt("send_at"), fb("is_urgent"), fi("retry_count", 0, 9), fe("body_format", "plain", "html", "markdown")],
    "create_order": [fs("customer_name", PERSON), fol("line_items", ITEM, g_item), fo("shipping_address", ADDR, g_addr), fb("gift_wrap"), fn("discount_amount", 1, 40), fe("payment_method", "card", "invoice", "bank_transfer", "gift_card"), fi("priority_level", 1, 5)],
    "edit_file": [fs("file_path", PATH), fi("start_line", 1, 400), fi("end_line", 401, 900), fe("line_ending", "lf", "crlf", "cr"), fb("create_backup"), ft("commit_message"), fsl("reviewer_logins", LOGIN)],
    "run_query": [fs("table_name", WORD), fsl("column_names", WORD), fi("row_limit", 10, 5000), fe("sort_order", "ascending", "descending"), fo("row_filter", FILT, g_filt), fb("dry_run"), fn("timeout_seconds", .5, 60)],
    "create_event": [ft("event_name"), fdt("start_time"), fi("duration_minutes", 10, 240), F("attendee_emails", "strlist", {"type": "array", "items": S}, some(EMAIL)), fe("recurrence", "daily", "weekly", "monthly", "yearly"), fb("send_invites"), fo("meeting_room", ROOM, g_room), fd("until_date")],
    "update_employee": [fs("employee_name", PERSON), fe("department", "sales", "human_resources", "customer_support", "engineering"), fn("annual_salary", 30000, 150000), fd("hire_date"), fb("is_remote"), fi("manager_id", 100, 999), fsl("skill_tags", TAG)],
    "resize_image": [fs("image_url", URL), fi("target_width", 64, 4096), fi("target_height", 64, 4096), fe("output_format", "jpeg", "png", "webp", "avif"), fb("keep_aspect"), fn("quality_factor", .1, 1), fo("crop_box", BOX, g_box)],
    "set_thermostat": [fs("device_name", WORD), fn("target_temp", 15, 27), fe("fan_mode", "auto", "always_on", "circulate", "off_peak"), fel("schedule_days", "monday", "tuesday", "friday", "sunday"), fb("eco_enabled"), fil("zone_ids", 1, 40), fi("hold_minutes", 10, 600)],
    "web_search": [F("search_query", "text", S, ch(["cheap rain jackets", "how to descale a kettle", "train timetable north line", "rust borrow checker basics", "museum opening hours"])), fi("max_results", 1, 50), fe("safe_search", "strict", "moderate", "disabled"), fsl("site_filters", ["example.com", "example.org", "example.net", "docs.example.com"]), fb("include_images"), fn("min_score", .05, .95), fd("published_after")],
    "update_contact": [fi("contact_id", 1000, 99999), fs("full_name", PERSON), fe("lead_status", "new", "in_progress", "on_hold", "closed_won", "closed_lost"), fsl("tag_names", TAG), fb("opted_in"), fn("deal_value", 100, 90000), fo("home_address", ADDR, g_addr)],
    "deploy_service": [fs("service_name", WORD), fi("replica_count", 1, 20), fe("environment", "staging", "production", "pre_production"), fb("rollback_on_error"), fn("cpu_limit", .25, 8), fsl("region_names", ["north-1", "south-2", "west-4", "east-3"]), fil("port_numbers", 3000, 9000), fdt("not_before")],
    "save_recipe": [F("recipe_name", "text", S, ch(["Lentil soup", "Rye bread", "Plum cake", "Green curry"])), fi("serving_count", 1, 12), fol("ingredient_list", INGR, g_ingr), fb("is_vegan"), fe("difficulty_level", "easy", "moderate", "hard"), fn("oven_temp", 120, 260), fel("meal_types", "breakfast", "lunch", "dinner", "snack")],
    "log_metric": [fs("metric_name", WORD), F("sample_values", "numlist", {"type": "array", "items": N}, lambda r: [round(r.uniform(0, 9), 2) for _ in range(r.randint(2, 4))]), fi("sample_count", 1, 9999), fn("confidence", .5, 1), fe("group_by", "hour", "day", "week", "month"), fb("is_partial"), fdt("recorded_at")],
    "find_books": [fs("author_name", PERSON), fi("publication_year", 1950, 2025), fe("cover_type", "hardcover", "paperback", "ebook"), fb("in_stock"), fn("min_rating", 1, 5), fsl("genre_names", ["poetry", "history", "fantasy", "memoir", "travel"]), fil("shelf_numbers", 1, 80)],
    "create_ticket": [ft("summary_text"), fe("severity", "minor", "major", "blocker"), fi("component_id", 1, 99), fb("notify_team"), fs("reporter_login", LOGIN), fel("affected_platforms", "linux", "windows", "macos", "android"), fd("observed_on"), fn("hours_spent", .5, 12)],
}
SIMPLE = ("str", "int", "num", "bool", "enum", "text")


class Case:
    pass


def build(r, want=(), extra=(1, 3), closed=None, allreq=False, add=(), opt=(), tool=None, tags=SIMPLE):
    """A tool with one field for each tag of `want` (c.t names them), some plain companions, a schema and a valid value."""
    names = [d for d in DOMAINS if tool in (None, d)]
    r.shuffle(names)
    for name in names:
        fields = list(DOMAINS[name])
        r.shuffle(fields)
        picked, ok = [], True
        for tag in want:
            f = next((f for f in fields if f not in picked and f[1] in (tag if isinstance(tag, tuple) else (tag,))), None)
            if f is None:
                ok = False
                break
            picked.append(f)
        if ok:
            break
    else:
        raise ValueError(want)
    c = Case()
    c.tool = name
    c.t = [f[0] for f in picked]
    rest = [f for f in fields if f not in picked and f[1] in tags]
    k = r.randint(*extra)
    fields_used = picked + rest[:k]
    order = [f[0] for f in DOMAINS[name]]
    fields_used.sort(key=lambda f: order.index(f[0]))
    props, value, req = {}, {}, []
    for f in fields_used:
        sch = copy.deepcopy(f[2])
        if r.random() < .25:
            sch["description"] = f[0].replace("_", " ").capitalize()
        props[f[0]] = sch
        target = f[0] in c.t
        optional = (target and c.t.index(f[0]) in opt) or (not target and not allreq and r.random() < .4)
        if not optional:
            req.append(f[0])
        value[f[0]] = f[3](r)
    for (n, sch, v) in add:
        props[n] = copy.deepcopy(sch)
        value[n] = v
        req.append(n)
    c.schema = {"type": "object", "properties": props, "required": req}
    if closed or (closed is None and r.random() < .5):
        c.schema["additionalProperties"] = False
    if r.random() < .3:
        c.schema["title"] = name
    c.value = value
    return c


def nest(r, schema, good, bad, p=.35):
    """With some probability, put the object below another one (good and bad alike)."""
    if r.random() >= p:
        return schema, good, bad
    key = r.choice(["request", "config", "settings", "details"])
    inner = {k: v for k, v in schema.items()}
    if r.random() < .5:
        s = {"type": "object", "properties": {"label": {"type": "string"}, key: inner}, "required": ["label", key]}
        w = r.choice(WORD)
        return s, {"label": w, key: good}, {"label": w, key: bad}
    key = r.choice(["entries", "batch", "records"])
    s = {"type": "object", "properties": {key: {"type": "array", "items": inner}}, "required": [key]}
    return s, {key: [good]}, {key: [bad]}


# ------------------------------------------------------------------ writing
class Raw(str):
    """A token written as it is."""


class Pairs(list):
    """An object as key/value pairs (to repeat a key)."""


def js(s):
    return json.dumps(s, ensure_ascii=False)


def sq(s):
    return "'" + s.replace("\\", "\\\\").replace("'", "\\'") + "'"


def ser(v, ind=None, lvl=0, key=js, st=js, sep=",", col=": ", lit=("true", "false", "null"), wrap=("{", "}"), lst=("[", "]"), tail=""):
    kw = dict(ind=ind, key=key, st=st, sep=sep, col=col, lit=lit, wrap=wrap, lst=lst, tail=tail)
    if isinstance(v, Raw):
        return str(v)
    if v is None:
        return lit[2]
    if v is True:
        return lit[0]
    if v is False:
        return lit[1]
    if isinstance(v, (int, float)):
        return json.dumps(v)
    if isinstance(v, str):
        return st(v)
    pairs = v if isinstance(v, Pairs) else v.items() if isinstance(v, dict) else None
    if pairs is not None:
        parts = [(str(k) if isinstance(k, Raw) else key(k)) + col + ser(x, lvl=lvl + 1, **kw) for k, x in pairs]
        o, c = wrap
    else:
        parts = [ser(x, lvl=lvl + 1, **kw) for x in v]
        o, c = lst
    if not parts:
        return o + c
    if ind is None:
        return o + (sep + " ").join(parts) + tail + c
    pad = "\n" + " " * (ind * (lvl + 1))
    return o + pad + (sep + pad).join(parts) + tail + "\n" + " " * (ind * lvl) + c


def dumps(r, v):
    """JSON in one of the usual layouts; Raw tokens stay."""
    m = r.randint(0, 3)
    if m == 0:
        return ser(v)
    if m == 1:
        return ser(v, ind=2)
    if m == 2:
        return ser(v, ind=4)
    return ser(v, col=":").replace("\u0000", "")


KINDS = []


def kind(name, group, source):
    def deco(f):
        KINDS.append((name, group, source, f))
        return f
    return deco


def coerce(name, group, source, tag, change, p_nest=.35, **kw):
    """A kind: one value of type `tag` is written otherwise; the reading is the value."""
    @kind(name, group, source)
    def f(r):
        c = build(r, want=[tag], **kw)
        t = c.t[0]
        bad = copy.deepcopy(c.value)
        out = change(r, bad[t], c.schema["properties"][t], c)
        if out is None:
            return None
        if isinstance(out, tuple):
            c.value[t], bad[t] = out
        else:
            bad[t] = out
        s, g, b = nest(r, c.schema, c.value, bad, p_nest)
        return s, dumps(r, b), g


def vague(name, group, source, tag, change, p_nest=.35, **kw):
    """A kind: one value is written so that no single reading is clear."""
    @kind(name, group, source)
    def f(r):
        c = build(r, want=[tag], **kw)
        t = c.t[0]
        bad = copy.deepcopy(c.value)
        out = change(r, bad[t], c.schema["properties"][t], c)
        if out is None and not name.startswith("null_"):
            return None
        bad[t] = out
        s, g, b = nest(r, c.schema, c.value, bad, p_nest)
        return s, dumps(r, b), AMB


def whole(name, group, source, write, **kw):
    """A kind: the whole text is written otherwise; the reading is the value."""
    @kind(name, group, source)
    def f(r):
        c = build(r, **kw) if kw else build(r, want=[("str", "text"), ("int", "num")], extra=(1, 3))
        out = write(r, c)
        if out is None:
            return None
        return c.schema, out, c.value


# sources
JR = "https://github.com/josdejong/jsonrepair/blob/main/src/index.test.ts"
PY = "https://github.com/mangiucugna/json_repair/blob/main/tests/"
BAML = "https://github.com/BoundaryML/baml/blob/canary/engine/baml-lib/jsonish/src/tests/"
VLLM = "https://github.com/vllm-project/vllm/blob/main/tests/tool_parsers/"
PYD = "https://docs.pydantic.dev/latest/concepts/conversion_table/"
TYPIA = "samchon/typia#1774"

# ================================================================== envelopes
INTRO = ["Here is the call:", "Sure, I will use the tool with these arguments:", "Okay. The arguments are as follows:", "I'll look that up now.", "Final answer:"]
OUTRO = ["Let me know if you need anything else.", "This should do what you asked for.", "I hope this helps!", "Waiting for the result."]
THINK = ["The user wants this done quickly. I should call the tool once.", "Let me see which parameters are needed and fill them in.", "First check the request, then write the JSON."]


def env(name, source, wrap, **kw):
    @kind(name, "envelopes", source)
    def f(r):
        c = build(r, **dict(dict(extra=(2, 4), tags=SIMPLE + ("strlist", "obj")), **kw))
        out = wrap(r, c, dumps(r, c.value))
        return None if out is None else (c.schema, out, c.value)


env("fence_json", "langchain-ai/langchain#19646", lambda r, c, t: "```json\n%s\n```" % t)
env("fence_plain", JR, lambda r, c, t: "%s\n%s\n```" % (r.choice(["```", "```JSON", "``` json", "```json5", "```javascript"]), t))
env("fence_with_prose", "misospace/pr-reviewer-action#449", lambda r, c, t: "%s\n\n```json\n%s\n```\n\n%s" % (r.choice(INTRO), t, r.choice(OUTRO)))
env("fence_unclosed", JR, lambda r, c, t: r.choice(["```json\n%s", "```json\n%s\n", "%s\n```"]) % t)
env("prose_before", "remyxai/outrider#110", lambda r, c, t: "%s\n%s" % (r.choice(INTRO), t))
env("prose_after_with_citation", "langgenius/dify#42451", lambda r, c, t: "%s\n\n%s" % (t, r.choice(["References: [1]", "See [docs] for more.", "Note: values were taken from the request [2].", "(Source: user message)"])))
env("think_block", "langchain-ai/langchain#32120", lambda r, c, t: "<think>\n%s\n</think>\n\n%s" % (r.choice(THINK), t))
env("think_close_only", "THU-MAIC/OpenMAIC#750", lambda r, c, t: "%s\n</think>\n\n%s" % (r.choice(THINK), t))


@kind("think_draft_object", "envelopes", "HKUDS/DeepTutor#675")
def _(r):
    c = build(r, want=["int"], extra=(1, 2), allreq=True)
    d = copy.deepcopy(c.value)
    d[c.t[0]] += r.randint(1, 9)
    return c.schema, "<think>Maybe %s, no, that number is off.</think>\n%s" % (ser(d), dumps(r, c.value)), c.value


env("name_arguments", "ollama/ollama#17486", lambda r, c, t: ser({"name": c.tool, "arguments": c.value}, ind=r.choice([None, 2])))
env("name_parameters", "ahwurm/localharness#104", lambda r, c, t: ser({"name": c.tool, "parameters": c.value}, ind=r.choice([None, 2])))
env("type_name_parameters", "vllm-project/vllm#46863", lambda r, c, t: ser({"type": "function", "name": c.tool, "parameters": c.value}))
env("arguments_only_wrapper", "Kilo-Org/kilocode#3282", lambda r, c, t: ser({r.choice(["arguments", "args", "parameters", "input", "params"]): c.value}, ind=r.choice([None, 2])))
env("arguments_twice", "ollama/ollama#11805", lambda r, c, t: ser({"arguments": {"arguments": c.value}}) if r.random() < .5 else ser({"name": c.tool, "arguments": {"name": c.tool, "arguments": c.value}}))
env("properties_wrapper", "cloudwego/eino#385", lambda r, c, t: ser({"properties": c.value} if r.random() < .6 else {"type": "object", "properties": c.value}, ind=r.choice([None, 2])))
env("arguments_as_string", "ollama/ollama#12413", lambda r, c, t: ser({"name": c.tool, r.choice(["arguments", "parameters"]): json.dumps(c.value)}))
env("openai_function", VLLM + "test_openai_tool_parser.py", lambda r, c, t: ser({"type": "function", "function": {"name": c.tool, "arguments": json.dumps(c.value) if r.random() < .6 else c.value}}))
env("openai_tool_calls", "lobehub/lobehub#13817", lambda r, c, t: ser({"tool_calls": [{"id": "call_%06d" % r.randint(0, 999999), "type": "function", "function": {"name": c.tool, "arguments": json.dumps(c.value)}}]}))
env("tool_use_block", "MiniMax-AI/MiniMax-M2.5#10", lambda r, c, t: ser({"type": "tool_use", "id": "toolu_%05d" % r.randint(0, 99999), "name": c.tool, "input": c.value}))
env("tool_name_key", "langgenius/dify#24819", lambda r, c, t: ser({c.tool: c.value}))
env("hermes_tag", "openvinotoolkit/model_server#3838", lambda r, c, t: "<tool_call>\n%s\n</tool_call>" % ser({"name": c.tool, "arguments": c.value}))
env("hermes_tail_left", "openvinotoolkit/model_server#3838", lambda r, c, t: "%s\n</tool_call>" % t)
env("mistral_args", "ml-explore/mlx-lm#1374", lambda r, c, t: "[TOOL_CALLS]%s[ARGS]%s" % (c.tool, ser(c.value)))
env("mistral_list", "ml-explore/mlx-lm#1394", lambda r, c, t: "[TOOL_CALLS] [%s]" % ser({"name": c.tool, "arguments": c.value}))
env("kimi_tokens", "typeclaw/typeclaw#344", lambda r, c, t: ("<|tool_calls_section_begin|><|tool_call_begin|>functions.%s:0<|tool_call_argument_begin|>%s<|tool_call_end|><|tool_calls_section_end|>" if r.random() < .5 else "functions.%s:0<|tool_call_argument_begin|>%s<|tool_call_end|>") % (c.tool, ser(c.value)))
env("harmony", "lmstudio-ai/lmstudio-bug-tracker#942", lambda r, c, t: r.choice(["<|start|>assistant<|channel|>commentary to=functions.%s<|constrain|>json<|message|>%s", "<|channel|>commentary to=functions.%s <|constrain|>json<|message|>%s<|call|>", "commentary to=functions.%s json%s"]) % (c.tool, ser(c.value)))
env("python_tag", VLLM + "test_llama3_json_tool_parser.py", lambda r, c, t: "<|python_tag|>%s%s" % (ser({"name": c.tool, "parameters": c.value}), r.choice(["", "<|eom_id|>", "<|eot_id|>"])))
env("function_eq_tag", VLLM + "test_phi4mini_tool_parser.py", lambda r, c, t: "<function=%s>%s</function>" % (c.tool, ser(c.value)))
env("deepseek_tokens", VLLM + "test_deepseekv3_tool_parser.py", lambda r, c, t: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>%s\n```json\n%s\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>" % (c.tool, t))
env("react_action", "FlowiseAI/Flowise#1879", lambda r, c, t: "Thought: %s\nAction: %s\nAction Input: %s%s" % (r.choice(THINK), c.tool, ser(c.value), r.choice(["", "\nObservation:"])))
env("call_with_object", JR, lambda r, c, t: r.choice(["%s(%s)", "%s(%s);", "await %s(%s);", "[Calling tool: %s(%s)]"]) % (c.tool, ser(c.value)))
env("assignment", PY + "test_json_repair.py", lambda r, c, t: r.choice(["const args = %s;", "args = %s", "return %s;", "let params = %s;", "arguments: %s", "input = %s"]) % t)
env("one_element_array", "tidyverse/ellmer#929", lambda r, c, t: "[%s]" % t, closed=True)


@kind("two_different_calls", "envelopes", "BerriAI/litellm#40582")
def _(r):
    c = build(r, want=["int", "str"], extra=(0, 2), allreq=True)
    d = copy.deepcopy(c.value)
    d[c.t[0]] += r.randint(1, 5)
    a, b = ({"name": c.tool, "arguments": x} for x in (c.value, d))
    t = r.choice(["<tool_call>%s</tool_call>\n<tool_call>%s</tool_call>", "[%s, %s]", "%s\n%s"]) % (ser(a), ser(b))
    return c.schema, t, AMB


@kind("schema_echoed", "envelopes", "timtoole02/Camelid#703")
def _(r):
    c = build(r, want=["str", "int"], extra=(0, 2), closed=True)
    return c.schema, dumps(r, c.schema), AMB


@kind("prose_only", "envelopes", "misospace/pr-reviewer-action#449")
def _(r):
    c = build(r, want=["str", "int"], extra=(0, 2))
    return c.schema, "%s %s" % (r.choice(INTRO[:4]), r.choice(["I do not have enough details to call the tool.", "Could you tell me which one you mean?", "I cannot do that without more information."])), AMB


# ================================================================== keys
def camel(k): return re.sub(r"_(\w)", lambda m: m.group(1).upper(), k)
def pascal(k): return k.title().replace("_", "")


def rekey(name, source, to, group="keys", want=None):
    @kind(name, group, source)
    def f(r):
        c = build(r, want=want or [("str", "int", "enum"), ("int", "bool", "num")], extra=(1, 2), closed=True)
        ks = [k for k in c.t if "_" in k] or [None]
        if ks == [None]:
            return None
        pick = set(k for k in c.value if "_" in k) if r.random() < .5 else {r.choice(ks)}
        bad = {(to(r, k) if k in pick else k): v for k, v in c.value.items()}
        if list(bad) == list(c.value) or len(bad) != len(c.value):
            return None
        s, g, b = nest(r, c.schema, c.value, bad, .3)
        return s, dumps(r, b), g


rekey("camel_for_snake", "taylorwilsdon/google_workspace_mcp#921", lambda r, k: camel(k))
rekey("kebab_for_snake", "taylorwilsdon/google_workspace_mcp#921", lambda r, k: k.replace("_", "-"))
rekey("pascal_for_snake", "gridbeario/gridbear#31", lambda r, k: pascal(k))
rekey("spaced_key", "ollama/ollama#18390", lambda r, k: k.replace("_", " "))
rekey("title_case_key", "gridbeario/gridbear#31", lambda r, k: k.replace("_", " ").title())
rekey("upper_key", "gridbeario/gridbear#31", lambda r, k: k.upper())
rekey("joined_key", "Azure/azure-sdk-for-js#28673", lambda r, k: k.replace("_", ""))
rekey("key_trailing_space", "vllm-project/vllm#54971", lambda r, k: r.choice([k + " ", " " + k, k + "\n", "\t" + k]))
rekey("key_trailing_colon", "vllm-project/vllm#54971", lambda r, k: k + r.choice([":", " :", "="]))
rekey("key_quoted_inside", "jundot/omlx#1854", lambda r, k: r.choice(["'%s'", '"%s"', "`%s`"]) % k)
rekey("key_markup_leak", "vllm-project/vllm#54971", lambda r, k: r.choice(["%s</arg_key>", "<arg_key>%s", "%s>", "</arg_key>%s"]) % k)
rekey("key_dashes", "EleutherAI/lm-evaluation-harness#4144", lambda r, k: r.choice(["--%s", "-%s", "$%s", "@%s"]) % k)
rekey("key_zero_width", JR, lambda r, k: r.choice(["\u200b%s", "%s\u200b", "\ufeff%s", "\u00a0%s"]) % k)
rekey("key_markdown_bold", BAML + "test_class.rs", lambda r, k: r.choice(["**%s**", "*%s*", "__%s__"]) % k)
rekey("typo_key", "netclaw-dev/netclaw#1398", lambda r, k: (lambda i: k[:i] + k[i + 1:] if r.random() < .5 else k[:i] + k[i] + k[i:])(r.randint(2, len(k) - 2)) if len(k) > 7 else k)


@kind("snake_for_camel", "keys", "grafana/mcp-grafana#641")
def _(r):
    c = build(r, want=[("str", "int"), ("bool", "num", "enum")], extra=(1, 2), closed=True)
    sch = copy.deepcopy(c.schema)
    sch["properties"] = {camel(k): v for k, v in sch["properties"].items()}
    sch["required"] = [camel(k) for k in sch["required"]]
    good = {camel(k): v for k, v in c.value.items()}
    if list(good) == list(c.value):
        return None
    s, g, b = nest(r, sch, good, c.value, .3)
    return s, dumps(r, b), g


@kind("unquoted_keys", "keys", "tinyhumansai/tinyagents#68")
def _(r):
    c = build(r, extra=(2, 4), tags=SIMPLE + ("obj", "strlist"))
    return c.schema, ser(c.value, ind=r.choice([None, 2]), key=str), c.value


@kind("single_quoted_keys", "keys", JR)
def _(r):
    c = build(r, extra=(2, 4), tags=SIMPLE + ("obj", "strlist"))
    return c.schema, ser(c.value, ind=r.choice([None, 2]), key=sq), c.value


@kind("key_missing_quote", "keys", JR)
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2))
    side = r.random() < .5
    hurt = r.choice(list(c.value)[1:])
    return c.schema, ser(c.value, key=lambda k: (k + '"' if side else '"' + k) if k == hurt else js(k)), c.value


@kind("singular_for_plural_key", "keys", "Miso2233/SonettoHere#319")
def _(r):
    c = build(r, want=["strlist"], extra=(1, 2), closed=True)
    k = c.t[0]
    if not k.endswith("s") or k.endswith("ses"):
        return None
    return c.schema, dumps(r, {(x[:-1] if x == k else x): v for x, v in c.value.items()}), c.value


@kind("two_spellings_differ", "keys", "taylorwilsdon/google_workspace_mcp#921")
def _(r):
    c = build(r, want=["int"], extra=(1, 2), closed=True, allreq=True)
    k = c.t[0]
    bad = {x: v for x, v in c.value.items() if x != k}
    bad[camel(k)] = c.value[k]
    bad[k.replace("_", "-")] = c.value[k] + r.randint(1, 5)
    return c.schema, dumps(r, bad), AMB


@kind("same_key_twice_differs", "keys", VLLM + "test_hy_v4_duplicate_arg_key.py")
def _(r):
    c = build(r, want=["int"], extra=(1, 2), closed=True, allreq=True)
    k = c.t[0]
    p = Pairs(c.value.items())
    p.append((k, c.value[k] + r.randint(1, 9)))
    return c.schema, dumps(r, p), AMB


SYN = {"city_name": ["location", "place", "ciudad"], "max_results": ["limit", "count", "top_k"], "file_path": ["filename", "target", "source"], "passenger_count": ["travelers", "seats"],
       "employee_name": ["person", "staff"], "image_url": ["source", "picture"], "search_query": ["text", "q", "keywords"], "replica_count": ["instances", "size"], "device_name": ["target", "thermostat"],
       "author_name": ["writer", "by"], "table_name": ["source", "dataset"], "row_limit": ["top", "first"], "service_name": ["app", "workload"], "metric_name": ["measure", "series"], "contact_id": ["person", "record"],
       "origin_airport": ["start", "departing"], "issue_title": ["headline", "about"], "event_name": ["what", "headline"]}


@kind("synonym_key", "keys", "netclaw-dev/netclaw#1398")
def _(r):
    c = build(r, want=[("str", "text", "int")], extra=(1, 2), closed=True, allreq=True)
    k = c.t[0]
    if k not in SYN:
        return None
    alt = r.choice(SYN[k])
    # another required field is missing as well, so the stray key could stand for either
    other = next((x for x in c.value if x != k), None)
    bad = {(alt if x == k else x): v for x, v in c.value.items() if x != other}
    return c.schema, dumps(r, bad), AMB


@kind("typo_between_two", "keys", "taylorwilsdon/google_workspace_mcp#921")
def _(r):
    a, b, w = r.choice([("port_a", "port_b", "port_"), ("start_row", "start_col", "start_"), ("source_id", "source_ip", "source_i"), ("width_px", "width_pt", "width_p"), ("from_id", "form_id", "frm_id"), ("page_min", "page_max", "page_m"), ("user_idx", "user_ids", "user_id"), ("line_1", "line_2", "line_")])
    s = obj({a: I, b: I, "label": S}, required=["label"])
    s["anyOf"] = [{"required": [a]}, {"required": [b]}]
    return s, dumps(r, {w: r.randint(1, 9999), "label": r.choice(WORD)}), AMB


@kind("extra_meaningful_key", "keys", "netclaw-dev/netclaw#1398")
def _(r):
    c = build(r, want=["str"], extra=(1, 2), closed=True, allreq=True)
    k, v = r.choice([("simulate_only", True), ("exclude", ["harbor"]), ("not_after", "2027-01-01"), ("only_if_missing", True), ("scope", "team"), ("on_behalf_of", "omar")])
    bad = dict(c.value)
    bad[k] = v
    return c.schema, dumps(r, bad), AMB


# ================================================================== lists
def first_item(r, v, s, c):
    x = r.choice(v)
    return [x], x


def as_one(v): return lambda r, x, s, c: (v([x[0]]), x[0])


coerce("scalar_for_string_list", "lists", "NousResearch/hermes-agent#84063", "strlist", first_item, closed=True)
coerce("scalar_for_int_list", "lists", "anthropics/claude-code#73137", "intlist", first_item)
coerce("scalar_for_enum_list", "lists", "Miso2233/SonettoHere#319", "enumlist", first_item)
coerce("object_for_object_list", "lists", "Miso2233/SonettoHere#319", "objlist", first_item)
coerce("json_string_for_list", "lists", "anthropics/claude-code#22394", ("strlist", "intlist", "enumlist", "objlist"), lambda r, v, s, c: json.dumps(v))
coerce("python_string_for_list", "lists", "waybarrios/vllm-mlx#63", ("strlist", "intlist", "enumlist"), lambda r, v, s, c: repr(v))
coerce("comma_string_for_ints", "lists", "emcie-co/parlant#433", "intlist", lambda r, v, s, c: r.choice([", ", ",", " , "]).join(map(str, v)))
coerce("semicolon_string_for_ints", "lists", "emcie-co/parlant#433", "intlist", lambda r, v, s, c: r.choice(["; ", ";", " | ", "|"]).join(map(str, v)))
coerce("space_string_for_ints", "lists", "emcie-co/parlant#433", "intlist", lambda r, v, s, c: r.choice([" ", "\n"]).join(map(str, v)))
coerce("comma_string_for_enums", "lists", "emcie-co/parlant#433", "enumlist", lambda r, v, s, c: r.choice([", ", ","]).join(v))
coerce("comma_and_string_for_enums", "lists", "emcie-co/parlant#433", "enumlist", lambda r, v, s, c: ", ".join(v[:-1]) + r.choice([" and ", " & "]) + v[-1])
coerce("quoted_comma_string", "lists", "emcie-co/parlant#433", ("strlist", "enumlist"), lambda r, v, s, c: r.choice([", ", ","]).join((sq if r.random() < .5 else js)(x) for x in v))
coerce("bullet_string_for_list", "lists", BAML + "test_lists.rs", ("strlist", "enumlist"), lambda r, v, s, c: "\n".join(m + " " + x for m in [r.choice("-*•")] for x in v))
coerce("numbered_string_for_list", "lists", BAML + "test_lists.rs", ("strlist", "enumlist"), lambda r, v, s, c: "\n".join("%d%s %s" % (i + 1, m, x) for m in [r.choice([".", ")"])] for i, x in enumerate(v)))
coerce("item_wrapper", "lists", "anomalyco/opencode#35296", ("strlist", "intlist", "objlist"), lambda r, v, s, c: {r.choice(["item", "items"]): v})
coerce("index_keys", "lists", "anomalyco/opencode#35405", ("strlist", "intlist", "objlist"), lambda r, v, s, c: {str(i): x for i, x in enumerate(v)} if len(v) > 1 else None)
coerce("nested_once_too_deep", "lists", "anomalyco/opencode#35296", ("strlist", "intlist", "enumlist"), lambda r, v, s, c: [v])
coerce("array_for_scalar", "lists", "tidyverse/ellmer#929", ("str", "int", "num", "enum", "text"), lambda r, v, s, c: [v])
coerce("array_for_object", "lists", BAML + "test_class.rs", "obj", lambda r, v, s, c: [v])
coerce("numbers_as_strings_in_list", "lists", "awakenworks/awaken#38", ("intlist", "numlist"), lambda r, v, s, c: [str(x) for x in v])
coerce("tuple_for_list", "lists", PY + "test_parse_array.py", ("intlist", "strlist"), lambda r, v, s, c: Raw("(" + ", ".join(map(js, v)) + ")"))
coerce("set_for_list", "lists", PY + "test_schema_repairer.py", ("intlist", "strlist"), lambda r, v, s, c: Raw("{" + ", ".join(map(js, v)) + "}") if len(v) > 1 else None)
coerce("bare_words_in_list", "lists", "osaurus-ai/vmlx-swift#179", ("enumlist", "strlist"), lambda r, v, s, c: Raw("[" + ", ".join(v) + "]") if all(re.match(r"[a-z][a-z-]*$", x) for x in v) else None)
coerce("bracket_text_of_words", "lists", "osaurus-ai/vmlx-swift#179", "enumlist", lambda r, v, s, c: "[" + ", ".join(v) + "]")


@kind("comma_string_pattern_items", "lists", "emcie-co/parlant#433")
def _(r):
    pools = [("currencies", "^[A-Z]{3}$", ["EUR", "USD", "GBP", "JPY", "SEK"]), ("hex_colors", "^#[0-9a-f]{6}$", ["#ff0044", "#00aa11", "#123abc", "#fefefe"]), ("commit_ids", "^[0-9a-f]{8}$", ["a1b2c3d4", "00ff00ff", "deadbeef", "12345678"]), ("skus", "^[A-Z]{2,3}-[0-9]+$", ["BX-1042", "KL-77", "PRT-900"])]
    n, p, pool = r.choice(pools)
    v = r.sample(pool, r.randint(2, 3))
    c = build(r, extra=(1, 3), add=[(n, {"type": "array", "items": {"type": "string", "pattern": p}}, v)])
    bad = dict(c.value)
    bad[n] = r.choice([", ", ","]).join(v)
    s, g, b = nest(r, c.schema, c.value, bad)
    return s, dumps(r, b), g


vague("comma_in_free_text_list", "lists", "dojot/dojot#1764", "strlist", lambda r, v, s, c: r.choice(["Solberg, Ingrid", "Paris, France", "Haddad, Omar and Vega, Tomas", "Acme, Inc.", "Salt, pepper, to taste", "Lin, Mei; Okafor, Ada", "Portland, Oregon", "Brandt, Lukas", "Smith, Jones and Partners", "Springfield, Illinois, USA"]))
vague("several_for_scalar", "lists", "OpenHands/software-agent-sdk#3735", ("str", "int", "enum"), lambda r, v, s, c: [v, next(x for x in ([v + 1, v + 2] if isinstance(v, int) else s.get("enum") or WORD + CITY) if x != v)])
vague("range_for_ints", "lists", PY + "test_parse_number.py", "intlist", lambda r, v, s, c: r.choice(["%d-%d", "%d to %d", "%d..%d", "%d–%d"]) % (v[0], v[-1] + 3))
vague("all_for_enum_list", "lists", "ralphgrewe/TradingAgents#174", "enumlist", lambda r, v, s, c: r.choice(["all", "any", "*", "everything", ["all"], "the usual ones", "none of them", "some", "weekend ones", ["*"]]))
vague("null_in_list", "lists", "apache/seatunnel#12194", ("strlist", "intlist", "enumlist"), lambda r, v, s, c: v[:1] + [None] + v[1:])
vague("elided_list", "lists", JR, ("intlist", "strlist"), lambda r, v, s, c: Raw("[" + ", ".join(map(js, v)) + r.choice([", ...]", ", …]", ", ... ]"])))

# ================================================================== enums
E = "enum"


def words(v): return [w for w in re.split(r"[_\- ]", v) if w]


coerce("enum_case", "enums", "margince/margince#417", E, lambda r, v, s, c: r.choice([v.upper(), v.capitalize(), v.title()]))
coerce("enum_spaces", "enums", BAML + "test_enum.rs", E, lambda r, v, s, c: r.choice([v.replace("_", " "), v.replace("_", " ").title()]) if "_" in v else None)
coerce("enum_hyphen", "enums", "ralphgrewe/TradingAgents#174", E, lambda r, v, s, c: v.replace("_", "-") if "_" in v else None)
coerce("enum_camel", "enums", "comigor/artemis#152", E, lambda r, v, s, c: r.choice([camel(v), pascal(v), v.replace("_", "")]) if "_" in v else None)
coerce("enum_space_around", "enums", BAML + "test_enum.rs", E, lambda r, v, s, c: r.choice([" %s", "%s ", "%s\n", "\n%s\n", "\t%s"]) % v)
coerce("enum_punctuation", "enums", BAML + "test_enum.rs", E, lambda r, v, s, c: v + r.choice([".", "!", ";", ","]))
coerce("enum_quoted_inside", "enums", BAML + "test_enum.rs", E, lambda r, v, s, c: r.choice(["'%s'", '"%s"', "`%s`", "“%s”"]) % v)
coerce("enum_markdown", "enums", BAML + "test_enum.rs", E, lambda r, v, s, c: r.choice(["**%s**", "*%s*", "**%s**."]) % v)
coerce("enum_in_array", "enums", BAML + "test_enum.rs", E, lambda r, v, s, c: [v])
coerce("enum_class_prefix", "enums", "ralphgrewe/TradingAgents#174", E, lambda r, v, s, c: "%s.%s" % (pascal(c.t[0]), r.choice([v.upper(), v])))
coerce("enum_python_repr", "enums", "ralphgrewe/TradingAgents#174", E, lambda r, v, s, c: "<%s.%s: '%s'>" % (pascal(c.t[0]), v.upper(), v))
coerce("enum_bare_word", "enums", "mdegans/drama_llama#115", E, lambda r, v, s, c: Raw(v))
coerce("enum_explained", "enums", BAML + "test_enum.rs", E, lambda r, v, s, c: r.choice(["%s (as asked by the user)", "%s - chosen by the caller", "%s: this is what was asked for", "%s (see the request)"]) % v)
coerce("enum_object_wrapped", "enums", "samchon/typia#1774", E, lambda r, v, s, c: {r.choice(["value", "enum", "const"]): v})
coerce("enum_typo", "enums", "ralphgrewe/TradingAgents#174", E, lambda r, v, s, c: (lambda i: v[:i] + v[i + 1:])(r.randint(2, len(v) - 2)) if len(v) >= 7 else None)


def enum_add(name, source, rows, amb=False):
    """rows: (field, schema, good, bad)"""
    @kind(name, "enums", source)
    def f(r):
        field, sch, good, bad = r.choice(rows)
        c = build(r, extra=(1, 3), add=[(field, sch, good)])
        b = dict(c.value)
        b[field] = bad
        s, g, b = nest(r, c.schema, c.value, b)
        return s, dumps(r, b), AMB if amb else g


def en(*v): return {"enum": list(v)} if not all(isinstance(x, str) for x in v) else {"type": "string", "enum": list(v)}


enum_add("enum_number_as_string", "earendil-works/pi#783", [("log_level", en(10, 20, 30, 40), x, str(x)) for x in (10, 20, 30, 40)] + [("plan_tier", {"type": "integer", "enum": [1, 2, 3]}, x, str(x)) for x in (1, 2, 3)] + [("ratio", en(0.5, 1, 2), 0.5, "0.5")])
enum_add("enum_string_as_number", "lablup/mlxcel#1575", [("model_year", en("2023", "2024", "2025"), str(x), x) for x in (2023, 2024, 2025)] + [("api_version", en("1", "2", "3"), str(x), x) for x in (1, 2, 3)] + [("protocol", en("1.1", "2.5"), "2.5", 2.5)])
enum_add("enum_string_as_boolean", "samchon/typia#1774", [("cache_mode", en("true", "false", "auto"), "true", True), ("cache_mode", en("true", "false", "auto"), "false", False), ("strictness", en("false", "true"), "true", True), ("strictness", en("false", "true"), "false", False)])
enum_add("enum_plural", "basisproject/tracker#35", [("time_unit", en("second", "minute", "hour", "day", "week"), x, x + "s") for x in ("second", "minute", "hour", "day", "week")] + [("mass_unit", en("gram", "ounce", "pound"), x, x + "s") for x in ("gram", "ounce", "pound")])
enum_add("const_other_case", BAML + "test_literals.rs", [("kind", {"const": "refund"}, "refund", x) for x in ("Refund", "REFUND", " refund")] + [("api_version", {"const": "v2"}, "v2", x) for x in ("V2", "v2 ")] + [("op", {"const": "append_row"}, "append_row", x) for x in ("append-row", "APPEND_ROW", "appendRow")])
PRI = en("low", "medium", "high")
enum_add("enum_two_members", BAML + "test_enum.rs", [("urgency", PRI, "low", x) for x in ("low or medium", "medium/high", "low, high", "medium-high", "high | low", "between low and medium")] + [("unit", en("celsius", "fahrenheit"), "celsius", x) for x in ("celsius or fahrenheit", "celsius/fahrenheit")], amb=True)
enum_add("enum_unknown_word", "ralphgrewe/TradingAgents#174", [("urgency", PRI, "low", x) for x in ("urgent", "normal", "asap", "critical", "3")] + [("unit", en("celsius", "fahrenheit"), "celsius", x) for x in ("metric", "C or so", "kelvin")] + [("status", en("open", "closed"), "open", x) for x in ("resolved", "reopened", "pending")], amb=True)
enum_add("enum_prefix_of_two", BAML + "test_enum.rs", [("status", en("pending", "paused", "closed"), "pending", x) for x in ("p", "P", "pa/pe")] + [("plan", en("pro_monthly", "pro_yearly", "free"), "free", x) for x in ("pro", "Pro", "pro plan")] + [("action", en("archive", "archive_all", "arch"), "arch", "archiv")][:0] + [("zone", en("north_east", "north_west", "south"), "south", x) for x in ("north", "North", "n")], amb=True)
enum_add("enum_negated", BAML + "test_enum.rs", [("urgency", PRI, "low", x) for x in ("not high", "anything but low", "not low", "no longer medium", "lower than high")] + [("status", en("open", "closed"), "open", x) for x in ("not closed", "not open", "never closed")], amb=True)
enum_add("enum_index", "FuelLabs/fuels-ts#2486", [("urgency", PRI, "low", x) for x in (0, 1, 2)] + [("unit", en("celsius", "fahrenheit"), "celsius", x) for x in (0, 1)] + [("mode", en("read", "write", "append"), "read", x) for x in (1, 2)], amb=True)
enum_add("enum_case_collision", "comigor/artemis#152", [("currency_style", en("PT", "pt"), "pt", "Pt"), ("size_code", en("XL", "xl", "M"), "xl", "Xl"), ("unit_symbol", en("MB", "mb", "Gb"), "mb", "Mb"), ("lang", en("NO", "no"), "no", "No"), ("grade", en("AA", "aa"), "aa", "aA"), ("unit_symbol", en("MB", "mb", "Gb"), "mb", "mB")], amb=True)

# ================================================================== numbers
NUM = ("int", "num")
coerce("int_as_string", "numbers", "earendil-works/pi#783", "int", lambda r, v, s, c: str(v))
coerce("float_as_string", "numbers", "NousResearch/hermes-agent#5265", "num", lambda r, v, s, c: str(v))
coerce("number_padded_string", "numbers", "QwenLM/qwen-code#4967", NUM, lambda r, v, s, c: r.choice([" %s", "%s ", "\n%s\n", "\t%s"]) % v)
coerce("integral_float_string", "numbers", "agentforce314/clawcodex#315", "int", lambda r, v, s, c: "%d.%s" % (v, r.choice(["0", "00"])))
coerce("thousands_comma_integer", "numbers", BAML + "test_basics.rs", "int", lambda r, v, s, c: (lambda x: (x, format(x, ",")))(r.choice([r.randint(10000, 99999), r.randint(10 ** 6, 10 ** 8)])))
coerce("thousands_comma_decimal", "numbers", BAML + "test_basics.rs", "num", lambda r, v, s, c: (lambda x: (x, format(x, ",.2f")))(round(r.uniform(1000, 9 * 10 ** 6), 1) + .05))
coerce("thousands_comma_bare", "numbers", BAML + "test_basics.rs", "int", lambda r, v, s, c: (lambda x: (x, Raw(format(x, ","))))(r.randint(10 ** 6, 10 ** 8)))
coerce("german_decimal", "numbers", BAML + "test_basics.rs", "num", lambda r, v, s, c: (lambda x: (x, format(x, ",.2f").translate(str.maketrans(",.", ".,"))))(round(r.uniform(1000, 9 * 10 ** 6), 1) + .05))
coerce("thousands_space", "numbers", "cryptosharks131/lndg#436", "int", lambda r, v, s, c: (lambda x: (x, format(x, ",").replace(",", r.choice([" ", "\u00a0", "\u202f", "\u2009"]))))(r.randint(10000, 10 ** 8)))
coerce("thousands_apostrophe", "numbers", "cryptosharks131/lndg#436", "int", lambda r, v, s, c: (lambda x: (x, format(x, ",").replace(",", "'")))(r.randint(10 ** 6, 10 ** 8)))
coerce("underscore_bare", "numbers", PY + "test_parse_number.py", "int", lambda r, v, s, c: (lambda x: (x, Raw(format(x, "_"))))(r.randint(1000, 10 ** 8)))
coerce("underscore_string", "numbers", PY + "test_parse_number.py", "int", lambda r, v, s, c: (lambda x: (x, format(x, "_")))(r.randint(1000, 10 ** 8)))
coerce("leading_plus", "numbers", "https://spec.json5.org/ (numbers)", NUM, lambda r, v, s, c: r.choice([Raw("+%s" % v), "+%s" % v]))
coerce("leading_dot", "numbers", JR, "num", lambda r, v, s, c: (lambda x: (x, Raw(str(x)[1:]) if r.random() < .6 else str(x)[1:]))(r.randint(1, 99) / 100))
coerce("trailing_dot", "numbers", JR, "int", lambda r, v, s, c: r.choice([Raw("%d." % v), "%d." % v]))
coerce("hex_bare", "numbers", "https://spec.json5.org/ (numbers)", "int", lambda r, v, s, c: Raw(r.choice(["0x%x", "0x%X", "0X%X"]) % v))
coerce("bigint_suffix", "numbers", "https://spec.json5.org/ (JavaScript literals)", "int", lambda r, v, s, c: (lambda x: (x, Raw("%dn" % x)))(r.randint(1000, 2 ** 40)))
coerce("scientific_string", "numbers", "QwenLM/qwen-code#4967", NUM, lambda r, v, s, c: r.choice([(1000, "1e3"), (250, "2.5e2"), (1200000, "1.2e6"), (30000, "3E4"), (5000, "5e+3"), (70, "7.0E1"), (9900, "9.9e3"), (100000, "1e5")]))
coerce("int_leading_zeros", "numbers", JR, "int", lambda r, v, s, c: (lambda x: (x, "%03d" % x))(r.randint(1, 99)))
coerce("unicode_minus", "numbers", "cryptosharks131/lndg#436", NUM, lambda r, v, s, c: (lambda x: (x, r.choice(["−%s", "–%s"]) % abs(x)))(-r.randint(1, 400) if r.random() < .5 and s["type"] == "integer" else -r.randint(1, 90)))
coerce("fullwidth_digits", "numbers", "Graphify-Labs/graphify#2286", "int", lambda r, v, s, c: "".join(chr(0xFF10 + int(d)) for d in str(v)))
coerce("arabic_indic_digits", "numbers", "NVIDIA/NeMo-text-processing#418", "int", lambda r, v, s, c: "".join(chr(0x660 + int(d)) for d in str(v)))
coerce("number_word", "numbers", BAML + "test_class.rs", "int", lambda r, v, s, c: r.choice([(1, "one"), (2, "two"), (3, "three"), (4, "Four"), (5, "five"), (6, "six"), (7, "Seven"), (8, "eight"), (9, "nine"), (10, "ten"), (11, "eleven"), (12, "twelve"), (20, "twenty")]))
coerce("hash_prefix", "numbers", "kopfrechner/gitlab-mr-mcp#4", "int", lambda r, v, s, c: "#%d" % v if c.t[0].endswith(("_id", "_number")) else None)
coerce("number_quoted_inside", "numbers", "cline/kanban#339", NUM, lambda r, v, s, c: r.choice(["'%s'", '"%s"']) % v)
coerce("number_object_wrapped", "numbers", JR, NUM, lambda r, v, s, c: {r.choice(["value", "$numberInt", "number"]): r.choice([v, str(v)])})
coerce("mongo_number_call", "numbers", JR, "int", lambda r, v, s, c: Raw(r.choice(["NumberInt(%d)", 'NumberLong("%d")', "NumberLong(%d)", 'NumberInt("%d")', "int(%d)", "Number(%d)"]) % v))

vague("number_with_unit", "numbers", "ml-explore/mlx-lm#1310", NUM, lambda r, v, s, c: "%s%s" % (v, r.choice([" km", "s", "ms", " minutes", " GB", "px", "kg", "°C", " mi", " hours"])))
vague("percent", "numbers", "lamalab-org/chembench#295", NUM, lambda r, v, s, c: "%s%s" % (v, r.choice(["%", " %", " percent"])))
vague("currency", "numbers", "ex-money/money#112", NUM, lambda r, v, s, c: r.choice(["$%s", "€%s", "%s USD", "US$ %s", "£%s", "%s €", "%s dollars"]) % v)
vague("number_range", "numbers", PY + "test_parse_number.py", NUM, lambda r, v, s, c: r.choice(["%s-%s", "%s to %s", "%s–%s", "between %s and %s", "%s..%s"]) % (v, v + r.randint(1, 9)))
vague("approximate", "numbers", BAML + "test_class.rs", NUM, lambda r, v, s, c: r.choice(["about %s", "~%s", "%s+", ">= %s", "<%s", "approximately %s", "at least %s", "%s or so", "≈%s", "up to %s", "%s?"]) % v)
vague("k_m_suffix", "numbers", "OldRon1977/HHauto#967", NUM, lambda r, v, s, c: "%s%s" % (r.choice([1, 2, 5, 1.5, 2.4, 10, 250]), r.choice(["k", "K", "M", "m", " million", "k+"])))
vague("one_comma_decimal_or_group", "numbers", "dm4t2/vue-currency-input#102", "num", lambda r, v, s, c: "%d,%03d" % (r.randint(1, 99), r.randint(100, 999)))
vague("fraction_for_integer", "numbers", "lidge-jun/opencodex#1611", "int", lambda r, v, s, c: r.choice([v + .5, v + .25, str(v + .5), str(v + .75), "%d/2" % (2 * v + 1)]))
vague("not_finite", "numbers", "agentscope-ai/agentscope#2222", NUM, lambda r, v, s, c: r.choice(["NaN", "Infinity", Raw("NaN"), Raw("Infinity"), "-Infinity", Raw("-Infinity"), "inf", "nan"]))
vague("boolean_for_number", "numbers", "agentforce314/clawcodex#315", NUM, lambda r, v, s, c: r.random() < .5)
vague("words_for_number", "numbers", "ml-explore/mlx-lm#1310", NUM, lambda r, v, s, c: r.choice(["a few", "several", "many", "max", "default", "a couple", "unlimited", "half", "as many as possible", "auto", "a dozen or two"]))
vague("version_for_number", "numbers", JR, NUM, lambda r, v, s, c: r.choice(["1.2.3", "0.0.1", "10.15.7", "v2", "3.11.x", "2024-05-01", "12:30", "192.168.0.1", "1-2-3", "4.0.0-rc1"]))
vague("two_numbers", "numbers", PY + "test_parse_number.py", NUM, lambda r, v, s, c: r.choice(["%s and %s", "%s or %s", "%s, %s", "%s / %s", "%s x %s"]) % (v, v + r.randint(1, 9)))


@kind("out_of_bounds", "numbers", "agentscope-ai/agentscope#2222")
def _(r):
    n, lo, hi = r.choice([("volume", 0, 100), ("page", 1, 50), ("rating", 1, 5), ("temperature", 0, 2), ("top_k", 1, 100)])
    x = r.choice([hi + r.randint(1, 60), lo - r.randint(1, 9)])
    c = build(r, extra=(1, 3), add=[(n, {"type": "integer", "minimum": lo, "maximum": hi}, lo)])
    c.value[n] = r.choice([x, str(x)])
    return c.schema, dumps(r, c.value), AMB


# ================================================================== booleans
def bkind(name, source, yes, no, raw=False):
    coerce(name, "booleans", source, "bool", lambda r, v, s, c: (Raw if raw else lambda x: x)(r.choice(yes if v else no)))


bkind("bool_string", "homeassistant-ai/ha-mcp#218", ["true"], ["false"])
bkind("bool_string_case", "PrimeIntellect-ai/renderers#52", ["True", "TRUE"], ["False", "FALSE"])
bkind("bool_python_bare", "modelscope/ms-swift#9968", ["True"], ["False"], True)
bkind("bool_upper_bare", JR, ["TRUE"], ["FALSE"], True)
bkind("bool_yes_no", TYPIA, ["yes", "Yes", "YES"], ["no", "No", "NO"])
bkind("bool_yes_no_bare", "llm-exe/llm-exe#147", ["yes", "Yes"], ["no", "No"], True)
bkind("bool_on_off", "IBM/mcp-context-forge#622", ["on", "On", "ON"], ["off", "Off", "OFF"])
bkind("bool_one_zero_string", PYD, ["1"], ["0"])
bkind("bool_one_zero", PYD, [1], [0])
bkind("bool_letter", TYPIA, ["y", "Y", "t"], ["n", "N", "f"])
bkind("bool_enabled", "https://hex.pm/packages/zodish", ["enabled", "Enabled"], ["disabled", "Disabled"])
bkind("bool_padded", "apache/seatunnel#12194", [" true", "true ", "true\n", "true."], [" false", "false ", "false\n", "false."])
coerce("bool_in_array", "booleans", "tidyverse/ellmer#929", "bool", lambda r, v, s, c: [v])
coerce("bool_quoted_inside", "booleans", "waybarrios/vllm-mlx#63", "bool", lambda r, v, s, c: r.choice(["'%s'", '"%s"']) % ("true" if v else "false"))
coerce("bool_object_wrapped", "booleans", TYPIA, "bool", lambda r, v, s, c: {"value": v})
vague("bool_unsure", "booleans", "apache/seatunnel#12194", "bool", lambda r, v, s, c: r.choice(["maybe", "unknown", "probably", "sometimes", "depends", "it depends", "unsure", "possibly", "yes/no", "true or false", "either"]))
vague("bool_conditional", "booleans", BAML + "test_class.rs", "bool", lambda r, v, s, c: r.choice(["yes, but only on weekdays", "true unless the user objects", "no (except admins)", "only if empty", "true if available, otherwise false", "yes for staff, no for guests", "not unless asked", "if possible", "false at first, then true"]))
vague("bool_other_number", "booleans", PYD, "bool", lambda r, v, s, c: r.choice([2, -1, 0.5, "2", "-1", 10, "00", 100, "0.3"]))
vague("bool_empty", "booleans", "apache/seatunnel#12194", "bool", lambda r, v, s, c: r.choice(["", " ", {}, [], "-", "?", "\n", "--", "..."]))
vague("bool_both_in_list", "booleans", "apache/seatunnel#12194", "bool", lambda r, v, s, c: r.choice([[True, False], [False, True], ["yes", "no"], "true, false", {"a": True, "b": False}]))

# ================================================================== dates
D = "date"
MONTH = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
DAY = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def dparts(v): return tuple(map(int, v.split("-")))
def late(r): return datetime.date(r.randint(2023, 2027), r.randint(1, 12), r.randint(13, 28))
def small(r): return datetime.date(r.randint(2023, 2027), r.randint(1, 11), r.randint(1, 9))
def ordinal(d): return "%d%s" % (d, "th" if 10 < d < 14 else {1: "st", 2: "nd", 3: "rd"}.get(d % 10, "th"))


def dk(name, source, f, pick=None):
    def change(r, v, s, c):
        d = (pick or date)(r)
        out = f(r, d)
        return None if out is None else (d.isoformat(), out)
    coerce(name, "dates", source, D, change)


dk("date_slashes_ymd", "receptron/mulmoclaude#2333", lambda r, d: "%d/%02d/%02d" % (d.year, d.month, d.day))
dk("date_dots_ymd", "receptron/mulmoclaude#2333", lambda r, d: "%d.%02d.%02d" % (d.year, d.month, d.day))
dk("date_compact", "moment/momentjs.com#628", lambda r, d: "%d%02d%02d" % (d.year, d.month, d.day))
dk("date_unpadded", "receptron/mulmoclaude#2333", lambda r, d: "%d-%d-%d" % (d.year, d.month, d.day), small)
dk("date_month_name", "deeplethe/utopia#688", lambda r, d: r.choice(["%s %d, %d", "%s %d %d"]) % (r.choice([MONTH[d.month - 1], MONTH[d.month - 1][:3]]), d.day, d.year))
dk("date_day_month_name", "deeplethe/utopia#688", lambda r, d: r.choice(["%d %s %d", "%02d-%s-%d", "%d. %s %d"]) % (d.day, r.choice([MONTH[d.month - 1], MONTH[d.month - 1][:3]]), d.year))
dk("date_ordinal_day", "deeplethe/utopia#688", lambda r, d: r.choice(["{m} {o}, {y}", "{o} {m} {y}", "{o} of {m} {y}", "the {o} of {m}, {y}"]).format(m=MONTH[d.month - 1], o=ordinal(d.day), y=d.year))
dk("date_weekday_right", "deeplethe/utopia#688", lambda r, d: "%s, %s %d, %d" % (DAY[d.weekday()], MONTH[d.month - 1], d.day, d.year))
dk("date_dmy_day_over_12", "MarcusBarnes/mik#195", lambda r, d: "%02d%s%02d%s%d" % (lambda q: (d.day, q, d.month, q, d.year))(r.choice("/-.")), late)
dk("date_mdy_day_over_12", "MarcusBarnes/mik#195", lambda r, d: "%02d%s%02d%s%d" % (lambda q: (d.month, q, d.day, q, d.year))(r.choice("/-")), late)
dk("date_cjk", "NVIDIA/NeMo-text-processing#418", lambda r, d: "%d年%d月%d日" % (d.year, d.month, d.day))
dk("date_midnight_time", PYD, lambda r, d: d.isoformat() + r.choice(["T00:00:00", "T00:00:00Z", " 00:00:00"]))
dk("date_padded", "mjordan/islandora_workbench#790", lambda r, d: r.choice([" %s", "%s ", "%s\n", "%s."]) % d.isoformat())
dk("date_constructor", JR, lambda r, d: Raw(r.choice(['datetime.date(%d, %d, %d)' % (d.year, d.month, d.day), 'date(%d, %d, %d)' % (d.year, d.month, d.day), 'ISODate("%s")' % d.isoformat(), 'date.fromisoformat("%s")' % d.isoformat(), 'date("%s")' % d.isoformat()])))
dk("date_unquoted", "QwenLM/Qwen3.8#187", lambda r, d: Raw(d.isoformat()))
dk("date_fullwidth_dash", "Graphify-Labs/graphify#2286", lambda r, d: d.isoformat().replace("-", r.choice(["‑", "–", "－", "−"])))

DT = "datetime"
coerce("datetime_space", "dates", "https://www.rfc-editor.org/rfc/rfc3339 (5.6)", DT, lambda r, v, s, c: v.replace("T", " ") if r.random() < .5 else (v.replace("Z", "+02:00"), v.replace("T", " ").replace("Z", "+02:00")))
coerce("datetime_offset_no_colon", "dates", "https://www.rfc-editor.org/rfc/rfc3339 (5.6)", DT, lambda r, v, s, c: (lambda o: (v.replace("Z", o[:3] + ":" + o[3:]), v.replace("Z", o)))(r.choice(["+0200", "-0500", "+0530", "-0800"])))
coerce("datetime_no_seconds", "dates", "ollama/ollama#10944", DT, lambda r, v, s, c: (v[:16] + ":00Z", v[:16] + "Z"))
coerce("datetime_slashes", "dates", "ollama/ollama#10944", DT, lambda r, v, s, c: v.replace("-", "/"))

vague("date_day_month_unclear", "dates", "gbif/pipelines#228", D, lambda r, v, s, c: (lambda d: "%02d/%02d/%d" % (d.month, d.day, d.year) if d.month != d.day else None)(small(r)))
vague("date_day_month_unclear_dots", "dates", "sw-carlos-cristobal/sharetab#45", D, lambda r, v, s, c: (lambda d: r.choice(["%02d.%02d.%d", "%02d-%02d-%d", "%d.%d.%d"]) % (d.month, d.day, d.year) if d.month != d.day else None)(small(r)))
vague("date_impossible", "dates", "mjordan/islandora_workbench#790", D, lambda r, v, s, c: r.choice(["2024-02-30", "2023-02-29", "2025-04-31", "2024-13-01", "2024-00-10", "2025-06-00", "2026-11-31", "2024-09-31", "30 February 2024", "2024/02/31", "2025-02-30"]))
vague("date_relative", "dates", "deeplethe/utopia#688", D, lambda r, v, s, c: r.choice(["next Friday", "tomorrow", "today", "in two weeks", "end of month", "last Tuesday", "now", "the day after", "this weekend", "Q3 2025", "+3 days", "Monday"]))
vague("date_two_digit_year", "dates", "MarcusBarnes/mik#195", D, lambda r, v, s, c: (lambda d: r.choice(["%02d/%02d/%02d", "%02d-%02d-%02d"]) % (d.day, d.month, d.year % 100))(date(r)))
vague("date_no_day", "dates", "deeplethe/utopia#688", D, lambda r, v, s, c: (lambda d: r.choice(["%s %d" % (MONTH[d.month - 1], d.year), "%d-%02d" % (d.year, d.month), str(d.year), "%02d/%d" % (d.month, d.year), "%d-W%02d" % (d.year, d.isocalendar()[1])]))(date(r)))
vague("date_no_year", "dates", "deeplethe/utopia#688", D, lambda r, v, s, c: (lambda d: r.choice(["%s %d" % (MONTH[d.month - 1], d.day), "%d %s" % (d.day, MONTH[d.month - 1]), "--%02d-%02d" % (d.month, d.day)]))(date(r)))
vague("date_weekday_wrong", "dates", "deeplethe/utopia#688", D, lambda r, v, s, c: (lambda d: "%s, %s %d, %d" % (DAY[(d.weekday() + r.randint(1, 6)) % 7], MONTH[d.month - 1], d.day, d.year))(date(r)))
vague("date_two_dates", "dates", "deeplethe/utopia#688", D, lambda r, v, s, c: r.choice(["%s to %s", "%s or %s", "%s/%s", "%s, %s"]) % (iso(r), "2028-01-15"))
vague("datetime_only_date", "dates", "ollama/ollama#10944", DT, lambda r, v, s, c: v[:10])
vague("datetime_hour_impossible", "dates", "ollama/ollama#10944", DT, lambda r, v, s, c: v[:11] + r.choice(["25:00:00Z", "24:30:00Z", "12:61:00Z", "12:00:75Z", "13:00 PM"]))

# ================================================================== texts
T = dict(want=[("str", "text"), ("int", "num")], extra=(1, 3))


def txt(name, source, write, **kw):
    whole(name, "texts", source, write, **dict(T, **kw))


PYL = ("True", "False", "None")


def args(v, eq="=", st=js, lit=PYL, key=str, sep=", "):
    return sep.join(key(k) + eq + ser(x, st=st, lit=lit) for k, x in v.items())


txt("python_call", VLLM + "test_pythonic_tool_parser.py", lambda r, c: "%s(%s)" % (c.tool, args(c.value, st=r.choice([js, sq]))))
txt("python_call_list", VLLM + "test_llama4_pythonic_tool_parser.py", lambda r, c: r.choice(["[%s(%s)]", "<|python_start|>[%s(%s)]<|python_end|>"]) % (c.tool, args(c.value, st=r.choice([js, sq]))), tags=SIMPLE + ("strlist", "obj"))
txt("python_print_call", VLLM + "test_olmo3_tool_parser.py", lambda r, c: r.choice(["print(%s(%s))", "result = %s(%s)", "```tool_code\n%s(%s)\n```", "```python\n%s(%s)\n```", "default_api.%s(%s)"]) % (c.tool, args(c.value, st=r.choice([js, sq]))))
txt("python_dict", "waybarrios/vllm-mlx#63", lambda r, c: ser(c.value, key=sq, st=sq, lit=PYL, ind=r.choice([None, 2])), tags=SIMPLE + ("strlist", "obj"))
txt("python_dict_call", "waybarrios/vllm-mlx#63", lambda r, c: "dict(%s)" % args(c.value, st=r.choice([js, sq])))
txt("python_assignments", BAML + "test_code.rs", lambda r, c: args(c.value, eq=" = ", sep="\n", st=r.choice([js, sq])))


def yaml(v, ind=0, st=str):
    out = []
    for k, x in v.items():
        p = " " * ind + k + ":"
        if isinstance(x, dict):
            out += [p, yaml(x, ind + 2, st)]
        elif isinstance(x, list):
            out.append(p)
            for e in x:
                if isinstance(e, dict):
                    y = yaml(e, ind + 4, st)
                    out.append(" " * (ind + 2) + "- " + y[ind + 4:])
                else:
                    out.append(" " * (ind + 2) + "- " + ser(e, st=st))
        else:
            out.append(p + " " + ser(x, st=st))
    return "\n".join(out)


txt("yaml_flat", "langchain-ai/langchain#14496", lambda r, c: yaml(c.value, st=r.choice([str, js, sq])))
txt("yaml_fenced", "567-labs/instructor#1839", lambda r, c: "```%s\n%s\n```" % (r.choice(["yaml", "yml"]), yaml(c.value)))
whole("yaml_nested", "texts", "langchain-ai/langchain#14496", lambda r, c: r.choice(["%s", "---\n%s", "%s\n"]) % yaml(c.value, st=r.choice([str, js])), want=[("obj", "objlist", "strlist"), ("str", "text")], extra=(1, 2))


def raw(x): return x if isinstance(x, str) else ser(x)


def qwen(c, close=True):
    return "<tool_call>\n<function=%s>\n%s\n</function>\n</tool_call>" % (c.tool, "\n".join("<parameter=%s>\n%s%s" % (k, raw(x), "\n</parameter>" if close else "") for k, x in c.value.items()))


txt("xml_qwen", VLLM + "test_qwen3coder_tool_parser.py", lambda r, c: qwen(c), tags=SIMPLE + ("strlist", "intlist", "obj"))
txt("xml_qwen_unclosed_parameters", "PrimeIntellect-ai/renderers#52", lambda r, c: qwen(c, False))
txt("xml_invoke", VLLM + "test_minimax_m2_tool_parser.py", lambda r, c: r.choice(["%s", "<minimax:tool_call>\n%s\n</minimax:tool_call>", "<function_calls>\n%s\n</function_calls>"]) % ('<invoke name="%s">\n%s\n</invoke>' % (c.tool, "\n".join('<parameter name="%s">%s</parameter>' % (k, raw(x)) for k, x in c.value.items()))), tags=SIMPLE + ("strlist", "intlist", "obj"))
txt("xml_bare_parameters", "diegosouzapw/OmniRoute#13930", lambda r, c: "\n".join('<parameter name="%s">%s</parameter>' % (k, raw(x)) for k, x in c.value.items()))
txt("xml_glm", VLLM + "test_glm4_moe_tool_parser.py", lambda r, c: r.choice(["<tool_call>%s\n%s\n</tool_call>", "%s\n%s"]) % (c.tool, "\n".join("<arg_key>%s</arg_key>\n<arg_value>%s</arg_value>" % (k, raw(x)) for k, x in c.value.items())), tags=SIMPLE + ("strlist", "intlist"))
txt("xml_dsml", VLLM + "test_deepseekv32_tool_parser.py", lambda r, c: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="%s">\n%s\n</｜DSML｜invoke>\n</｜DSML｜function_calls>' % (c.tool, "\n".join('<｜DSML｜parameter name="%s" string="%s">%s</｜DSML｜parameter>' % (k, "true" if isinstance(x, str) else "false", raw(x)) for k, x in c.value.items())), tags=SIMPLE + ("strlist", "obj"))
txt("xml_elements", BAML + "test_xml.rs", lambda r, c: r.choice(["%s", "<arguments>\n%s\n</arguments>", "<" + c.tool + ">\n%s\n</" + c.tool + ">"]) % "\n".join("<%s>%s</%s>" % (k, raw(x), k) for k, x in c.value.items()))


@kind("xml_repeated_item", "texts", "anomalyco/opencode#35296")
def _(r):
    c = build(r, want=[("strlist", "intlist"), ("str", "text")], extra=(0, 1))
    k = c.t[0]
    body = "\n".join("<%s>%s</%s>" % (a, "".join("\n  <item>%s</item>" % x for x in b) + "\n" if a == k else raw(b), a) for a, b in c.value.items())
    return c.schema, "<arguments>\n%s\n</arguments>" % body, c.value


txt("xml_attributes", BAML + "test_xml.rs", lambda r, c: "<%s %s/>" % (c.tool, " ".join('%s="%s"' % (k, raw(x)) for k, x in c.value.items())))
txt("query_string", "websanova/js-url#65", lambda r, c: r.choice(["%s", "?%s", c.tool + "?%s"]) % urllib.parse.urlencode({k: raw(x) for k, x in c.value.items()}, quote_via=r.choice([urllib.parse.quote, urllib.parse.quote_plus])))
txt("lua_table", "https://www.lua.org/manual/5.4/manual.html#3.4.9", lambda r, c: r.choice(["%s", "return %s"]) % ser(c.value, key=str, col=" = ", lit=("true", "false", "nil"), lst=("{", "}"), ind=r.choice([None, 2])), tags=SIMPLE + ("strlist", "obj"))
txt("ruby_hash", PY + "test_parse_object.py", lambda r, c: ser(c.value, key=(lambda k: ":" + k) if r.random() < .5 else js, col=" => ", lit=("true", "false", "nil"), ind=r.choice([None, 2])), tags=SIMPLE + ("strlist", "obj"))
txt("php_array", "https://www.php.net/manual/en/language.types.array.php", lambda r, c: ser(c.value, key=sq, st=sq, col=" => ", wrap=r.choice([("[", "]"), ("array(", ")")]), ind=r.choice([None, 4])) + r.choice(["", ";"]), tags=SIMPLE + ("strlist", "obj"))
txt("elixir_map", "https://hexdocs.pm/elixir/Map.html", lambda r, c: ser(c.value, key=str, wrap=("%{", "}"), lit=("true", "false", "nil")))
txt("powershell_hashtable", "https://learn.microsoft.com/powershell (hash tables)", lambda r, c: "@{ %s }" % "; ".join("%s = %s" % (k, ser(x, st=sq, lit=("$true", "$false", "$null"))) for k, x in c.value.items()))
txt("java_map_of", "https://docs.oracle.com/javase/9/docs/api/java/util/Map.html#of--", lambda r, c: "Map.of(%s)" % ", ".join("%s, %s" % (js(k), ser(x)) for k, x in c.value.items()))
txt("named_args_colon", "ollama/ollama#17882", lambda r, c: "%s(%s)" % (c.tool, args(c.value, eq=": ", lit=("true", "false", "null"))))
txt("go_struct", BAML + "test_code.rs", lambda r, c: "%sArgs{%s}" % (pascal(c.tool), ", ".join("%s: %s" % (pascal(k), ser(x)) for k, x in c.value.items())), closed=True)
txt("gemma_call", "ml-explore/mlx-lm#1105", lambda r, c: "<|tool_call>call:%s{%s}<tool_call|>" % (c.tool, args(c.value, eq=":", st=lambda s: '<|"|>%s<|"|>' % s, lit=("true", "false", "null"), sep=",")))
txt("gemma_call_equals", "ollama/ollama#17882", lambda r, c: "call:%s{%s}" % (c.tool, args(c.value, eq="=", st=r.choice([js, sq]), lit=("true", "false", "null"))))
txt("kimi3_markup", "can1357/oh-my-pi#8495", lambda r, c: '<|open|>tools<|sep|><|open|>call tool="%s" index="1"<|sep|>%s<|close|>call<|sep|><|close|>tools<|sep|>' % (c.tool, "".join('<|open|>argument key="%s" type="%s"<|sep|>%s<|close|>argument<|sep|>' % (k, {str: "string", bool: "boolean", int: "number", float: "number"}[type(x)], raw(x)) for k, x in c.value.items())))
txt("bullets", BAML + "test_class_2.rs", lambda r, c: "\n".join("%s %s: %s" % (m, k, raw(x)) for m in [r.choice("-*•")] for k, x in c.value.items()))
txt("bullets_bold", BAML + "test_class_2.rs", lambda r, c: "\n".join(r.choice(["- **%s**: %s", "- **%s:** %s", "* `%s`: %s"]) % (k, raw(x)) for k, x in c.value.items()))
txt("bullets_titled_keys", BAML + "test_class_2.rs", lambda r, c: "\n".join("- %s: %s" % (k.replace("_", " ").capitalize(), raw(x)) for k, x in c.value.items()), closed=True)
txt("numbered_pairs", BAML + "test_class_2.rs", lambda r, c: "\n".join("%d. %s: %s" % (i + 1, k, raw(x)) for i, (k, x) in enumerate(c.value.items())))
txt("key_equals_lines", "crux-toolkit/crux-toolkit#230", lambda r, c: "\n".join("%s=%s" % (k, raw(x)) for k, x in c.value.items()))
txt("toml", BAML + "test_code.rs", lambda r, c: r.choice(["%s", "```toml\n%s\n```"]) % "\n".join("%s = %s" % (k, ser(x)) for k, x in c.value.items()), tags=SIMPLE + ("strlist", "intlist"))
txt("cli_flags", "veg/hyphy#974", lambda r, c: (r.choice(["", c.tool + " ", "./" + c.tool + " "]) + " ".join("--%s%s%s" % (k, q, js(x) if isinstance(x, str) and re.search(r"[^\w.@/:-]", x) else raw(x)) for q in [r.choice([" ", "="])] for k, x in c.value.items())))
txt("cli_flags_dashed", "veg/hyphy#974", lambda r, c: "%s %s" % (c.tool, " ".join("--%s=%s" % (k.replace("_", "-"), js(x) if isinstance(x, str) and re.search(r"[^\w.@/:-]", x) else raw(x)) for k, x in c.value.items())), closed=True)
txt("markdown_table", BAML + "test_class_2.rs", lambda r, c: "| %s | %s |\n|---|---|\n%s" % (r.choice([("Parameter", "Value"), ("name", "value"), ("Key", "Value")]) + ("\n".join("| %s | %s |" % (k, raw(x)) for k, x in c.value.items()),)))
txt("inline_pairs", "FlowiseAI/Flowise#1879", lambda r, c: ", ".join("%s: %s" % (k, ser(x)) for k, x in c.value.items()))
txt("inline_pairs_equals", "wso2/carbon-mediation#249", lambda r, c: r.choice([", ", "; "]).join("%s=%s" % (k, ser(x)) for k, x in c.value.items()))
txt("csv_header_row", BAML + "test_toon.rs", lambda r, c: ",".join(c.value) + "\n" + ",".join(raw(x) for x in c.value.values()))


@kind("positional_call", "texts", "raullenchai/Rapid-MLX#1591 (call forms)")
def _(r):
    c = build(r, want=["str", "int", ("int", "num")] if r.random() < .5 else ["str", ("num", "int")], extra=(1, 2), allreq=True)
    return c.schema, "%s(%s)" % (c.tool, ", ".join(ser(x, lit=PYL) for x in c.value.values())), AMB


@kind("plain_sentence", "texts", "misospace/pr-reviewer-action#449")
def _(r):
    c = build(r, want=["str", "int"], extra=(0, 2), allreq=True)
    a, b = c.value[c.t[0]], c.value[c.t[1]]
    return c.schema, r.choice(["I would go with %s and roughly %s of them, as discussed.", "Do the usual thing for %s, say %s or more.", "%s please, maybe %s?", "Not %s this time, and no more than %s."]) % (a, b), AMB


@kind("values_only_lines", "texts", BAML + "test_class_2.rs")
def _(r):
    c = build(r, want=["int", "int", "str"], extra=(0, 1), allreq=True)
    return c.schema, "\n".join(raw(x) for x in c.value.values()), AMB


@kind("two_calls_python", "texts", VLLM + "test_pythonic_tool_parser.py")
def _(r):
    c = build(r, want=["int", "str"], extra=(0, 2), allreq=True)
    d = dict(c.value)
    d[c.t[0]] += r.randint(1, 9)
    return c.schema, "[%s(%s), %s(%s)]" % (c.tool, args(c.value), c.tool, args(d)), AMB

# ================================================================== strings
def with_text(r, good, written, field=None, closed=None, extra=(1, 3)):
    """A tool with a free text field; `written` is how the value stands in the text."""
    n = field or r.choice(["message", "note_text", "description", "content", "comment"])
    c = build(r, extra=extra, closed=closed, add=[(n, {"type": "string"}, good)])
    items = list(c.value.items())
    if r.random() < .5:
        items = [items[-1]] + items[:-1]
        c.value = dict(items)
    bad = dict(c.value)
    bad[n] = Raw(written)
    s, g, b = nest(r, c.schema, c.value, bad, .25)
    return s, dumps(r, b), g


def skind(name, source, make, group="strings", **kw):
    @kind(name, group, source)
    def f(r):
        out = make(r)
        if out is None:
            return None
        good, written = out
        return with_text(r, good, written, **kw)


def two(r): return r.sample(SENT, 2)


skind("raw_newline", "rhesis-ai/rhesis#2488", lambda r: (lambda a, b: ("%s\n%s" % (a, b), '"%s\n%s"' % (a, b)))(*two(r)))
skind("raw_tab", "langchain-ai/langchainjs#5160", lambda r: (lambda a, b: ("%s\t%s" % (a, b), '"%s\t%s"' % (a, b)))(*two(r)))
skind("raw_newlines_code", "anthropics/claude-code#87251", lambda r: (lambda w: ("def %s(n):\n    total = n + %d\n    return total\n" % w, '"def %s(n):\n    total = n + %d\n    return total\n"' % w))((r.choice(WORD), r.randint(1, 99))), field="content")
skind("inner_quotes", JR, lambda r: (lambda a, w, b: ('%s "%s" %s' % (a, w, b), '"%s "%s" %s"' % (a, w, b)))(r.choice(["The label reads", "She wrote", "Rename it to", "The button says"]), r.choice(WORD), r.choice(["on the box", "in the log", "for now", "again today"])))
skind("inner_inch_mark", JR, lambda r: (lambda n, a: ('Order the %d" %s for the hall' % (n, a), '"Order the %d" %s for the hall"' % (n, a)))(r.randint(11, 75), r.choice(["screen", "pipe", "frame", "shelf"])))
skind("single_quoted_value", JR, lambda r: (lambda a: (a, sq(a)))(r.choice(SENT)))
skind("single_quoted_double_inside", JR, lambda r: (lambda w: ('Set title to "%s" please' % w, "'Set title to \"%s\" please'" % w))(r.choice(WORD + CITY)))
skind("single_quoted_escaped_apostrophe", "waybarrios/vllm-mlx#63", lambda r: (lambda w: ("It's the %s folder, don't move it" % w, "'It\\'s the %s folder, don\\'t move it'" % w))(r.choice(WORD)))
skind("escaped_apostrophe_in_double", JR, lambda r: (lambda w: ("It's %s's turn" % w, '"It\\\'s %s\\\'s turn"' % w))(r.choice(PERSON)))
skind("regex_single_backslash", "mistralai/mistral-vibe#216", lambda r: (lambda p: (p, '"%s"' % p))(r.choice([r"^\d{4}-\d{2}$", r"\w+@\w+", r"\s*;\s*", r"^\[\w+\]", r"\d+\.\d+", r"(\w+)\s(\w+)", r"\.py$", r"^\s+$", r"\W{2,}", r"\d{3}\D", r"\S+\.log", r"\$\d+"])), field="pattern")
skind("windows_path_single_backslash", "anthropics/claude-code#87251", lambda r: (lambda p: (p, '"%s"' % p))("%s:\\%s\\%s\\%s" % (r.choice("CDE"), r.choice(["Users", "Dev", "Projects", "Program Files", "Shared"]), r.choice(["Mei", "Omar", "Work", "Angebot", "Common"]), r.choice(["Plan.md", "Log.txt", "App.exe", "Scan.pdf", "Makefile"]))), field="file_path")
skind("smart_quote_delimiters", "Graphify-Labs/graphify#2286", lambda r: (lambda a: (a, "“%s”" % a))(r.choice(SENT)))
skind("backtick_delimiters", "QwenLM/qwen-code#288", lambda r: (lambda a, b: (a, "`%s`" % a) if r.random() < .5 else ("%s\n%s" % (a, b), "`%s\n%s`" % (a, b)))(*two(r)))
skind("triple_quotes", BAML + "test_code.rs", lambda r: (lambda a, b, q: ("%s\n%s" % (a, b), "%s%s\n%s%s" % (q, a, b, q)))(*two(r), r.choice(['"""', "'''"])))
skind("string_concatenation", JR, lambda r: (lambda a, b: ("%s. %s" % (a, b), '"%s. "%s"%s"' % (a, r.choice([" + ", "+", " +\n  "]), b)))(*two(r)))
skind("unicode_long_escape", "https://docs.python.org/3/reference/lexical_analysis.html#escape-sequences", lambda r: (lambda e, a: ("%s %s" % (a, e), '"%s \\U%08X"' % (a, ord(e))))(r.choice("😀🚀🎉🔥🌍"), r.choice(SENT)))
skind("hex_escape", "https://spec.json5.org/ (escapes)", lambda r: (lambda e, a: ("%s%s" % (e, a), '"\\x%02x%s"' % (ord(e), a)))(r.choice("éüñåø§"), r.choice(SENT)))
skind("braced_unicode_escape", "https://spec.json5.org/ (JavaScript escapes)", lambda r: (lambda e, a: ("%s %s" % (a, e), '"%s \\u{%X}"' % (a, ord(e))))(r.choice("😀🚀🎉🔥🌍"), r.choice(SENT)))
skind("python_prefix", PY + "test_parse_string.py", lambda r: (lambda a: (a, r.choice(["u'%s'", 'u"%s"', "r'%s'", 'r"%s"']) % a))(r.choice(SENT)))
skind("doubled_quotes", PY + "test_parse_string.py", lambda r: (lambda a: (a, '""%s""' % a))(r.choice(SENT)))
skind("gemma_quote_tokens", "tinyhumansai/tinyagents#68", lambda r: (lambda a: (a, r.choice(['<|"|>%s<|"|>', '<|">%s<|">']) % a))(r.choice(SENT)))
skind("unquoted_sentence", BAML + "test_basics.rs", lambda r: (lambda a: (a, a))(r.choice(SENT)))


@kind("missing_end_quote", "strings", JR)
def _(r):
    c = build(r, want=["str", ("int", "num", "bool")], extra=(1, 2))
    ks = list(c.value)
    hurt = next((k for k in ks[:-1] if isinstance(c.value[k], str)), None)
    if hurt is None:
        return None
    bad = {k: (Raw('"' + v) if k == hurt else v) for k, v in c.value.items()}
    return c.schema, ser(bad, ind=2), c.value


@kind("missing_start_quote", "strings", JR)
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2))
    hurt = c.t[0]
    bad = {k: (Raw(v + '"') if k == hurt else v) for k, v in c.value.items()}
    return c.schema, dumps(r, bad), c.value


@kind("unquoted_words", "strings", JR)
def _(r):
    c = build(r, want=["str", ("int", "bool")], extra=(1, 2))
    bad = {k: (Raw(v) if isinstance(v, str) and not re.search(r"[:/]", v) else v) for k, v in c.value.items()}
    if bad == c.value and not any(isinstance(v, Raw) for v in bad.values()):
        return None
    return c.schema, ser(bad, key=r.choice([js, str]), ind=r.choice([None, 2])), c.value


@kind("html_entities_whole", "strings", "tetsuo-ai/AgenC#1283")
def _(r):
    c = build(r, extra=(2, 4), tags=SIMPLE + ("strlist", "obj"), want=["str"])
    return c.schema, _html.escape(dumps(r, c.value)), c.value


@kind("all_quotes_escaped", "strings", JR)
def _(r):
    c = build(r, extra=(2, 4), tags=SIMPLE + ("strlist",), want=["str"])
    return c.schema, ser(c.value).replace('"', '\\"'), c.value


@kind("percent_encoded_whole", "strings", "websanova/js-url#65")
def _(r):
    c = build(r, extra=(2, 3), want=["str"])
    return c.schema, urllib.parse.quote(json.dumps(c.value)), c.value


@kind("fullwidth_punctuation", "strings", "mangiucugna/json_repair#88")
def _(r):
    c = build(r, extra=(2, 3), want=["str"])
    m = r.randint(0, 2)
    if m == 0:
        t = ser(c.value, sep="，", col="：")
    elif m == 1:
        t = ser(c.value, sep="，", col="：", key=lambda k: "“%s”" % k, st=lambda k: "“%s”" % k)
    else:
        t = ser(c.value, sep="，", col="：", wrap=("｛", "｝"), key=lambda k: "＂%s＂" % k, st=lambda k: "＂%s＂" % k)
    return c.schema, t, c.value


@kind("smart_quotes_everywhere", "strings", "Graphify-Labs/graphify#2286")
def _(r):
    c = build(r, extra=(2, 4), want=["str"], tags=SIMPLE + ("strlist",))
    q = r.choice(["“%s”", "”%s”", "„%s“", "«%s»", "‘%s’"])
    return c.schema, ser(c.value, key=lambda k: q % k, st=lambda k: q % k, ind=r.choice([None, 2])), c.value


@kind("escaped_newlines_between_tokens", "strings", "OpenHands/software-agent-sdk#2488")
def _(r):
    c = build(r, extra=(2, 4), tags=SIMPLE + ("intlist",), want=[("intlist", "int")])
    t = ser(c.value, ind=2)
    return c.schema, t.replace("\n", "\\n"), c.value


def sakind(name, source, make):
    coerce(name, "strings", source, "str", make)


@kind("number_for_string", "strings", BAML + "test_basics.rs")
def _(r):
    n = r.choice(["zip_code", "phone_number", "account_number", "flight_number", "build_id", "room"])
    x = r.randint(100, 999999)
    c = build(r, extra=(1, 3), add=[(n, S, str(x))])
    b = dict(c.value)
    b[n] = x
    s, g, b = nest(r, c.schema, c.value, b)
    return s, dumps(r, b), g


@kind("leading_zero_number_for_string", "strings", "lablup/mlxcel#1575")
def _(r):
    n = r.choice(["zip_code", "phone_number", "account_number", "article_code", "pin_code"])
    x = "0%d" % r.randint(100, 999999)
    c = build(r, extra=(1, 3), add=[(n, S, x)])
    b = dict(c.value)
    b[n] = Raw(x)
    s, g, b = nest(r, c.schema, c.value, b)
    return s, dumps(r, b), g


@kind("huge_number_for_string", "strings", "lablup/mlxcel#1575")
def _(r):
    n = r.choice(["account_id", "tweet_id", "message_id", "order_number"])
    x = str(r.randint(10 ** 18, 10 ** 20))
    c = build(r, extra=(1, 3), add=[(n, S, x)])
    b = dict(c.value)
    b[n] = Raw(x)
    s, g, b = nest(r, c.schema, c.value, b)
    return s, dumps(r, b), g


@kind("version_bare_for_string", "strings", JR)
def _(r):
    n, x = r.choice([("version", "%d.%d.%d" % (r.randint(0, 9), r.randint(0, 20), r.randint(0, 9))), ("request_id", "%08x-%04x-4%03x-a%03x-%012x" % (r.getrandbits(32), r.getrandbits(16), r.getrandbits(12), r.getrandbits(12), r.getrandbits(48))), ("commit", "%x" % r.randint(2 ** 60, 2 ** 64))])
    c = build(r, extra=(1, 3), add=[(n, S, x)])
    b = dict(c.value)
    b[n] = Raw(x)
    return c.schema, dumps(r, b), c.value


# ================================================================== structure
STR = SIMPLE + ("strlist", "obj", "intlist")


def st(name, source, write, want=(), **kw):
    whole(name, "structure", source, write, want=list(want) or [("str", "text"), ("int", "bool")], extra=(1, 3), tags=kw.pop("tags", STR), **kw)


st("trailing_comma", "huggingface/chat-ui#1229", lambda r, c: ser(c.value, tail=",", ind=r.choice([None, 2])))
st("trailing_comma_array_only", JR, lambda r, c: re.sub(r"\]", ",]", ser(c.value)), want=[("strlist", "intlist")])
st("missing_comma_lines", JR, lambda r, c: ser(c.value, sep="", ind=2), tags=SIMPLE)
st("missing_comma_inline", JR, lambda r, c: ser(c.value, sep=""), tags=SIMPLE)
st("missing_last_brace", BAML + "test_basics.rs", lambda r, c: (lambda t: None if t[-1].isdigit() else t)(ser(c.value, ind=r.choice([None, 2])).rstrip()[:-1].rstrip()), want=["str"], tags=("int", "bool", "obj"), allreq=True, closed=True)


@kind("missing_bracket_and_brace", "structure", BAML + "test_basics.rs")
def _(r):
    v = r.sample(AIRPORT + WORD, 2)      # a list of fixed length: nothing can be missing but the closers
    c = build(r, want=["str"], extra=(1, 2), allreq=True, closed=True, add=[(r.choice(["route", "endpoints", "name_pair"]), {"type": "array", "items": S, "minItems": 2, "maxItems": 2}, v)])
    return c.schema, ser(c.value)[:-2], c.value


st("missing_inner_bracket", JR, lambda r, c: ser(c.value, ind=r.choice([None, 2])).replace("]", "", 1), want=["strlist"], tags=SIMPLE)
st("extra_brace_end", "yigit353/langchain-qwq#30", lambda r, c: ser(c.value) + r.choice(["}", "}}", "]", "}]"]))
st("extra_brace_middle", PY + "test_parse_object.py", lambda r, c: re.sub(r'(,)( "[a-z_]+": )', r"}\1\2", ser(c.value), count=1), tags=SIMPLE, allreq=True)
st("wrong_closer", JR, lambda r, c: ser(c.value)[:-1] + r.choice(["]", ")"]))
st("square_brackets_for_object", "esengine/DeepSeek-Reasonix#2839", lambda r, c: ser(c.value, wrap=("[", "]")), tags=SIMPLE)
st("double_braces", "tinyhumansai/tinyagents#68", lambda r, c: r.choice(["{%s}", "{{%s}}", "{ %s }"]) % ser(c.value))
st("no_braces", "godwinjk/Json_Parser#18", lambda r, c: ser(c.value, ind=r.choice([None, 2])).strip()[1:-1].strip())
st("no_opening_brace", "godwinjk/Json_Parser#47", lambda r, c: ser(c.value)[1:])
st("comment_slashes", JR, lambda r, c: re.sub(r"(,?)\n", lambda m: m.group(1) + r.choice(["", " // as the user asked", " // default"]) + "\n", ser(c.value, ind=2)) + "\n// done", tags=SIMPLE)
st("comment_block", JR, lambda r, c: r.choice(["/* arguments */ %s", "%s /* done */"]) % ser(c.value).replace(", ", ", /* next */ ", 1), tags=("int", "bool", "enum", "num"))
st("comment_hash", PY + "test_parse_comment.py", lambda r, c: ser(c.value, ind=2).replace("{\n", "{\n  # required\n", 1) + r.choice(["", "  # end"]), tags=SIMPLE)
st("comment_html", PY + "test_parse_comment.py", lambda r, c: "<!-- call -->\n%s" % ser(c.value))
st("leading_comma", JR, lambda r, c: "{," + ser(c.value)[1:])
st("double_comma", JR, lambda r, c: ser(c.value, sep=",,"), tags=SIMPLE)
st("missing_colon", JR, lambda r, c: ser(c.value, col=" "), tags=SIMPLE)
st("double_colon", JR, lambda r, c: ser(c.value, col=r.choice(["::", ":: ", " : : "])), tags=SIMPLE)
st("equals_for_colon", "ollama/ollama#17882", lambda r, c: ser(c.value, col=r.choice(["=", " = "]), key=r.choice([js, str])), tags=SIMPLE)
st("semicolon_for_comma", PY + "test_parse_object.py", lambda r, c: ser(c.value, sep=";"), tags=SIMPLE)
st("semicolon_end", JR, lambda r, c: ser(c.value) + r.choice([";", ",", ".", " ;"]))
st("odd_spaces", JR, lambda r, c: ser(c.value, col=":" + r.choice(["\u00a0", "\u3000", "\u200b", "\u2003"]), sep="," + r.choice(["", "\u00a0"])))
st("bom_first", JR, lambda r, c: "\ufeff" + dumps(r, c.value))
st("null_byte_tail", PY + "test_json_repair.py", lambda r, c: ser(c.value) + r.choice(["\u0000", "\u0000\u0000", "\u001a", "<|im_end|>", "<|endoftext|>", "</s>", "<eos>", "<|eot_id|>"]))
st("same_object_twice", "cline/kanban#339", lambda r, c: ser(c.value) + r.choice(["", "\n", " ", "\n\n"]) + ser(c.value))
st("same_object_fenced_again", "simonw/llm#1130", lambda r, c: "%s\n\nFormatted:\n```json\n%s\n```" % (ser(c.value), ser(c.value, ind=2)))
st("empty_object_first", "NousResearch/hermes-agent#54879", lambda r, c: "{}" + r.choice(["", "\n"]) + ser(c.value), allreq=True)
st("missing_comma_object_array", JR, lambda r, c: re.sub(r"\}, \{", r.choice(["} {", "}{", "}\n{"]), ser(c.value)) if "}, {" in ser(c.value) else None, want=["objlist"], tags=SIMPLE)
st("missing_comma_numbers", JR, lambda r, c: re.sub(r"\[[^\]]*\]", lambda m: m.group(0).replace(",", ""), ser(c.value)), want=["intlist"], tags=SIMPLE)
st("line_prefix", PY + "test_json_repair.py", lambda r, c: "\n".join(r.choice(["> "]) + x for x in ser(c.value, ind=2).split("\n")), tags=SIMPLE)
st("line_numbers", PY + "test_json_repair.py", lambda r, c: "\n".join("%d| %s" % (i + 1, x) for i, x in enumerate(ser(c.value, ind=2).split("\n"))), tags=SIMPLE)


def sv(name, source, write, want=(), **kw):
    @kind(name, "structure", source)
    def f(r):
        c = build(r, want=list(want) or ["str", "int"], extra=(0, 2), allreq=True, **kw)
        out = write(r, c)
        return None if out is None else (c.schema, out, AMB)


def last_first(c, k): return {**{a: b for a, b in c.value.items() if a != k}, k: c.value[k]}


sv("truncated_in_string", "Yeachan-Heo/gajae-code#1025", lambda r, c: (lambda v: ser(last_first(c, c.t[0]))[:-(2 + r.randint(1, len(v) - 2))] if len(v) > 6 else None)(c.value[c.t[0]]), want=["text", "int"])
sv("truncated_after_key", "GCWing/OpenBitFun#643", lambda r, c: (lambda t: t[:t.rindex(":") + r.choice([0, 1])])(ser(last_first(c, c.t[1]))))
sv("truncated_in_key", "lobehub/lobehub#13817", lambda r, c: (lambda t: t[:t.rindex(":") - r.randint(2, 4)])(ser(last_first(c, c.t[1]))))
sv("truncated_in_number", JR, lambda r, c: ser(last_first(c, c.t[1]))[:-1 - r.randint(1, 1)] if c.value[c.t[1]] > 99 else None, want=["str", "int"])
sv("truncated_in_literal", "jaseci-labs/jac#6766", lambda r, c: (lambda t: t[:t.rindex(":") + 2])(ser(last_first(c, c.t[1]))), want=["str", "bool"])
sv("truncated_required_missing", "jaseci-labs/jac#6766", lambda r, c: (lambda t: t[:t.rindex('"%s"' % list(last_first(c, c.t[1]))[-1])].rstrip(" ,") + r.choice(["", "}", ","]))(ser(last_first(c, c.t[1]))))
sv("elided_object", JR, lambda r, c: (lambda p: ser(dict(p[:1]))[:-1] + ", ...}")(list(c.value.items())))
sv("missing_value", JR, lambda r, c: ser({k: (Raw("") if k == c.t[0] else v) for k, v in c.value.items()}))
sv("two_objects_differ", "NousResearch/hermes-agent#26053", lambda r, c: ser(c.value) + r.choice(["", "\n", " ", "\nor\n"]) + ser({**c.value, c.t[1]: c.value[c.t[1]] + r.randint(1, 9)}))
sv("two_fences_differ", "BerriAI/litellm#40582", lambda r, c: "Option A:\n```json\n%s\n```\nOption B:\n```json\n%s\n```" % (ser(c.value), ser({**c.value, c.t[1]: c.value[c.t[1]] + r.randint(1, 9)})))
sv("placeholder_value", "timtoole02/Camelid#703", lambda r, c: ser({**c.value, c.t[1]: r.choice(["<integer>", "int", "integer", "<%s>" % c.t[1], "{{%s}}" % c.t[1], "$%s" % c.t[1].upper(), "TODO", "..."])}))


@kind("ndjson_for_array", "structure", JR)
def _(r):
    item, g = r.choice([(ITEM, g_item), (INGR, g_ingr), (ROOM, g_room), (BOX, g_box)])
    v = [g(r) for _ in range(r.randint(2, 4))]
    return {"type": "array", "items": item}, r.choice(["\n", ",\n"]).join(ser(x) for x in v), v


# ================================================================== null / optional
def nfield(r, base): return {"type": [base, "null"]} if r.random() < .5 else {"anyOf": [{"type": base}, {"type": "null"}]}


def nullable(name, source, bases, written, amb=False, want_value=None):
    @kind(name, "null/optional", source)
    def f(r):
        base = r.choice(bases)
        n = r.choice({"integer": ["page_offset", "parent_id", "line_hint"], "number": ["max_price", "score_limit"], "boolean": ["archived", "verbose"], "string": ["nickname", "cursor"], "array": ["labels", "filters"], "object": ["options", "location"]}[base])
        sch = nfield(r, base)
        c = build(r, extra=(1, 3), add=[(n, sch, None)])
        if r.random() < .5:
            c.schema["required"].remove(n)
        b = dict(c.value)
        b[n] = written(r)
        s, g, b = nest(r, c.schema, c.value, b)
        return s, dumps(r, b), g


NONSTR = ["integer", "number", "boolean", "array", "object"]
nullable("null_word_for_nullable", "PrimeIntellect-ai/renderers#52", NONSTR, lambda r: r.choice(["null", "NULL", "Null"]))
nullable("none_word_for_nullable", "UKGovernmentBEIS/inspect_ai#1599", NONSTR, lambda r: r.choice(["None", "none"]))
nullable("empty_string_for_nullable", "mozilla-ai/any-agent#781", ["integer", "number"], lambda r: r.choice(["", "", " "]))
nullable("python_none_bare", "modelscope/ms-swift#9968", NONSTR + ["string"], lambda r: Raw("None"))
nullable("undefined_for_nullable", JR, NONSTR + ["string"], lambda r: Raw("undefined"))
nullable("nil_for_nullable", PY + "test_parse_string.py", NONSTR + ["string"], lambda r: Raw("nil"))
nullable("upper_null_bare", JR, NONSTR + ["string"], lambda r: Raw(r.choice(["NULL", "Null"])))


def omitted(name, source, tags, written):
    @kind(name, "null/optional", source)
    def f(r):
        c = build(r, want=[tags], extra=(1, 3), opt=(0,))
        k = c.t[0]
        b = dict(c.value)
        b[k] = written(r)
        g = {x: v for x, v in c.value.items() if x != k}
        s, g, b = nest(r, c.schema, g, b)
        return s, dumps(r, b), g


ALLT = ("str", "int", "num", "bool", "enum", "strlist", "obj", "date")
omitted("null_for_optional", "UKGovernmentBEIS/inspect_ai#1477", ALLT, lambda r: None)
omitted("none_bare_for_optional", "livekit/agents#1185", ALLT, lambda r: Raw("None"))
omitted("undefined_for_optional", JR, ALLT, lambda r: Raw("undefined"))
omitted("null_word_for_optional", "mdegans/drama_llama#115", ("int", "num", "bool", "enum", "obj"), lambda r: r.choice(["null", "None"]))
omitted("empty_string_for_optional", "sgl-project/sglang#36835", ("int", "num", "enum", "obj"), lambda r: "")

NOPAR = [{"type": "object", "properties": {}}, {"type": "object", "properties": {}, "required": []}, {"type": "object", "properties": {}, "additionalProperties": False}]


@kind("no_parameters_empty_text", "null/optional", "langchain-ai/langchain#34242")
def _(r):
    s = dict(r.choice(NOPAR))
    s["title"] = r.choice(["get_status", "list_users", "ping", "refresh_cache", "current_time", "logout"])
    return s, r.choice(["", " ", "\n", "\n\n"]), {}


@kind("no_parameters_null_text", "null/optional", "langroid/langroid#988")
def _(r):
    s = dict(r.choice(NOPAR))
    s["title"] = r.choice(["get_status", "list_users", "ping", "refresh_cache", "current_time", "logout"])
    return s, r.choice(["null", "None", "{}\n", "()", '"{}"', "[]", '""', "```json\n{}\n```", s["title"] + "()"]), {}


vague("null_for_required", "null/optional", "langgenius/dify-plugin-sdks#82", ALLT, lambda r, v, s, c: None)
vague("null_word_for_required", "null/optional", "mdegans/drama_llama#115", ("int", "num", "bool", "enum", "date"), lambda r, v, s, c: r.choice(["null", "None", "undefined", "N/A", "-"]))
vague("empty_for_required", "null/optional", "sgl-project/sglang#36835", ("int", "num", "enum", "date"), lambda r, v, s, c: r.choice(["", {}, [], " "]))


@kind("required_missing", "null/optional", "brightwave-inc/tidebreak#1129")
def _(r):
    c = build(r, want=["str", ("int", "enum", "num")], extra=(1, 2), allreq=True)
    k = r.choice(list(c.value))
    g = {x: v for x, v in c.value.items() if x != k}
    s, g2, b = nest(r, c.schema, c.value, g)
    return s, dumps(r, b), AMB


@kind("empty_object_for_required", "null/optional", "Arthur-Ficial/apfel#241")
def _(r):
    c = build(r, want=["str"], extra=(0, 2), allreq=True)
    return c.schema, r.choice(["{}", "null", "", "None", "[]", "{ }", '"{}"']), AMB


# ================================================================== nesting
coerce("object_as_json_string", "nesting", "MoonshotAI/kimi-cli#2513", ("obj", "objlist"), lambda r, v, s, c: json.dumps(v, indent=r.choice([None, 2])))
coerce("object_as_json_string_twice", "nesting", "MoonshotAI/kimi-cli#2572", ("obj", "objlist"), lambda r, v, s, c: json.dumps(json.dumps(v)))
coerce("list_of_json_strings", "nesting", "MoonshotAI/kimi-cli#2513", "objlist", lambda r, v, s, c: [json.dumps(x) for x in v])
coerce("object_as_python_string", "nesting", "waybarrios/vllm-mlx#63", ("obj", "objlist"), lambda r, v, s, c: repr(v))
coerce("object_string_trailing_comma", "nesting", PY + "test_schema_repairer.py", "obj", lambda r, v, s, c: ser(v, tail=","))
coerce("object_string_unclosed", "nesting", PY + "test_schema_repairer.py", "obj", lambda r, v, s, c: json.dumps(v)[:-1] if not isinstance(list(v.values())[-1], (int, float)) or isinstance(list(v.values())[-1], bool) else None)
coerce("object_string_unquoted_keys", "nesting", "ml-explore/mlx-swift-lm#557", "obj", lambda r, v, s, c: ser(v, key=str))
coerce("object_string_fenced", "nesting", "vectorize-io/hindsight#2542", ("obj", "objlist"), lambda r, v, s, c: "```json\n%s\n```" % ser(v, ind=r.choice([None, 2])))
coerce("object_string_inner_quotes_raw", "nesting", "ollama/ollama#17486", "obj", lambda r, v, s, c: Raw('"%s"' % ser(v)))
coerce("object_wrapped_in_own_key", "nesting", "Kilo-Org/kilocode#3282", "obj", lambda r, v, s, c: {c.t[0]: v})
coerce("object_wrapped_in_properties", "nesting", "timtoole02/Camelid#703", "obj", lambda r, v, s, c: {"properties": v} if r.random() < .6 else {"type": "object", "properties": v})
coerce("object_wrapped_in_value", "nesting", "Kilo-Org/kilocode#3282", "obj", lambda r, v, s, c: {r.choice(["value", "object", "data"]): v})
coerce("object_keys_camel", "nesting", "taylorwilsdon/google_workspace_mcp#921", "obj", lambda r, v, s, c: (lambda x: x if x != v else None)({camel(k): y for k, y in v.items()}))
coerce("object_as_pairs", "nesting", BAML + "test_maps.rs", "obj", lambda r, v, s, c: [{r.choice(["key", "name"]) if i < 0 else n: k, "value": y} for n in [r.choice(["key", "name"])] for i, (k, y) in enumerate(v.items())])
coerce("object_numbers_as_strings", "nesting", "antirez/ds4#569", ("obj", "objlist"), lambda r, v, s, c: (lambda f: f(f, v))(lambda f, x: [f(f, y) for y in x] if isinstance(x, list) else {k: (str(y).lower() if isinstance(y, bool) else str(y) if isinstance(y, (int, float)) else y) for k, y in x.items()}) if any(not isinstance(y, str) for y in (v if isinstance(v, dict) else v[0]).values()) else None)


@kind("whole_as_json_string", "nesting", "quarkiverse/quarkus-langchain4j#2642")
def _(r):
    c = build(r, extra=(2, 4), tags=STR)
    return c.schema, json.dumps(json.dumps(c.value)), c.value


@kind("whole_as_json_string_twice", "nesting", "openclaw/openclaw#39327")
def _(r):
    c = build(r, extra=(2, 4), tags=STR)
    return c.schema, json.dumps(json.dumps(json.dumps(c.value))), c.value


@kind("whole_single_quoted", "nesting", "QwenLM/qwen-code#288")
def _(r):
    c = build(r, extra=(2, 4), tags=STR)
    return c.schema, r.choice(["'%s'", "`%s`", "'''%s'''"]) % ser(c.value), c.value


@kind("dotted_keys", "nesting", "bastani-inc/atomic#1507")
def _(r):
    c = build(r, want=["obj"], extra=(1, 2), closed=True)
    k = c.t[0]
    b = {}
    for a, v in c.value.items():
        if a == k:
            for x, y in v.items():
                b[r.choice(["%s.%s"]) % (a, x)] = y
        else:
            b[a] = v
    return c.schema, dumps(r, b), c.value


@kind("bracket_keys", "nesting", "anomalyco/opencode#35405")
def _(r):
    c = build(r, want=["objlist"], extra=(1, 2), closed=True)
    k = c.t[0]
    b = {}
    for a, v in c.value.items():
        if a == k:
            for i, e in enumerate(v):
                for x, y in e.items():
                    b["%s[%d].%s" % (a, i, x)] = y
        else:
            b[a] = v
    return c.schema, dumps(r, b), c.value


@kind("hoisted_fields", "nesting", "bastani-inc/atomic#1507")
def _(r):
    c = build(r, want=["obj"], extra=(1, 2), closed=True, allreq=True)
    k = c.t[0]
    b = {}
    for a, v in c.value.items():
        if a == k:
            if set(v) & set(c.value):
                return None
            b.update(v)
        else:
            b[a] = v
    return c.schema, dumps(r, b), c.value


@kind("three_levels_of_strings", "nesting", "MoonshotAI/kimi-cli#2513")
def _(r):
    inner, g = r.choice([(ITEM, g_item), (BOX, g_box), (ADDR, g_addr)])
    v = g(r)
    s = obj({"job": S, "payload": obj({"target": S, "spec": obj({"body": inner})})})
    w = r.choice(WORD)
    good = {"job": w, "payload": {"target": "t%d" % r.randint(1, 9), "spec": {"body": v}}}
    spec = json.dumps({"body": json.dumps(v)})
    bad = {"job": w, "payload": json.dumps({"target": good["payload"]["target"], "spec": spec})}
    return s, json.dumps(bad), good


@kind("deep_damage_mixed", "nesting", PY + "test_parse_object.py")
def _(r):
    v = g_item(r)
    s = obj({"label": S, "order": obj({"lines": {"type": "array", "items": ITEM}, "urgent": B})})
    w = r.choice(WORD)
    good = {"label": w, "order": {"lines": [v], "urgent": r.random() < .5}}
    t = "{label: '%s', order: {lines: [{sku: '%s', quantity: '%d', unit_price: %s,},], urgent: %s,}}" % (w, v["sku"], v["quantity"], v["unit_price"], "True" if good["order"]["urgent"] else "False")
    return s, t, good


@kind("string_for_object_vague", "nesting", BAML + "test_class.rs")
def _(r):
    c = build(r, want=["obj"], extra=(1, 2))
    b = dict(c.value)
    b[c.t[0]] = r.choice(["the usual", "see above", "same as last time", "default", "12 Main, 5th", "not given", "{}", "top-left quarter", "[object Object]", "as before", "large room upstairs"])
    return c.schema, dumps(r, b), AMB


@kind("list_values_for_object", "nesting", PY + "test_schema_repairer.py")
def _(r):
    c = build(r, want=["obj"], extra=(1, 2))
    b = dict(c.value)
    b[c.t[0]] = list(c.value[c.t[0]].values())
    return c.schema, dumps(r, b), AMB


@kind("two_objects_for_one", "nesting", BAML + "test_class.rs")
def _(r):
    c = build(r, want=["obj"], extra=(1, 2))
    a = c.value[c.t[0]]
    z = {k: (v + "x" if isinstance(v, str) else (not v) if isinstance(v, bool) else v + 1) for k, v in a.items()}
    if "operator" in z:
        z["operator"] = "eq" if a["operator"] != "eq" else "lt"
    b = dict(c.value)
    b[c.t[0]] = [a, z]
    return c.schema, dumps(r, b), AMB


# ================================================================== traps: everything here is right as it stands
def trap(name, source, field, values, schema=None, outer=None):
    """A string that looks damaged in a valid text: it must stay."""
    @kind(name, "traps", source)
    def f(r):
        v = values(r) if callable(values) else r.choice(values)
        n = field if isinstance(field, str) else r.choice(field)
        c = build(r, extra=(1, 3), add=[(n, {"type": "string"} if schema is None else schema, v)])
        s, g, b = nest(r, c.schema, c.value, copy.deepcopy(c.value), .25)
        return s, dumps(r, g) if outer is None else outer(r, g), g


TXT = ["message", "content", "comment", "description"]
trap("comma_text_in_string", "dojot/dojot#1764", ["favorite_colors", "location", "author", "summary"], ["red, blue", "Smith, John", "Paris, France", "1, 2, 3", "a; b; c", "read,write", "Salt, pepper", "x|y|z", "Portland, Oregon", "red and blue", "alpha / beta", "north,south,east"])
trap("json_text_in_string", "MoonshotAI/kimi-cli#2513", ["content", "body", "raw_payload", "json_text"], lambda r: json.dumps(r.choice([g_item, g_addr, g_box])(r), indent=r.choice([None, 2])))
trap("broken_json_in_string", "MoonshotAI/kimi-cli#2513", ["content", "body", "raw_payload"], ["{oops}", "{'a': 1,}", '{"a": 1', "[1, 2,", "{a: b}", "}{", '{"x": NaN}', "[,]", "{...}", "{{name}}"])
trap("leading_zeros_string", "lablup/mlxcel#1575", ["zip_code", "phone_number", "account_number", "pin_code"], lambda r: "0%d" % r.randint(1, 999999))
trap("number_text_in_string", "lablup/mlxcel#1575", ["build_id", "version", "house_number", "search_query"], ["42", "3.10", "1e5", "1,234", "0x1F", "+47", "1_000", "007", "5.", ".5", "1.0", "-0", "1/2", "10-20", "50%"])
trap("literal_word_in_string", "PrimeIntellect-ai/renderers#52", ["last_name", "answer", "nickname", "search_query"], ["None", "null", "true", "false", "True", "undefined", "NaN", "nil", "NULL", "yes", "no", "on", "off", "N/A"])
trap("code_in_string", PY + "test_parse_string.py", ["code", "content", "script"], lambda r: r.choice(["def %s(x):\n    return {'a': x, \"b\": [x,]}\n", "if (%s) { return y; } // done", "print(\"%s: 'ok'\")", "const %s = {a: 1, b: [2, 3,],};", "SELECT '%s' FROM t WHERE a = \"b\"; -- end", "echo \"$%s\" && ls | wc -l # count", "%s => { console.log(`x`) }", "x = {'%s': True, 'n': None}"]) % r.choice(WORD))
trap("fence_in_string", "langchain-ai/langchain#19646", TXT, lambda r: r.choice(["Run this:\n```bash\nls -la\n```\nand report.", "```json\n{\"a\": 1}\n```", "Use ```code``` for %s", "```\n%s\n```"]).replace("%s", r.choice(WORD)))
trap("think_tag_in_string", "probelabs/probe#439", TXT, lambda r: r.choice(["<think>%s</think>rest", "<thinking>%s", "The <think> tag opens %s", "</think> ends %s"]) % r.choice(WORD))
trap("tool_markup_in_string", "vllm-project/vllm#44060", TXT, lambda r: r.choice(["<tool_call>{\"name\": \"%s\"}</tool_call>", "<parameter=%s>1</parameter>", "</parameter>\n</invoke> %s", "<|tool_call|>%s", "[TOOL_CALLS]%s[ARGS]{}", "<arg_key>%s</arg_key>"]) % r.choice(WORD))
trap("entity_in_string", "smg-project/smg#1888", TXT, ["Tom &amp; Jerry", "a &lt; b", "&quot;quoted&quot;", "&#39;x&#39;", "%20 and %2F", "\\u00e9 written out", "a&nbsp;b", "5 &gt; 3 &amp;&amp; 2 &lt; 4"])
trap("comment_marks_in_string", JR, TXT, lambda r: r.choice(["see https://example.com/%s", "// %s", "/* %s */", "# %s", "a // b # c %s", "C:// %s", "<!-- %s -->", "*/ %s"]) % r.choice(WORD))
trap("backslashes_in_string", "openclaw/openclaw#88940", ["file_path", "pattern", "content"], ["C:\\new\\table.txt", "line one\\nline two", "\\d+\\s*", "\\\\server\\share", "a\\tb", "\\\"quoted\\\"", "\\u0041", "D:\\temp\\", "^\\w+$"])
trap("quotes_in_string", JR, TXT, ["'single'", "\"double\"", "it's", "5' 11\"", "“curly”", "`tick`", "'", "\"", "''", "she said \"hi, there\": ok", "“"])
trap("spaces_kept_in_string", "langchain-ai/langchainjs#5160", TXT, ["  indented", "trailing  ", "\n", " ", "", "a\n\n\nb\n", "\ttab", "\u00a0nbsp\u00a0", "x \n"])
trap("unit_text_in_string", "ml-explore/mlx-lm#1310", ["distance", "duration", "amount", "size"], ["5 km", "30s", "$19.99", "10-20", "about 5", "5+", "50%", "1.5 GB", "3rd", "two", "~7"])
trap("date_text_in_string", "MarcusBarnes/mik#195", ["when_text", "note", "period"], ["03/04/2024", "2024-02-30", "next Friday", "2024/05/01", "Q3", "March 2024", "20240501", "tomorrow", "5/13/24"])
trap("list_text_in_string", "MoonshotAI/kimi-cli#2513", ["content", "expression", "coordinates"], ["[1, 2, 3]", "['a', 'b']", "[\"x\"]", "- a\n- b", "1. one\n2. two", "(1, 2)", "[]", "[object Object]", "[link](https://example.com)"])
trap("call_text_in_string", VLLM + "test_pythonic_tool_parser.py", ["expression", "command", "content"], ["search(query=\"x\", limit=5)", "a=1&b=2", "--flag value", "key: value", "f(x)", "max(1, 2)", "x = 5", "city: Oslo\ndays: 3", "{city = \"Oslo\"}"])
trap("emoji_and_scripts_in_string", BAML + "test_international.rs", TXT, ["日本語，テスト：「はい」", "été à Nîmes", "😀👍🏽", "العربية، نعم؟", "नमस्ते", "ﬁn", "Ａ１", "a\u0301", "Straße", "\u200b"])
trap("string_or_list_union", "anthropics/claude-code#86459", ["assignees", "target", "filter"], ["[\"a\", \"b\"]", "a, b", "[1, 2]", "x", "{\"a\": 1}"], {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
trap("string_or_integer_union", "NousResearch/hermes-agent#5265", ["ref", "identifier", "page"], ["42", "007", "1e3", "next", "-1", "3.0"], {"type": ["integer", "string"]})
trap("nullable_string_words", "UKGovernmentBEIS/inspect_ai#1477", ["nickname", "cursor", "last_name"], ["null", "None", "", "undefined", "nil", "N/A"], {"type": ["string", "null"]})
trap("any_typed_value", "anthropics/claude-code#86459", ["default_value", "data", "extra"], ["42", "true", "null", "[1]", "{\"a\": \"1\"}", {"a": "1", "b": "true"}, ["1", "2"], "1,2"], {})
trap("free_map_odd_keys", "ollama/ollama#18390", ["connections", "labels", "env"], lambda r: {k: r.choice(WORD) for k in r.sample(["Basic LLM Chain", "a.b", "x[0]", "camelCase", "snake_case", " key ", "key:", "0", "", "naïve", "--flag", "UPPER"], 3)}, {"type": "object", "additionalProperties": {"type": "string"}})


@kind("wrapper_names_are_parameters", "traps", "ollama/ollama#16932")
def _(r):
    a, b = r.sample(["name", "arguments", "parameters", "properties", "input", "value", "type", "items", "data", "function"], 2)
    inner = r.choice([{"type": "object", "additionalProperties": True}, {"type": "object"}])
    s = {"type": "object", "properties": {a: {"type": "string"}, b: inner}, "required": [a, b]}
    v = {a: r.choice(WORD), b: r.choice([{"city": "Oslo", "n": "5"}, {"arguments": {"x": 1}}, {"properties": {"y": "2"}}, {"value": "3"}])}
    return s, dumps(r, v), v


@kind("spellings_both_declared", "traps", "bastani-inc/atomic#1507")
def _(r):
    a, b = r.choice([("max_results", "maxResults"), ("Name", "name"), ("filter.name", "filter"), ("user id", "user_id"), ("ID", "id"), ("tag", "tags"), ("time-out", "timeout")])
    s = {"type": "object", "properties": {a: S, b: S, "n": I}, "required": [r.choice([a, b])], "additionalProperties": False}
    v = {s["required"][0]: r.choice(WORD), "n": r.randint(1, 99)}
    if r.random() < .5:
        v[a if b in v else b] = r.choice(WORD)
    return s, dumps(r, v), v


@kind("extra_key_allowed", "traps", "timtoole02/Camelid#703")
def _(r):
    c = build(r, want=["str", "int"], extra=(1, 2), closed=False)
    g = dict(c.value)
    g[r.choice(["note", "arguments", "reasoning", "maxResults", "City Name", "extra.path", "type"])] = r.choice(["x", 5, True, ["a"], None, {"b": "1"}])
    return c.schema, dumps(r, g), g


@kind("enum_members_by_case", "traps", "comigor/artemis#152")
def _(r):
    vals = r.choice([["MB", "mb", "Mb"], ["PT", "pt"], ["A", "a"], ["m", "M"], ["null", "none", "all"], ["true", "false"], ["1", "01", "1.0"], ["yes", "no", "Yes"], ["", "x"]])
    v = r.choice(vals)
    c = build(r, extra=(1, 3), add=[("mode_code", {"type": "string", "enum": vals}, v)])
    return c.schema, dumps(r, c.value), c.value


def damaged(name, source, write, values):
    """Damage around a string that must be kept as it is."""
    @kind(name, "traps", source)
    def f(r):
        n, v = r.choice(TXT), values(r) if callable(values) else r.choice(values)
        c = build(r, extra=(1, 3), add=[(n, S, v)])
        return c.schema, write(r, c), c.value


TRICKY = ["a, b,", "{x: 1,}", "see // here", "True or None", "'quoted' text", "# not a comment", "/* keep */", "end }", "[1, 2,]", "key: value", "https://example.com/a?b=1&c=2", "``` fence", "a = b; c", "<tag>x</tag>", "50% off, today", "null", "...", "it's, 'ok'", "},{", "\\n stays"]
damaged("trailing_comma_tricky_string", JR, lambda r, c: ser(c.value, tail=",", ind=r.choice([None, 2])), TRICKY)
damaged("fenced_tricky_string", "langchain-ai/langchain#9654", lambda r, c: "```json\n%s\n```" % ser(c.value, ind=2), TRICKY)
damaged("unquoted_keys_tricky_string", PY + "test_parse_string.py", lambda r, c: ser(c.value, key=str), TRICKY)
damaged("commented_tricky_string", JR, lambda r, c: "// call\n%s" % ser(c.value, ind=2), TRICKY)
damaged("python_dict_tricky_string", "waybarrios/vllm-mlx#63", lambda r, c: repr(c.value), TRICKY)
damaged("missing_brace_tricky_string", "ollama/ollama#12017", lambda r, c: ser(c.value)[:-1] if isinstance(list(c.value.values())[-1], str) else ser(c.value) + "}", TRICKY)
damaged("argument_wrapper_tricky_string", "raullenchai/Rapid-MLX#1591", lambda r, c: ser({"name": c.tool, "arguments": json.dumps(c.value)}), TRICKY)
damaged("qwen_xml_tricky_string", "smg-project/smg#1899", lambda r, c: qwen(c), [x for x in TRICKY if "<" not in x])
damaged("python_call_tricky_string", VLLM + "test_pythonic_tool_parser.py", lambda r, c: "%s(%s)" % (c.tool, args(c.value)), TRICKY)

# ================================================================== valid: fits already
ANYT = SIMPLE + ("strlist", "intlist", "enumlist", "numlist", "obj", "objlist", "date", "datetime")


def ok(name, source, f2):
    @kind(name, "valid", source)
    def f(r):
        out = f2(r)
        if out is None:
            return None
        s, t, v = out
        return s, t, v


RFC = "https://www.rfc-editor.org/rfc/rfc8259"
JSS = "https://json-schema.org/draft/2020-12/json-schema-validation"


def vb(r, **kw): return build(r, **dict(dict(extra=(3, 6), tags=ANYT), **kw))


ok("valid_compact", RFC, lambda r: (lambda c: (c.schema, json.dumps(c.value, separators=(",", ":")), c.value))(vb(r)))
ok("valid_pretty", RFC, lambda r: (lambda c: (c.schema, json.dumps(c.value, indent=r.choice([2, 4, "\t"])), c.value))(vb(r)))
ok("valid_space_around", RFC, lambda r: (lambda c: (c.schema, r.choice(["\n%s\n", "  %s", "%s\r\n", "\t%s "]) % json.dumps(c.value), c.value))(vb(r)))
ok("valid_unicode_escapes", RFC, lambda r: (lambda c: (c.schema, json.dumps(c.value), c.value))(build(r, extra=(1, 3), add=[("message", S, r.choice(["élan — 日本", "😀 ok", "tab\there", "a/b\\c", "Ωmega", "quote \" in"]))])))
ok("valid_slash_escapes", RFC, lambda r: (lambda c: (c.schema, json.dumps(c.value).replace("/", "\\/"), c.value))(build(r, extra=(1, 3), add=[("url", S, r.choice(URL)), ("file_path", S, r.choice(PATH))])))
ok("valid_deep", RFC, lambda r: (lambda c: (lambda s, v: (s, dumps(r, v), v))(obj({"a": obj({"b": {"type": "array", "items": obj({"c": c.schema})}})}), {"a": {"b": [{"c": c.value}]}}))(vb(r)))
ok("valid_root_array", RFC, lambda r: (lambda v: ({"type": "array", "items": ITEM}, dumps(r, v), v))([g_item(r) for _ in range(r.randint(0, 4))]))
ok("valid_root_scalar", RFC, lambda r: r.choice([(S, '"%s"' % x, x) for x in SENT] + [(I, str(x), x) for x in (0, 7, -3, 120)] + [(B, "true", True), (B, "false", False), (N, "2.5", 2.5), ({"type": "null"}, "null", None), ({"type": "string", "enum": ["spam", "ham"]}, '"spam"', "spam")]))
ok("valid_number_forms", JSS, lambda r: (lambda t, x: (obj({"count": I, "ratio": N}), '{"count": %s, "ratio": %s}' % (t, r.choice(["1E-2", "0.01", "-0.0", "12", "6.02e23"])), None) and (lambda rr: (obj({"count": I, "ratio": N}), '{"count": %s, "ratio": %s}' % (t, rr), {"count": x, "ratio": float(rr)}))(r.choice(["1E-2", "0.01", "0.0", "12", "6.02e23", "-4.5"])))(*r.choice([("5.0", 5), ("1e3", 1000), ("-0", 0), ("120", 120), ("3.000", 3), ("2E2", 200), ("9007199254740991", 9007199254740991)])))
ok("valid_nulls", JSS, lambda r: (lambda c: (c.schema, dumps(r, c.value), c.value))(build(r, extra=(1, 3), add=[("parent_id", {"type": ["integer", "null"]}, None), ("cursor", {"anyOf": [S, {"type": "null"}]}, r.choice([None, "c1"]))])))
ok("valid_no_optionals", JSS, lambda r: (lambda c: (lambda v: (c.schema, dumps(r, v), v))({k: x for k, x in c.value.items() if k in c.schema["required"]}))(vb(r)))
ok("valid_empty", JSS, lambda r: r.choice([({"type": "object", "properties": {w: S}}, t, {}) for w in WORD for t in ("{}", "{ }", "{\n}")] + [({"type": "array", "items": {"type": "string", "description": w}}, "[]", []) for w in WORD]))
ok("valid_ref_defs", JSS, lambda r: (lambda k, s, g: (lambda v: ({"type": "object", "properties": {"first": {"$ref": "#/$defs/" + k}, "rest": {"type": "array", "items": {"$ref": "#/$defs/" + k}}}, "required": ["first"], "$defs": {k: s}}, dumps(r, v), v))({"first": g(r), "rest": [g(r) for _ in range(r.randint(0, 2))]}))(*r.choice([("Item", ITEM, g_item), ("Address", ADDR, g_addr), ("Box", BOX, g_box), ("Room", ROOM, g_room)])))
ok("valid_any_of", JSS, lambda r: (lambda v: (obj({"target": {"anyOf": [S, I, {"type": "array", "items": S}, BOX]}, "label": S}), dumps(r, v), v))({"target": r.choice(["x", "5", 5, ["a"], [], g_box(r)]), "label": r.choice(WORD)}))
ok("valid_one_of_tagged", JSS, lambda r: (lambda v: ({"type": "object", "properties": {"action": {"oneOf": [obj({"kind": {"const": "move"}, "dx": I, "dy": I}), obj({"kind": {"const": "say"}, "line": S})]}}, "required": ["action"]}, dumps(r, v), v))({"action": r.choice([{"kind": "move", "dx": r.randint(-9, 9), "dy": r.randint(-9, 9)}, {"kind": "say", "line": r.choice(SENT)}])}))
ok("valid_map", JSS, lambda r: (lambda v: (obj({"counts": {"type": "object", "additionalProperties": I}}), dumps(r, v), v))({"counts": {k: r.randint(0, 99) for k in r.sample(WORD + CITY, r.randint(0, 4))}}))
ok("valid_bounds_and_patterns", JSS, lambda r: (lambda v: (obj({"code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}, "share": {"type": "number", "minimum": 0, "maximum": 1}, "tags": {"type": "array", "items": S, "minItems": 1}}), dumps(r, v), v))({"code": r.choice([x for x in SKU if re.match("^[A-Z]{2}-[0-9]+$", x)]), "share": r.choice([0, 1, .5, .25]), "tags": r.sample(TAG, r.randint(1, 3))}))
ok("valid_odd_key_order", RFC, lambda r: (lambda c: (lambda p: (c.schema, dumps(r, dict(p)), dict(p)))(sorted(c.value.items(), key=lambda kv: kv[0][::-1])))(vb(r)))


# ================================================================== checking and writing
def jeq(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(jeq(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(jeq, a, b))
    return a == b


def isdate(s):
    try:
        datetime.date.fromisoformat(s)
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", s))
    except ValueError:
        return False


def isdt(s):
    m = re.fullmatch(r"(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)", s)
    return bool(m) and isdate(m[1]) and int(m[2]) < 24 and int(m[3]) < 60 and int(m[4]) < 61


def fits(v, s, root=None):
    root = s if root is None else root
    if s is True or s == {}:
        return True
    if s is False:
        return False
    if "$ref" in s:
        t = root
        for p in s["$ref"].split("/")[1:]:
            t = t[p]
        return fits(v, t, root)
    ty = s.get("type")
    if ty is not None:
        def is_(t):
            return {"string": isinstance(v, str), "boolean": isinstance(v, bool), "null": v is None, "object": isinstance(v, dict), "array": isinstance(v, list),
                    "number": isinstance(v, (int, float)) and not isinstance(v, bool), "integer": isinstance(v, (int, float)) and not isinstance(v, bool) and v == int(v) if isinstance(v, (int, float)) and v == v and abs(v) != float("inf") else False}[t]
        if not any(is_(t) for t in ([ty] if isinstance(ty, str) else ty)):
            return False
    if "enum" in s and not any(jeq(v, e) for e in s["enum"]):
        return False
    if "const" in s and not jeq(v, s["const"]):
        return False
    for k in ("anyOf", "oneOf"):
        if k in s:
            n = sum(fits(v, x, root) for x in s[k])
            if n == 0 or (k == "oneOf" and n != 1):
                return False
    if isinstance(v, str):
        if "pattern" in s and not re.search(s["pattern"], v):
            return False
        if s.get("format") == "date" and not isdate(v) or s.get("format") == "date-time" and not isdt(v):
            return False
    if isinstance(v, (int, float)) and not isinstance(v, bool):
        if v < s.get("minimum", v) or v > s.get("maximum", v):
            return False
    if isinstance(v, list):
        if len(v) < s.get("minItems", 0) or len(v) > s.get("maxItems", len(v)) or not all(fits(x, s.get("items", True), root) for x in v):
            return False
    if isinstance(v, dict):
        p = s.get("properties", {})
        if any(k not in v for k in s.get("required", ())):
            return False
        for k, x in v.items():
            if not fits(x, p[k] if k in p else s.get("additionalProperties", True), root):
                return False
    return True


def refuse_constant(x):
    raise ValueError(x)


def check(name, group, schema, text, expect):
    try:
        got = json.loads(text, parse_constant=refuse_constant)
        valid = fits(got, schema)
    except ValueError:
        valid = False
    if expect is AMB:
        if valid and name != "same_key_twice_differs":
            return "an ambiguous text is valid and fits"
        return None
    if not fits(expect, schema):
        return "the expectation does not fit"
    if valid and not jeq(got, expect):
        return "a valid, fitting text is expected to change"
    if group == "valid" and not valid:
        return "not valid"
    return None


def main():
    out, bad, groups = [], [], {}
    names = [k[0] for k in KINDS]
    assert len(names) == len(set(names)), [n for n in names if names.count(n) > 1]
    for name, group, source, f in KINDS:
        r = random.Random("%s/%s" % (SEED, name))
        seen, n = set(), 0
        for _ in range(PER_KIND * 40):
            if n == PER_KIND:
                break
            try:
                made = f(r)
            except ValueError as e:
                if "want" in str(e):
                    raise
                raise
            if made is None or made[1] is None:
                continue
            schema, text, expect = made
            mark = (json.dumps(schema, sort_keys=True), text)
            if mark in seen:
                continue
            why = check(name, group, schema, text, expect)
            if why:
                bad.append((name, why, text[:200]))
                continue
            if group not in ("valid", "traps") and expect is not AMB:
                try:
                    if jeq(json.loads(text), expect):
                        continue        # not damaged at all: belongs elsewhere
                except ValueError:
                    pass
            seen.add(mark)
            n += 1
            case = {"kind": name, "group": group, "source": source, "schema": schema, "text": text}
            if expect is AMB:
                case["ambiguous"] = True
            else:
                case["expect"] = {"value": expect}
            out.append(json.dumps(case, ensure_ascii=False))
        groups.setdefault(group, []).append((name, n))
    with open(os.path.join(HERE, "heldout.jsonl"), "w", encoding="utf-8") as fh:
        fh.write("\n".join(out) + "\n")
    print(len(KINDS), "kinds,", len(out), "cases")
    for g, ks in groups.items():
        print("%-14s %3d kinds %5d cases   few: %s" % (g, len(ks), sum(n for _, n in ks), [(k, n) for k, n in ks if n < 15]))
    if bad:
        by = {}
        for b in bad:
            by.setdefault(b[:2], []).append(b[2])
        for k, v in by.items():
            print("SKIPPED", k, len(v), repr(v[0]), file=sys.stderr)


if __name__ == "__main__":
    main()
