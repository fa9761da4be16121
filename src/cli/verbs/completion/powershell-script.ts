/** The completion script of PowerShell, 5.1 and later. Nothing that is typed or offered is evaluated. */
export const POWERSHELL_SCRIPT = `# PowerShell completion for hooks

Register-ArgumentCompleter -Native -CommandName hooks -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object {
            if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
            else { $_.Extent.Text }
        })

    # An empty word reaches a program only in quotes, except by the newer way to pass arguments.
    if ($wordToComplete -eq '') {
        $isNewer = $PSNativeCommandArgumentPassing -and $PSNativeCommandArgumentPassing -ne 'Legacy'
        $words += if ($isNewer) { '' } else { '""' }
    }

    # Asks: hooks complete -- WORDS. Quoted, the -- is passed on.
    $lines = @(hooks complete '--' @words 2>$null)

    # Of --flag=value only the value is offered.
    $flag = if ($wordToComplete -match '^--[^=]+=') { $Matches[0] } else { '' }
    $lines | Select-Object -SkipLast 1 | ForEach-Object {
        $value, $about = $_ -split "\`t", 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new("$flag$value", $value, 'ParameterValue', $about)
    }

    # Without any result PowerShell offers files.
    if ($lines.Count -eq 1 -and $lines[0] -eq ':4') { '' }
}
`;
