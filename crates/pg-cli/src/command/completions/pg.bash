
# Methods, parameters, scenarios, faults and profiles: pg itself knows them. The word that bash completes ($2) begins behind the last = or :,
# so what stands before it is taken off each candidate.
_pg_candidates() {
    local line="${COMP_LINE:0:COMP_POINT}" candidate
    local current="${line##*[[:space:]]}"
    local before="${current%"$2"}"
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        COMPREPLY+=("${candidate#"$before"}")
    done < <("$1" completions -- "$line" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        _pg "$@"
    elif [[ ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _pg_candidates -o nosort -o bashdefault -o default pg
else
    complete -F _pg_candidates -o bashdefault -o default pg
fi
