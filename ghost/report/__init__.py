"""Looking at recordings and at running worlds: surveys, differences, tables, reports, live.

Needs what `ghost.recording` needs until something is drawn (matplotlib), written as Parquet
(pyarrow) or shown live (foxglove-sdk): those are extras, and `MissingDependency` names them.
"""

from ghost.report.diff import Difference, LogDiff, TopicDiff, diff
from ghost.report.document import Written, write_report
from ghost.report.export import Exported, ImageForm, TableForm, export
from ghost.report.figures_repeat import Overlay, need_drawing, overlay_figure
from ghost.report.flatten import flatten
from ghost.report.gather import Gathered, gather
from ghost.report.live import LiveServer
from ghost.report.made import Made
from ghost.report.survey import Survey, TopicSurvey, survey

__all__ = [
    # what is in it
    "Made",
    "Survey",
    "TopicSurvey",
    "survey",
    # two of them
    "Difference",
    "LogDiff",
    "TopicDiff",
    "diff",
    # tables
    "Exported",
    "ImageForm",
    "TableForm",
    "export",
    "flatten",
    # the report
    "Gathered",
    "Written",
    "gather",
    "write_report",
    # several runs
    "Overlay",
    "need_drawing",
    "overlay_figure",
    # live
    "LiveServer",
]
