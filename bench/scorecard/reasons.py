"""Why Reknit is as it is where a peer is better, by scenario. The report prints them beside the figures; it fails if one is missing."""

REASONS = {
    "zero-accepted": "neither the tool nor its schema says that 0 is wrong, so there is no failure to mend. Nothing states the 0, so the caller gets a doubt with the answer. "
    "A schema with a minimum makes it a failure, and `expect` catches it; a guess about which zero was meant would be worse",
    "kill-undeclared-unprocessed": "of a call of which nothing is declared, nobody can know whether it took effect, so a person is asked. To make it again would send the mail twice "
    "if the process is killed after the mail was sent. A tool that is declared `keyed`, or that can be looked up, needs no such choice",
    "invented-field": "the model is told that there is no such field, because it may have meant something by it (here: to notify the customer). The peers drop it in silence",
    "twice-on-purpose": "a call that succeeded is made again only with a reason, for which the model is asked once. The price of the two scenarios above it, in which the peers order twice",
    "endless-loop": "an agent that has used up its turns is asked for a report of what it knows, up to three times. The peers end with an error",
    "read-503-for-ever": "the model reads the error and may do something else; here it repeats the call. LangGraph and PydanticAI end the run with the error",
    "model-context": "the server states a window of 8192 tokens, into which the second question fits, so Reknit asks that model again. In the scenario the statement is wrong",
    "stream-no-end": "a stream without its end mark may be cut anywhere, so the answer is asked for again",
    "all-models-down": "each model is asked for a report once more before the run is given up. The others retry one server and know no second one",
    "kill-unsafe-answered": "Reknit has the answer of the transfer in its journal and finishes the run. The others stop with a call of which they do not know the outcome",
    "overhead": "it is the whole life of a process: it starts, asks the service for its tools, creates its journal, and syncs every step to the disk before it goes on",
    "over_path": "Reknit waits up to a quarter longer than `Retry-After` says, so that many clients do not come back at the same moment, and longer each time that the service refuses again",
    "reject": "the model reads why the transfer was rejected and may propose something else. io-harness ends the run",
}

REASONS |= dict.fromkeys(
    ["claim-failed-pay-503", "claim-slow-pay", "claim-slow-get_stock", "down-stock", "down-order"],
    "the model reads the error and answers, and the report says what failed. LangGraph and PydanticAI end the run with the error",
)

REASONS |= dict.fromkeys(
    ["model-quota", "model-401"],
    'by default the run ends when an account is exhausted or a key is rejected, so that somebody notices. `on-auth-error = "skip"` asks the next model',
)

# The same for every scenario of the set `outside` in which Reknit is not correct.
OUTSIDE_REASONS = {
    "outside-success-after-detours": "a call that succeeds makes good one earlier call that failed, and here two differ from it. `TEA` also counts as stated because it stands in `TEA-1`. "
    "The order is placed once, and the caller is told that an order of `TEA` was not",
    "outside-arguments-in-an-argument": "the refused call has no value in common with the one that succeeds, so it counts as another payment that was not made",
    "outside-quota-used-up": 'by default the run ends when an account is exhausted or a key is rejected, so that somebody notices. `on-auth-error = "skip"` asks the next model, and is correct here',
    "outside-stream-busy-everywhere": "both servers ask for ten minutes. Reknit waits two times a minute and then reports, after 121 s. A run may take 120 s here",
    "outside-tool-hangs-always": "after ten failed calls the circuit breaker of the tool makes each further attempt wait 30 s, and each call has four. It reports after 125 s, and a run may take 120 s here",
}
