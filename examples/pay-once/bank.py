# A bank with one account. It pays at once and answers ten seconds later. Start it with: python3 bank.py 8085
import json, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAYMENTS = {}  # idempotency key -> payment, so that a call that is sent twice pays once
CAPABILITIES = [
    {"name": "pay", "effect": "keyed", "description": "Pays an invoice",
     "input_summary": {"required": [{"name": "invoice", "type": "string"}, {"name": "amount", "type": "number"}]}},
    {"name": "list_payments", "effect": "read", "description": "Lists all payments"},
]

class Bank(BaseHTTPRequestHandler):
    def answer(self, body, status=200):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def do_GET(self):
        self.answer(*((CAPABILITIES,) if self.path == "/api/capabilities" else (None, 404)))

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        if self.path.endswith("/list_payments"):
            return self.answer({"payments": list(PAYMENTS.values())})
        if given["amount"] > 1000:
            refusal = {"code": "LIMIT", "message": "the account has less than that", "category": "INPUT_ERROR"}
            return self.answer({"success": False, "error": refusal}, 400)
        key = self.headers["Idempotency-Key"] or f"no key, {len(PAYMENTS)}"
        if key not in PAYMENTS:
            PAYMENTS[key] = {"payment": len(PAYMENTS) + 1, **given}
            time.sleep(10)
        self.answer(PAYMENTS[key])

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Bank).serve_forever()
