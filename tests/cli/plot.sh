#!/usr/bin/env bash
# hamel plot: drawings in SVG and PNG files and as text. The expected positions of lines are computed from a known motion.
# TAP.
. "$(dirname "$0")/common.sh"

export LC_ALL=C

# x = t and y = 1: a line from (0, 0) to (1, 1), and a horizontal line.
cat >line.json <<'J'
{"hamel": 1, "name": "a <b> & \"c\"", "coordinates": [{"name": "x", "velocity": 1}, {"name": "y", "initial": 1}],
 "parameters": {"l": 2}, "kinetic_energy": "(x'^2 + y'^2)/2", "simulation": {"stop": 1, "samples": 11}}
J
cat >broken.json <<'J'
{"hamel": 1, "coordinates": [{"name": "x", "initial": 1, "velocity": -1}], "kinetic_energy": "x'^2/2",
 "potential_energy": "1e-3*log(x)", "simulation": {"stop": 2, "samples": 21}}
J
# Prints the polylines of an SVG with the colour of column K, or the frame, one per line: "x y x y ...". Colours:
# figure.c.
cat >lines.py <<'P'
import sys, xml.etree.ElementTree as tree
for e in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}polyline"):
    if e.get("stroke") == sys.argv[2]: print(e.get("points").replace(",", " "))
P
# Counts the pixels of a PNG with a colour (RRGGBB) between two columns of pixels. Also computes the largest distance of
# these pixels from the line y = b - a x. Reverses the filters of the rows (PNG 1.2, chapter 6).
cat >pixels.py <<'P'
import struct, sys, zlib
data, colour, x0, x1, a, b = open(sys.argv[1], "rb").read(), bytes.fromhex(sys.argv[2]), *map(float, sys.argv[3:7])
assert data[:8] == b"\x89PNG\r\n\x1a\n"
at, body = 8, b""
while at < len(data):
    length, kind = struct.unpack(">I4s", data[at:at + 8])
    if kind == b"IHDR": width, height, depth, form = struct.unpack(">IIBB", data[at + 8:at + 18])
    if kind == b"IDAT": body += data[at + 8:at + 8 + length]
    at += length + 12
assert (depth, form) == (8, 2)
body, before, count, off = zlib.decompress(body), bytearray(3 * width), 0, 0
for y in range(height):
    kind, row = body[y * (3 * width + 1)], bytearray(body[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
    for k in range(3 * width):
        left, up, corner = (row[k - 3] if k >= 3 else 0), before[k], (before[k - 3] if k >= 3 else 0)
        p = left + up - corner
        paeth = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
        row[k] = (row[k] + (0, left, up, (left + up) // 2, paeth)[kind]) % 256
    for x in range(int(x0), int(x1)):
        if row[3 * x:3 * x + 3] == colour: count, off = count + 1, max(off, abs(y + 0.5 - (b - a * (x + 0.5))))
    before = row
print(width, height, count, round(off, 1))
P

call plot line.json --size 30x12; code_is 0 && [ ! -s err ] && cmp -s out - <<'T'
a <b> & "c"
* x   + y
1 ++++++++++++++++++++++++++++
  |                     ****
  |                *****
  |           *****
  |      *****
  |  ****
0 +**
  ++------------+------------+
   0.0         0.5         1.0
             t in s
T
report $? "without colours, several columns are drawn with different characters"
LC_ALL=C.UTF-8 call plot line.json --columns x --size 30x12; code_is 0 && cmp -s out - <<'T'
a <b> & "c"
⠒⠒ x
1 ┤                        ⢀⠤⠔
  │                    ⣀⡤⠒⠊⠁
  │               ⢀⣀⠔⠒⠉
  │           ⢀⡠⠔⠊⠁
  │       ⣀⠤⠔⠉⠁
  │  ⢀⣀⠤⠚⠉
0 ┤⠔⠒⠁
  └┬────────────┬────────────┬
   0.0         0.5         1.0
             t in s
T
report $? "one column is drawn with braille dots if the locale supports these characters"

call plot line.json --output line.svg; code_is 0 && [ ! -s out ] && [ ! -s err ] &&
    [ "$(python3 -c 'import xml.etree.ElementTree as t; print(t.parse("line.svg").getroot()[0].text)')" = 'a <b> & "c"' ]
report $? "an SVG is well-formed, with the name as its title"
python3 lines.py line.svg '#60646c' >frame && python3 lines.py line.svg '#2f5bd0' >x && python3 lines.py line.svg '#d1600a' >y
# The polyline of the frame is its bottom from left to right, then its left side from top to bottom. The vertical axis
# has a margin of 5 % of the range below and above, so 0 is drawn at 1/22 of the height. 1 is drawn 1/22 of the height
# below the top. The time axis has no margin.
cat frame x y | awk 'NR == 1 {left = $1; right = $3; bottom = $2} NR == 2 {top = $2; room = (bottom - top)/22}
    function near(a, b) {return a - b < 0.02 && b - a < 0.02}
    NR == 4 {good += near($1, left) && near($2, bottom - room) && near($(NF - 1), right) && near($NF, top + room)}
    NR == 6 {good += near($1, left) && near($2, top + room) && near($(NF - 1), right) && near($NF, top + room)}
    END {exit NR != 6 || good != 2 || right - left < 600 || bottom - top < 300}'
report $? "lines begin and end at the correct positions in the frame"
call plot line.json --size 400x300 --output frame.svg; python3 lines.py frame.svg '#60646c' >frame
call plot line.json --size 400x300 --output line.png; code_is 0 && read -r left bottom right _ <frame && read -r _ top _ < <(sed -n 2p frame) &&
    slope=$(awk "BEGIN {print ($bottom - $top)*20/22/($right - $left)}") &&
    python3 pixels.py line.png 2f5bd0 "$(awk "BEGIN {print 2*$left + 10}")" "$(awk "BEGIN {print 2*$right - 10}")" "$slope" \
        "$(awk "BEGIN {print 2*($bottom - ($bottom - $top)/22 + $slope*$left)}")" >out &&
    awk '{exit !($1 == 800 && $2 == 600 && $3 > 500 && $4 < 3)}' out
report $? "a PNG has the same line as the SVG, with two pixels per unit"
call plot line.json --columns y --over x --size 300x200 --output small.svg; code_is 0 && grep -q 'width="300" height="200"' small.svg &&
    grep -q '>x</text>' small.svg && [ "$(python3 lines.py small.svg '#d1600a' | wc -l)" = 0 ]
report $? "one column is plotted over another, in the requested size"
call plot line.json --sensitivities l --columns 'd(x)/d(l), y' --output s.svg; code_is 0 && grep -q '>d(x)/d(l)</text>' s.svg
report $? "sensitivities can be plotted"
"$hamel" plot - --output piped.svg <line.json >out 2>err; code=$?; code_is 0 && cmp -s piped.svg line.svg
report $? "a system is read from standard input"

call plot line.json --columns x,yy; code_is 2 && grep -q 'no column `yy`; did you mean `y`?' err && [ ! -s out ]
report $? "an unknown column is reported, and the nearest one is suggested"
call plot line.json --over z; code_is 2 && grep -q 'no column `z`' err
report $? "an unknown column of --over is reported"
call plot line.json --columns x,x,x,x,x,x,x,x,x; code_is 2 && grep -q 'at most 8 columns' err
report $? "more than eight columns are rejected"
call plot line.json --set simulation.record=t; code_is 2 && grep -q 'no column to draw over `t`' err
report $? "a result whose only column is time is rejected"
call plot line.json --output line.pdf; code_is 2 && grep -q 'must end with .svg or .png' err
report $? "an unknown file type is rejected before the run"
for size in 5x5 300 300x 300x200x ax9 -3x20 99999x300; do
    call plot line.json "--size=$size" --output line.svg; code_is 2 && grep -q 'WIDTHxHEIGHT' err || break
done
report $? "an invalid size is rejected"
call plot invalid.json --output no/line.svg; code_is 6
report $? "a missing file is an I/O failure"
call plot line.json --output no/line.svg; code_is 6 && grep -q '^hamel: no/line.svg: No such file' err
report $? "a missing directory is an I/O failure"
ln -s /dev/full full.svg; ln -s /dev/full full.png
call plot line.json --output full.svg; code_is 6 && grep -q 'full.svg: No space' err; first=$?
call plot line.json --output full.png; [ $first = 0 ] && code_is 6 && grep -q 'full.png: No space' err
report $? "a full disk is an I/O failure"
call plot broken.json --size 40x12; code_is 4 && grep -q '^\* x$' out && grep -q 'the integration cannot continue' err
report $? "the rows of a failed run are drawn"
call plot line.json --set simulation.max_steps=1 --size 40x12; code_is 4 && [ -s out ] && grep -q 'incomplete' err
report $? "an incomplete run gives exit code 4"
call plot line.json --samples 200000 --rtol 1e-3 --output many.svg; code_is 0 && [ "$(wc -c <many.svg)" -lt 200000 ]
report $? "a drawing of 200,000 rows is a small file"

start_daemon
call plot line.json --server "$url" --output there.svg; code_is 0 && cmp -s there.svg line.svg
report $? "a run on a server gives the same drawing"

finish
