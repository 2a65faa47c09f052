"""OpenAI Agents SDK with DBOS: the agent of openai_agents_peer.py, run by `DBOSRunner` in a workflow; its tools are steps."""

import dbos_common
import openai_agents_peer as peer
from common import SPEC
from dbos import DBOS
from dbos_openai_agents import DBOSRunner

clerk = peer.agent(dbos_common.call_tool)


@DBOS.workflow()
async def work() -> str:
    result = await DBOSRunner.run(clerk, SPEC["request"], max_turns=SPEC["max_turns"])
    while result.interruptions:
        state = result.to_state()
        peer.decide(state, await dbos_common.ask_person(peer.question_of(result)))
        result = await DBOSRunner.run(clerk, state, max_turns=SPEC["max_turns"])
    return result.final_output


if __name__ == "__main__":
    dbos_common.main(work)
