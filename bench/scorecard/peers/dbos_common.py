"""Durable workflows with DBOS on SQLite, for agents whose documentation recommends it: every tool call is a step, and a process that starts again
continues the workflows that the killed one left. Approvals arrive as messages to the workflow.
"""

import asyncio

import common
from common import FOLDER, PHASE, SPEC
from dbos import DBOS, DBOSClient, SetWorkflowID

DATABASE = f"sqlite:///{FOLDER}/dbos.db"
WORKFLOW, QUESTION, DECISION = "cell", "question", "decision"
TOOLS = {tool["name"]: tool for tool in SPEC["tools"]}


@DBOS.step()
async def tool_step(name: str, arguments: dict, key: str | None) -> dict:
    return await common.call_tool(TOOLS[name], arguments, key)


async def call_tool(tool: dict, arguments: dict, key: str | None) -> dict:
    return await tool_step(tool["name"], arguments, key)


@DBOS.workflow()
async def program() -> str:
    """The calls as a program: a workflow whose calls are steps."""
    results = {}
    for number, stage in enumerate(SPEC["stages"]):
        calls = []
        for place, call in enumerate(stage):
            arguments = common.program_arguments(TOOLS[call["tool"]], call["arguments"], results)
            calls.append(tool_step(call["tool"], arguments, f"cell-{number}-{place}"))
        for call, result in zip(stage, await asyncio.gather(*calls)):
            results[call["tool"]] = result
    return common.program_answer(results)


asked = 0


async def ask_person(question) -> str:
    """Called in a workflow: waits for the decision of a person, across restarts."""
    global asked
    asked += 1
    await DBOS.set_event_async(QUESTION, {"number": asked, "question": question})
    return await DBOS.recv_async(DECISION, timeout_seconds=3600)


async def drive(workflow) -> dict:
    """Starts the workflow, or waits for the one that DBOS recovers, until it ends or asks a person."""
    if PHASE == "start":
        with SetWorkflowID(WORKFLOW):
            handle = await DBOS.start_workflow_async(program if SPEC["program"] else workflow)
    else:
        try:
            handle = await DBOS.retrieve_workflow_async(WORKFLOW)
        except Exception:  # Killed before the workflow was stored.
            with SetWorkflowID(WORKFLOW):
                handle = await DBOS.start_workflow_async(program if SPEC["program"] else workflow)
    result = asyncio.create_task(handle.get_result())
    decided = 0 if common.decision() is None else 1
    while SPEC["approve"] and not result.done():
        # The question that nobody has answered yet, if there is one.
        event = await DBOS.get_event_async(WORKFLOW, QUESTION, timeout_seconds=0.2)
        if event and event["number"] > decided:
            return {"status": "waiting", "question": event["question"]}
        await asyncio.sleep(0.2)
    return {"status": "done", "answer": await result}


def main(workflow):
    if PHASE == "decide":
        common.store_decision()
        client = DBOSClient(system_database_url=DATABASE)
        client.send(WORKFLOW, SPEC["decision"], DECISION)
        client.destroy()
        return

    async def work():
        DBOS.launch()
        return await drive(workflow)

    DBOS(config={"name": "scorecard", "system_database_url": DATABASE, "application_version": "1", "log_level": "WARNING"})
    common.main(work)
