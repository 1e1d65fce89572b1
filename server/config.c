/* config.c — options of the daemon; see config.h. Values are kept as text until all sources have been read, since flags
 * override the environment. Then each value is checked once. Messages name the source of the value. */
#include "server/config.h"

#include "server/regular_file.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum option_kind { OPTION_TEXT, OPTION_NUMBER, OPTION_COUNT, OPTION_FLAG } option_kind;

typedef struct option {
    const char *name; /* name of the flag, without dashes; the key of the file has '_' for '-' */
    const char *value;
    option_kind kind;
    size_t offset;
    double least, most; /* bounds on a number */
    const char *standard;
    const char *help;
} option;

/* clang-format off */
#define AT(field) offsetof(server_config, field)
static const option config_options[] = {
    {"config",      "FILE",      OPTION_TEXT,   AT(config),         0, 0,    "",               "read these options as keys of a JSON file"},
    {"listen",      "ADDR:PORT", OPTION_TEXT,   AT(listen),         0, 0,    "127.0.0.1:8080", "listen on this address; port 0 selects a free port"},
    {"tokens",      "FILE",      OPTION_TEXT,   AT(tokens),         0, 0,    "",               "read tokens from a JSON file, see server/README.md (without tokens: loopback only)"},
    {"new-token",   "NAME",      OPTION_TEXT,   AT(new_token),      0, 0,    "",               "print a new token and its entry for the file of tokens, and exit"},
    {"tls-cert",    "FILE",      OPTION_TEXT,   AT(tls_cert),       0, 0,    "",               "serve HTTPS with this certificate chain in PEM"},
    {"tls-key",     "FILE",      OPTION_TEXT,   AT(tls_key),        0, 0,    "",               "read the private key of the certificate from a PEM file"},
    {"hosts",       "NAMES",     OPTION_TEXT,   AT(hosts),          0, 0,    "",               "accept requests for localhost and these host names only: NAME,... (default: any name if --tokens is set)"},
    {"cors",        "ORIGINS",   OPTION_TEXT,   AT(cors),           0, 0,    "",               "allow these origins (CORS): * or https://host[:port],..."},
    {"workers",     "N",         OPTION_COUNT,  AT(workers),        1, 1024, "",               "compute at most N runs at the same time (default: cores)"},
    {"store",       "URL",       OPTION_TEXT,   AT(store),          0, 0,    "",               "store jobs in sqlite:PATH, memory: or postgresql://... (default: sqlite:DATA/hamel.db)"},
    {"lease",       "SECONDS",   OPTION_NUMBER, AT(lease),          1, 3600, "30",             "requeue jobs of a daemon that has not renewed its lease for this time"},
    {"worker",      NULL,        OPTION_FLAG,   AT(worker),         0, 0,    "",               "run jobs of a shared store without listening"},
    {"idle",        "SECONDS",   OPTION_NUMBER, AT(idle),           0, 1e9,  "0",              "exit when a worker has had no job for this time; 0: never"},
    {"data",        "DIR",       OPTION_TEXT,   AT(data),           0, 0,    "",               "keep data in this directory (default: ~/.local/state/hamel)"},
    {"keep-days",   "DAYS",      OPTION_NUMBER, AT(keep_days),      0, 1e6,  "0",              "delete jobs DAYS days after their end; 0: never"},
    {"keep-bytes",  "BYTES",     OPTION_NUMBER, AT(keep_bytes),     0, 1e18, "0",              "delete the oldest ended jobs while the store exceeds BYTES; 0: never"},
    {"min-free",    "BYTES",     OPTION_COUNT,  AT(min_free),       0, 1e15, "67108864",       "stop storing new data while less than BYTES of the disk are free; 0: no bound"},
    {"backup",      "FILE",      OPTION_TEXT,   AT(backup),         0, 0,    "",               "copy the store, which may be in use, to a new file and exit"},
    {"streams",     "N",         OPTION_COUNT,  AT(streams),        1, 4096, "256",            "serve at most N streams at the same time"},
    {"waiting",     "N",         OPTION_COUNT,  AT(waiting),        0, 1e5,  "64",             "let at most N requests wait for a stream; refuse further requests (503)"},
    {"followers",   "N",         OPTION_COUNT,  AT(followers),      1, 1e5,  "512",            "let at most N responses wait for a job or a slow client (followers)"},
    {"answers",     "BYTES",     OPTION_COUNT,  AT(answers),    65536, 1e12, "134217728",      "keep at most BYTES of unread responses (responses below 16 KiB are not counted)"},
    {"connections", "N",         OPTION_COUNT,  AT(connections),    8, 1e5,  "1024",           "accept at most N connections"},
    {"per-address", "N",         OPTION_COUNT,  AT(per_address),    0, 1e5,  "",               "accept at most N connections from one address or IPv6 /64; 0: no limit (default: half of --connections)"},
    {"handshakes",  "N",         OPTION_NUMBER, AT(handshakes),     0, 1e6,  "50",             "limit new HTTPS connections from one address to N a second, in bursts of up to 2 N; 0: no limit"},
    {"max-body",    "BYTES",     OPTION_COUNT,  AT(max_body),       1, 1e9,  "1048576",        "refuse request bodies of more than BYTES"},
    {"time-limit",  "SECONDS",   OPTION_NUMBER, AT(time_limit),     0, 1e9,  "600",            "limit the wall time of one request or job; 0: no limit"},
    {"derive-limit", "SECONDS",  OPTION_NUMBER, AT(derive_limit),   0, 1e9,  "20",             "limit the processor time of all derivations of one request; 0: no limit"},
    {"max-steps",   "N",         OPTION_COUNT,  AT(max_steps),      1, 1e15, "100000000",      "limit the integration steps of one run"},
    {"max-rows",    "N",         OPTION_COUNT,  AT(max_rows),       1, 1e12, "100000000",      "limit the rows of one run"},
    {"max-members", "N",         OPTION_COUNT,  AT(max_members),    1, 1e6,  "1000000",          "limit the members of a batch"},
    {"analysis-processes", "N",  OPTION_COUNT,  AT(analysis_processes), 0, 2048, "",           "run analyses in N processes; 0: in the daemon itself (default: twice --workers)"},
    {"analysis-memory", "BYTES", OPTION_COUNT,  AT(analysis_memory), 1e6, 1e15, "1073741824",  "limit the memory of each process for analyses"},
    {"cache",       "BYTES",     OPTION_COUNT,  AT(cache),          0, 1e12, "268435456",      "cache up to BYTES of models of repeated descriptions; 0: no cache"},
    {"models",      "BYTES",     OPTION_COUNT,  AT(models),         0, 1e12, "1073741824",     "limit the memory of models in use; refuse further requests (503); 0: no limit"},
    {"jit",         "WHEN",      OPTION_TEXT,   AT(jit_text),       0, 0,    "auto",           "translate equations to machine code: auto (if this shortens the run), on or off"},
    {"seccomp",     "WHEN",      OPTION_TEXT,   AT(seccomp_text),   0, 0,    "off",            "filter system calls: off, on, or kill (forbidden calls end the daemon)"},
    {"stall",       "SECONDS",   OPTION_NUMBER, AT(stall),        0.1, 1e6,  "60",             "close a stream when the client reads nothing for this time"},
    {"grace",       "SECONDS",   OPTION_NUMBER, AT(grace),          0, 3600, "10",             "exit within this time after SIGTERM"},
    {"log-level",   "LEVEL",     OPTION_TEXT,   AT(log_level_text), 0, 0,    "info",           "log messages of this level and above: debug, info, warning, error or silent"},
    {"quiet",       NULL,        OPTION_FLAG,   AT(quiet),          0, 0,    "",               "log warnings and errors only, as with --log-level warning"},
    {"check-config", NULL,       OPTION_FLAG,   AT(check_config),   0, 0,    "",               "check all options and the files that they name, and exit"},
    {"help",        NULL,        OPTION_FLAG,   AT(help),           0, 0,    "",               "print this help and exit"},
    {"version",     NULL,        OPTION_FLAG,   AT(version),        0, 0,    "",               "print the version and exit"},
};
#undef AT
/* clang-format on */
enum { OPTION_TOTAL = sizeof config_options / sizeof config_options[0], FILE_BYTES_MAX = 65536 };

/* Values from all sources. */
typedef struct settings {
    bool given[OPTION_TOTAL];
    char text[OPTION_TOTAL][CONFIG_TEXT_BYTES];
    char where[OPTION_TOTAL][CONFIG_TEXT_BYTES]; /* source named in messages: "--listen", "HAMELD_LISTEN", ... */
} settings;

#define config_fail(message, ...) failed_with(message, CONFIG_MESSAGE_BYTES, __VA_ARGS__)

/* Compares names of flags and keys; '-' and '_' are equal. */
static bool same_name(const char *a, const char *b, size_t length) {
    if (strlen(a) != length) return false;
    for (size_t i = 0; i < length; i++) {
        char x = a[i] == '-' ? '_' : a[i];
        char y = b[i] == '-' ? '_' : b[i];
        if (x != y) return false;
    }
    return true;
}

static size_t find_option(const char *name, size_t length) {
    size_t i = 0;
    while (i < OPTION_TOTAL && !same_name(config_options[i].name, name, length)) i++;
    return i;
}

static bool set(settings *s, size_t i, const char *where, const char *text, char message[CONFIG_MESSAGE_BYTES]) {
    if (strlen(text) >= CONFIG_TEXT_BYTES)
        return config_fail(message, "%s: longer than %d bytes", where, CONFIG_TEXT_BYTES - 1);
    if (s->given[i]) return true; /* a source that was read earlier has precedence */
    s->given[i] = true;
    snprintf(s->text[i], CONFIG_TEXT_BYTES, "%s", text);
    snprintf(s->where[i], CONFIG_TEXT_BYTES, "%s", where);
    return true;
}

static bool read_flags(settings *s, int argc, char *const *argv, char message[CONFIG_MESSAGE_BYTES]) {
    for (int k = 1; k < argc; k++) {
        const char *word = argv[k];
        if (strcmp(word, "-h") == 0) word = "--help";
        if (strncmp(word, "--", 2) != 0) return config_fail(message, "unexpected argument '%.200s'", word);
        const char *name = word + 2;
        size_t length = strcspn(name, "=");
        size_t i = find_option(name, length);
        if (i == OPTION_TOTAL)
            return config_fail(message, "unknown option '--%.*s'", length < 200 ? (int)length : 200, name);
        char where[64];
        snprintf(where, sizeof where, "--%s", config_options[i].name);
        const char *value = name[length] == '=' ? name + length + 1 : NULL;
        if (config_options[i].kind == OPTION_FLAG) {
            if (value) return config_fail(message, "%s takes no value", where);
            value = "true";
        } else if (!value) {
            if (++k >= argc) return config_fail(message, "%s needs a value: %s", where, config_options[i].value);
            value = argv[k];
        }
        if (s->given[i] && config_options[i].kind != OPTION_FLAG)
            return config_fail(message, "%s is given twice", where);
        if (!set(s, i, where, value, message)) return false;
    }
    return true;
}

static bool read_environment(settings *s, char *const *environment, char message[CONFIG_MESSAGE_BYTES]) {
    static const char prefix[] = "HAMELD_";
    for (size_t k = 0; environment && environment[k]; k++) {
        const char *entry = environment[k];
        if (strncmp(entry, prefix, sizeof prefix - 1) != 0) continue;
        const char *name = entry + sizeof prefix - 1;
        size_t length = strcspn(name, "=");
        char where[128], lower[64];
        snprintf(where, sizeof where, "%s%.*s", prefix, length < 100 ? (int)length : 100, name);
        if (length >= sizeof lower || name[length] != '=') return config_fail(message, "unknown option %s", where);
        for (size_t c = 0; c < length; c++) lower[c] = (char)tolower((unsigned char)name[c]);
        size_t i = find_option(lower, length);
        if (i == OPTION_TOTAL) return config_fail(message, "unknown option %s", where);
        if (!set(s, i, where, name + length + 1, message)) return false;
    }
    return true;
}

static bool read_key(settings *s, const char *file, const cJSON *item, char message[CONFIG_MESSAGE_BYTES]) {
    char where[CONFIG_TEXT_BYTES], number[40];
    size_t i = find_option(item->string, strlen(item->string));
    snprintf(where, sizeof where, "%.400s: %.100s", file, item->string);
    if (i == OPTION_TOTAL) return config_fail(message, "%.400s: unknown key", where);
    if (cJSON_IsString(item)) return set(s, i, where, item->valuestring, message);
    if (cJSON_IsBool(item)) return set(s, i, where, cJSON_IsTrue(item) ? "true" : "false", message);
    if (!cJSON_IsNumber(item)) return config_fail(message, "%.400s: expected a string or a number", where);
    snprintf(number, sizeof number, "%.17g", item->valuedouble);
    return set(s, i, where, number, message);
}

static bool read_config_file(settings *s, const char *file, char message[CONFIG_MESSAGE_BYTES]) {
    cJSON *tree = json_file_read(file, FILE_BYTES_MAX, message, CONFIG_MESSAGE_BYTES);
    if (!tree) return false;
    bool good = cJSON_IsObject(tree) || config_fail(message, "%.300s: expected a JSON object", file);
    for (const cJSON *item = tree->child; item && good; item = item->next) good = read_key(s, file, item, message);
    cJSON_Delete(tree);
    return good;
}

static bool take_number(server_config *config, const settings *s, size_t i, const char *text,
                        char message[CONFIG_MESSAGE_BYTES]) {
    const option *o = &config_options[i];
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    bool number = *text && *end == '\0' && !isspace((unsigned char)*text) && isfinite(value);
    if (number && o->kind == OPTION_COUNT && value != floor(value)) number = false;
    if (!number || value < o->least || value > o->most) {
        return config_fail(message, "%.200s: expected a%s from %g to %g, found '%.100s'", s->where[i],
                           o->kind == OPTION_COUNT ? " whole number" : " number", o->least, o->most, text);
    }
    memcpy((char *)config + o->offset, &value, sizeof value);
    return true;
}

static bool take_flag(server_config *config, const settings *s, size_t i, const char *text,
                      char message[CONFIG_MESSAGE_BYTES]) {
    bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    bool no = strcmp(text, "false") == 0 || strcmp(text, "0") == 0 || !*text;
    if (!yes && !no) return config_fail(message, "%.200s: expected true or false, found '%.100s'", s->where[i], text);
    memcpy((char *)config + config_options[i].offset, &yes, sizeof yes);
    return true;
}

static bool take_option(server_config *config, const settings *s, size_t i, char message[CONFIG_MESSAGE_BYTES]) {
    const option *o = &config_options[i];
    const char *text = s->given[i] ? s->text[i] : o->standard;
    if (o->kind == OPTION_FLAG) return take_flag(config, s, i, text, message);
    if (o->kind == OPTION_TEXT) {
        snprintf((char *)config + o->offset, CONFIG_TEXT_BYTES, "%s", text);
        return true;
    }
    if (!s->given[i] && !*text) return true; /* complete_config computes the default */
    return take_number(config, s, i, text, message);
}

static bool parse_address(server_config *config, char message[CONFIG_MESSAGE_BYTES]) {
    const char *text = config->listen;
    const char *colon = strrchr(text, ':');
    char host[64], *end;
    size_t length = colon ? (size_t)(colon - text) : 0;
    long port = colon && isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &end, 10) : -1;
    if (port < 0 || port > 65535 || *end || length == 0 || length >= sizeof host)
        return config_fail(message, "--listen: expected ADDR:PORT, found '%.200s'", text);
    memcpy(host, text, length);
    host[length] = '\0';
    if (strcmp(host, "localhost") == 0) snprintf(host, sizeof host, "127.0.0.1");

    struct sockaddr_in *four = (struct sockaddr_in *)&config->address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&config->address;
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        config->address_length = sizeof *four;
        config->loopback = ntohl(four->sin_addr.s_addr) >> 24 == 127;
    } else {
        if (host[0] == '[' && host[length - 1] == ']') {
            memmove(host, host + 1, length - 2);
            host[length - 2] = '\0';
        }
        if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
            return config_fail(message, "--listen: '%.100s' is not an IP address", host);
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        config->address_length = sizeof *six;
        config->loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    }
    if (config->loopback || config->tokens[0]) return true;
    return config_fail(
        message, "--listen: %.100s is not a loopback address; set --tokens as well (--new-token makes a token)", host);
}

static bool take_data_directory(server_config *config, char message[CONFIG_MESSAGE_BYTES]) {
    if (config->data[0]) return true;
    const char *state = getenv("STATE_DIRECTORY"); /* set by systemd */
    const char *xdg = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int length;
    if (state && *state) {
        length = snprintf(config->data, CONFIG_TEXT_BYTES, "%s", state);
    } else if (xdg && *xdg) {
        length = snprintf(config->data, CONFIG_TEXT_BYTES, "%s/hamel", xdg);
    } else if (home && *home) {
        length = snprintf(config->data, CONFIG_TEXT_BYTES, "%s/.local/state/hamel", home);
    } else {
        return config_fail(message, "--data: neither this option nor HOME is set; set one of them");
    }
    if (length < CONFIG_TEXT_BYTES - 64) return true;
    return config_fail(message, "--data: the directory's name is too long; use a shorter one");
}

/* Accepts `*`, or a list of origins as browsers send them: scheme://host[:port], without a path. */
static bool check_origins(const char *list, char message[CONFIG_MESSAGE_BYTES]) {
    if (strcmp(list, "*") == 0) return true;
    for (const char *at = list + strspn(list, ", "); *at; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ", ");
        size_t scheme = strncmp(at, "http://", 7) == 0 ? 7 : strncmp(at, "https://", 8) == 0 ? 8 : 0;
        if (scheme == 0 || scheme >= length || memchr(at + scheme, '/', length - scheme)) {
            return config_fail(message, "--cors: expected * or origins such as https://example.org, found '%.*s'",
                               length < 200 ? (int)length : 200, at);
        }
        at += length;
    }
    return true;
}

/* Accepts a list of names and addresses as in a Host header, without ports. */
static bool check_hosts(const char *list, char message[CONFIG_MESSAGE_BYTES]) {
    for (const char *at = list + strspn(list, ", "); *at; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ", "), named = *at == '[' ? strcspn(at, "]") + 1 : strcspn(at, ", :/@*?#");
        if (named != length) {
            return config_fail(message,
                               "--hosts: expected names without ports, such as hamel.example.org, found '%.*s'",
                               length < 200 ? (int)length : 200, at);
        }
        at += length;
    }
    return true;
}

static bool complete_config(server_config *config, char message[CONFIG_MESSAGE_BYTES]) {
    if (config->workers < 1) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        config->workers = cores > 0 ? (double)cores : 1;
    }
    if (config->per_address < 0) config->per_address = floor(config->connections / 2);
    if (config->analysis_processes < 0) config->analysis_processes = 2 * config->workers;
    if (!log_level_named(config->log_level_text, &config->level)) {
        return config_fail(message, "--log-level: expected debug, info, warning, error or silent, found '%.100s'",
                           config->log_level_text);
    }
    if (!hamel_jit_named(config->jit_text, &config->jit))
        return config_fail(message, "--jit: expected auto, on or off, found '%.100s'", config->jit_text);
    if (!seccomp_mode_named(config->seccomp_text, &config->seccomp))
        return config_fail(message, "--seccomp: expected off, on or kill, found '%.100s'", config->seccomp_text);
    if (config->quiet && config->level < LOG_WARNING) config->level = LOG_WARNING;
    if (!config->tls_cert[0] != !config->tls_key[0])
        return config_fail(message, "--tls-cert and --tls-key must be given together");
    if (!check_origins(config->cors, message) || !check_hosts(config->hosts, message)) return false;
    if (strcmp(config->store, "sqlite:") == 0) return config_fail(message, "--store: sqlite: needs a path");
    if (!config->store[0]) {
        if (!take_data_directory(config, message)) return false;
        int length = snprintf(config->store, CONFIG_TEXT_BYTES, "sqlite:%s/hamel.db", config->data);
        if (length >= CONFIG_TEXT_BYTES)
            return config_fail(message, "--data: the directory's name is too long; use a shorter one");
    }
    return parse_address(config, message);
}

bool config_read(server_config *config, int argc, char *const *argv, char *const *environment,
                 char message[CONFIG_MESSAGE_BYTES]) {
    *config = (server_config){.per_address = -1, .analysis_processes = -1};
    settings *s = calloc(1, sizeof *s);
    if (!s) return config_fail(message, "out of memory");
    size_t help = find_option("help", 4), version = find_option("version", 7), file = find_option("config", 6);
    bool good = read_flags(s, argc, argv, message);
    config->help = good && s->given[help];
    config->version = good && s->given[version];
    bool done = !good || config->help || config->version;
    if (!done) {
        good = read_environment(s, environment, message);
        if (good && s->given[file]) good = read_config_file(s, s->text[file], message);
        for (size_t i = 0; good && i < OPTION_TOTAL; i++) good = take_option(config, s, i, message);
        if (good) good = complete_config(config, message);
    }
    free(s);
    return good;
}

void config_print_help(void) {
    fputs("Usage: hameld [OPTION]...\n\n"
          "Serves simulations of constrained mechanical systems over HTTP.\n\n",
          stdout);
    for (size_t i = 0; i < OPTION_TOTAL; i++) {
        char flag[64];
        snprintf(flag, sizeof flag, "--%s%s%s", config_options[i].name, config_options[i].value ? " " : "",
                 config_options[i].value ? config_options[i].value : "");
        const char *standard = config_options[i].standard;
        printf("  %-22s %s%s%s%s\n", flag, config_options[i].help, *standard ? " (default: " : "", standard,
               *standard ? ")" : "");
    }
    fputs("\nEach option can also be set as HAMELD_NAME in the environment (HAMELD_MAX_BODY) or as a key of the file\n"
          "(max_body). Flags override the environment, and the environment overrides the file.\n"
          "On SIGTERM the daemon refuses new connections and requeues jobs; streamed runs get half of --grace to\n"
          "finish. On SIGINT it exits without waiting for these runs. On SIGHUP it reads the file of tokens and\n"
          "the certificate again. The log is written to stderr as lines of JSON.\n",
          stdout);
}
