"""`lastcall env` and `lastcall az`: what clients are told, in the language of each shell."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lastcall.cli.azure_folder import BUNDLE, Client, prepare, write_bundle
from lastcall.cli.client_environment import BEFORE, NAMES, original_environment, undoing
from lastcall.cli.shells import guess, script

NASTY = 'it\'s "so" $HOME `id` \\ \u2019 ; & \u2018 %PATH% !x'
CLIENT = Client("https://127.0.0.1:7443", "tenant", "subscription", "app", "secret")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_values_survive_the_shell_untouched(shell, tmp_path):
    program = {"powershell": "pwsh"}.get(shell, shell)
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    lines = "\n".join(script({"LASTCALL_X": NASTY, "HOME": None}, shell))
    show = f"{sys.executable} -c \"import os; print(os.environ['LASTCALL_X'], end='')\""

    done = subprocess.run(
        [program, "-c", f"{lines}\n{show}"], capture_output=True, text=True, check=True
    )

    assert done.stdout == NASTY


def test_each_shell_has_its_own_words():
    changes = {"A": "x y'z", "B": None}

    assert list(script(changes, "bash")) == ["export A='x y'\"'\"'z'", "unset B"]
    assert list(script(changes, "fish")) == ["set -gx A 'x y\\'z';", "set -e B;"]
    assert list(script({"A": "x\u2019y"}, "powershell")) == ["$Env:A = 'x\u2019\u2019y'"]
    assert list(script(changes, "powershell")) == [
        "$Env:A = 'x y''z'",
        "Remove-Item Env:B -ErrorAction SilentlyContinue",
    ]


@pytest.mark.parametrize(
    ("program", "shell"),
    [
        ("/bin/bash", "bash"),
        ("/usr/bin/zsh", "zsh"),
        ("/usr/local/bin/fish", "fish"),
        ("/usr/bin/pwsh", "powershell"),
        ("/bin/dash", "bash"),
        ("", "bash"),
    ],
)
def test_the_shell_is_guessed(monkeypatch, program, shell):
    monkeypatch.setenv("SHELL", program)

    assert guess() == shell


def test_az_finds_its_four_files_and_the_secret_is_its_owners(tmp_path):
    folder = prepare(tmp_path, CLIENT)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    entries = folder / "service_principal_entries.json"
    assert stat.S_IMODE(entries.stat().st_mode) == 0o600
    assert json.loads(entries.read_text()) == [
        {"client_id": "app", "tenant": "tenant", "client_secret": "secret"}
    ]
    profile = (folder / "azureProfile.json").read_bytes()
    assert profile.startswith(b"\xef\xbb\xbf")
    (subscription,) = json.loads(profile.decode("utf-8-sig"))["subscriptions"]
    assert subscription["user"] == {"name": "app", "type": "servicePrincipal"}
    assert subscription["environmentName"] == "lastcall"
    assert "name = lastcall" in (folder / "config").read_text()
    assert "collect_telemetry = no" in (folder / "config").read_text()
    clouds = (folder / "clouds.config").read_text()
    assert "endpoint_active_directory = https://127.0.0.1:7443/adfs\n" in clouds
    assert "endpoint_vm_image_alias_doc = https://127.0.0.1:7443/aliases.json\n" in clouds


def test_what_a_user_does_with_az_stays_until_the_server_is_another(tmp_path):
    folder = prepare(tmp_path, CLIENT)
    (folder / "config").write_text("[defaults]\ngroup = mine\n")

    prepare(tmp_path, CLIENT)
    assert "group = mine" in (folder / "config").read_text()

    prepare(tmp_path, Client("https://127.0.0.1:9", *("t", "s", "a", "x")))
    assert "name = lastcall" in (folder / "config").read_text()


@pytest.mark.parametrize("profile", ['{"subscriptions": []}', "{", "{}"])
def test_who_was_signed_out_is_signed_in_again(tmp_path, profile):
    folder = prepare(tmp_path, CLIENT)
    signed_in = (folder / "azureProfile.json").read_bytes()
    (folder / "azureProfile.json").write_text(profile)

    prepare(tmp_path, CLIENT)

    assert (folder / "azureProfile.json").read_bytes() == signed_in


def test_the_bundle_has_the_roots_of_the_user_and_our_own(tmp_path):
    for name in ("company.pem", "node.pem", "ca.pem"):
        (tmp_path / name).write_text(f"{name}\n")
    environment = {
        "REQUESTS_CA_BUNDLE": str(tmp_path / "company.pem"),
        "NODE_EXTRA_CA_CERTS": str(tmp_path / "node.pem"),
    }

    bundle = write_bundle(tmp_path, tmp_path / "ca.pem", environment)

    assert bundle == tmp_path / BUNDLE
    assert bundle.read_text() == "company.pem\nnode.pem\nca.pem\n"


def test_a_bundle_that_is_named_but_missing_is_no_trouble(tmp_path):
    (tmp_path / "ca.pem").write_text("ours\n")

    bundle = write_bundle(tmp_path, tmp_path / "ca.pem", {"REQUESTS_CA_BUNDLE": "/nowhere"})

    assert bundle.read_text().endswith("ours\n")


def test_everything_can_be_put_back():
    ours = dict.fromkeys(NAMES, "ours") | {BEFORE: json.dumps({"NO_PROXY": "corp"}), "X": "y"}

    assert original_environment(ours) == {"NO_PROXY": "corp", "X": "y"}
    assert set(undoing(ours)) == {*NAMES, BEFORE}


@pytest.mark.parametrize("before", [None, "", "{", "[]", "5"])
def test_where_nothing_was_done_there_is_nothing_to_undo(before):
    assert undoing({} if before is None else {BEFORE: before}) == {}


def test_no_server_is_told_in_one_sentence(run, tmp_path):
    done = run("env", "--state", str(tmp_path))

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"No lastcall is running on {tmp_path}; start one with:")


def test_az_that_is_not_installed_is_told_in_one_sentence(run, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    done = run("az", "vmss", "list", "--help")

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("az is not installed, or not on PATH;")


@pytest.fixture
def fake_az(tmp_path):
    """A program called az that tells what it was given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "az"
    program.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        "print(json.dumps([sys.argv[1:], dict(os.environ)]))\nsys.exit(3)\n"
    )
    program.chmod(0o755)
    return folder


def lastcall_az(fake_az: Path, *arguments: str, **more: str):
    path = f"{fake_az}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "lastcall", "az", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path, **more},
    )


def test_az_without_a_server_is_told_in_one_sentence(fake_az, tmp_path):
    done = lastcall_az(fake_az, "vmss", "list", LASTCALL_STATE=str(tmp_path))

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("No lastcall is running on ")


@pytest.mark.acceptance
def test_a_server_that_was_killed_is_not_taken_for_a_running_one(fake_az, tmp_path, server):
    where = server.endpoints
    folder = tmp_path / "other"
    shutil.copytree(server.state, folder)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    content = json.loads((folder / "endpoints.json").read_text())
    assert content["pid"] == where.pid
    (folder / "endpoints.json").write_text(json.dumps(content | {"pid": gone.pid}))

    done = lastcall_az(fake_az, LASTCALL_STATE=str(folder))

    assert done.returncode == 1
    assert "No lastcall is running" in done.stderr


@pytest.mark.acceptance
def test_az_gets_every_argument_untouched_and_its_exit_code_is_ours(fake_az, server):
    given = ["vmss", "list", "--help", "-h", "--state", "x y", "", "--json"]

    done = lastcall_az(
        fake_az, *given, LASTCALL_STATE=str(server.state), HTTPS_PROXY="http://p", NO_PROXY="corp"
    )

    assert done.returncode == 3, done.stderr
    arguments, environment = json.loads(done.stdout)
    assert arguments == given
    assert environment["AZURE_CONFIG_DIR"] == str(server.state / "azure")
    assert environment["NO_PROXY"] == environment["no_proxy"] == "127.0.0.1,localhost,corp"


@pytest.mark.acceptance
def test_env_and_its_undoing_in_a_real_shell(server, tmp_path):
    lastcall = f"{sys.executable} -m lastcall env --state '{server.state}'"
    show = f"{sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))'"
    twice = f'eval "$({lastcall})"; eval "$({lastcall})"; {show}'
    back = f'{twice}; eval "$({lastcall} --unset)"; {show}'
    company = tmp_path / "company.pem"
    company.write_text("company\n")
    clean = {name: value for name, value in os.environ.items() if name not in NAMES}
    before = {**clean, "NO_PROXY": "corp", "SSL_CERT_FILE": str(company), "SHELL": "/bin/bash"}

    done = subprocess.run(
        ["bash", "-c", back], capture_output=True, text=True, check=True, env=before
    )

    ours, after = (json.loads(line) for line in done.stdout.splitlines())
    assert ours["AZURE_AUTHORITY_HOST"] == server.endpoints.control
    assert ours["AZURE_TENANT_ID"] == "adfs"
    assert ours["ARM_METADATA_HOSTNAME"] == server.endpoints.control.removeprefix("https://")
    assert ours["NO_PROXY"] == "127.0.0.1,localhost,corp"
    bundle = Path(ours["REQUESTS_CA_BUNDLE"]).read_text()
    assert bundle.startswith("company\n")
    assert bundle.endswith(Path(server.endpoints.ca).read_text())
    assert {name: after.get(name) for name in (*NAMES, BEFORE)} == {
        name: before.get(name) for name in (*NAMES, BEFORE)
    }


@pytest.mark.acceptance
def test_env_for_a_program(ask, server):
    told = ask("env", "--json").json

    assert told["AZURE_CLIENT_SECRET"]
    assert set(told) == {*NAMES, BEFORE}


@pytest.mark.acceptance
def test_principals_on_the_command_line(ask):
    made = ask("principal", "create", "ci", "--json").json
    assert made["secret"] not in ask("principal", "list").out
    assert [each["name"] for each in ask("principal", "list", "--json").json] == ["default", "ci"]
    assert ask("principal", "create", "ci").code == 1
    assert ask("principal", "delete", "ci").out == "Deleted: ci.\n"
    assert ask("principal", "delete", "ci").code == 3
    assert ask("principal", "delete", "default").code == 1
    shown = ask("principal", "create", "ops")
    assert "secret" in shown.out
    assert "cannot be shown again" in shown.err
