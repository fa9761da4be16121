/** The completion script of fish. It never evaluates typed or offered words. */
export const FISH_SCRIPT = `# fish completion for hooks

function __hooks_complete
    set -l before (commandline -opc)
    set -e before[1]
    set -l typed (commandline -ct)
    set -l lines (hooks complete -- $before "$typed" 2>/dev/null)
    set -l directive $lines[-1]
    set -e lines[-1]

    # For --flag=value, hooks prints only the value.
    set -l flag (string match --regex -- '^-.*=' "$typed")
    for line in $lines
        printf '%s\\n' "$flag$line"
    end

    if test "$directive" = :16
        __fish_complete_directories "$typed"
    else if test "$directive" = :0 -a (count $lines) -eq 0
        __fish_complete_path "$typed"
    end
end

complete -c hooks -e
complete -c hooks -f -a '(__hooks_complete)'
`;
