/** The completion script of PowerShell, 5.1 and later. It never evaluates typed or offered words. */
export const POWERSHELL_SCRIPT = `# PowerShell completion for hooks

Register-ArgumentCompleter -Native -CommandName hooks -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object {
            if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
            else { $_.Extent.Text }
        })

    # The legacy way of passing arguments drops an empty word without quotes.
    if ($wordToComplete -eq '') {
        $isNewer = $PSNativeCommandArgumentPassing -and $PSNativeCommandArgumentPassing -ne 'Legacy'
        $words += if ($isNewer) { '' } else { '""' }
    }

    # Calls hooks complete -- WORDS. PowerShell would drop the -- without quotes.
    $lines = @(hooks complete '--' @words 2>$null)

    # For --flag=value, hooks prints only the value.
    $flag = if ($wordToComplete -match '^--[^=]+=') { $Matches[0] } else { '' }
    $lines | Select-Object -SkipLast 1 | ForEach-Object {
        $value, $about = $_ -split "\`t", 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new("$flag$value", $value, 'ParameterValue', $about)
    }

    # An empty result prevents PowerShell from offering files.
    if ($lines.Count -eq 1 -and $lines[0] -eq ':4') { '' }
}
`;
