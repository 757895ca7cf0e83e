"""Every bound and every notice of the product, in one place."""

from datetime import timedelta

from lastcall.engine.model import EventType

# R57: minimum notices. Terminate has the time its set configures (R63).
NOTICE_MIN = {
    EventType.FREEZE: timedelta(minutes=15),
    EventType.REBOOT: timedelta(minutes=15),
    EventType.REDEPLOY: timedelta(minutes=10),
    EventType.PREEMPT: timedelta(seconds=30),
}
NOTICE_MAX = timedelta(days=30)

# R63: notBeforeTimeout.
TERMINATE_NOTICE_MIN = timedelta(minutes=5)
TERMINATE_NOTICE_MAX = timedelta(minutes=15)
TERMINATE_NOTICE_DEFAULT = timedelta(minutes=5)

# R88: the only value an OS image notification may have.
OS_IMAGE_NOTICE = timedelta(minutes=15)

# R37: nobody asked for so long, so nobody is told any more.
IDLE_AFTER = timedelta(hours=24)

# R33: how long the very first GET of a scope may take.
FIRST_CALL_DELAY_MAX = timedelta(minutes=2)

# R47
GROUP_MACHINES_MAX = 100
# Instances on their way out make room for new ones, up to here.
SCOPE_MACHINES_MAX = 200
EVENTS_PER_SCOPE_MAX = 1_000
SET_MACHINES_MAX = 1000

FAULT_DOMAINS_DEFAULT = 5
UPDATE_DOMAINS = 5

EVENT_MACHINES_MAX = GROUP_MACHINES_MAX
DESCRIPTION_CHARACTERS_MAX = 512
DURATION_S_MAX = 86_400

# Each machine ever made gets a loopback address of its own, 127.1.0.1 to 127.255.255.253.
ORDINALS_MAX = 255 * 65_536 - 2

# R7
METADATA_REQUESTS_PER_SECOND = 5

METADATA_BODY_BYTES_MAX = 65_536
START_REQUESTS_MAX = 1_000
ARM_BODY_BYTES_MAX = 4 * 1024 * 1024
NAME_CHARACTERS_MAX = 64

RESOURCE_GROUPS_MAX = 980
RESOURCES_PER_GROUP_MAX = 2_000
RESOURCE_BYTES_MAX = 1024 * 1024
# The model of a set, which one body can fill half of, with what its instances have of their own.
SET_BYTES_MAX = 8 * 1024 * 1024
RESOURCE_NAME_CHARACTERS_MAX = 260
RESOURCE_DEPTH_MAX = 8
CHILDREN_MAX = 2_000
TAGS_MAX = 50
TAG_NAME_CHARACTERS_MAX = 512
TAG_VALUE_CHARACTERS_MAX = 256
LIST_PAGE_MAX = 1_000
# Lists of the control plane come in pages of so many.
LIST_PAGE = 200
SKIP_TOKEN_CHARACTERS_MAX = 512
FILTER_CHARACTERS_MAX = 1_024
# Rolling upgrades of a set that are remembered, the latest included.
ROLLOUTS_KEPT = 20
# What an instance may have of its own: extensions, run commands, data disks.
INSTANCE_CHILDREN_MAX = 64

EFFECTS_PER_PASS_MAX = 512
SCOPES_PER_PASS_MAX = 64
LEASE = timedelta(seconds=30)
RETRY_DELAY_FIRST = timedelta(seconds=1)
RETRY_DELAY_MAX = timedelta(minutes=1)

HISTORY_ROWS_MAX = 200_000
ACTIVITIES_MAX = 50_000
HISTORY_PAGE_MAX = 1_000
FINISHED_KEPT = timedelta(days=7)
OPERATIONS_KEPT = timedelta(days=7)

# What Azure allows a template.
TEMPLATE_BYTES_MAX = 4 * 1024 * 1024
DEPLOYMENTS_PER_GROUP_MAX = 800
TEMPLATE_PARAMETERS_MAX = 256
TEMPLATE_VARIABLES_MAX = 512
TEMPLATE_RESOURCES_MAX = 800
TEMPLATE_OUTPUTS_MAX = 64
TEMPLATE_COPIES_MAX = 800
EXPRESSION_CHARACTERS_MAX = 24_576
# What we allow it besides: nesting that recursion can bear, and work that ends soon.
EXPRESSION_DEPTH_MAX = 50
TEMPLATE_DEPTH_MAX = 64
TEMPLATE_EVALUATION_DEPTH_MAX = 120
TEMPLATE_WORK_MAX = 1_000_000
TEMPLATE_NESTED_DEPLOYMENTS_MAX = 5
# How long a token is good for: a principal's, and that of a machine's identity.
TOKEN_LIFETIME = timedelta(hours=1)
MACHINE_TOKEN_LIFETIME = timedelta(hours=24)
# A token may be used a little before it was issued: clocks are put right.
TOKEN_EARLY = timedelta(minutes=5)
TOKEN_CHARACTERS_MAX = 16_384
TOKEN_FORM_BYTES_MAX = 65_536
TOKEN_FORM_FIELDS_MAX = 64
TOKEN_RESOURCE_CHARACTERS_MAX = 2_048
PRINCIPALS_MAX = 1_000

RESOURCES_PER_PASS_MAX = 64

# R114: autoscale, as its documents say.
AUTOSCALE_PROFILES_MAX = 20
AUTOSCALE_RULES_MAX = 10
AUTOSCALE_NAME_CHARACTERS_MAX = 260
AUTOSCALE_PERIOD = timedelta(minutes=1)
GRAIN_MIN = timedelta(minutes=1)
GRAIN_MAX = timedelta(hours=12)
WINDOW_MIN = timedelta(minutes=5)
WINDOW_MAX = timedelta(hours=12)
COOLDOWN_MIN = timedelta(minutes=1)
COOLDOWN_MAX = timedelta(weeks=1)
LOOK_AHEAD_MIN = timedelta(minutes=1)
LOOK_AHEAD_MAX = timedelta(minutes=60)

# No rule looks back farther than its window.
METRIC_KEPT = WINDOW_MAX
METRIC_POINTS_MAX = 1_000
METRICS_MAX = 200
METRIC_NAME_CHARACTERS_MAX = 128
METRIC_VALUE_MAX = 1e15
# How far the clock of whoever reports may be ahead of ours.
METRIC_AHEAD_MAX = timedelta(minutes=1)
