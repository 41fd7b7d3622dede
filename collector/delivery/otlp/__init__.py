"""OTLP: what the otlp sink says, in OpenTelemetry's words. Events in; log records, spans and their bytes out."""
