"""Who may have a token, and who is let in with one."""

import pytest
from msgspec.structs import replace

from lastcall.app import principals
from lastcall.app.authority import InvalidClientError
from lastcall.app.hashing import hashed
from lastcall.app.managed import WantedIdentity, choose
from lastcall.app.tokens import InvalidTokenError
from lastcall.engine.errors import ConflictError, OperationNotAllowedError, ResourceNotFoundError
from lastcall.engine.limits import PRINCIPALS_MAX
from tests.app.signing import CONTROL, OWN, SECRET, an_authority
from tests.web.desk import ROOT, WEB, a_desk, a_model
from tests.web.machines import VM, a_vm

SHARED = f"{ROOT.rpartition('/')[0]}/Microsoft.ManagedIdentity/userAssignedIdentities/shared"
SYSTEM = {"identity": {"type": "SystemAssigned"}}
ASSIGNED = {"identity": {"type": "UserAssigned", "userAssignedIdentities": {SHARED: {}}}}
NONE = {"identity": {"type": "None", "userAssignedIdentities": None}}


@pytest.fixture
async def authority():
    async with a_desk() as desk:
        yield an_authority(desk.platform)


async def test_the_folders_own_principal_signs_in_and_is_let_in(authority):
    token = await authority.sign_in(OWN.app_id.upper(), SECRET, CONTROL)

    assert await authority.admit(token.text) == OWN


@pytest.mark.parametrize(
    ("app_id", "secret"),
    [(OWN.app_id, "wrong"), (OWN.app_id, ""), ("nobody", SECRET), ("", ""), ("é", "é")],
)
async def test_a_wrong_secret_or_an_unknown_client_gets_nothing(authority, app_id, secret):
    with pytest.raises(InvalidClientError):
        await authority.sign_in(app_id, secret, CONTROL)


async def test_a_principal_that_was_added_signs_in_with_its_own_secret_alone(authority):
    made, secret = await authority.create("ci")
    _, other_secret = await authority.create("ops")

    token = await authority.sign_in(made.app_id, secret, CONTROL)

    assert (await authority.admit(token.text)).name == "ci"
    for wrong in (other_secret, SECRET, f"{secret} "):
        with pytest.raises(InvalidClientError):
            await authority.sign_in(made.app_id, wrong, CONTROL)


async def test_who_was_deleted_is_out_at_once_with_every_token(authority):
    made, secret = await authority.create("ci")
    token = await authority.sign_in(made.app_id, secret, CONTROL)

    await authority.delete("CI")

    assert list(await authority.everyone()) == []
    with pytest.raises(InvalidTokenError):
        await authority.admit(token.text)
    with pytest.raises(InvalidClientError):
        await authority.sign_in(made.app_id, secret, CONTROL)


@pytest.mark.parametrize(("path", "model"), [(WEB, a_model(1)), (VM, a_vm())])
@pytest.mark.parametrize("identity", [SYSTEM, ASSIGNED])
async def test_a_machines_token_is_good_for_as_long_as_its_resource_assigns_it(
    path, model, identity
):
    async with a_desk() as desk:
        authority = an_authority(desk.platform)
        holder = choose(identity, path, WantedIdentity())
        token = (await authority.grant_machine(holder, CONTROL)).text

        async def is_let_in():
            try:
                return await authority.admit(token) == holder
            except InvalidTokenError:
                return False

        assert not await is_let_in()
        await desk.arm("PUT", path, model | identity)
        assert await is_let_in()
        await desk.arm("PUT", path, model | NONE)
        assert not await is_let_in()
        await desk.arm("PUT", path, model | identity)
        assert await is_let_in()
        await desk.arm("DELETE", path)
        assert not await is_let_in()


async def test_a_machines_token_that_does_not_say_whose_machine_it_is_is_refused(authority):
    holder = replace(choose(SYSTEM, WEB, WantedIdentity()), bearer="")
    token = await authority.grant_machine(holder, CONTROL)

    with pytest.raises(InvalidTokenError):
        await authority.admit(token.text)


async def test_no_secret_is_kept(authority):
    _, secret = await authority.create("ci")

    kept = await authority._platform.read(lambda r: r.recall(principals.PRINCIPALS_KEY))

    assert secret not in kept
    assert hashed(secret, "salt").is_of(secret)
    assert not hashed(secret, "salt").is_of(f"{secret}x")


async def test_names_are_not_given_twice(authority):
    await authority.create("ci")
    for taken in ("ci", "CI", "default", "Default"):
        with pytest.raises(ConflictError):
            await authority.create(taken)
    assert len(await authority.everyone()) == 1


async def test_the_default_stays_and_the_unknown_cannot_be_deleted(authority):
    for own in ("default", OWN.app_id):
        with pytest.raises(OperationNotAllowedError):
            await authority.delete(own)
    with pytest.raises(ResourceNotFoundError):
        await authority.delete("nobody")


async def test_there_is_a_most(authority):
    platform = authority._platform
    kept = hashed("secret", "salt")

    def fill(tx, moment):
        for number in range(PRINCIPALS_MAX):
            principals.create(tx, f"p{number}", kept, moment)

    await platform.transact(fill)

    with pytest.raises(OperationNotAllowedError):
        await authority.create("one-more")
