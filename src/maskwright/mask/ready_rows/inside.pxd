cpdef enum:
    # How much of a character has been read.
    BETWEEN = 0
    BACKSLASH = 4
    DIGITS = 4
    PAIR = 9
    PAIR_U = 10
    PAIR_DIGITS = 10
    ANY_BYTES = 15
    ANY_DIGITS = 20

    TOO_MUCH = 32767
