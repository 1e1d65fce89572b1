/* memory.h — return of freed memory to the system. Called from the main thread. */
#pragma once

void memory_set_up(void);    /* called before threads are started */
void memory_give_back(void); /* returns memory if much is free; takes some milliseconds */
