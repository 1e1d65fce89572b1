#!/usr/bin/env bash
# Checks three properties of the page: its scripts are valid, the daemon serves all its files, and nothing is loaded from
# other hosts. TAP.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 2
page=clients/web

verdict "every script is valid JavaScript" "$(for f in $page/*.mjs; do node --check "$f" 2>&1; done)"
# The content security policy of the page blocks inline scripts and styles without a message.
verdict "no script or style is inline" \
    "$(grep -nE '<style|style=|[ "]on[a-z]+=|<script[^>]*></script>' $page/index.html | grep -v '<script type="module" src="/page/')"
verdict "nothing is loaded from other hosts" "$(grep -nE '://|@import|//[a-z]+\.' $page/index.html $page/page.css $page/*.mjs | grep -vE ':[0-9]+: *//')"
verdict "no text is interpreted as markup or code" "$(grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function' $page/*.mjs)"
verdict "every imported file exists and is served" "$(
    grep -ohE 'from "\./[a-z]+\.mjs"|"/page/[a-z.]+"' $page/*.mjs $page/index.html | grep -oE '[a-z]+\.(mjs|css)' | sort -u |
        while read -r f; do [ -f "$page/$f" ] && grep -q "{\"/page/$f\"," server/http/routes_service.c || echo "$f"; done)"
verdict "every script of the page is imported" "$(for f in $page/*.mjs; do grep -qE "[/\"]$(basename "$f")\"" $page/*.mjs $page/index.html || echo "$f"; done)"
verdict "the page has the elements that its scripts use" "$(
    grep -ohE '\bids\.[a-z]+' $page/page.mjs $page/motion.mjs | sort -u | sed 's/ids\.//' |
        while read -r id; do grep -q "id=\"$id\"" $page/index.html || echo "$id"; done)"
finish
