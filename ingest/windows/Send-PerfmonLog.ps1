<#
.SYNOPSIS
    Hands over the closed logs of a Data Collector Set: copies them to a folder, or loads them with plimsoll ingest.

.DESCRIPTION
    A log that the Data Collector Set still writes is left alone: it cannot be opened without sharing. Each log is
    handed over once; what was handed over is kept in a file of the state folder. A copy gets its name when it is
    whole, so that a call that was interrupted can be repeated. Binary logs (.blg) are converted by relog.

    Exit codes: 0 done, or nothing to do; 1 a log could not be handed over, and is tried again at the next call;
    2 the call cannot be used.

.EXAMPLE
    .\Send-PerfmonLog.ps1 -Destination \\server\perflogs\WEB1

.EXAMPLE
    .\Send-PerfmonLog.ps1 -Plimsoll C:\plimsoll\.venv\Scripts\plimsoll.exe -Store http://influx:8086
#>
[CmdletBinding(DefaultParameterSetName = 'Copy')]
param(
    # The folder of the Data Collector Set (its RootPath); logs in its subfolders count, too.
    [string] $Path = "$env:SystemDrive\PerfLogs\Admin\Plimsoll",

    # The folder to copy to.
    [Parameter(Mandatory = $true, ParameterSetName = 'Copy')]
    [string] $Destination,

    # The program plimsoll, to load the logs on this host.
    [Parameter(Mandatory = $true, ParameterSetName = 'Ingest')]
    [string] $Plimsoll,

    # The store to load into; the default is that of plimsoll ingest.
    [Parameter(ParameterSetName = 'Ingest')]
    [string] $Store,

    # Where the log of this script and the list of what was handed over are kept.
    [string] $State = "$env:ProgramData\Plimsoll\Send-PerfmonLog"
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$Extensions = @('.csv', '.tsv', '.blg')

function Write-Record([string] $Text) {
    $line = '{0:yyyy-MM-ddTHH:mm:ssZ} {1}' -f [DateTime]::UtcNow, $Text
    Write-Output $line
    Add-Content -LiteralPath (Join-Path $State 'log.txt') -Value $line -Encoding UTF8
}

# What tells a log from another of the same name, as names are used again.
function Get-Mark([System.IO.FileInfo] $Log) {
    '{0}|{1}|{2}' -f $Log.FullName, $Log.Length, $Log.LastWriteTimeUtc.Ticks
}

# The writer of a log keeps it open, so it cannot be opened without sharing.
function Test-Closed([System.IO.FileInfo] $Log) {
    try {
        $stream = [System.IO.File]::Open($Log.FullName, 'Open', 'Read', 'None')
        $stream.Dispose()
        return $true
    }
    catch [System.IO.IOException] {
        return $false
    }
}

# The name of a log where all are in one folder: a subfolder of the Data Collector Set becomes a part of it.
function Get-FlatName([System.IO.FileInfo] $Log) {
    $root = (Get-Item -LiteralPath $Path).FullName.TrimEnd('\')
    $Log.FullName.Substring($root.Length + 1).Replace('\', '_')
}

# Converts a binary log to CSV in the state folder.
function Convert-Log([System.IO.FileInfo] $Log) {
    $csv = Join-Path $State ([System.IO.Path]::ChangeExtension((Get-FlatName $Log), '.csv'))
    $said = & relog.exe $Log.FullName -f CSV -o $csv -y | Out-String
    if ($LASTEXITCODE -ne 0) {
        throw "relog ended with $LASTEXITCODE`: $said"
    }
    return $csv
}

# Copies a file under a name ending in .partial, and renames it when it is whole.
function Copy-Whole([string] $File, [string] $Target) {
    $partial = "$Target.partial"
    Copy-Item -LiteralPath $File -Destination $partial -Force
    if ((Get-Item -LiteralPath $partial).Length -ne (Get-Item -LiteralPath $File).Length) {
        throw 'the copy is not as long as the log'
    }
    Move-Item -LiteralPath $partial -Destination $Target -Force
}

# Loads a file as a run. Repeating it is harmless.
function Import-Log([string] $File, [string] $Run) {
    $arguments = @('ingest', $File, '--run', $Run)
    if ($Store) {
        $arguments += @('--store', $Store)
    }
    # What a program writes to its standard error is no error of PowerShell's.
    $ErrorActionPreference = 'Continue'
    $said = & $Plimsoll $arguments 2>&1 | Out-String
    if ($LASTEXITCODE -ne 0) {
        throw "plimsoll ingest ended with $LASTEXITCODE`: $said"
    }
}

# Hands one log over; returns what was done with it.
function Send-Log([System.IO.FileInfo] $Log) {
    $file = $Log.FullName
    $name = Get-FlatName $Log
    if ($Log.Extension -eq '.blg') {
        $file = Convert-Log $Log
        $name = [System.IO.Path]::ChangeExtension($name, '.csv')
    }
    try {
        if ($Plimsoll) {
            $run = '{0} {1}' -f $env:COMPUTERNAME, [System.IO.Path]::GetFileNameWithoutExtension($name)
            Import-Log $file $run
            return "loaded as run $run"
        }
        $target = Join-Path $Destination $name
        Copy-Whole $file $target
        return "copied to $target"
    }
    finally {
        if ($file -ne $Log.FullName) {
            Remove-Item -LiteralPath $file
        }
    }
}

try {
    if (-not (Test-Path -LiteralPath $State)) {
        $null = New-Item -ItemType Directory -Path $State
    }
    foreach ($folder in @($Path, $Destination)) {
        if ($folder -and -not (Test-Path -LiteralPath $folder -PathType Container)) {
            throw "$folder`: is no folder, or this account may not read it"
        }
    }
    if ($Plimsoll -and -not (Get-Command $Plimsoll -ErrorAction SilentlyContinue)) {
        throw "$Plimsoll`: is no program"
    }
    $list = Join-Path $State 'handed-over.txt'
    $known = @()
    if (Test-Path -LiteralPath $list) {
        $known = @(Get-Content -LiteralPath $list -Encoding UTF8)
    }
    $logs = @(Get-ChildItem -LiteralPath $Path -Recurse -File | Where-Object { $Extensions -contains $_.Extension } | Sort-Object LastWriteTimeUtc)
}
catch {
    [Console]::Error.WriteLine("Send-PerfmonLog: $_")
    exit 2
}

$failed = 0
foreach ($log in $logs) {
    $mark = Get-Mark $log
    if ($known -contains $mark) {
        continue
    }
    try {
        if (-not (Test-Closed $log)) {
            Write-Record "$($log.FullName): is still written; left for a later call"
            continue
        }
        $done = Send-Log $log
        Add-Content -LiteralPath $list -Value $mark -Encoding UTF8
        Write-Record "$($log.FullName): $done"
    }
    catch {
        $failed += 1
        Write-Record "$($log.FullName): not handed over: $_"
    }
}
if ($failed -gt 0) {
    exit 1
}
exit 0
