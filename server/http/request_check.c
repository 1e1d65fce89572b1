/* request_check.c — checks of requests; see request_check.h. Pure functions. */
#include "server/http/request_check.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Headers that may occur only once. If one is repeated, a proxy and the daemon may use different values. libmicrohttpd
 * returns the first value. List headers (Accept, Prefer, If-None-Match) may be repeated (RFC 9110 5.3). */
enum { LENGTH, CODING, HOST };
#define ONCE(name) \
    { name, name " is given more than once" }
static const struct {
    const char *name, *fault;
} singles[] = {
    [LENGTH] = ONCE("Content-Length"),
    [CODING] = ONCE("Transfer-Encoding"),
    [HOST] = ONCE("Host"),
    ONCE("Authorization"),
    ONCE("Content-Type"),
    ONCE("Content-Encoding"),
    ONCE("Idempotency-Key"),
    ONCE("Last-Event-ID"),
    ONCE("Access-Control-Request-Method"),
    ONCE("Origin"),
    ONCE("Traceparent"),
    ONCE("X-Request-Id"),
};
#undef ONCE
enum { SINGLES = sizeof singles / sizeof singles[0] };

typedef struct header_count {
    bool given[SINGLES];
    size_t bytes; /* total size of names and values */
    const char *fault;
} header_count;

/* Returns true if the text is a token (RFC 9110 5.6.2). */
static bool is_token(const char *text, size_t length) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (!isalnum(c) && (c == 0 || !strchr(others, c))) return false;
        if (c >= 0x80) return false;
    }
    return length > 0;
}

static bool is_field_text(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f) return false;
    }
    return true;
}

static bool is_digits(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return length > 0;
}

static const char *fault_of_value(size_t single, const char *value, size_t value_size) {
    switch (single) {
    case LENGTH: return value && is_digits(value, value_size) ? NULL : "Content-Length is not a number";
    case CODING:
        return value && strcasecmp(value, "chunked") == 0 ? NULL : "the only supported Transfer-Encoding is chunked";
    case HOST: return value && value_size > 0 && !strpbrk(value, " \t/?#@,") ? NULL : "Host is not a host name";
    default: return NULL;
    }
}

static enum MHD_Result look_at_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                      const char *value, size_t value_size) {
    header_count *h = context;
    (void)kind;
    h->bytes += name_size + value_size;
    if (!is_token(name, name_size)) {
        h->fault = "a header name contains an invalid character";
    } else if (value && !is_field_text(value, value_size)) {
        h->fault = "a header value contains a control character";
    }
    for (size_t k = 0; k < SINGLES && !h->fault; k++) {
        if (strcasecmp(name, singles[k].name) != 0) continue;
        h->fault = h->given[k] ? singles[k].fault : fault_of_value(k, value, value_size);
        h->given[k] = true;
    }
    return h->fault ? MHD_NO : MHD_YES;
}

static request_fault faulty(int status, const char *text) {
    return (request_fault){.text = text, .status = status};
}

request_fault request_check_headers(struct MHD_Connection *connection, const char *version) {
    header_count h = {0};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, look_at_header, &h);
    if (h.fault) return faulty(400, h.fault);
    if (h.bytes > REQUEST_HEADERS_BYTES) return faulty(431, "the headers are longer than 24 KiB");
    if (h.given[LENGTH] && h.given[CODING])
        return faulty(400, "Content-Length and Transfer-Encoding are given together");
    bool needs_host = strcmp(version, "HTTP/1.0") != 0;
    if (needs_host && !h.given[HOST]) return faulty(400, "the Host header is missing");
    if (!needs_host && h.given[CODING]) return faulty(400, "Transfer-Encoding is not part of HTTP/1.0");
    return (request_fault){0};
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Decodes the byte at *at and advances *at. Returns -1 if the byte is malformed or forbidden. */
static int next_byte(const char **at) {
    unsigned char c = (unsigned char)**at;
    if (c == '%') {
        int high = hex_digit((*at)[1]);
        int low = high < 0 ? -1 : hex_digit((*at)[2]);
        if (low < 0) return -1;
        *at += 3;
        c = (unsigned char)(high * 16 + low);
        return c < 0x20 || c == 0x7f ? -1 : c;
    }
    *at += 1;
    return c <= 0x20 || c >= 0x7f ? -1 : c;
}

static bool has_dot_segment(const char *path) {
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        size_t length = strcspn(at + 1, "/");
        if ((length == 1 && at[1] == '.') || (length == 2 && at[1] == '.' && at[2] == '.')) return true;
    }
    return false;
}

static request_fault split_target(const char *at, char *path, size_t room) {
    size_t length = 0;
    if (strncasecmp(at, "http://", 7) == 0) { /* absolute form: a server must accept it (RFC 9112 3.2.2) */
        at += 7;
        at += strcspn(at, "/?");
    }
    if (*at != '/') return faulty(400, "the request target is not a path");
    while (*at && *at != '?') {
        bool escaped = *at == '%';
        int c = next_byte(&at);
        if (escaped && c == '/') return faulty(400, "the path contains an encoded slash");
        if (c < 0) return faulty(400, "the path contains an invalid character or escape");
        if (length + 1 >= room) return faulty(414, "the path is too long");
        path[length++] = (char)c;
    }
    path[length] = '\0';
    if (has_dot_segment(path)) return faulty(400, "the path contains a '.' or '..' segment");
    while (*at)
        if (next_byte(&at) < 0) return faulty(400, "the query contains an invalid character or escape");
    return (request_fault){0};
}

request_fault request_check_target(const char *target, char *path, size_t room) {
    request_fault fault = {0};
    if (strcmp(target, "*") == 0) {
        snprintf(path, room, "*"); /* asterisk form, which addresses the server as a whole */
    } else {
        fault = split_target(target, path, room);
    }
    if (fault.text) path[0] = '\0';
    return fault;
}

bool request_text_listed(const char *list, const char *text, size_t length) {
    while (*list) {
        list += strspn(list, ", ");
        size_t item = strcspn(list, ", ");
        if (item == length && strncasecmp(list, text, length) == 0) return length > 0;
        list += item;
    }
    return false;
}

static bool is_loopback(const char *name) {
    char inner[INET6_ADDRSTRLEN];
    struct in_addr four;
    struct in6_addr six;
    if (strcasecmp(name, "localhost") == 0) return true;
    if (inet_pton(AF_INET, name, &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
    size_t length = strlen(name);
    if (name[0] != '[' || length < 3 || length >= sizeof inner) return false;
    snprintf(inner, sizeof inner, "%.*s", (int)(length - 2), name + 1);
    return inet_pton(AF_INET6, inner, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool request_host_allowed(const char *host, const char *names) {
    char name[256]; /* longer than any host name (RFC 1035 2.3.4) */
    size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (length > strlen(host) || length >= sizeof name) return false;
    const char *port = host + length;
    if (*port == ':') port += 1 + strspn(port + 1, "0123456789");
    if (*port) return false;
    snprintf(name, sizeof name, "%.*s", (int)length, host);
    return is_loopback(name) || request_text_listed(names, name, length);
}

bool request_id_sane(const char *text) {
    size_t length = strlen(text);
    if (length == 0 || length > 128) return false;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c <= 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>') return false;
    }
    return true;
}

bool trace_parent_sane(const char *text) {
    static const size_t lengths[] = {2, 32, 16, 2};
    for (size_t part = 0; part < 4; part++) {
        size_t length = strspn(text, "0123456789abcdef");
        if (length != lengths[part]) return false;
        text += length;
        if (*text != (part < 3 ? '-' : '\0')) return false;
        text++;
    }
    return true;
}
