"""Rules to a byte machine: derivatives, leaf automata, contexts, configurations."""
