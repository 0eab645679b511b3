/* The ledger of a run in sentences: what was lost, held back, extrapolated, or disturbed. Pure. */
#ifndef TACHO_SERVER_LEDGER_WORDS_H
#define TACHO_SERVER_LEDGER_WORDS_H

#include "base/buf.h"

#include <jansson.h>

/* Called for each sentence, without a full stop. Nothing if @ledger is not an object. */
typedef void ledger_sentence(void *ctx, const char *text);
void ledger_words(const json_t *ledger, ledger_sentence *say, void *ctx);

#endif
