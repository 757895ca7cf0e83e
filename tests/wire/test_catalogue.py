"""The tables of what Azure offers are whole."""

import pytest

from lastcall.engine.errors import NoRegisteredProviderFoundError
from lastcall.wire.catalogue import all_sizes, catalogue, cores_of, known_images, provider, region
from lastcall.wire.versions import KNOWN, RESOURCES


def test_every_name_stands_once():
    data = catalogue()
    for names in (
        [each.name for each in data.regions],
        [each.name.lower() for each in all_sizes()],
        [each.namespace.lower() for each in data.providers],
    ):
        assert len(names) == len(set(names))


def test_sizes_have_what_their_names_say():
    for size in all_sizes():
        assert size.name.startswith("Standard_")
        assert size.cores >= 1
        assert size.memory_mb >= 512
        assert 1 <= size.disks <= 64
    assert (cores_of("standard_d8S_v5"), cores_of("Standard_Unheard_Of")) == (8, 1)


def test_versions_are_newest_first_and_ours_are_there():
    for each in catalogue().providers:
        assert list(each.versions) == sorted(each.versions, reverse=True)
    assert set(KNOWN) == set(provider("microsoft.compute").versions)
    assert set(provider("Microsoft.Resources").versions) <= set(RESOURCES)
    assert provider("Contoso.Things") is None


def test_a_region_is_found_in_whatever_spelling():
    assert region("West US").name == region("WESTUS").name == "westus"
    with pytest.raises(NoRegisteredProviderFoundError, match="'atlantis'"):
        region("atlantis")


def test_every_image_has_three_names():
    assert all(image.publisher and image.offer and image.sku for image in known_images())
