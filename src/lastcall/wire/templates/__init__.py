"""ARM templates: the expression language, the plan of a deployment, and what it would change.

Everything here is pure. Nothing else of the package imports it before the first deployment.
"""

from lastcall.wire.templates.context import Context, Group, LookUp
from lastcall.wire.templates.plan import Plan, PlannedResource
from lastcall.wire.templates.planner import plan_deployment
from lastcall.wire.templates.whatif import what_if

__all__ = ["Context", "Group", "LookUp", "Plan", "PlannedResource", "plan_deployment", "what_if"]
