"""Probes of the kernel on functions of programs, for as long as a test lasts."""

import os
import re
import subprocess
import unittest

from helpers import TRACEFS, needs_program, needs_root, needs_tracefs

CONTROL = TRACEFS + "/uprobe_events"


def place(program, function):
    """Where a function is in its file."""
    symbols = subprocess.check_output(["nm", program], text=True)
    header = subprocess.check_output(["readelf", "-lW", program], text=True)
    address = int(re.search(r"(\w+) [tT] %s$" % function, symbols, re.M).group(1), 16)
    for words in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", header):
        offset, start, length = (int(word, 16) for word in words)
        if start <= address < start + length:
            return address - start + offset
    raise AssertionError("%s of %s is nowhere in the file" % (function, program))


def write(text):
    out = os.open(CONTROL, os.O_WRONLY)  # truncating would remove the probes of others
    try:
        os.write(out, text.encode())
    finally:
        os.close(out)


def user_probe(case, program, function):
    """The name of an event that happens whenever the function is called."""
    needs_root("to make a probe")
    needs_tracefs()
    needs_program("nm")
    if not os.path.exists(CONTROL):
        raise unittest.SkipTest("this kernel has no uprobes")
    name = "%s_%d" % (function, os.getpid())
    write("p:tachotest/%s %s:0x%x\n" % (name, program, place(program, function)))
    case.addCleanup(write, "-:tachotest/%s\n" % name)
    return "tachotest:" + name
