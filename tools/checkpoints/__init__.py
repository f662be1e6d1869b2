"""Random gpt-oss checkpoints: how values are drawn, packed, laid out and written."""
