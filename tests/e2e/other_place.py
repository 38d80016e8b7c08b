"""Another locale and time zone for a program, and proof that the locale is there: one with decimal commas, and where the
small letter of I is not i."""
import os
import pathlib
import shutil
import subprocess
import tempfile

NAME = "tr_TR.UTF-8"


def comma(environment):
    """Is the environment's locale one that a program can set, with a decimal comma?"""
    done = subprocess.run(["locale", "decimal_point"], env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    return done.stdout.strip() == "," and not done.stderr


def other_place(folder):
    """Variables for the environment. The locale is made once, in `folder`, from the sources of Debian's package `locales`; None, with
    a line that says why, where that cannot be done."""
    folder = pathlib.Path(folder)
    place = {"LOCPATH": str(folder), "LC_ALL": NAME, "TZ": "Asia/Kathmandu"}
    if not (folder / NAME).is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        # Several tests may come at once: each makes its own, one of them stays.
        made = pathlib.Path(tempfile.mkdtemp(dir=folder))
        done = subprocess.run(["localedef", "-i", "tr_TR", "-f", "UTF-8", str(made / NAME)], capture_output=True, text=True, check=False)
        try:
            (made / NAME).rename(folder / NAME)
        except OSError:
            pass
        shutil.rmtree(made)
        if not (folder / NAME).is_dir():
            print("skipped: no other locale can be made here (Debian: apt-get install locales):", done.stderr[:200])
            return None
    if not comma(place):
        print(f"skipped: {NAME} cannot be used here")
        return None
    return place
