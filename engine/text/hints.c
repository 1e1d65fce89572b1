/* hints.c — suggestions for expressions in the notation of other languages. */
#include "engine/text/parser_int.h"

const char *hint_for_condition(syntax_goal goal) {
    switch (goal) {
    case SYNTAX_EQUATION:
        return "write lhs = rhs; for a one-sided constraint use `events` that activate and "
               "deactivate constraints";
    case SYNTAX_CROSSING: return "write an expression that crosses 0, such as y - 1 for y < 1, and set `direction`";
    case SYNTAX_EXPRESSION: break;
    }
    return "use comparisons, `and`, `or` and `not` only in the first argument of if(condition, a, b)";
}

const char *hint_for_equal_sign(syntax_goal goal) {
    if (goal == SYNTAX_CROSSING) return "write an expression that crosses 0, such as y - 1 for y = 1";
    return "write == to compare; a single = is allowed only in equations such as constraints";
}

static const char *written_here(const char *text, size_t length) {
    static const char *const words[][2] = {
        {"ln", "log(x) for the natural logarithm"},
        {"pow", "x^n for powers"},
        {"sqr", "x^2"},
        {"square", "x^2"},
        {"sgn", "sign(x)"},
        {"fabs", "abs(x)"},
        {"arctan2", "atan2(y, x)"},
        {"sec", "1/cos(x)"},
        {"csc", "1/sin(x)"},
        {"cot", "1/tan(x)"},
        {"heaviside", "if(x > 0, 1, 0)"},
        {"step", "if(x > 0, 1, 0)"},
        {"round", "floor(x + 1/2)"},
        {"diff", "x' for the rate of a coordinate, der(e) for the rate of an expression"},
        {"norm", "sqrt(x^2 + y^2 + z^2)"},
        {"deg2rad", "x*pi/180"},
        {"radians", "x*pi/180"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word_is(text, length, words[i][0])) return words[i][1];
    return NULL;
}

void hint_for_function(hamel_error *error, const char *text, size_t length) {
    const char *here = written_here(text, length), *nearest = function_nearest(text, length);
    if (here)
        hamel_suggest(error, "write %s", here);
    else if (nearest)
        hamel_suggest(error, "did you mean %s?", nearest);
    else
        hamel_suggest(error, "write %.*s*(...) for a product", hamel_shown(text, length), text);
}

void hint_before(hamel_error *error, const syntax_item *last, const token *next, bool range) {
    bool measured = last->kind == SYNTAX_NUMBER && next->kind == TOKEN_NAME;
    bool degrees = word_is(next->text, next->length, "°") || word_is(next->text, next->length, "deg") ||
                   word_is(next->text, next->length, "degrees");
    if (range && next->kind == TOKEN_NAME)
        hamel_suggest(error, "write a range as i = 1..N");
    else if (measured && degrees)
        hamel_suggest(error, "write %.15g*pi/180, because angles are in radians", last->as.number);
    else if (measured)
        hamel_suggest(error, "write %.15g*%.*s for a product, and numbers without units", last->as.number,
                      hamel_shown(next->text, next->length), next->text);
    else
        hamel_suggest(error, "write products with *");
}
