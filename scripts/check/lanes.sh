# Runs the parts of scripts/check.sh in parallel, each when the parts that it needs have passed. Sourced, never run.
#
# A part is a function check_NAME. `needs[NAME]` lists the parts that it needs, `width[NAME]` the number of lanes that
# it occupies (1 by default). It runs in its own process group, with its files in $scratch/NAME, its log in
# $logs/NAME.log and its counts in $counts.
# shellcheck shell=bash disable=SC2154,SC2030,SC2031,SC2034

declare -A began=() took=() running=()
passed=()

# plan PART…: adds the parts and everything that they need to `planned`, dependencies first.
plan() {
    local part
    for part in "$@"; do
        [[ " ${planned[*]-} " == *" $part "* ]] && continue
        # shellcheck disable=SC2086 # a list of names
        plan ${needs[$part]-}
        planned+=("$part")
    done
}

is_ready() {
    local need
    for need in ${needs[$1]-}; do
        [[ " ${passed[*]-} " == *" $need "* ]] || return 1
    done
}

# has_room PART LANES: true if enough of LANES are free for the part, or if nothing is running.
has_room() {
    local free=$2 other
    for other in "${running[@]}"; do
        free=$((free - ${width[$other]:-1}))
    done
    ((free >= ${width[$1]:-1} || ${#running[@]} == 0))
}

start_part() {
    local part=$1
    began[$part]=$SECONDS
    mkdir -p "$scratch/$part"
    # A new process group, so that all its processes can be stopped.
    set -m
    (
        set +m
        counts=$scratch/$part.counts scratch=$scratch/$part
        if ((lanes == 1)); then exec > >(tee "$logs/$part.log") 2>&1; else exec >"$logs/$part.log" 2>&1; fi
        trap 'status=$?; stop_service; stop_s3; echo "$status" >"$scratch.status"' EXIT
        "check_$part"
    ) </dev/null &
    set +m
    running[$!]=$part
}

stop_parts() {
    local pid
    for pid in "${!running[@]}"; do
        kill -TERM -- "-$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}

# wait_for_part: waits until a part has ended; sets `pid` and `status`. `wait -n` of Bash misses a job that ends
# while another one starts.
wait_for_part() {
    while sleep 0.2; do
        for pid in "${!running[@]}"; do
            local result=$scratch/${running[$pid]}.status alive=1
            kill -0 "$pid" 2>/dev/null || alive=0
            if [[ -s $result ]] || ((!alive)); then
                # A killed part writes no status.
                status=$(cat "$result" 2>/dev/null || echo 1)
                return
            fi
        done
    done
}

# end_part PID STATUS: records the part, or shows its log and stops all parts.
end_part() {
    local part=${running[$1]}
    unset "running[$1]"
    took[$part]=$((SECONDS - began[$part]))
    if (($2)); then
        printf '\n== %s: FAILED after %s s\n' "$part" "${took[$part]}"
        ((lanes == 1)) || tail -n 400 "$logs/$part.log"
        stop_parts
        die "check: $part failed; the full output is in ${logs#"$PWD"/}/$part.log"
    fi
    passed+=("$part")
    printf '== %s: %s s: %s\n' "$part" "${took[$part]}" "$(counts_of "$part")"
}

counts_of() { paste -sd, "$scratch/$1.counts" 2>/dev/null | sed 's/,/, /g'; }

# run_parts LANES PART…: runs the parts and everything that they need, LANES at a time. With one lane, output is shown.
run_parts() {
    local lanes=$1 planned=() part pid status rest
    shift
    plan "$@"
    while ((${#planned[@]} + ${#running[@]})); do
        rest=()
        for part in "${planned[@]}"; do
            if has_room "$part" "$lanes" && is_ready "$part"; then
                start_part "$part"
            else
                rest+=("$part")
            fi
        done
        planned=("${rest[@]}")
        wait_for_part
        end_part "$pid" "$status"
    done
}
