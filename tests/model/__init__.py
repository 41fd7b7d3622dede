"""The model: generated sequences of file actions, sink moods and crashes, checked against what must hold."""
