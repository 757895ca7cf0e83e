"""Install the real clients, each once: python install.py FOLDER. Trouble is told, not fatal."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

PYTHON = {
    "az": ["azure-cli==2.91.0"],
    "sdk": ["azure-mgmt-compute==39.0.0", "azure-mgmt-resource==26.0.0", "azure-identity==1.27.0"],
}
NODE = ["@azure/arm-compute@24.1.0", "@azure/arm-resources@7.0.0", "@azure/identity@4.13.1"]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, packages in PYTHON.items():
        once(folder / name, packages, into_venv)
    if shutil.which("npm") is None:
        print("clients: npm is not installed; the JavaScript SDK will be skipped")
    else:
        once(folder / "node", NODE, into_node)


def once(place: Path, packages: list[str], install) -> None:
    """Install unless exactly this was installed before; a half-made place is made again."""
    mark, wanted = place / ".ready", "\n".join(packages)
    if mark.exists() and mark.read_text() == wanted:
        return
    shutil.rmtree(place, ignore_errors=True)
    print(f"clients: installing {', '.join(packages)} (once, minutes) ...", flush=True)
    started = time.perf_counter()
    try:
        install(place, packages)
    except (OSError, subprocess.CalledProcessError) as trouble:
        shutil.rmtree(place, ignore_errors=True)
        said = getattr(trouble, "stderr", None) or str(trouble)
        print(f"clients: {place.name} could not be installed and is skipped: {said.strip()[-300:]}")
        return
    mark.write_text(wanted)
    print(f"clients: {place.name} is there after {time.perf_counter() - started:.0f} s")


def into_venv(place: Path, packages: list[str]) -> None:
    quietly([sys.executable, "-m", "venv", str(place)])
    pip = [str(place / "bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
    quietly([*pip, *packages])


def into_node(place: Path, packages: list[str]) -> None:
    place.mkdir()
    (place / "package.json").write_text("{}\n")
    quietly(["npm", "install", "--silent", "--no-audit", "--no-fund", *packages], place)


def quietly(command: list[str], folder: Path | None = None) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
