"""Which coding agents are read. One line each; nothing else in the house names one."""

from __future__ import annotations

from collector.agents.claude_code import ClaudeCode
from collector.agents.format import AgentFormat

# The first one is meant where a root of the configuration names none.
AGENTS: dict[str, AgentFormat] = {each.name: each for each in (ClaudeCode(),)}
