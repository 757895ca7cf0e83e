from datetime import timedelta

from lastcall.engine.effects import Failure
from lastcall.engine.model import OperationId
from lastcall.engine.operations import Operation, OperationStatus
from tests.web.desk import NOON, SUBSCRIPTION, WEB

LOCATION = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/westus"


async def a_deletion(web):
    return await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["0"]})


async def test_an_operation_in_progress_says_when_to_ask_again(web):
    started = await a_deletion(web)

    answer = await web.send("GET", started.headers["azure-asyncoperation"])

    assert answer.headers["retry-after"] == "1"
    assert answer.content == (
        b'{\r\n  "startTime": "2026-03-05T12:00:00+00:00",\r\n  "status": "InProgress",\r\n'
        b'  "name": "' + started.headers["x-ms-request-id"].encode() + b'"\r\n}'
    )


async def test_the_monitor_sends_its_address_again_while_the_operation_runs(web):
    started = await a_deletion(web)

    answer = await web.send("GET", started.headers["location"])

    assert answer.status_code == 202
    assert answer.headers["location"] == started.headers["location"]
    assert answer.headers["retry-after"] == "1"


async def test_an_operation_that_is_over_succeeded_and_its_monitor_is_empty(web):
    started = await a_deletion(web)
    await web.settle(timedelta(minutes=10))

    status = await web.send("GET", started.headers["azure-asyncoperation"])
    monitor = await web.send("GET", started.headers["location"])

    assert status.json()["status"] == "Succeeded"
    assert status.json()["endTime"] == "2026-03-05T12:10:00+00:00"
    assert "retry-after" not in status.headers
    assert (monitor.status_code, monitor.content) == (200, b"")


async def test_an_operation_that_failed_says_why(desk):
    operation = Operation(
        id=OperationId("failed"),
        name="restart",
        location="westus",
        started_at=NOON,
        remaining=0,
        status=OperationStatus.FAILED,
        ended_at=NOON,
        failure=Failure("OperationPreempted", "Preempted."),
    )
    desk.store.run(lambda tx: tx.put_operation(operation))

    status = await desk.arm("GET", f"{LOCATION}/operations/failed")
    monitor = await desk.arm("GET", f"{LOCATION}/operations/failed?monitor=true")

    wanted = {"code": "OperationPreempted", "message": "Preempted."}
    assert status.json()["error"] == wanted
    assert monitor.status_code == 409
    assert monitor.json() == {"error": wanted}


async def test_an_unknown_operation_or_one_of_another_location_is_not_found(web):
    started = await a_deletion(web)
    elsewhere = started.headers["azure-asyncoperation"].replace("westus", "eastus")

    assert (await web.send("GET", elsewhere)).status_code == 404
    assert (await web.arm("GET", f"{LOCATION}/operations/nope")).status_code == 404
