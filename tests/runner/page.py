#!/usr/bin/env python3
"""The unit tests of the page (web/test) by Vitest. They need neither a browser nor a server.

usage: page.py [FILE…]"""

import os
import sys

sys.dont_write_bytecode = True

import outcomes  # noqa: E402
from vitest import TOP, Vitest  # noqa: E402


def main():
    results = Vitest(os.path.join(TOP, "web")).run([sys.argv[1:]], repeat=False)
    outcomes.save(results)
    return outcomes.report(results)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted")
