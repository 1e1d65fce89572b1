#!/usr/bin/env bash
# Exit codes and outputs of the command line. Results from a server must have the same bytes as those of a local run. TAP.
. "$(dirname "$0")/common.sh"

"$hamel" new >system.json
cat >bad_check.json <<'J'
{"hamel": 1, "coordinates": [{"name": "x", "velocity": 1}], "kinetic_energy": "x'^2/2",
 "checks": [{"name": "x < 2 & \"far\"", "expression": "x", "equals": 2, "tolerance": 1e-3},
            {"name": "near", "expression": "x", "equals": 1, "tolerance": 1e-3}],
 "simulation": {"stop": 1, "samples": 3}}
J
# The velocity x' - y' is computed from the difference of two momenta. The cancellation leaves only three correct
# digits.
cat >disagreeing.json <<'J'
{"hamel": 1, "coordinates": ["x", "y"], "dissipation": "(x'^2 + y'^2)/2",
 "kinetic_energy": "(x' + y')^2/2 + 1e-13*(x' - y')^2", "simulation": {"stop": 1}}
J
echo '{"hamel": 1, "coordinates": ["x"], "kinetic_energy": "x'"'"'^2/2 + z", "simulation": {"stop": 1}}' >invalid.json

call; code_is 2 && grep -q 'usage: hamel' err
report $? "without a command, the usage is printed"
call --help; code_is 0 && grep -q 'check ' out
report $? "help goes to standard output"
for command in run check analyze equations plot sweep merge submit status wait results cancel jobs examples new worker; do
    call "$command" --help; code_is 0 && grep -q 'Example' out
    report $? "help of $command has an example"
done
call rnu x; code_is 2 && grep -q 'did you mean `run`' err
report $? "the nearest command is suggested for an unknown one"
call worker; code_is 2 && grep -q 'give --store' err
report $? "a worker needs a store"
call worker --store sqlite:x; code_is 2 && grep -q 'a shared store is required' err
report $? "a worker needs a shared store"
call worker --store mysql://me:secret@db/x; code_is 2 && grep -q 'mysql://\.\.\.' err && ! grep -q secret err
report $? "a message about a store does not show its password"
call run system.json --forma csv; code_is 2 && grep -q 'did you mean `--format`' err && [ ! -s out ]
report $? "the nearest option is suggested for an unknown one"
call run system.json --format xml; code_is 2 && grep -q 'csv' err
report $? "a message about an unknown format lists the formats"
call run; code_is 2
report $? "run needs a file"
call run system.json other.json; code_is 2 && grep -q 'other.json' err
report $? "run accepts one file only"
call run nowhere.json; code_is 6 && grep -q 'nowhere.json: No such file' err
report $? "a missing file is an I/O failure"
call run system.json --output "$scratch/no/such/dir"; code_is 6
report $? "an output that cannot be opened is an I/O failure"
"$hamel" run system.json >/dev/full 2>err; code=$?; code_is 6 && [ "$(wc -l <err)" = 1 ]
report $? "a full disk is an I/O failure, reported once"
call run invalid.json; code_is 3 && [ ! -s out ] && grep -q '^hamel: invalid.json: /kinetic_energy:10: unknown name `z`' err
report $? "an error message contains file, pointer and column"

call run system.json; code_is 0 && [ ! -s err ] && [ "$(wc -l <out)" = 202 ] && head -1 out | grep -qx "t,x,y,x',y',angle,tension"
report $? "run writes rows as CSV to standard output"
cp out rows.csv
"$hamel" run - <system.json >out 2>err; code=$?; code_is 0 && cmp -s out rows.csv
report $? "a system is read from standard input"
call run --samples=3 --stop 2 system.json; code_is 0 && [ "$(tail -1 out | cut -d, -f1)" = 2 ] && [ "$(wc -l <out)" = 4 ]
report $? "options may come before or after the file"
call run system.json --set l=2 --set x.initial=2 --set y.initial=0 --samples 2; code_is 0 && sed -n 2p out | grep -q '^0,2,0,'
report $? "--set changes parameters and initial values"
call run system.json --set q=1; code_is 3 && grep -q '`q`' err
report $? "an unknown parameter is rejected"
call run system.json --sensitivities 'l, x.initial' --set 'simulation.record=x,d(x)/d(l)' --samples 2
code_is 0 && sed -n 1p out | grep -qx 't,x,d(x)/d(l)'
report $? "--sensitivities and simulation.record accept lists of names"
call run system.json --set q; code_is 2
report $? "--set needs NAME=VALUE"
call run system.json --output rows2.csv --summary summary.json; code_is 0 && [ ! -s out ] && cmp -s rows2.csv rows.csv &&
    grep -q '"status":"completed"' summary.json
report $? "rows and summary go to files"
call run system.json --format ndjson; code_is 0 && head -1 out | grep -q '^{"header":' && tail -1 out | grep -q '^{"summary":'
report $? "ndjson begins with a header and ends with a summary"
call run system.json --format json --samples 2; code_is 0 && grep -q '^{"header":.*"columns":{"t":\[0,10\]' out
report $? "json contains columns"
call run system.json --format npy; code_is 0 && [ "$(head -c 6 out | od -An -tx1 | tr -d ' \n')" = 934e554d5059 ]
report $? "npy begins with its magic number"
call run system.json --method bdf --formulation udwadia-kalaba --rtol 1e-6 --atol 1e-8 --format ndjson; code_is 0 &&
    tail -1 out | grep -q '"method":"bdf","formulation":"udwadia-kalaba"'
report $? "method and formulation can be set"
call run system.json --method rk45; code_is 2 && grep -q -- '--method: unknown method `rk45`' err &&
    { call check system.json --formulation lagrang; code_is 2; } && grep -q 'did you mean `lagrange`?' err &&
    { call run system.json --set simulation.method=rk45; code_is 3; } && grep -q '/simulation/method' err
report $? "a wrong method is an error of the command line, or of the description"
"$hamel" run system.json --jit off --summary off.json >off 2>err && call run system.json --jit on --summary on.json &&
    cmp -s off out && grep -q '"evaluation":"interpreter"' off.json && grep -q '"evaluation":"\(machine code\|interpreter\)"' on.json
report $? "machine code gives the same bytes, and the summary names the evaluator"
call run system.json --jit maybe; code_is 2 && grep -q -- '--jit must be auto, on or off, not `maybe`' err
report $? "--jit accepts auto, on or off"
call run system.json --jit off --server http://127.0.0.1:9; code_is 2 && grep -q 'set --jit of hameld' err
report $? "--jit is rejected for runs on a server"
call run system.json --set simulation.max_steps=20; code_is 4 && [ -s out ] && grep -q 'incomplete\|max_steps' err
report $? "an incomplete run is reported, and its rows are kept"

call check system.json; code_is 0 && [ "$(grep -c '^ok ' out)" = 2 ]
report $? "check prints one line for each check and invariant"
call check system.json --set simulation.max_steps=20; code_is 4 &&
    grep -q '^FAILED system.json: run: incomplete: the run ended' out && grep -q 'incomplete: the run ended' err
report $? "an incomplete run gives the exit code of a failed run"
# The integrator steps over a narrow peak of the potential without evaluating it, but an output row is on the peak. The
# energy balance error makes the run fail.
cat >denied.json <<'J'
{"hamel": 1, "coordinates": [{"name": "x", "velocity": 4}], "kinetic_energy": "x'^2/2",
 "potential_energy": "exp(-(1000*(x - 2))^2)", "simulation": {"stop": 1, "samples": 3}}
J
call run denied.json --format ndjson --summary denied.sum
code_is 4 && grep -q 'energy balance error' err && [ "$(grep -c '^{"row"' out)" = 3 ] && tail -1 out | grep -q '^{"problem"' &&
    tail -2 out | head -1 | grep -q '^{"summary":{"status":"failed"' && grep -q '^{"status":"failed".*"max_work_balance_error":1' denied.sum
report $? "a run with a large energy error fails, with all rows and its summary"
call run system.json --samples 2 --summary - --output rows3.csv; code_is 0 && grep -q '^{"status":"completed"' out && [ ! -e ./- ]
report $? "--summary - writes to standard output"
call check system.json --junit -; code_is 0 && grep -q '</testsuites>' out && [ ! -e ./- ]
report $? "--junit - writes to standard output"
call check bad_check.json system.json --junit report.xml; code_is 1 && [ "$(grep -c '^FAILED' out)" = 1 ] && [ "$(grep -c '^ok ' out)" = 3 ]
report $? "a failed check gives exit code 1"
grep -q 'tests="4" failures="1" errors="0"' report.xml && grep -q 'name="check x &lt; 2 &amp; &quot;far&quot;"' report.xml
report $? "the JUnit report counts the checks and escapes their names"
call check system.json invalid.json --junit report.xml; code_is 3 && grep -q 'errors="1"' report.xml && grep -q '^ok ' out
report $? "an invalid file is an error in the report, and the other files are still checked"

call analyze system.json; code_is 0 && [ ! -s err ] && grep -q '^degrees of freedom  *1$' out && grep -q '^  rod  *holonomic, scleronomic' out
report $? "analyze prints the properties of a system"
call analyze system.json --format json; code_is 0 && [ "$(wc -l <out)" = 1 ] && grep -q '"verdict":"none"' out
report $? "an analysis is one line of JSON"
cp out analysis.json
call analyze system.json --format xml; code_is 2 && grep -q 'text or json' err
report $? "a message about an unknown format of an analysis lists the formats"
call analyze system.json --verify; code_is 0 && grep -q '^  states compared  *100$' out && grep -q '^  verdict  *they agree$' out
report $? "all formulations are compared"
call analyze system.json --verify --format json; code_is 0 && grep -q '"verification":{"formulations":\["lagrange",.*"states":100,' out
report $? "the JSON output contains the comparison of formulations"
cp out verification.json
echo '{"hamel": 1, "coordinates": ["x"], "kinetic_energy": "x'"'"'^2", "generalized_forces": {"x": "sqrt(-1-x^2)"}}' >nowhere.json
call analyze nowhere.json; code_is 3 && grep -q '^hamel: nowhere.json: no state near .* at which the equations are finite' err
report $? "analyze reports a system whose equations are not finite at any state"
call analyze disagreeing.json --verify; code_is 1 && grep -q '^  verdict  *THEY DISAGREE$' out
report $? "formulations that disagree give exit code 1"
call analyze system.json --equilibrium --linearize --about equilibrium --inputs g; code_is 0 && grep -q '^  stability  *stable' out && grep -q '^  eigenvalues  *0 + [0-9.]*i, ' out && grep -q '^  inputs p  *g$' out && cp out linear.txt
report $? "equilibria and a linearization are found"
call analyze "$root/api/examples/greenwood_4_11_steady_disk.json" --equilibrium; code_is 0 && grep -q '^  ignorable  *X, Y, phi, psi$' out && grep -q '^  coordinates  *X = 0, Y = 0, phi = 0, theta = 1.2, psi = 0$' out && grep -q '^  stability  *stable (minimum of the energy' out
report $? "steady motions of a rolling disk are printed"
call analyze "$root/api/examples/papastavridis_pr_3_5_8_double_physical_pendulum.json"; code_is 0 && grep -q '^conserved .*momentum(phi) + momentum(psi)$' out && grep -q '^one freedom remains  *t = integral d(phi - psi)/sqrt(' out
report $? "combined momenta and a quadrature are printed"
call analyze system.json --forces --relax rod; code_is 0 && grep -q '^  potential_energy$' out && grep -q '^reaction of rod, relaxed$' out && cp out forces.txt
report $? "forces and the reaction of a relaxed constraint are found"
cat >struck.json <<'END'
{"hamel": 1, "coordinates": ["x", "y"], "kinetic_energy": "(x'^2 + y'^2)/2",
 "events": [{"name": "hit", "when": "t - 1", "impulse": {"constraint": "x = 0"}, "percussion": {"on": "y", "value": 3}}],
 "simulation": {"stop": 2, "samples": 2}}
END
call analyze struck.json --impulses; code_is 0 && grep -q '^    x = 0  *type 4$' out && grep -q '^    degree of indeterminacy  *1$' out && cp out impulses.txt
report $? "the impulses of events are classified"
call run struck.json --format ndjson; code_is 0 && grep -q '"impact":{"percussion":{"y":3},"constraints":\[{"name":"x = 0","type":4,' out && grep -q '"kinetic_energy":{"before":0,"after":4.5,"change":4.5,"work":4.5}' out
report $? "records of events contain the impulses"
call analyze system.json --displacements; code_is 0 && grep -q '^    virtual .*D(x).* = 0$' out && grep -q '^  branches of configurations that meet: 1$' out && cp out displacements.txt
report $? "virtual displacements are written"
call analyze system.json --gauss --hamilton --bracket 'y*p_x, energy()' --canonical 'p_x,p_y;-x,-y'; code_is 0 && grep -q '^  gauss_nonideal() .*, largest slope ' out && grep -q '^  verdict  *it holds$' out && grep -q '^  \[y\*p_x, energy()\] = ' out && grep -q '^  verdict  *canonical$' out && cp out principles.txt
report $? "Gauss's functions, Hamilton's principle and brackets are found"
call analyze system.json --bracket 'x, q'; code_is 3 && grep -q -- '--bracket:1: unknown name `q`' err
report $? "an unknown name in a bracket is reported"
call analyze system.json --bracket x; code_is 2 && grep -q 'two functions F,G' err
report $? "a bracket of one function is rejected"
call analyze system.json --relax rid; code_is 3 && grep -q 'no constraint `rid` to relax' err && grep -q 'did you mean `rod`' err
report $? "an unknown constraint to relax is reported"
call analyze system.json --linearize --about rest; code_is 2 && grep -q 'initial' err
report $? "an unknown value of --about is reported"
call analyze system.json --linearize --inputs gg; code_is 3 && grep -q 'input `gg` is not a parameter' err
report $? "an unknown input is reported"
printf '{"hamel":1,"coordinates":["x"],"kinetic_energy":"x'"'"'^2/2","potential_energy":"x^2/2"}' >timeless.json
call analyze timeless.json --verify --equilibrium --linearize --forces; code_is 0 && grep -q '^degrees of freedom  *1$' out
report $? "analyses do not need the key simulation"
call equations timeless.json --format c --set simulation.formulation=kane; code_is 0 && grep -q '^int rates(' out
report $? "equations do not need the key simulation"
call check timeless.json; code_is 3 && grep -q 'a system needs the key `simulation`' err
report $? "check requires the key simulation"
call equations system.json; code_is 0 && grep -q "^rod: " out && cp out equations.txt
report $? "equations are written as text"
call equations system.json --format latex; code_is 0 && grep -q '^.begin{align}' out
report $? "equations are written as LaTeX"
call equations system.json --formulation maggi; code_is 0 && grep -q '^lambda(rod) = ' out
report $? "multipliers are written as expressions"
call equations system.json --format c; code_is 0 && grep -q '^int rates(' out
report $? "equations are written as C"
"$hamel" examples redundant_parallelogram >redundant.json
call equations redundant.json --formulation kane; code_is 3 && grep -q 'some constraints are redundant' err
report $? "the formulation kane rejects redundant constraints"
call equations system.json --form explicit; code_is 0 && grep -q '^T2 = ' out && grep -q '^M\[' out && cp out explicit.txt
report $? "the explicit form is written as text"
call equations system.json --form explicit --format latex; code_is 0 && grep -q '^T_{2} &= ' out
report $? "the explicit form is written as LaTeX"
call equations system.json --form explicit --format json; code_is 0 && grep -q '{"symbol":"T2","indices":\[\],"value":' out && cp out explicit.json
report $? "the explicit form is written as JSON"
call equations system.json --form explicit --format c; code_is 2 && grep -q 'text, latex or json' err
report $? "a message about an unknown format of the explicit form lists the formats"
for form in nielsen tsenov mangeron-deleanu jourdain central; do
    call equations system.json --form $form; code_is 0 && grep -q "^rod: " out && cp out form.txt
    report $? "the form $form is written as text"
    call equations system.json --form $form --format json; code_is 0 && grep -q '"entries":\[{"symbol":"[TJp]' out
    report $? "the form $form is written as JSON"
done
call equations --help; code_is 0 && grep -q '^  jourdain  ' out && grep -q '^  motion  ' out
report $? "the help lists the forms of equations"
call equations system.json --form hamel; code_is 2 && grep -q 'motion, explicit, nielsen' err
report $? "a message about an unknown form lists the forms"
call equations system.json --format pdf; code_is 2 && grep -q 'text, latex or c' err
report $? "a message about an unknown format of equations lists the formats"
call analyze invalid.json; code_is 3 && [ ! -s out ] && grep -q '^hamel: invalid.json: /kinetic_energy:10: unknown name `z`' err
report $? "analyses and runs report errors in the same way"

call examples; code_is 0 && [ "$(wc -l <out)" -ge 20 ] && grep -q '^simple_pendulum ' out
report $? "examples are listed"
call examples simple_pendulum; code_is 0 && cmp -s out "$root/api/examples/simple_pendulum.json"
report $? "an example is printed byte for byte"
call examples simple_pendlum; code_is 2 && grep -q 'did you mean `simple_pendulum`' err
report $? "the nearest example is suggested for an unknown one"

# The README describes an error in its first system; documents.sh runs the commands of the README.
awk '/^```json/ {on = 1; next} /^```/ && on {exit} on' "$root/README.md" >pendulum.json
sed 's/x^2 + y^2 = 1/x^2 + z^2 = 1/' pendulum.json >wrong.json && mv wrong.json pendulum.json
call run pendulum.json
code_is 3 && ! grep -vxFf "$root/README.md" err
report $? "the error message in the README is current"

# Commands that use a daemon (HAMEL_SERVER) must give the same results as local commands.
call run system.json --server http://127.0.0.1:1; code_is 5 && grep -q 'http://127.0.0.1:1' err
report $? "a server that does not answer gives exit code 5"
start_daemon
export HAMEL_SERVER=$url
call run system.json; code_is 0 && cmp -s out rows.csv
report $? "rows from a server have the same bytes"
call analyze system.json --format json; code_is 0 && cmp -s out analysis.json
report $? "an analysis from a server has the same bytes"
call analyze system.json --equilibrium --linearize --about equilibrium --inputs g; code_is 0 && cmp -s out linear.txt
report $? "a linearization from a server has the same bytes"
call analyze system.json --displacements; code_is 0 && cmp -s out displacements.txt
report $? "a server gives the same virtual displacements"
call analyze system.json --forces --relax rod; code_is 0 && cmp -s out forces.txt
report $? "forces and a reaction from a server have the same bytes"
call analyze struck.json --impulses; code_is 0 && cmp -s out impulses.txt
report $? "the classification of impulses from a server has the same bytes"
call analyze system.json --gauss --hamilton --bracket 'y*p_x, energy()' --canonical 'p_x,p_y;-x,-y'; code_is 0 && cmp -s out principles.txt
report $? "analyses of principles from a server have the same bytes"
call equations system.json; code_is 0 && cmp -s out equations.txt
report $? "equations from a server have the same bytes"
call equations system.json --form explicit; code_is 0 && cmp -s out explicit.txt
report $? "the explicit form from a server has the same bytes"
call equations system.json --form explicit --format json; code_is 0 && cmp -s out explicit.json
report $? "the explicit form from a server has the same JSON"
call equations system.json --form central; code_is 0 && cmp -s out form.txt
report $? "another form from a server has the same bytes"
call analyze system.json --verify --format json; code_is 0 && cmp -s out verification.json
report $? "a comparison of formulations from a server has the same bytes"
call analyze invalid.json; code_is 3 && [ ! -s out ] && grep -q '^hamel: invalid.json: /kinetic_energy:10: unknown name `z`' err && grep -q '\^' err
report $? "errors of an analysis on a server have the same messages"
call run system.json --server "$url/" --format npy; cp out remote.npy
HAMEL_SERVER='' "$hamel" run system.json --format npy >out 2>err; code=$?; code_is 0 && cmp -s out remote.npy
report $? "rows from a server have the same bytes in another format"
call run invalid.json; code_is 3; first=$?; cp err remote.err
HAMEL_SERVER='' "$hamel" run invalid.json >out 2>err; [ $first = 0 ] && cmp -s err remote.err
report $? "errors of a run on a server have the same messages"
call run system.json --set x.initial=5; code_is 3 && grep -q 'miss the constraint' err
report $? "--set is applied before the description is sent to a server"
call check bad_check.json; code_is 1 && [ "$(grep -c '^FAILED' out)" = 1 ]
report $? "check can run systems on a server"
call run system.json --server "$url/nowhere"; code_is 5 && grep -q '404' err
report $? "a URL without the API gives exit code 5"

finish
