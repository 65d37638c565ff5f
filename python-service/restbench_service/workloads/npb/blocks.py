"""How the kernels cut their loops: a unit is a block of planes, rows or keys worth a task."""

ELEMENTS_A_BLOCK = 2**17
"""Numbers a block has at least: a quarter of a millisecond of work, twenty times what a task costs
that is a message to another process. One that starts late leaves some of its blocks to another."""
MOST_BLOCKS = 64


def block_count(elements: int, lines: int) -> int:
    """Into how many blocks to cut `lines` planes or rows that have so many elements altogether.

    A power of two, so that the usual numbers of processes get the same share.
    """
    wanted = min(elements // ELEMENTS_A_BLOCK, MOST_BLOCKS, lines)
    return 1 << max(wanted.bit_length() - 1, 0)


def lines_of(start: int, stop: int, blocks: int, lines: int) -> tuple[int, int]:
    """The first line of block `start` and the one after the last of block `stop` - 1."""
    return start * lines // blocks, stop * lines // blocks
