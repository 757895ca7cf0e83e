"""Scale sets' terminate notifications and Scheduled Events, in Azure's own wire formats."""

__version__ = "0.1.0"
