/* latex.c — prints the names and symbols of a description in LaTeX. */
#include "engine/system/latex.h"

#include <string.h>

static const char *const greek[][2] = {
    {"alpha", "α"}, {"beta", "β"},  {"gamma", "γ"}, {"delta", "δ"},  {"epsilon", "ε"}, {"zeta", "ζ"},   {"eta", "η"},
    {"theta", "θ"}, {"iota", "ι"},  {"kappa", "κ"}, {"lambda", "λ"}, {"mu", "μ"},      {"nu", "ν"},     {"xi", "ξ"},
    {"pi", "π"},    {"rho", "ρ"},   {"sigma", "σ"}, {"tau", "τ"},    {"upsilon", "υ"}, {"phi", "φ"},    {"chi", "χ"},
    {"psi", "ψ"},   {"omega", "ω"}, {"Gamma", "Γ"}, {"Delta", "Δ"},  {"Theta", "Θ"},   {"Lambda", "Λ"}, {"Xi", "Ξ"},
    {"Pi", "Π"},    {"Sigma", "Σ"}, {"Phi", "Φ"},   {"Psi", "Ψ"},    {"Omega", "Ω"},
};

void latex_stem(const char *text, size_t length, text_buffer *out) {
    for (size_t k = 0; k < sizeof greek / sizeof *greek; k++)
        for (int i = 0; i < 2; i++)
            if (strlen(greek[k][i]) == length && memcmp(greek[k][i], text, length) == 0) {
                text_buffer_printf(out, "\\%s", greek[k][0]);
                return;
            }
    if (length > 1 && text[length - 1] == '*') {
        latex_stem(text, length - 1, out);
        text_buffer_puts(out, "^*");
    } else if (length == 1)
        text_buffer_add(out, text, 1);
    else
        text_buffer_printf(out, "\\mathrm{%.*s}", (int)length, text);
}

/* Prints one part of a subscript: letters, followed by a number. */
static void latex_part(const char *text, size_t length, text_buffer *out) {
    size_t stem = strcspn(text, "0123456789");
    if (stem > length) stem = length;
    if (stem > 0) latex_stem(text, stem, out);
    if (length > stem) text_buffer_printf(out, stem > 0 ? "_{%.*s}" : "%.*s", (int)(length - stem), text + stem);
}

void latex_name(const char *name, text_buffer *out) {
    size_t stem = strcspn(name, "0123456789_[.'");
    if (stem == 0) stem = strlen(name);
    latex_stem(name, stem, out);
    const char *index = name + stem;
    while (*index == '_' || *index == '[' || *index == '.') index++;
    size_t length = strcspn(index, "]'");
    if (length == 0) return;
    text_buffer_puts(out, "_{");
    for (size_t from = 0, part; from <= length; from += part + 1) {
        part = strcspn(index + from, "_[.");
        if (part > length - from) part = length - from;
        latex_part(index + from, part, out);
        if (from + part < length) text_buffer_puts(out, ",");
    }
    text_buffer_puts(out, "}");
}

void system_latex_symbol(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out) {
    const hamel_system *s = context;
    text_buffer plain;
    switch (kind) {
    case SYMBOL_PARAMETER: latex_name(s->parameter_names[index], out); return;
    case SYMBOL_COORDINATE: latex_name(s->coordinates[index].name, out); return;
    case SYMBOL_VELOCITY:
    case SYMBOL_ACCELERATION:
        text_buffer_puts(out, kind == SYMBOL_VELOCITY ? "\\dot{" : "\\ddot{");
        latex_name(s->coordinates[index].name, out);
        text_buffer_puts(out, "}");
        return;
    case SYMBOL_MULTIPLIER:
        text_buffer_puts(out, "\\lambda_{");
        latex_name(s->constraints[index].name, out);
        text_buffer_puts(out, "}");
        return;
    case SYMBOL_TIME: text_buffer_puts(out, "t"); return;
    default: break;
    }
    text_buffer_init(&plain, 4096);
    system_name_symbol(context, kind, index, &plain);
    if (plain.bytes) text_buffer_printf(out, "\\mathrm{%s}", plain.bytes);
    text_buffer_free(&plain);
}
