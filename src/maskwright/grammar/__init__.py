"""Text to closed typed trees to rules: schemas, patterns, numbers, regular terms."""
