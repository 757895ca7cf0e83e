"""HTTP for people and their tools: the control plane, our own API, and nothing that decides."""
