/* A pdh.dll that counts known things, for tests: it has the types and the protocol of the real one's header, and hosts
 * that have little: a processor, memory, processes that begin and end, SQL Server's instance PAYROLL. Each call of
 * PdhCollectQueryData is a second later. */
#include <windows.h>
#include <pdh.h>
#include <pdhmsg.h>
#include <stdio.h>

#define EXPORT __declspec(dllexport)

typedef struct query { int sample, hangs; } query;
typedef struct counter { query *query; const struct known *known; } counter;

/* What an instance counts: `value` at once, or `value` per second if it is a rate. From the sample `since` on, until
 * `until`. */
struct instance { const wchar_t *name; double value; int since, until; };
struct known { const wchar_t *path; int is_rate; struct instance instances[6]; };

static const struct known known[] = {
    {L"\\Memory\\Available Bytes", 0, {{L"", 8589934592.0, 0, 99}}},
    {L"\\System\\Processor Queue Length", 0, {{L"", 3, 0, 99}}},
    {L"\\Processor Information(*)\\% Processor Time", 1,
     {{L"0,0", 150, 0, 99}, {L"0,1", 50, 0, 99}, {L"0,_Total", 100, 0, 99}, {L"_Total", 100, 0, 99}}},
    {L"\\PhysicalDisk(*)\\Avg. Disk sec/Transfer", 1, {{L"0 C:", 0.0625, 0, 99}, {L"_Total", 0.0625, 0, 99}}},
    {L"\\Process(*)\\Private Bytes", 0,
     {{L"svchost", 1, 0, 99}, {L"svchost", 2, 0, 99}, {L"\x00fc\x0442", 4, 2, 2}, {L"svchost", 3, 3, 99}}},
    {L"\\MSSQL$PAYROLL:Buffer Manager\\Page life expectancy", 0, {{L"", 4000, 0, 99}}},
    {L"\\Hung Provider\\Count", 0, {{L"", 1, 0, 99}}},
};

static int count_of(const counter *c) {
    int n = 0, at;
    for (at = 0; at < 6; at++) {
        const struct instance *one = &c->known->instances[at];
        n += one->name && one->since <= c->query->sample && c->query->sample <= one->until;
    }
    return n;
}

EXPORT PDH_STATUS WINAPI PdhOpenQueryW(LPCWSTR source, DWORD_PTR user, PDH_HQUERY *out) {
    query *made = calloc(1, sizeof *made);
    *out = made;
    return source || user ? PDH_INVALID_ARGUMENT : ERROR_SUCCESS;
}

EXPORT PDH_STATUS WINAPI PdhCloseQuery(PDH_HQUERY handle) { free(handle); return ERROR_SUCCESS; }

EXPORT PDH_STATUS WINAPI PdhAddEnglishCounterW(PDH_HQUERY handle, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER *out) {
    size_t at, object = wcscspn(path + 1, L"(\\") + 1;
    PDH_STATUS status = PDH_CSTATUS_NO_OBJECT;
    for (at = 0; at < sizeof known / sizeof *known; at++) {
        counter *made;
        if (!wcsncmp(known[at].path, path, object + 1)) status = PDH_CSTATUS_NO_COUNTER;
        if (wcscmp(known[at].path, path)) continue;
        made = calloc(1, sizeof *made);
        made->query = handle;
        made->known = &known[at];
        made->query->hangs |= !wcsncmp(path, L"\\Hung", 5);
        *out = made;
        return ERROR_SUCCESS;
    }
    return status;
}

EXPORT PDH_STATUS WINAPI PdhCollectQueryData(PDH_HQUERY handle) {
    query *q = handle;
    if (q->hangs) Sleep(INFINITE);
    q->sample++;
    return ERROR_SUCCESS;
}

EXPORT PDH_STATUS WINAPI PdhGetFormattedCounterValue(PDH_HCOUNTER handle, DWORD format, LPDWORD type,
                                                     PPDH_FMT_COUNTERVALUE out) {
    counter *c = handle;
    if (format != (PDH_FMT_DOUBLE | PDH_FMT_NOCAP100)) return PDH_INVALID_ARGUMENT;
    if (c->known->is_rate && c->query->sample < 2) return PDH_INVALID_DATA;
    out->CStatus = PDH_CSTATUS_VALID_DATA;
    out->doubleValue = c->known->instances[0].value;
    return ERROR_SUCCESS;
}

EXPORT PDH_STATUS WINAPI PdhGetFormattedCounterArrayW(PDH_HCOUNTER handle, DWORD format, LPDWORD size, LPDWORD count,
                                                      PPDH_FMT_COUNTERVALUE_ITEM_W out) {
    counter *c = handle;
    DWORD needed = 0, n = 0;
    wchar_t *names;
    int at;
    if (format != (PDH_FMT_DOUBLE | PDH_FMT_NOCAP100)) return PDH_INVALID_ARGUMENT;
    for (at = 0; at < 6; at++) {
        const struct instance *one = &c->known->instances[at];
        if (one->name && one->since <= c->query->sample && c->query->sample <= one->until)
            needed += sizeof *out + (wcslen(one->name) + 1) * sizeof(wchar_t);
    }
    *count = count_of(c);
    if (*size < needed || !out) {
        *size = needed;
        return PDH_MORE_DATA;
    }
    names = (wchar_t *)(out + *count);
    for (at = 0; at < 6; at++) {
        const struct instance *one = &c->known->instances[at];
        if (!one->name || one->since > c->query->sample || c->query->sample > one->until) continue;
        wcscpy(names, one->name);
        out[n].szName = names;
        names += wcslen(names) + 1;
        out[n].FmtValue.doubleValue = one->value;
        out[n++].FmtValue.CStatus =
            c->known->is_rate && c->query->sample < 2 ? PDH_CSTATUS_INVALID_DATA : PDH_CSTATUS_NEW_DATA;
    }
    return ERROR_SUCCESS;
}

EXPORT PDH_STATUS WINAPI PdhEnumObjectsW(LPCWSTR source, LPCWSTR machine, LPWSTR out, LPDWORD size, DWORD detail,
                                         WINBOOL refresh) {
    static const wchar_t names[] = L"Prozessorinformationen\0Arbeitsspeicher\0MSSQL$PAYROLL:Buffer Manager\0";
    if (source || machine || detail != PERF_DETAIL_WIZARD) return PDH_INVALID_ARGUMENT;
    if (*size < sizeof names / sizeof *names || !out) {
        *size = sizeof names / sizeof *names;
        return PDH_MORE_DATA;
    }
    memcpy(out, names, sizeof names);
    *size = sizeof names / sizeof *names;
    return ERROR_SUCCESS;
}
