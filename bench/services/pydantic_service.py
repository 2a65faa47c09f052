"""Plans, executes and answers with PydanticAI: `uvicorn pydantic_service:app`."""

from fastapi import FastAPI
from plans import BACKEND, PLANNER, Plan, Request, call
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{BACKEND}/v1", api_key="sk-scripted"))
planner = Agent(model, output_type=Plan, system_prompt=PLANNER)
writer = Agent(model, system_prompt="Answer the request with these results.")
app = FastAPI()


@app.post("/ask")
async def ask(body: Request):
    plan = (await planner.run(body.request)).output
    results = {}
    for step in plan.steps:
        results[step.id] = await call(step, results)
    answer = await writer.run(f"{body.request}\n{results}")
    return {"response": answer.output}
