/** The completion script of zsh. It never evaluates typed or offered words. */
export const ZSH_SCRIPT = `#compdef hooks
# zsh completion for hooks

_hooks() {
    local line value directive
    local -a lines values
    lines=("\${(@f)$(hooks complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    directive=\${lines[-1]#:}

    # _describe takes value:description, so colons of the value are escaped.
    for line in "\${(@)lines[1,-2]}"; do
        value=\${line%%$'\\t'*}
        values+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
    done

    # For --flag=value, only the value is completed.
    [[ $PREFIX == -*=* ]] && compset -P '*='

    if ((directive & 16)); then
        _files -/
    else
        ((\${#values})) && _describe hooks values -Q && return 0
        ((directive & 4)) || _files
    fi
}

# If zsh loads this file from a folder of fpath, the file is the function itself.
if [[ \${funcstack[1]} == _hooks ]]; then
    _hooks "$@"
else
    compdef _hooks hooks
fi
`;
