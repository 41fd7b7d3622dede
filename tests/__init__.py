"""The tests: black box first. build.py makes homes, sink.py receives, agent.py runs the command."""
