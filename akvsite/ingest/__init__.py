"""From capture files to rows: which files make a run, and one transaction for each run.

A capture is whole in the store or not there at all. It is known by the hash of its files and the versions of the
readers that read them: the same capture is not read twice, and a better reader reads it again.
"""

from akvsite.ingest._captures import STORED, VERSION, Capture, Outcome, Source, name_from_file, plan
from akvsite.ingest._host_axis import bring_others
from akvsite.ingest._run import ingest, install_views, take_statistics

__all__ = [
    "STORED",
    "VERSION",
    "Capture",
    "Outcome",
    "Source",
    "bring_others",
    "ingest",
    "install_views",
    "name_from_file",
    "plan",
    "take_statistics",
]
