"""The agent's own files: state, journal, quarantine, held transcripts. Offsets move in commit.py, and only there."""
