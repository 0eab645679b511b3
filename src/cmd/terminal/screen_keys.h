/* Decodes keys from the bytes that a terminal sends; see screen.h, which owns the terminal. */
#ifndef TACHO_CMD_TERMINAL_SCREEN_KEYS_H
#define TACHO_CMD_TERMINAL_SCREEN_KEYS_H

/* Returns the next key (see enum screen_key), or KEY_NONE after @timeout_ms or a signal. */
int keys_read(int fd, int timeout_ms);

#endif
