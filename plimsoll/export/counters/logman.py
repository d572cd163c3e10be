"""Writes counters as a template of a Data Collector Set, for `logman import -xml` and Performance Monitor.

The elements are those of [MS-PLA], section 3.2.4.19. DisplayName and Description are left out: templates usually
refer to strings in DLLs that Windows Server 2016 no longer has, and a description would become a column of the log.
"""

import textwrap
from xml.sax.saxutils import escape

from plimsoll.export.counters.counter_list import CounterList
from plimsoll.model.times import SECOND

_BINARY = 3  # FileFormat: a binary log
_PATTERN_AND_COMPUTER = 3  # AutoPathFormat: the computer before the file name, the pattern after it
_TRUE = -1
_FOLDER = r"%systemdrive%\PerfLogs\Admin\Plimsoll"
_MAX_MB = 500
_DAY_S = 86_400
_WIDTH = 120
_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by plimsoll rules counters. To record with it, as an administrator:
       logman import -name Plimsoll -xml FILE
       logman start Plimsoll
       logman stop Plimsoll
{notes}-->
"""
_SET = """\
<DataCollectorSet>
  <!-- No end but logman stop. -->
  <Duration>0</Duration>
  <RootPath>{folder}</RootPath>
  <SubdirectoryFormat>0</SubdirectoryFormat>
  <Segment>{true}</Segment>
  <!-- A new file each day, and where one has grown to so many MB. -->
  <SegmentMaxDuration>{day}</SegmentMaxDuration>
  <SegmentMaxSize>{megabytes}</SegmentMaxSize>
  <PerformanceCounterDataCollector>
    <Name>Plimsoll</Name>
    <FileName>plimsoll</FileName>
    <FileNameFormat>{decoration}</FileNameFormat>
    <FileNameFormatPattern>\\_yyyyMMdd\\_HHmm\\_NNNN</FileNameFormatPattern>
    <!-- 3 is a binary log (BLG): unlike CSV (0) it also holds processes that start while it is recorded. -->
    <LogFileFormat>{binary}</LogFileFormat>
    <SampleInterval>{seconds}</SampleInterval>
{counters}  </PerformanceCounterDataCollector>
</DataCollectorSet>
"""


def format_template(counters: CounterList, interval: int) -> str:
    """Return the template, with a sample every `interval` ns (a whole number of seconds)."""
    wrapped = (
        textwrap.wrap(note, _WIDTH, initial_indent="     ", subsequent_indent="       ") for note in counters.notes
    )
    # XML comments must not contain two hyphens.
    notes = "".join(f"{line}\n" for lines in wrapped for line in lines).replace("--", "- -")
    return _HEAD.format(notes=notes) + _SET.format(
        folder=_FOLDER,
        true=_TRUE,
        day=_DAY_S,
        megabytes=_MAX_MB,
        decoration=_PATTERN_AND_COMPUTER,
        binary=_BINARY,
        seconds=interval // SECOND,
        counters="".join(f"    <Counter>{escape(str(path))}</Counter>\n" for path in counters.recorded),
    )
