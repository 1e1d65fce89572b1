/* memory.h — freed memory goes back to the system. Called from the main thread. */
#ifndef HAMEL_SERVER_MEMORY_H
#define HAMEL_SERVER_MEMORY_H

void memory_set_up(void);    /* before there are threads */
void memory_give_back(void); /* if much of it is free; some milliseconds */

#endif
