import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.limits import ORDINALS_MAX
from lastcall.metadata.addresses import address_of, ordinal_of


@pytest.mark.parametrize(
    ("ordinal", "address"),
    [
        (1, "127.1.0.1"),
        (256, "127.1.1.0"),
        (65_536, "127.2.0.0"),
        (ORDINALS_MAX, "127.255.255.254"),
    ],
)
def test_a_machine_has_a_loopback_address_of_its_own(ordinal, address):
    assert address_of(ordinal) == address


@given(st.integers(1, ORDINALS_MAX))
def test_an_address_leads_back_to_its_machine(ordinal):
    assert ordinal_of(address_of(ordinal)) == ordinal


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.1.1", "127.0.255.255"])
def test_the_host_keeps_the_first_block_for_itself(address):
    assert ordinal_of(address) is None
