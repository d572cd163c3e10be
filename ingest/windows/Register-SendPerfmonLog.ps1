<#
.SYNOPSIS
    Registers the Scheduled Task "Plimsoll hand over logs", which runs Send-PerfmonLog.ps1 every hour as SYSTEM.

.DESCRIPTION
    Run it as an administrator. Repeating it replaces the task. To a share, SYSTEM goes as the account of the computer
    (DOMAIN\HOST$), which needs the right to write there.

    To remove the task: Unregister-ScheduledTask -TaskName 'Plimsoll hand over logs'

.EXAMPLE
    .\Register-SendPerfmonLog.ps1 -Arguments '-Destination \\server\perflogs\WEB1'
#>
[CmdletBinding()]
param(
    # The arguments of Send-PerfmonLog.ps1.
    [Parameter(Mandatory = $true)]
    [string] $Arguments,

    [string] $TaskName = 'Plimsoll hand over logs',

    [int] $EveryMinutes = 60
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'

$script = Join-Path $PSScriptRoot 'Send-PerfmonLog.ps1'
$command = "-NoProfile -NonInteractive -ExecutionPolicy Bypass -File `"$script`" $Arguments"
$action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument $command
$start = (Get-Date).Date.AddMinutes(5)
$trigger = New-ScheduledTaskTrigger -Once -At $start -RepetitionInterval (New-TimeSpan -Minutes $EveryMinutes)
$principal = New-ScheduledTaskPrincipal -UserId 'SYSTEM' -LogonType ServiceAccount -RunLevel Highest
$settings = New-ScheduledTaskSettingsSet -MultipleInstances IgnoreNew -StartWhenAvailable -ExecutionTimeLimit (New-TimeSpan -Hours 12)
$null = Register-ScheduledTask -TaskName $TaskName -Action $action -Trigger $trigger -Principal $principal -Settings $settings -Force
Write-Output "$TaskName`: runs $script every $EveryMinutes minutes"
