"""Where the scenarios come from: reports of people about agents, services and models."""

GOMIND = "https://github.com/itsneelabh/gomind"
AI_AGENT = "https://github.com/netdata/ai-agent"


def issue(repository: str, number: int) -> str:
    """The address of an issue, which leads to a pull request if it is one."""
    return f"https://github.com/{repository}/issues/{number}"
