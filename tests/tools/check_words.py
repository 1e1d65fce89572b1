#!/usr/bin/python3
"""Finds words that this project has replaced, in comments, messages, help texts, documents and names.

    tests/tools/check_words.py [PATH...]      PATH: a file or folder; default: all files that git tracks or would add

Prints `file:line: word → better word`. The output is TAP with one test; the exit status is 1 if a word is found.

What is checked depends on the kind of file:
  C, C++, JavaScript   comments, texts with a space (messages and help; not in tests, not SQL), names in NAMES
  shell, Python, make  comments; names of tests
  Markdown             everything except code
  OpenAPI, schema      the values of description, summary and title
Words in backticks and in capitals are treated as code. The third column of WORDS contains patterns of permitted
phrases.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Each entry has a pattern, better words, a pattern of exceptions (which must cover the match), and a pattern of paths.
WORDS = [
    (r"told|tell|tells|telling", "report, return, show, distinguish", r"", r""),
    (r"says?|said|saying", "report, state, contain", r"", r""),
    (r"knows?|knew", "have, store, detect, support", r"\byou know", r""),
    (r"asks?|asked|asking", "request, require, call", r"", r""),
    (r"lives|live(?= (?:in|on|as|until|for|at)\b)", "is stored in, exists, is valid", r"", r""),
    (r"forgets?|forgot|forgotten|forgetting", "delete, drop, remove", r"--forget", r""),
    (r"wants", "needs, requests", r"", r""),
    (r"(?:is|are|was|were) none", "does not exist, is not one", r"none of (?:the|its|these|those)\b|there (?:is|are|was|were) none", r""),
    (r"who comes?", "new clients", r"", r""),
    (r"stands?|stood", "is, is written, is stored", r"stands? for|stand(?:s|ing)? still", r""),
    (r"(?:go|goes|going|went|gone) on", "continue", r"", r""),
    (r"at hand", "current, available", r"", r""),
    (r"for good", "permanently", r"", r""),
    (r"anew|afresh", "again", r"", r""),
    (r"by (?:itself|themselves)", "alone, automatically", r"(?:multipl|divi)\w* by", r""),
    (r"besides?", "next to, in addition to", r"", r""),
    (r"(?:hand|hands|handed|handing|give|gives|given|gave|giving) back", "return, release, requeue", r"", r""),
    (r"for want of", "for lack of", r"", r""),
    (r"for so long|so long ago", "for this long", r"", r""),
    (r"(?:is|are|was|were) seen", "is checked, is found", r"", r""),
    (r"mend|mends|mended|mending", "fix, correct", r"", r""),
    (r"blames?|blamed|guilty|hasty|patient", "cause, causing, shutting down, waiting", r"", r""),
    (r"judg\w+", "check, test, decide", r"", r""),
    (r"whoever|whosoever", "the caller, the client", r"", r""),
    (r"thrown? away|throws away", "discard, free", r"", r""),
    (r"strangers?", "client, caller, reader", r"", r""),
    (r"in truth", "exactly", r"", r""),
    (r"houses?", "project, code base", r"", r""),
    (r"rooms?", "module (a layer's part), space, capacity",
     r"\b(?:no|little|more|enough|some|any|free|leaves?|makes?|has|have|is|takes?|without|with) room\b|room (?:for|left)\b", r""),
    (r"floors?", "layer; lower bound", r"floor ?\(|\b(?:ceil|mod|abs|min|sign)\b|friction|contact|ball|along|normal|on (?:a|the) floor|floor [a-z−]\b|rough|=", r""),
    (r"faults?", "error", r"at fault|page fault|segmentation fault|fault injection|injected",
     r"^(?!tests/(?:fault|README)|tests/http/daemon|Makefile|SECURITY)"),
    (r"octets?", "vec8", r"octet-stream", r""),
    (r"abreast|side by side in (?:octets|lanes)", "vec8", r"", r""),
    (r"kinetics", "dynamics", r"", r""),
    (r"cones?", "reachable subgraph", r"", r"^engine/(?:compile|graph|model|algebra)/"),
    (r"happenings?", "event record", r"", r""),
    (r"passages?", "singularity", r"", r"^engine/"),
    (r"keepers?", "watchdog (of connections), lease (of PostgreSQL)", r"", r""),
    (r"lanes?", "trajectory", r"SIMD|vec8|eight|vector", r"^(?:engine/simulate/(?!.*vec8)|api|server|clients)"),
    (r"ensembles?", "sweep", r"", r""),
    (r"efforts?", "work budget", r"", r"^engine/"),
    (r"row spaces?|row bas[ie]s", "rank", r"", r"^engine/"),
    (r"(?:in|of|by|its|two|many|all|several) shares|share \d", "shard", r"", r"^(?:api/sweep|clients/cli|README|CHANGELOG)"),
    (r"(?:a|the|its|short|next|one) turn", "CPU slot", r"", r"^server/"),
    (r"retired words? of the layout", "", r"", r"^$"),
]

# A relative clause without a main clause: "What is due", "Those that fail", at the start of a comment, a sentence or a
# table cell.
HEADLESS = re.compile(r"(?:^|[.!;|] +|^#+ +|^[-*] +|— )\**(what|who|whoever|those|whatever)\b(?! of\b|(?<=; those))([^.;|]*)", re.I)

# Names of functions, types, variables and files.
NAMES = re.compile(r"\w*(?:kinetics|abreast|octet|happening|keeper|ensemble|row_space|row_basis)\w*", re.I)
NOT_NAMES = re.compile(r"octet_stream|goalkeeper", re.I)

RULES = [(re.compile(rf"(?<![\w`/.-])(?:{word})(?![\w`]|-\w)", re.I), better,
          re.compile(unless, re.I) if unless else None, re.compile(paths)) for word, better, unless, paths in WORDS]

C_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:[^'\\\n]|\\.)'|\"(?:[^\"\\\n]|\\.)*\"(?:\s*\"(?:[^\"\\\n]|\\.)*\")*", re.S)
JS_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`", re.S)
SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WHERE|PRAGMA|BEGIN|VALUES|REFERENCES|ORDER BY)\b")
CODE = re.compile(r"`[^`\n]*`")


def blank(match):
    """Returns spaces of the same length as the match, so that positions do not change."""
    return re.sub(r"[^\n]", " ", match.group())


def c_texts(path, text, token):
    """Yields comments and messages as (position, text). Offsets in the text equal those in the file."""
    for match in token.finditer(text):
        piece = match.group()
        if piece.startswith("/*"):
            piece = re.sub(r"^/\*+| *\*/$|(?<=\n)[ \t]*\*(?!/)", blank, piece)
            yield match.start(), re.sub(r"\w+\.[ch]\b *— ", blank, piece, count=1)
        elif piece.startswith("//"):
            yield match.start(), "  " + piece[2:]
        elif " " in piece and not path.startswith("tests/") and not SQL.search(piece):
            yield match.start(), re.sub(r"\\n|\"\s*\"|[\"']", blank, piece)


def hash_texts(text):
    """Yields the comments of a script. Consecutive comment lines form one text."""
    block, start, end = "", 0, -1
    for match in re.finditer(r"^[ \t]*#(?!!)(.*\n)|^.*?[^\n$\\\"'{]# (.*\n)", text, re.M):
        begin = match.start(1) if match.group(1) is not None else match.start(2)
        piece = match.group(1) if match.group(1) is not None else match.group(2)
        if match.start() == end and match.group(1) is not None:
            block += " " * (begin - start - len(block)) + piece
        else:
            if block:
                yield start, block
            block, start = piece, begin
        end = match.end()
    if block:
        yield start, block


def test_names(path, text):
    """Yields names of tests: names of cmocka functions, with spaces for underscores, and names of shell tests."""
    if re.match(r"tests/.*\.c$", path):
        for match in re.finditer(r"^static void (\w+)\(void \*\*", text, re.M):
            yield match.start(1), match.group(1).replace("_", " ")
    elif path.endswith(".sh") and path.startswith("tests/"):
        for match in re.finditer(r"^\s*(?:report|outcome|verdict) (?:\$\? )?\"([^\"]*)\"", text, re.M):
            yield match.start(1), match.group(1)


def markdown_texts(text):
    text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
    text = re.sub(r"\]\([^)]*\)", blank, text)
    for match in re.finditer(r"(?:^[^\n]*\S[^\n]*\n?)(?:^(?![-*|#>] |\||\s*[-*] |\s*\d+\. )[^\n]*\S[^\n]*\n?)*", text, re.M):
        yield match.start(), match.group()


def json_texts(text):
    for match in re.finditer(r"\"(?:description|summary|title)\": *(\"(?:[^\"\\]|\\.)*\")", text):
        yield match.start(1), " " + json.loads(match.group(1))


def texts(path, text):
    if path.endswith((".c", ".h", ".cpp")):
        yield from c_texts(path, text, C_TOKEN)
    elif path.endswith((".js", ".mjs")):
        yield from c_texts(path, text, JS_TOKEN)
    elif path.endswith(".md"):
        yield from markdown_texts(text)
    elif path in ("api/openapi.json", "api/system.schema.json"):
        yield from json_texts(text)
    elif path.endswith((".sh", ".py", ".yml")) or path in ("Makefile", "Dockerfile", ".ci/run"):
        yield from hash_texts(text)
    yield from test_names(path, text)


def findings(path):
    text = (ROOT / path).read_text(errors="replace")
    for position, piece in texts(path, text):
        piece = CODE.sub(blank, piece).replace("\n", " ")
        for rule, better, unless, paths in RULES:
            if not paths.search(path):
                continue
            for match in rule.finditer(piece):
                around = piece[max(0, match.start() - 60):match.end() + 60]
                is_name = match.group().isupper()  # of a constant
                if not is_name and not (unless and unless.search(around)):
                    yield position + match.start(), match.group(), better
        for match in HEADLESS.finditer(piece.lstrip()):
            if not match.group(2).rstrip().endswith("?") and not piece.rstrip().endswith("?"):
                yield (position + len(piece) - len(piece.lstrip()) + match.start(1), match.group(1) + match.group(2)[:24].rstrip(),
                       "name the thing or the actor")
    if path.endswith((".c", ".h")):
        code = C_TOKEN.sub(blank, text)
        for match in NAMES.finditer(code):
            if not NOT_NAMES.search(match.group()):
                yield match.start(), match.group(), "the word in ARCHITECTURE.md (Words)"


def files(arguments):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *arguments],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for path in sorted(set(filter(None, listed))):
        if (ROOT / path).is_file() and not path.startswith(("tests/reference/", "build/")) or path.endswith((".c", ".h")):
            yield path


def main():
    found = []
    for path in files(sys.argv[1:]):
        if not (ROOT / path).is_file():
            continue
        seen = set()
        text = None
        for position, word, better in sorted(findings(path)):
            text = text or (ROOT / path).read_text(errors="replace")
            line = text.count("\n", 0, position) + 1
            if (line, word.lower()) not in seen:
                seen.add((line, word.lower()))
                found.append(f"{path}:{line}: {' '.join(word.split())} → {better}")
    print(f"1..1\n{'not ok' if found else 'ok'} 1 - retired words are not used")
    if found:
        print("\n".join(found))
        print(f"{len(found)} words")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
