"""The agent: LangGraph with the tools of one MCP server, as in the documentation of `langchain-mcp-adapters`. It is the same for both sides."""

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


async def answer(server: dict, model_url: str, model: str, request: str) -> list[str]:
    """The texts of the conversation."""
    client = MultiServerMCPClient({"shop": {"transport": "stdio", **server}})
    async with client.session("shop") as session:
        return await run(await load_mcp_tools(session), model_url, model, request)


async def answer_with_a_session_per_call(server: dict, model_url: str, model: str, request: str) -> list[str]:
    """The same with `get_tools`, which starts the server once for each call."""
    client = MultiServerMCPClient({"shop": {"transport": "stdio", **server}})
    return await run(await client.get_tools(), model_url, model, request)


async def run(tools: list, model_url: str, model: str, request: str) -> list[str]:
    chat = ChatOpenAI(model=model, base_url=f"{model_url}/v1", api_key="none").bind_tools(tools)

    async def call_model(state: MessagesState):
        return {"messages": [await chat.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    state = await graph.compile().ainvoke({"messages": [("user", request)]})
    return [str(message.content or message.tool_calls) for message in state["messages"]]
