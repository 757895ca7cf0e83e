"""The control plane: one module per kind of resource."""
