/* stamp.c — see stamp.h. The condition variables of the daemon all wait on CLOCK_MONOTONIC, so that setting the wall
 * clock neither ends nor prolongs a deadline. */
#include "server/stamp.h"

#include <math.h>
#include <stdio.h>
#include <sys/random.h>

double stamp_cpu_seconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

double stamp_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct timespec stamp_deadline(double seconds) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    double whole = floor(seconds);
    at.tv_sec += (time_t)whole;
    at.tv_nsec += (long)((seconds - whole) * 1e9);
    if (at.tv_nsec >= 1000000000L) {
        at.tv_nsec -= 1000000000L;
        at.tv_sec += 1;
    }
    return at;
}

void stamp_condition_init(pthread_cond_t *out) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(out, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

int64_t stamp_wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void stamp_text(char out[STAMP_TIME_BYTES], int64_t wall_ms) {
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    char whole[24];
    if (!gmtime_r(&seconds, &utc) || strftime(whole, sizeof whole, "%Y-%m-%dT%H:%M:%S", &utc) == 0) {
        out[0] = '\0';
        return;
    }
    snprintf(out, STAMP_TIME_BYTES, "%s.%03dZ", whole, (int)(wall_ms % 1000));
}

bool stamp_id(char out[STAMP_ID_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[32] = '\0';
    return true;
}
