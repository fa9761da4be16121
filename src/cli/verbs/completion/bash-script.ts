/**
 * The completion script of bash. It never evaluates typed or offered words: it avoids `eval` and `compgen -W`, which would
 * run a $(…) on Tab. It needs no package, and also runs on bash 3.2, which has no `compopt`.
 */
export const BASH_SCRIPT = `# bash completion for hooks

__hooks_complete() {
    local cur=\${COMP_WORDS[COMP_CWORD]} word line prefix="" directive=0 joins="" i
    local -a words
    words=()
    COMPREPLY=()

    # Bash splits --flag=value and a:b into several words.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=\${COMP_WORDS[i]}
        if ((\${#words[@]} > 0)) && [[ -n $joins || $word == [=:]* ]]; then
            words[\${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        joins=""
        [[ $word == *[=:] ]] && joins=1
    done
    [[ $cur == [=:]* ]] && cur=""

    # Bash replaces only the part of such a word after its last = or :.
    word=\${words[\${#words[@]}-1]}
    [[ $word == --*=* ]] && word=\${word#*=}
    [[ $word == *[=:]* ]] && prefix=\${word%"\${word##*[=:]}"}

    while IFS= read -r line; do
        if [[ $line == :[0-9]* ]]; then
            directive=\${line#:}
        else
            line=\${line%%$'\\t'*}
            COMPREPLY+=("\${line#"$prefix"}")
        fi
    done < <(hooks complete -- "\${words[@]}" 2>/dev/null)

    if ((directive & 16)); then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$cur")
    elif ((directive & 4)); then
        compopt +o default 2>/dev/null
    fi
    return 0
}

complete -o default -F __hooks_complete hooks
`;
