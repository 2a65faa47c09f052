"""PydanticAI with DBOS: the agent of pydantic_ai_peer.py with the capability `DBOSDurability`, run in a workflow; its tools are steps."""

import dbos_common
import pydantic_ai_peer as peer
from common import SPEC
from dbos import DBOS
from pydantic_ai import DeferredToolRequests
from pydantic_ai.durable_exec.dbos import DBOSDurability

clerk = peer.agent(dbos_common.call_tool, capabilities=[DBOSDurability()])


@DBOS.workflow()
async def work() -> str:
    result = await peer.run(clerk, SPEC["request"])
    while isinstance(result.output, DeferredToolRequests):
        decided = await dbos_common.ask_person(peer.question_of(result.output))
        results = peer.results_of(result.output, decided)
        result = await peer.run(clerk, message_history=result.all_messages(), deferred_tool_results=results)
    return result.output


if __name__ == "__main__":
    dbos_common.main(work)
