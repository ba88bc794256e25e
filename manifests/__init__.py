"""How kueue-steps is installed; the Python here writes what follows from something else."""
