/* parser.h — translates expression text to postfix code (the syntax tree in the order of evaluation).
 *
 * The parser uses precedence climbing with explicit stacks in an arena instead of recursion, so deeply nested
 * parentheses do not overflow the C stack. Later passes run postfix code in one loop over an array with a value stack.
 * Operators bind in this order, the weakest first:
 *
 *   or < and < not < comparisons < + - < * / < unary - < ^ (right-associative; its right operand may have a sign)
 *
 * The parser distinguishes conditions (comparisons, and, or, not) from numbers and allows conditions only as the first
 * argument of if(). The parser also checks the names of functions and the number of arguments. The binder
 * (engine/system) checks all other names. */
#pragma once

#include "engine/base/arena.h"
#include "engine/graph/operators.h"

#include <stdint.h>

typedef enum syntax_kind {
    SYNTAX_NUMBER,   /* push `number` */
    SYNTAX_NAME,     /* pop `count` indices; push the quantity `name` (with indices), `primes` times differentiated */
    SYNTAX_ARGUMENT, /* pop `count` indices; push the bare name, such as the constraint rod[i] in lambda(rod[i]) */
    SYNTAX_OPERATOR, /* pop the operands of `op`, an operator or a function of numbers; push the result */
    SYNTAX_QUANTITY, /* pop `count` arguments; push `quantity` (der, energy(), lambda(c), table(), ...) */
    SYNTAX_SUM,      /* pop upper and lower bound of `name`; body: the next `count` items, before SYNTAX_SUM_END */
    SYNTAX_SUM_END   /* the matching SYNTAX_SUM is `count` items before this item; `count` is the body's length + 1 */
} syntax_kind;

/* Functions whose arguments are names, or whose results do not depend on the values of the arguments alone. A signature
 * has one letter for each argument: n for a name, e for an expression, k for an expression that must be an integer. At
 * the end of a signature, o stands for an optional integer, and m for an optional name. The parser handles sum
 * separately. */
/* clang-format off */
#define SYNTAX_QUANTITY_LIST(X)                      \
    X(DER, "der", "e")                               \
    X(TABLE, "table", "ne")                          \
    X(POSITION, "position", "nk")                    \
    X(VELOCITY, "velocity", "nk")                    \
    X(ACCELERATION, "acceleration", "nk")            \
    X(ANGULAR_VELOCITY, "angular_velocity", "nk")    \
    X(ANGULAR_VELOCITY_BODY, "angular_velocity_body", "nk") \
    X(KINETIC_ENERGY, "kinetic_energy", "o")         \
    X(POTENTIAL_ENERGY, "potential_energy", "")      \
    X(ENERGY, "energy", "")                          \
    X(JACOBI_INTEGRAL, "jacobi_integral", "")        \
    X(ENERGY_RATE, "energy_rate", "m")               \
    X(QUASI_ENERGY, "quasi_energy", "")              \
    X(QUASI_ENERGY_RATE, "quasi_energy_rate", "m")   \
    X(MOMENTUM, "momentum", "n")                     \
    X(LAMBDA, "lambda", "n")                         \
    X(REACTION, "reaction", "nn")                    \
    X(IDEAL, "ideal", "n")                           \
    X(NONIDEAL, "nonideal", "n")                     \
    X(RESIDUAL, "residual", "n")                     \
    X(VELOCITY_RESIDUAL, "velocity_residual", "n")   \
    X(POWER, "power", "n")                           \
    X(GAUSS, "gauss", "")                            \
    X(GAUSS_NONIDEAL, "gauss_nonideal", "")          \
    X(ACCELERATION_ENERGY, "acceleration_energy", "") \
    X(INTEGRAL, "integral", "e")                     \
    X(MEAN, "time_mean", "e")                        \
    X(ACTION, "action", "")                          \
    X(VIRIAL, "virial", "")                          \
    X(FORM_RESIDUAL, "form_residual", "nn")          \
    X(LINEAR_MOMENTUM, "linear_momentum", "nk")      \
    X(ANGULAR_MOMENTUM, "angular_momentum", "nkm")   \
    X(CENTER_OF_MASS, "center_of_mass", "k")         \
    X(TOTAL_MOMENTUM, "total_momentum", "k")         \
    X(TOTAL_ANGULAR_MOMENTUM, "total_angular_momentum", "km") \
    X(ROTATION_ANGLE, "rotation_angle", "nm")        \
    X(ROTATION_AXIS, "rotation_axis", "nkm")         \
    X(GIBBS_VECTOR, "gibbs_vector", "nkm")           \
    X(VELOCITY_POLE, "velocity_pole", "nk")          \
    X(VELOCITY_POLE_BODY, "velocity_pole_body", "nk") \
    X(ACCELERATION_POLE, "acceleration_pole", "nk")  \
    X(SCREW_POINT, "screw_point", "nk")              \
    X(SCREW_PITCH, "screw_pitch", "n")               \
    X(WRENCH_POINT, "wrench_point", "nk")            \
    X(WRENCH_PITCH, "wrench_pitch", "n")             \
    X(JERK, "jerk", "nk")                            \
    X(PATH_CURVATURE, "path_curvature", "n")         \
    X(PATH_TORSION, "path_torsion", "n")             \
    X(PATH_TANGENT, "path_tangent", "nk")            \
    X(PATH_NORMAL, "path_normal", "nk")              \
    X(PATH_BINORMAL, "path_binormal", "nk")          \
    X(CONTACT_POINT, "contact_point", "nk")          \
    X(CONTACT_SLIP, "contact_slip", "nk")            \
    X(CONTACT_ROLL, "contact_roll", "nk")            \
    X(CONTACT_PIVOT, "contact_pivot", "n")
/* clang-format on */

/* The first of the quantities of elements, which are the last quantities of the list. Their names (n, m) are names of
 * elements, and k is a component from 1 to 3. */
#define QUANTITY_OF_ELEMENTS QUANTITY_LINEAR_MOMENTUM
/* The first of the quantities of contacts, which are the last quantities of elements. Their names (n) are names of
 * rolling joints. */
#define QUANTITY_OF_CONTACTS QUANTITY_CONTACT_POINT

typedef enum syntax_quantity {
#define X(name, text, signature) QUANTITY_##name,
    SYNTAX_QUANTITY_LIST(X)
#undef X
        QUANTITY_COUNT
} syntax_quantity;

typedef struct syntax_item {
    uint8_t kind;                   /* syntax_kind */
    uint8_t primes;                 /* SYNTAX_NAME: 0, 1 or 2 */
    uint16_t op;                    /* graph_op, or syntax_quantity */
    int32_t count;                  /* see syntax_kind */
    int32_t column;                 /* column of the item, for messages */
    uint32_t length;                /* length of `name` */
    uint32_t suffix, suffix_length; /* SYNTAX_ARGUMENT: offset from `name` and length of a suffix such as 1 in J[i].1 */
    union {
        double number;
        const char *name; /* pointer into the source text */
    } as;
} syntax_item;

typedef struct syntax {
    const syntax_item *items;
    size_t count;
    size_t depth;     /* size of the value stack, including one value for the total of each open sum */
    const char *text; /* source, for messages; borrowed */
    size_t length;
} syntax;

enum {
    SYNTAX_TEXT_MAX = 1 << 20,  /* largest length of a text in bytes; its items then take at most 32 MiB */
    SYNTAX_LEVELS_MAX = 100000, /* most open parentheses, brackets and calls; their frames then take 4 MB */
    SYNTAX_SUMS_MAX = 16,       /* most nested sums; 17 with three terms each would exceed STEPS_MAX (bind.c) */
    SYNTAX_INDICES_MAX = 4
};

/* The kind of text to parse. */
typedef enum syntax_goal {
    SYNTAX_EXPRESSION,
    SYNTAX_EQUATION, /* `lhs = rhs`, which becomes lhs - rhs, or an expression that is 0 */
    SYNTAX_CROSSING  /* an expression whose zero crossings are events */
} syntax_goal;

/* Parses text[length], which must outlive the result; items are allocated in `memory`. On failure adds one error at
 * `pointer` with its column and the expression, and returns HAMEL_INVALID (or HAMEL_NO_MEMORY, HAMEL_LIMIT). */
hamel_status syntax_parse(syntax *out, arena *memory, const char *text, size_t length, syntax_goal goal,
                          const char *pointer, hamel_error *error) HAMEL_CHECKED;

/* A family's range "i = 1..N": the variable, and postfix code for both ends. */
typedef struct syntax_range {
    const char *variable;
    size_t variable_length;
    syntax first, last;
} syntax_range;

/* Parses a range. Reports errors in the same way as syntax_parse. */
hamel_status syntax_parse_range(syntax_range *out, arena *memory, const char *text, size_t length, const char *pointer,
                                hamel_error *error) HAMEL_CHECKED;

/* Returns true if a text is a valid name without index or prime, such as the name of a coordinate. */
bool syntax_is_name(const char *text, size_t length);

/* Returns true if the text is a reserved name: the name of a function (including if and sum), t, pi, and, or, not. */
bool syntax_is_reserved(const char *text, size_t length);

/* Returns the name of a quantity: "der", "energy", ... */
const char *quantity_text(syntax_quantity quantity);

/* Returns the signature of a quantity, in the letters that SYNTAX_QUANTITY_LIST describes. */
const char *quantity_signature(syntax_quantity quantity);

/* Returns the names of all functions, for suggestions and --help: a static, NULL-terminated list. */
const char *const *syntax_function_names(void);
