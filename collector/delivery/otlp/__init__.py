"""OTLP: puts events into OpenTelemetry's terms. Events go in; log records, spans and their bytes come out."""
