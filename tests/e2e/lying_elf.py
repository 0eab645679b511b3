"""Programs that lie: a real ELF file with debug information, one field at a time made into what cannot be.

The build id is left as it is, so that whoever compares it takes the file for the good one. Written from the
ELF and DWARF standards, not from tacho's reader.

    for name, data in lies(good): …"""

import os
import random
import struct
import zlib

# A field of so many bytes, and what is put there: nothing, almost nothing, signs, the end of the numbers.
BAD = {1: (0, 1, 0x7f, 0x80, 0xff),
       2: (0, 1, 0x7fff, 0x8000, 0xfff1, 0xffff),
       4: (0, 1, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff),
       8: (0, 1, 0xfffffff0, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffff000, 0xffffffffffffffff)}
CODES = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}

FILE_HEADER = [("class", 4, 1), ("order", 5, 1), ("type", 16, 2), ("machine", 18, 2), ("version", 20, 4),
               ("entry", 24, 8), ("phoff", 32, 8), ("shoff", 40, 8), ("ehsize", 52, 2), ("phentsize", 54, 2),
               ("phnum", 56, 2), ("shentsize", 58, 2), ("shnum", 60, 2), ("shstrndx", 62, 2)]
SEGMENT = [("type", 0, 4), ("flags", 4, 4), ("offset", 8, 8), ("vaddr", 16, 8), ("paddr", 24, 8),
           ("filesz", 32, 8), ("memsz", 40, 8), ("align", 48, 8)]
SECTION = [("name", 0, 4), ("type", 4, 4), ("flags", 8, 8), ("addr", 16, 8), ("offset", 24, 8), ("size", 32, 8),
           ("link", 40, 4), ("info", 44, 4), ("align", 48, 8), ("entsize", 56, 8)]
SYMBOL = [("name", 0, 4), ("info", 4, 1), ("other", 5, 1), ("shndx", 6, 2), ("value", 8, 8), ("size", 16, 8)]
RELOCATION = [("offset", 0, 8), ("info", 8, 8), ("addend", 16, 8)]
PACKED = [("type", 0, 4), ("size", 8, 8), ("align", 16, 8)]
SHF_COMPRESSED = 0x800


class Elf:
    """Where things are in a good file of 64 bits, the lowest byte first."""

    def __init__(self, data):
        self.data = bytes(data)
        self.segments_at, self.sections_at = struct.unpack_from("<QQ", data, 32)
        self.segment_count, _, self.section_count, names = struct.unpack_from("<HHHH", data, 56)
        self.sections = {}
        strings = self.place(names)[0]
        for i in range(self.section_count):
            name = struct.unpack_from("<I", data, self.sections_at + 64 * i)[0] + strings
            self.sections[data[name:data.index(b"\0", name)].decode()] = i

    def place(self, index):
        """(offset, size) of a section's bytes."""
        return struct.unpack_from("<QQ", self.data, self.sections_at + 64 * index + 24)

    def section(self, name):
        return self.place(self.sections[name]) if name in self.sections else (0, 0)

    def flags(self, name):
        return struct.unpack_from("<Q", self.data, self.sections_at + 64 * self.sections[name] + 8)[0]

    def change(self, *values):
        """A copy with (offset, size, value) put in."""
        copy = bytearray(self.data)
        for at, size, value in values:
            struct.pack_into(CODES[size], copy, at, value & (1 << 8 * size) - 1)
        return bytes(copy)

    def fields(self, what, at, table):
        """Every field of a record, with every bad value and those around the file's own size."""
        for name, offset, size in table:
            old = struct.unpack_from(CODES[size], self.data, at + offset)[0]
            more = (len(self.data) - 1, len(self.data), old + 1, old - 1) if size == 8 else (old + 1,)
            for value in sorted({*BAD[size], *more} - {old}):
                yield "%s.%s=%#x" % (what, name, value & (1 << 8 * size) - 1), \
                    self.change((at + offset, size, value))


def headers(elf):
    yield from elf.fields("header", 0, FILE_HEADER)
    for i in range(elf.segment_count):
        yield from elf.fields("segment%d" % i, elf.segments_at + 56 * i, SEGMENT)
    for name, i in elf.sections.items():
        yield from elf.fields("section%d(%s)" % (i, name), elf.sections_at + 64 * i, SECTION)


def tables(elf):
    """The first and last entries of what is made of entries."""
    for name, table, size in ((".symtab", SYMBOL, 24), (".dynsym", SYMBOL, 24), (".rela.plt", RELOCATION, 24)):
        at, length = elf.section(name)
        for i in sorted({1, 2, length // size // 2, length // size - 1}):
            if 0 < i < length // size:
                yield from elf.fields("%s[%d]" % (name, i), at + i * size, table)
    for name in elf.sections:
        if elf.flags(name) & SHF_COMPRESSED:
            yield from elf.fields("packed(%s)" % name, elf.section(name)[0], PACKED)


def beginnings(elf, count):
    """Each of the first bytes of every section that says where code or names are."""
    for name in (".debug_info", ".debug_abbrev", ".debug_line", ".debug_aranges", ".debug_rnglists", ".debug_ranges",
                 ".debug_str_offsets", ".debug_addr", ".eh_frame_hdr", ".eh_frame", ".gnu_debuglink", ".plt",
                 ".note.gnu.property"):
        at, length = elf.section(name)
        for i in range(min(count, length)):
            for value in sorted(set(BAD[1]) - {elf.data[at + i]}):
                yield "%s+%d=%#x" % (name, i, value), elf.change((at + i, 1, value))


def anywhere(elf, count):
    """Bytes of the debug and unwinding sections, many at a time; the same ones for the same TACHO_SEED."""
    dice = random.Random(int(os.environ.get("TACHO_SEED", "1")))
    places = [elf.section(name) for name in elf.sections
              if name.startswith(".debug") or name in (".eh_frame", ".symtab", ".strtab", ".dynamic")]
    for n in range(count):
        at, length = dice.choice([p for p in places if p[1] > 1])
        changes = [(at + dice.randrange(length), 1, dice.choice((0, 1, 0x7f, 0x80, 0xff, dice.randrange(256))))
                   for _ in range(dice.choice((1, 4, 32)))]
        yield "anywhere%d" % n, elf.change(*changes)


def cut(elf):
    for part in (0, 1, 4, 16, 63, 64, 120, len(elf.data) // 4, len(elf.data) // 2, elf.sections_at,
                 elf.sections_at + 65, len(elf.data) - 1):
        yield "cut(%d)" % part, elf.data[:part]


def with_section(elf, name, content, flags=None):
    """The section has this content instead, at the end of the file."""
    at = elf.sections_at + 64 * elf.sections[name]
    changed = elf.change((at + 24, 8, len(elf.data)), (at + 32, 8, len(content)),
                         *([(at + 8, 8, flags)] if flags is not None else []))
    return changed + content


def packed(size, content):
    """A section that is compressed by zlib and says that it becomes so large."""
    return struct.pack("<IIQQ", 1, 0, size, 1) + content


def uleb(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def made(elf):
    """What no bit flip finds: sections that grow beyond measure, entries that lead to themselves."""
    zeros = zlib.compress(bytes(64 << 20), 9)
    for name in (".debug_info", ".debug_line", ".debug_abbrev", ".debug_str"):
        if name not in elf.sections:
            continue
        for size in (64 << 20, 1 << 34, (1 << 64) - 1, 1):
            yield "bomb(%s,%#x)" % (name, size), with_section(elf, name, packed(size, zeros), SHF_COMPRESSED)
        yield "endless(%s)" % name, with_section(elf, name, b"\x01" * (8 << 20), 0)
    # A subprogram whose abstract origin is itself; then one that is nested in itself a million times.
    abbrev = (uleb(1) + uleb(0x11) + b"\1" + uleb(0x11) + uleb(1) + uleb(0x12) + uleb(7) + b"\0\0" +
              uleb(2) + uleb(0x2e) + b"\1" + uleb(0x11) + uleb(1) + uleb(0x12) + uleb(7) + uleb(0x31) + uleb(0x13) +
              b"\0\0" + uleb(3) + uleb(0x1d) + b"\1" + uleb(0x31) + uleb(0x13) + uleb(0x11) + uleb(1) + uleb(0x12) +
              uleb(7) + b"\0\0" + b"\0")
    for name, entries in (("cycle", b""), ("nested", uleb(3) * 1)):
        body = uleb(1) + struct.pack("<QQ", 0, 1 << 40)
        here = 11 + len(body)
        body += uleb(2) + struct.pack("<QQI", 0, 1 << 40, here)
        if entries:
            body += (uleb(3) + struct.pack("<IQQ", here, 0, 1 << 40)) * 200000
        unit = struct.pack("<HIB", 4, 0, 8) + body
        info = struct.pack("<I", len(unit)) + unit
        changed = Elf(with_section(elf, ".debug_abbrev", abbrev, 0))
        yield name, with_section(changed, ".debug_info", info, 0)
    # A line program that makes a row of each byte.
    at, length = elf.section(".debug_line")
    if length and not elf.flags(".debug_line") & SHF_COMPRESSED:
        size = 8 << 20
        line = elf.data[at:at + length] + b"\x13" * size
        line = struct.pack("<I", len(line) - 4) + line[4:]
        yield "rows", with_section(elf, ".debug_line", line, 0)


def lies(data, beginning=48, random_count=200):
    elf = Elf(data)
    for part in (headers(elf), tables(elf), beginnings(elf, beginning), anywhere(elf, random_count), cut(elf),
                 made(elf)):
        yield from part


def sparse_symbols(data, path, size):
    """Writes the program with a table of symbols, and one of names, as large as that: holes all of it."""
    elf = Elf(data)
    at = elf.sections_at + 64 * elf.sections[".symtab"]
    with open(path, "wb") as file:
        file.write(elf.change((at + 24, 8, len(data)), (at + 32, 8, size)))
        file.truncate(len(data) + size)
