"""Many writers at once: each is answered, and what is left is consistent."""

import asyncio

from tests.web.desk import VERSION, WEB, a_model

ALLOWED = {200, 201, 202, 204, 400, 404, 409, 412}


def requests(number):
    """Return one of several kinds of writes, by number."""
    one = f"{WEB}/virtualMachines/{number % 4}"
    kinds = [
        ("PATCH", WEB, {"tags": {"n": str(number)}}, {}),
        ("PUT", WEB, a_model(2 + number % 4), {}),
        ("PATCH", WEB, {"sku": {"capacity": 1 + number % 5}}, {"if-match": '"1"'}),
        ("DELETE", one, None, {}),
        ("PUT", f"{one}/extensions/e{number}", {"properties": {}}, {}),
        ("POST", f"{WEB}/osRollingUpgrade", None, {}),
        ("POST", f"{WEB}/restart", {"instanceIds": ["*"]}, {}),
        ("PUT", f"{WEB}/extensions/e{number}", {"properties": {"publisher": "P"}}, {}),
    ]
    return kinds[number % len(kinds)]


async def test_fifty_writers_leave_a_set_that_agrees_with_itself(desk):
    await desk.arm("PUT", WEB, a_model(4))

    async def send(number):
        method, path, body, headers = requests(number)
        url = f"{path}?api-version={VERSION}"
        return await desk.http.request(method, url, json=body, headers=headers)

    answers = await asyncio.gather(*(send(number) for number in range(50)))
    await desk.settle()

    assert {answer.status_code for answer in answers} <= ALLOWED
    assert {200, 202, 412} <= {answer.status_code for answer in answers}
    shown = (await desk.arm("GET", WEB)).json()
    instances = (await desk.arm("GET", f"{WEB}/virtualMachines")).json()["value"]
    assert shown["sku"]["capacity"] == len(instances)
    assert shown["properties"]["provisioningState"] == "Succeeded"
    writes = [a for a in answers if "etag" in a.headers and "virtualMachines" not in str(a.url)]
    etags = [answer.headers["etag"] for answer in writes]
    assert len(set(etags)) == len(etags)
    for answer in answers:
        if "azure-asyncoperation" in answer.headers:
            followed = await desk.send("GET", answer.headers["azure-asyncoperation"])
            assert followed.json()["status"] in ("Succeeded", "Failed")


async def test_of_fifty_deletions_and_updates_the_deletion_wins(desk):
    await desk.arm("PUT", WEB, a_model(4))

    async def send(number):
        if number % 5 == 0:
            return await desk.send("DELETE", f"{WEB}?api-version={VERSION}")
        return await desk.send("PATCH", f"{WEB}?api-version={VERSION}", {"tags": {}})

    answers = await asyncio.gather(*(send(number) for number in range(50)))
    await desk.settle()

    assert {answer.status_code for answer in answers} <= {200, 202, 204, 404, 409}
    assert (await desk.arm("GET", WEB)).status_code == 404
    assert (await desk.arm("GET", f"{WEB}/virtualMachines")).status_code == 404
