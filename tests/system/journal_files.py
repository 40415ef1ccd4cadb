"""Writes a journal's directory from spec/journal.md sections 1 to 3 alone, for the tools that read one without a broker."""
import struct

JOURNAL = 0x1122334455667788
SEGMENT_BYTES = 64 << 10


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def segment_header(index=1, first_sequence=1, chain=0):
    head = b"SLUICEJ\x01" + struct.pack("<QIIQII", JOURNAL, index, 1, first_sequence, chain, SEGMENT_BYTES) + bytes(20)
    return head + struct.pack("<I", crc32c(head))


def batch(first_sequence, durable, turns, body, chain):
    """The bytes, and the chain for the next one."""
    rest = struct.pack("<QQIIIIIIII", first_sequence, durable, turns, len(body), crc32c(body), chain, 1, 0, 1, 0)
    crc = crc32c(struct.pack("<Q", JOURNAL) + rest)
    return struct.pack("<II", 0x31424C53, crc) + rest + body + bytes(-len(body) % 8), crc


def write_journal(folder, turns):
    """One segment with a batch for each turn (the bytes of its records). Gives where each batch begins, and the end."""
    folder.mkdir()
    content, offsets, chain = segment_header(), [], 0
    for i, body in enumerate(turns):
        offsets.append(len(content))
        written, chain = batch(i + 1, i, 1, body, chain)
        content += written
    (folder / "0000000001.segment").write_bytes(content + bytes(SEGMENT_BYTES - len(content)))
    return offsets + [len(content)]
