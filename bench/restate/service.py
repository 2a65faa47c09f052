"""The tool service: that of the load tests, with a capability whose side effect is undeclared.

usage: python service.py PORT DEEDS
"""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "load"))
import service  # noqa: E402 (the path is set above)

service.CAPABILITIES.append({**service.capability("note", "undeclared")})

if __name__ == "__main__":
    asyncio.run(service.main())
