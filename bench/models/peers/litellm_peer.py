"""litellm, and the same exchange without it. src/litellm.rs documents the protocol of the pipes."""
import json
import os
import socket
import sys
import time

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LITELLM_LOG"] = "ERROR"
import importlib.metadata

import litellm

litellm.suppress_debug_info = True
litellm.telemetry = False

url, model, system, question, tokens, words = sys.argv[1:]
tokens, words = int(tokens), int(words)
messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]


def whole():
    answer = litellm.completion(
        model="openai/" + model, api_base=url, api_key="none", messages=messages, temperature=0, max_tokens=tokens, num_retries=0
    )
    assert len(answer.choices[0].message.content.split(" ")) == words


def stream():
    pieces = 0
    for _ in litellm.completion(
        model="openai/" + model, api_base=url, api_key="none", messages=messages, temperature=0, max_tokens=tokens, num_retries=0,
        stream=True, stream_options={"include_usage": True},
    ):
        pieces += 1
    assert pieces >= words, pieces


host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
connection = socket.create_connection((host, int(port)))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def request(streaming):
    body = {"model": model, "messages": messages, "temperature": 0, "max_tokens": tokens}
    if streaming:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    body = json.dumps(body).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


prepared = {"whole": request(False), "stream": request(True)}


def is_complete(data):
    head = data.find(b"\r\n\r\n")
    if head < 0:
        return False
    for line in data[:head].lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(data) >= head + 4 + int(line.split(b":")[1])
    return data.endswith(b"0\r\n\r\n")


def bare(mode):
    connection.sendall(prepared[mode])
    data = bytearray()
    while not is_complete(data):
        chunk = connection.recv(16 * 1024)
        assert chunk, "the server closed the connection"
        data += chunk


def measure(call):
    start = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - start


print(f"litellm {importlib.metadata.version('litellm')} on Python {sys.version.split()[0]}", flush=True)
for line in sys.stdin:
    client, mode, calls = line.split()
    call = (lambda: bare(mode)) if client == "bare" else {"whole": whole, "stream": stream}[mode]
    print(*(measure(call) for _ in range(int(calls))), flush=True)
