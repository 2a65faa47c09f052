"""The model: an OpenAI-compatible server that plays the tasks, the same for both sides. It decides from the conversation alone.

usage: python model.py PORT

- A result of the shop is JSON. Any other text is an error to the model, whoever wrote it and however it is worded.
- After an error it writes the next arguments that the task has for this call. If there are none, it makes the same call again, twice at
  most, without waiting, whatever the error advises. Then it gives up and says so.
- The model `careless` believes every result that is JSON. `careful` also sees an `error` inside a result, and reads a note after it: if its
  user wants a call to be repeated and the note says that it was not, it makes the call once more and states why.
"""

import json
import re
import sys
import uuid

import uvicorn
from fastapi import FastAPI, Request
from tasks import TASKS, Task

RETRIES = 2
REPEAT_ARGUMENT = "repeat_reason"

app = FastAPI()
count = 0


def text_of(message: dict) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content)


def value_of(text: str) -> dict | None:
    """The JSON object with which a result begins."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text.strip())
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def is_error(text: str, model: str) -> bool:
    value = value_of(text)
    return value is None or (model == "careful" and bool(value.get("error")))


def next_message(task: Task, model: str, history: list[dict], names: list[str]) -> dict:
    """What the model says after this conversation."""
    at, attempt, retries, results, turn = 0, 0, 0, [], []
    for index, message in enumerate(history):
        if message["role"] != "tool":
            turn = []
            continue
        turn.append(text_of(message))
        if index + 1 < len(history) and history[index + 1]["role"] == "tool":
            continue
        call = task.calls[at]
        failed = next((text for text in turn if is_error(text, model)), None)
        if failed is None:
            not_repeated = call.is_repeated_on_purpose and any(REPEAT_ARGUMENT in text for text in turn)
            if model == "careful" and not_repeated:
                if index + 1 < len(history):
                    continue
                again = {**call.tries[attempt], REPEAT_ARGUMENT: "the user wants it twice"}
                return {"content": None, "tool_calls": tool_calls(call.tool, again, 1, names)}
            results.append(value_of(turn[-1]) or {})
            at, attempt, retries = at + 1, 0, 0
        elif attempt + 1 < len(call.tries):
            attempt += 1
        elif retries < RETRIES:
            retries += 1
        else:
            return {"content": f"FAILED: {failed}"}
    if at == len(task.calls):
        return {"content": "DONE: " + filled(task.answer, results)}
    call = task.calls[at]
    return {"content": None, "tool_calls": tool_calls(call.tool, call.tries[attempt], call.times, names)}


def filled(answer: str, results: list[dict]) -> str:
    values = {name: value for result in results for name, value in result.items()}
    return re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], "unknown")), answer)


def tool_calls(tool: str, arguments: dict, times: int, names: list[str]) -> list[dict]:
    name = next(name for name in names if name == tool or name.endswith("__" + tool))
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [{"id": f"call_{uuid.uuid4().hex[:12]}", "type": "function", "function": function} for _ in range(times)]


@app.post("/v1/chat/completions")
async def complete(request: Request):
    global count
    count += 1
    body = await request.json()
    asked = next(text_of(message) for message in body["messages"] if message["role"] == "user")
    task = next(task for task in TASKS if task.request == asked)
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    message = next_message(task, body["model"], body["messages"], names)
    return {
        "id": f"chatcmpl-{count}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@app.post("/_bench/reset")
def reset():
    global count
    count = 0


@app.get("/_bench/count")
def read_count():
    return count


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
