/* clock.c — clocks, random identifiers and rate limits; see clock.h. All condition variables of the daemon use
 * CLOCK_MONOTONIC, so deadlines do not change if the wall clock is set. */
#include "server/clock.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <sys/random.h>

double clock_cpu_seconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_used_seconds(const struct rusage *used) {
    return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
           1e-6 * (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
}

struct timespec clock_deadline(double seconds) {
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

void clock_condition_init(pthread_cond_t *out) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(out, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds) {
    struct timespec until = clock_deadline(seconds);
    return pthread_cond_timedwait(condition, lock, &until) == 0;
}

int64_t clock_wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void clock_text(char out[CLOCK_TEXT_BYTES], int64_t wall_ms) {
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    char whole[24];
    if (!gmtime_r(&seconds, &utc) || strftime(whole, sizeof whole, "%Y-%m-%dT%H:%M:%S", &utc) == 0) {
        out[0] = '\0';
        return;
    }
    snprintf(out, CLOCK_TEXT_BYTES, "%s.%03dZ", whole, (int)(wall_ms % 1000));
}

static void write_digits(const unsigned char *bytes, size_t count, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * count] = '\0';
}

bool random_ids(char (*out)[RANDOM_ID_BYTES], size_t count) {
    enum { SHARED = 6, OWN = 10 };
    unsigned char bytes[SHARED + RANDOM_IDS_MOST * OWN];
    size_t length = SHARED + count * OWN;
    assert(count <= RANDOM_IDS_MOST && RANDOM_ID_BYTES == 2 * (SHARED + OWN) + 1);
    for (size_t got = 0; got < length;) { /* a signal may interrupt requests for more than 256 bytes */
        ssize_t more = getrandom(bytes + got, length - got, 0);
        if (more <= 0) return false;
        got += (size_t)more;
    }
    for (size_t k = 0; k < count; k++) {
        write_digits(bytes, SHARED, out[k]);
        write_digits(bytes + SHARED + k * OWN, OWN, &out[k][(size_t)2 * SHARED]);
    }
    return true;
}

bool random_id(char out[RANDOM_ID_BYTES]) {
    return random_ids((char(*)[RANDOM_ID_BYTES])out, 1);
}

bool bucket_take(bucket *b, double rate, double most, double *seconds) {
    double now = clock_seconds();
    b->taken = fmax(0, b->taken - (now - b->at) * rate);
    b->at = now;
    if (b->taken + 1 <= most) {
        b->taken += 1;
        return true;
    }
    *seconds = (b->taken + 1 - most) / rate;
    return false;
}
