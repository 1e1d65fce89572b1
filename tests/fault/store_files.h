/* store_files.h — for tests: the files of a store. Functions fail the running cmocka test. */
#ifndef HAMEL_TESTS_FAULT_STORE_FILES_H
#define HAMEL_TESTS_FAULT_STORE_FILES_H

#include <stdbool.h>

bool copy_file(const char *from, const char *to); /* false: there is none to copy */
void empty_folder(const char *path);
void check_sound(const char *file); /* what SQLite itself can check */

#endif
