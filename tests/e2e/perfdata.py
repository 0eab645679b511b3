"""perf.data as the tests see it: its records, and the same recording of the other byte order.

Written from the kernel's description of the format, not from tacho's, so that both can be wrong only
in different ways."""

import struct

MMAP, LOST, COMM, EXIT, THROTTLE, UNTHROTTLE, FORK, SAMPLE, MMAP2 = 1, 2, 3, 4, 5, 6, 7, 9, 10
LOST_SAMPLES, SWITCH, SWITCH_CPU_WIDE, NAMESPACES, KSYMBOL, BPF_EVENT, CGROUP = 13, 14, 15, 16, 17, 18, 19
TRACING_DATA, EVENT_UPDATE = 66, 78

# Bits of sample_type that the layout depends on.
(IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK, REGS_USER,
 STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP_ID,
 DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT) = (1 << i for i in range(25))


def data_section(data):
    """(offset, size) of the records of a file or pipe."""
    header, offset, size = (struct.unpack_from("<Q", data, at)[0] for at in (8, 40, 48))
    return (16, len(data) - 16) if header == 16 else (offset, size)


def records_of(data):
    """(offset, type, size) of the records in the bytes of an uncompressed file or pipe."""
    at, size = data_section(data)
    end = at + size
    while at + 8 <= end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if size < 8:
            return
        yield at, kind, size
        at += size
        if kind == TRACING_DATA:  # which follows
            at += struct.unpack_from("<I", data, at - size + 8)[0]


class File:
    """A whole perf.data file."""

    def __init__(self, path):
        with open(path, "rb") as data:
            self.bytes = data.read()
        magic, _, attr_size, attrs, attrs_size, data, size = struct.unpack_from("8sQQQQQQ", self.bytes)
        assert magic == b"PERFILE2", magic
        self.attrs = [self.bytes[attrs + i:attrs + i + attr_size]
                      for i in range(0, attrs_size, attr_size)]
        end = data + size
        assert end <= len(self.bytes), (end, len(self.bytes))
        self.records, at = [], data
        for at, kind, length in records_of(self.bytes):
            assert at + length <= end, (kind, length)
            self.records.append((kind, struct.unpack_from("<H", self.bytes, at + 4)[0],
                                 self.bytes[at + 8:at + length]))
            at += length
        assert at == end, (at, end)

    def count(self, kind):
        return sum(r[0] == kind for r in self.records)

    def samples(self):
        """(id, ip, pid, tid, time, cpu, period) of each; what all samples begin with but raw."""
        return [struct.unpack_from("=QQiiQi4xQ", r[2]) for r in self.records if r[0] == SAMPLE]

    def names(self):
        """What processes were called."""
        return {r[2][8:].split(b"\0")[0].decode() for r in self.records if r[0] == COMM}

    def mapped(self):
        return {r[2][64:].split(b"\0")[0].decode() for r in self.records if r[0] == MMAP2}


class _Turner:
    """Values are read from the little-endian original and written big-endian at the same place."""

    def __init__(self, data):
        self.old, self.new = bytes(data), bytearray(data)

    def turn(self, form, at):
        values = struct.unpack_from("<" + form, self.old, at)
        struct.pack_into(">" + form, self.new, at, *values)
        return values

    def string(self, at):
        return at + 4 + self.turn("I", at)[0]

    def attr(self, at):
        size = self.turn("II", at)[1]
        _, _, sample_type, read_format = self.turn("4Q", at + 8)
        flags = struct.unpack_from("<Q", self.old, at + 40)[0]
        turned = 0
        for bit in range(64):
            # The first flag is the lowest bit here and the highest there; precise_ip has two.
            place = {15: 16, 16: 15}.get(bit, bit)
            turned |= (flags >> bit & 1) << (63 - place)
        struct.pack_into(">Q", self.new, at + 40, turned)
        self.turn("IIQQ", at + 48)
        regs = {"user": 0, "intr": 0}
        for need, form, place in ((80, "Q", 72), (96, "QIi", 80), (104, "Q", 96), (112, "IHH", 104),
                                  (120, "II", 112), (128, "Q", 120)):
            if size >= need:
                first = self.turn(form, at + place)[0]
                if place == 80:
                    regs["user"] = first
                if place == 96:
                    regs["intr"] = first
        return {"parts": sample_type, "read": read_format, **regs}

    def attrs(self):
        attr_size, attrs, attrs_size = struct.unpack_from("<3Q", self.old, 16)
        self.events, self.ids = [], {}
        for at in range(attrs, attrs + attrs_size, attr_size):
            event = self.attr(at)
            self.events.append(event)
            ids, size = self.turn("QQ", at + attr_size - 16)
            for place in range(ids, ids + size, 8):
                self.ids[self.turn("Q", place)[0]] = event

    def event_of(self, kind, at, end):
        parts = self.events[0]["parts"]
        if len(self.events) == 1 or not parts & (ID | IDENTIFIER):
            return self.events[0]
        if kind == SAMPLE:
            before = 0 if parts & IDENTIFIER else parts & (IP | TID | TIME | ADDR)
            place = at + 8 * bin(before).count("1")
        else:
            behind = 0 if parts & IDENTIFIER else parts & (STREAM_ID | CPU)
            place = end - 8 - 8 * bin(behind).count("1")
        return self.ids.get(struct.unpack_from("<Q", self.old, place)[0], self.events[0])

    def words(self, at, count):
        self.turn("%dQ" % count, at)
        return at + 8 * count

    def read_values(self, at, form):
        times = bin(form & 3).count("1")
        extra = bin(form & (4 | 16)).count("1")
        if not form & 8:
            return self.words(at, 1 + times + extra)
        count = struct.unpack_from("<Q", self.old, at)[0]
        return self.words(at, 1 + times + count * (1 + extra))

    def registers(self, at, mask):
        return self.words(at + 8, bin(mask).count("1")) if self.turn("Q", at)[0] else at + 8

    def sample(self, at, end, event):
        parts = event["parts"]
        for part, form in ((IDENTIFIER, "Q"), (IP, "Q"), (TID, "II"), (TIME, "Q"), (ADDR, "Q"),
                           (ID, "Q"), (STREAM_ID, "Q"), (CPU, "II"), (PERIOD, "Q")):
            if parts & part:
                self.turn(form, at)
                at += 8
        if parts & READ:
            at = self.read_values(at, event["read"])
        if parts & CALLCHAIN:
            at = self.words(at + 8, self.turn("Q", at)[0])
        if parts & RAW:  # stays as it is: its own description says in which order it is
            at += 4 + self.turn("I", at)[0]
        assert not parts & (BRANCH_STACK | AUX)
        if parts & REGS_USER:
            at = self.registers(at, event["user"])
        if parts & STACK_USER:
            size = self.turn("Q", at)[0]
            at += 8 + size
            if size:
                at = self.words(at, 1)
        if parts & WEIGHT_STRUCT:
            struct.pack_into(">HHI", self.new, at, *reversed(struct.unpack_from("<IHH", self.old, at)))
            at += 8
        for part in (WEIGHT, DATA_SRC, TRANSACTION):
            if parts & part:
                at = self.words(at, 1)
        if parts & REGS_INTR:
            at = self.registers(at, event["intr"])
        for part in (PHYS_ADDR, CGROUP_ID, DATA_PAGE_SIZE, CODE_PAGE_SIZE):
            if parts & part:
                at = self.words(at, 1)
        assert at == end, (at, end)

    def other(self, kind, misc, at, end, event):
        forms = {MMAP: "II3Q", MMAP2: "II3Q", COMM: "II", EXIT: "4IQ", FORK: "4IQ", LOST: "QQ",
                 THROTTLE: "3Q", UNTHROTTLE: "3Q", LOST_SAMPLES: "Q", SWITCH: "",
                 SWITCH_CPU_WIDE: "II", NAMESPACES: "IIQ", KSYMBOL: "QIHH", BPF_EVENT: "HHI",
                 CGROUP: "Q"}
        values = self.turn(forms[kind], at)
        if kind == MMAP2:
            self.turn("" if misc & 1 << 14 else "IIQQ", at + 32)  # a build id has no order
            self.turn("II", at + 56)
        if kind == NAMESPACES:
            self.words(at + 16, 2 * values[2])
        trailer = [form for part, form in ((TID, "II"), (TIME, "Q"), (ID, "Q"), (STREAM_ID, "Q"),
                                           (CPU, "II"), (IDENTIFIER, "Q")) if event["parts"] & part]
        self.turn("".join(trailer), end - 8 * len(trailer))

    def records(self):
        for at, kind, size in records_of(self.old):
            misc = self.turn("IHH", at)[1]
            if kind == SAMPLE:
                self.sample(at + 8, at + size, self.event_of(kind, at + 8, at + size))
            elif kind < 64:
                self.other(kind, misc, at + 8, at + size, self.event_of(kind, at + 8, at + size))
            elif kind == EVENT_UPDATE:
                self.turn("QQ", at + 8)

    def section(self, feature, at, size):
        if feature in (3, 4, 5, 6, 8, 9):
            self.string(at)
        elif feature == 2:
            end = at + size
            while at < end:
                at += self.turn("IHHI", at)[2]
        elif feature in (11, 16, 17):
            count = self.turn("I", at)[0]
            at += 4
            for _ in range(count):
                if feature == 16:  # PMUs: a number and a name; groups: a name and two numbers
                    self.turn("I", at)
                    at += 4
                at = self.string(at)
                if feature == 17:
                    self.turn("II", at)
                    at += 8
        elif feature == 12:
            count, attr_size = self.turn("II", at)
            at += 8
            for _ in range(count):
                self.attr(at)
                ids = self.turn("I", at + attr_size)[0]
                at = self.words(self.string(at + attr_size + 4), ids)
        else:
            self.turn({7: "II", 10: "Q", 21: "QQ", 23: "Q", 29: "IIQQ"}.get(feature, ""), at)

    def file(self):
        offset, size = data_section(self.old)
        bits = struct.unpack_from("<4Q", self.old, 72)
        self.turn("13Q", 0)
        self.attrs()
        self.records()
        at = offset + size
        for feature in range(256):
            if bits[feature // 64] >> (feature % 64) & 1:
                self.section(feature, *self.turn("QQ", at))
                at += 16
        return bytes(self.new)


def byte_swapped(data):
    """The bytes of the same file as a big-endian machine would have written it. Records of tools
    other than names of events, and branch stacks, are not turned around."""
    return _Turner(data).file()


class Recording:
    """A perf.data file put together record by record, so that a test knows every byte of it.

    Events are software events, given by their config; `timeless` are those that are recorded without
    times. All belong to one thread unless a sample says otherwise."""

    PARTS = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
    CLOCK, FAULTS, SWITCHES = 0, 2, 3
    NAMES = {CLOCK: "cpu-clock", FAULTS: "page-faults", SWITCHES: "context-switches"}

    def __init__(self, *configs, timeless=()):
        self.parts = [self.PARTS & ~TIME if c in timeless else self.PARTS for c in configs]
        self.configs, self.records = configs, []

    def _trailer(self, event, time, tid):
        values = [(TID, tid << 32 | tid), (TIME, time), (CPU, 0), (IDENTIFIER, event + 1)]
        return [v for part, v in values if self.parts[event] & part]

    def _add(self, kind, misc, words, text=b""):
        body = struct.pack("<%dQ" % len(words), *words) if not text else text
        self.records.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def comm(self, name, tid=4711):
        name = name.encode() + b"\0"
        name += b"\0" * (-len(name) % 8)
        self._add(COMM, 0, (), struct.pack("<II", tid, tid) + name
                  + struct.pack("<%dQ" % len(self._trailer(0, 0, tid)), *self._trailer(0, 0, tid)))

    def kernel(self, start, size):
        """The kernel's code, as perf record tells of it, from an address that is chosen freely."""
        name = b"[kernel.kallsyms]_text".ljust(24, b"\0")
        self._add(MMAP, 1, (), struct.pack("<IIQQQ", 2 ** 32 - 1, 0, start, size, 0) + name
                  + struct.pack("<%dQ" % len(self._trailer(0, 0, 0)), *self._trailer(0, 0, 0)))

    def sample(self, event, time, address=0x401000, tid=4711, period=1, mode=2):
        values = [(IDENTIFIER, event + 1), (IP, address), (TID, tid << 32 | tid), (TIME, time), (CPU, 0),
                  (PERIOD, period)]
        self._add(SAMPLE, mode, [v for part, v in values if self.parts[event] & part])

    def lost(self, time, count, event=0):
        self._add(LOST, 0, [event + 1, count] + self._trailer(event, time, 4711))

    def throttled(self, time, event=0):
        self._add(THROTTLE, 0, [time, event + 1, event + 1] + self._trailer(event, time, 4711))

    def lost_samples(self, time, count, event=0, misc=0):
        self._add(LOST_SAMPLES, misc, [count] + self._trailer(event, time, 4711))

    def _attr(self, event):
        flags = 1 << 10 | 1 << 18  # freq, sample_id_all
        return struct.pack("<IIQQQQQ", 1, 112, self.configs[event], 1000, self.parts[event], 0, flags) + bytes(64)

    def _names(self):
        """The section EVENT_DESC, number 12."""
        section = struct.pack("<II", len(self.configs), 112)
        for event, config in enumerate(self.configs):
            name = self.NAMES[config].encode()
            name += b"\0" * (8 - len(name) % 8)
            section += self._attr(event) + struct.pack("<II", 1, len(name)) + name + struct.pack("<Q", event + 1)
        return section

    def bytes(self):
        events = range(len(self.configs))
        ids = b"".join(struct.pack("<Q", event + 1) for event in events)
        attrs = b"".join(self._attr(event) + struct.pack("<QQ", 104 + 8 * event, 8) for event in events)
        data, names = b"".join(self.records), self._names()
        at = 104 + len(ids)
        end = at + len(attrs) + len(data)
        head = struct.pack("<8sQQQQQQQQQQQQ", b"PERFILE2", 104, 128, at, len(attrs), at + len(attrs), len(data),
                           0, 0, 1 << 12, 0, 0, 0)
        return head + ids + attrs + data + struct.pack("<QQ", end + 16, len(names)) + names
