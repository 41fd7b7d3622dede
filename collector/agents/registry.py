"""The coding agents whose files we read, one line each. Nothing outside this room names one."""

from __future__ import annotations

from collector.agents.claude_code import ClaudeCode
from collector.agents.format import AgentFormat

# The first is the default for a configured root that names no agent.
AGENTS: dict[str, AgentFormat] = {each.name: each for each in (ClaudeCode(),)}
