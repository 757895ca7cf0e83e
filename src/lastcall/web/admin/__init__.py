"""Our own API, under /lastcall/v1/: clock, events, fleet, history, stream, activities, metrics."""
