"""What every driver must do. A new driver is a new line in `DRIVERS` and nothing else."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from lastcall.drivers.simulated import Script, SimulatedDriver
from lastcall.engine.model import Action, ScopeId
from lastcall.ports import Done, Driver, DriverError, Failed, Order, Pending

from .builders import NOON, SECOND, a_machine, a_perform

DRIVERS = [pytest.param(SimulatedDriver, id="simulated")]

DELAY = timedelta(seconds=10)


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> Driver:
    make: Callable[[], Driver] = request.param
    return make()


def an_order(action: Action = Action.DELETE, **changes) -> Order:
    perform = a_perform("E", "web_0", action=action, **changes)
    return Order(perform=perform, machine=a_machine("web_0"), scope_id=ScopeId("scope"))


async def finished(driver: Driver, order: Order):
    """Ask until the driver has done it, as the reconciler does, and return when that was."""
    now = NOON
    while isinstance(report := await driver.perform(order, now), Pending):
        assert report.until > now, "a driver that is at it says when to ask again"
        now = report.until
    assert report == Done()
    return now


@pytest.mark.parametrize("action", Action)
async def test_every_order_is_carried_out(driver, action):
    assert await finished(driver, an_order(action)) >= NOON


@pytest.mark.parametrize("action", Action)
async def test_an_order_that_comes_again_is_harmless(driver, action):
    await finished(driver, an_order(action))

    assert await finished(driver, an_order(action)) >= NOON


async def test_deleting_a_machine_that_never_was_succeeds(driver):
    assert await finished(driver, an_order(Action.DELETE)) >= NOON


# The simulated driver's script


def scripted(**script) -> SimulatedDriver:
    return SimulatedDriver(Script(**script))


async def test_an_action_takes_its_delay_from_when_it_was_decided():
    driver = scripted(delays={Action.CREATE: DELAY})
    order = an_order(Action.CREATE)

    assert await driver.perform(order, NOON) == Pending(NOON + DELAY)
    assert await driver.perform(order, NOON + DELAY - SECOND) == Pending(NOON + DELAY)
    assert await driver.perform(order, NOON + DELAY) == Done()


async def test_a_restart_of_the_driver_in_the_middle_changes_nothing():
    order = an_order(Action.CREATE)
    await scripted(delays={Action.CREATE: DELAY}).perform(order, NOON)

    assert await scripted(delays={Action.CREATE: DELAY}).perform(order, NOON + DELAY) == Done()


async def test_a_pause_takes_the_duration_it_was_announced_with():
    driver = scripted(delays={Action.FREEZE: DELAY})

    pause = an_order(Action.FREEZE, duration_s=3)
    assert await driver.perform(pause, NOON) == Pending(NOON + 3 * SECOND)
    unknown = an_order(Action.FREEZE, duration_s=-1)
    assert await driver.perform(unknown, NOON) == Pending(NOON + DELAY)


async def test_pace_shortens_every_delay():
    driver = scripted(delays={Action.CREATE: DELAY}, pace=10.0)

    assert await driver.perform(an_order(Action.CREATE), NOON) == Pending(NOON + SECOND)


async def test_trouble_comes_before_the_order_arrives_or_after_it_was_done():
    troubles = iter([True, False, True, False, False])
    driver = scripted(trouble=lambda _order: next(troubles))

    with pytest.raises(DriverError, match="lost before"):
        await driver.perform(an_order(), NOON)
    with pytest.raises(DriverError, match="answer was lost"):
        await driver.perform(an_order(), NOON)
    assert await driver.perform(an_order(), NOON) == Done()


async def test_a_driver_that_gives_up_says_why():
    driver = scripted(refusal=lambda order: "no room" if order.machine.name == "web_0" else "")

    assert await driver.perform(an_order(), NOON) == Failed("no room")


async def test_a_driver_does_not_give_up_before_it_has_tried():
    driver = scripted(delays={Action.CREATE: DELAY}, refusal=lambda _order: "no room")

    assert await driver.perform(an_order(Action.CREATE), NOON) == Pending(NOON + DELAY)
