# Methods, parameters, scenarios, faults and profiles: pg itself knows them.
_pg_candidates() {
    local -a found
    found=(${(f)"$(command pg completions -- "$LBUFFER" 2>/dev/null | cut -f 1)"})
    if (( $#found == 0 )); then
        _default
    elif [[ $found[1] == *= ]]; then
        compadd -S '' -a found
    else
        compadd -a found
    fi
}
