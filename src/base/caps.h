/*
 * Capabilities of a program file (setcap). A user who may start such a program chooses what it
 * reads and writes, and the programs that he measures name files for it to open. So nothing may
 * happen by these capabilities except what they are for: caps_begin() lowers them, and only system
 * calls that measure, and opening files of /proc, run between caps_raise() and caps_lower().
 *
 * Raising counts for the calling thread alone; threads and processes begin lowered. A program that
 * is executed gets none. All of it does nothing for root, and for a process without capabilities.
 */
#ifndef TACHO_BASE_CAPS_H
#define TACHO_BASE_CAPS_H

/* Must be called at the start of the program, before there are threads. */
void caps_begin(void);

/* Do not nest. Both keep errno. */
void caps_raise(void);
void caps_lower(void);

/*
 * open(2) of a file below /proc with the capabilities raised, O_CLOEXEC added. Paths that lead out of
 * /proc, by links or by "..", are opened without capabilities, as other paths are. All are opened with
 * the rights of the user who was chosen by as_user_choose(), if any. Returns a descriptor, or -1 with
 * errno set.
 */
int caps_open_proc(const char *path, int flags);

#endif
