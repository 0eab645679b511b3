/* Keys out of the bytes that a terminal sends; see screen.h, which owns the terminal. */
#ifndef TACHO_CMD_TERMINAL_SCREEN_KEYS_H
#define TACHO_CMD_TERMINAL_SCREEN_KEYS_H

/* The next key of enum screen_key; KEY_NONE after @timeout_ms, or when a signal came. */
int keys_read(int fd, int timeout_ms);

#endif
