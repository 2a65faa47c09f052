"""The scripted model and the tools that all services use: `uvicorn backend:app`.

The model writes the plan of a request in the form that the service asks for, and then the answer.
"""

import json
import time

from fastapi import FastAPI, Request

app = FastAPI()

PLACES = {"Seoul": (37.5665, 126.978)}
PLAN = {
    "steps": [
        {"step_id": "step-1", "agent_name": "geo", "instruction": "Find Seoul", "depends_on": [],
         "metadata": {"capability": "geocode", "parameters": {"location": "Seoul"}}},
        {"step_id": "step-2", "agent_name": "weather", "instruction": "Get the weather", "depends_on": ["step-1"],
         "metadata": {"capability": "current", "parameters": {"lat": "{{step-1.lat}}", "lon": "{{step-1.lon}}"}}},
    ]
}
SIMPLE_PLAN = {
    "steps": [
        {"id": "step-1", "tool": "geocode", "parameters": {"location": "Seoul"}},
        {"id": "step-2", "tool": "current", "parameters": {"lat": "$step-1.lat", "lon": "$step-1.lon"}},
    ]
}
ANSWER = "In Seoul it is clear, at 14.5 degrees."


@app.post("/v1/chat/completions")
async def complete(request: Request):
    body = await request.json()
    text = json.dumps(body["messages"])
    tools = body.get("tools") or []
    calls = None
    if "depends_on" in text and "14.5" not in text:
        content = json.dumps(PLAN)
    elif "14.5" in text:
        content = ANSWER
    elif tools:
        content = None
        call = {"name": tools[0]["function"]["name"], "arguments": json.dumps(SIMPLE_PLAN)}
        calls = [{"id": "call_1", "type": "function", "function": call}]
    else:
        content = json.dumps(SIMPLE_PLAN)
    message = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
    usage = {"prompt_tokens": 500, "completion_tokens": 80, "total_tokens": 580}
    return {"id": "c-1", "object": "chat.completion", "created": int(time.time()), "model": "scripted", "choices": [choice], "usage": usage}


@app.get("/geocode", operation_id="geocode")
async def geocode(location: str):
    lat, lon = PLACES[location]
    return {"lat": lat, "lon": lon}


@app.get("/current", operation_id="current")
async def current(lat: float, lon: float):
    assert (lat, lon) == PLACES["Seoul"]
    return {"condition": "clear", "temperature": 14.5}
