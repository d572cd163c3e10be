"""Counters with unknown names are reported, but not objects that belong to programs."""

import pytest

from plimsoll.model.counter_names.unrecognised import find_unrecognised
from plimsoll.model.names import load_shipped
from plimsoll.model.perfmon import CounterPath


def named(*texts):
    """The objects that are told as not recognised."""
    return [item.object for item in find_unrecognised(series(text) for text in texts)]


def series(text, host="h"):
    return load_shipped().series(CounterPath.parse(text), host)


# Processor and memory of the first eight are as typeperf listed them on Windows Server 2016; the others, and what
# disks have, are unverified.
ELSEWHERE = {
    "Czech": [r"\Procesor(0)\% času procesoru", r"\Paměť\Bajty k dispozici", r"\Fyzický disk(0 C:)\% času disku"],
    "Dutch": [
        r"\Processor(0)\Percentage processortijd",
        r"\Geheugen\Beschikbare bytes",
        r"\Fysieke schijf(0 C:)\Percentage schijftijd",
    ],
    "Hungarian": [
        r"\Processzor(0)\A processzor kihasználtsága (%)",
        r"\Memória\Rendelkezésre álló memória (bájt)",
        r"\Fizikai lemez(0 C:)\Lemezhasználat (%)",
    ],
    "Italian": [
        r"\Processore(0)\% Tempo processore",
        r"\Memoria\Byte disponibili",
        r"\Disco fisico(0 C:)\% Tempo disco",
    ],
    "Polish": [r"\Procesor(0)\Czas procesora (%)", r"\Pamięć\Dostępne bajty", r"\Dysk fizyczny(0 C:)\Czas dysku (%)"],
    "Portuguese": [
        r"\Processador(0)\% tempo de processador",
        r"\Memória\Bytes disponíveis",
        r"\PhysicalDisk(0 C:)\% tempo de disco",
    ],
    "Swedish": [r"\Processor(0)\% processortid", r"\Minne\Tillgängliga byte", r"\Fysisk disk(0 C:)\% disktid"],
    "Turkish": [
        r"\İşlemci(0)\% İşlemci Zamanı",
        r"\Bellek\Kullanılabilir Bayt Sayısı",
        r"\FizikselDisk(0 C:)\Disk Zamanı Yüzdesi",
    ],
    "Danish": [r"\Processor(0)\% processortid", r"\Hukommelse\Tilgængelige byte", r"\Fysisk disk(0 C:)\% disktid"],
    "Norwegian": [r"\Prosessor(0)\% prosessortid", r"\Minne\Tilgjengelige byte", r"\Fysisk disk(0 C:)\% disktid"],
    "Finnish": [
        r"\Suoritin(0)\% Suoritinaika",
        r"\Muisti\Käytettävissä olevat tavut",
        r"\Fyysinen levy(0 C:)\% Levyaika",
    ],
    "Chinese": [r"\处理器(0)\% 处理器时间", r"\内存\可用字节", r"\物理磁盘(0 C:)\% 磁盘时间"],
    "Korean": [r"\프로세서(0)\% 프로세서 시간", r"\메모리\사용 가능한 바이트", r"\실제 디스크(0 C:)\% 디스크 시간"],
}
LANGUAGES = pytest.mark.parametrize("language", ELSEWHERE)
# What a console's code page leaves of the letters of a language.
CONSOLE = str.maketrans("ěéíáčřžůýłęćńóşıİğüöäåøæ", "eeiacrzuylecnosiIguoaaoa")
ENGLISH = {
    "Processor": r"\Processor(_Total)\% Processor Time",
    "Memory": r"\Memory\Available MBytes",
    "PhysicalDisk": r"\PhysicalDisk(_Total)\% Disk Time",
}
# Of products and programs, and of Windows in English where no rule needs them.
PROGRAMS = [
    r"\Contoso Shop(_Total)\Orders/sec",
    r"\OrderService\Latency (µs)",
    r"\MSExchangeIS Store(_Total)\RPC Requests",
    r"\Veeam Backup(_Total)\Jobs",
    r"\ICA Session(_Total)\Latency - Session Average",
    r"\VM Processor(_Total)\% Processor Time",
    r"\VM Memory\Memory Active in MB",
    r"\GPU Engine(pid_4_luid_0)\Utilization Percentage",
    r"\GPU Engine(_Total)\New in 2030",
    r"\Hyper-V Hypervisor Logical Processor(_Total)\% Total Run Time",
    r"\Process V2(_Total)\% Processor Time",
    r"\ICMPv6\Messages/sec",
    r"\NTDS\New in 2030",
    r"\SQLServer:Plan Cache(_Total)\New in 2030",
    r"\SQLAgent:Jobs(_Total)\Active jobs",
    r"\MSSQL$PAYROLL:Buffer Manager\Page life expectancy",
    r"\.NET CLR Data\SqlClient: Current # pooled connections",
    r"\Web Service(_Total)\New in 2030",
    r"\Physical Network Interface Card Activity(_Total)\Device Power State",
    r"\Health Service(_Total)\Workflow Count",
    r"\SSIS Pipeline\Rows read",
    r"\SQLServer SSIS Pipeline 16.0\Rows read",
    r"\IAS Authentication Server\Access-Accepts",
    r"\SMS Discovery Data Manager\Total DDRs Processed",
    r"\Lotus Notes\Sessions",
    r"\Enterprise Library Caching Counters\Cache Hits/sec",
    r"\Physical Disk(0)\Reads",
    r"\Logical Disk(C:)\Reads",
    r"\Systems\Up",
    r"\Systemd(_Total)\Units",
]


@LANGUAGES
@pytest.mark.parametrize("received", [str, lambda text: text.translate(CONSOLE)], ids=["as it is", "through a console"])
def test_all_of_windows_in_a_language_that_is_not_known_is_named(language, received):
    paths = [received(path) for path in ELSEWHERE[language]]
    expected = [CounterPath.parse(path).object for path in paths]
    assert named(*paths) == expected
    assert named(*paths, *PROGRAMS[2:]) == expected
    for path, object_ in zip(paths, expected, strict=True):
        assert named(path, r"\SQLServer:Buffer Manager\Page life expectancy") == [object_]


@LANGUAGES
@pytest.mark.parametrize("at", range(3), ids=list(ENGLISH))
def test_an_object_in_another_language_is_named_where_its_own_is_missing(language, at):
    path = ELSEWHERE[language][at].translate(CONSOLE)
    rows = [text for item, text in enumerate(ENGLISH.values()) if item != at]
    assert named(path, *rows, *PROGRAMS) == [CounterPath.parse(path).object]


@pytest.mark.parametrize("recorded", [["Processor"], ["Memory"], ["PhysicalDisk"], list(ENGLISH)], ids=str)
def test_what_programs_bring_is_not_named_beside_windows_in_english(recorded):
    assert named(*(ENGLISH[name] for name in recorded), *PROGRAMS) == []


def test_what_programs_bring_is_not_named_beside_windows_in_a_language_that_is_known():
    german = [r"\Prozessor(_Total)\Prozessorzeit (%)", r"\Arbeitsspeicher\Verfügbare MB"]
    assert named(*german, *PROGRAMS, r"\Aufträge(_Total)\Ausführungen/s") == []


def test_products_by_themselves_are_not_named():
    assert named(*PROGRAMS[2:]) == []


def test_what_is_not_known_for_a_product_may_be_windows_in_another_language_where_nothing_shows_the_language():
    assert named(r"\Memori\Bait", r"\SQLServer:Locks(_Total)\Lock Waits/sec") == ["Memori"]
    assert named(r"\Pemroses(0)\Waktu", r"\Ingatan\Bait") == ["Pemroses", "Ingatan"]
    assert named(r"\Contoso Shop(_Total)\Orders/sec", r"\Contoso Shop(_Total)\Carts") == []


def test_a_counter_that_is_not_known_is_named_unless_its_object_was_recorded_in_english():
    strange, new = r"\Server\Bytes totaal per seconde", r"\Server\SMB BranchCache Hash Bytes Sent"
    assert named(strange, ENGLISH["Processor"]) == ["Server"]
    assert named(new, r"\Server\Bytes Total/sec") == []
    assert named(r"\System\Systemaufrufe je Minute", r"\System\Threads") == ["System"]  # German, also in what is known
    assert named(r"\Prozessor(0)\Prozessorzeit", r"\Prozessor(0)\Interrupts/s") == ["Prozessor"]


def test_letters_beyond_english_are_enough_where_there_is_no_processor_or_no_memory():
    unknown = r"\Säätäjä(0)\Aika"
    assert named(unknown, ENGLISH["Memory"]) == ["Säätäjä"]
    assert named(unknown, ENGLISH["Memory"], ENGLISH["Processor"]) == []


def test_each_host_is_seen_for_itself_whatever_the_case_of_its_name():
    english, strange = ENGLISH["Processor"], r"\Rendszer\Folyamatok"
    recorded = [series(english, "A"), series(r"\Contoso\Orders", "a"), series(strange, "B"), series(strange, "b")]
    (result,) = find_unrecognised(recorded)
    assert (result.host, result.object, result.counters, result.names) == ("B", "Rendszer", 2, ("Folyamatok",))


def test_what_esxtop_records_is_its_own_even_where_windows_has_an_object_of_that_name():
    memory, processor = r"\Memory\Machine MBytes", r"\Physical Cpu(_Total)\% Processor Time"
    assert named(memory) == ["Memory"]
    assert named(memory, r"\Power\Power Usage Now Watts", processor) == []
    assert named(memory, r"\Physical Disk SCSI Device(vmhba0)\Reads/sec") == []


WRITTEN_OTHERWISE = [
    (r"\Processor(_Total)\% Processor Tme", "Processor"),
    (r"\Processor(_Total)\%ProcessorTime", "Processor"),
    (r"\Processr(_Total)\% Processor Time", "Processr"),
    (r"\System\Context Switches/second", "System"),
    (r"\System\Context Switches per sec", "System"),
    (r"\Memory\AvailableMBytes", "Memory"),
    (r"\PhysicalDisk(0 C:)\Avg Disk Queue Length", "PhysicalDisk"),
    (r"\Physical Disk(0 C:)\Avg. Disk Queue Length", "Physical Disk"),
    (r"\NetworkInterface(Intel)\Packets Outbound Errors", "NetworkInterface"),
    (r"\Network_Interface(Intel)\Bytes_Total/sec", "Network_Interface"),
    (r"\SQL Server:Buffer Manager\Page life expectancy", "SQL Server:Buffer Manager"),
    (r"\SQLServer: Buffer Manager\Page life expectancy", "SQLServer: Buffer Manager"),
    (r"\MSSQL:Buffer Manager\Page life expectancy", "MSSQL:Buffer Manager"),
    (r"\MSSQL Buffer Manager\Page life expectancy", "MSSQL Buffer Manager"),
    (r"\MSSQL$PAYROLL:Buffer Manager\Page life expect.", "MSSQL$PAYROLL:Buffer Manager"),
    (r"\NTDS\LDAP Succesful Binds/sec", "NTDS"),
]


@pytest.mark.parametrize(("path", "object_"), WRITTEN_OTHERWISE, ids=[path for path, _ in WRITTEN_OTHERWISE])
def test_what_is_nearly_called_as_rules_need_it_is_named_beside_windows_in_english(path, object_):
    entries = [
        r"\Processor(0)\% Processor Time",
        r"\Memory\Pages/sec",
        r"\System\Threads",
        r"\PhysicalDisk(0 C:)\% Idle Time",
    ]
    assert named(path, *entries) == [object_]


@pytest.mark.parametrize(
    ("path", "beside"),
    [
        (r"\Processor(_Total)\% Processor Tme", r"\Processor(_Total)\% Processor Time"),
        (r"\LS:SIP - Responses\SIP - Local 500 Responses/sec", r"\Processor(_Total)\% Processor Time"),
        (r"\Thread(sqlservr/0)\% Processor Tme", r"\Processor(_Total)\% Processor Time"),
        (r"\VM Processor(_Total)\% Processor Time", r"\Memory\Available MBytes"),
    ],
    ids=["recorded as well", "of another number", "not needed", "a program's"],
)
def test_what_is_nearly_called_as_what_is_there_or_not_needed_is_not_named(path, beside):
    assert named(path, beside) == []


SQL_ELSEWHERE = [
    r"\SQLServer:Administrador de búfer\Expectativa de vida de página",
    r"\SQLServer:Gestione buffer\Durata presunta delle pagine",
    r"\SQLServer:Buffer Manager\Durata presunta delle pagine",
    r"\MSSQL$PAYROLL:Buffer Manager\页生存期",
]


@pytest.mark.parametrize("path", SQL_ELSEWHERE)
def test_sql_server_in_a_language_that_is_not_known_is_named_beside_windows_in_english(path):
    assert named(path, *ENGLISH.values()) == [CounterPath.parse(path).object]


@pytest.mark.parametrize("object_", ["Deprecated Features", "Broker Statistics", "Query Store", "Backup Device"])
def test_what_sql_server_has_in_english_is_not_named(object_):
    assert named(rf"\SQLServer:{object_}(_Total)\Usage", *ENGLISH.values()) == []


@pytest.mark.parametrize(
    "path",
    [
        r"\Thread(sqlservr/0)\État",
        r"\UDPv4\Datagrammes/s",
        r"\Serveur\Octets de hachage envoyés",
    ],
)
def test_what_no_rule_needs_is_not_named_beside_windows_in_a_language_that_is_known(path):
    whole = [
        r"\Processeur(_Total)\% temps processeur",
        r"\Mémoire\Mégaoctets disponibles",
        r"\Serveur\Total des octets/s",
        r"\Serveur\Octets reçus/s",
        r"\Serveur\Octets transmis/s",
        r"\Serveur\Échecs de réserve non paginée",
        r"\Serveur\Échecs de réserve paginée",
        r"\Serveur\Pénuries d'éléments de travail",
    ]
    assert named(path, *whole) == []


def test_another_language_beside_the_same_object_in_english_is_named():
    english = [r"\System\Threads", r"\Memory\Pages/sec", r"\Processor(_Total)\% Processor Time"]
    assert named(r"\Sistema\Cambi di contesto/sec", *english) == ["Sistema"]
    assert named(r"\Memory\可用 MB", *english) == ["Memory"]
    assert named(r"\Minne\Tillgängliga MByte", *english) == ["Minne"]
