#!/usr/bin/env bash
# Sweeps on the command line. The table must not depend on the number of threads and shards, on interruptions, or on
# whether members share a model. Failing members and rejected options are tested, too. TAP.
. "$(dirname "$0")/common.sh"

cat >study.json <<'J'
{"hamel": 1, "name": "study", "parameters": {"l": 1, "g": 9.81, "I": "l^2"},
 "coordinates": [{"name": "a", "initial": 1}, "b"],
 "kinetic_energy": "I*(a'^2 + b'^2/2 + a'*b'*cos(a-b))", "potential_energy": "-g*l*(2*cos(a) + cos(b))",
 "simulation": {"stop": 1, "samples": 5},
 "sweep": {"mode": "latin_hypercube", "count": 100, "seed": 7,
           "over": {"l": {"from": 0.5, "to": 2}, "a.initial": [0.25, 0.5, 1, 2], "b.velocity": {"from": -1, "to": 1}},
           "collect": ["final", {"name": "peak", "reduce": "max", "expression": "abs(a)"}]}}
J
# The second of these three members has no consistent initial values.
cat >partly.json <<'J'
{"hamel": 1, "coordinates": [{"name": "x", "initial": 1}, "y"], "kinetic_energy": "(x'^2 + y'^2)/2",
 "constraints": [{"name": "rod", "equation": "x^2 + y^2 = 1"}],
 "simulation": {"stop": 1, "samples": 2, "initialization": "strict"},
 "sweep": {"over": {"x.initial": [1, 2, -1]}}}
J

call sweep study.json; code_is 0 && [ ! -s err ] && [ "$(wc -l <out)" = 101 ] &&
    head -1 out | grep -qx "member,l,a.initial,b.velocity,status,t,a,b,a',b',peak,problem" &&
    [ "$(cut -d, -f1,5 out | grep -c '^[0-9]*,completed$')" = 100 ]
report $? "a sweep gives one row per member"
cp out table.csv
call sweep study.json --jobs 1; code_is 0 && cmp -s out table.csv
report $? "the table does not depend on the number of threads"
call sweep study.json --jobs 2 --output two.csv; code_is 0 && cmp -s two.csv table.csv && [ ! -e two.csv.parts ]
report $? "a table is written to a file, and no other file is left"
call sweep study.json --format ndjson; code_is 0 && [ "$(wc -l <out)" = 102 ] && head -1 out | grep -q '^{"header":{"columns":\["member","l"' &&
    sed -n 2p out | grep -q '^{"row":\[0,' && tail -1 out | grep -qx '{"summary":{"counts":{"completed":100,"terminated":0,"incomplete":0,"failed":0}}}'
report $? "a table in NDJSON begins with a header and ends with the counts of members"

sed 's/"coordinates"/"dissipation": "-a'"'"'^2", "coordinates"/' study.json >driven.json
call sweep driven.json; code_is 0 && [ "$(wc -l <err)" = 1 ] && grep -q 'driven.json: warning: /dissipation: the dissipation is negative' err
report $? "a warning about the description is shown once"

# A run with the values of a member must end with the final values in the row of this member.
member() { sed -n "$(($1 + 2))p" table.csv; }
IFS=, read -r _ l a v _ <<<"$(member 41)"
call run study.json --set "l=$l" --set "a.initial=$a" --set "b.velocity=$v"; code_is 0 &&
    paste -d, <(tail -1 out) <(member 41 | cut -d, -f6-10) |
    awk -F, '{for (i = 1; i <= 5; i++) {d = $i - $(i + 5); if (d < 0) d = -d; if (d > 1e-5) exit 1}}'
report $? "a member gives the same values as a run with its parameters"

for k in 1 2 3; do call sweep study.json --shard $k/3 --out parts; done; code_is 0 && [ ! -s out ]
report $? "shards are written as files of parts"
call merge parts; code_is 0 && cmp -s out table.csv
report $? "joined parts have the bytes of the complete table"
call merge parts --output joined.csv; code_is 0 && cmp -s joined.csv table.csv
report $? "parts can be joined into a file"
cp -r parts some; rm "$(ls -d some/* | sed -n 3p)"
call merge some; code_is 3 && [ ! -s out ] && grep -q 'members 16 to 23 of 100 are missing' err
report $? "merge reports missing members"
call sweep study.json --shard 1/3 --out some --resume; code_is 0; call merge some; code_is 0 && cmp -s out table.csv
report $? "an interrupted shard is resumed"
truncate -s -9 "$(ls -d some/* | sed -n 2p)"; call merge some; code_is 3 && [ ! -s out ] && grep -q 'damaged' err
report $? "a damaged part is rejected"
call sweep study.json --shard 1/3 --out some --resume; code_is 0; call merge some; code_is 0 && cmp -s out table.csv
report $? "a resumed shard replaces its damaged part"
call sweep study.json --shard 1/2 --out parts; call merge parts; code_is 3 && [ ! -s out ] && grep -q 'occur twice: in parts/.* and parts/' err
report $? "merge reports duplicate members"
call sweep study.json --set g=10 --shard 1/3 --out some; call merge some; code_is 3 && grep -q 'different sweeps' err
report $? "merge rejects parts of different sweeps"
mkdir empty; call merge empty; code_is 3 && grep -q 'no parts' err
report $? "a directory without parts is rejected"
call merge nowhere; code_is 6 && grep -q 'nowhere: No such file' err
report $? "a missing directory is an I/O failure"

# Kill hamel during a sweep, then start a sweep with another stop time and the same output. The second sweep must not
# change the parts of the first sweep. A small maximum step makes each member slow enough to kill the first sweep.
sed 's/"stop": 1,/"stop": 40, "max_step": 0.0005,/' study.json >slow.json
"$hamel" sweep slow.json --jobs 1 --output slow.csv 2>/dev/null & child=$!
for _ in $(seq 2400); do [ -n "$(ls slow.csv.parts/*.part 2>/dev/null)" ] && break; sleep 0.05; done
{ kill -9 $child && wait $child; } 2>/dev/null
kept=$(ls slow.csv.parts/*.part | head -1)
before=$(stat -c %y "$kept"); call sweep slow.json --stop 1 --output slow.csv --resume; code_is 0 && [ "$(stat -c %y "$kept")" = "$before" ]
report $? "--resume does not change the parts of another sweep"
rm -rf slow.csv.parts
call sweep study.json --resume; code_is 2 && grep -q -- '--resume needs' err
report $? "--resume needs --out or --output"
call sweep study.json --shard 1/3; code_is 2 && grep -q -- '--shard needs --out' err
report $? "--shard needs --out"
for wrong in 0/3 4/3 1 a/b 1/3x; do call sweep study.json --shard $wrong --out parts; code_is 2 || break; done; code_is 2 && grep -q 'K/N' err
report $? "an invalid shard is rejected"
call sweep study.json --jobs 0; code_is 2 && grep -q -- '--jobs must be' err
report $? "an invalid number of threads is rejected"
call sweep study.json --format json; code_is 2 && grep -q 'csv or ndjson' err
report $? "a message about an unknown format lists the formats"

call sweep partly.json; code_is 4 && [ "$(wc -l <out)" = 4 ] && grep -q '^1,2,failed,,,,,,/constraints/0' out && grep -q '^2,-1,completed,1,' out &&
    [ "$(wc -l <err)" = 1 ] && grep -q '^hamel: partly.json: member 1 (x.initial=2): /constraints/0' err
report $? "a failed member is reported, and the other members continue"
cp out partly.csv
call sweep partly.json --out partly; code_is 4; call merge partly; code_is 4 && cmp -s out partly.csv
report $? "merge gives the exit code of the sweep"
call sweep partly.json --set simulation.max_steps=2; code_is 4 && grep -q '^0,1,incomplete,.*max_steps' out
report $? "the table contains the reason why a member is incomplete"

# Members with constraints and with events, which are integrated eight at a time, have the final values of their runs.
cat >ball.json <<'J'
{"hamel": 1, "parameters": {"p": 1, "e": 0.8}, "coordinates": [{"name": "y", "initial": "p"}], "gravity": [0, -9.81],
 "particles": [{"name": "ball", "mass": 0.1, "position": [0, "y"]}], "events": [{"name": "bounce", "when": "y",
 "direction": "falling", "impulse": {"constraint": "y = 0", "restitution": "e"}}], "simulation": {"stop": 2, "samples": 9},
 "sweep": {"mode": "random", "count": 27, "seed": 3, "over": {"p": {"from": 0.2, "to": 1}}, "collect": ["final"]}}
J
cat >disk.json <<'J'
{"hamel": 1, "parameters": {"r": 0.5, "p": 0.5}, "coordinates": [{"name": "X", "velocity": "-6*r"}, "Y",
 {"name": "phi", "velocity": "p"}, {"name": "theta", "initial": 1.3}, {"name": "psi", "velocity": "6 - p*cos(1.3)"}],
 "definitions": {"Om": "psi' + phi'*cos(theta)", "wd": "phi'*sin(theta)"}, "potential_energy": "9.81*r*sin(theta)",
 "kinetic_energy": ["(X'^2 + Y'^2 + (r*theta'*cos(theta))^2)/2", "r^2/4*(theta'^2 + wd^2)/2", "r^2/2*Om^2/2"],
 "constraints": [{"name": "x", "equation": "X' = -r*Om*cos(phi) + r*theta'*sin(phi)*sin(theta)"},
 {"name": "y", "equation": "Y' = -r*Om*sin(phi) - r*theta'*cos(phi)*sin(theta)"}], "simulation": {"stop": 1, "samples": 9},
 "sweep": {"mode": "random", "count": 27, "seed": 3, "over": {"p": {"from": 0.2, "to": 1}}, "collect": ["final"]}}
J
cp table.csv study.csv
for system in ball disk; do
    call sweep $system.json --jobs 1; code_is 0 && cp out table.csv
    rm -rf parts; for k in 1 2 3; do call sweep $system.json --shard $k/3 --out parts; done
    call merge parts; code_is 0 && cmp -s out table.csv
    report $? "the table of the $system does not depend on shards"
    same=0
    for k in 0 11 26; do
        IFS=, read -r _ p _ <<<"$(member $k)"
        call run $system.json --set "p=$p"
        [ "$(tail -1 out)" = "$(member $k | cut -d, -f4- | sed 's/,$//')" ] || same=1
    done
    report $same "members of the $system have the bytes of runs"
done
cp study.csv table.csv

# Each member has its own model if a parameter changes the equations or a value is an expression.
sed 's/"l": {[^}]*}, "a.initial": [^]]*\]/"l": ["g\/19.62", "sqrt(g\/4.905)"]/; s/latin_hypercube/random/; s/"count": 100/"count": 6/' study.json >own.json
call sweep own.json; code_is 0 && [ "$(cut -d, -f2 out | sort -u | tr '\n' ' ')" = "g/19.62 l sqrt(g/4.905) " ] && cp out own.csv
report $? "values of a sweep may be expressions"
sed 's/"g\/19.62", "sqrt(g\/4.905)"/"1\/2", "sqrt(2)"/' own.json >same.json
call sweep same.json; code_is 0 && [ "$(cut -d, -f2 out | sort -u | tr '\n' ' ')" = "0.5 1.4142135623730951 l " ]
report $? "constant expressions appear as numbers in the table"
code_is 0 && paste -d, own.csv out | awk -F, 'NR > 1 {for (i = 5; i <= 10; i++) {d = $i - $(i + 11); if (d < 0) d = -d; if (d > 1e-5) exit 1}}'
report $? "members with their own models have the same final values as members that share a model"
cat >family.json <<'J'
{"hamel": 1, "parameters": {"N": 2}, "coordinates": [{"name": "x[i]", "for": "i = 1..N", "velocity": "i"}],
 "kinetic_energy": "sum(i, 1, N, x[i]'^2)", "simulation": {"stop": 1, "samples": 2}, "sweep": {"over": {"N": [1, 2, 3]}}}
J
call sweep family.json; code_is 0 && sed -n 2p out | grep -q '^0,1,completed,1,[^,]*,,1,,$' && sed -n 4p out | grep -q '^2,3,completed,1,[^,]*,[^,]*,1,2,$'
report $? "columns that a member does not have are empty in its row"

call sweep system.json; code_is 6
report $? "a missing file is an I/O failure"
sed 's/"sweep"/"name"/; s/"name": "study"/"source": "none"/' study.json >none.json; call sweep none.json; code_is 3
report $? "a description without a sweep is rejected"
sed 's/"l": {/"L": {/' study.json >wrong.json; call sweep wrong.json; code_is 3 && [ ! -s out ] && grep -q '/sweep/over/L: the system has no parameter `L`' err
report $? "an unknown parameter to vary is rejected before the sweep"
sed 's/sqrt(g/sqrt(G/' own.json >wrong.json
for command in sweep run check; do
    call $command wrong.json; grep -q '/sweep/over/l/1:6: unknown name `G`' err && grep -q 'did you mean `g`' err || break
    [ $command = check ] || { code_is 3 && [ ! -s out ]; } || break
done; [ $command = check ] && ! code_is 0
report $? "a value with an unknown name is rejected by every command"
sed 's/abs(a)/abs(z)/' study.json >wrong.json; call sweep wrong.json; code_is 3 && grep -q '/sweep/collect/1/expression:5: unknown name `z`' err
report $? "an error in a collected expression has a pointer into the sweep"
"$hamel" sweep study.json >/dev/full 2>err; code=$?; code_is 6 && [ "$(wc -l <err)" = 1 ]
report $? "a full disk is an I/O failure, reported once"


"$hamel" sweep family.json >family.csv
call sweep study.json --server http://127.0.0.1:9; code_is 5 && [ ! -s out ] && grep -q '127.0.0.1:9: ' err
report $? "an unreachable server is reported"
"$hameld" --new-token one >token 2>entry
echo "{\"tokens\": [$(grep '^{' entry)]}" >tokens.json
start_daemon --max-members 100 --tokens tokens.json
call sweep study.json --server "$url"; code_is 5 && [ ! -s out ] && grep -q 'HTTP status 401' err
report $? "a missing token is reported"
HAMEL_TOKEN=$(cat token)
export HAMEL_TOKEN
call sweep study.json --server "$url"; code_is 0 && [ ! -s err ] && cmp -s out table.csv && [ "$(wc -l <out)" = 101 ]
report $? "a sweep on a server has the same bytes as a local sweep"
for file in own partly family; do
    call sweep $file.json --server "$url"; code_is $([ $file = partly ] && echo 4 || echo 0) && cmp -s out $file.csv || break
done; [ $file = family ] && cmp -s out $file.csv
report $? "members with their own models have the same bytes on a server"
for wrong in "" --set\ simulation.max_steps=2; do
    "$hamel" sweep partly.json $wrong --jobs 1 >here 2>here.err; here=$?
    call sweep partly.json $wrong --server "$url" --output there; code_is $here && cmp -s here there && cmp -s here.err err && [ ! -s out ] || break
done; code_is $here && cmp -s here there && grep -q incomplete there && [ ! -e there.draft ]
report $? "on a server, failing members have the same messages, and the table is written to a file"
"$hamel" examples shot | sed '2i "sweep": {"over": {"x.velocity": ["4*2", 12], "y.velocity": [10]}},' >shot.json
"$hamel" sweep shot.json >here; call sweep shot.json --server "$url"; code_is 0 && grep -q '^1,12,10,terminated,' out && cmp -s out here
report $? "on a server, terminated members have the same rows"
"$hamel" sweep own.json --format ndjson --set g=10 >here; call sweep own.json --format ndjson --set g=10 --server "$url"; code_is 0 && cmp -s out here
report $? "on a server, the table in NDJSON has the same bytes"
for wrong in "$(sed 's/"l": {/"L": {/' study.json)" "$(sed 's/sqrt(g/sqrt(G/' own.json)" "$(sed 's/abs(a)/abs(z)/' study.json)" '{"hamel": 1}' '{"hamel": 1,'; do
    echo "$wrong" >wrong.json; "$hamel" sweep wrong.json 2>here.err
    call sweep wrong.json --server "$url"; code_is 3 && [ ! -s out ] && cmp -s err here.err || break
done; code_is 3 && [ "$wrong" = '{"hamel": 1,' ] && cmp -s err here.err
report $? "on a server, errors of the description have the same messages"
call sweep study.json --set 'simulation.stop=2' --server "$url" --shard 1/2; code_is 2 && grep -q -- '--shard is for local sweeps' err
report $? "options for local sweeps are rejected with --server"
sed 's/"count": 100/"count": 101/' study.json >many.json
call sweep many.json --server "$url"; code_is 3 && grep -q 'many.json: /sweep: the sweep has 101 members; the limit is 100' err
report $? "a sweep with more members than the server's limit is rejected"
"$hamel" sweep own.json --server "$url" >/dev/full 2>err; code=$?; code_is 6 && [ "$(wc -l <err)" = 1 ]
report $? "a full disk is an I/O failure, also with a server"
call sweep own.json --server "$url" --output nowhere/table.csv; code_is 6 && grep -q 'nowhere/table.csv: No such file' err
report $? "a missing directory is an I/O failure, also with a server"

finish
