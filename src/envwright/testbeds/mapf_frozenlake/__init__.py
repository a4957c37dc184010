"""MAPF-FrozenLake: multi-agent path finding on a frozen lake with holes."""
