"""What `json_repair` and BAML read from each text, for the shares of correct answers.

usage: python answers.py PEER INPUT
  PEER   `json_repair`  repair_json(text, return_objects=True)
         `baml`         a function that returns any JSON
  INPUT  one JSON object per line: `text`

Prints the version, then one line per text: `{"value": ...}` or `{"error": ...}`.
"""

import json
import sys
from importlib.metadata import version

peer, source = sys.argv[1:]

BAML = """
type JSON = string | int | float | bool | null | JSON[] | map<string, JSON>

client<llm> Unused {
  provider openai
  options {
    model "unused"
    api_key "unused"
  }
}

function Read(text: string) -> JSON {
  client Unused
  prompt #"{{ text }}"#
}
"""

if peer == "baml":
    import types

    from baml_py import BamlRuntime

    runtime = BamlRuntime.from_files("baml_src", {"baml_src/read.baml": BAML}, {})
    context, module = runtime.create_context_manager(), types.ModuleType("empty")

    def read(text):
        return runtime.parse_llm_response("Read", text, module, module, module, False, context, None, None, {})

    print("BAML", version("baml-py"))
else:
    from json_repair import repair_json

    def read(text):
        return repair_json(text, return_objects=True)

    print("json_repair", version("json_repair"))

with open(source, encoding="utf-8") as lines:
    for line in lines:
        try:
            answer = json.dumps({"value": read(json.loads(line)["text"])}, allow_nan=False)
        except Exception as error:  # A refused text, or a value that is not JSON.
            answer = json.dumps({"error": str(error)[:200]})
        print(answer)
