"""Metrics that are posted: of what exists, and of nothing else."""

from tests.web.desk import OURS, SETS


async def test_what_does_not_exist_has_no_metrics(desk):
    body = {"resource": f"{SETS}/nope", "name": "cpu", "value": 1}
    answer = await desk.send("POST", f"{OURS}/metrics", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "ResourceNotFound")
    assert (await desk.send("GET", f"{OURS}/metrics")).json()["value"] == []
