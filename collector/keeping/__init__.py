"""The files of our own: state, journal, quarantine, held transcripts. Every offset moves in commit.py."""
