#!/usr/bin/env bash
# Jobs from the command line: submit, show, wait, read and cancel. Output and exit codes must equal those of a local
# run. TAP.
. "$(dirname "$0")/common.sh"

"$hamel" new >system.json
echo '{"hamel": 1, "coordinates": ["x"], "kinetic_energy": "x'"'"'^2/2 + z", "simulation": {"stop": 1}}' >invalid.json
# About 10^8 rows, so that the run outlasts the test and streams continuously.
cat >long.json <<'J'
{"hamel": 1, "name": "a long one", "coordinates": [{"name": "x", "initial": 1}], "kinetic_energy": "x'^2/2",
 "potential_energy": "x^2/2", "simulation": {"stop": 9e6, "step": 0.1, "max_steps": 1000000000}}
J
# x reaches a state at which its equation is not defined.
cat >broken.json <<'J'
{"hamel": 1, "coordinates": [{"name": "x", "initial": 1, "velocity": -1}], "kinetic_energy": "x'^2/2",
 "potential_energy": "1e-3*log(x)", "simulation": {"stop": 2, "samples": 21}}
J
"$hamel" run system.json >rows.csv
"$hamel" run broken.json >broken.csv 2>broken.err
broken=$?

call submit system.json; code_is 2 && grep -q 'submit needs a server: give --server URL or set HAMEL_SERVER' err
report $? "without a server, submit names the missing option"
call status; code_is 2 && grep -q 'status: JOB is missing' err
report $? "status without a job is rejected"
start_daemon
export HAMEL_SERVER=$url
call status ../examples; code_is 2 && grep -q 'is not a job id' err
report $? "an invalid id is rejected before a request"
call status nobody; code_is 5 && grep -q "there is no job 'nobody'" err
report $? "the server reports an unknown job"

call submit system.json; code_is 0 && [ ! -s err ] && grep -qxE '[A-Za-z0-9_-]+' out
report $? "submit prints the id and nothing else"
job=$(cat out)
curl -s "$HAMEL_SERVER/v1/jobs/$job/system" | cmp -s - system.json
report $? "the file is stored byte for byte"
call wait "$job"; code_is 0 && grep -qx "$job completed" out && [ ! -s err ]
report $? "wait returns when the job has ended"
call results "$job"; code_is 0 && cmp -s out rows.csv
report $? "the rows of a job have the same bytes as those of a local run"
call results "$job" --output rows.npy --format npy --summary summary.json; code_is 0 && [ ! -s out ] &&
    grep -q '"status":"completed"' summary.json && "$hamel" run system.json --server '' --format npy | cmp -s - rows.npy
report $? "the rows are the same in another format, with the summary in a file"
call results "$job" --columns "t,x'" --from 1 --to 2 --every 2; code_is 0 && head -1 out | grep -qx "t,x'" &&
    awk -F, 'NR > 1 && ($1 < 1 || $1 > 2) {exit 1} END {exit NR != 12}' out
report $? "columns, a time span and every n-th row can be selected"
call results "$job" --from now; code_is 2 && grep -q -- '--from must be a time, not `now`' err &&
    { call results "$job" --every 0; code_is 2; }
report $? "invalid times and counts are errors of the command line"
call results "$job" --columns q; code_is 5 && grep -q "unknown column 'q'" err
report $? "an unknown column is reported"
call results "$job" --format xml; code_is 2 && grep -q 'csv' err
report $? "a message about an unknown format lists the formats"

call submit system.json --set l=2 --set x.initial=2 --set y.initial=0 --samples 2; other=$(cat out)
call wait "$other" && call results "$other"; code_is 0 && sed -n 2p out | grep -q '^0,2,0,' && [ "$(wc -l <out)" = 3 ]
report $? "options that change the description are applied before submission"
call submit system.json invalid.json system.json; code_is 3 && [ "$(wc -l <out)" = 2 ]; first=$?; cp err remote.err
HAMEL_SERVER='' call run invalid.json; [ $first = 0 ] && cmp -s err remote.err
report $? "submit reports errors like a local run and still submits the other files"
echo '{"hamel": 1,' >cut.json
call submit cut.json; code_is 3 && grep -q '^hamel: cut.json:2:1: ' err
report $? "malformed JSON is reported with line and column"
call submit system.json --key k1; cp out once
call submit system.json --key k1; code_is 0 && cmp -s out once
report $? "the same key gives the same job"
call submit system.json --key k1 --stop 3; code_is 5 && grep -q '409' err
report $? "a key cannot be used for a second description"
call submit system.json system.json --key k2; code_is 2 && [ ! -s out ]
report $? "submit accepts --key with one file only"

call submit system.json --set simulation.max_steps=20; short=$(cat out)
call wait "$short"; code_is 4 && grep -qx "$short incomplete" out && grep -q "^hamel: $short: incomplete: " err
report $? "wait reports why a run is incomplete, with its exit code"
call submit broken.json; bad=$(cat out)
call wait "$bad" "$job"; [ $broken != 0 ] && code_is $broken && [ "$(cut -d' ' -f2 out | tr '\n' ' ')" = "failed completed " ] &&
    [ "$(sed "s/$bad/broken.json/" err)" = "$(cat broken.err)" ]
report $? "a failed run gives the exit code and message of a local run"
call results "$bad"; code_is $broken && cmp -s out broken.csv
report $? "the rows of a failed job can be read"

call status "$job"; code_is 0 && grep -q '^  status *completed$' out && grep -q '^  progress *100 %$' out && grep -q '^  rows *201$' out
report $? "status shows state, progress and rows of a job"
call status "$job" "$short" --format json; code_is 0 && [ "$(wc -l <out)" = 2 ] && head -1 out | grep -q "^{\"id\":\"$job\".*\"status\":\"completed\""
report $? "status --format json prints the server's document of each job on one line"
call status "$job" --format xml; code_is 2 && grep -q 'text or json' err
report $? "a message about an unknown format of a status lists the formats"
call status nobody "$job"; code_is 5 && grep -q "^$job\$" out
report $? "an unknown job does not suppress the status of other jobs"

call submit long.json; long=$(cat out)
"$hamel" results "$long" --follow >followed 2>followed.err & follower=$!
"$hamel" wait "$long" >waited 2>waited.err & waiter=$!
for _ in $(seq 1200); do [ -s followed ] && break; sleep 0.1; done
call results "$long" --to 2; code_is 0 && [ "$(wc -l <out)" = 22 ]
report $? "results of a running job contain the rows so far"
call jobs --status running --format json; code_is 0 && [ "$(wc -l <out)" = 1 ] && grep -q "^{\"id\":\"$long\"" out
report $? "jobs can be selected by status"
call cancel "$long"; code_is 0 && grep -q "^$long " out; first=$?
wait $waiter; waited=$?; wait $follower; followed=$?
[ $first = 0 ] && [ $waited = 4 ] && grep -qx "$long canceled" waited
report $? "cancel ends a job, and wait gives exit code 4"
[ $followed = 4 ] && [ "$(wc -l <followed)" -gt 2 ] && grep -q "^hamel: $long: the run was canceled" followed.err
report $? "results --follow ends when the job ends"
call cancel "$long" "$job"; code_is 0 && grep -qx "$job completed" out
report $? "a job that has ended cannot be canceled"

call jobs; code_is 0 && [ "$(wc -l <out)" = 8 ] && head -1 out | grep -q "^$long  canceled .* a long one\$" && tail -1 out | grep -q "^$job "
report $? "jobs are listed, newest first"
call jobs --limit 3; code_is 0 && [ "$(wc -l <out)" = 3 ]
report $? "at most --limit jobs are listed"
call jobs --name 'a long one'; code_is 0 && [ "$(wc -l <out)" = 1 ]
report $? "jobs can be selected by name"
call jobs --limit few; code_is 2 && grep -q 'a whole number from 1' err
report $? "a limit that is not a number is rejected"
call jobs --status done; code_is 5 && grep -q 'queued, running' err
report $? "the server reports an unknown status"
call cancel --forget "$long"; code_is 0 && [ ! -s out ]; first=$?
call status "$long"; [ $first = 0 ] && code_is 5 && grep -q 404 err
report $? "a job can be deleted"

finish
