
# Methods, parameters, scenarios, faults and profiles: pg itself knows them.
complete -c pg -n "__fish_seen_subcommand_from call methods sign verify explain sandbox trigger config" -f -a "(command pg completions -- (commandline -cp | string collect) 2>/dev/null)"
